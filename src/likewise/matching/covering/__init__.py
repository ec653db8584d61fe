"""Does one condition contain another (`covering`), by `implication` of predicates; can both be met
(`compatibility`)?
"""

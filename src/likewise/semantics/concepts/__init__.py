"""What terms mean, beyond how related they are: the concepts behind names and values.

Names of attributes: `inventory` (what kinds of readings there are; `rows`, `library`, `adding` and `vocabularies` are
where it comes from), `name_words` and `facets` (a name taken apart), `tables`, `weights` and `agreement` (the rule for
two names, plain), `sides` and `kernels` (the same for many), `wording` (in words). Values: `values`.
"""

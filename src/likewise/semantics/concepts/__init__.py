"""Concepts behind names and values: the inventory of kinds, the facets of attribute names, the comparison of values.

Names of attributes: `inventory` (what kinds of readings there are; `rows`, `library`, `user_concepts` and
`vocabularies` are where it comes from), `name_tokens` and `facets` (a name taken apart), `tables`, `weights` and
`comparison` (the rule for two names, plain), `facet_arrays` and `kernels` (the same for many), `explanations`
(in words). Values: `values`.
"""

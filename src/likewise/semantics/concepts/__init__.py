"""What terms mean, beyond how related they are: the concepts behind names and values.

Names of attributes: `inventory` (what kinds of readings there are; `rows`, `library`, `user_concepts` and
`vocabularies` are where it comes from), `name_tokens` and `facets` (a name taken apart), `tables`, `weights` and
`comparison` (the rule for two names, plain), `operand_arrays` and `kernels` (the same for many), `vocabulary_request`
(in words). Values: `values`.
"""

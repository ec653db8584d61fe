"""The production engine for relaxed conditions (docs/engines/thematic.md).

`subscription_predicates` are numbered; `relatedness_rows` remember; `posting_lists` say which predicates a tuple meets,
with `posting_lists` for numbers; `engine` and `match_kernels` count and assign tuples to
predicates.
"""

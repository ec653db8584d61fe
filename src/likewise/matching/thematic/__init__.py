"""The production engine for relaxed conditions (docs/engines/thematic.md).

`subscription_predicates` are numbered; `relatedness_rows` remember; `posting_lists` say which predicates a tuple meets,
with `number_postings` for numbers; `conjunction_table` and `match_kernels` count, `assignment_kernels` settle who gets
what.
"""

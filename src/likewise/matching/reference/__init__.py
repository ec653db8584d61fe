"""Semantics that every engine must equal, as pure functions.

`operators` say what a comparison means, `terms` what a measure is asked, `similarity` how alike a predicate and a tuple
are, `mappings` and `ranked_mappings` which goes with which, `conditions` whether an event meets them all and reaches
what is `needed`. `statements` with `statement_terms`, `graphs`, `triple_distance` with `locality`, `interests`, and
`window` with `scoring` are the other kinds, `alerts` the room of what lasts.
"""

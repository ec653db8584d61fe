"""Interest vectors: `bitmap` is the production engine, `tree`, `rapid` and `rapid_modified` the survey's.

They share `vectors`; the search trees are a `trie`.
"""

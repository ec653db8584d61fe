"""Terms as vectors over a space's documents: `term_vectors`, the caches `lru_cache` and `prepared_terms`,
`sparse_kernels`.

`prepared_terms` makes one side of a comparison ready once.
"""

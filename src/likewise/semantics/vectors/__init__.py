"""Terms as vectors: `term_vectors` over a space's documents, kept by `least_recent`, multiplied by `sparse_kernels`.

`query_side` makes one side of a comparison ready once.
"""

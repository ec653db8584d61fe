"""WordNet: the `database` files, the `compact` form that ships, the `embedded` space, the `taxonomy`,
`latent_fit`, and what is `unpacked` into the cache.
"""

"""WordNet: the `database` files, the `compact` form that ships, the `embedded` space, the `taxonomy`,
the `relations` between words of every part of speech, `latent_fit`, and what is `unpacked` into the cache.
"""

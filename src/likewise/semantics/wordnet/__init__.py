"""WordNet: `database` files, the `compact` form that ships, the `embedded` space, `taxonomy` and `relations`."""

"""The production engine for exact conditions: interval bitmaps (docs/engines/bitmap.md).

`engine` holds `block`s, which `clustering` keeps alike, and a `tail` of the newest. Subscriptions become rows by
`condition_rows` and `code_book`, events become points by `event_points` and `event_points`. `match_kernels` walks them
with `match_kernels`, `sparse_kernels` and `listing_kernels`, by the `layout` of a block. `interval_bitmap` answers for
numbers, `code_book` for text, `engine` for the rest.
"""

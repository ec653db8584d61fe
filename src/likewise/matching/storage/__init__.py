"""A matcher on disk: its `folder`, the `subscriptions` in it, read when they are looked at, `feedback`, and the built
`index_file` beside them, a file of arrays.
"""

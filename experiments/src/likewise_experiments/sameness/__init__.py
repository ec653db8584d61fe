"""Pairs that are, or are not, the same: the `experiment` that counts how many a measure tells apart and finds.

`probability` fits how probable it is that what was met was meant.
"""

"""Clustering for the bitmap engine: slots alike in blocks of their own, which most events need not enter.

`gates` says what every slot of a block asks for, `incremental` divides slots among blocks by it, `work` does so a step
at a time while additions go on.
"""

"""The matching kernels of Likewise, compiled ahead: a folder for each level of processors (docs/decisions/027).

There is nothing to import: `likewise.kernels.cache` finds the folders beside this file.
"""

"""Compiled kernels, for semantics, matching and evaluation alike.

`compile` has the decorators and what kernels need beyond NumPy; `fingerprint` names a kept kernel after what it is made
from; `growing_array` and `reused_array` hold what kernels fill.
"""

"""Compiled kernels: how functions are compiled, cached and checked.

`compile` has the decorators and what kernels need beyond NumPy, and alone knows numba's private parts; `folder` says
where kernels are kept, `fingerprint` names a kept kernel after what it is made from, `cache` knows whether all
of them are kept; `sizes` checks what a kernel is handed; `growing_array` and `reused_array` hold what kernels fill.
"""

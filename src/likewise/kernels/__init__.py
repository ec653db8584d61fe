"""Compiled kernels: how functions are compiled, stored and checked.

`compile` has the decorators and the store of compiled kernels, `intrinsics` what kernels need beyond NumPy; `content`
says what a stored kernel depends on, `targets` what it is compiled for, `cache` which folders it is in and whether all
kernels are there; `sizes` checks what a kernel is handed; `growing_array` and `reused_array` hold what kernels fill.
"""

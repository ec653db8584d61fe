"""Intrinsics of kernels beyond NumPy: arrays at an address, counts of bits, prefetching.

An engine that holds hundreds of blocks of arrays hands a kernel one table of addresses; unboxing
the arrays one by one would cost more than matching. Whoever puts an address into a table keeps the
array alive. This file and `compile` alone know numba's private parts.
"""

from __future__ import annotations

from typing import Any, cast

import numba.extending
from numba import types
from numba.core import cgutils as generated
from numba.np import arrayobj

# Seen without the types numba publishes: they do not know what an intrinsic is called with.
intrinsic = cast("Any", numba.extending.intrinsic)
layouts = cast("Any", arrayobj)
cgutils = cast("Any", generated)
ir = cgutils.ir


def _zeros(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.int64(types.uint64), generate


def _ones(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _fetch(context: Any, where: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for_reading, near, data = number(0), number(3), number(1)
        builder.call(fetch, [builder.inttoptr(arguments[0], byte), for_reading, near, data])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def _spread(context: Any, source: Any, base: Any, target: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bytes_, numbers, number = ir.VectorType(ir.IntType(8), 8), ir.VectorType(ir.IntType(32), 8), ir.IntType(32)
        source, base, target = arguments
        read = builder.load(builder.inttoptr(source, bytes_.as_pointer()), align=8)
        one = builder.insert_element(ir.Constant(numbers, ir.Undefined), builder.trunc(base, number), number(0))
        bases = builder.shuffle_vector(one, one, ir.Constant(numbers, [0] * 8))
        sums = builder.add(builder.zext(read, numbers), bases)
        builder.store(sums, builder.inttoptr(target, numbers.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


add_to_eight = intrinsic(_spread)  # eight bytes at an address, each plus a number, as eight int32 at another address
prefetch = intrinsic(_fetch)  # ask for the cache line at an address ahead of its use
count_zeros = intrinsic(_zeros)
count_ones = intrinsic(_ones)


def _view_of(kind: Any) -> Any:
    """Return an intrinsic that makes an array of `kind` from an address and a length, without ownership."""
    array_type = types.Array(kind, 1, "C")

    def view(context: Any, where: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            start, size = arguments
            array = layouts.make_array(array_type)(context, builder)
            width = context.get_constant(types.intp, kind.bitwidth // 8)
            data = builder.inttoptr(start, array.data.type)
            layouts.populate_array(array, data=data, shape=[size], strides=[width], itemsize=width, meminfo=None)
            return array._getvalue()

        return array_type(types.int64, types.int64), generate

    return intrinsic(view)


words_at = _view_of(types.uint64)
integers_at = _view_of(types.int64)
numbers_at = _view_of(types.float64)
shorts_at = _view_of(types.uint16)
codes_at = _view_of(types.int32)

"""What compiled kernels need beyond NumPy: arrays at an address, trailing zeros, set bits.

An engine that holds hundreds of blocks of arrays hands a kernel one table of addresses; unboxing
the arrays one by one would cost more than matching. Whoever puts an address into a table keeps the
array alive.

>>> import numpy as np
>>> trailing_zeros(np.uint64(8)), ones(np.uint64(7))
(3, 3)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """`numba.njit(cache=True)`, keeping the function's type."""
    return cast("Callable[P, R]", njit(cache=True)(function))


def address(array: NDArray[Any]) -> int:
    """Where the array's first element lies; the array must stay alive as long as the address is used.

    >>> address(np.zeros(1)) > 0
    True
    """
    return int(array.ctypes.data)


def _pointer(context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


def _zeros(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.false_bit)

    return types.int64(types.uint64), generate


def _ones(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


_at = intrinsic(_pointer)
_count_zeros = intrinsic(_zeros)
_count_ones = intrinsic(_ones)


@compiled
def trailing_zeros(word: Any) -> int:
    """How many zeros stand below the lowest set bit of a 64-bit word (64 if none is set)."""
    return _count_zeros(word)  # type: ignore[no-any-return]


@compiled
def ones(word: Any) -> int:
    """How many bits of a 64-bit word are set."""
    return _count_ones(word)  # type: ignore[no-any-return]


@compiled
def words_at(where: int, count: int) -> NDArray[np.uint64]:
    """The 64-bit words at an address."""
    return carray(_at(where), (count,), dtype=np.uint64)  # type: ignore[no-any-return]


@compiled
def integers_at(where: int, count: int) -> NDArray[np.int64]:
    """The 64-bit integers at an address."""
    return carray(_at(where), (count,), dtype=np.int64)  # type: ignore[no-any-return]


@compiled
def numbers_at(where: int, count: int) -> NDArray[np.float64]:
    """The 64-bit numbers at an address."""
    return carray(_at(where), (count,), dtype=np.float64)  # type: ignore[no-any-return]


@compiled
def shorts_at(where: int, count: int) -> NDArray[np.uint16]:
    """The 16-bit integers at an address."""
    return carray(_at(where), (count,), dtype=np.uint16)  # type: ignore[no-any-return]


@compiled
def codes_at(where: int, count: int) -> NDArray[np.int32]:
    """The 32-bit integers at an address."""
    return carray(_at(where), (count,), dtype=np.int32)  # type: ignore[no-any-return]

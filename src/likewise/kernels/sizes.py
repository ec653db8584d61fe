"""Bounds checks of kernel arguments, once per batch: compiled code reads past an array's end without an error.

An engine keeps tables by ids that its vocabulary deals out. When a table was not widened for a new id, a kernel would
read other memory: it ends the process, or finds matches that are none. Numba checks bounds only when it is told to
compile so (`NUMBA_BOUNDSCHECK=1`), at a multiple of the cost; these checks cost microseconds a batch.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from numpy.typing import NDArray


class KernelSizeError(RuntimeError):
    """A table is too small for the ids that index it: a bug, found before memory is damaged.

    It is no `LikewiseError`, since nobody who calls Likewise can have caused it; please report it.
    """


def check_ids(what: str, ids: NDArray[Any], size: int, least: int = 0) -> None:
    """Check that a table has an entry for every id.

    Args:
        what: the ids and the table, for the message.
        ids: the ids a kernel will read the table by.
        size: how many places the table has.
        least: -1 where an id may stand for "none", which the kernel passes over.

    Raises:
        KernelSizeError: an id lies outside the table.

    >>> import numpy as np
    >>> check_ids("labels of roles", np.array([0, 3]), 4)
    >>> check_ids("labels of roles", np.array([0, 4]), 4)
    Traceback (most recent call last):
    ...
    likewise.kernels.sizes.KernelSizeError: labels of roles: ids from 0 to 4, but the table has 4 places; please ...
    """
    if ids.size and (int(ids.max()) >= size or int(ids.min()) < least):
        raise KernelSizeError(
            f"{what}: ids from {ids.min()} to {ids.max()}, but the table has {size} places; please report this"
        )


def check_capacity(what: str, needed: int, room: int) -> None:
    """Check that an array is large enough for what a kernel reads or writes.

    >>> check_capacity("rows of the output", 8, 8)
    """
    if not 0 <= needed <= room:
        raise KernelSizeError(f"{what}: {needed} places are needed, there are {room}; please report this")


def check_lengths(what: str, length: int, *arrays: Sized) -> None:
    """Check that parallel arrays have equal lengths.

    >>> check_lengths("columns of members", 2, [1, 2], [3, 4])
    """
    lengths = [len(array) for array in arrays]
    if any(each != length for each in lengths):
        raise KernelSizeError(f"{what}: {length} places are needed in each, there are {lengths}; please report this")

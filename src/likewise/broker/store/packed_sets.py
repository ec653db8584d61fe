"""Sets of whole numbers as bytes: who gets a delivery, and for which subscriptions, in one field of one row.

Few numbers are written as they are, many as a Roaring bitmap (Lemire et al., "Roaring Bitmaps:
Implementation of an Optimized Software Library", Software: Practice and Experience 48, 2018), so that
3,000 recipients of one event are one row of a few hundred bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap64

_FEW: Final = 16  # up to here the plain form is shorter and quicker
_NARROW, _WIDE, _ROARING = b"n", b"w", b"r"
Numbers = NDArray[np.int64]


def pack(numbers: Sequence[int]) -> bytes:
    """Ascending distinct numbers as bytes.

    >>> unpack(pack([3, 900])), unpack(pack(range(10, 5000, 7)))[-1], pack([])
    ([3, 900], 4994, b'n')
    """
    if len(numbers) <= _FEW:
        if not numbers or numbers[-1] < 2**32:
            return _NARROW + b"".join([n.to_bytes(4, "little") for n in numbers])
        return _WIDE + b"".join([n.to_bytes(8, "little") for n in numbers])
    packed = BitMap64(numbers)
    packed.run_optimize()
    return _ROARING + bytes(packed.serialize())


def unpack(data: bytes) -> list[int]:
    """The numbers `pack` wrote, ascending."""
    kind = data[:1]
    if kind == _ROARING:
        return list(BitMap64.deserialize(data[1:]))
    size = 8 if kind == _WIDE else 4
    return [int.from_bytes(data[i : i + size], "little") for i in range(1, len(data), size)]


def pack_scores(scores: NDArray[np.float32]) -> bytes:
    """The scores of the numbers beside them, in their order; empty if all are 1.

    >>> pack_scores(np.ones(3, np.float32)), unpack_scores(b"", 2)
    (b'', [1.0, 1.0])
    """
    return b"" if (scores == 1).all() else scores.astype("<f4").tobytes()


def unpack_scores(data: bytes, count: int) -> list[float]:
    """The scores `pack_scores` wrote."""
    return [1.0] * count if not data else np.frombuffer(data, "<f4").tolist()

"""Integer sets as bytes (Roaring bitmaps): recipients and matched subscriptions in one field of one row.

Few numbers are written as they are, many as a Roaring bitmap (Lemire et al., "Roaring Bitmaps:
Implementation of an Optimized Software Library", Software: Practice and Experience 48, 2018), so that
3,000 recipients of one event are one row of a few hundred bytes. The bitmap is written from the array itself, in the
portable form of the format's specification: making the set first takes ten times as long as writing it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from struct import Struct
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap64

_FEW: Final = 128  # up to here the plain form is much quicker, and hardly longer
_NARROW, _WIDE, _ROARING = b"n", b"w", b"r"
_BLOCK: Final = 2**16  # numbers of one container
_LONG: Final = 8  # numbers that follow one another from which on runs are written
_NEAR: Final = 8  # containers that are cut by looking for their edges
_LISTED: Final = 4096  # of a container that are listed; more of them are bits
_HEAD: Final = Struct("<QIII")  # how many parts of 32 bits, what is above those bits, the cookie, how many containers
_COOKIE: Final = 12346  # containers without runs
_ONE: Final = Struct("<QIIIHHI")  # the head of a set with one container, which most are
Numbers = NDArray[np.int64]
NONE: Final[Numbers] = np.empty(0, np.int64)


def pack(numbers: Numbers | Sequence[int]) -> bytes:
    """Encode ascending distinct numbers.

    >>> unpack(pack([3, 900])).tolist(), int(unpack(pack(range(10, 5000, 7)))[-1]), pack([])
    ([3, 900], 4994, b'n')
    """
    count = len(numbers)
    if count <= _FEW:
        if not count or numbers[-1] < 2**32:
            return _NARROW + np.asarray(numbers, "<u4").tobytes()
        return _WIDE + np.asarray(numbers, "<u8").tobytes()
    array = np.asarray(numbers, np.int64)
    some = array[::_LONG]
    if 2 * np.count_nonzero(some[1:] - some[:-1] == _LONG) >= len(some) - 1:  # most of them follow one another
        return _ROARING + _runs(array)
    first, last = int(array[0]), int(array[-1])
    if first >> 16 == last >> 16 and count <= _LISTED:
        return _ROARING + _ONE.pack(1, first >> 32, _COOKIE, 1, first >> 16 & 0xFFFF, count - 1, 16) + _low(array)
    if first >> 32 == last >> 32:
        return _ROARING + (1).to_bytes(8, "little") + _part(array)
    cuts = [0, *(np.flatnonzero(np.diff(array >> 32)) + 1).tolist(), count]
    parts = [_part(array[a:b]) for a, b in pairwise(cuts)]
    return _ROARING + len(parts).to_bytes(8, "little") + b"".join(parts)


def pack_parts(numbers: Numbers, cuts: Sequence[int]) -> list[bytes]:
    """Encode the parts of an array, from each cut to the next, as `pack` does.

    >>> made = np.array([3, 900, 4, 5, 6])
    >>> pack_parts(made, [0, 2, 2, 5]) == [pack(made[:2]), pack(made[:0]), pack(made[2:])]
    True
    """
    if len(numbers) and numbers.max() >= 2**32:
        return [pack(numbers[a:b]) for a, b in pairwise(cuts)]
    written = numbers.astype("<u4").tobytes()
    return [_NARROW + written[4 * a : 4 * b] if b - a <= _FEW else pack(numbers[a:b]) for a, b in pairwise(cuts)]


def _part(numbers: Numbers) -> bytes:
    """Encode numbers that differ in their lower 32 bits alone."""
    first, last = int(numbers[0]) >> 16, int(numbers[-1]) >> 16
    if last - first <= _NEAR:
        edges = np.searchsorted(numbers, [block << 16 for block in range(first + 1, last + 1)]).tolist()
        cuts = sorted({0, *edges, len(numbers)})
    else:
        cuts = [0, *(np.flatnonzero(np.diff(numbers >> 16)) + 1).tolist(), len(numbers)]
    heads, offsets, bodies = [], [], []
    at = 8 + 8 * (len(cuts) - 1)  # after the cookie, the heads and the offsets
    for a, b in pairwise(cuts):
        body = _low(numbers[a:b]) if b - a <= _LISTED else _bits(numbers[a:b])
        heads.append((int(numbers[a]) >> 16 & 0xFFFF).to_bytes(2, "little") + (b - a - 1).to_bytes(2, "little"))
        offsets.append(at.to_bytes(4, "little"))
        bodies.append(body)
        at += len(body)
    head = _HEAD.pack(0, int(numbers[0]) >> 32, _COOKIE, len(heads))[8:]
    return head + b"".join(heads) + b"".join(offsets) + b"".join(bodies)


def _runs(numbers: Numbers) -> bytes:
    """Encode numbers as runs."""
    packed, ends = BitMap64(), np.flatnonzero(np.diff(numbers) != 1)
    firsts, lasts = numbers[np.append(0, ends + 1)], numbers[np.append(ends, len(numbers) - 1)]
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        packed.add_range(first, last + 1)
    packed.run_optimize()
    return bytes(packed.serialize())


def _low(numbers: Numbers) -> bytes:
    return numbers.astype("<u2").tobytes()  # the lower 16 bits


def _bits(numbers: Numbers) -> bytes:
    bits = np.zeros(_BLOCK, np.uint8)
    bits[numbers & (_BLOCK - 1)] = 1
    return np.packbits(bits, bitorder="little").tobytes()


def unpack(data: bytes) -> Numbers:
    """Decode what `pack` encoded."""
    kind = data[:1]
    if kind == _ROARING:
        numbers = BitMap64.deserialize(data[1:])
        return np.fromiter(numbers, np.int64, len(numbers))
    return np.frombuffer(data, "<u8" if kind == _WIDE else "<u4", offset=1).astype(np.int64)


def pack_scores(scores: NDArray[np.float32]) -> bytes:
    """Encode scores as 32-bit floats; empty if all are 1.

    >>> pack_scores(np.ones(3, np.float32)), unpack_scores(b"", 2)
    (b'', [1.0, 1.0])
    """
    return b"" if (scores == 1).all() else scores.astype("<f4").tobytes()


def unpack_scores(data: bytes, count: int) -> list[float]:
    """Decode what `pack_scores` encoded."""
    return [1.0] * count if not data else np.frombuffer(data, "<f4").tolist()

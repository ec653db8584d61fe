"""Clustering for the bitmap engine: neighbouring full blocks become as many blocks of slots alike.

If every slot asks for a number on one axis (the *gate*), slots can be dealt to blocks by that range, so that an event
enters only the blocks whose ranges its number falls into (docs/engines/bitmap.md). The widest ranges get a block of
their own, since one of them would open any block to most numbers. Building goes on a block at a time while the old
blocks still answer, so no addition waits for more than one build. Inside a block slots stay in the order of addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from likewise.matching.bitmap.block import Block, Rows, join
from likewise.matching.bitmap.condition_rows import NEGATIVE, NUMERIC, REQUIREMENT
from likewise.matching.bitmap.layout import BlockShape

WORTHWHILE: Final = 0.6  # share of the blocks an event enters; above it, order costs more than entering saves
SAMPLED: Final = 4_096  # bounds by which that share is estimated

Ranges = tuple[NDArray[np.float64], NDArray[np.float64]]  # where each slot's range begins and ends


def gates(rows: Rows) -> dict[int, Ranges]:
    """The axes on which every slot must find a number: their codes, and each slot's range.

    >>> one = Rows(*map(np.array, ([4, 7], [0, 1, 2], [5, 5], [NUMERIC, NUMERIC], [0.0, 2.0], [1.0, 3.0])))
    >>> [(code, low.tolist(), high.tolist()) for code, (low, high) in gates(one).items()]
    [(5, [0.0, 2.0], [1.0, 3.0])]
    """
    size = len(rows.ordinals)
    slot = np.repeat(np.arange(size), np.diff(rows.starts))
    asked = rows.flags & NEGATIVE == 0
    number = rows.flags & REQUIREMENT
    width = int(number.max()) + 1
    requirement = width * slot + number
    ways = np.bincount(requirement[asked], minlength=width * size)
    sole = np.flatnonzero(asked & (rows.flags & NUMERIC != 0) & (ways[requirement] == 1))
    found = {}
    codes, counts = np.unique(rows.codes[sole], return_counts=True)
    for code in codes[counts >= size].tolist():
        mine = sole[rows.codes[sole] == code]
        slots, first = np.unique(slot[mine], return_index=True)
        if len(slots) == size:
            found[code] = rows.on[mine[first]], rows.off[mine[first]]
    return found


def deal(low: NDArray[np.float64], high: NDArray[np.float64], parts: int) -> tuple[list[NDArray[np.int64]], float]:
    """Slots by their ranges in so many parts: the widest, then by where they begin; the share an event enters."""
    finite = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)]])
    if not len(finite):
        return [], 1.0
    low, high = np.clip(low, finite.min(), None), np.clip(high, None, finite.max())
    few = len(low) - len(low) // parts
    by_width = np.argpartition(high - low, few)
    narrow = by_width[:few][np.argsort(low[by_width[:few]])]
    dealt = [np.sort(by_width[few:]), *(np.sort(part) for part in np.array_split(narrow, parts - 1))]
    numbers = finite[:: -(-len(finite) // SAMPLED)]
    entered = sum(((numbers >= low[p].min()) & (numbers < high[p].max())).mean() for p in dealt if len(p))
    return [part for part in dealt if len(part)], float(entered) / parts


class Clustering:
    """The work under way: some blocks, and those that will take their place, built one by one."""

    def __init__(self, old: Sequence[Block], gate: int, parts: list[NDArray[np.int64]]) -> None:
        self.old = list(old)
        self.new: list[Block] = []
        self._gate = gate
        self._parts = parts
        self._bounds = np.cumsum([0, *(block.size for block in old)])
        self._removed: list[int] = []

    @classmethod
    def plan(cls, blocks: Sequence[Block]) -> Clustering | None:
        """How to cluster some blocks, if it is worthwhile."""
        known = [gates(block.rows) for block in blocks]
        best: tuple[float, int, list[NDArray[np.int64]]] | None = None
        for code in set.intersection(*(set(each) for each in known)):
            low, high = (np.concatenate([each[code][side] for each in known]) for side in (0, 1))
            parts, share = deal(low, high, len(blocks))
            if share <= WORTHWHILE and (best is None or share < best[0]):
                best = share, code, parts
        return None if best is None else cls(blocks, best[1], best[2])

    def remove(self, ordinal: int) -> None:
        """A subscription was removed meanwhile."""
        self._removed.append(ordinal)

    def build(self, owner: NDArray[np.int32], shape: BlockShape) -> bool:
        """Build the next block; whether that was the last."""
        part = self._parts.pop()
        pieces = []
        for index, block in enumerate(self.old):
            begin, end = np.searchsorted(part, self._bounds[index : index + 2]).tolist()
            pieces.append(block.living(part[begin:end] - self._bounds[index]))
        if any(len(piece.ordinals) for piece in pieces):
            self.new.append(Block(join(pieces), owner, shape, gate=self._gate))
        return not self._parts

    def finished(self) -> list[Block]:
        """The new blocks, without what was removed while they were built."""
        for block in self.new:
            for ordinal in self._removed:
                for slot in block.slots_of(ordinal):
                    if block.is_alive(slot):
                        block.remove(slot)
        return [block for block in self.new if block.live]

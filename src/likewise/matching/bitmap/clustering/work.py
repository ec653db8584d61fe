"""The work of clustering: neighbouring blocks become smaller ones of slots alike, a step at a time.

Planning looks at a sample of the slots. Then every slot is dealt to a part, some at a time, and the parts are built one
by one while the old blocks still answer, so no addition waits for more than one build. Inside a block slots stay in the
order of addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from likewise.matching.bitmap.block import Block, join
from likewise.matching.bitmap.clustering.assignment import Deal, deal, entered, met, scales_of, share
from likewise.matching.bitmap.clustering.gates import Axes, Ranges, common_axes, gates, ranges_on
from likewise.matching.bitmap.layout import MAX_GATES, BlockShape

BETTER: Final = 0.8  # of what it enters as it is; blocks that are clustered already are not dealt again for less
SAMPLED: Final = 48  # slots of a part that a plan looks at
COMMON: Final = 0.1  # share of the slots that must ask on an axis for it to be of use


class Clustering:
    """The work under way: some blocks, and those that will take their place."""

    def __init__(self, old: Sequence[Block], level: int, axes: Axes, dealt: Deal) -> None:
        self.old = list(old)
        self.new: list[Block] = []
        self._level = level
        self._axes = axes
        self._deal = dealt
        self._bounds = np.cumsum([0, *(block.size for block in old)])
        self._part_of: list[NDArray[np.int16]] = []
        self._parts: list[NDArray[np.int64]] | None = None
        self._removed: list[int] = []

    @classmethod
    def plan(
        cls, blocks: Sequence[Block], level: int, owner: NDArray[np.int32], shape: BlockShape
    ) -> Clustering | None:
        """How to cluster some blocks, if it is worthwhile."""
        parts = -(-sum(block.live for block in blocks) // shape.clustered_block)
        each = SAMPLED * parts // len(blocks) + 1
        sample = [block.living(np.arange(block.size)[:: max(1, block.size // each)]) for block in blocks]
        rows = join([part for part in sample if len(part.ordinals)])
        axes = common_axes(rows, owner, COMMON)[: 2 * MAX_GATES]
        ranges = ranges_on(rows, owner, axes)
        axes, ranges = _most_selective(axes, ranges)
        if not len(axes):
            return None
        planned = deal(ranges, parts)
        before = 1.0
        if blocks[0].level:  # what an event enters as it is
            begun = np.cumsum([0, *(len(part.ordinals) for part in sample)])
            of = np.argsort(np.concatenate([part.ordinals for part in sample]), kind="stable")
            place = np.empty_like(of)
            place[of] = np.arange(len(of))
            before = sum(
                entered(ranges.take(place[begin:end]), planned.scales)
                for begin, end in pairwise(begun.tolist())
                if end > begin
            ) / len(blocks)
        limit = min(shape.entered / 100, BETTER * before)
        if planned.parts < 2 or planned.entered > limit or met(ranges, planned.scales) > shape.met / 100:
            return None
        return cls(blocks, level, axes, planned)

    def remove(self, ordinal: int) -> None:
        """A subscription was removed meanwhile."""
        self._removed.append(ordinal)

    def step(self, owner: NDArray[np.int32], shape: BlockShape) -> bool:
        """Deal out as many slots as the largest block has, or build the next block; whether that was the last."""
        if self._parts is None:
            done = 0
            while len(self._part_of) < len(self.old) and done < shape.largest_block:
                block = self.old[len(self._part_of)]
                self._part_of.append(self._deal.part_of(ranges_on(block.rows, owner, self._axes)))
                done += block.size
            if len(self._part_of) == len(self.old):
                part = np.concatenate(self._part_of)
                order = np.argsort(part, kind="stable")
                ends = np.cumsum(np.bincount(part, minlength=self._deal.parts))
                self._parts = [each for each in np.split(order, ends[:-1]) if len(each)]
                self._part_of.clear()
            return not (self._parts is None or self._parts)
        self._build(self._parts.pop(), owner, shape)
        return not self._parts

    def _build(self, slots: NDArray[np.int64], owner: NDArray[np.int32], shape: BlockShape) -> None:
        if len(slots) > 2 * shape.clustered_block and len(slots) > shape.largest_block:
            assert self._parts is not None
            self._parts.append(slots[len(slots) // 2 :])  # the sample did not show how many there are
            slots = slots[: len(slots) // 2]
        ends = np.searchsorted(slots, self._bounds)
        pieces = [
            self.old[index].living(slots[ends[index] : ends[index + 1]] - self._bounds[index])
            for index in np.flatnonzero(np.diff(ends)).tolist()
        ]
        pieces = [piece for piece in pieces if len(piece.ordinals)]
        if pieces:
            rows = join(pieces)
            told = gates(ranges_on(rows, owner, self._axes), self._axes)
            self.new.append(Block(rows, owner, shape, told, self._level))

    def finished(self) -> list[Block]:
        """The new blocks, without what was removed while they were built."""
        for block in self.new if self._removed else ():
            begins, ends = (np.searchsorted(block.rows.ordinals, self._removed, side) for side in ("left", "right"))
            for which in np.flatnonzero(begins < ends).tolist():
                for slot in range(int(begins[which]), int(ends[which])):
                    if block.is_alive(slot):
                        block.remove(slot)
        return [block for block in self.new if block.live]


def _most_selective(axes: Axes, ranges: Ranges) -> tuple[Axes, Ranges]:
    """The axes that tell slots apart, as many as a block has gates: asked by many, in narrow ranges."""
    scales = scales_of(ranges)
    apart = [
        float((1 - share(scales[a], ranges.low[:, a], ranges.high[:, a]))[ranges.asked[:, a]].sum() / len(ranges.low))
        for a in range(len(axes))
    ]
    kept = np.array([a for a in np.argsort(-np.array(apart), kind="stable").tolist() if apart[a] >= COMMON], np.int64)
    kept = kept[:MAX_GATES]
    return axes[kept], Ranges(ranges.low[:, kept], ranges.high[:, kept], ranges.asked[:, kept])

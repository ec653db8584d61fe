"""The work of clustering: neighbouring blocks become smaller ones of slots alike, a step at a time.

Planning looks at a sample of the slots. Then every slot is dealt to a part, some at a time, and the parts are built one
by one while the old blocks still answer, so no addition waits for more than one build. Inside a block slots stay in the
order of addition.

Dealing: slots divided into parts by their ranges, so that an event enters few parts.

A tree of questions, made of a sample and asked of every slot. Where some slots have a range on an axis and some have
none, it divides them first. Then it takes the widest ranges away, since one of them would open any part to most events.
What is left it halves by where ranges begin, each time on the axis that leaves the least to enter (a k-d tree).
How much an event enters is estimated as if events' numbers were spread as the ranges' bounds are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.matching.bitmap.block import Block, join
from likewise.matching.bitmap.clustering.gates import Axes, Ranges, common_axes, gates, ranges_on
from likewise.matching.bitmap.layout import MAX_GATES, BlockShape

ASKED, NARROW, BEGINS = 0, 1, 2  # a range on the axis? all ranges together below the cut? beginning below it?
WIDEST: Final = 12  # one part in so many is of the widest ranges
DIVIDED: Final = 4  # parts; below this the widest are not taken away
STEPS: Final = 1_024  # of a scale
Places = NDArray[np.int64]
Scales = list[NDArray[np.float64]]  # of each axis: bounds at equal distances among all, ascending


class SplitNode(NamedTuple):
    """Question for a slot and the next step: the number of a question, or, inverted, that of a part."""

    what: int
    axis: int
    cut: float
    yes: int
    no: int


class Partition(NamedTuple):
    """The questions, the first to be asked last; into how many parts; what share an event is thought to enter."""

    questions: list[SplitNode]
    parts: int
    scales: Scales
    entered: float

    def part_of(self, ranges: Ranges) -> NDArray[np.int16]:
        """The part of each slot.

        >>> low = np.arange(8.0).reshape(-1, 1)
        >>> ranges = Ranges(low, low + 1, np.ones((8, 1), np.bool_))
        >>> partition_slots(ranges, 2).part_of(ranges).tolist()
        [0, 0, 0, 0, 1, 1, 1, 1]
        """
        part_numbers = np.zeros(len(ranges.low), np.int16)
        wide = widths(ranges, self.scales)
        waiting = [(len(self.questions) - 1, np.arange(len(part_numbers)))]
        while waiting:
            at, slots = waiting.pop()
            if at < 0:
                part_numbers[slots] = ~at if self.questions else 0
                continue
            question = self.questions[at]
            if question.what == ASKED:
                yes = ranges.constrained[slots, question.axis]
            elif question.what == NARROW:
                yes = wide[slots] < question.cut
            else:
                yes = ranges.low[slots, question.axis] < question.cut
            waiting += [(question.yes, slots[yes]), (question.no, slots[~yes])]
        return part_numbers


def scales_of(ranges: Ranges) -> Scales:
    """The scale of each axis."""
    made = []
    for axis in range(ranges.low.shape[1]):
        bounds = np.concatenate([ranges.low[:, axis], ranges.high[:, axis]])
        bounds = np.sort(bounds[np.isfinite(bounds)])
        made.append(bounds[:: -(-len(bounds) // STEPS)] if len(bounds) else bounds)
    return made


def share(scale: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what share of the numbers lies in ranges."""
    between = np.searchsorted(scale, high) - np.searchsorted(scale, low)
    return np.clip((between + 1) / (len(scale) + 1), 0.0, 1.0)


def widths(ranges: Ranges, scales: Scales) -> NDArray[np.float64]:
    """Return how wide the ranges of each slot are, together."""
    columns = range(ranges.low.shape[1])
    return sum((share(scales[a], ranges.low[:, a], ranges.high[:, a]) for a in columns), np.zeros(len(ranges.low)))


def match_share(ranges: Ranges, scales: Scales) -> float:
    """Return what share of the slots an event is thought to meet on the axes."""
    if not len(ranges.low):
        return 0.0
    each = [share(scales[a], ranges.low[:, a], ranges.high[:, a]) for a in range(ranges.low.shape[1])]
    return float(np.prod(each, axis=0).mean())


def entered(ranges: Ranges, scales: Scales) -> float:
    """With what chance an event enters a part of these slots."""
    chance = 1.0
    for axis in np.flatnonzero(ranges.constrained.all(axis=0)).tolist():
        low, high = ranges.low[:, axis].min(keepdims=True), ranges.high[:, axis].max(keepdims=True)
        chance *= float(share(scales[axis], low, high)[0])
    return chance


def partition_slots(ranges: Ranges, parts: int) -> Partition:
    """Divide slots into so many parts, about equally large."""
    scales = scales_of(ranges)
    tree = _TreeBuilder(ranges, scales)
    tree.divide(np.arange(len(ranges.low)), parts, widest=True)
    return Partition(tree.questions, tree.parts, scales, tree.entered / max(1, tree.parts))


class _TreeBuilder:
    """The questions found so far; whoever asks another question stands after it."""

    def __init__(self, ranges: Ranges, scales: Scales) -> None:
        self.questions: list[SplitNode] = []
        self.parts = 0
        self.entered = 0.0
        self._ranges = ranges
        self._scales = scales
        self._widths = widths(ranges, scales)

    def divide(self, slots: Places, parts: int, *, widest: bool) -> int:
        """Divide some slots; the number of the question to begin with, or, inverted, of the only part."""
        if parts <= 1 or len(slots) < 2:
            self.entered += entered(self._ranges.take(slots), self._scales) if len(slots) else 0.0
            self.parts += 1
            return ~(self.parts - 1)
        ranges = self._ranges
        constrained = ranges.constrained[slots]
        for axis in range(constrained.shape[1]):
            have = float(constrained[:, axis].mean())
            first = round(have * parts)
            if 0 < first < parts:
                yes, no = slots[constrained[:, axis]], slots[~constrained[:, axis]]
                return self._add_node(ASKED, axis, 0.0, (yes, first, True), (no, parts - first, True))
        if widest and parts >= DIVIDED:
            wide = max(1, parts // WIDEST)
            order = slots[np.argsort(self._widths[slots], kind="stable")]
            cut = float(self._widths[order[len(order) * (parts - wide) // parts]])
            narrow = self._widths[slots] < cut
            if narrow.any():
                rest = max(1, min(parts - 1, round(float(narrow.mean()) * parts)))
                return self._add_node(
                    NARROW, 0, cut, (slots[narrow], rest, False), (slots[~narrow], parts - rest, parts > rest + 1)
                )
        best: tuple[float, int, float] | None = None
        half = parts // 2
        for axis in np.flatnonzero(constrained.all(axis=0)).tolist():
            low = ranges.low[slots, axis]
            cut = float(np.partition(low, len(low) * half // parts)[len(low) * half // parts])
            below = low < cut
            if below.any():
                cost = sum(side.mean() * self._share(slots[side], axis) for side in (below, ~below)) / self._share(
                    slots, axis
                )
                if best is None or cost < best[0]:
                    best = float(cost), axis, cut
        if best is None:
            return self.divide(slots, 1, widest=False)
        _, axis, cut = best
        below = ranges.low[slots, axis] < cut
        first = max(1, min(parts - 1, round(float(below.mean()) * parts)))
        return self._add_node(BEGINS, axis, cut, (slots[below], first, False), (slots[~below], parts - first, False))

    def _add_node(
        self, what: int, axis: int, cut: float, yes: tuple[Places, int, bool], no: tuple[Places, int, bool]
    ) -> int:
        then = [self.divide(slots, parts, widest=widest) for slots, parts, widest in (yes, no)]
        self.questions.append(SplitNode(what, axis, cut, *then))
        return len(self.questions) - 1

    def _share(self, slots: Places, axis: int) -> float:
        low, high = self._ranges.low[slots, axis].min(keepdims=True), self._ranges.high[slots, axis].max(keepdims=True)
        return float(share(self._scales[axis], low, high)[0])


MIN_GAIN: Final = 0.8  # of what it enters as it is; blocks that are clustered already are not dealt again for less
SAMPLE_SLOTS: Final = 48  # slots of a part that a plan looks at
COMMON: Final = 0.1  # share of the slots that must ask on an axis for it to be of use


class Clustering:
    """The work under way: some blocks, and those that will take their place."""

    def __init__(self, old: Sequence[Block], level: int, axes: Axes, dealt: Partition) -> None:
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
        """Return how to cluster some blocks, if it is worthwhile."""
        parts = -(-sum(block.live for block in blocks) // shape.clustered_block)
        each = SAMPLE_SLOTS * parts // len(blocks) + 1
        sample = [block.living(np.arange(block.size)[:: max(1, block.size // each)]) for block in blocks]
        rows = join([part for part in sample if len(part.ordinals)])
        axes = common_axes(rows, owner, COMMON)[: 2 * MAX_GATES]
        ranges = ranges_on(rows, owner, axes)
        axes, ranges = _most_selective(axes, ranges)
        if not len(axes):
            return None
        planned = partition_slots(ranges, parts)
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
        limit = min(shape.entered / 100, MIN_GAIN * before)
        if planned.parts < 2 or planned.entered > limit or match_share(ranges, planned.scales) > shape.matched / 100:
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
            block_gates = gates(ranges_on(rows, owner, self._axes), self._axes)
            self.new.append(Block(rows, owner, shape, block_gates, self._level))

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
    selectivity = [
        float(
            (1 - share(scales[a], ranges.low[:, a], ranges.high[:, a]))[ranges.constrained[:, a]].sum()
            / len(ranges.low)
        )
        for a in range(len(axes))
    ]
    chosen = np.array(
        [a for a in np.argsort(-np.array(selectivity), kind="stable").tolist() if selectivity[a] >= COMMON], np.int64
    )
    chosen = chosen[:MAX_GATES]
    return axes[chosen], Ranges(ranges.low[:, chosen], ranges.high[:, chosen], ranges.constrained[:, chosen])

"""Dealing: slots divided into parts by their ranges, so that an event enters few parts.

A tree of questions, made of a sample and asked of every slot. Where some slots have a range on an axis and some have
none, it divides them first. Then it takes the widest ranges away, since one of them would open any part to most events.
What is left it halves by where ranges begin, each time on the axis that leaves the least to enter (a k-d tree).
How much an event enters is estimated as if events' numbers were spread as the ranges' bounds are.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.matching.bitmap.clustering.gates import Ranges

ASKED, NARROW, BEGINS = 0, 1, 2  # a range on the axis? all ranges together below the cut? beginning below it?
WIDEST: Final = 12  # one part in so many is of the widest ranges
DIVIDED: Final = 4  # parts; below this the widest are not taken away
STEPS: Final = 1_024  # of a scale

Places = NDArray[np.int64]
Scales = list[NDArray[np.float64]]  # of each axis: bounds at equal distances among all, ascending


class Question(NamedTuple):
    """What a slot is asked, and where to go on: the number of a question, or, inverted, that of a part."""

    what: int
    axis: int
    cut: float
    yes: int
    no: int


class Deal(NamedTuple):
    """The questions, the first to be asked last; into how many parts; what share an event is thought to enter."""

    questions: list[Question]
    parts: int
    scales: Scales
    entered: float

    def part_of(self, ranges: Ranges) -> NDArray[np.int16]:
        """The part of each slot.

        >>> low = np.arange(8.0).reshape(-1, 1)
        >>> ranges = Ranges(low, low + 1, np.ones((8, 1), np.bool_))
        >>> deal(ranges, 2).part_of(ranges).tolist()
        [0, 0, 0, 0, 1, 1, 1, 1]
        """
        found = np.zeros(len(ranges.low), np.int16)
        wide = widths(ranges, self.scales)
        waiting = [(len(self.questions) - 1, np.arange(len(found)))]
        while waiting:
            at, slots = waiting.pop()
            if at < 0:
                found[slots] = ~at if self.questions else 0
                continue
            question = self.questions[at]
            if question.what == ASKED:
                yes = ranges.asked[slots, question.axis]
            elif question.what == NARROW:
                yes = wide[slots] < question.cut
            else:
                yes = ranges.low[slots, question.axis] < question.cut
            waiting += [(question.yes, slots[yes]), (question.no, slots[~yes])]
        return found


def scales_of(ranges: Ranges) -> Scales:
    """The scale of each axis."""
    made = []
    for axis in range(ranges.low.shape[1]):
        bounds = np.concatenate([ranges.low[:, axis], ranges.high[:, axis]])
        bounds = np.sort(bounds[np.isfinite(bounds)])
        made.append(bounds[:: -(-len(bounds) // STEPS)] if len(bounds) else bounds)
    return made


def share(scale: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """What share of the numbers lies in ranges."""
    between = np.searchsorted(scale, high) - np.searchsorted(scale, low)
    return np.clip((between + 1) / (len(scale) + 1), 0.0, 1.0)


def widths(ranges: Ranges, scales: Scales) -> NDArray[np.float64]:
    """How wide the ranges of each slot are, together."""
    columns = range(ranges.low.shape[1])
    return sum((share(scales[a], ranges.low[:, a], ranges.high[:, a]) for a in columns), np.zeros(len(ranges.low)))


def met(ranges: Ranges, scales: Scales) -> float:
    """What share of the slots an event is thought to meet on the axes."""
    if not len(ranges.low):
        return 0.0
    each = [share(scales[a], ranges.low[:, a], ranges.high[:, a]) for a in range(ranges.low.shape[1])]
    return float(np.prod(each, axis=0).mean())


def entered(ranges: Ranges, scales: Scales) -> float:
    """With what chance an event enters a part of these slots."""
    chance = 1.0
    for axis in np.flatnonzero(ranges.asked.all(axis=0)).tolist():
        low, high = ranges.low[:, axis].min(keepdims=True), ranges.high[:, axis].max(keepdims=True)
        chance *= float(share(scales[axis], low, high)[0])
    return chance


def deal(ranges: Ranges, parts: int) -> Deal:
    """Divide slots into so many parts, about equally large."""
    scales = scales_of(ranges)
    tree = _Tree(ranges, scales)
    tree.divide(np.arange(len(ranges.low)), parts, widest=True)
    return Deal(tree.questions, tree.parts, scales, tree.entered / max(1, tree.parts))


class _Tree:
    """The questions found so far; whoever asks another question stands after it."""

    def __init__(self, ranges: Ranges, scales: Scales) -> None:
        self.questions: list[Question] = []
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
        asked = ranges.asked[slots]
        for axis in range(asked.shape[1]):
            have = float(asked[:, axis].mean())
            first = round(have * parts)
            if 0 < first < parts:
                yes, no = slots[asked[:, axis]], slots[~asked[:, axis]]
                return self._ask(ASKED, axis, 0.0, (yes, first, True), (no, parts - first, True))
        if widest and parts >= DIVIDED:
            wide = max(1, parts // WIDEST)
            order = slots[np.argsort(self._widths[slots], kind="stable")]
            cut = float(self._widths[order[len(order) * (parts - wide) // parts]])
            narrow = self._widths[slots] < cut
            if narrow.any():
                rest = max(1, min(parts - 1, round(float(narrow.mean()) * parts)))
                return self._ask(
                    NARROW, 0, cut, (slots[narrow], rest, False), (slots[~narrow], parts - rest, parts > rest + 1)
                )
        best: tuple[float, int, float] | None = None
        half = parts // 2
        for axis in np.flatnonzero(asked.all(axis=0)).tolist():
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
        return self._ask(BEGINS, axis, cut, (slots[below], first, False), (slots[~below], parts - first, False))

    def _ask(
        self, what: int, axis: int, cut: float, yes: tuple[Places, int, bool], no: tuple[Places, int, bool]
    ) -> int:
        then = [self.divide(slots, parts, widest=widest) for slots, parts, widest in (yes, no)]
        self.questions.append(Question(what, axis, cut, *then))
        return len(self.questions) - 1

    def _share(self, slots: Places, axis: int) -> float:
        low, high = self._ranges.low[slots, axis].min(keepdims=True), self._ranges.high[slots, axis].max(keepdims=True)
        return float(share(self._scales[axis], low, high)[0])

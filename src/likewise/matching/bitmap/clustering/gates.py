"""Gates: what every slot of a block asks for, so that an event that does not say it need not enter.

A requirement that only one row can meet is a *range* on its axis: the numbers of the row, or the one code of its token
on the axis of the attribute's tokens. If all slots of a block have a range on an axis, the least range that holds
them all is a gate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.matching.bitmap.block import Rows
from likewise.matching.bitmap.condition_rows import NEGATIVE, NUMERIC, REQUIREMENT

Axes = NDArray[np.int64]  # an axis of numbers: twice its code; of an attribute's tokens: twice the attribute's, plus 1


class Ranges(NamedTuple):
    """The range of each slot on each of some axes; all numbers where it asks for none."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    constrained: NDArray[np.bool_]

    def take(self, slots: NDArray[np.int64]) -> Ranges:
        """Those of some slots."""
        return Ranges(self.low[slots], self.high[slots], self.constrained[slots])


class _Sole(NamedTuple):
    slot: NDArray[np.int64]
    axis: Axes
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def _sole_rows(rows: Rows, owner: NDArray[np.int32]) -> _Sole:
    """The rows that a slot cannot do without."""
    slot = np.repeat(np.arange(len(rows.ordinals)), np.diff(rows.starts))
    number = rows.flags & REQUIREMENT
    requirement = (int(number.max(initial=0)) + 1) * slot + number
    required = rows.flags & NEGATIVE == 0
    ways = np.bincount(requirement[required], minlength=int(requirement.max(initial=0)) + 1)
    numeric = rows.flags & NUMERIC != 0
    attribute = owner[rows.codes]
    sole = np.flatnonzero(required & (ways[requirement] == 1) & (numeric | (attribute != rows.codes)))
    code, numeric = rows.codes[sole].astype(np.int64), numeric[sole]
    axis = np.where(numeric, 2 * code, 2 * attribute[sole].astype(np.int64) + 1)
    return _Sole(
        slot[sole], axis, np.where(numeric, rows.on[sole], code), np.where(numeric, rows.off[sole], code + 1.0)
    )


def common_axes(rows: Rows, owner: NDArray[np.int32], share: float) -> Axes:
    """The axes that at least this share of the slots have a range on, those of most first.

    >>> on, off, flags = [0.0, 2.0, 0.0], [1.0, 3.0, 0.0], [NUMERIC, NUMERIC, 1]
    >>> one = Rows(*map(np.array, ([4, 7], [0, 1, 3], [5, 5, 6], flags, on, off)))
    >>> owner = np.array([0, 1, 2, 3, 4, 3, 4])
    >>> common_axes(one, owner, 1.0).tolist(), common_axes(one, owner, 0.5).tolist()
    ([10], [10, 9])
    """
    sole = _sole_rows(rows, owner)
    pairs = np.unique(np.stack([sole.axis, sole.slot]), axis=1)
    axes, counts = np.unique(pairs[0], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return axes[order][counts[order] >= share * len(rows.ordinals)]


def ranges_on(rows: Rows, owner: NDArray[np.int32], axes: Axes) -> Ranges:
    """The ranges of all slots on some axes."""
    shape = (len(rows.ordinals), len(axes))
    part_numbers = Ranges(np.full(shape, -np.inf), np.full(shape, np.inf), np.zeros(shape, np.bool_))
    sole = _sole_rows(rows, owner)
    for place, axis in enumerate(axes.tolist()):
        mine = np.flatnonzero(sole.axis == axis)
        slots = sole.slot[mine]
        part_numbers.low[slots, place], part_numbers.high[slots, place] = sole.low[mine], sole.high[mine]
        part_numbers.constrained[slots, place] = True
    return part_numbers


def gates(ranges: Ranges, axes: Axes) -> NDArray[np.float64]:
    """For each axis all slots have a range on: the axis, and the least and greatest number of all ranges.

    >>> ranges = Ranges(np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]]), np.array([[True], [True]]))
    >>> gates(ranges, np.array([10])).tolist()
    [[10.0, 0.0, 3.0]]
    """
    whole = ranges.constrained.all(axis=0)
    return np.stack(
        [axes[whole].astype(np.float64), ranges.low[:, whole].min(axis=0), ranges.high[:, whole].max(axis=0)], axis=1
    )

"""Interval bitmaps: which of many ranges hold a number, as one bitmap (docs/engines/bitmap.md).

The bounds of all ranges on an axis, sorted, are the places where some slot's answer changes. They are
cut into cells of equally many bounds (about 256, so that cells are quantiles). A cell keeps the bitmap of
the slots that some number in it meets; a number is answered by the cell it falls into, with the slots
cleared whose lower bound in the cell it does not reach or whose upper bound it passes: exact, without checking
any slot afterwards. If some slot has several ranges (`in`), the axis's cells keep the answers before their
first bound instead, and the bounds up to the number are flipped.
Slots that ask nothing of the axis are set everywhere, so bitmaps of different attributes combine by AND.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import compiled
from likewise.matching.bitmap.layout import UPPER, BlockShape

SHAPE = BlockShape()
Steps = TypeVar("Steps", int, NDArray[np.int64])


class IntervalBitmap(NamedTuple):
    """The cells of one axis: `step` bounds each, `cuts[c]` the first bound of cell c.

    A cell is one stretch of memory: the bitmap, then its bounds, then the slot of each bound in 16 bits (with `UPPER`
    added for upper bounds). The last cell is filled up with bounds no number reaches.

    >>> axis = interval_bitmap(np.array([1.0, 3.0]), np.array([4.0, np.inf]), np.array([0, 1]), np.zeros(1, np.uint64))
    >>> axis.step, axis.cuts.tolist(), axis.cells[1:4].view(np.float64).tolist()
    (32, [1.0], [1.0, 3.0, 4.0])
    """

    step: int
    often: bool  # some slot has several ranges: cells hold the answers before their first bound
    cuts: NDArray[np.float64]
    cells: NDArray[np.uint64]


def cell_width(words: int, step: Steps) -> Steps:
    """The words one cell takes."""
    return words + step + step // 4


def interval_bitmap(
    on: NDArray[np.float64],
    off: NDArray[np.float64],
    slots: NDArray[np.int64],
    always: NDArray[np.uint64],
    shape: BlockShape = SHAPE,
) -> IntervalBitmap:
    """The cells for ranges [on, off) of slots; ranges of one slot must not overlap. `always`: slots set everywhere."""
    often = len(slots) > 1 and int(np.bincount(slots).max()) > 1
    real = on < off
    on, off, slots = on[real], off[real], slots[real]
    begun, ends = on == -np.inf, off < np.inf
    state = always.copy()
    set_bits(state, slots[begun])
    bounds = np.concatenate([on[~begun], off[ends]])
    changing = np.concatenate([slots[~begun], slots[ends] | UPPER])
    order = np.argsort(bounds)
    bounds, flips = bounds[order], changing[order]
    step = -(-max(shape.smallest_cell, -(-len(bounds) // shape.cells)) // 4) * 4
    count = max(1, -(-len(bounds) // step))
    cells = np.zeros(count * cell_width(len(always), step), np.uint64)
    _fill(cells, cells.view(np.float64), cells.view(np.uint16), state, bounds, flips, step, often)
    return IntervalBitmap(step, often, bounds[::step].copy() if len(bounds) else np.array([np.inf]), cells)


@compiled
def _fill(
    cells: NDArray[np.uint64],
    numbers: NDArray[np.float64],
    shorts: NDArray[np.uint16],
    state: NDArray[np.uint64],
    bounds: NDArray[np.float64],
    flips: NDArray[np.int64],
    step: int,
    often: bool,
) -> None:
    words = len(state)
    width = words + step + step // 4
    for cell in range(len(cells) // width):
        base = cell * width
        for word in range(words):
            cells[base + word] = state[word]
        for place in range(step):
            index = cell * step + place
            if index < len(bounds):
                slot = flips[index] & (UPPER - 1)
                bit = np.uint64(1) << np.uint64(slot & 63)
                numbers[base + words + place] = bounds[index]
                shorts[4 * (base + words + step) + place] = flips[index]
                state[slot >> 6] ^= bit
                if not often:
                    cells[base + (slot >> 6)] |= bit
            else:
                numbers[base + words + place] = np.nan
                shorts[4 * (base + words + step) + place] = UPPER


@compiled
def set_bits(words: NDArray[np.uint64], slots: NDArray[np.int64]) -> None:
    """Set the bit of each slot."""
    for slot in slots:
        words[slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)


@compiled
def clear_bits(words: NDArray[np.uint64], slots: NDArray[np.int64]) -> None:
    """Clear the bit of each slot."""
    for slot in slots:
        words[slot >> 6] &= ~(np.uint64(1) << np.uint64(slot & 63))

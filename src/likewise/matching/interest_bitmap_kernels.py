"""Compiled AND of bit planes; loaded by `likewise.matching.interest_bitmap` on first use."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Numba infers the types; annotations would not be checked.

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def set_row(reject, live, counts, care, value, width, row):
    """Note in the planes what a row rejects."""
    block, word, bit = row >> 9, (row >> 6) & 7, np.uint64(1) << np.uint64(row & 63)
    live[block, word] |= bit
    for place in range(width):
        shift = np.uint64(place & 63)
        if (care[row, place >> 6] >> shift) & np.uint64(1):
            refused = 1 - np.int64((value[row, place >> 6] >> shift) & np.uint64(1))
            reject[block, place, refused, word] |= bit
            counts[place, refused] += 1


@njit(cache=True)
def clear_row(reject, live, counts, care, value, width, row):
    """Take back what `set_row` noted."""
    block, word, bit = row >> 9, (row >> 6) & 7, np.uint64(1) << np.uint64(row & 63)
    live[block, word] &= ~bit
    for place in range(width):
        shift = np.uint64(place & 63)
        if (care[row, place >> 6] >> shift) & np.uint64(1):
            refused = 1 - np.int64((value[row, place >> 6] >> shift) & np.uint64(1))
            reject[block, place, refused, word] &= ~bit
            counts[place, refused] -= 1


@njit(cache=True)
def survivors(reject, live, counts, event, used, out):
    """The rows no plane the event chooses rejects, ascending, into `out`; returns how many."""
    width = len(counts)
    values = np.empty(width, np.int64)
    rejected = np.empty(width, np.int64)
    useful = 0
    for place in range(width):
        values[place] = np.int64((event[place >> 6] >> np.uint64(place & 63)) & np.uint64(1))
        rejected[place] = -counts[place, values[place]]
        useful += rejected[place] < 0
    places = np.argsort(rejected)[:useful]
    found = 0
    for block in range(used):
        a0, a1, a2, a3 = live[block, 0], live[block, 1], live[block, 2], live[block, 3]
        a4, a5, a6, a7 = live[block, 4], live[block, 5], live[block, 6], live[block, 7]
        for place in places:
            plane = reject[block, place, values[place]]
            a0 &= ~plane[0]
            a1 &= ~plane[1]
            a2 &= ~plane[2]
            a3 &= ~plane[3]
            a4 &= ~plane[4]
            a5 &= ~plane[5]
            a6 &= ~plane[6]
            a7 &= ~plane[7]
            if a0 | a1 | a2 | a3 | a4 | a5 | a6 | a7 == 0:
                break
        for word, left in enumerate((a0, a1, a2, a3, a4, a5, a6, a7)):
            base = (block << 9) | (word << 6)
            while left:
                lowest = left & (~left + np.uint64(1))
                position = 0
                probe = lowest
                for step in (32, 16, 8, 4, 2, 1):
                    if probe >> np.uint64(step):
                        position += step
                        probe >>= np.uint64(step)
                out[found] = base | position
                found += 1
                left ^= lowest
    return found

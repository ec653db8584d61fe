"""Compiled AND of bit planes; loaded by `likewise.matching.interests.bitmap` on first use."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Numba infers the types; annotations would not be checked.

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel

WORDS = 64  # of one plane in one block: eight cache lines in a row, which memory delivers far faster than eight apart
ROWS = 64 * WORDS


@kernel
def set_row(reject, live, counts, mask, value, width, row):
    """Note in the planes what a row rejects."""
    block, word, bit = row // ROWS, row % ROWS >> 6, np.uint64(1) << np.uint64(row & 63)
    live[block, word] |= bit
    for place in range(width):
        shift = np.uint64(place & 63)
        if (mask[row, place >> 6] >> shift) & np.uint64(1):
            refused = 1 - np.int64((value[row, place >> 6] >> shift) & np.uint64(1))
            reject[block, place, refused, word] |= bit
            counts[place, refused] += 1


@kernel
def clear_row(reject, live, counts, mask, value, width, row):
    """Take back what `set_row` noted."""
    block, word, bit = row // ROWS, row % ROWS >> 6, np.uint64(1) << np.uint64(row & 63)
    live[block, word] &= ~bit
    for place in range(width):
        shift = np.uint64(place & 63)
        if (mask[row, place >> 6] >> shift) & np.uint64(1):
            refused = 1 - np.int64((value[row, place >> 6] >> shift) & np.uint64(1))
            reject[block, place, refused, word] &= ~bit
            counts[place, refused] -= 1


@kernel
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
    left = np.empty(WORDS, np.uint64)
    count = 0
    for block in range(used):
        for w in range(WORDS):
            left[w] = live[block, w]
        for place in places:
            plane = reject[block, place, values[place]]
            any_left = np.uint64(0)
            for w in range(WORDS):
                left[w] &= ~plane[w]
                any_left |= left[w]
            if any_left == 0:
                break
        for w in range(WORDS):
            word = left[w]
            base = block * ROWS + (w << 6)
            while word:
                lowest = word & (~word + np.uint64(1))
                position = 0
                probe = lowest
                for step in (32, 16, 8, 4, 2, 1):
                    if probe >> np.uint64(step):
                        position += step
                        probe >>= np.uint64(step)
                out[count] = base + position
                count += 1
                word ^= lowest
    return count

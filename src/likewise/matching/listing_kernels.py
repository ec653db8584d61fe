"""From bitmaps to ordinals, compiled: the last step of the bitmap engine (see `bitmap_kernels`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.matching import block_layout as L
from likewise.matching.raw_memory import compiled, inlined, integers_at, ones, trailing_zeros

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

ONE = np.uint64(1)
SPARE = 20  # numbers that may be written beyond the last match


@inlined
def _four(bits: np.uint64, base: int, found: Integers, at: int) -> np.uint64:
    """The places of the lowest four bits, from `at` on; the other bits. What is written for no bit means nothing."""
    found[at] = base + trailing_zeros(bits)
    bits &= bits - ONE
    found[at + 1] = base + trailing_zeros(bits)
    bits &= bits - ONE
    found[at + 2] = base + trailing_zeros(bits)
    bits &= bits - ONE
    found[at + 3] = base + trailing_zeros(bits)
    return bits & (bits - ONE)


@inlined
def _list_word(bits: np.uint64, base: int, found: Integers, used: int) -> int:
    """The places of a word's bits, from `used` on, and what comes after them.

    Four, twelve or twenty are written whatever their number, because asking after each bit whether it was the
    last is answered wrongly ahead of time once a word, which costs more than the superfluous ones.
    """
    count = ones(bits)
    bits = _four(bits, base, found, used)
    if count > 4:
        bits = _four(_four(bits, base, found, used + 4), base, found, used + 8)
        if count > 12:
            bits = _four(_four(bits, base, found, used + 12), base, found, used + 16)
            at = used + 20
            while bits:
                found[at] = base + trailing_zeros(bits)
                at += 1
                bits &= bits - ONE
    return used + count


@compiled
def list_matches(table: int, result: Words, counts: Integers, found: Integers) -> int:
    """The ordinals of each event's bitmap, each once, into `found`, and how many into `counts`; how many in all.

    `found` needs room for `SPARE` more than there are.
    """
    head = integers_at(table, L.WIDTH)
    width = head[L.RESULT_WORDS]
    used = 0
    for event in range(len(counts)):
        begun = used
        for line in range(1, head[L.BLOCKS] + 2):
            record = integers_at(table + 8 * L.WIDTH * line, L.WIDTH)
            ordinals = integers_at(record[L.ORDINALS], record[L.SLOTS])
            order = record[L.ORDER]
            offset = event * width + record[L.AT]
            lowest = ordinals[0] if record[L.SLOTS] else 0
            for word in range(record[L.WORDS]):
                bits = result[offset + word]
                if bits == 0:
                    continue
                if order == L.CONSECUTIVE:
                    used = _list_word(bits, lowest + 64 * word, found, used)
                elif order == L.DISTINCT:
                    begin = used
                    used = _list_word(bits, 64 * word, found, used)
                    for index in range(begin, used):
                        found[index] = ordinals[found[index]]
                else:
                    while bits:
                        ordinal = ordinals[64 * word + trailing_zeros(bits)]
                        if used == begun or found[used - 1] != ordinal:
                            found[used] = ordinal
                            used += 1
                        bits &= bits - ONE
        counts[event] = used - begun
    return used


@compiled
def repeat_each(counts: Integers, into: Integers) -> None:
    """Write each index as often as its count says."""
    used = 0
    for index in range(len(counts)):
        for place in range(used, used + counts[index]):
            into[place] = index
        used += counts[index]

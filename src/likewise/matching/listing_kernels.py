"""From bitmaps to ordinals, compiled: the last step of the bitmap engine (see `bitmap_kernels`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.matching import block_layout as L
from likewise.matching.raw_memory import compiled, integers_at, trailing_zeros

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

ONE = np.uint64(1)


@compiled
def list_matches(table: int, result: Words, counts: Integers, found: Integers) -> int:
    """The ordinals of each event's bitmap, each once, into `found`, and how many into `counts`; how many in all."""
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
                if order == L.CONSECUTIVE:
                    base = lowest + 64 * word
                    while bits:
                        found[used] = base + trailing_zeros(bits)
                        used += 1
                        bits &= bits - ONE
                elif order == L.DISTINCT:
                    while bits:
                        found[used] = ordinals[64 * word + trailing_zeros(bits)]
                        used += 1
                        bits &= bits - ONE
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

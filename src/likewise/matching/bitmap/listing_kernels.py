"""From bitmaps to ordinals, compiled: the last step of the bitmap engine (see `bitmap_kernels`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import compiled, inlined, popcount, trailing_zeros
from likewise.kernels.intrinsics import add_to_eight, codes_at, integers_at
from likewise.matching.bitmap import layout as L
from likewise.matching.bitmap.sparse_kernels import search_code

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

ONE = np.uint64(1)
BYTE = np.uint64(8)
SPARE = 8  # numbers that may be written beyond the last match


def places_of_bits() -> NDArray[np.uint8]:
    """For each byte the places of its bits, eight to a byte; zeros after them.

    >>> places_of_bits()[8 * 0b1010 : 8 * 0b1010 + 3].tolist()
    [1, 3, 0]
    """
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    order = np.argsort(1 - bits, axis=1, kind="stable")
    return np.where(np.sort(bits)[:, ::-1] == 1, order, 0).astype(np.uint8).ravel()


@inlined
def _list_word(bits: np.uint64, base: int, places: int, target: int) -> int:
    """The places of a word's bits plus `base`, from the address `target` on, and up to eight numbers after them.

    Four numbers, or eight for each byte, are written whatever the number of bits, because asking after each bit
    whether it was the last is answered wrongly ahead of time once a word, which costs more than the superfluous ones.
    """
    count = popcount(bits)
    if count <= 4:
        ordinals = codes_at(target, 4)
        for place in range(4):
            ordinals[place] = base + trailing_zeros(bits)
            bits &= bits - ONE
    else:
        for byte in range(8):
            eight = np.int64(bits & np.uint64(255))
            add_to_eight(places + 8 * eight, base + 8 * byte, target)
            target += 4 * popcount(np.uint64(eight))
            bits >>= BYTE
    return count


@compiled
def list_matches(table: int, result: Words, counts: Integers, target: int, room: int) -> int:
    """The ordinals of each event's bitmap, each once, to an address, and how many into `counts`; how many in all.

    There must be `room` for `SPARE` more than there are.
    """
    head = integers_at(table, L.WIDTH)
    places = head[L.PLACES]
    results = codes_at(target, room)
    width = head[L.RESULT_WORDS]
    blocks = head[L.BLOCKS]
    entered = codes_at(head[L.ENTERED], len(counts) * (blocks + 1))
    used = 0
    for event in range(len(counts)):
        begun = used
        for line in range(1, blocks + 2):
            if not entered[event * (blocks + 1) + line - 1]:
                continue
            record = integers_at(table + 8 * L.WIDTH * line, L.WIDTH)
            ordinals = codes_at(record[L.ORDINALS], record[L.SLOTS])
            order = record[L.ORDER]
            offset = event * width + record[L.AT]
            lowest = int(ordinals[0]) if record[L.SLOTS] else 0
            for word in range(record[L.WORDS]):
                bits = result[offset + word]
                if bits == 0:
                    continue
                if order == L.CONSECUTIVE:
                    used += _list_word(bits, lowest + 64 * word, places, target + 4 * used)
                elif order == L.DISTINCT:
                    begin = used
                    used += _list_word(bits, 64 * word, places, target + 4 * used)
                    for index in range(begin, used):
                        results[index] = ordinals[results[index]]
                else:
                    while bits:
                        ordinal = ordinals[64 * word + trailing_zeros(bits)]
                        if used == begun or results[used - 1] != ordinal:
                            results[used] = ordinal
                            used += 1
                        bits &= bits - ONE
        counts[event] = used - begun
    return used


@compiled
def find_holders(table: int, ordinal: int, holders: Integers) -> int:
    """The blocks in which an ordinal has slots, counted from 0; how many, also if there is not room for all."""
    count = 0
    for index in range(integers_at(table, L.WIDTH)[L.BLOCKS]):
        record = integers_at(table + 8 * L.WIDTH * (index + 1), L.WIDTH)
        slots = record[L.SLOTS]
        ordinals = codes_at(record[L.ORDINALS], slots)
        if not ordinals[0] <= ordinal <= ordinals[slots - 1]:
            continue
        if search_code(ordinals, slots, ordinal) >= 0:
            if count < len(holders):
                holders[count] = index
            count += 1
    return count

"""Requirements looked at one by one, compiled: a block's listed ones, and all of the tail's (see `bitmap_block`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import compiled, inlined
from likewise.kernels.intrinsics import codes_at, integers_at, numbers_at, shorts_at, words_at
from likewise.matching.bitmap import layout as L
from likewise.matching.bitmap.block import IS_COMPOUND, VIOLATES
from likewise.matching.bitmap.code_book import HEAD, NUMBER
from likewise.matching.bitmap.condition_rows import COMPOUND, NEGATIVE, NUMERIC, REQUIREMENT

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Words = NDArray[np.uint64]

VIOLATED = np.uint64(1) << np.uint64(63)
ONE = np.uint64(1)


@inlined
def search_code(codes: NDArray[np.int32], count: int, code: int) -> int:
    """Where a code stands among sorted codes, or -1."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low < count and codes[low] == code:
        return low
    return -1


@inlined
def row_holds(points: Integers, numbers: Numbers, at: int, end: int, on: float, off: float, compound: bool) -> bool:
    """Return whether the event's numbers on the axis of point `at` (all of its group) lie in a range."""
    point = points[at]
    number = numbers[at]
    if on <= number < off:
        return True
    least = most = number
    index = at + 1
    while index < end and points[index] & 3 != HEAD:
        if points[index] == point:
            number = numbers[index]
            if on <= number < off:
                return True
            least, most = min(least, number), max(most, number)
        index += 1
    return compound and most >= on and least < off


@compiled
def match_listed(
    record: Integers,
    points: Integers,
    numbers: Numbers,
    first: int,
    end: int,
    result: Words,
    confirmed: Words,
    touched: Integers,
) -> int:
    """Confirm and violate listed requirements; how many slots were touched."""
    tokens, axes = record[L.TOKEN_CODES], record[L.NUMBER_CODES]
    slots_count = record[L.SLOTS]
    needing = record[L.NEEDING] != 0
    need = words_at(record[L.NEED], slots_count)
    codes = codes_at(record[L.LISTED], tokens)
    starts = codes_at(record[L.LISTED_STARTS], tokens + 1)
    slots = shorts_at(record[L.LISTED_SLOTS], starts[tokens])
    actions = shorts_at(record[L.LISTED_ACTIONS], starts[tokens])
    axis_codes = codes_at(record[L.NUMBERS], axes)
    axis_starts = codes_at(record[L.NUMBER_STARTS], axes + 1)
    count = axis_starts[axes]
    axis_slots = shorts_at(record[L.NUMBER_SLOTS], count)
    axis_actions = shorts_at(record[L.NUMBER_ACTIONS], count)
    on, off = numbers_at(record[L.NUMBER_ON], count), numbers_at(record[L.NUMBER_OFF], count)
    used = 0
    for at in range(first, end):
        point = points[at]
        is_number = point & 3 == NUMBER
        code = point >> 2
        place = search_code(axis_codes, axes, code) if is_number else search_code(codes, tokens, code)
        if place < 0:
            continue
        low = axis_starts[place] if is_number else starts[place]
        high = axis_starts[place + 1] if is_number else starts[place + 1]
        for index in range(low, high):
            if is_number:
                action = np.int64(axis_actions[index])
                if action & IS_COMPOUND:
                    if not row_holds(points, numbers, at, end, on[index], off[index], True):
                        continue
                elif not on[index] <= numbers[at] < off[index]:
                    continue
                slot = np.int64(axis_slots[index])
            else:
                action = np.int64(actions[index])
                slot = np.int64(slots[index])
            bit = ONE << np.uint64(slot & 63)
            if confirmed[slot] == 0:
                touched[used] = slot
                used += 1
            if action & VIOLATES:
                confirmed[slot] |= VIOLATED
                result[slot >> 6] &= ~bit
            else:
                confirmed[slot] |= ONE << np.uint64(action & REQUIREMENT)
                if needing and confirmed[slot] == need[slot]:
                    result[slot >> 6] |= bit
    return used


@compiled
def match_tail(
    record: Integers, points: Integers, numbers: Numbers, end: int, where: NDArray[np.int32], result: Words
) -> None:
    """The slots of the tail that the event meets: every row is looked at."""
    slots = record[L.SLOTS]
    words = record[L.WORDS]
    alive = words_at(record[L.ALIVE], words)
    need = words_at(record[L.NEED], slots)
    starts = integers_at(record[L.ROW_STARTS], slots + 1)
    count = starts[slots]
    codes, flags = codes_at(record[L.ROW_CODES], count), codes_at(record[L.ROW_FLAGS], count)
    on, off = numbers_at(record[L.ROW_ON], count), numbers_at(record[L.ROW_OFF], count)
    for word in range(words):
        result[word] = np.uint64(0)
    for slot in range(slots):
        confirmed = np.uint64(0)
        for row in range(starts[slot], starts[slot + 1]):
            at = int(where[codes[row]])  # 64 bits, as in `match_listed`, so that `row_holds` is compiled once
            if at < 0:
                continue
            flag = flags[row]
            if flag & NUMERIC and not row_holds(points, numbers, at, end, on[row], off[row], flag & COMPOUND != 0):
                continue
            confirmed |= VIOLATED if flag & NEGATIVE else ONE << np.uint64(flag & REQUIREMENT)
        if confirmed == need[slot]:
            result[slot >> 6] |= ONE << np.uint64(slot & 63)
    for word in range(words):
        result[word] &= alive[word]

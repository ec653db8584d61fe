"""Matching compiled: events, as points, against blocks and the tail (see `bitmap_block`, `block_layout`).

Every function reads memory through the addresses in the engine's table; the arrays behind them are
kept alive by the engine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.matching import block_layout as L
from likewise.matching.bitmap_block import IS_COMPOUND, VIOLATES
from likewise.matching.codes import HEAD, NUMBER
from likewise.matching.condition_rows import COMPOUND, NEGATIVE, NUMERIC, REQUIREMENT
from likewise.matching.listing_kernels import SPARE, list_matches
from likewise.matching.raw_memory import (
    codes_at,
    compiled,
    inlined,
    integers_at,
    numbers_at,
    ones,
    prefetch,
    shorts_at,
    words_at,
)

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Words = NDArray[np.uint64]

VIOLATED = np.uint64(1) << np.uint64(63)
ONE = np.uint64(1)
LINE = 64  # bytes of a line of the cache


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
    """Whether the event's numbers on the axis of point `at` (all of its group) lie in a range."""
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


@inlined
def find_sources(
    record: Integers, points: Integers, numbers: Numbers, end: int, where: NDArray[np.int32], sources: Integers
) -> int:
    """Where each dense attribute's answer lies, asked into the cache; how many attributes one bitmap answers.

    Four numbers an attribute: the bitmap's address, how many bounds stand behind it (-1: none), the point of its
    number, the attribute. Attributes that take more than one bitmap stand at the end.
    """
    words = record[L.WORDS]
    dense = record[L.DENSE]
    table = integers_at(record[L.DENSE_TABLE], 5 * dense)
    simple, left = 0, dense
    for index in range(dense):
        head = where[table[5 * index]]
        source, step = _find_source(record, table, index, points, numbers, head, end)
        if source == 0:
            left -= 1
            sources[4 * left + 2] = head
            sources[4 * left + 3] = index
        else:
            sources[4 * simple] = source
            sources[4 * simple + 1] = step
            sources[4 * simple + 2] = head + 1
            simple += 1
            size = 8 * words if step < 0 else 8 * words + 10 * step
            for line in range(source, source + size, LINE):
                prefetch(line)
    return simple


@inlined
def match_block(
    record: Integers, points: Integers, numbers: Numbers, first: int, end: int,
    result: Words, scratch: Words, confirmed: Words, touched: Integers, sources: Integers, simple: int,
) -> None:  # fmt: skip
    """The slots of a block that the event's points first..end meet, as a bitmap, from what `find_sources` found."""
    words = record[L.WORDS]
    start = words_at(record[L.START], words)
    for word in range(words):
        result[word] = start[word]
    if record[L.TOKEN_CODES] or record[L.NUMBER_CODES]:
        used = match_listed(record, points, numbers, first, end, result, confirmed, touched)
        for index in range(used):
            confirmed[touched[index]] = np.uint64(0)
        alive = words_at(record[L.ALIVE], words)
        for word in range(words):
            result[word] &= alive[word]
    _and_all(sources, simple, words, result)
    for index in range(simple):
        step = sources[4 * index + 1]
        if step >= 0:
            _clear_edge(sources[4 * index], step, words, numbers[sources[4 * index + 2]], result, 0)
    dense = record[L.DENSE]
    if simple < dense:
        table = integers_at(record[L.DENSE_TABLE], 5 * dense)
        masks = words_at(record[L.MASKS], 2 * dense * words)
        for index in range(simple, dense):
            head, attribute = sources[4 * index + 2], sources[4 * index + 3]
            _match_dense(record, table, attribute, masks, points, numbers, head, end, result, scratch)


@inlined
def _and_all(sources: Integers, count: int, words: int, result: Words) -> None:
    """The AND of all bitmaps with the result, two at a time."""
    if count & 1:
        only = words_at(sources[0], words)
        for word in range(words):
            result[word] &= only[word]
    for index in range(count & 1, count, 2):
        one, other = words_at(sources[4 * index], words), words_at(sources[4 * index + 4], words)
        for word in range(words):
            result[word] &= one[word] & other[word]


@inlined
def _find_source(
    record: Integers, table: Integers, index: int, points: Integers, numbers: Numbers, head: int, end: int
) -> tuple[int, int]:
    """The one bitmap that answers a dense attribute: its address, 0 if it takes more; a cell's bounds, else -1."""
    words = record[L.WORDS]
    masks = record[L.MASKS] + 16 * index * words
    if head < 0:
        return masks, -1
    at = head + 1
    if at < end and points[at] & 3 != HEAD:
        if at + 1 < end and points[at + 1] & 3 != HEAD:
            return 0, -1
        code = points[at] >> 2
        if points[at] & 3 == NUMBER:
            axes = integers_at(record[L.AXES], 6 * table[5 * index + 2])
            for axis in range(table[5 * index + 1], table[5 * index + 2]):
                if axes[6 * axis] == code:
                    if axes[6 * axis + 5] & L.OFTEN:
                        return 0, -1
                    return _find_cell(record, axes, axis, numbers[at]), axes[6 * axis + 1]
        else:
            tokens = integers_at(record[L.TOKENS], 4 * table[5 * index + 4])
            token = _find_token(tokens, table[5 * index + 3], table[5 * index + 4], code)
            if token >= 0:
                heavy = tokens[4 * token + 3]
                if heavy < 0:
                    return 0, -1
                return record[L.HEAVY] + 8 * heavy, -1
    return masks + 8 * words, -1


@inlined
def _find_token(tokens: Integers, low: int, end: int, code: int) -> int:
    """Where a token stands among those of a dense attribute, or -1."""
    high = end
    while low < high:
        middle = (low + high) >> 1
        if tokens[4 * middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < end and tokens[4 * low] == code else -1


@inlined
def _clear_edge(cell: int, step: int, words: int, number: float, own: Words, target: int) -> None:
    """Clear the slots whose bounds in a cell the number does not meet; their bitmap begins at `target`."""
    bounds = numbers_at(cell + 8 * words, step)
    slots = shorts_at(cell + 8 * (words + step), step)
    passed = 0
    for index in range(step):
        passed += bounds[index] <= number
    for index in range(step):
        slot = np.int64(slots[index])
        wrong = np.uint64((index < passed) == (slot >= L.UPPER))
        own[target + ((slot & (L.UPPER - 1)) >> 6)] &= ~(wrong << np.uint64(slot & 63))


@inlined
def _match_dense(
    record: Integers, table: Integers, index: int, masks: Words, points: Integers, numbers: Numbers, head: int,
    end: int, result: Words, scratch: Words,
) -> None:  # fmt: skip
    """Keep the slots of `result` that a dense attribute, stated by the points after `head`, satisfies."""
    words = record[L.WORDS]
    present = (2 * index + 1) * words
    first_axis, end_axis = table[5 * index + 1], table[5 * index + 2]
    first_token, end_token = table[5 * index + 3], table[5 * index + 4]
    axes = integers_at(record[L.AXES], 6 * end_axis)
    tokens = integers_at(record[L.TOKENS], 4 * end_token)
    sources = 0
    at = head + 1
    while at < end and points[at] & 3 != HEAD:
        code = points[at] >> 2
        if points[at] & 3 == NUMBER:
            for axis in range(first_axis, end_axis):
                if axes[6 * axis] == code:
                    target = 0 if sources == 0 else words
                    _copy_cell(record, axes, axis, numbers[at], scratch, target)
                    if sources:
                        for word in range(words):
                            scratch[word] |= scratch[words + word]
                    sources += 1
                    if axes[6 * axis + 5] & L.BOUNDED and sources > 1:
                        _match_compound(record, points, numbers, at, head, end, scratch)
        else:
            low = _find_token(tokens, first_token, end_token, code)
            if low >= 0:
                if sources == 0:
                    for word in range(words):
                        scratch[word] = masks[present + word]
                sources += 1
                heavy = tokens[4 * low + 3]
                if heavy >= 0:
                    bitmap = words_at(record[L.HEAVY] + 8 * heavy, words)
                    for word in range(words):
                        scratch[word] |= bitmap[word]
                else:
                    postings = shorts_at(record[L.POSTINGS], tokens[4 * low + 2])
                    for posting in range(tokens[4 * low + 1], tokens[4 * low + 2]):
                        slot = np.int64(postings[posting])
                        scratch[slot >> 6] |= ONE << np.uint64(slot & 63)
        at += 1
    if sources:
        for word in range(words):
            result[word] &= scratch[word]
    else:
        for word in range(words):
            result[word] &= masks[present + word]


@inlined
def _find_cell(record: Integers, axes: Integers, axis: int, number: float) -> int:
    """Where the cell of a number lies: the last one whose first bound is not above it."""
    count = axes[6 * axis + 2]
    cuts = numbers_at(record[L.CUTS] + 8 * axes[6 * axis + 3], count)
    cell = 0
    while count > 1:
        half = count >> 1
        cell = cell + half if cuts[cell + half] <= number else cell
        count -= half
    step = axes[6 * axis + 1]
    width = record[L.WORDS] + step + (step >> 2)
    return int(record[L.CELLS] + 8 * (axes[6 * axis + 4] + cell * width))


@inlined
def _copy_cell(record: Integers, axes: Integers, axis: int, number: float, scratch: Words, target: int) -> None:
    """The answers of an axis at a number, into `scratch` from `target` on."""
    words = record[L.WORDS]
    step = axes[6 * axis + 1]
    cell = _find_cell(record, axes, axis, number)
    bitmap = words_at(cell, words)
    for word in range(words):
        scratch[target + word] = bitmap[word]
    if not axes[6 * axis + 5] & L.OFTEN:
        _clear_edge(cell, step, words, number, scratch, target)
        return
    bounds = numbers_at(cell + 8 * words, step)
    flips = shorts_at(cell + 8 * (words + step), step)
    passed = 0
    for index in range(step):
        passed += bounds[index] <= number
    for index in range(passed):
        slot = np.int64(flips[index]) & (L.UPPER - 1)
        scratch[target + (slot >> 6)] ^= ONE << np.uint64(slot & 63)


@compiled
def _match_compound(
    record: Integers, points: Integers, numbers: Numbers, at: int, head: int, end: int, scratch: Words
) -> None:  # fmt: skip
    """A repeated number: set the slots whose lower bound one tuple meets and whose upper bound another."""
    point = points[at]
    code = point >> 2
    least = most = numbers[at]
    index = head + 1
    while index < end and points[index] & 3 != HEAD:
        if points[index] == point:
            least, most = min(least, numbers[index]), max(most, numbers[index])
        index += 1
    slots = record[L.SLOTS]
    starts = integers_at(record[L.ROW_STARTS], slots + 1)
    count = starts[slots]
    codes, flags = codes_at(record[L.ROW_CODES], count), codes_at(record[L.ROW_FLAGS], count)
    on, off = numbers_at(record[L.ROW_ON], count), numbers_at(record[L.ROW_OFF], count)
    for slot in range(slots):
        for row in range(starts[slot], starts[slot + 1]):
            if codes[row] == code and flags[row] & COMPOUND and most >= on[row] and least < off[row]:
                scratch[slot >> 6] |= ONE << np.uint64(slot & 63)


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
            at = where[codes[row]]
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


@compiled
def match_events(table: int, starts: Integers, result: Words) -> int:
    """The bitmaps of some events over all slots, block by block so that a block stays in the cache; bits set."""
    head = integers_at(table, L.WIDTH)
    points = integers_at(head[L.POINTS], head[L.POINTS_ROOM])
    numbers = numbers_at(head[L.NUMBERS_OF_POINTS], head[L.POINTS_ROOM])
    where = codes_at(head[L.WHERE], head[L.WHERE_SIZE])
    width = head[L.RESULT_WORDS]
    scratch = words_at(head[L.SCRATCH], 1 << 62)
    sources = integers_at(head[L.SOURCES], 1 << 62)
    confirmed = words_at(head[L.CONFIRMED], 1 << 62)
    touched = integers_at(head[L.TOUCHED], 1 << 62)
    room = 4 * head[L.SOURCES_ROOM]
    blocks = head[L.BLOCKS]
    events = len(starts) - 1
    pairs = blocks * events
    total = 0
    known = -1  # the event that `where` knows
    simple = before = 0
    for pair in range(pairs + events + 1):
        # what the next pair of block and event needs is asked for while the one before is matched
        if pair < pairs + events:
            line, event = pair // events + 1, pair % events
            first, end = starts[event], starts[event + 1]
            if known != event:
                if known >= 0:
                    for at in range(starts[known], starts[known + 1]):
                        where[points[at] >> 2] = -1
                for at in range(end - 1, first - 1, -1):
                    where[points[at] >> 2] = at
                known = event
            record = integers_at(table + 8 * L.WIDTH * line, L.WIDTH)
            if pair < pairs:
                before, simple = simple, find_sources(
                    record, points, numbers, end, where, sources[room * (pair & 1) :]
                )
            else:
                before = simple
                words = record[L.WORDS]
                begin = event * width + record[L.AT]
                own = result[begin : begin + words]
                match_tail(record, points, numbers, end, where, own)
                for word in range(words):
                    total += ones(own[word])
        if 0 < pair <= pairs:
            line, event = (pair - 1) // events + 1, (pair - 1) % events
            record = integers_at(table + 8 * L.WIDTH * line, L.WIDTH)
            words = record[L.WORDS]
            begin = event * width + record[L.AT]
            own = result[begin : begin + words]
            match_block(
                record, points, numbers, starts[event], starts[event + 1], own, scratch, confirmed, touched,
                sources[room * (pair + 1 & 1) :], before,
            )  # fmt: skip
            for word in range(words):
                total += ones(own[word])
    if known >= 0:
        for at in range(starts[known], starts[known + 1]):
            where[points[at] >> 2] = -1
    return total


@compiled
def match_one(table: int) -> int:
    """The ordinals of the one event whose points lie where the table says; how many.

    If they need more room than there is, minus the room they need; the bitmap is ready then.
    """
    head = integers_at(table, L.WIDTH)
    bounds = integers_at(head[L.ENDS], 3)
    result = words_at(head[L.RESULT], head[L.RESULT_WORDS])
    total = match_events(table, bounds[:2], result)
    if total + SPARE > head[L.FOUND_ROOM]:
        return -total - SPARE
    return list_matches(table, result, bounds[2:], head[L.FOUND])


@compiled
def match_many(table: int, starts: Integers, counts: Integers, target: int, room: int) -> int:
    """The ordinals of many events, one after the other, to an address, and how many each has; events done.

    They go through the blocks some at a time, so that their bitmaps are in the cache when they are listed. Ends
    before events whose ordinals may need more room than is left, and says how much in the count of the first.
    """
    head = integers_at(table, L.WIDTH)
    together = head[L.TOGETHER]
    result = words_at(head[L.RESULT], together * head[L.RESULT_WORDS])
    used = 0
    for begin in range(0, len(counts), together):
        end = min(begin + together, len(counts))
        total = match_events(table, starts[begin : end + 1], result)
        if used + total + SPARE > room:
            counts[begin] = total + SPARE
            return begin
        used += list_matches(table, result, counts[begin:end], target + 4 * used)
    return len(counts)

"""Matching compiled: events, as points, against blocks and the tail (see `bitmap_block`, `block_layout`).

Every function reads memory through the addresses in the engine's table; the arrays behind them are
kept alive by the engine.

Dense attributes of a block, compiled: the bitmaps that answer an event's value (see `bitmap_block`).

Finding them and using them are apart, so that the memory of one block is on its way while another is matched.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import compiled, inlined, popcount
from likewise.kernels.intrinsics import codes_at, integers_at, numbers_at, prefetch, shorts_at, words_at
from likewise.matching.bitmap import layout as L
from likewise.matching.bitmap.code_book import HEAD, NUMBER, TOKEN
from likewise.matching.bitmap.condition_rows import COMPOUND
from likewise.matching.bitmap.listing_kernels import SPARE, list_matches
from likewise.matching.bitmap.sparse_kernels import match_listed, match_tail

ONE = np.uint64(1)
LINE = 64  # bytes of a line of the cache


@inlined
def stays_out(
    record: Integers, bounds: Numbers, points: Integers, numbers: Numbers, end: int, where: NDArray[np.int32]
) -> bool:
    """Return whether no slot of a block can match, by what each of them asks for; `bounds` is its record as numbers."""
    for gate in range(L.GATE, L.GATE + 3 * record[L.GATES], 3):
        at = where[record[gate] >> 1]
        if at < 0:
            return True
        low, high = bounds[gate + 1], bounds[gate + 2]
        if not record[gate] & 1:
            if low <= numbers[at] < high:
                continue
            point, outside = points[at], True
            at += 1
            while at < end and points[at] & 3 != HEAD:  # a repeated number may be inside
                if points[at] == point:
                    outside = False
                at += 1
        else:
            outside = True
            at += 1
            while at < end and points[at] & 3 != HEAD:
                if points[at] & 3 == TOKEN and low <= points[at] >> 2 < high:
                    outside = False
                at += 1
        if outside:
            return True
    return False


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
def clear_edge(cell: int, step: int, words: int, number: float, bits: Words, target: int) -> None:
    """Clear the slots whose bounds in a cell the number does not meet; their bitmap begins at `target`."""
    bounds = numbers_at(cell + 8 * words, step)
    slots = shorts_at(cell + 8 * (words + step), step)
    passed = 0
    for index in range(step):
        passed += bounds[index] <= number
    for index in range(step):
        slot = np.int64(slots[index])
        wrong = np.uint64((index < passed) == (slot >= L.UPPER))
        bits[target + ((slot & (L.UPPER - 1)) >> 6)] &= ~(wrong << np.uint64(slot & 63))


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
        clear_edge(cell, step, words, number, scratch, target)
        return
    bounds = numbers_at(cell + 8 * words, step)
    flips = shorts_at(cell + 8 * (words + step), step)
    passed = 0
    for index in range(step):
        passed += bounds[index] <= number
    for index in range(passed):
        slot = np.int64(flips[index]) & (L.UPPER - 1)
        scratch[target + (slot >> 6)] ^= ONE << np.uint64(slot & 63)


@inlined
def match_dense(
    record: Integers,
    table: Integers,
    index: int,
    masks: Words,
    points: Integers,
    numbers: Numbers,
    head: int,
    end: int,
    result: Words,
    scratch: Words,
) -> None:
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


@compiled
def _match_compound(
    record: Integers, points: Integers, numbers: Numbers, at: int, head: int, end: int, scratch: Words
) -> None:
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


Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Words = NDArray[np.uint64]


@inlined
def match_block(
    record: Integers,
    points: Integers,
    numbers: Numbers,
    first: int,
    end: int,
    result: Words,
    scratch: Words,
    confirmed: Words,
    touched: Integers,
    sources: Integers,
    simple: int,
) -> None:
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
            clear_edge(sources[4 * index], step, words, numbers[sources[4 * index + 2]], result, 0)
    dense = record[L.DENSE]
    if simple < dense:
        table = integers_at(record[L.DENSE_TABLE], 5 * dense)
        masks = words_at(record[L.MASKS], 2 * dense * words)
        for index in range(simple, dense):
            head, attribute = sources[4 * index + 2], sources[4 * index + 3]
            match_dense(record, table, attribute, masks, points, numbers, head, end, result, scratch)


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


@compiled
def match_events(table: int, starts: Integers, result: Words) -> int:
    """The bitmaps of some events over the slots of the blocks they enter, block by block so that a block stays in the
    cache; bits set. The tail's are found on the way, as an event is first looked at.
    """
    head = integers_at(table, L.WIDTH)
    points = integers_at(head[L.POINTS], head[L.POINTS_ROOM])
    numbers = numbers_at(head[L.NUMBERS_OF_POINTS], head[L.POINTS_ROOM])
    where = codes_at(head[L.WHERE], head[L.WHERE_SIZE])
    width = head[L.RESULT_WORDS]
    room = 4 * head[L.SOURCES_ROOM]
    scratch = words_at(head[L.SCRATCH], head[L.SCRATCH_ROOM])
    sources = integers_at(head[L.SOURCES], 2 * room)
    confirmed = words_at(head[L.CONFIRMED], head[L.SLOTS_ROOM])
    touched = integers_at(head[L.TOUCHED], head[L.SLOTS_ROOM])
    blocks = head[L.BLOCKS]
    events = len(starts) - 1
    entered = codes_at(head[L.ENTERED], events * (blocks + 1))
    pairs = codes_at(head[L.PAIRS], events * blocks)
    total = 0
    for event in range(events):
        first, end = starts[event], starts[event + 1]
        for at in range(end - 1, first - 1, -1):
            where[points[at] >> 2] = at
        for line in range(1, blocks + 1):
            record = integers_at(table + 8 * L.WIDTH * line, L.WIDTH)
            bounds = numbers_at(table + 8 * L.WIDTH * line, L.WIDTH)
            entered[event * (blocks + 1) + line - 1] = not stays_out(record, bounds, points, numbers, end, where)
        record = integers_at(table + 8 * L.WIDTH * (blocks + 1), L.WIDTH)
        entered[event * (blocks + 1) + blocks] = 1
        begin = event * width + record[L.AT]
        bits = result[begin : begin + record[L.WORDS]]
        match_tail(record, points, numbers, end, where, bits)
        for word in range(record[L.WORDS]):
            total += popcount(bits[word])
        if events > 1:
            for at in range(first, end):
                where[points[at] >> 2] = -1
    count = 0
    for line in range(1, blocks + 1):
        for event in range(events):
            if entered[event * (blocks + 1) + line - 1]:
                pairs[count] = line * events + event
                count += 1
    known = 0 if events == 1 else -1  # the event that `where` knows
    simple = before = 0
    for pair in range(count + 1):
        # what the next pair of block and event needs is asked for while the one before is matched
        if pair < count:
            line, event = pairs[pair] // events, pairs[pair] % events
            first, end = starts[event], starts[event + 1]
            if known != event:
                if known >= 0:
                    for at in range(starts[known], starts[known + 1]):
                        where[points[at] >> 2] = -1
                for at in range(end - 1, first - 1, -1):
                    where[points[at] >> 2] = at
                known = event
            record = integers_at(table + 8 * L.WIDTH * line, L.WIDTH)
            before, simple = simple, find_sources(record, points, numbers, end, where, sources[room * (pair & 1) :])
        else:
            before = simple
        if pair:
            line, event = pairs[pair - 1] // events, pairs[pair - 1] % events
            record = integers_at(table + 8 * L.WIDTH * line, L.WIDTH)
            words = record[L.WORDS]
            begin = event * width + record[L.AT]
            bits = result[begin : begin + words]
            match_block(
                record,
                points,
                numbers,
                starts[event],
                starts[event + 1],
                bits,
                scratch,
                confirmed,
                touched,
                sources[room * (pair + 1 & 1) :],
                before,
            )
            for word in range(words):
                total += popcount(bits[word])
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
    return list_matches(table, result, bounds[2:], head[L.FOUND], head[L.FOUND_ROOM])


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
        used += list_matches(table, result, counts[begin:end], target + 4 * used, room - used)
    return len(counts)

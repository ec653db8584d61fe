"""Matching compiled: events, as points, against blocks and the tail (see `bitmap_block`, `block_layout`).

Every function reads memory through the addresses in the engine's table; the arrays behind them are
kept alive by the engine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.compile import codes_at, compiled, inlined, integers_at, numbers_at, ones, words_at
from likewise.matching.bitmap import layout as L
from likewise.matching.bitmap.dense_kernels import clear_edge, find_sources, match_dense, stays_out
from likewise.matching.bitmap.listing_kernels import SPARE, list_matches
from likewise.matching.bitmap.sparse_kernels import match_listed, match_tail

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
        own = result[begin : begin + record[L.WORDS]]
        match_tail(record, points, numbers, end, where, own)
        for word in range(record[L.WORDS]):
            total += ones(own[word])
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
            own = result[begin : begin + words]
            match_block(
                record,
                points,
                numbers,
                starts[event],
                starts[event + 1],
                own,
                scratch,
                confirmed,
                touched,
                sources[room * (pair + 1 & 1) :],
                before,
            )
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

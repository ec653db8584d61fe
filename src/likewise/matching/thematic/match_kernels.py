"""Numba kernels of the thematic engine: counting over posting lists, for a block of events at a time."""

# The kernels are typed by numba, from what they are called with.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel
from likewise.matching.thematic.assignment_kernels import UNCONTESTED, assigned

TEXT, NUMBER = 0, 1  # kinds of posting lists
WIDTH = 32  # events of a block: two vector registers of 32-bit numbers
CELLS = 500_000  # similarities a block may hold before it is made narrower: 2 MB
TINY = 1e-30  # 32-bit products below are computed again in 64 bits
ROOM = 1_000_000  # matches a block may find before it is made narrower


@kernel
def _fill(
    first,
    width,
    offsets,
    rows,
    starts,
    values,
    row_kind,
    row_start,
    row_length,
    texts,
    numbers,
    tuples,
    tick,
    stamp,
    slot,
    hits,
    block,
):
    """Walk the posting lists of a block of events; how many predicates were met by any of them.

    A predicate that is met gets a slot: a row of `best` and `where` over the block's events, NaN where an
    event does not meet it, and a matrix of `similarity` over the events' tuples. `wanted` has a bit for
    the best tuple; tuples 32 apart share one. `second` is what the best of the other tuples reaches, or more.
    """
    best, where, claims, second, similarity = block
    count = 0
    for e in range(width):
        begin = offsets[first + e]
        for t in range(begin, offsets[first + e + 1]):
            row = rows[t]
            start, stop = row_start[row], row_start[row] + row_length[row]
            is_text = row_kind[row] == TEXT
            for i in range(start, stop):
                if is_text:
                    p, s = texts[0][i], texts[1][i]
                else:
                    if not numbers[2][i] <= values[starts[t] + numbers[4][i]] <= numbers[3][i]:
                        continue
                    p, s = numbers[0][i], numbers[1][i]
                if stamp[p] != tick:
                    stamp[p] = tick
                    slot[p] = count
                    hits[count] = p
                    for other in range(width):
                        best[count, other] = np.nan
                        second[count, other] = 0
                        for tuple_ in range(tuples):
                            similarity[count, other, tuple_] = 0
                    count += 1
                place = slot[p]
                if not best[place, e] >= s:
                    if best[place, e] > second[place, e]:
                        second[place, e] = best[place, e]
                    best[place, e] = s
                    where[place, e] = t - begin
                    claims[place, e] = 1 << ((t - begin) % 32)
                elif s > second[place, e]:
                    second[place, e] = s
                similarity[place, e, t - begin] = s
    return count


@kernel
def _candidates(pivot_start, pivots, indexed, count, hits, hit_count, out):
    """Conjunctions worth testing, ascending: those whose pivot was met and those not indexed yet.

    Returns how many, or -1 if testing all in order is cheaper. Predicate 0 stands for "always".
    """
    work = pivot_start[1] - pivot_start[0] + count - indexed
    for h in range(hit_count):
        if hits[h] + 1 < len(pivot_start):
            work += pivot_start[hits[h] + 1] - pivot_start[hits[h]]
    if work * 4 > count:
        return -1
    place = 0
    for i in range(pivot_start[0], pivot_start[1]):
        out[place] = pivots[i]
        place += 1
    for h in range(hit_count):
        if hits[h] + 1 < len(pivot_start):
            for i in range(pivot_start[hits[h]], pivot_start[hits[h] + 1]):
                out[place] = pivots[i]
                place += 1
    out[:place].sort()
    for conjunction in range(indexed, count):
        out[place] = conjunction
        place += 1
    return place


@kernel
def _exact(slots, k, e, best):
    """The product of the predicates' bests, in 64 bits."""
    product = 1.0
    for i in range(k):
        product *= best[slots[i], e]
    return product


@kernel
def _side_by_side(slots, k, width, best, demanded, shared, reached, used, clash):
    """For each event of a block the product of the predicates' bests, and whether two may want the same tuple."""
    for e in range(width):
        reached[e], used[e], clash[e] = 1, 0, 0
    for i in range(k):
        s = slots[i]
        for e in range(width):
            reached[e] *= best[s, e]
    if not shared:
        for i in range(k):
            s = slots[i]
            for e in range(width):
                clash[e] |= used[e] & demanded[s, e]
                used[e] |= demanded[s, e]


@kernel
def _ruled_out(pool, pool_limit, begin, end, e, tick, stamp, slot, best):
    """Whether a tuple meets a predicate that none may meet."""
    ruled_out = False
    for i in range(begin, end):
        ruled_out |= stamp[pool[i]] == tick and best[slot[pool[i]], e] >= pool_limit[i]
    return ruled_out


@kernel
def _test(candidates, work, width, sizes, table, limits, tick, matching, block, slots, scratch, matches):
    """Test conjunctions against a block of events; append what is met to each event's row of `found`.

    `work` conjunctions are in `candidates`; -1 stands for all. A product is NaN if a predicate is not met.
    """
    start, positives, negatives, pool, shared, owners, inverse = table
    pool_limit, least = limits
    stamp, slot, _ = matching
    best, where, claims, second, similarity = block
    reached, used, clash, chosen, numbers, places = scratch
    count, match_numbers, match_products = matches
    for c in range(len(start) if work < 0 else work):
        number = c if work < 0 else candidates[c]
        owner = owners[number]
        if owner < 0:
            continue
        begin = start[number]
        k = positives[number]
        unmet = False
        for i in range(k):
            p = pool[begin + i]
            if stamp[p] != tick:
                unmet = True
                break
            slots[i] = slot[p]
        if unmet:
            continue
        if width == 1:
            reached[0], clash[0] = _exact(slots, k, 0, best), 1 - shared[number]
        else:
            _side_by_side(slots, k, width, best, claims, shared[number], reached, used, clash)
        again = number > 0 and owners[number - 1] == owner  # another conjunction of the same subscription
        limit = least[number]
        near = np.float32(limit * (1 - 1e-5))  # products of 32-bit numbers are off by less
        sure = max(limit * (1 + 1e-5), TINY)
        middle, end = begin + k, begin + k + negatives[number]
        passing = 0
        for e in range(width):  # without a branch, which would be guessed wrongly as often as rightly
            chosen[passing] = e
            passing += reached[e] >= near
        for n in range(passing):
            e = chosen[n]
            product = np.float64(reached[e])
            if product < sure:
                product = _exact(slots, k, e, best)
                if product < limit:
                    continue
            if clash[e]:
                mapped = assigned(
                    slots, k, e, sizes[e], best, where, second, similarity, product, limit, numbers, places
                )
                product = product if mapped == UNCONTESTED else mapped
            if product <= 0 or _ruled_out(pool, pool_limit, middle, end, e, tick, stamp, slot, best):
                continue
            place = count[e]
            if again and place and owners[match_numbers[e, place - 1]] == owner:
                place -= 1
                earlier = match_numbers[e, place]
                if product ** inverse[number] <= match_products[e, place] ** inverse[earlier]:
                    continue
            match_numbers[e, place] = number
            match_products[e, place] = product
            count[e] = place + 1


@kernel
def _width(events, tuples, predicates, entries, owners):
    """How many events a block may have; `entries` are the entries of all their posting lists."""
    width = min(events, WIDTH)
    while width > 1:
        hits = min(predicates, entries * width // events)
        if width * tuples * hits <= CELLS and width * owners <= ROOM:
            break
        width //= 2
    return max(width, 1)


@kernel
def _new_block(capacity, width, tuples):
    """What `_fill` fills: best, where, wanted, second and similarity, for so many predicates."""
    shape = (capacity, width)
    best, where, claims = np.empty(shape, np.float32), np.empty(shape, np.int32), np.empty(shape, np.uint32)
    return best, where, claims, np.empty(shape, np.float32), np.empty((capacity, width, tuples), np.float32)


@kernel
def match_events(
    first,
    offsets,
    rows,
    starts,
    values,
    lists,
    texts,
    numbers,
    table,
    limits,
    pivots,
    indexed,
    longest,
    stamp,
    tick,
    ordinals,
    out,
):
    """Match events from `first` on until the output is full: (next event, matches written, next tick).

    For each block of events: walk the posting lists of their tuples and keep each predicate's best
    similarity to each event; then test conjunctions by the product of the bests, an upper bound that is
    exact unless two predicates want the same tuple; only then solve the assignment.
    """
    row_kind, row_start, row_length = lists
    out_count, out_ordinal, out_inverse, out_product = out
    events, predicates, conjunctions, owners = len(offsets) - 1, len(stamp[0]), len(table[0]), len(ordinals)
    entries, tuples = 0, 1
    for event in range(first, events):
        tuples = max(tuples, offsets[event + 1] - offsets[event])
    for t in range(offsets[first], len(rows)):
        entries += row_length[rows[t]]
    widest = _width(events - first, tuples, predicates, entries, owners)
    slots = np.empty(longest, np.int64)
    scratch = (
        np.empty(widest, np.float32),
        np.empty(widest, np.uint32),
        np.empty(widest, np.uint32),
        np.empty(widest, np.int64),
        np.empty((3, longest + 1)),
        np.empty((2, longest + 1), np.int64),
    )
    candidates = np.empty(conjunctions, np.int64)
    count = np.zeros(widest, np.int64)
    matches = (count, np.empty((widest, owners), np.int32), np.empty((widest, owners)))
    capacity = 0
    block = _new_block(0, widest, tuples)
    sizes = np.empty(widest, np.int64)
    written = 0
    while first < events:
        width = min(widest, events - first)
        if written + width * owners > len(out_ordinal):
            break
        tick += 1
        needed = 0
        for e in range(width):
            sizes[e] = offsets[first + e + 1] - offsets[first + e]
            for t in range(offsets[first + e], offsets[first + e + 1]):
                needed += row_length[rows[t]]
        needed = min(needed, predicates)
        if needed > capacity:
            capacity = min(2 * needed, predicates)
            block = _new_block(capacity, widest, tuples)
        hit_count = _fill(
            first,
            width,
            offsets,
            rows,
            starts,
            values,
            row_kind,
            row_start,
            row_length,
            texts,
            numbers,
            tuples,
            tick,
            stamp[0],
            stamp[1],
            stamp[2],
            block,
        )
        count[:width] = 0
        work = _candidates(pivots[0], pivots[1], indexed, conjunctions, stamp[2], hit_count, candidates)
        _test(candidates, work, width, sizes, table, limits, tick, stamp, block, slots, scratch, matches)
        for e in range(width):
            out_count[first + e] = count[e]
            for place in range(count[e]):
                number = matches[1][e, place]
                out_ordinal[written] = ordinals[table[5][number]]
                out_inverse[written] = table[6][number]
                out_product[written] = matches[2][e, place]
                written += 1
        first += width
    return first, written, tick


@kernel
def choose_pivots(conj_start, conj_positive, pool, conj_owner, frequency):
    """For each conjunction its rarest positive predicate; 0 ("always") if it has none, -1 if it is gone."""
    pivots = np.empty(len(conj_start), np.int64)
    for c in range(len(conj_start)):
        pivots[c] = -1 if conj_owner[c] < 0 else 0
        if conj_owner[c] >= 0 and conj_positive[c] > 0:
            pivots[c] = pool[conj_start[c]]
            for i in range(conj_start[c] + 1, conj_start[c] + conj_positive[c]):
                if frequency[pool[i]] < frequency[pivots[c]]:
                    pivots[c] = pool[i]
    return pivots

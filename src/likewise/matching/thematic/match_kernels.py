"""Numba kernels of the thematic engine: counting over posting lists, for a block of events at a time."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# Numba infers the types; annotations would not be checked.

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel
from likewise.kernels.sorting import sort_prefix

TEXT, NUMBER = 0, 1  # kinds of posting lists
WIDTH = 32  # events of a block: two vector registers of 32-bit numbers
CELLS = 500_000  # similarities a block may hold before it is made narrower: 2 MB
TINY = 1e-30  # 32-bit products below are computed again in 64 bits
ROOM = 1_000_000  # matches a block may find before it is made narrower


FORBIDDEN = 1e9  # the cost of a pair that may not be; far above any sum of -log similarities
SEARCHED = 6  # predicates up to which a search is quicker than the general algorithm
MASKED = 62  # tuples that fit the bits of a mask
# Rows of the scratch arrays: products of the bests from a predicate on, and of what was chosen before it; the
# similarity chosen last; the tuple a predicate wants, and the one chosen.
ABOVE, REACHED, LAST = 0, 1, 2
WANTED, CHOSEN = 0, 1
UNCONTESTED, CONTESTED = -2.0, -1.0  # in place of a product


@kernel
def best_assignment(cost):
    """The least total cost of giving each row a column of its own, and the column of each row.

    Shortest augmenting paths with potentials (Jonker and Volgenant 1987), rows <= columns.
    """
    n, m = cost.shape
    u = np.zeros(n + 1)
    v = np.zeros(m + 1)
    owner = np.zeros(m + 1, np.int64)  # the row (from 1) a column is given to, 0 if free
    way = np.zeros(m + 1, np.int64)
    for row in range(1, n + 1):
        owner[0] = row
        column = 0
        least = np.full(m + 1, np.inf)
        used = np.zeros(m + 1, np.bool_)
        while True:
            used[column] = True
            current = owner[column]
            delta = np.inf
            following = 0
            for j in range(1, m + 1):
                if not used[j]:
                    reduced = cost[current - 1, j - 1] - u[current] - v[j]
                    if reduced < least[j]:
                        least[j] = reduced
                        way[j] = column
                    if least[j] < delta:
                        delta = least[j]
                        following = j
            for j in range(m + 1):
                if used[j]:
                    u[owner[j]] += delta
                    v[j] -= delta
                else:
                    least[j] -= delta
            column = following
            if owner[column] == 0:
                break
        while column != 0:
            owner[column] = owner[way[column]]
            column = way[column]
    chosen = np.zeros(n, np.int64)
    total = 0.0
    for j in range(1, m + 1):
        if owner[j] > 0:
            chosen[owner[j] - 1] = j - 1
            total += cost[owner[j] - 1, j - 1]
    return total, chosen


@kernel
def _second(slot, e, tuples, used, similarity):
    """The tuple most similar to a predicate but for one, and its similarity (0: there is none)."""
    second, most = -1, np.float32(0)
    for t in range(tuples):
        s = similarity[slot, e, t]
        if s > most and t != used:
            second, most = t, s
    return second, most


@kernel
def one_moves(slots, k, e, tuples, best, where, second, similarity, product, limit, places):
    """The best product if just two predicates want one tuple and one of them has a free second choice.

    One of the two has to move, so no mapping is better than the better of the two moves; `product` is that of all
    bests, and what the second bests leave of it is looked at first. UNCONTESTED if no two want the same tuple,
    CONTESTED if that does not settle it; what is below the limit may be 0.
    """
    a, b, pairs = -1, -1, 0
    enough = limit * (1 - 1e-5)  # ratios of 32-bit numbers are off by less
    for i in range(k):
        places[WANTED, i] = where[slots[i], e]
        for j in range(i):
            if places[WANTED, i] == places[WANTED, j]:
                one, other = slots[i], slots[j]
                left = max(second[one, e] / best[one, e], second[other, e] / best[other, e])
                if product * left < enough:
                    return 0.0
                a, b = i, j
                pairs += 1
    if pairs == 0:
        return UNCONTESTED
    if pairs > 1:
        return CONTESTED
    to_a, most_a = _second(slots[a], e, tuples, places[WANTED, a], similarity)
    to_b, most_b = _second(slots[b], e, tuples, places[WANTED, a], similarity)
    rest = 1.0
    for i in range(k):
        if i != a and i != b:
            rest *= best[slots[i], e]
    moved_a = rest * most_a * best[slots[b], e]
    moved_b = rest * most_b * best[slots[a], e]
    to, product = (to_a, moved_a) if moved_a >= moved_b else (to_b, moved_b)
    if product < limit * (1 - 1e-12):
        return 0.0
    if product > 0:
        for i in range(k):
            if places[WANTED, i] == to:
                return CONTESTED
    return product


@kernel
def search(slots, k, e, tuples, best, where, similarity, least, numbers, places):
    """The greatest product, if it is above `least`, of giving each of a few predicates a tuple of its own; else -1.

    Depth first, each predicate's better tuples first, cut where even the bests of the rest do not help.
    """
    numbers[ABOVE, k] = numbers[REACHED, 0] = 1.0
    for i in range(k - 1, -1, -1):
        numbers[ABOVE, i] = numbers[ABOVE, i + 1] * best[slots[i], e]
        numbers[LAST, i], places[CHOSEN, i] = np.inf, -1
    used, best_product, depth = 0, -1.0, 0
    while depth >= 0:
        before = places[CHOSEN, depth]
        if before >= 0:
            used ^= 1 << before
        slot, last = slots[depth], numbers[LAST, depth]
        most, chosen = least / (numbers[REACHED, depth] * numbers[ABOVE, depth + 1]), -1
        for t in range(tuples):
            s = np.float64(similarity[slot, e, t])
            if s > most and (s < last or (s == last and t > before)) and not (used >> t) & 1:
                most, chosen = s, t
        if chosen < 0:
            numbers[LAST, depth], places[CHOSEN, depth] = np.inf, -1
            depth -= 1
            continue
        numbers[LAST, depth], places[CHOSEN, depth] = most, chosen
        used |= 1 << chosen
        reached = numbers[REACHED, depth] * most
        if depth == k - 1:
            least = best_product = reached
        else:
            depth += 1
            numbers[REACHED, depth] = reached
    return best_product


@kernel
def assigned(slots, k, e, tuples, best, where, second, similarity, product, limit, numbers, places):
    """The product of the best mapping that gives each predicate a tuple of its own; 0 if it is below the limit.

    `product` is that of the predicates' bests. UNCONTESTED if the predicates' best tuples differ anyway.
    """
    product = one_moves(slots, k, e, tuples, best, where, second, similarity, product, limit, places)
    if product == CONTESTED:
        if tuples < k:
            return 0.0
        if k <= SEARCHED and tuples < MASKED:
            product = search(slots, k, e, tuples, best, where, similarity, limit * (1 - 1e-12), numbers, places)
        else:
            product = _general(slots, k, e, tuples, similarity)
    return product if product >= limit or product == UNCONTESTED else 0.0


@kernel
def _general(slots, k, e, tuples, similarity):
    """`assigned` by the general algorithm, for many predicates or tuples."""
    cost = np.full((k, tuples), FORBIDDEN)
    for i in range(k):
        for t in range(tuples):
            s = similarity[slots[i], e, t]
            if s > 0:
                cost[i, t] = -np.log(np.float64(s))
    total, _ = best_assignment(cost)
    return np.exp(-total) if total < FORBIDDEN else 0.0


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
    sort_prefix(out, place)
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
    """Return whether a tuple meets a predicate that none may meet."""
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
    """Return how many events a block may have; `entries` are the entries of all their posting lists."""
    width = min(events, WIDTH)
    while width > 1:
        hits = min(predicates, entries * width // events)
        if width * tuples * hits <= CELLS and width * owners <= ROOM:
            break
        width //= 2
    return max(width, 1)


@kernel
def _new_block(capacity, width, tuples):
    """Return what `_fill` fills: best, where, wanted, second and similarity, for so many predicates."""
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

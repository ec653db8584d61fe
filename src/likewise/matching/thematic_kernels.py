"""Numba kernels of the thematic engine: counting over posting lists, and the assignment on conflict."""

# The kernels are typed by numba, from what they are called with.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

FORBIDDEN = 1e9  # the cost of a pair that may not be; far above any sum of -log similarities

TEXT, NUMBER = 0, 1  # kinds of posting lists


@njit(cache=True)
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


@njit(cache=True)
def _lower_bound(predicates, predicate, start, stop):
    """The first place of a predicate in a posting list, which ascends by predicate."""
    while start < stop:
        middle = (start + stop) // 2
        if predicates[middle] < predicate:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(cache=True)
def _costs(positive, begin, end, rows, starts, values, row_kind, row_start, row_length, texts, numbers):
    """-log of each similarity of some predicates and an event's tuples; what is not related is forbidden."""
    cost = np.full((len(positive), end - begin), FORBIDDEN)
    for t in range(begin, end):
        row = rows[t]
        if row < 0:
            continue
        start, stop = row_start[row], row_start[row] + row_length[row]
        for i in range(len(positive)):
            if row_kind[row] == TEXT:
                place = _lower_bound(texts[0], positive[i], start, stop)
                if place < stop and texts[0][place] == positive[i]:
                    cost[i, t - begin] = -np.log(texts[1][place])
            else:
                place = _lower_bound(numbers[0], positive[i], start, stop)
                while place < stop and numbers[0][place] == positive[i]:
                    x = values[starts[t] + numbers[4][place]]
                    if numbers[2][place] <= x <= numbers[3][place]:
                        cost[i, t - begin] = -np.log(numbers[1][place])
                        break
                    place += 1
    return cost


@njit(cache=True)
def _note(p, s, t, tick, stamp, best, best_tuple, hits, count):
    """Keep the best similarity of a predicate; how many predicates were hit so far."""
    if stamp[p] != tick:
        stamp[p] = tick
        best[p] = s
        best_tuple[p] = t
        hits[count] = p
        return count + 1
    if s > best[p]:
        best[p] = s
        best_tuple[p] = t
    return count


@njit(cache=True)
def _hit_predicates(begin, end, rows, starts, values, row_kind, row_start, row_length, texts, numbers, tick,
                    stamp, best, best_tuple, hits):  # fmt: skip
    """Walk the posting lists of an event's tuples; how many predicates were hit."""
    count = 0
    for t in range(begin, end):
        row = rows[t]
        if row < 0:
            continue
        start, stop = row_start[row], row_start[row] + row_length[row]
        if row_kind[row] == TEXT:
            for i in range(start, stop):
                count = _note(texts[0][i], texts[1][i], t, tick, stamp, best, best_tuple, hits, count)
        else:
            for i in range(start, stop):
                if numbers[2][i] <= values[starts[t] + numbers[4][i]] <= numbers[3][i]:
                    count = _note(numbers[0][i], numbers[1][i], t, tick, stamp, best, best_tuple, hits, count)
    return count


@njit(cache=True)
def _clash(positive, best_tuple):
    """Whether two predicates have the same best tuple."""
    for i in range(1, len(positive)):
        for j in range(i):
            if best_tuple[positive[i]] == best_tuple[positive[j]]:
                return True
    return False


@njit(cache=True)
def _bound(positive, negative, limits, limit, tick, stamp, best):
    """The product of the predicates' best similarities, or -1 if that or a negative predicate rules it out."""
    product = 1.0
    for p in positive:
        if stamp[p] != tick:
            return -1.0
        product *= best[p]
        if product < limit:
            return -1.0
    for i in range(len(negative)):
        if stamp[negative[i]] == tick and best[negative[i]] >= limits[i]:
            return -1.0
    return product


@njit(cache=True)
def _candidates(pivot_start, pivots, indexed, count, hits, hit_count, out):
    """Conjunctions worth testing, ascending: those whose pivot was hit and those not indexed yet.

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


@njit(cache=True)
def match_events(first, offsets, rows, starts, values, row_kind, row_start, row_length, texts, numbers,
                 table, limits, pivot_start, pivots, indexed, scratch, owner_scratch, tick, out):  # fmt: skip
    """Match events from `first` on until the output is full: (next event, matches written, next tick).

    For each event: walk the posting lists of its tuples and keep each predicate's best similarity; then
    test conjunctions by the product of the bests, an upper bound that is exact unless two predicates want
    the same tuple; only then solve the assignment.
    """
    conj_start, conj_positive, conj_negative, pool, conj_relaxed, conj_shared, conj_owner = table
    pool_limit, conj_limit = limits
    best, best_tuple, stamp, hits = scratch
    owner_stamp, owner_place = owner_scratch
    out_event, out_owner, out_conjunction, out_score = out
    count = len(conj_start)
    candidates = np.empty(count, np.int64)
    written = 0
    for event in range(first, len(offsets) - 1):
        if written + len(owner_stamp) > len(out_event):
            return event, written, tick
        tick += 1
        begin, end = offsets[event], offsets[event + 1]
        hit_count = _hit_predicates(begin, end, rows, starts, values, row_kind, row_start, row_length, texts, numbers,
                                    tick, stamp, best, best_tuple, hits)  # fmt: skip
        work = _candidates(pivot_start, pivots, indexed, count, hits, hit_count, candidates)
        for c in range(count if work < 0 else work):
            conjunction = c if work < 0 else candidates[c]
            owner = conj_owner[conjunction]
            if owner < 0:
                continue
            start = conj_start[conjunction]
            middle = start + conj_positive[conjunction]
            stop = middle + conj_negative[conjunction]
            positive = pool[start:middle]
            limit = conj_limit[conjunction]
            product = _bound(positive, pool[middle:stop], pool_limit[middle:stop], limit, tick, stamp, best)
            if product < 0.0:
                continue
            if conj_shared[conjunction] == 0 and _clash(positive, best_tuple):
                if end - begin < len(positive):
                    continue
                total, _ = best_assignment(
                    _costs(positive, begin, end, rows, starts, values, row_kind, row_start, row_length, texts, numbers)
                )
                product = np.exp(-total)
                if total >= FORBIDDEN or product < limit:
                    continue
            relaxed = conj_relaxed[conjunction]
            score = product ** (1.0 / relaxed) if relaxed > 0 else 1.0
            place = written
            if owner_stamp[owner] == tick:
                place = owner_place[owner]
                if score <= out_score[place]:
                    continue
            else:
                owner_stamp[owner] = tick
                owner_place[owner] = written
                written += 1
            out_event[place] = event
            out_owner[place] = owner
            out_conjunction[place] = conjunction
            out_score[place] = score
    return len(offsets) - 1, written, tick


@njit(cache=True)
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

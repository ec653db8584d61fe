"""Numba kernels that give each predicate a tuple of its own where several want the same one (sources.md T)."""

# The kernels are typed by numba, from what they are called with.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel

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

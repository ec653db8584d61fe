"""Numba kernel: the best mapping of every subscription into every event, from similarities of predicates and tuples.

Millions of small assignment problems for each sub-experiment. What several predicates' best tuples leave open is
searched depth first over each predicate's tuples in the order of their similarity, which is made when it is needed.
"""

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel

MOST_TUPLES = 62  # of an event: their numbers are bits of a mask


@kernel
def all_products(similarity, subscriptions, events, shared):  # type: ignore[no-untyped-def]
    """The product of the best mapping of each subscription (row) into each event (column); 0 if there is none.

    `similarity` has a row for each tuple and a column for each predicate; rows of numbers are padded with -1. With
    `shared` a tuple may serve several predicates, else each has one of its own. Events of up to MOST_TUPLES.
    """
    predicates, tuples, longest = similarity.shape[1], events.shape[1], subscriptions.shape[1]
    out = np.zeros((len(subscriptions), len(events)), np.float64)
    best, where = np.empty(predicates, np.float32), np.empty(predicates, np.int64)
    order, ordered = np.empty((predicates, longest), np.int64), np.empty(predicates, np.int64)
    slots, chosen, following = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    above, reached = np.empty(longest + 1), np.empty(longest + 1)
    for e in range(len(events)):
        size = 0
        while size < tuples and events[e, size] >= 0:
            size += 1
        best[:], where[:], ordered[:] = -1, 0, 0
        for t in range(size):
            row = similarity[events[e, t]]
            for p in range(predicates):
                if row[p] > best[p]:
                    best[p], where[p] = row[p], t
        for number in range(len(subscriptions)):
            k, product, used, contested = 0, 1.0, 0, False
            while k < longest and subscriptions[number, k] >= 0:
                slot = slots[k] = subscriptions[number, k]
                product *= best[slot]
                contested |= ((used >> where[slot]) & 1) == 1
                used |= 1 << where[slot]
                k += 1
            if product <= 0 or (not shared and k > size):
                continue
            if shared or not contested:
                out[number, e] = product
                continue
            above[k] = reached[0] = 1.0
            for i in range(k - 1, -1, -1):
                above[i] = above[i + 1] * best[slots[i]]
                if not ordered[slots[i]]:
                    _order(similarity, events[e], size, slots[i], order[slots[i]])
                    ordered[slots[i]] = 1
            out[number, e] = _search(
                similarity, events[e], slots, k, min(size, longest), order, above, reached, chosen, following
            )
    return out


@kernel
def _order(similarity, event, size, slot, order):  # type: ignore[no-untyped-def]
    """The tuples most similar to a predicate, the best first, as many as `order` holds: others can take no more."""
    kept = 0
    for t in range(size):
        s = similarity[event[t], slot]
        i = kept if kept < len(order) else len(order) - 1
        if kept == len(order) and similarity[event[order[i]], slot] >= s:
            continue
        while i > 0 and similarity[event[order[i - 1]], slot] < s:
            order[i] = order[i - 1]
            i -= 1
        order[i] = t
        kept = min(kept + 1, len(order))


@kernel
def _search(similarity, event, slots, k, choices, order, above, reached, chosen, following):  # type: ignore[no-untyped-def]
    """The greatest product of giving each of `k` predicates a tuple of its own; 0 if there is none.

    Depth first, cut where even the bests of the predicates to come do not lift the product above the one found.
    """
    used, found, depth = 0, 0.0, 0
    chosen[0], following[0] = -1, 0
    while depth >= 0:
        slot = slots[depth]
        if chosen[depth] >= 0:
            used ^= 1 << chosen[depth]
            chosen[depth] = -1
        product = 0.0
        while following[depth] < choices:
            t = order[slot, following[depth]]
            product = reached[depth] * similarity[event[t], slot]
            if product * above[depth + 1] <= found:
                break
            following[depth] += 1
            if not (used >> t) & 1:
                chosen[depth] = t
                break
        if chosen[depth] < 0:
            depth -= 1
        elif depth == k - 1:
            found = product
            chosen[depth] = -1
        else:
            used |= 1 << chosen[depth]
            depth += 1
            reached[depth], chosen[depth], following[depth] = product, -1, 0
    return found

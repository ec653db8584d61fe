"""Numba kernel: the best mapping of every subscription into every event, from similarities of predicates and tuples."""

from __future__ import annotations

import numpy as np

from likewise.kernels.compile import kernel
from likewise.matching.thematic.assignment_kernels import UNCONTESTED, assigned


@kernel
def all_products(similarity, subscriptions, events):  # type: ignore[no-untyped-def]
    """The product of the best mapping of each subscription (row) into each event (column); 0 if there is none.

    `similarity` has a row for each predicate and a column for each tuple; rows of numbers are padded with -1.
    """
    predicates, tuples, longest = similarity.shape[0], events.shape[1], subscriptions.shape[1]
    out = np.zeros((len(subscriptions), len(events)), np.float64)
    best = np.empty((predicates, 1), np.float32)
    where = np.empty((predicates, 1), np.int32)
    near = np.empty((predicates, 1, tuples), np.float32)
    slots = np.empty(longest, np.int64)
    numbers, places = np.empty((3, longest + 1)), np.empty((2, longest + 1), np.int64)
    for e in range(len(events)):
        size = 0
        while size < tuples and events[e, size] >= 0:
            size += 1
        for p in range(predicates):
            most, at = np.float32(-1), 0
            for t in range(size):
                s = similarity[p, events[e, t]]
                near[p, 0, t] = s
                if s > most:
                    most, at = s, t
            best[p, 0], where[p, 0] = most, at
        for number in range(len(subscriptions)):
            k, product = 0, 1.0
            while k < longest and subscriptions[number, k] >= 0:
                slots[k] = subscriptions[number, k]
                product *= best[slots[k], 0]
                k += 1
            if product > 0:
                mapped = assigned(slots, k, 0, size, best, where, near, 0.0, numbers, places)
                out[number, e] = product if mapped == UNCONTESTED else mapped
    return out

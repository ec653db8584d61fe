"""Yardstick for approximate matching: the best simple vectorised evaluation, with relatedness precomputed.

Similarities of all distinct predicates and tuples are a matrix made beforehand. For each event: gather the columns of
its tuples, take each predicate's best, multiply them for each subscription, keep products that reach the threshold;
where two predicates of a subscription have the same best tuple, SciPy solves the assignment.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from likewise.model import Event, EventTuple
from likewise_experiments.thematic.load_arrays import LoadArrays

FORBIDDEN = 1e6  # the cost of a pair that may not be


class NumpyApproximate:
    """Fully relaxed subscriptions over events whose tuples are all known."""

    def __init__(self, arrays: LoadArrays, similarity: NDArray[np.float32], events: Sequence[Event], threshold: float):
        self.similarity = np.ascontiguousarray(similarity.T)  # a row for each tuple
        self.number: dict[EventTuple, int] = {}
        for event, row in zip(events, arrays.events.tolist(), strict=True):
            self.number.update(zip(event.tuples, row, strict=False))
        sizes = (arrays.subscriptions >= 0).sum(axis=1)
        self.groups = []
        for size in np.unique(sizes).tolist():
            mine = np.flatnonzero(sizes == size)
            limit = threshold ** (2 * size)
            self.groups.append((mine, np.ascontiguousarray(arrays.subscriptions[mine, :size].T), size, limit))
        self.conflicts = 0

    def match(self, event: Event) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The subscriptions an event meets, ascending, and their scores."""
        rows = self.similarity[[self.number[t] for t in event.tuples]]
        best, where = rows.max(axis=0), rows.argmax(axis=0)
        found, scores = [], []
        for mine, predicates, size, limit in self.groups:
            if size > len(rows):
                continue
            product = best[predicates[0]].astype(np.float64)
            for column in predicates[1:]:
                product *= best[column]
            kept = np.flatnonzero((product >= limit * (1 - 1e-6)) & (product > 0))
            if not len(kept):
                continue
            product, chosen = product[kept], where[predicates[:, kept]]
            if size > 1:
                ordered = np.sort(chosen, axis=0)
                for place in np.flatnonzero((ordered[1:] == ordered[:-1]).any(axis=0)).tolist():
                    self.conflicts += 1
                    product[place] = self._assigned(rows[:, predicates[:, kept[place]]].T)
                met = (product >= limit * (1 - 1e-6)) & (product > 0)
                product, kept = product[met], kept[met]
            found.append(mine[kept])
            scores.append(np.power(product, 1 / (2 * size)).astype(np.float32))
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        ordinals = np.concatenate(found)
        order = np.argsort(ordinals)
        return ordinals[order], np.concatenate(scores)[order]

    @staticmethod
    def _assigned(similarity: NDArray[np.float32]) -> float:
        cost = np.full(similarity.shape, FORBIDDEN)
        np.log(similarity, out=cost, where=similarity > 0)
        cost[similarity > 0] *= -1
        total = cost[linear_sum_assignment(cost)].sum()
        return float(np.exp(-total)) if total < FORBIDDEN else 0.0

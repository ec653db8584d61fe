"""The conjunctions of all approximate subscriptions, in arrays a kernel can walk.

Conjunctions stand in the order of addition. Each is filed under its rarest predicate (its pivot), so that
an event tests just those whose pivot it meets; those added since the last filing are tested always.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.growing_array import Growing
from likewise.matching.reference.needed import Needed
from likewise.matching.thematic.subscription_predicates import AskedPredicates
from likewise.model import Conjunction, merge_comparisons

SLACK = 1 - 1e-6  # as in posting lists: rounding to 32 bits must not lose a match
PATIENCE = 1_000  # conjunctions that may be unfiled, or gone, before work is spent on order


class ConjunctionTable:
    """Conjunctions by number; `owner` is the place of their subscription, -1 when it was removed."""

    def __init__(self, asked: AskedPredicates) -> None:
        self._asked = asked
        self._clear()

    def _clear(self) -> None:
        self.start = Growing(np.int64)
        self.positive = Growing(np.int64)
        self.negative = Growing(np.int64)
        self.inverse = Growing(np.float32)  # 1 / relaxed parts: the power that makes a product a score; 0 without
        self.shared = Growing(np.uint8)  # 1: exact predicates, which may share a tuple
        self.owner = Growing(np.int64)
        self.limit = Growing(np.float64)  # the least product that reaches the threshold
        self.pool = Growing(np.int64)  # predicates, the positive ones of a conjunction first
        self.pool_limit = Growing(np.float64)  # for a negative predicate the similarity that rules it out
        self.pivot_start: NDArray[np.int64] = np.zeros(2, np.int64)
        self.pivots: NDArray[np.int64] = np.empty(0, np.int64)
        self.indexed = 0
        self.longest = 0  # the most positive predicates of one conjunction
        self.gone = 0

    def __len__(self) -> int:
        return len(self.start)

    @property
    def bytes(self) -> int:
        """The bytes of all arrays."""
        arrays = (self.start, self.positive, self.negative, self.inverse, self.shared, self.owner, self.limit)
        return (
            sum(a.nbytes for a in (*arrays, self.pool, self.pool_limit)) + self.pivot_start.nbytes + self.pivots.nbytes
        )

    def columns(self) -> tuple[NDArray[Any], ...]:
        """What a kernel walks: start, positive and negative predicates, the pool, shared, owner, inverse."""
        arrays = (self.start, self.positive, self.negative, self.pool, self.shared, self.owner, self.inverse)
        return tuple(array.view() for array in arrays)

    def add(self, owner: int, conjunction: Conjunction, theme: tuple[str, ...], needed: Needed) -> int:
        """Hold a conjunction; its number."""
        relaxed = conjunction.relaxed_parts
        positive = merge_comparisons(conjunction.positive) if relaxed else conjunction.positive
        relaxed = sum(p.relaxed_parts for p in positive)
        least = needed.score**relaxed if relaxed else 1.0
        self.start.append(len(self.pool))
        for predicate in positive:
            self.pool.append(self._asked.take(predicate, theme, least, needed.part))
            self.pool_limit.append(least)
        for predicate in conjunction.negative:
            ruled_out = needed.against**predicate.relaxed_parts
            self.pool.append(self._asked.take(predicate, theme, ruled_out, needed.part))
            self.pool_limit.append(ruled_out * SLACK)
        self.positive.append(len(positive))
        self.longest = max(self.longest, len(positive))
        self.negative.append(len(conjunction.negative))
        self.inverse.append(1 / relaxed if relaxed else 0.0)
        self.shared.append(0 if relaxed else 1)
        self.owner.append(owner)
        self.limit.append(least * SLACK if relaxed else 0.0)
        return len(self) - 1

    def remove(self, number: int) -> None:
        """Let go of a conjunction and its predicates."""
        start = self.start.view()[number]
        stop = start + self.positive.view()[number] + self.negative.view()[number]
        for predicate in self.pool.view()[start:stop].tolist():
            self._asked.release(predicate)
        self.owner.view()[number] = -1
        self.gone += 1

    def file(self, frequency: NDArray[np.int64]) -> None:
        """File every conjunction under its rarest predicate, as far as now known."""
        from likewise.matching.thematic.match_kernels import choose_pivots

        pivots = choose_pivots(self.start.view(), self.positive.view(), self.pool.view(), self.owner.view(), frequency)
        order = np.argsort(pivots, kind="stable")
        order = order[np.searchsorted(pivots[order], 0) :]
        self.pivots = order
        counts = np.bincount(pivots[order], minlength=len(self._asked))
        self.pivot_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self.indexed = len(self)

    def wants_filing(self) -> bool:
        """Whether so many conjunctions are unfiled that filing pays."""
        return len(self) - self.indexed > PATIENCE + self.indexed // 4

    def wants_packing(self) -> bool:
        """Whether more conjunctions are gone than held."""
        return self.gone > PATIENCE + len(self) // 2

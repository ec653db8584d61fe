"""Mappings of predicates to tuples: the best one, the best few, and their probabilities (sources.md T).

A mapping gives each predicate its own tuple. Up to `MAX_ENUMERATED_MAPPINGS` they are simply listed;
beyond that Murty's ranking finds the best ones without listing the rest.

The best mappings in order when there are too many to enumerate.

Murty, "An Algorithm for Ranking all the Assignments in Order of Increasing Cost", Operations Research
16 (1968): solve one assignment problem, then cut the remaining mappings into disjoint sets, each keeping
some correspondences of the best and forbidding the next one, and solve these in turn. We branch on
predicates and end at product 0 (sources.md T).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from likewise.defaults import MAX_ENUMERATED_MAPPINGS
from likewise.matching.reference.event_view import SimilarityRow
from likewise.model.mapping import Correspondence, Mapping

if TYPE_CHECKING:
    from numpy import bool_, float64
    from numpy.typing import NDArray


Ranked = tuple[float, tuple[int, ...]]


def ranked_mappings(rows: Sequence[Sequence[float]]) -> Iterator[Ranked]:
    """Every mapping as (product, tuple chosen for each row), the highest product first, without those of 0.

    >>> list(ranked_mappings([(0.5, 0.25), (0.5, 0.5)]))
    [(0.25, (0, 1)), (0.125, (1, 0))]
    """
    import numpy as np

    similarity = np.asarray(rows, np.float64).reshape(len(rows), -1)
    if similarity.shape[0] > similarity.shape[1]:
        return
    allowed = similarity > 0
    first = _solve(similarity, allowed)
    pending: list[tuple[float, tuple[int, ...], int, NDArray[bool_]]] = []
    if first is not None:
        pending.append((-_product(rows, first), first, 0, allowed))
    while pending:
        negative, choice, fixed, allowed = heapq.heappop(pending)
        yield -negative, choice
        for row in range(fixed, len(rows)):
            branch = allowed.copy()
            for column in range(row):
                branch[column] = False
                branch[column, choice[column]] = True
            branch[row, choice[row]] = False
            solution = _solve(similarity, branch)
            if solution is not None:
                heapq.heappush(pending, (-_product(rows, solution), solution, row, branch))


def _product(rows: Sequence[Sequence[float]], choice: tuple[int, ...]) -> float:
    return math.prod(row[index] for row, index in zip(rows, choice, strict=True))


def _solve(similarity: NDArray[float64], allowed: NDArray[bool_]) -> tuple[int, ...] | None:
    """The allowed mapping of highest product; None if there is none."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    if not allowed.any(axis=1).all():
        return None
    cost = -np.log(similarity, out=np.zeros_like(similarity), where=allowed)
    # One forbidden pair costs more than all allowed pairs together: finite, yet never worth taking.
    cost[~allowed] = float(cost.max(initial=0.0)) * len(similarity) + 1.0
    places, chosen = linear_sum_assignment(cost)
    if not allowed[places, chosen].all():
        return None
    return tuple(int(index) for index in chosen)


Similarities = Sequence[Sequence[float]]

# Steps of a search that is given up as too long: some dead ends for each mapping that may be listed.
MAX_STEPS = 20 * MAX_ENUMERATED_MAPPINGS
RANKED_AT_LEAST = 100  # sources.md T: P spans the best max(k, 100) mappings when they are too many to list
# Conditions with more predicates than this are ranked no further than their best mapping: each further
# one costs an assignment problem for each predicate.
MAX_RANKED_PREDICATES = 50


def enumerate_mappings(rows: Similarities, limit: int = MAX_ENUMERATED_MAPPINGS) -> list[Ranked] | None:
    """All mappings with a product above 0, the best first; None if there are more than `limit`.

    Equal products are ordered by the tuples they use.

    >>> enumerate_mappings([(1.0, 0.5), (0.5, 0.5)])
    [(0.5, (0, 1)), (0.25, (1, 0))]
    """
    if len(rows) > MAX_RANKED_PREDICATES:
        return None
    choices = [[(index, s) for index, s in enumerate(row) if s > 0] for row in rows]
    mappings: list[Ranked] = []
    used: set[int] = set()
    chosen: list[int] = []
    steps = 0

    def extend(place: int, product: float) -> bool:
        nonlocal steps
        steps += 1
        if steps > MAX_STEPS or len(mappings) > limit:
            return False
        if place == len(choices):
            mappings.append((product, tuple(chosen)))
            return True
        for index, similarity in choices[place]:
            if index not in used:
                used.add(index)
                chosen.append(index)
                within = extend(place + 1, product * similarity)
                chosen.pop()
                used.discard(index)
                if not within:
                    return False
        return True

    if not extend(0, 1.0) or len(mappings) > limit:
        return None
    mappings.sort(key=lambda ranked: (-ranked[0], ranked[1]))
    # A product of very small similarities may vanish in floating point: such a mapping scores 0.
    return [ranked for ranked in mappings if ranked[0] > 0]


def best_mapping(rows: Similarities) -> Ranked | None:
    """The mapping of highest product, or None if every one has product 0.

    >>> best_mapping([(0.9, 0.8), (0.9, 0.1)])
    (0.72..., (1, 0))
    """
    if not rows or len(rows) > len(rows[0]):
        return None
    peaks = [max(row) for row in rows]
    if not all(peaks):
        return None
    favourites = tuple(row.index(peak) for row, peak in zip(rows, peaks, strict=True))
    if len(set(favourites)) == len(rows):  # everyone's favourite is free: nothing can be better
        product = math.prod(peaks)
        return (product, favourites) if product > 0 else None
    top = top_mappings(rows, 1)
    return top[0] if top else None


def top_mappings(rows: Similarities, k: int) -> list[Ranked]:
    """The k best mappings, fewer if there are no more with a product above 0.

    >>> [choice for _, choice in top_mappings([(0.9, 0.8, 0.2), (0.9, 0.1, 0.0)], 2)]
    [(1, 0), (2, 0)]
    """
    listed = enumerate_mappings(rows)
    return listed[:k] if listed is not None else list(islice(ranked_mappings(rows), k))


def describe(rows: Sequence[SimilarityRow], relaxed_parts: int, k: int, conjunction: int = 0) -> list[Mapping]:
    """The k best mappings with the probability spaces P_σ (each row to sum 1) and P (over the mappings).

    >>> row = SimilarityRow((1.0, 0.5), (1.0, 1.0), (1.0, 0.5))
    >>> best = describe([row], 1, 1)[0]
    >>> best.score, best.probability, best.correspondences[0].probability
    (1.0, 0.66..., 0.66...)
    """
    similarities = [row.similarity for row in rows]
    listed = enumerate_mappings(similarities)
    if listed is None:
        ranked = max(k, RANKED_AT_LEAST) if len(rows) <= MAX_RANKED_PREDICATES else 1
        listed = list(islice(ranked_mappings(similarities), ranked))
    total = math.fsum(product for product, _ in listed)
    sums = [math.fsum(row) for row in similarities]
    mappings = []
    for product, choice in listed[:k]:
        correspondences = tuple(
            Correspondence(
                place,
                index,
                rows[place].attribute[index],
                rows[place].value[index],
                similarities[place][index] / sums[place],
            )
            for place, index in enumerate(choice)
        )
        score = score_of(product, relaxed_parts)
        mappings.append(Mapping(correspondences, score, product, product / total, conjunction))
    return mappings


def score_of(product: float, relaxed_parts: int) -> float:
    """The geometric mean over the relaxed parts; 1 if there are none.

    >>> score_of(0.25, 2), score_of(1.0, 0)
    (0.5, 1.0)
    """
    if relaxed_parts == 0:
        return 1.0
    return product if relaxed_parts == 1 else float(product ** (1.0 / relaxed_parts))

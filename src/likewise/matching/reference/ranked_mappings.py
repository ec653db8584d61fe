"""The best mappings in order when there are too many to enumerate.

Murty, "An Algorithm for Ranking all the Assignments in Order of Increasing Cost", Operations Research
16 (1968): solve one assignment problem, then cut the remaining mappings into disjoint sets, each keeping
some correspondences of the best and forbidding the next one, and solve these in turn. We branch on
predicates and end at product 0 (sources.md T).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

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
            for kept in range(row):
                branch[kept] = False
                branch[kept, choice[kept]] = True
            branch[row, choice[row]] = False
            found = _solve(similarity, branch)
            if found is not None:
                heapq.heappush(pending, (-_product(rows, found), found, row, branch))


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

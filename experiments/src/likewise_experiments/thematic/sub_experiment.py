"""One sub-experiment of the thematic evaluation (Hasan and Curry 2014, section 5).

A sub-experiment puts one theme on all events and one on all subscriptions, ranks all events for every
subscription, and scores the ranking by the maximal F1 of the averaged precision-recall curve. Relatedness
is computed once for each pair of distinct terms. `grid` runs thousands of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.matching.reference.terms import theme_of
from likewise.semantics.measure import Measure
from likewise_experiments.ranking import RECALL_POINTS, interpolated_precision
from likewise_experiments.thematic.load_arrays import LoadArrays


class Quality(msgspec.Struct, frozen=True):
    """Maximal F1 by lineage and by the wider reading, and the curve by lineage at the eleven recall points."""

    f1: float
    wider_f1: float
    precision: tuple[float, ...]


class SubExperiment(msgspec.Struct, frozen=True):
    """One sub-experiment's result."""

    event_size: int
    subscription_size: int
    sample: int
    f1: float
    wider_f1: float


class Truth(msgspec.Struct, frozen=True, eq=False):
    """Which events are relevant to which subscription, in both readings."""

    lineage: NDArray[np.bool_]
    wider: NDArray[np.bool_]


def scores(
    arrays: LoadArrays, measure: Measure, asked: Sequence[str] = (), seen: Sequence[str] = (), *, shared: bool = False
) -> NDArray[np.float64]:
    """The score of every subscription (row) and event (column), the sides under these theme tags.

    With `shared` a tuple may answer several predicates, as the paper's definition of a mapping allows.
    """
    from likewise_experiments.thematic.mapping_kernels import all_products

    similarity = np.ascontiguousarray(arrays.similarities(measure, theme_of(asked), theme_of(seen)).T)
    products: NDArray[np.float64] = all_products(similarity, arrays.subscriptions, arrays.events, shared)
    found: NDArray[np.float64] = products ** (1 / np.maximum(1, arrays.parts()))[:, None]
    return found


def averaged_f1(
    scores: NDArray[np.float64], relevant: NDArray[np.bool_], ascending: NDArray[np.float64] | None = None
) -> tuple[float, NDArray[np.float64]]:
    """The maximal F1 of the curve averaged over the subscriptions that have relevant events, and that curve.

    `ascending` are the scores of each row sorted, for those who have them.

    >>> averaged_f1(np.array([[0.9, 0.5], [0.1, 0.7]]), np.array([[True, False], [False, True]]))[0]
    1.0
    """
    curve = curves(scores, relevant, ascending).mean(axis=0)
    return best_f1(curve), curve


def curves(
    scores: NDArray[np.float64], relevant: NDArray[np.bool_], ascending: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The curve of each subscription that has relevant events."""
    judged = np.flatnonzero(relevant.any(axis=1)).tolist()
    ranked = np.sort(scores, axis=1) if ascending is None else ascending
    return np.array([interpolated_precision(scores[i], relevant[i], ranked[i]) for i in judged])


def ten_sets(curves: NDArray[np.float64]) -> list[float]:
    """The maximal F1 of ten random sets of a tenth, two tenths, ... and all of the subscriptions.

    Hasan and Curry tell of ten sets of 10 to 100 subscriptions (2014, section 5).
    """
    chosen, every = random.Random(0), range(len(curves))
    sizes = [max(1, round(len(curves) * tenth / 10)) for tenth in range(1, 11)]
    return [best_f1(curves[chosen.sample(every, size)].mean(axis=0)) for size in sizes]


def best_f1(curve: NDArray[np.float64]) -> float:
    """The maximal F1 of a curve of precision at the eleven recall points."""
    f1 = 2 * curve * RECALL_POINTS / np.maximum(curve + RECALL_POINTS, 1e-12)
    return float(f1.max())


def quality(
    arrays: LoadArrays,
    truth: Truth,
    measure: Measure,
    asked: Sequence[str] = (),
    seen: Sequence[str] = (),
    *,
    shared: bool = False,
) -> Quality:
    """How well a measure ranks, under theme tags or none."""
    found = scores(arrays, measure, asked, seen, shared=shared)
    ascending = np.sort(found, axis=1)
    f1, curve = averaged_f1(found, truth.lineage, ascending)
    return Quality(f1, averaged_f1(found, truth.wider, ascending)[0], tuple(curve.tolist()))

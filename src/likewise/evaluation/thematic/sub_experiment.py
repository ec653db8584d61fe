"""One sub-experiment of the thematic evaluation (Hasan and Curry 2014, section 5).

A sub-experiment puts one theme on all events and one on all subscriptions, ranks all events for every
subscription, and scores the ranking by the maximal F1 of the averaged precision-recall curve. Relatedness
is computed once for each pair of distinct terms. `thematic_grid` runs thousands of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.ranking import RECALL_POINTS, interpolated_precision
from likewise.evaluation.thematic.load_arrays import LoadArrays
from likewise.matching.plain.terms import theme_of
from likewise.semantics.measure import Measure


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
    arrays: LoadArrays, measure: Measure, asked: Sequence[str] = (), seen: Sequence[str] = ()
) -> NDArray[np.float64]:
    """The score of every subscription (row) and event (column), the sides under these theme tags."""
    from likewise.evaluation.thematic.mapping_kernels import all_products

    similarity = arrays.similarities(measure, theme_of(asked), theme_of(seen))
    products: NDArray[np.float64] = all_products(similarity, arrays.subscriptions, arrays.events)
    parts = 2 * (arrays.subscriptions >= 0).sum(axis=1)
    found: NDArray[np.float64] = products ** (1 / parts)[:, None]
    return found


def averaged_f1(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
    """The maximal F1 of the curve averaged over the subscriptions that have relevant events, and that curve.

    >>> averaged_f1(np.array([[0.9, 0.5], [0.1, 0.7]]), np.array([[True, False], [False, True]]))[0]
    1.0
    """
    judged = np.flatnonzero(relevant.any(axis=1)).tolist()
    curve = np.mean([interpolated_precision(scores[i], relevant[i]) for i in judged], axis=0)
    f1 = 2 * curve * RECALL_POINTS / np.maximum(curve + RECALL_POINTS, 1e-12)
    return float(f1.max()), curve


def quality(
    arrays: LoadArrays, truth: Truth, measure: Measure, asked: Sequence[str] = (), seen: Sequence[str] = ()
) -> Quality:
    """How well a measure ranks, under theme tags or none."""
    found = scores(arrays, measure, asked, seen)
    f1, curve = averaged_f1(found, truth.lineage)
    return Quality(f1, averaged_f1(found, truth.wider)[0], tuple(curve.tolist()))

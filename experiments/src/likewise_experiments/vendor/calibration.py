"""Are probabilities what they say? Of pairs that were given about 0.7, about seven in ten should be meant.

Pairs are phrases and labelled attributes. The curve (`Match.probability`) was fitted on pairs that people wrote one by
one and on the development makers and phrases. Most pairs differ plainly, so those below `LEAST` are left out: nobody
would call them a find.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.model.probability import ProbabilityCurve
from likewise.semantics.measure import Measure, Term
from likewise_experiments.vendor.benchmark import Benchmark, attributes

EDGES: Final = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
LEAST: Final = EDGES[0]


class CalibrationBin(msgspec.Struct, frozen=True):
    """Pairs whose probability lies between two edges: how many, what was said on the mean, how many were meant."""

    low: float
    high: float
    pairs: int
    said: float
    meant: float


class Calibration(msgspec.Struct, frozen=True):
    """Bins, and the mean distance of what was said from what was meant, weighed by pairs."""

    bins: tuple[CalibrationBin, ...]
    error: float


def vendor_calibration(benchmark: Benchmark, measure: Measure, curve: ProbabilityCurve) -> Calibration:
    """What a curve says about a measure's scores of phrases and attributes, beside what is meant."""
    scores, meant = phrase_scores(benchmark, measure)
    return calibration_of(curve.each(scores).astype(np.float64).ravel(), meant.ravel())


def phrase_scores(benchmark: Benchmark, measure: Measure) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """A measure's scores of every phrase (rows) and labelled attribute, and which of them are meant."""
    listed = attributes(benchmark)
    scores = measure.matrix([Term(p.text) for p in benchmark.phrases], [a.term for a in listed])
    return scores, np.array([[a.gold.label == p.phenomenon for a in listed] for p in benchmark.phrases], dtype=bool)


def calibration_of(said: NDArray[np.float64], meant: NDArray[np.bool_]) -> Calibration:
    """Probabilities beside what was meant.

    >>> found = calibration_of(np.array([0.8, 0.8, 0.8, 0.8, 0.02]), np.array([True, True, True, False, False]))
    >>> [(each.pairs, each.meant) for each in found.bins], round(found.error, 2)
    ([(4, 0.75)], 0.05)
    """
    bins = []
    for low, high in pairwise(EDGES):
        inside = (said >= low) & ((said < high) | (high == EDGES[-1]))
        if inside.any():
            mean, share = float(said[inside].mean()), float(meant[inside].mean())
            bins.append(CalibrationBin(low, high, int(inside.sum()), mean, share))
    pairs = sum(each.pairs for each in bins)
    return Calibration(tuple(bins), sum(abs(b.said - b.meant) * b.pairs for b in bins) / max(1, pairs))

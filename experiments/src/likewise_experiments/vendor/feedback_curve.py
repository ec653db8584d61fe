"""What a few judgements are worth: feedback given on some vendors, quality measured on others.

A person asks with a phrase and judges the n attributes that rank highest among vendors already connected. The
curve shows the quality of all phrases on vendors nobody judged, against n.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from likewise.semantics.feedback import Feedback, JudgedMeasure, term_pair
from likewise.semantics.measure import Measure, Term
from likewise_experiments.vendor.benchmark import Benchmark, attributes, decide, rank

STEPS = (0, 1, 2, 3, 5, 10)


class CurvePoint(msgspec.Struct, frozen=True):
    """Quality on the vendors nobody judged, after n judgements a phrase."""

    judgements_a_phrase: int
    judgements: int
    maximal_f1: float
    average_precision: float
    decision_f1: float


def feedback_curve(
    judged: Benchmark, tested: Benchmark, measure: Measure, threshold: float, steps: Sequence[int] = STEPS
) -> list[CurvePoint]:
    """The curve; `judged` and `tested` have no vendor in common."""
    listed = attributes(judged)
    scores = measure.matrix([Term(phrase.text) for phrase in judged.phrases], [a.term for a in listed])
    order = np.argsort(-scores, axis=1, kind="stable")
    points = []
    for step in steps:
        feedback = Feedback()
        for phrase, ranked in zip(judged.phrases, order, strict=True):
            for place in ranked[:step].tolist():
                seen = listed[place]
                pair = term_pair("attribute", phrase.text, seen.term.text)
                feedback.judge(phrase.text, seen.vendor, seen.gold.label == phrase.phenomenon, [pair])
        moved = JudgedMeasure(measure, feedback)
        ranking = rank(tested, moved)
        decisions = decide(tested, moved, threshold, numeric=False)
        points.append(CurvePoint(step, len(feedback), ranking.maximal_f1, ranking.average_precision, decisions.f1))
    return points

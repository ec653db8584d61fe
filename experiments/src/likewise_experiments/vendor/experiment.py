"""The vendor benchmark as one experiment: measures and yardsticks, decisions, what judgements are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from likewise import defaults
from likewise.model.probability import ProbabilityCurve
from likewise.semantics.measure import Measure
from likewise_experiments.vendor.benchmark import Benchmark, Decisions, Ranking, decide, is_held_out, rank
from likewise_experiments.vendor.calibration import Calibration, vendor_calibration
from likewise_experiments.vendor.feedback_curve import CurvePoint, feedback_curve
from likewise_experiments.vendor.yardsticks import CharacterGrams, WordOverlap

if TYPE_CHECKING:
    from likewise.semantics.space import Space

PARTS: Final = ("dev", "new-vendors", "new-phrases", "held-out", "all")
JUDGED: Final = 3  # feedback is measured on one vendor in so many of the part, and given on the others


class VendorReport(msgspec.Struct, frozen=True):
    """What the experiment found; `decided_by` is the measure whose decisions and feedback are shown."""

    part: str
    vendors: int
    events: int
    ranking: dict[str, Ranking]
    decided_by: str
    threshold: float
    decisions: dict[str, Decisions]
    feedback: tuple[CurvePoint, ...] = ()
    calibration: Calibration | None = None


def chosen_part(whole: Benchmark, part: str) -> Benchmark:
    """The development vendors and phrases; those vendors, phrases or both that are set aside for testing; or all."""
    if part == "all":
        return whole
    vendors, phrases = part in ("new-vendors", "held-out"), part in ("new-phrases", "held-out")
    return whole.part(
        (vendor for vendor in whole.vendors() if is_held_out(vendor) == vendors),
        (phrase for phrase in whole.phrases if is_held_out(phrase.text) == phrases),
    )


def measures_of(space: Space, named: Sequence[tuple[str, dict[str, str]]], model: str | None = None) -> list[Measure]:
    """The yardsticks, a sentence model if there is one, and the measures named, in this order."""
    small = [space.measure("embeddings", model=model)] if model is not None else []
    return [WordOverlap(), CharacterGrams(), *small, *(space.measure(name, **options) for name, options in named)]


def vendor_experiment(
    benchmark: Benchmark,
    part: str,
    measures: Sequence[Measure],
    threshold: float | None = None,
    *,
    curve: bool = False,
    probabilities: Mapping[str, ProbabilityCurve] | None = None,
    messages: bool = True,
) -> VendorReport:
    """Rank by every measure; decide, show whether probabilities hold, and what feedback is worth, by the last.

    Without messages (names alone) nothing is decided.
    """
    last, level = measures[-1], defaults.THRESHOLD if threshold is None else threshold
    fitted = (probabilities or {}).get(last.name)
    kinds = (("exists", False), ("numeric with a unit", True)) if messages else ()
    return VendorReport(
        part=part,
        vendors=len(benchmark.vendors()),
        events=len(benchmark.events),
        ranking={each.name: rank(benchmark, each) for each in measures},
        decided_by=last.name,
        threshold=level,
        decisions={name: decide(benchmark, last, level, numeric=numeric) for name, numeric in kinds},
        calibration=vendor_calibration(benchmark, last, fitted) if fitted is not None and messages else None,
        feedback=tuple(vendor_feedback(benchmark, last, level)) if curve else (),
    )


def vendor_feedback(benchmark: Benchmark, measure: Measure, threshold: float) -> list[CurvePoint]:
    """Judgements on two thirds of a part's vendors, quality on the rest."""
    tested = benchmark.vendors()[::JUDGED]
    judged = [v for v in benchmark.vendors() if v not in tested]
    return feedback_curve(benchmark.part(judged), benchmark.part(tested), measure, threshold)

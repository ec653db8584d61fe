"""What confirmations are worth: a person says once what an attribute of a vendor is, the most useful questions first.

Questions are ordered as the catalogue orders them (docs/guides/catalogue.md): by how many decisions hang on them, by
their probability alone; the labels answer. A confirmed attribute is matched by what it was said to be.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from likewise.model import Event
from likewise.model.probability import ProbabilityCurve
from likewise.semantics.measure import Measure, Term
from likewise_experiments.vendor.benchmark import Benchmark, VendorEvent, attributes, decide

STEPS = (0, 5, 10, 20, 40, 80, 160)
OTHER = "other"  # what the labels call that which no phrase asks for: nobody can say what it is


class Confirmed(msgspec.Struct, frozen=True):
    """The decisions after so many confirmations: F1, precision and recall over events and phrases."""

    confirmations: int
    f1: float
    precision: float
    recall: float


def confirmation_curve(
    benchmark: Benchmark,
    measure: Measure,
    threshold: float,
    probability: ProbabilityCurve,
    steps: Sequence[int] = STEPS,
) -> list[Confirmed]:
    """The decisions after each number of confirmations, those that are worth most first."""
    order = questions(benchmark, measure, probability)
    points: list[Confirmed] = []
    for step in [*(step for step in steps if step < len(order)), len(order)]:
        found = decide(_confirmed(benchmark, set(order[:step])), measure, threshold, numeric=False)
        points.append(Confirmed(step, round(found.f1, 4), round(found.precision, 4), round(found.recall, 4)))
    return points


def questions(benchmark: Benchmark, measure: Measure, probability: ProbabilityCurve) -> list[tuple[str, str]]:
    """Vendors' attributes, by how many decisions a confirmation would change; what is in no doubt comes last."""
    listed = attributes(benchmark)
    scores = measure.matrix([Term(phrase.text) for phrase in benchmark.phrases], [each.term for each in listed])
    likely = probability.each(np.asarray(scores, np.float32))
    doubt = np.minimum(likely, 1 - likely).sum(0)
    sent: dict[tuple[str, str], int] = {}
    for vendor, event in benchmark.events:
        for item in event.tuples:
            sent[vendor, item.attribute] = sent.get((vendor, item.attribute), 0) + 1
    gain: dict[tuple[str, str], float] = {}
    for each, unsure in zip(listed, doubt.tolist(), strict=True):
        key = (each.vendor, each.term.text)
        gain[key] = max(gain.get(key, 0.0), unsure * sent.get(key, 0))
    return sorted(gain, key=lambda key: (-gain[key], key))


def _confirmed(benchmark: Benchmark, known: set[tuple[str, str]]) -> Benchmark:
    """The benchmark with confirmed attributes under the names of what they denote."""
    gold = dict(benchmark.gold)

    def said(sent: VendorEvent) -> VendorEvent:
        tuples = []
        for item in sent.event.tuples:
            label = benchmark.gold.get((sent.vendor, item.attribute))
            if label is not None and (sent.vendor, item.attribute) in known and label.label != OTHER:
                item = msgspec.structs.replace(item, attribute=label.label.replace("_", " "))
                gold[sent.vendor, item.attribute] = label
            tuples.append(item)
        return VendorEvent(sent.vendor, Event(tuple(tuples), sent.event.themes, sent.event.id))

    events = tuple(map(said, benchmark.events))
    return benchmark._replace(events=events, gold=gold)

"""The project's own benchmark: does a plain phrase find what a hundred vendors call the thing?

Events are decoded example messages of devices; gold labels say which phenomenon each vendor's attribute
denotes, and its unit; phrases are natural ways to ask for a phenomenon. Two tasks:

- ranking: for each phrase all vendors' attributes in order of relatedness: mean maximal F1, mean average precision;
- decisions: the default matcher at its default threshold on `{phrase~ exists}` and on numeric conditions with
  a unit, event by event: precision, recall, F1; also the mean F1 over vendors, and F1 on distinct events alone, since
  one maker with many examples of one message must not be the figure.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from likewise.errors import ArtefactMissing, FormatError, InvalidEvent
from likewise.matching.reference.terms import event_attribute_terms
from likewise.model import Condition, Event, EventTuple, Predicate, Quantity, Subscription, event, find_unit, unit
from likewise.semantics.measure import Measure, Term
from likewise_experiments.ranking import average_precision, maximal_f1

LABELS = Path(__file__).with_name("labels.tsv")  # what makers' names denote: labels of this project
PHRASES = Path(__file__).with_name("phrases.tsv")
HELD_OUT = 3  # one vendor and one phrase in so many is set aside for testing


class Gold(NamedTuple):
    """What one vendor's attribute denotes."""

    label: str
    unit: str


class Phrase(NamedTuple):
    """One way to ask for a phenomenon."""

    phenomenon: str
    text: str


class VendorEvent(NamedTuple):
    """An example message and who made the device."""

    vendor: str
    event: Event


class Benchmark(NamedTuple):
    """Everything read, before any vendor is set aside."""

    events: tuple[VendorEvent, ...]
    gold: dict[tuple[str, str], Gold]
    phrases: tuple[Phrase, ...]

    def part(self, vendors: Iterable[str], phrases: Iterable[Phrase] | None = None) -> Benchmark:
        """The same with some vendors, and some phrases, only."""
        chosen = set(vendors)
        return Benchmark(
            tuple(e for e in self.events if e.vendor in chosen),
            {key: gold for key, gold in self.gold.items() if key[0] in chosen},
            self.phrases if phrases is None else tuple(phrases),
        )

    def vendors(self) -> list[str]:
        """Every vendor with labels, in order of name."""
        return sorted({vendor for vendor, _ in self.gold})


def is_held_out(name: str) -> bool:
    """Whether a vendor or a phrase is set aside for testing: one in three, by a hash of its name alone.

    >>> [is_held_out(name) for name in ("adeunis", "dragino", "milesight-iot", "air temperature")]
    [False, True, False, False]
    """
    return hashlib.sha256(name.encode()).digest()[0] % HELD_OUT == 0


def read_benchmark(events: Path | None = None, gold: Path = LABELS, subscriptions: Path = PHRASES) -> Benchmark:
    """Read the three files; a missing or malformed one is named.

    Without `events` there is one event for each vendor that has every labelled name with a value of its kind: enough
    to rank names, and too little to decide about messages.
    """
    for path in (events, gold, subscriptions):
        if path is not None and not path.is_file():
            raise ArtefactMissing(
                f"there is no file {path}; name the benchmark's events, gold labels and subscriptions"
            )
    labels = {
        (row["vendor"], row["path"]): Gold(row["label"], row["unit"])
        for row in _rows(gold, "vendor", "path", "label", "unit")
    }
    phrases = tuple(
        Phrase(row["phenomenon"], row["subscription"]) for row in _rows(subscriptions, "phenomenon", "subscription")
    )
    if events is None:
        return Benchmark(tuple(_named(gold)), labels, phrases)
    read = []
    with gzip.open(events, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            raw = json.loads(line)
            if not isinstance(raw, dict) or not isinstance(raw.get("data"), dict):
                raise FormatError(f"{events}, line {number}: expected an object with `vendor` and `data`")
            try:
                sent = event(raw["data"], id=str(raw.get("id", number)))
            except InvalidEvent:  # an example without a single reading says nothing to anybody
                continue
            read.append(VendorEvent(str(raw.get("vendor", "")), sent))
    return Benchmark(tuple(read), labels, phrases)


def _named(gold: Path) -> Iterator[VendorEvent]:
    """The labelled names of each vendor as an event, with values that say no more than their kind."""
    values: dict[str, str | int | bool] = {"number": 1, "boolean": True}
    tuples: dict[str, list[EventTuple]] = {}
    for row in _rows(gold, "vendor", "path", "kind"):
        tuples.setdefault(row["vendor"], []).append(EventTuple(row["path"], values.get(row["kind"], "text")))
    for vendor, items in tuples.items():
        yield VendorEvent(vendor, Event(tuple(items), id=vendor))


def _rows(path: Path, *needed: str) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    if not rows or not set(needed) <= rows[0].keys():
        raise FormatError(f"{path}: expected tab-separated columns {', '.join(needed)}")
    return rows


class Attribute(NamedTuple):
    """One vendor's attribute as the matcher sees it, and what it denotes."""

    vendor: str
    term: Term
    gold: Gold


def attributes(benchmark: Benchmark) -> list[Attribute]:
    """Every labelled attribute once for each vendor, with the kind, unit and context of its first reading."""
    found: dict[tuple[str, str], Attribute] = {}
    for vendor, sent in benchmark.events:
        for term in event_attribute_terms(sent):
            key = (vendor, term.text)
            if key in benchmark.gold and key not in found:
                found[key] = Attribute(vendor, term, benchmark.gold[key])
    return list(found.values())


class Ranking(msgspec.Struct, frozen=True):
    """How well phrases rank attributes."""

    maximal_f1: float
    average_precision: float
    phrases: int
    attributes: int
    by_phrase: dict[str, float]
    by_vendor: dict[str, float]


def rank(benchmark: Benchmark, measure: Measure) -> Ranking:
    """Rank every labelled attribute for every phrase; phrases without a relevant attribute are left out."""
    listed = attributes(benchmark)
    asked = [Term(phrase.text) for phrase in benchmark.phrases]
    matrix = measure.matrix(asked, [a.term for a in listed]).astype(np.float64)
    labels = np.array([a.gold.label for a in listed])
    vendors = np.array([a.vendor for a in listed])
    f1, precision, by_vendor = {}, [], {}
    for phrase, scores in zip(benchmark.phrases, matrix, strict=True):
        relevant = labels == phrase.phenomenon
        if relevant.any():
            f1[phrase.text] = maximal_f1(scores, relevant)
            precision.append(average_precision(scores, relevant))
    for vendor in benchmark.vendors():
        mine = vendors == vendor
        scored = [
            maximal_f1(scores[mine], labels[mine] == phrase.phenomenon)
            for phrase, scores in zip(benchmark.phrases, matrix, strict=True)
            if (labels[mine] == phrase.phenomenon).any()
        ]
        if scored:
            by_vendor[vendor] = float(np.mean(scored))
    return Ranking(float(np.mean(list(f1.values()))), float(np.mean(precision)), len(f1), len(listed), f1, by_vendor)


class Decisions(msgspec.Struct, frozen=True):
    """How often the matcher was right about (phrase, event) pairs.

    `by_vendor` is the mean of every vendor's own F1, `distinct` the F1 on distinct events: those of one vendor with the
    same attributes, units and kinds of values count once.
    """

    precision: float
    recall: float
    f1: float
    right: int
    wrong: int
    missed: int
    by_vendor: float = 0.0
    distinct: float = 0.0


def decide(benchmark: Benchmark, measure: Measure, threshold: float, *, numeric: bool) -> Decisions:
    """The matcher's answers at a threshold, for every phrase and event.

    `exists`: an event is relevant if it has an attribute that denotes the phenomenon. Numeric: the condition is
    `phrase~ >= v unit` with v and unit the median labelled reading of the phenomenon, and an event is relevant
    if one of its labelled readings, in its labelled unit, meets it.
    """
    from likewise.matching.thematic.engine import ThematicEngine

    engine = ThematicEngine(measure, threshold)
    wanted: dict[int, tuple[Phrase, Quantity | None]] = {}
    bounds = _median_readings(benchmark) if numeric else {}
    for number, phrase in enumerate(benchmark.phrases):
        bound = bounds.get(phrase.phenomenon)
        if numeric and bound is None:
            continue
        asked = Predicate(phrase.text, ">=" if numeric else "exists", bound, attribute_relaxed=True)
        engine.add(number, Subscription(Condition((asked,)), str(number)), 0)
        wanted[number] = (phrase, bound)
    found = engine.match_batch([e.event for e in benchmark.events], [0] * len(benchmark.events))
    said = set(zip(found.event_index.tolist(), found.ordinals.tolist(), strict=True))
    true = {
        (index, number)
        for index, sent in enumerate(benchmark.events)
        for number, (phrase, bound) in wanted.items()
        if _is_relevant(benchmark, sent, phrase, bound)
    }
    right, wrong, missed = len(said & true), len(said - true), len(true - said)
    precision, recall = right / max(1, right + wrong), right / max(1, right + missed)
    of_vendor: dict[str, set[int]] = {}
    firsts: dict[tuple[str, frozenset[Term]], int] = {}
    for index, sent in enumerate(benchmark.events):
        of_vendor.setdefault(sent.vendor, set()).add(index)
        firsts.setdefault((sent.vendor, frozenset(event_attribute_terms(sent.event))), index)
    asked_of = [chosen for chosen in of_vendor.values() if any(index in chosen for index, _ in true)]
    vendors = [_f1(said, true, chosen) for chosen in asked_of]
    return Decisions(
        precision,
        recall,
        _f1(said, true),
        right,
        wrong,
        missed,
        by_vendor=float(np.mean(vendors)) if vendors else 0.0,
        distinct=_f1(said, true, set(firsts.values())),
    )


def _f1(said: set[tuple[int, int]], true: set[tuple[int, int]], events: set[int] | None = None) -> float:
    """The F1 of what was said about some events, or about all."""
    if events is not None:
        said, true = ({pair for pair in pairs if pair[0] in events} for pairs in (said, true))
    right = len(said & true)
    return 2 * right / (len(said) + len(true)) if right else 0.0


def _readings(benchmark: Benchmark, sent: VendorEvent, phenomenon: str) -> Iterable[tuple[float, str]]:
    """The readings of an event that denote a phenomenon, each in its labelled unit ('' if that is no unit of ours)."""
    for item in sent.event.tuples:
        gold = benchmark.gold.get((sent.vendor, item.attribute))
        reading = item.reading()
        if gold is not None and gold.label == phenomenon and reading is not None:
            known = find_unit(gold.unit)
            yield reading[0], "" if known is None else known.symbol


def _median_readings(benchmark: Benchmark) -> dict[str, Quantity]:
    """For each phenomenon the median of its labelled readings, in the unit most of them are in."""
    found: dict[str, Quantity] = {}
    for phenomenon in {phrase.phenomenon for phrase in benchmark.phrases}:
        readings = [r for sent in benchmark.events for r in _readings(benchmark, sent, phenomenon) if r[1]]
        if readings:
            symbols = [symbol for _, symbol in readings]
            usual = unit(max(sorted(set(symbols)), key=symbols.count))
            fitting = [unit(s).to_base(v) for v, s in readings if unit(s).dimension == usual.dimension]
            found[phenomenon] = Quantity(usual.from_base(float(np.median(fitting))), usual.symbol)
    return found


def _is_relevant(benchmark: Benchmark, sent: VendorEvent, phrase: Phrase, bound: Quantity | None) -> bool:
    if bound is None:
        return any(
            (gold := benchmark.gold.get((sent.vendor, item.attribute))) is not None and gold.label == phrase.phenomenon
            for item in sent.event.tuples
        )
    dimension, least = unit(bound.unit).dimension, bound.base()
    return any(
        symbol and unit(symbol).dimension == dimension and unit(symbol).to_base(value) >= least
        for value, symbol in _readings(benchmark, sent, phrase.phenomenon)
    )

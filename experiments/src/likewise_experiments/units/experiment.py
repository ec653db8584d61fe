"""Every engine against the yardstick: one by one, in batches, and through Arrow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.model import Condition, Event, Interval, Node, Not, Predicate, Quantity, Subscription, TimestampValue
from likewise.model.timestamps import MOMENT
from likewise.model.values import read_number
from likewise_experiments.units.cases import GROUPS, Round, draw
from likewise_experiments.units.yardstick import Question, answers

if TYPE_CHECKING:
    from likewise.matching.engine import BaseEngine

QUESTIONS: Final = 100
EVENTS: Final = 100
MOST_SHOWN: Final = 20


class Difference(msgspec.Struct, frozen=True):
    """One answer that is not the yardstick's."""

    engine: str
    way: str
    subscription: str
    readings: str
    expected: bool


class UnitsResult(msgspec.Struct, frozen=True):
    """How many comparisons each engine made in each way, and how many went wrong."""

    seed: int
    comparisons: int
    groups: dict[str, int]
    engines: dict[str, int]
    met: int
    differences: int
    examples: tuple[Difference, ...]
    seconds: float
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    machine: dict[str, str] = msgspec.field(default_factory=dict)


def evaluate_units(comparisons: int, seed: int = 1, progress: Callable[[int, int], None] | None = None) -> UnitsResult:
    """At least so many comparisons of a reading with a question, put to every engine in every way."""
    begun = time.perf_counter()
    chance = Random(seed)
    done, met, wrong = 0, 0, 0
    groups: dict[str, int] = dict.fromkeys(GROUPS, 0)
    counted: dict[str, int] = {}
    examples: list[Difference] = []
    while done < comparisons:
        group = GROUPS[sum(groups.values()) // (QUESTIONS * EVENTS) % len(GROUPS)]
        made = draw(group, QUESTIONS, EVENTS, chance)
        asked = [(question, subscription_of(question, f"s{n}")) for n, question in enumerate(made.questions)]
        kept = [(question, subscription) for question, subscription in asked if subscription is not None]
        expected = [[answers(question, readings) for question, _ in kept] for readings in made.answers]
        met += sum(map(sum, expected))
        for engine, way, found in _asked_all([s for _, s in kept], made.events):
            name = f"{engine}, {way}"
            counted[name] = counted.get(name, 0) + len(kept) * len(made.events)
            for event, (right, said) in enumerate(zip(expected, found, strict=True)):
                for place in (p for p, truth in enumerate(right) if truth is not (p in said)):
                    wrong += 1
                    if len(examples) < MOST_SHOWN:
                        examples.append(_difference(engine, way, kept[place][1], made, event, right[place]))
        groups[group] += QUESTIONS * EVENTS
        done += len(kept) * len(made.events)
        if progress is not None:
            progress(min(done, comparisons), comparisons)
    seconds = round(time.perf_counter() - begun, 2)
    return UnitsResult(seed, done, groups, counted, met, wrong, tuple(examples), seconds)


def subscription_of(question: Question, id: str) -> Subscription | None:
    """The question as a subscription; None for a range that nothing can lie in.

    >>> str(subscription_of(Question(">", ("25",), "degC", negated=True), "s"))
    '{not x > 25 degC}'
    """
    values = [_value(bound, question) for bound in question.bounds]
    predicate: Predicate
    if question.operator == "between":
        low, high = values
        if isinstance(low, TimestampValue) and isinstance(high, TimestampValue):
            first, last = low.span.first, high.span.last
            if first > last:
                return None
            predicate = Predicate("x", "between", Interval(first, last, unit=MOMENT))
        else:
            ends = [end.value if isinstance(end, Quantity) else end for end in values]
            assert all(isinstance(end, (int, float)) for end in ends)
            predicate = Predicate("x", "between", Interval(ends[0], ends[1], unit=question.unit))  # type: ignore[arg-type]
    elif question.operator == "in":
        predicate = Predicate("x", "in", tuple(values))
    else:
        predicate = Predicate("x", question.operator, values[0])  # type: ignore[arg-type]
    node: Node = Not(predicate) if question.negated else predicate
    return Subscription(Condition((node,)), id)


def _value(bound: str, question: Question) -> float | Quantity | TimestampValue:
    if question.time:
        return TimestampValue(bound)
    found = read_number(bound)
    assert isinstance(found, (int, float))
    return Quantity(found, question.unit) if question.unit else found


def _asked_all(
    subscriptions: Sequence[Subscription], events: list[Event]
) -> Iterator[tuple[str, str, list[frozenset[int]]]]:
    """What every engine says in every way: for each event the places of the subscriptions it meets."""
    from likewise.formats.arrow.event_batch import EventBatch

    batch = EventBatch.from_events(events)
    ways: dict[str, Sequence[Event]] = {
        "batch": events,
        "columns": batch,
        "Arrow": EventBatch.from_ipc(batch.to_ipc()),
    }
    for name, engine in _engines():
        for place, subscription in enumerate(subscriptions):
            engine.add(place, subscription, 0)
        yield name, "one by one", [frozenset(engine.find(event, 0).ordinals.tolist()) for event in events]
        for way, given in ways.items():
            found = engine.match_batch(given, [0] * len(events))
            ends = found.counts.cumsum().tolist()
            starts = [0, *ends[:-1]]
            said = found.ordinals.tolist()
            yield name, way, [frozenset(said[a:b]) for a, b in zip(starts, ends, strict=True)]


def _engines() -> Iterator[tuple[str, BaseEngine]]:
    from likewise.matching.bitmap.engine import BitmapEngine
    from likewise.matching.classical.sgim import SgimEngine
    from likewise.matching.forest.engine import ForestEngine
    from likewise.matching.oracle.engine import OracleEngine
    from likewise.matching.thematic.engine import ThematicEngine

    for name, make in (
        ("naive", OracleEngine),
        ("bitmap", BitmapEngine),
        ("forest", ForestEngine),
        ("sgim", SgimEngine),
        ("thematic", ThematicEngine),
    ):
        yield name, make()


def _difference(
    engine: str, way: str, subscription: Subscription, made: Round, event: int, expected: bool
) -> Difference:
    readings = ", ".join(f"{t.value} {t.unit}".strip() for t in made.events[event].tuples)
    from likewise.language import subscription_text

    return Difference(engine, way, subscription_text(subscription), readings, expected)

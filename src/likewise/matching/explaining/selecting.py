"""What `select` names of a match, whatever the sender called it and in whatever unit (docs/language.md).

A selected attribute that equals a predicate's is the reading that met it; another is the best related one at the
threshold. What cannot be brought to the unit asked for is null, with a note that says why, never a number.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from likewise.errors import LikewiseError
from likewise.matching.plain.needed import Needed
from likewise.matching.plain.similarity import SeenEvent
from likewise.matching.plain.terms import asked_attribute, theme_of
from likewise.model.alerts.clauses import Column
from likewise.model.event import Event, EventTuple
from likewise.model.explanation import Explanation
from likewise.model.predicate import Predicate
from likewise.model.subscription import Condition, Subscription
from likewise.model.text import attribute_names, fold
from likewise.model.units import reading_unit, unit
from likewise.semantics.measure import Measure


class Selected(msgspec.Struct, frozen=True, omit_defaults=True):
    """Values by their names, and notes on those that are null or took a unit for granted."""

    values: dict[str, object]
    notes: dict[str, str] = {}


def selected(
    event: Event, subscription: Subscription, explained: Explanation, measure: Measure | None, threshold: float
) -> Selected:
    """What `select` names of an event that met a subscription, or that an alert names; `explained` says by what.

    >>> from likewise.language import parse
    >>> from likewise.matching.explaining.explain import explain
    >>> from likewise.model import event
    >>> warm = parse("{t > 25 degC} select (t in degC, @source as device, city)", id="warm")
    >>> said = event({"t": {"value": 81.5, "unit": "degF"}}, source="s1")
    >>> selected(said, warm, explain(said, warm), None, 0.5)
    Selected(values={'t': 27.5, 'device': 's1', 'city': None}, notes={'city': 'the event has no `city`'})
    """
    values: dict[str, object] = {}
    notes: dict[str, str] = {}
    for column in subscription.select:
        value, note = _column(column, event, subscription, explained, measure, threshold)
        values[column.label] = value
        if note:
            notes[column.label] = note
    return Selected(values, notes)


def _column(
    column: Column, event: Event, subscription: Subscription, explained: Explanation, measure: Measure | None,
    threshold: float,
) -> tuple[object, str]:  # fmt: skip
    match column.fact:
        case None:
            pass
        case "source":
            return event.source, ""
        case "id":
            return event.id, ""
        case "time":
            return event.time, ""
        case "score":
            return round(explained.score, 6), ""
        case "probability":
            return 1.0 if explained.probability is None else round(explained.probability, 6), ""
        case "subscription":
            return subscription.id, ""
        case "payload":
            return payload_of(event), ""
    place = _met_by(column, explained, event)
    if place is None:
        place = _best(column, event, subscription, measure, threshold)
    if place is None:
        return None, f"the event has no `{column.attribute}`"
    return _in_unit(event.tuples[place], column.unit)


def _met_by(column: Column, explained: Explanation, event: Event) -> int | None:
    """The reading that met a predicate on this very attribute."""
    wanted = fold(column.attribute)
    for report in explained.predicates:
        if report.tuple is None or report.negated or report.tuple >= len(event.tuples):
            continue
        if report.verdict in ("match", "exact_part_false") and _asked(report.text) == wanted:
            return report.tuple
    return None


@lru_cache(maxsize=4_096)
def _asked(text: str) -> str:
    """The attribute, folded, that a part of a condition asks for, as it is printed."""
    from likewise.language import parse

    try:
        body = parse(f"{{{text}}}").body
    except LikewiseError:  # what an alert adds is no part of a condition
        return ""
    found = [*body.predicates()] if isinstance(body, Condition) else []
    return fold(found[0].attribute) if len(found) == 1 else ""


def _best(
    column: Column, event: Event, subscription: Subscription, measure: Measure | None, threshold: float
) -> int | None:
    wanted = fold(column.attribute)
    exact = [i for i, item in enumerate(event.tuples) if wanted in attribute_names(item.attribute)]
    if exact or not column.relaxed:
        return exact[0] if exact else None
    level = threshold if subscription.threshold is None else subscription.threshold
    asked = asked_attribute(Predicate(column.attribute, "exists", None, True), theme_of(subscription.themes))
    related = SeenEvent(event, measure).related(asked)
    best = max(range(len(related)), key=lambda i: related[i], default=None)
    return best if best is not None and related[best] >= Needed.at(level).score else None


def _in_unit(item: EventTuple, symbol: str) -> tuple[object, str]:
    if not symbol:
        return item.value, ""
    reading = item.reading()
    if reading is None:
        return None, f"`{item.attribute}` is no number: {item.value}"
    asked = unit(symbol)
    found = reading_unit(item.attribute, reading[1], asked)
    if found is None:
        return reading[0], f"`{item.attribute}` states no unit; taken in {symbol}"
    if found.dimension != asked.dimension:
        return None, f"`{item.attribute}` is in {found.symbol}, which cannot be brought to {symbol}"
    return float(f"{found.to(asked, reading[0]):.12g}"), ""


def payload_of(event: Event) -> dict[str, object]:
    """The attributes of an event and their values; the values of one that is repeated in a list.

    >>> from likewise.model import event
    >>> payload_of(event({"room": {"temp": 21.5}, "tags": ["a", "b"]}))
    {'room.temp': 21.5, 'tags[]': ['a', 'b']}
    """
    found: dict[str, list[object]] = {}
    for item in event.tuples:
        found.setdefault(item.attribute, []).append(item.value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}

"""The values that `select` names of a match, whatever the sender called it and in whatever unit (docs/language.md).

A selected attribute that equals a predicate's is the reading that met it; another is the best related one at the
threshold. A reading that states no unit is in the one that the condition names for it, else in the selected one. What
cannot be brought to the unit asked for is null, with a note that says why, never a number.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from likewise.errors import LikewiseError
from likewise.formats.payload import content_of
from likewise.matching.reference.event_view import EventView
from likewise.matching.reference.list_items import item_row, list_items
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.terms import predicate_attribute_term, theme_of
from likewise.model.alerts.clauses import Fact, SelectColumn
from likewise.model.condition import Node, Some
from likewise.model.event import Event, EventTuple
from likewise.model.explanation import Explanation
from likewise.model.predicate import Predicate
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Condition, Subscription
from likewise.model.text import attribute_names, fold
from likewise.model.timestamps import MOMENT
from likewise.model.values import Interval, Quantity
from likewise.semantics.concepts.customary import in_customary_unit
from likewise.semantics.measure import Measure
from likewise.units import reading_unit, unit


class Selected(msgspec.Struct, frozen=True, omit_defaults=True):
    """Values by their names, notes on those that are null or took a unit for granted, and the units asked for."""

    values: dict[str, object]
    notes: dict[str, str] = {}
    units: dict[str, str] = {}


def selected(
    event: Event,
    subscription: Subscription,
    explained: Explanation,
    measure: Measure | None,
    threshold: float,
    *,
    score: float | None = None,
    payload: object = None,
    curve: ProbabilityCurve = AS_SCORED,
) -> Selected:
    """Return what `select` names of an event that met a subscription, or that an alert names; `explained` says by what.

    `score` is that of the delivery, if there is one, and `payload` what was sent, where the event says more by now.
    What is less probable by `curve` than the subscription's `confidence` is null.

    >>> from likewise.language import parse
    >>> from likewise.matching.explain.explain import explain
    >>> from likewise.model import event
    >>> warm = parse("{t > 25 degC} select (t in degC, @source as device, city)", id="warm")
    >>> said = event({"t": {"value": 81.5, "unit": "degF"}}, source="s1")
    >>> found = selected(said, warm, explain(said, warm), None, 0.5)
    >>> found.values, found.notes, found.units
    ({'t': 27.5, 'device': 's1', 'city': None}, {'city': 'the event has no `city`'}, {'t': 'degC'})
    """
    values: dict[str, object] = {}
    notes: dict[str, str] = {}
    units: dict[str, str] = {}
    for column in subscription.select:
        if column.fact is not None:
            value, note = _fact(column.fact, event, subscription, explained, score, payload), ""
        else:
            value, note = _column(column, event, subscription, explained, measure, threshold, curve)
        values[column.label] = value
        if note:
            notes[column.label] = note
        if column.unit and value is not None:
            units[column.label] = column.unit
    return Selected(values, notes, units)


def needs_measure(subscription: Subscription) -> bool:
    """Return whether something that is selected is found by its meaning."""
    body = subscription.body
    columns = subscription.select
    return any(each.relaxed for each in columns) or (isinstance(body, Condition) and body.is_relaxed())


def names_payload(subscription: Subscription) -> bool:
    """Return whether `select` names what was sent as a whole."""
    return any(column.fact == "payload" for column in subscription.select)


def _fact(
    fact: Fact, event: Event, subscription: Subscription, explained: Explanation, score: float | None, payload: object
) -> object:
    match fact:
        case "source":
            return event.source
        case "id":
            return event.id
        case "time":
            return event.time
        case "score":
            return round(explained.score if score is None else score, 6)
        case "probability":
            return 1.0 if explained.probability is None else round(explained.probability, 6)
        case "subscription":
            return subscription.id
        case "payload":
            return payload_sent(event) if payload is None else payload


def _column(
    column: SelectColumn,
    event: Event,
    subscription: Subscription,
    explained: Explanation,
    measure: Measure | None,
    threshold: float,
    curve: ProbabilityCurve,
) -> tuple[object, str]:
    view = EventView(event, measure)
    place, symbol = _matching_reading(column, subscription, explained, view)
    if place is None:
        place, probability = _best(column, subscription, view, threshold, curve)
        if place is not None and probability < (subscription.confidence or 0.0):
            return None, (
                f"`{event.tuples[place].attribute}` is `{column.attribute}` with a probability of {probability:.2f}, "
                f"below the confidence of {subscription.confidence:g}"
            )
    if place is None:
        return None, f"the event has no `{column.attribute}`"
    stated = symbol or _named_unit(column, subscription, explained, place)
    item = event.tuples[place]
    if column.unit and (taken := _customary(column, subscription, explained, item, place)) is not None:
        value, note = reading_in_unit(taken, column.unit)
        return value, note or f"`{item.attribute}` states no unit; taken in {taken.unit}, as is customary"
    return reading_in_unit(item, column.unit, stated)


def _customary(
    column: SelectColumn, subscription: Subscription, explained: Explanation, item: EventTuple, position: int
) -> EventTuple | None:
    """Return a bare number in the unit that matching took it in, where it was found by its meaning; else None."""
    asked = [Predicate(column.attribute, "=", Quantity(0.0, column.unit), attribute_relaxed=column.relaxed)]
    for report in explained.predicates:
        if report.tuple == position and not report.negated:
            asked = [part for part in parts_of_report(report.text) if isinstance(part, Predicate)] + asked
    for predicate in asked:
        if predicate.unit and predicate.attribute_relaxed:
            taken = in_customary_unit(predicate, item)
            return taken if taken is not item else None
    return None


def _matching_reading(
    column: SelectColumn, subscription: Subscription, explained: Explanation, view: EventView
) -> tuple[int | None, str]:
    """The reading that met a predicate on this very attribute, also one inside `some`, and the unit it was taken in."""
    folded = fold(column.attribute)
    for report in explained.predicates:
        if report.tuple is None or report.negated or report.tuple >= len(view.tuples):
            continue
        if report.verdict not in ("match", "exact_part_false"):
            continue
        for part in parts_of_report(report.text):
            if isinstance(part, Predicate) and fold(part.attribute) == folded:
                return report.tuple, _unit_of(part)
            if isinstance(part, Some):
                reading = _matching_item_reading(part, folded, report.tuple, view, theme_of(subscription.themes))
                if reading is not None:
                    return reading
    return None, ""


def _matching_item_reading(
    part: Some, name: str, first: int, view: EventView, theme: tuple[str, ...]
) -> tuple[int, str] | None:
    """The reading of a list's item, known by its first tuple, that meets what `some` asks of an attribute."""
    list_name = fold(part.attribute)
    item = next((each for each in list_items(view.tuples) if each.places[0] == first), None)
    if item is None:
        return None
    for predicate in part.items:
        if not isinstance(predicate, Predicate):
            continue
        inside = fold(predicate.attribute)
        if name not in (inside, f"{list_name}[].{inside}", f"{list_name}.{inside}"):
            continue
        similarity = item_row(predicate, item, view, theme).similarity
        best = max(range(len(similarity)), key=similarity.__getitem__)
        if similarity[best] > 0:
            return item.places[best], _unit_of(predicate)
    return None


def _named_unit(column: SelectColumn, subscription: Subscription, explained: Explanation, place: int) -> str:
    """The unit in which the subscription takes a reading that states none: the one its predicates name, '' if none."""
    folded = fold(column.attribute)
    for report in explained.predicates:
        if report.tuple == place and not report.negated:
            for part in parts_of_report(report.text):
                if isinstance(part, Predicate) and (symbol := _unit_of(part)):
                    return symbol
    if not isinstance(subscription.body, Condition):
        return ""
    units = (_unit_of(each) for each in subscription.body.predicates() if fold(each.attribute) == folded)
    return next(filter(None, units), "")


def _unit_of(predicate: Predicate) -> str:
    """The unit a predicate names, '' if none."""
    value = predicate.value
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, Interval | Quantity) and each.unit and each.unit != MOMENT:
            return each.unit
    return ""


@lru_cache(maxsize=4_096)
def parts_of_report(text: str) -> tuple[Node, ...]:
    """Return the items of a part of a condition from its printed text; none if it is no part of one.

    >>> [type(part).__name__ for part in parts_of_report("t > 25 degC")]
    ['Predicate']
    """
    from likewise.language import parse

    try:
        body = parse(f"{{{text}}}").body
    except LikewiseError:  # what an alert adds is no part of a condition
        return ()
    return body.items if isinstance(body, Condition) else ()


def _best(
    column: SelectColumn, subscription: Subscription, view: EventView, threshold: float, curve: ProbabilityCurve
) -> tuple[int | None, float]:
    """Return the place of the best reading at the threshold, and how probable it is that it is meant."""
    folded = fold(column.attribute)
    exact = [i for i, item in enumerate(view.tuples) if folded in attribute_names(item.attribute)]
    if exact or not column.relaxed:
        return (exact[0] if exact else None), 1.0
    level = threshold if subscription.threshold is None else subscription.threshold
    term = predicate_attribute_term(Predicate(column.attribute, "exists", None, True), theme_of(subscription.themes))
    related = view.related(term)
    best = max(range(len(related)), key=lambda i: related[i], default=None)
    if best is None or related[best] < MatchThreshold.at(level).score:
        return None, 0.0
    return best, curve.of(float(related[best]))


def reading_in_unit(item: EventTuple, symbol: str, named: str = "") -> tuple[object, str]:
    """Return a reading in a unit, with a note on what was taken for granted or why it has no value there.

    Args:
        item: The reading.
        symbol: Unit of the result, '' to take the value as it is.
        named: Unit in which a reading without a unit is taken, '' for the unit of the result.

    >>> reading_in_unit(EventTuple("air_temp_f", 68), "degC")
    (20.0, '')
    """
    if not symbol:
        return item.value, ""
    reading = item.reading()
    if reading is None:
        return None, f"`{item.attribute}` is no number: {item.value}"
    target, note = unit(symbol), ""
    taken_unit = reading_unit(item.attribute, reading[1], unit(named) if named else target)
    if taken_unit is None:
        note = f"`{item.attribute}` states no unit; taken in {named or symbol}"
        taken_unit = unit(named) if named else target
    if taken_unit.dimension != target.dimension:
        return None, f"`{item.attribute}` is in {taken_unit.symbol}, which cannot be brought to {symbol}"
    return reading[0] if taken_unit == target else float(f"{taken_unit.to(target, reading[0]):.12g}"), note


def payload_sent(event: Event) -> dict[str, object]:
    """Return the payload with its structure and units; flat, by attribute, where no object says the same as the event.

    >>> from likewise.model import event
    >>> payload_sent(event({"room": {"temp": {"value": 21.5, "unit": "degC"}}, "tags": ["a", "b"]}))
    {'room': {'temp': {'value': 21.5, 'unit': 'degC'}}, 'tags': ['a', 'b']}
    """
    if (whole := content_of(event)) is not None:
        return whole
    fields: dict[str, list[object]] = {}
    for item in event.tuples:
        value = {"value": item.value, "unit": item.unit} if item.unit else item.value
        fields.setdefault(item.attribute, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}

"""A subscription as a form, where a form can say it."""

from __future__ import annotations

from msgspec.structs import replace

from likewise.dashboard.forms.form import (
    COMPARISONS,
    LATITUDES,
    LONGITUDES,
    PLACES,
    PlaceCondition,
    ReadingCondition,
    SubscriptionForm,
)
from likewise.dashboard.forms.to_text import form_to_text
from likewise.errors import InputError, LikewiseError
from likewise.language import parse, value_text
from likewise.language.printer import alert_text, term
from likewise.language.rdf_terms import quote
from likewise.model import Condition, Interval, Predicate, Quantity, Subscription
from likewise.model.alerts.clauses import Alert
from likewise.model.timestamps import MOMENT


class UnsupportedByForm(InputError):
    """A form has no field for this; the message says for what."""


def form_from_subscription(subscription: Subscription) -> SubscriptionForm:
    """Return the form that expresses a subscription.

    >>> from likewise.language import parse
    >>> form = form_from_subscription(parse("{temperature~ > 25 degC, city = Galway} at most every 1 h"))
    >>> form.readings[0].unit, form.place.name, form.repeating, form.repeating_span
    ('degC', 'Galway', 'every', '1 h')
    >>> form_from_subscription(parse("{no2 exists} top 3 by value(no2)"))
    Traceback (most recent call last):
    likewise.dashboard.forms.from_subscription.UnsupportedByForm: a ranking
    """
    form = _read(subscription)
    try:
        again = parse(form_to_text(form), id=subscription.id)
    except LikewiseError as error:
        raise UnsupportedByForm("a value that only quotes and signs of the language can say") from error
    if again != subscription:
        raise UnsupportedByForm("a value that only quotes and signs of the language can say")
    return form


def _read(subscription: Subscription) -> SubscriptionForm:
    for what, clause in (
        ("a ranking", subscription.top),
        ("a threshold of its own", subscription.threshold),
        ("a confidence", subscription.confidence),
        ("a choice of what is sent", subscription.select),
        ("one source of several", subscription.from_one_source),
    ):
        if clause not in (None, (), False):
            raise UnsupportedByForm(what)
    if not isinstance(subscription.body, Condition):
        raise UnsupportedByForm("statements, graph patterns and vectors")
    items = list(subscription.body.items)
    predicates = [item for item in items if isinstance(item, Predicate)]
    if len(predicates) < len(items):
        raise UnsupportedByForm("“not”, “or” and “some”")
    place, rest = _place(predicates)
    form = SubscriptionForm(
        tuple(map(_reading, rest)),
        place,
        ", ".join(_list_item(tag) for tag in subscription.themes),
        valid_for="" if subscription.valid_for is None else _span(subscription.valid_for),
    )
    return form if subscription.alert is None else _with_alert(form, subscription.alert)


def _with_alert(form: SubscriptionForm, alert: Alert) -> SubscriptionForm:
    if isinstance(alert.once_until, tuple):
        raise UnsupportedByForm("a condition of its own that ends it")
    if alert.once_until is not None and alert.at_most_every is not None:
        raise UnsupportedByForm("“once” and “at most every” together")
    if alert.stale is not None:
        raise UnsupportedByForm("when a silent source blocks no other any more")
    fields: dict[str, str] = {"per": ", ".join(_list_item(name) for name in alert.per)}
    if alert.held_for is not None:
        fields |= {"trigger": "held", "trigger_span": _span(alert.held_for)}
    if alert.absent_for is not None:
        fields |= {"trigger": "absent", "trigger_span": _span(alert.absent_for)}
    if alert.once_until is not None:
        fields |= {"repeating": "once"}
    if alert.at_most_every is not None:
        fields |= {"repeating": "every", "repeating_span": _span(alert.at_most_every)}
    if alert.digest_every is not None:
        fields |= {"sending": "gathered", "sending_span": _span(alert.digest_every)}
    return replace(form, **fields)


def _place(items: list[Predicate]) -> tuple[PlaceCondition, list[Predicate]]:
    """Split off the place condition at the end of a condition."""
    if len(items) > 2 and _box(items[-2], LATITUDES) and _box(items[-1], LONGITUDES):
        latitude, longitude = items[-2:]
        (south, north), (west, east) = (_bounds(each.value) for each in (latitude, longitude))
        area = PlaceCondition(
            "area",
            south=south,
            north=north,
            west=west,
            east=east,
            latitude=latitude.attribute,
            longitude=longitude.attribute,
        )
        return area, items[:-2]
    last = items[-1]
    named = last.attribute.casefold() in PLACES and not last.attribute_relaxed
    if len(items) > 1 and named and last.operator == "=" and isinstance(last.value, str) and last.value:
        return PlaceCondition("named", last.attribute, value_text(last.value), last.value_relaxed), items[:-1]
    return PlaceCondition(), items


def _box(item: Predicate, names: tuple[str, ...]) -> bool:
    value = item.value
    closed = isinstance(value, Interval) and not (value.low_open or value.high_open or value.unit)
    return closed and item.attribute.casefold() in names and not item.attribute_relaxed


def _reading(item: Predicate) -> ReadingCondition:
    if item.operator not in COMPARISONS:
        raise UnsupportedByForm(f"“{item.operator}”")
    name = term(item.attribute)
    if item.value is None:
        return ReadingCondition(name, item.attribute_relaxed, item.operator)
    if isinstance(item.value, Interval):
        if item.value.low_open or item.value.high_open:
            raise UnsupportedByForm("a range without its ends")
        low, high = _bounds(item.value)
        unit = "" if item.value.unit == MOMENT else item.value.unit
        return ReadingCondition(name, item.attribute_relaxed, item.operator, low, high, unit)
    if isinstance(item.value, tuple):
        return ReadingCondition(name, item.attribute_relaxed, item.operator, value_text(item.value)[1:-1])
    if isinstance(item.value, Quantity):
        number = value_text(item.value).removesuffix(f" {item.value.unit}")
        return ReadingCondition(name, item.attribute_relaxed, item.operator, number, unit=item.value.unit)
    return ReadingCondition(
        name, item.attribute_relaxed, item.operator, value_text(item.value), value_alike=item.value_relaxed
    )


def _bounds(value: object) -> tuple[str, str]:
    assert isinstance(value, Interval)
    shown = value_text(value)
    if value.unit and value.unit != MOMENT:
        shown = shown.removesuffix(f" {value.unit}")
    low, _, high = shown.partition(" and ")
    return low, high


def _span(microseconds: int) -> str:
    return alert_text(Alert(held_for=microseconds)).removeprefix("for ")


def _list_item(name: str) -> str:
    """Return a name as an item of a list divided by commas."""
    if "," in name or name != name.strip():
        raise UnsupportedByForm("a name with a comma")
    return name if name.strip('"') == name else quote(name)

"""Does a tuple's value meet a predicate's operator? The one meaning of every operator.

The oracle calls this for each pair; indexed engines must agree with it and call it where they keep no
index. Attributes are not compared here.
"""

from __future__ import annotations

from enum import Enum

from likewise.model.axis_reading import axis_reading
from likewise.model.event import EventTuple
from likewise.model.hierarchies.topic_filters import filter_matches
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import Predicate
from likewise.model.text import fold, fold_part
from likewise.model.timestamps import TimestampValue
from likewise.model.values import Interval, Quantity


class OperatorOutcome(Enum):
    """How a value met an operator."""

    TRUE = "true"
    FALSE = "false"
    ASSUMED = "true, with the reading taken in the unit asked for"
    UNIT_MISMATCH = "the reading's unit measures something else"

    def __bool__(self) -> bool:
        return self is OperatorOutcome.TRUE or self is OperatorOutcome.ASSUMED


def meets(predicate: Predicate, item: EventTuple, types: Hierarchy = NO_TYPES) -> OperatorOutcome:
    """Whether the tuple's value meets the predicate's operator and value, exactly; `types` are those declared.

    >>> meets(Predicate("t", ">", Quantity(25.0, "degC")), EventTuple("air_temp_f", 81.2))
    <OperatorOutcome.TRUE: 'true'>
    >>> meets(Predicate("t", ">", Quantity(25.0, "degC")), EventTuple("t", 30, "kg"))
    <OperatorOutcome.UNIT_MISMATCH: "the reading's unit measures something else">
    """
    value = predicate.value
    match predicate.operator:
        case "exists":
            return OperatorOutcome.TRUE
        case "=":
            return _equals(value, item)
        case "!=":
            outcome = _equals(value, item)
            if outcome is OperatorOutcome.UNIT_MISMATCH:
                return outcome
            return OperatorOutcome.FALSE if outcome else OperatorOutcome.TRUE
        case "in":
            outcomes = [_equals(one, item) for one in value]  # type: ignore[union-attr]
            return next(
                (o for o in outcomes if o),
                OperatorOutcome.UNIT_MISMATCH if OperatorOutcome.UNIT_MISMATCH in outcomes else OperatorOutcome.FALSE,
            )
        case "contains" | "starts with" | "ends with" | "under" | "is-a" | "matches":
            if not isinstance(item.value, str):
                return OperatorOutcome.FALSE
            is_match = text_meets(predicate.operator, str(value), item.value)
            if not is_match and predicate.operator == "is-a" and types:
                is_match = any(text_meets("is-a", str(value), wider) for wider in types.wider(item.value))
            return OperatorOutcome.TRUE if is_match else OperatorOutcome.FALSE
        case _:
            interval = predicate.interval()
            return OperatorOutcome.FALSE if interval is None else _within(interval, item)


def _equals(value: object, item: EventTuple) -> OperatorOutcome:
    if isinstance(value, str):
        return (
            OperatorOutcome.TRUE
            if isinstance(item.value, str) and fold(item.value) == fold(value)
            else OperatorOutcome.FALSE
        )
    if isinstance(value, bool):
        observed = item.value
        if isinstance(observed, str):
            observed = {"true": True, "false": False}.get(fold(observed), "")
        return OperatorOutcome.TRUE if isinstance(observed, bool) and observed == value else OperatorOutcome.FALSE
    if isinstance(value, Quantity):
        return _within(Interval(value.value, value.value, unit=value.unit), item)
    if isinstance(value, TimestampValue):
        if isinstance(item.value, str) and fold(item.value) == fold(value.text):
            return OperatorOutcome.TRUE
        interval = Predicate(item.attribute, "=", value).interval()
        assert interval is not None  # a moment always has one
        return _within(interval, item)
    return _within(Interval(value, value), item)  # type: ignore[arg-type]


def text_meets(operator: str, operand: str, text: str) -> bool:
    """Whether a text meets a text operator.

    >>> text_meets("contains", "CAT", "a cat"), text_meets("under", "v1.", "v1"), text_meets("matches", "a/+", "A/b")
    (True, False, False)
    """
    if operator == "matches":
        return filter_matches(operand, text)
    text = fold(text)
    match operator:
        case "contains":
            return fold_part(operand) in text
        case "starts with":
            return text.startswith(fold_part(operand))
        case "ends with":
            return text.endswith(fold_part(operand))
        case _:  # a topic is under its parent, a type is a kind of its parent: `a/b` under `a`, `a.b` is-a `a`
            separators = SEPARATORS[operator]
            operand = fold(operand).rstrip(separators)
            return text.rstrip(separators) == operand or (text.startswith(operand) and text[len(operand)] in separators)


SEPARATORS = {"under": "/", "is-a": "/."}


def _within(interval: Interval, item: EventTuple) -> OperatorOutcome:
    """A reading against an interval, in the base of the unit asked for; all of it must lie inside."""
    actual = axis_reading(item, interval.unit)
    if actual.mismatch:
        return OperatorOutcome.UNIT_MISMATCH
    base = interval.base()
    if actual.first > actual.last or not base.holds(actual.first):
        return OperatorOutcome.FALSE
    if actual.last != actual.first and not base.holds(actual.last):
        return OperatorOutcome.FALSE
    return OperatorOutcome.ASSUMED if actual.assumed else OperatorOutcome.TRUE

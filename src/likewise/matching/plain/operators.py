"""Does a tuple's value meet a predicate's operator? The one meaning of every operator.

The oracle calls this for each pair; indexed engines must agree with it and call it where they keep no
index. Attributes are not compared here.
"""

from __future__ import annotations

from enum import Enum

from likewise.model.event import EventTuple
from likewise.model.predicate import Predicate
from likewise.model.text import fold
from likewise.model.units import reading_unit, unit
from likewise.model.values import Interval, Quantity


class Outcome(Enum):
    """How a value met an operator."""

    TRUE = "true"
    FALSE = "false"
    ASSUMED = "true, with the reading taken in the unit asked for"
    UNIT_MISMATCH = "the reading's unit measures something else"

    def __bool__(self) -> bool:
        return self is Outcome.TRUE or self is Outcome.ASSUMED


def meets(predicate: Predicate, item: EventTuple) -> Outcome:
    """Whether the tuple's value meets the predicate's operator and value, exactly.

    >>> meets(Predicate("t", ">", Quantity(25.0, "degC")), EventTuple("air_temp_f", 81.2))
    <Outcome.TRUE: 'true'>
    >>> meets(Predicate("t", ">", Quantity(25.0, "degC")), EventTuple("t", 30, "kg"))
    <Outcome.UNIT_MISMATCH: "the reading's unit measures something else">
    """
    value = predicate.value
    match predicate.operator:
        case "exists":
            return Outcome.TRUE
        case "=":
            return _equals(value, item)
        case "!=":
            outcome = _equals(value, item)
            if outcome is Outcome.UNIT_MISMATCH:
                return outcome
            return Outcome.FALSE if outcome else Outcome.TRUE
        case "in":
            outcomes = [_equals(one, item) for one in value]  # type: ignore[union-attr]
            return next(
                (o for o in outcomes if o),
                Outcome.UNIT_MISMATCH if Outcome.UNIT_MISMATCH in outcomes else Outcome.FALSE,
            )
        case "contains" | "starts with" | "ends with" | "under" | "is-a":
            if not isinstance(item.value, str):
                return Outcome.FALSE
            return Outcome.TRUE if _text_meets(predicate.operator, str(value), item.value) else Outcome.FALSE
        case _:
            interval = predicate.interval()
            return Outcome.FALSE if interval is None else _within(interval, item)


def _equals(value: object, item: EventTuple) -> Outcome:
    if isinstance(value, str):
        return Outcome.TRUE if isinstance(item.value, str) and fold(item.value) == fold(value) else Outcome.FALSE
    if isinstance(value, bool):
        seen = item.value
        if isinstance(seen, str):
            seen = {"true": True, "false": False}.get(fold(seen), "")
        return Outcome.TRUE if isinstance(seen, bool) and seen == value else Outcome.FALSE
    if isinstance(value, Quantity):
        return _within(Interval(value.value, value.value, unit=value.unit), item)
    return _within(Interval(value, value), item)  # type: ignore[arg-type]


def _text_meets(operator: str, asked: str, seen: str) -> bool:
    asked, seen = fold(asked), fold(seen)
    match operator:
        case "contains":
            return asked in seen
        case "starts with":
            return seen.startswith(asked)
        case "ends with":
            return seen.endswith(asked)
        case _:  # a topic is under its parent, a type is a kind of its parent: `a/b` under `a`, `a.b` is-a `a`
            asked = asked.rstrip("/.")
            separators = "/" if operator == "under" else "/."
            return seen.rstrip(separators) == asked or (seen.startswith(asked) and seen[len(asked)] in separators)


def _within(interval: Interval, item: EventTuple) -> Outcome:
    """A reading against an interval, in the base of the unit asked for."""
    reading = item.reading()
    if reading is None:
        return Outcome.FALSE
    number, stated = reading
    if not interval.unit:
        return Outcome.TRUE if interval.holds(number) else Outcome.FALSE
    asked = unit(interval.unit)
    found = reading_unit(item.attribute, stated, asked)
    if found is not None and found.dimension != asked.dimension:
        return Outcome.UNIT_MISMATCH
    if not interval.base().holds((found or asked).to_base(number)):
        return Outcome.FALSE
    return Outcome.TRUE if found is not None else Outcome.ASSUMED

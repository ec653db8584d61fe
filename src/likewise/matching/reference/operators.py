"""Does a tuple's value meet a predicate's operator? The one meaning of every operator.

The oracle calls this for each pair; indexed engines must agree with it and call it where they keep no
index. Attributes are not compared here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, TypeVar

from likewise.model.axis_reading import axis_reading
from likewise.model.event import EventTuple
from likewise.model.hierarchies.topic_filters import filter_matches
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.predicate import COMPARISONS, OPERATORS, TEXT_OPERATORS, Predicate
from likewise.model.text import fold, fold_part
from likewise.model.timestamps import TimestampValue
from likewise.model.values import Interval, Quantity


class OperatorOutcome(Enum):
    """Outcome of an operator on a value."""

    TRUE = "true"
    FALSE = "false"
    ASSUMED = "true, with the reading taken in the unit asked for"
    UNIT_MISMATCH = "the reading's unit measures something else"

    def __bool__(self) -> bool:
        return self is OperatorOutcome.TRUE or self is OperatorOutcome.ASSUMED


def meets(predicate: Predicate, item: EventTuple, types: Hierarchy = NO_TYPES) -> OperatorOutcome:
    """Return whether the tuple's value meets the predicate's operator and value, exactly; `types` are those declared.

    >>> meets(Predicate("t", ">", Quantity(25.0, "degC")), EventTuple("air_temp_f", 81.2))
    <OperatorOutcome.TRUE: 'true'>
    >>> meets(Predicate("t", ">", Quantity(25.0, "degC")), EventTuple("t", 30, "kg"))
    <OperatorOutcome.UNIT_MISMATCH: "the reading's unit measures something else">
    """
    return MEANINGS[predicate.operator](predicate, item, types)


def _exists(predicate: Predicate, item: EventTuple, types: Hierarchy) -> OperatorOutcome:
    return OperatorOutcome.TRUE


def _equal(predicate: Predicate, item: EventTuple, types: Hierarchy) -> OperatorOutcome:
    return _equals(predicate.value, item)


def _unequal(predicate: Predicate, item: EventTuple, types: Hierarchy) -> OperatorOutcome:
    outcome = _equals(predicate.value, item)
    if outcome is OperatorOutcome.UNIT_MISMATCH:  # a length is neither equal to a temperature nor different from it
        return outcome
    return OperatorOutcome.FALSE if outcome else OperatorOutcome.TRUE


def _in(predicate: Predicate, item: EventTuple, types: Hierarchy) -> OperatorOutcome:
    outcomes = [_equals(one, item) for one in predicate.value]  # type: ignore[union-attr]
    mismatch = OperatorOutcome.UNIT_MISMATCH if OperatorOutcome.UNIT_MISMATCH in outcomes else OperatorOutcome.FALSE
    return next((outcome for outcome in outcomes if outcome), mismatch)


def _text(predicate: Predicate, item: EventTuple, types: Hierarchy) -> OperatorOutcome:
    if not isinstance(item.value, str):
        return OperatorOutcome.FALSE
    operator, operand = predicate.operator, str(predicate.value)
    matches = text_meets(operator, operand, item.value)
    if not matches and operator == "is-a" and types:
        matches = any(text_meets("is-a", operand, wider) for wider in types.wider(item.value))
    return OperatorOutcome.TRUE if matches else OperatorOutcome.FALSE


def _compare(predicate: Predicate, item: EventTuple, types: Hierarchy) -> OperatorOutcome:
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
    """Return whether a text meets a text operator.

    >>> text_meets("contains", "CAT", "a cat"), text_meets("under", "v1.", "v1"), text_meets("matches", "a/+", "A/b")
    (True, False, False)
    """
    if operator == "matches":  # the one operator that compares text as it is written: MQTT's topics tell cases apart
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
            parent = fold(operand).rstrip(separators)
            return text.rstrip(separators) == parent or (text.startswith(parent) and text[len(parent)] in separators)


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


Rule = TypeVar("Rule")
# The six implementations of the operators. Each registers a rule for every operator when its module is imported.
BACKENDS: Final = ("bitmap", "thematic", "forest", "sgim", "demand", "edge")
_registered: dict[str, Mapping[str, object]] = {}


def register_operators(backend: str, rules: Mapping[str, Rule]) -> Mapping[str, Rule]:
    """Return a backend's rule for each operator, after checking that none is missing.

    A new operator in `likewise.model.predicate` therefore stops every backend that does not handle it on import,
    rather than by a wrong answer.

    Args:
        backend: the name of the implementation, such as `bitmap`.
        rules: what the backend does for each operator: a function, or the name of a strategy.

    Raises:
        LookupError: a rule is missing, or is for something that is no operator.

    >>> register_operators("mine", {"=": "look up"})
    Traceback (most recent call last):
    ...
    LookupError: the backend 'mine' has no rule for !=, <, <=, >, >=, between, in, contains, starts with, ...
    """
    missing = [operator for operator in OPERATORS if operator not in rules]
    if missing:
        raise LookupError(f"the backend {backend!r} has no rule for {', '.join(missing)}")
    unknown = sorted(rules.keys() - set(OPERATORS))
    if unknown:
        raise LookupError(f"the backend {backend!r} has rules for {', '.join(unknown)}, which are no operators")
    _registered[backend] = complete = MappingProxyType(dict(rules))
    return complete


def registered_operators(backend: str) -> Mapping[str, object]:
    """Return the rules that a backend registered; its module must have been imported."""
    return _registered[backend]


MEANINGS: Final = register_operators(
    "reference",
    {
        "exists": _exists,
        "=": _equal,
        "!=": _unequal,
        "in": _in,
        "between": _compare,
        **dict.fromkeys(COMPARISONS, _compare),
        **dict.fromkeys(TEXT_OPERATORS, _text),
    },
)

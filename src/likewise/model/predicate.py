"""A predicate: the condition on one tuple (sources.md T and C)."""

from __future__ import annotations

from typing import Final, Literal, get_args

import msgspec

from likewise.defaults import MAX_IN_VALUES, MAX_TERM_LENGTH
from likewise.errors import InvalidSubscription, LimitExceeded
from likewise.model.hierarchies.topic_filters import check_filter
from likewise.model.timestamps import MOMENT, TimestampValue
from likewise.model.values import Interval, Quantity, finite

Operator = Literal[
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "between",
    "in",
    "contains",
    "starts with",
    "ends with",
    "exists",
    "under",
    "is-a",
    "matches",
]

OPERATORS: Final[tuple[str, ...]] = get_args(Operator)
COMPARISONS: Final = frozenset({"<", "<=", ">", ">="})
TEXT_OPERATORS: Final = frozenset({"contains", "starts with", "ends with", "under", "is-a", "matches"})

Operand = (
    str
    | int
    | float
    | bool
    | Quantity
    | TimestampValue
    | Interval
    | tuple[str | int | float | bool | Quantity | TimestampValue, ...]
    | None
)


class Predicate(
    msgspec.Struct,
    frozen=True,
    gc=False,
    forbid_unknown_fields=True,
    tag="predicate",
    tag_field="kind",
    omit_defaults=True,
):
    """`attribute operator value`, either part relaxed by `~`.

    >>> Predicate("device", "=", "laptop", attribute_relaxed=True, value_relaxed=True).relaxed_parts
    2
    """

    attribute: str
    operator: Operator
    value: Operand = None
    attribute_relaxed: bool = False
    value_relaxed: bool = False

    def __post_init__(self) -> None:
        attribute = self.attribute
        if not attribute or len(attribute) > MAX_TERM_LENGTH or attribute.isspace():
            _check_text("attribute", attribute)
        value, operator = self.value, self.operator
        kind = type(value)
        fits = _FITS.get(operator)
        if fits is None:
            raise InvalidSubscription(f"{operator!r} is not an operator; use one of {', '.join(OPERATORS)}")
        if kind not in fits:
            raise InvalidSubscription(f"`{attribute} {operator}` does not take {value!r}; {_TAKES[operator]}")
        if kind is str:
            if len(value) > MAX_TERM_LENGTH or (not value and operator in TEXT_OPERATORS):  # type: ignore[arg-type]
                _check_text("value", value)  # type: ignore[arg-type]
            if operator == "matches":
                check_filter(value)  # type: ignore[arg-type]
        elif kind is float or kind is int:
            finite(value)  # type: ignore[arg-type]
        elif kind is tuple:
            if not value:
                raise InvalidSubscription(f"`{attribute} in` does not take an empty list; {_TAKES['in']}")
            _check_values(value)  # type: ignore[arg-type]
        elif kind is Interval and (value.low is None or value.high is None):  # type: ignore[union-attr]
            raise InvalidSubscription(f"`{attribute} between` does not take {value!r}; {_TAKES['between']}")
        if self.value_relaxed and (operator != "=" or kind is not str):
            raise InvalidSubscription(
                f"`~` relaxes the text after `=`; in `{attribute} {operator} ...` relax the attribute instead, "
                "quote the value if it is meant as text, or use `or`"
            )

    def __eq__(self, other: object) -> bool:
        """Field by field, with `true` and 1 kept apart (Python holds them equal)."""
        if not isinstance(other, Predicate):
            return NotImplemented
        return (
            self.attribute == other.attribute
            and self.operator == other.operator
            and self.value == other.value
            and _types(self.value) == _types(other.value)
            and self.attribute_relaxed is other.attribute_relaxed
            and self.value_relaxed is other.value_relaxed
        )

    def __hash__(self) -> int:
        return hash((self.attribute, self.operator, self.value, self.attribute_relaxed, self.value_relaxed))

    @property
    def relaxed_parts(self) -> int:
        """Number of relaxed parts, 0 to 2."""
        return self.attribute_relaxed + self.value_relaxed

    @property
    def parts(self) -> int:
        """Number of parts that could be relaxed: the attribute, and the value if there is one."""
        return 1 if self.operator == "exists" else 2

    @property
    def unit(self) -> str:
        """Symbol of its numbers' unit, or ''."""
        match self.value:
            case Quantity(unit=unit) | Interval(unit=unit):
                return "" if unit == MOMENT else unit
            case tuple():
                return next((v.unit for v in self.value if isinstance(v, Quantity)), "")
            case _:
                return ""

    def interval(self) -> Interval | None:
        """Return the interval of a numeric comparison; None for other operators.

        >>> Predicate("t", ">", 25.0).interval().text()
        '(25, ∞)'
        """
        value, operator = self.value, self.operator
        if isinstance(value, Interval):
            return value
        if isinstance(value, TimestampValue):
            return _period(operator, value)
        if isinstance(value, Quantity):
            number, unit = value.value, value.unit
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            number, unit = value, ""
        else:
            return None
        match operator:
            case "=":
                return Interval(number, number, unit=unit)
            case "<" | "<=":
                return Interval(None, number, high_open=operator == "<", unit=unit)
            case ">" | ">=":
                return Interval(number, None, low_open=operator == ">", unit=unit)
            case _:
                return None


def _period(operator: str, moment: TimestampValue) -> Interval | None:
    """Return the microseconds that a comparison with a timestamp admits. A period must lie in them completely."""
    first, last, _ = moment.span
    match operator:
        case "=":
            return Interval(first, last, unit=MOMENT)
        case "<":
            return Interval(None, first - 1, unit=MOMENT)
        case "<=":
            return Interval(None, last, unit=MOMENT)
        case ">":
            return Interval(last + 1, None, unit=MOMENT)
        case ">=":
            return Interval(first, None, unit=MOMENT)
        case _:
            return None


# The types of value each operator takes: one look-up for each of millions of predicates.
_FITS: Final[dict[str, frozenset[type]]] = {
    **dict.fromkeys(COMPARISONS, frozenset({float, int, Quantity, TimestampValue})),
    **dict.fromkeys(TEXT_OPERATORS, frozenset({str})),
    **dict.fromkeys(("=", "!="), frozenset({str, float, int, bool, Quantity, TimestampValue})),
    "between": frozenset({Interval}),
    "in": frozenset({tuple}),
    "exists": frozenset({type(None)}),
}


def _types(value: object) -> object:
    """Return what tells a Boolean from an equal number."""
    return tuple(type(v) is bool for v in value) if isinstance(value, tuple) else type(value) is bool


_TAKES: Final = {
    **dict.fromkeys(COMPARISONS, "give a number, with or without a unit, or a date"),
    **dict.fromkeys(TEXT_OPERATORS - {"matches"}, "give text"),
    "=": "give one text, number or Boolean",
    "!=": "give one text, number or Boolean",
    "between": "give two bounds, `between 1 and 2`",
    "in": "give at least one value, `in (a, b)`",
    "exists": "it takes no value",
    "matches": 'give a topic filter in quotes, `topic matches "a/+/c/#"`',
}


def _check_text(what: str, text: str) -> None:
    if not text or text.isspace():
        raise InvalidSubscription(f"the {what} is empty; give it some text")
    if len(text) > MAX_TERM_LENGTH:
        raise LimitExceeded(
            f"characters of an {what}" if what[0] == "a" else f"characters of a {what}",
            allowed=MAX_TERM_LENGTH,
            found=len(text),
        )


def _check_values(values: tuple[object, ...]) -> None:
    if len(values) > MAX_IN_VALUES:
        raise LimitExceeded("values of `in`", allowed=MAX_IN_VALUES, found=len(values))
    for value in values:
        if isinstance(value, str):
            if len(value) > MAX_TERM_LENGTH:
                _check_text("value", value)
        elif isinstance(value, (int, float)):
            finite(value)
        elif not isinstance(value, (Quantity, TimestampValue)):
            raise InvalidSubscription(f"`in` does not take {value!r}; give texts, numbers or Booleans")

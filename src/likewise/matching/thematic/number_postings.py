"""What a predicate asks of a number, as closed intervals on axes (docs/engines/thematic.md).

Axis 0 is the number as sent; every further axis is the number brought to the base of a dimension from one
unit. Open bounds move to the next representable number, so a test is `low <= x <= high`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nextafter

from likewise.matching.reference.float_bounds import closed_bounds
from likewise.matching.reference.terms import STATE_NUMBERS
from likewise.model import MOMENT, Interval, Moment, Predicate, Quantity, Unit, reading_unit, unit
from likewise.model.timestamps import MOMENT_UNITS
from likewise.model.values import read_number

NumberRange = tuple[Unit | None, float, float]  # the unit to bring the number from (None: as sent), low, high


def number_entries(predicate: Predicate, attribute: str, stated: str, *, whole: bool) -> Iterator[NumberRange]:
    """The intervals in which a number under an attribute, with the unit stated beside it, meets a predicate.

    >>> from likewise.model import Quantity
    >>> p = Predicate("t", ">", Quantity(25.0, "degC"))
    >>> [(u.symbol, low > 298.15, high) for u, low, high in number_entries(p, "air_temp_f", "", whole=False)]
    [('degF', True, inf)]
    """
    value = predicate.value
    match predicate.operator:
        case "exists":
            yield None, -inf, inf
        case "=" if isinstance(value, str):
            # A relaxed text is met by a number written the same way; 0 and 1 may be states, which measures judge.
            number = read_number(value) if predicate.value_relaxed else None
            if isinstance(number, float) and (number not in STATE_NUMBERS or stated):
                written = str(int(number)) if whole and number.is_integer() else "" if whole else str(number)
                if written == value.strip().casefold():
                    yield None, number, number
        case "!=" if isinstance(value, (str, bool)):
            yield None, -inf, inf
        case "!=":
            equal = list(_bounds(Predicate(attribute, "=", value), attribute, stated))
            for axis, low, high in equal:
                yield axis, -inf, nextafter(low, -inf)
                yield axis, nextafter(high, inf), inf
            if not equal and _never_equal(value, attribute, stated):
                yield None, -inf, inf
        case "in":
            for one in value:  # type: ignore[union-attr]
                if not isinstance(one, (str, bool)):
                    yield from _bounds(Predicate(attribute, "=", one), attribute, stated)
        case _:
            yield from _bounds(predicate, attribute, stated)


def _bounds(predicate: Predicate, attribute: str, stated: str) -> Iterator[NumberRange]:
    interval: Interval | None = predicate.interval()
    if interval is None:
        return
    axis: Unit | None = None
    if interval.unit == MOMENT:
        axis = reading_unit(attribute, stated, unit("s"))
        if axis is None or axis.symbol not in MOMENT_UNITS:  # a bare number is no time
            return
    elif interval.unit:
        asked = unit(interval.unit)
        axis = reading_unit(attribute, stated, asked) or asked
        if axis.dimension != asked.dimension:
            return
    low, high = closed_bounds(interval.base())
    if low <= high:
        yield axis, low, high


def _never_equal(value: object, attribute: str, stated: str) -> bool:
    """Whether a number under this attribute and unit differs from a value that no float equals, or that is a time."""
    if isinstance(value, Quantity):  # a unit that does not fit is neither equal nor unequal
        asked = unit(value.unit)
        return (reading_unit(attribute, stated, asked) or asked).dimension == asked.dimension
    if isinstance(value, Moment):
        found = reading_unit(attribute, stated, unit("s"))
        return found is None or found.symbol in MOMENT_UNITS
    return True

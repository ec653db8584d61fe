"""Values: text, numbers, Booleans, quantities and intervals, and the parsing of numbers."""

from __future__ import annotations

import math
import re
from functools import lru_cache

import msgspec

from likewise.errors import InputError, InvalidSubscription
from likewise.model.timestamps import MOMENT, timestamp_text
from likewise.units import LARGEST_WHOLE, WHOLE_IN_FLOAT, any_unit, unit


class Quantity(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="quantity", tag_field="kind"):
    """A number with a unit of the table, stored under the unit's symbol.

    >>> Quantity.of(25, "celsius")
    Quantity(value=25.0, unit='degC')
    """

    value: int | float
    unit: str

    @classmethod
    def of(cls, value: float, spelling: str) -> Quantity:
        """Return a quantity from a number and any spelling of a unit."""
        return cls(plain_number(value), unit(spelling).symbol)

    def __post_init__(self) -> None:
        finite(self.value)
        finite(self.base())  # 1e308 km is no number of metres

    def base(self) -> float:
        """Return the value in the base unit of its dimension."""
        return unit(self.unit).to_base(self.value)


class Interval(
    msgspec.Struct,
    frozen=True,
    gc=False,
    forbid_unknown_fields=True,
    tag="interval",
    tag_field="kind",
    omit_defaults=True,
):
    """A range of numbers in one unit (or none); a missing bound is infinite.

    >>> Interval(low=1, high=2, high_open=True)
    Interval(low=1, high=2, low_open=False, high_open=True, unit='')
    """

    low: int | float | None = None
    high: int | float | None = None
    low_open: bool = False
    high_open: bool = False
    unit: str = ""

    def __post_init__(self) -> None:
        low, high = self.low, self.high
        if low is not None:
            finite(low)
        if high is not None:
            finite(high)
        if low is not None and high is not None and (low > high or (low == high and (self.low_open or self.high_open))):
            raise InvalidSubscription(
                f"the interval {self.text()} is empty: nothing can lie in it; swap or widen its bounds"
            )
        if self.unit:
            self.base()  # rounding to twelve digits may leave nothing between two bounds: better said now

    def holds(self, number: float) -> bool:
        """Return whether the number lies inside.

        >>> Interval(low=1, high=2, high_open=True).holds(1), Interval(low=1, high=2, high_open=True).holds(2)
        (True, False)
        """
        if self.low is not None and (number <= self.low if self.low_open else number < self.low):
            return False
        return self.high is None or not (number >= self.high if self.high_open else number > self.high)

    def base(self) -> Interval:
        """Return the same interval in the base unit, without a unit."""
        if not self.unit:
            return self
        convert = unit(self.unit).to_base
        low = None if self.low is None else convert(self.low)
        high = None if self.high is None else convert(self.high)
        return Interval(low, high, self.low_open, self.high_open)

    def text(self) -> str:
        """Return the usual notation with brackets, for messages."""
        if self.unit == MOMENT:
            bounds = [
                self.low is not None and timestamp_text(int(self.low)),
                self.high is not None and timestamp_text(int(self.high), last=True),
            ]
            return f"[{bounds[0] or '-∞'}, {bounds[1] or '∞'}]"
        low = "-∞" if self.low is None else f"{self.low:g}"
        high = "∞" if self.high is None else f"{self.high:g}"
        ends = (
            "(" if self.low_open or self.low is None else "[",
            ")" if self.high_open or self.high is None else "]",
        )
        return f"{ends[0]}{low}, {high}{ends[1]}" + (f" {self.unit}" if self.unit else "")


_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def finite(number: float) -> float:
    """Return the number; refuse NaN, infinity, and integers beyond 64 bits."""
    if type(number) is int:
        if not -LARGEST_WHOLE <= number <= LARGEST_WHOLE:
            raise InputError("a whole number is larger than 64 bits hold; give it as text, which compares by equality")
    elif not math.isfinite(number):
        raise InputError(f"{number} is not a number that can be compared; send a finite one or leave it out")
    return number


def plain_number(number: float) -> float:
    """Return a number in canonical form: integers beyond float64's precision stay integers, all others are floats.

    >>> plain_number(27), plain_number(2**53 + 1)
    (27.0, 9007199254740993)
    """
    if type(number) is int and not -WHOLE_IN_FLOAT <= number <= WHOLE_IN_FLOAT:
        return number
    return float(number)


@lru_cache(maxsize=65_536)
def read_number(text: str) -> float | Quantity | None:
    """Parse text that is wholly a number, optionally with a unit of the table; None for other text.

    A whole number beyond 64 bits is no number that compares: it stays text, equal to what is written the same way.

    >>> read_number("27.5"), read_number("81.2 °F"), read_number("room 112"), read_number("5 pm")
    (27.5, Quantity(value=81.2, unit='degF'), None, None)
    >>> read_number("9007199254740993"), read_number("9" * 20)
    (9007199254740993, None)
    """
    return _read(text, exact=True)


@lru_cache(maxsize=65_536)
def read_magnitude(text: str) -> float | Quantity | None:
    """Parse text as `read_number` does, and a whole number beyond 64 bits as the nearest float64.

    By that such numbers compare by size. What is equal to one is written in the same digits.

    >>> read_magnitude("9" * 20), read_magnitude("5 kg"), read_magnitude("9" * 400)
    (1e+20, Quantity(value=5.0, unit='kg'), None)
    """
    return _read(text, exact=False)


def _read(text: str, *, exact: bool) -> float | Quantity | None:
    stripped = text.strip()
    hit = _NUMBER.match(stripped)
    if hit is None:
        return None
    number = _number(hit.group(), exact=exact)
    if number is None:
        return None
    rest = stripped[hit.end() :].strip()
    if not rest:
        return number
    parsed_unit = any_unit(rest)
    if parsed_unit is None:
        return None
    return Quantity(number, parsed_unit.symbol) if math.isfinite(parsed_unit.to_base(number)) else None


def _number(digits: str, *, exact: bool) -> float | None:
    """Parse digits; None for a number that cannot be compared and, if `exact`, for a whole one beyond 64 bits."""
    if len(digits) > _DIGITS_IN_FLOAT and digits.lstrip("+-").isdigit():
        whole = int(digits) if len(digits) < _DIGITS_OF_WHOLE else LARGEST_WHOLE + 1
        if -LARGEST_WHOLE <= whole <= LARGEST_WHOLE:
            return plain_number(whole)
        if exact:
            return None
    number = float(digits)
    return number if math.isfinite(number) else None


_DIGITS_IN_FLOAT = 15  # so many digits are exact in float64
_DIGITS_OF_WHOLE = 4_000  # Python reads no more at once; leading zeros may stand before a number

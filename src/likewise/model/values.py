"""Values: text, numbers, Booleans, quantities and intervals, and how text reads as a number."""

from __future__ import annotations

import math
import re

import msgspec

from likewise.errors import InputError, InvalidSubscription, UnitError
from likewise.model.units import Unit, find_unit, unit


class Quantity(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="quantity", tag_field="kind"):
    """A number with a unit of the table, kept under the unit's symbol.

    >>> Quantity.of(25, "celsius")
    Quantity(value=25.0, unit='degC')
    """

    value: float
    unit: str

    @classmethod
    def of(cls, value: float, spelling: str) -> Quantity:
        """A quantity from a number and any spelling of a unit."""
        return cls(float(value), unit(spelling).symbol)

    def __post_init__(self) -> None:
        finite(self.value)
        finite(self.base())  # 1e308 km is no number of metres

    def base(self) -> float:
        """The value in the base of its dimension."""
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
    """A range of numbers, all in one unit (or none); a missing bound is open to infinity.

    >>> Interval(low=1, high=2, high_open=True)
    Interval(low=1, high=2, low_open=False, high_open=True, unit='')
    """

    low: float | None = None
    high: float | None = None
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
        """Whether the number lies inside.

        >>> Interval(low=1, high=2, high_open=True).holds(1), Interval(low=1, high=2, high_open=True).holds(2)
        (True, False)
        """
        if self.low is not None and (number <= self.low if self.low_open else number < self.low):
            return False
        return self.high is None or not (number >= self.high if self.high_open else number > self.high)

    def base(self) -> Interval:
        """The same interval in the base of its unit's dimension, without the unit."""
        if not self.unit:
            return self
        convert = unit(self.unit).to_base
        low = None if self.low is None else convert(self.low)
        high = None if self.high is None else convert(self.high)
        return Interval(low, high, self.low_open, self.high_open)

    def text(self) -> str:
        """The usual notation with brackets, for messages."""
        low = "-∞" if self.low is None else f"{self.low:g}"
        high = "∞" if self.high is None else f"{self.high:g}"
        ends = (
            "(" if self.low_open or self.low is None else "[",
            ")" if self.high_open or self.high is None else "]",
        )
        return f"{ends[0]}{low}, {high}{ends[1]}" + (f" {self.unit}" if self.unit else "")


Scalar = str | int | float | bool | Quantity

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def finite(number: float) -> float:
    """The number, refused if it is NaN or infinite or too large for 64 bits."""
    try:
        if not math.isfinite(number):
            raise InputError(f"{number} is not a number that can be compared; send a finite one or leave it out")
    except OverflowError:
        raise InputError("a whole number is larger than 64-bit floating point holds; send it as text") from None
    return number


def read_number(text: str) -> float | Quantity | None:
    """What a text says if all of it is a number, optionally with a unit of the table; else None.

    >>> read_number("27.5"), read_number("81.2 °F"), read_number("room 112"), read_number("5 pm")
    (27.5, Quantity(value=81.2, unit='degF'), None, None)
    """
    stripped = text.strip()
    hit = _NUMBER.match(stripped)
    if hit is None:
        return None
    number = float(hit.group())
    if not math.isfinite(number):
        return None
    rest = stripped[hit.end() :].strip()
    if not rest:
        return number
    found = find_unit(rest)
    return None if found is None else Quantity(number, found.symbol)


def same_dimension(a: Unit, b: Unit) -> None:
    """Raise a `UnitError` unless the two units measure the same thing."""
    if a.dimension != b.dimension:
        raise UnitError(
            f"{a.symbol} measures {a.dimension} and {b.symbol} measures {b.dimension}: they cannot be compared; "
            "use units of one dimension for one attribute"
        )

"""One unit and exact conversion: decimal numbers are converted as fractions and rounded once.

So 77 degF equals 25 degC, and 1700000000.123456 s is a whole number of microseconds.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Final

import msgspec

from likewise.errors import UnitError

WHOLE_IN_FLOAT: Final = 2**53  # up to here every whole number is a float64
LARGEST_WHOLE: Final = 2**63 - 1  # up to here whole numbers compare exactly


class Unit(msgspec.Struct, frozen=True):
    """One unit: `base value = ratio * value + shift`, both as (numerator, denominator), in its dimension's base."""

    symbol: str
    dimension: str
    ratio: tuple[int, int] = (1, 1)
    shift: tuple[int, int] = (0, 1)

    @property
    def factor(self) -> float:
        """Factor to the base unit."""
        return self.ratio[0] / self.ratio[1]

    @property
    def offset(self) -> float:
        """Offset to the base unit."""
        return self.shift[0] / self.shift[1]

    def to_base(self, value: float) -> float:
        """The value in the dimension's base unit: the nearest float64, or a whole number where one that float64
        does not hold is converted by a whole factor.

        A float counts as the shortest decimal that reads as it. Beyond floating point it is infinite.

        >>> from likewise.model import unit
        >>> unit("degF").to_base(77) == unit("degC").to_base(25)
        True
        >>> unit("B").to_base(2**53 + 1) == 8 * 2**53 + 8
        True
        """
        n, d = (value, 1) if isinstance(value, int) else decimal_fraction(value)
        p, q = self.ratio
        r, s = self.shift
        top, bottom = n * p * s + r * d * q, d * q * s
        return (
            exact_quotient(top, bottom)
            if isinstance(value, int) and not fits_float(value)
            else nearest_float(top, bottom)
        )

    def from_base(self, value: float) -> float:
        """Return a base value in this unit, with ten digits, for display.

        >>> from likewise.model import unit
        >>> unit("degF").from_base(unit("degC").to_base(25))
        77.0
        """
        return float(f"{(value - self.offset) / self.factor:.10g}")

    def to(self, other: Unit, value: float) -> float:
        """Convert a value to another unit of the same dimension, exactly and rounded once.

        >>> from likewise.model import unit
        >>> unit("degC").to(unit("degF"), 27.1)
        80.78
        """
        n, d = (value, 1) if isinstance(value, int) else decimal_fraction(value)
        p, q = self.ratio
        r, s = self.shift
        top, bottom = n * p * s + r * d * q, d * q * s
        p, q = other.ratio
        r, s = other.shift
        top, bottom = (top * s - r * bottom) * q, bottom * s * p
        return (
            exact_quotient(top, bottom)
            if isinstance(value, int) and not fits_float(value)
            else nearest_float(top, bottom)
        )


@lru_cache(maxsize=65_536)
def decimal_fraction(value: float) -> tuple[int, int]:
    """Return the fraction of the shortest decimal that parses to a float.

    >>> decimal_fraction(0.1), decimal_fraction(27.0)
    ((1, 10), (27, 1))
    """
    return Decimal(repr(float(value))).as_integer_ratio()


def fits_float(whole: int) -> bool:
    """Return whether float64 has all integers of this size.

    >>> fits_float(2**53), fits_float(-(2**53) - 1)
    (True, False)
    """
    return -WHOLE_IN_FLOAT <= whole <= WHOLE_IN_FLOAT


def nearest_float(top: int, bottom: int) -> float:
    """Return the float64 nearest to a fraction, infinite beyond the largest.

    >>> nearest_float(1, 3), nearest_float(-(10**400), 1)
    (0.3333333333333333, -inf)
    """
    try:
        return top / bottom
    except OverflowError:
        return float("inf") if (top > 0) is (bottom > 0) else float("-inf")


def exact_quotient(top: int, bottom: int) -> float:
    """Return a fraction as a 64-bit integer if it is one, else the nearest float64.

    >>> exact_quotient(3 * (2**53 + 1), 3) == 2**53 + 1, exact_quotient(1, 2)
    (True, 0.5)
    """
    whole, rest = divmod(top, bottom)
    return whole if not rest and -LARGEST_WHOLE <= whole <= LARGEST_WHOLE else nearest_float(top, bottom)


def same_dimension(a: Unit, b: Unit) -> None:
    """Raise a `UnitError` unless two units have the same dimension."""
    if a.dimension != b.dimension:
        raise UnitError(
            f"{a.symbol} measures {a.dimension} and {b.symbol} measures {b.dimension}: they cannot be compared; "
            "use units of one dimension for one attribute",
            unit=b.symbol,
        )

"""Bounds as float64: which floats lie within a bound that may be a whole number float64 does not hold.

Readings are floats, but for whole numbers beyond 2**53 (`plain_number`). Engines that keep float64 are exact for floats
by these bounds; a whole number beyond 2**53 is compared with bounds of that size as it is (`beyond`).
"""

from __future__ import annotations

import math
from typing import Final

from likewise.model.values import Interval
from likewise.units import WHOLE_IN_FLOAT

INFINITY: Final = math.inf


def at_least(number: float) -> float:
    """The smallest float not below a number.

    >>> at_least(2**53 + 1) == 2.0**53 + 2, at_least(0.5)
    (True, 0.5)
    """
    near = float(number)
    return near if near >= number else math.nextafter(near, INFINITY)


def above(number: float) -> float:
    """The smallest float above a number.

    >>> above(0.0)
    5e-324
    """
    near = float(number)
    return near if near > number else math.nextafter(near, INFINITY)


def at_most(number: float) -> float:
    """The largest float not above a number.

    >>> at_most(2**53 + 1) == 2.0**53
    True
    """
    near = float(number)
    return near if near <= number else math.nextafter(near, -INFINITY)


def below(number: float) -> float:
    """The largest float below a number.

    >>> below(1.0)
    0.9999999999999999
    """
    near = float(number)
    return near if near < number else math.nextafter(near, -INFINITY)


def closed_bounds(interval: Interval) -> tuple[float, float]:
    """The same floats between closed bounds.

    >>> closed_bounds(Interval(1, 2)), closed_bounds(Interval(None, 0, high_open=True))
    ((1.0, 2.0), (-inf, -5e-324))
    """
    low, high = interval.low, interval.high
    first = -INFINITY if low is None else above(low) if interval.low_open else at_least(low)
    last = INFINITY if high is None else below(high) if interval.high_open else at_most(high)
    return first, last


def beyond(interval: Interval) -> bool:
    """Return whether whole numbers that are no floats may lie next to a bound: it must be compared as it is.

    >>> beyond(Interval(1, 2)), beyond(Interval(2**53, None))
    (False, True)
    """
    return any(bound is not None and abs(bound) >= WHOLE_IN_FLOAT for bound in (interval.low, interval.high))


def away_from_zero(number: float) -> float:
    """A number as a float; a whole one that is none becomes the next one farther from zero.

    So it lies beyond every bound up to 2**53 that the number itself lies beyond.

    >>> away_from_zero(2**53 + 1) == 2.0**53 + 2, away_from_zero(7)
    (True, 7.0)
    """
    near = float(number)
    if type(number) is int and abs(near) < abs(number):
        return math.nextafter(near, math.copysign(INFINITY, near))
    return near

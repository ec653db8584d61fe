"""Intervals of numbers as readings state them: in the base of a dimension, in some unit of it, or bare."""

from __future__ import annotations

import sys
from typing import Final

from likewise.model.values import Interval
from likewise.units import Unit

# Slack where two units' numbers meet, relative to a bound (or to 1 if that is more): above what rounding to
# ten digits moves.
SLACK: Final = 1e-8
_LARGEST: Final = sys.float_info.max


def bare(interval: Interval) -> Interval:
    """Its numbers without the unit."""
    return Interval(interval.low, interval.high, interval.low_open, interval.high_open)


def stated(base: Interval, known_unit: Unit) -> Interval:
    """The numbers a reading in `found` shows when its base value lies in an interval.

    Numbers too large for floating point count as the largest there is, which makes the interval wider.
    """
    low = None if base.low is None else max(min(known_unit.from_base(base.low), _LARGEST), -_LARGEST)
    high = None if base.high is None else max(min(known_unit.from_base(base.high), _LARGEST), -_LARGEST)
    return Interval(low, high, base.low_open and low != high, base.high_open and low != high)


def inside(narrow: Interval, wide: Interval, slack: float = 0.0) -> bool:
    """Return whether one interval lies in another, by a margin of `slack` relative to the bound if there is one.

    >>> inside(Interval(1, 2), Interval(1, None)), inside(Interval(1, 2), Interval(1, None, low_open=True))
    (True, False)
    """
    if wide.low is not None:
        if narrow.low is None:
            return False
        bound = wide.low + slack * max(1.0, abs(wide.low)) if slack else wide.low
        if narrow.low < bound or (narrow.low == bound and wide.low_open and not narrow.low_open):
            return False
    if wide.high is not None:
        if narrow.high is None:
            return False
        bound = wide.high - slack * max(1.0, abs(wide.high)) if slack else wide.high
        if narrow.high > bound or (narrow.high == bound and wide.high_open and not narrow.high_open):
            return False
    return True

"""Reading of a tuple on the axis of a comparison. This is the only rule for which numbers a tuple has on an axis.

An axis is a unit's symbol, `MOMENT`, or '' for numbers as they are written. A date without a time is a whole day: its
first and its last microsecond, between which a comparison must hold throughout.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from likewise.model.event import EventTuple
from likewise.model.timestamps import MOMENT, MOMENT_UNITS, parse_timestamp
from likewise.model.values import plain_number
from likewise.units import reading_unit, unit


class AxisReading(NamedTuple):
    """A tuple's numbers on an axis: first and last, and how its unit is known."""

    first: float
    last: float
    assumed: bool = False  # no unit is stated: taken in the unit asked for
    mismatch: bool = False  # the stated unit measures something else, or is unknown


NO_READING: Final = AxisReading(0.0, -1.0)  # empty: it lies in no interval
MISMATCH: Final = AxisReading(0.0, -1.0, mismatch=True)


def axis_reading(item: EventTuple, symbol: str) -> AxisReading:
    """Return a tuple's reading on an axis; `NO_READING` if it has none, `MISMATCH` if its unit does not fit.

    >>> axis_reading(EventTuple("air_temp_f", 77.0), "degC")
    AxisReading(first=298.15, last=298.15, assumed=False, mismatch=False)
    >>> axis_reading(EventTuple("t", 25), "degC").assumed, axis_reading(EventTuple("t", 25, "blorps"), "degC").mismatch
    (True, True)
    >>> axis_reading(EventTuple("when", "1970-01-01"), MOMENT)[:2]
    (0.0, 86399999999.0)
    >>> axis_reading(EventTuple("when", 5), MOMENT) is NO_READING
    True
    """
    if symbol in _ANY_MOMENT and type(item.value) is str:
        span = parse_timestamp(item.value)
        if span is not None:
            return AxisReading(plain_number(span.first), plain_number(span.last))
    reading = item.reading()
    if reading is None:
        return NO_READING
    number, stated = reading
    if not symbol:
        return AxisReading(number, number)
    target = _SECOND if symbol == MOMENT else unit(symbol)
    stated_unit = reading_unit(item.attribute, stated, target)
    if stated_unit is None:
        if symbol == MOMENT:  # a bare number is no time
            return NO_READING
        base = target.to_base(number)
        return AxisReading(base, base, assumed=True)
    if stated_unit.dimension != target.dimension or (symbol == MOMENT and stated_unit.symbol not in MOMENT_UNITS):
        return MISMATCH
    base = stated_unit.to_base(number)
    return AxisReading(base, base)


_ANY_MOMENT: Final = MOMENT_UNITS | {MOMENT}
_SECOND: Final = unit("s")

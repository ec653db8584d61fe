"""What a reader must know about a reading: a unit taken for granted, one that does not fit, no number, no zone."""

from __future__ import annotations

from likewise.model.event import EventTuple
from likewise.model.predicate import Predicate
from likewise.model.timestamps import MOMENT, MOMENT_UNITS, read_moment
from likewise.units import UNKNOWN, reading_unit, unit


def reading_notes(predicate: Predicate, item: EventTuple) -> tuple[str, ...]:
    """The notes on a predicate and a tuple it is about.

    >>> reading_notes(Predicate("t", ">", 25.0), EventTuple("t", "warm"))
    ("'warm' is not a number",)
    """
    asked = _asked_axes(predicate)
    if not asked:
        return ()
    reading = item.reading()
    moment = read_moment(item.value) if isinstance(item.value, str) else None
    if moment is not None and any(symbol == MOMENT or symbol in MOMENT_UNITS for symbol in asked):
        return () if moment.zoned else (f"{item.value!r} names no time zone and was taken in UTC",)
    if reading is None:
        return (f"{str(item.value)!r} is not a {'time' if MOMENT in asked else 'number'}",)
    for symbol in asked:
        note = _unit_note(item.attribute, reading, symbol)
        if note:
            return (note,)
    return ()


def _unit_note(attribute: str, reading: tuple[float, str], symbol: str) -> str:
    if not symbol:
        return ""
    wanted = unit("s" if symbol == MOMENT else symbol)
    found = reading_unit(attribute, reading[1], wanted)
    if found is None:
        if symbol == MOMENT:
            return "a bare number is no time; state its unit: s, ms or us since 1970"
        return f"the reading states no unit and was taken in {wanted.symbol}"
    if found.dimension == UNKNOWN:
        return f"the reading is in {found.symbol!r}, which is no unit of the table; {wanted.symbol} was asked for"
    if found.dimension != wanted.dimension:
        given = f"the reading is in {found.symbol}, which measures {found.dimension}"
        return f"{given}; {wanted.symbol} measures {wanted.dimension}"
    number = reading[0]
    if isinstance(number, int) and not isinstance(found.to_base(number), int):
        return f"{number} {found.symbol} was converted in floating point, which is exact to 15 digits"
    return ""


def _asked_axes(predicate: Predicate) -> list[str]:
    """The unit of every number a predicate asks for, '' for a bare one, `MOMENT` for times."""
    if isinstance(predicate.value, tuple):
        found = [Predicate(predicate.attribute, "=", v).interval() for v in predicate.value if not isinstance(v, str)]
    else:
        single = predicate
        if predicate.operator == "!=":
            single = Predicate(predicate.attribute, "=", predicate.value)
        found = [single.interval()]
    return [interval.unit for interval in found if interval is not None]

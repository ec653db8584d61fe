"""The yardstick: readings and questions compared in fractions, with pint's definitions of units.

Written apart from the model, so that a mistake there is not repeated here: it has its own reading of numbers and dates
and knows nothing of the tables. Nothing is rounded.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from typing import Any, Final, NamedTuple

from likewise.errors import MissingDependency

# Our symbol, what pint calls it.
PINT_NAMES: Final = {
    "degC": "degC",
    "degF": "degF",
    "K": "kelvin",
    "m": "meter",
    "km": "kilometer",
    "mm": "millimeter",
    "inch": "inch",
    "ft": "foot",
    "mi": "mile",
    "m/s": "meter/second",
    "km/h": "kilometer/hour",
    "mph": "mile/hour",
    "kn": "knot",
    "Pa": "pascal",
    "hPa": "hectopascal",
    "kPa": "kilopascal",
    "bar": "bar",
    "psi": "psi",
    "inHg": "inHg",
    "J": "joule",
    "kWh": "kilowatt*hour",
    "Wh": "watt*hour",
    "MJ": "megajoule",
    "cal": "calorie",
    "W": "watt",
    "kW": "kilowatt",
    "hp": "horsepower",
    "V": "volt",
    "mV": "millivolt",
    "A": "ampere",
    "mA": "milliampere",
    "kg": "kilogram",
    "g": "gram",
    "lb": "pound",
    "oz": "ounce",
    "l": "liter",
    "m3": "meter**3",
    "gal": "gallon",
    "ug/m3": "microgram/meter**3",
    "mg/m3": "milligram/meter**3",
    "ng/m3": "nanogram/meter**3",
    "B": "byte",
    "kB": "kilobyte",
    "bit": "bit",
    "KiB": "kibibyte",
    "%": "percent",
    "ppm": "ppm",
    "furlong": "furlong",
    "delta_degC": "delta_degC",
    "delta_degF": "delta_degF",
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
    "min": "minute",
    "h": "hour",
}
# What pint's dimensions do not tell apart.
_KINDS: Final = {
    **dict.fromkeys(("delta_degC", "delta_degF"), "difference"),
    **dict.fromkeys(("bit", "B", "kB", "KiB"), "information"),
}
_OFFSETS: Final = ("degC", "degF", "K")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT_UNITS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}


class Span(NamedTuple):
    """A reading or a question as an interval: both ends belong to it, and a number is an interval of no length."""

    first: Fraction
    last: Fraction


@cache
def _registry() -> Any:
    try:
        import pint
    except ImportError:
        raise MissingDependency("pint, the yardstick of units,", "dev") from None
    return pint.UnitRegistry(non_int_type=Fraction, autoconvert_offset_to_baseunit=True)


@cache
def definition(symbol: str) -> tuple[str, Fraction, Fraction]:
    """A unit's dimension, factor and offset, as pint defines it.

    >>> definition("degF")[1:]
    (Fraction(5, 9), Fraction(45967, 180))
    """
    registry, name = _registry(), PINT_NAMES[symbol]
    if symbol in _OFFSETS:
        nothing, one = (Fraction(registry.Quantity(Fraction(n), name).to("kelvin").magnitude) for n in (0, 1))
        return "temperature", one - nothing, nothing
    found = registry.Quantity(Fraction(1), name).to_base_units()
    kind = _KINDS.get(symbol) or str(sorted(found.dimensionality.items()))
    return kind, Fraction(found.magnitude), Fraction(0)


def number(written: str) -> Fraction:
    """The number a text writes, exactly."""
    return Fraction(written)


def moment(written: str) -> Span:
    """The microseconds of a date or a time."""
    if len(written) == 10:
        begin = datetime.fromisoformat(written + "T00:00:00+00:00")
        first = Fraction((begin - _EPOCH) // timedelta(microseconds=1))
        return Span(first, first + 86_399_999_999)
    found = datetime.fromisoformat(written.replace("Z", "+00:00"))
    at = Fraction((found.replace(tzinfo=found.tzinfo or UTC) - _EPOCH) // timedelta(microseconds=1))
    return Span(at, at)


class Reading(NamedTuple):
    """What one tuple says: a number as it is written and its unit ('' for none, '?' for an unknown one), or a time."""

    written: str
    unit: str = ""
    time: bool = False


class Question(NamedTuple):
    """`x operator bound`: one bound, or the two of `between`, in a unit or as times; `negated` under `not`."""

    operator: str
    bounds: tuple[str, ...]
    unit: str = ""
    time: bool = False
    negated: bool = False


def answers(question: Question, readings: list[Reading]) -> bool:
    """Whether a repeated attribute with these readings meets the question.

    >>> answers(Question(">", ("25",), "degC"), [Reading("77", "degF")]), answers(Question("=", ("25",), "degC"),
    ...                                                                           [Reading("77", "degF")])
    (False, True)
    """
    return any(_meets(question, reading) for reading in readings) is not question.negated


def _meets(question: Question, reading: Reading) -> bool:
    shown = _shown(question, reading)
    if shown is None:
        # without a number `!=` holds, but for a unit that measures something else: that is neither equal nor unequal
        return question.operator == "!=" and not _mismatched(question, reading)
    asked = [_asked(question, bound) for bound in question.bounds]
    low, high = asked[0], asked[-1]
    match question.operator:
        case "=" | "in":
            return any(one.first <= shown.first and shown.last <= one.last for one in asked)
        case "!=":
            return not (low.first <= shown.first and shown.last <= low.last)
        case "<":
            return shown.last < low.first
        case "<=":
            return shown.last <= low.last
        case ">":
            return shown.first > low.last
        case ">=":
            return shown.first >= low.first
        case _:
            return low.first <= shown.first and shown.last <= high.last


def _asked(question: Question, bound: str) -> Span:
    if question.time:
        return moment(bound)
    exact = number(bound)
    if question.unit:
        _, factor, offset = definition(question.unit)
        exact = exact * factor + offset
    return Span(exact, exact)


def _shown(question: Question, reading: Reading) -> Span | None:
    """The reading as the question sees it; None if it has no number there."""
    if reading.time:
        if question.time:
            return moment(reading.written)
        if question.unit in _MOMENT_UNITS:
            return Span(*(end / 1_000_000 for end in moment(reading.written)))  # pint's base is the second
        return None
    if _mismatched(question, reading):
        return None
    exact = number(reading.written)
    if question.time:
        if reading.unit not in _MOMENT_UNITS:
            return None
        exact *= _MOMENT_UNITS[reading.unit]
    elif question.unit:
        _, factor, offset = definition(reading.unit or question.unit)
        exact = exact * factor + offset
    return Span(exact, exact)


def _mismatched(question: Question, reading: Reading) -> bool:
    if reading.time or not reading.unit or not (question.unit or question.time):
        return False
    if reading.unit == "?":
        return True
    if question.time:
        return reading.unit not in _MOMENT_UNITS
    return definition(reading.unit)[0] != definition(question.unit)[0]

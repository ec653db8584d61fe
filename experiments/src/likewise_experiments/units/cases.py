"""Readings and questions drawn so that they meet at their edges: equal in another unit, one off in the last digit."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Final, Literal, NamedTuple

from likewise.model import Event, EventTuple
from likewise_experiments.units.yardstick import PINT_NAMES, Question, Reading, definition

Group = Literal["units", "whole numbers", "dates", "lists"]
GROUPS: Final[tuple[Group, ...]] = ("units", "whole numbers", "dates", "lists")
_OPERATORS: Final = ("=", "!=", "<", "<=", ">", ">=", "between", "in")
_EDGES: Final = (0, 2**53, 2**62, 2**63 - 6, -(2**53), -(2**63) + 6)
_SPELLINGS: Final = {"degF": ("degF", "°F", "FAH", "F"), "degC": ("degC", "Cel", "CEL"), "ug/m3": ("µg/m³", "GQ")}
_DAYS: Final = ("2024-02-28", "2024-02-29", "2024-03-01", "1969-12-31", "1970-01-01", "2255-06-06")


class Round(NamedTuple):
    """Some questions about one attribute, and events that answer them; every question is put to every event."""

    group: Group
    questions: list[Question]
    answers: list[list[Reading]]
    events: list[Event]


def draw(group: Group, questions: int, events: int, chance: Random) -> Round:
    """One round of a group.

    >>> made = draw("units", 3, 2, Random(1))
    >>> len(made.questions), len(made.events)
    (3, 2)
    """
    symbols = _comparable(chance) if group in ("units", "lists") else []
    values = [_value(group, symbols, chance) for _ in range(12)]
    asked = [_question(group, symbols, values, chance) for _ in range(questions)]
    said = [
        [_reading(group, symbols, values, chance) for _ in range(chance.randint(1, 3) if group == "lists" else 1)]
        for _ in range(events)
    ]
    return Round(group, asked, said, [_event(group, readings, number, chance) for number, readings in enumerate(said)])


def _comparable(chance: Random) -> list[str]:
    """A few units of one dimension, and at times one of another."""
    kind = definition(chance.choice(list(PINT_NAMES)))[0]
    same = [symbol for symbol in PINT_NAMES if definition(symbol)[0] == kind]
    return chance.sample(same, min(3, len(same)))


def _value(group: Group, symbols: list[str], chance: Random) -> Fraction:
    """A value that readings and bounds are made of: in the base of the dimension, as it may be written in some unit."""
    if group == "whole numbers":
        return Fraction(chance.choice(_EDGES) + chance.randint(-3, 3))
    if group == "dates":
        return Fraction(0)
    _, factor, offset = definition(chance.choice(symbols))
    written = Fraction(chance.randint(-(10 ** chance.randint(1, 6)), 10**6), 10 ** chance.randint(0, 4))
    return written * factor + offset


def _written(value: Fraction, symbol: str, chance: Random) -> str:
    """A value in a unit, in at most nine digits; off by one in the last of them at times."""
    if symbol:
        _, factor, offset = definition(symbol)
        value = (value - offset) / factor
    shown = float(f"{float(value):.9g}")
    if chance.random() < 0.3:
        shown = float(f"{shown * (1 + chance.choice((-1, 1)) * 1e-7):.9g}")
    return str(int(shown)) if shown.is_integer() and abs(shown) < 1e9 else repr(shown)


def _reading(group: Group, symbols: list[str], values: list[Fraction], chance: Random) -> Reading:
    if group == "whole numbers":
        return Reading(str(int(chance.choice(values)) + chance.randint(-1, 1)))
    if group == "dates":
        if chance.random() < 0.1:
            return Reading(str(chance.randint(-(10**6), 2 * 10**9)), chance.choice(("", "s", "h")))
        return Reading(_time(chance), time=True)
    if chance.random() < 0.05:
        return Reading(str(chance.randint(0, 99)), "?")
    symbol = chance.choice((*symbols, "kg" if chance.random() < 0.1 else symbols[0], ""))
    return Reading(_written(chance.choice(values), symbol or symbols[0], chance), symbol)


def _question(group: Group, symbols: list[str], values: list[Fraction], chance: Random) -> Question:
    operator = chance.choice(_OPERATORS)
    count = 2 if operator in ("between", "in") else 1
    negated = chance.random() < 0.2
    if group == "dates":
        bounds = sorted(_time(chance) for _ in range(count))
        return Question(operator, tuple(bounds), time=True, negated=negated)
    symbol = chance.choice((*symbols, "")) if symbols else ""
    numbers = [
        str(int(chance.choice(values)) + chance.randint(-1, 1))
        if group == "whole numbers"
        else _written(chance.choice(values), symbol or symbols[0], chance)
        for _ in range(count)
    ]
    return Question(operator, tuple(sorted(numbers, key=Fraction)), symbol, negated=negated)


def _time(chance: Random) -> str:
    day = chance.choice(_DAYS)
    match chance.randint(0, 3):
        case 0:
            return day
        case 1:
            return f"{day}T{chance.choice(('00:00:00', '12:00:00', '23:59:59.999999', '12:00:00.000001'))}Z"
        case 2:
            return f"{day}T{chance.choice(('02:00:00', '12:00:00'))}{chance.choice(('+02:00', '-05:30'))}"
        case _:
            return f"{day}T12:00"


def _event(group: Group, readings: list[Reading], number: int, chance: Random) -> Event:
    """The event of some readings: as numbers or as text, units beside them or in the text."""
    name = "x[]" if group == "lists" else "x"
    return Event(tuple(_tuple(name, reading, chance) for reading in readings), id=f"e{number}")


def _tuple(name: str, reading: Reading, chance: Random) -> EventTuple:
    if reading.time:
        return EventTuple(name, reading.written)
    unit = "blorps" if reading.unit == "?" else chance.choice(_SPELLINGS.get(reading.unit, (reading.unit,)))
    exact = int(reading.written) if reading.written.lstrip("-").isdigit() else float(reading.written)
    if chance.random() < 0.3:
        in_text = reading.unit not in ("", "?") and chance.random() < 0.5
        return EventTuple(
            name, f"{reading.written} {reading.unit}" if in_text else reading.written, "" if in_text else unit
        )
    return EventTuple(name, exact, unit)

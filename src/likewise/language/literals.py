"""Literals: text with escapes, values, numbers with units, spans of time."""

from __future__ import annotations

import math
import re
from typing import Final

from likewise.errors import InputError, LimitExceeded
from likewise.language.errors import GrammarError, InvalidUnit
from likewise.language.grammar import NUMBER
from likewise.model.time import DURATIONS
from likewise.model.timestamps import TimestampValue, parse_timestamp
from likewise.model.values import Interval, Quantity, read_magnitude, read_number
from likewise.units import Unit, any_unit, find_unit, same_dimension, stated_units, suggestion, unit

Value = str | float | bool | Quantity | TimestampValue

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}

# Bare words that are Booleans, or numbers that cannot be compared.
_SPECIAL: Final[dict[str, bool | None]] = {"true": True, "false": False, "nan": None, "inf": None, "infinity": None}
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_NUMBER = re.compile(rf"[+-]?{NUMBER}")
_SPAN = re.compile(r"([0-9.]+)\s*(\w+)")
_LONGEST_SPAN: Final = 2**63 - 1  # µs, as times are 64-bit


def resolve_escapes(text: str, start: int | None = None) -> str:
    """Text that begins at `start` with `\\n`, `\\"`, `\\u00e9` and their like resolved.

    >>> resolve_escapes(r"a \\"b\\" \\u00e9")
    'a "b" é'
    """
    try:
        return _ESCAPE.sub(_resolve, text)
    except GrammarError as found:
        found.position = None if start is None or found.position is None else start + found.position
        raise


def _resolve(hit: re.Match[str]) -> str:
    short, long, single = hit.groups()
    if single is not None:
        character = _ESCAPED.get(single)
        if character is None:
            expected = r"`\\`, `\"`, `\n`, `\t` or `\u00e9`"
            raise GrammarError(f"`\\{single}` is not an escape", position=hit.start(), expected=expected)
        return character
    code = int(short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        problem = f"`{hit.group()}` is no character"
        raise GrammarError(problem, position=hit.start(), expected=r"`\u00e9` or `\U0001F600`, without surrogates")
    return chr(code)


def unquote(token: str) -> str:
    """Return the text between the quotes of a token."""
    inner = token[1 : token.rindex(token[0])]
    if "\\" not in inner:
        return inner
    start = getattr(token, "start_pos", None)
    return resolve_escapes(inner, None if start is None else start + 1)


def read_text(token: str) -> tuple[str, bool]:
    """Return the text of a token and whether `~` relaxes it; white space in bare text is collapsed.

    >>> read_text("energy   usage ~"), read_text('"a~"')
    (('energy usage', True), ('a~', False))
    """
    relaxed = token[-1] == "~"
    if token[0] == '"':
        return unquote(token), relaxed
    return " ".join((token[:-1] if relaxed else token).split()), relaxed


def read_value(token: str) -> tuple[Value, bool]:
    """Return the value of a token and whether `~` relaxes it; quoted is always text.

    >>> read_value("25 degC"), read_value("laptop~"), read_value('"25"'), read_value("true")
    ((Quantity(value=25.0, unit='degC'), False), ('laptop', True), ('25', False), (True, False))
    """
    text, relaxed = read_text(token)
    return (text if token[0] == '"' else bare_value(text)), relaxed


def bare_value(text: str) -> Value:
    """Return the value of bare text: a number with an optional unit, a Boolean, else text.

    >>> bare_value("room 112"), bare_value("27.5"), bare_value("5 pm")
    ('room 112', 27.5, '5 pm')
    """
    if text[0] in _NUMBER_STARTS:
        number = read_number(text)
        if number is not None:
            return number
        if parse_timestamp(text) is not None:
            return TimestampValue(text)
        hit = _NUMBER.match(text)
        if hit is None:
            if text[0] in "+-" and text[1:].lower() in ("nan", "inf", "infinity"):
                raise _not_comparable(text)
        elif math.isinf(float(hit.group())):
            rest = text[hit.end() :].strip()
            if not rest or any_unit(rest):
                raise _not_comparable(text)
        return text
    special = _SPECIAL.get(text.lower(), text)
    if special is None:
        raise _not_comparable(text)
    return special


def _not_comparable(text: str) -> InputError:
    problem = f"`{text[:40]}` is not a number that can be compared"
    return InputError(f"{problem}; give a finite one, or quote it if it is text")


def read_number_token(token: str) -> tuple[Value, bool]:
    """Return the value of a token where a number is required. An unknown unit after a number is a unit error."""
    value, relaxed = read_value(token)
    if type(value) is str and token[0] == '"' and parse_timestamp(value) is not None:
        return TimestampValue(value), relaxed  # text cannot be compared by size, so a time may be quoted
    if type(value) is str and token[0] != '"' and (hit := _NUMBER.match(value)):
        number = read_magnitude(hit.group())
        if number is None or isinstance(number, Quantity):
            raise _not_comparable(value)
        if hit.end() == len(value):
            return number, relaxed
        parsed_unit = read_unit(value[hit.end() :], token, len(token) - len(token[hit.end() :].lstrip()))
        return Quantity(number, parsed_unit.symbol), relaxed
    return value, relaxed


def read_unit(text: str, token: object, offset: int = 0) -> Unit:
    """Return the unit of a text, in any spelling, or a code of three letters or more. Errors point into the token.

    >>> read_unit("KEL", "").symbol
    'K'
    """
    text = text.strip()
    parsed_unit = any_unit(text)
    if parsed_unit is None and len(text) > 2:
        parsed_unit = next(iter(stated_units(text)), None)
    if parsed_unit is None:
        start = getattr(token, "start_pos", None)
        raise InvalidUnit(
            f"{text[:40]!r} is no unit of the table; {suggestion(text)}, or quote the value",
            position=None if start is None else start + offset,
        )
    return parsed_unit


def make_interval(low: Value, high: Value, *, low_open: bool, high_open: bool) -> Interval | None:
    """Return the interval of two bounds, None if one is no number; a bound without a unit takes the other's.

    >>> make_interval(20.0, Quantity(77.0, "degF"), low_open=False, high_open=True).text()
    '[20, 77) degF'
    """
    if isinstance(low, (str, bool, TimestampValue)) or isinstance(high, (str, bool, TimestampValue)):
        return None
    lower, lower_unit = (low.value, low.unit) if isinstance(low, Quantity) else (low, "")
    upper, upper_unit = (high.value, high.unit) if isinstance(high, Quantity) else (high, "")
    if lower_unit and upper_unit and lower_unit != upper_unit:
        a, b = unit(lower_unit), unit(upper_unit)
        same_dimension(a, b)
        lower = a.to(b, lower)
    return Interval(lower, upper, low_open, high_open, upper_unit or lower_unit)


def read_span(token: str) -> tuple[int | None, int | None]:
    """Return a span as (microseconds, None), or as (None, number of events).

    >>> read_span("24 h"), read_span("1.5s"), read_span("500 events")
    ((86400000000, None), (1500000, None), (None, 500))
    """
    hit = _SPAN.fullmatch(token)
    assert hit is not None  # the grammar lets nothing else through
    number, name = hit.groups()
    if name in ("events", "event"):
        if "." in number:
            raise InputError(f"`{token}` is no window; give a whole number of events")
        return None, read_count(number)
    time_unit = find_unit(name)
    factor = DURATIONS.get(time_unit.symbol) if time_unit is not None and time_unit.dimension == "time" else None
    if factor is None:
        start = getattr(token, "start_pos", None)
        problem = f"{name[:40]!r} is not a unit of time; write one of {', '.join(DURATIONS)}, as in `24 h`"
        raise InvalidUnit(problem, position=None if start is None else start + hit.start(2))
    span = float(number) * factor
    if span > _LONGEST_SPAN:
        raise LimitExceeded("microseconds of a span", allowed=_LONGEST_SPAN)
    return (round(span) if "." in number else int(number) * factor), None


def read_count(digits: str) -> int:
    """Return an integer; one of more than eighteen digits counts as 10**18, beyond every limit."""
    return min(int(digits), 10**18) if len(digits) <= 4_000 else 10**18


def number_text(number: float) -> str:
    """Return the shortest text that parses to the same number.

    >>> number_text(25.0), number_text(0.1), number_text(1e22)
    ('25', '0.1', '1e+22')
    """
    text = repr(number)
    return text[:-2] if text.endswith(".0") else text

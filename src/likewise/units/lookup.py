"""Which unit a text spells: the everyday ones are at hand at once, all others are read when a text is none of them.

How units are written: one plain form for the many ways people and machines write the same unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from likewise.errors import UnitError
from likewise.units.table import EVERYDAY, other_units
from likewise.units.unit import Unit

_SIGNS: Final = str.maketrans(
    {
        "µ": "u",
        "μ": "u",
        "²": "2",
        "³": "3",
        "¹": "1",
        "⁰": "0",
        "⁴": "4",
        "⁵": "5",
        "⁶": "6",
        "⁻": "-",
        "−": "-",
        "₂": "2",
        "₀": "0",
        "·": ".",
        "⋅": ".",
        "•": ".",
        "×": ".",
        "*": ".",
        "⁄": "/",
        "∕": "/",
        "º": "°",
        "˚": "°",
        "\u03a9": "ohm",
        "\u2126": "ohm",
        "^": "",
        "℃": "°C",
        "℉": "°F",
        "′": "'",
        "″": '"',
    }
)
_BLANKS: Final = re.compile(r"\s*([/.])\s*|\s+")


def normalize_unit(text: str) -> str:
    """The form in which spellings of units are compared, their case kept.

    >>> plain_text("µg / m³"), plain_text("kΩ"), plain_text("m·s⁻¹"), plain_text(" deg  C")
    ('ug/m3', 'kohm', 'm.s-1', 'deg C')
    """
    return _BLANKS.sub(lambda hit: hit.group(1) or " ", text.strip().translate(_SIGNS))


def closest_spelling(text: str, known: Iterable[str]) -> str:
    """The known text that one or two slips of the pen make of another; '' if none is that near.

    >>> nearest("degg C", ["deg C", "km"]), nearest("kWhh", ["kWh"]), nearest("x", ["m"])
    ('deg C', 'kWh', '')
    """
    from difflib import get_close_matches

    if len(text) < 3:
        return ""
    found = get_close_matches(text, [k for k in known if abs(len(k) - len(text)) <= 2 and len(k) > 1], 1, 0.75)
    return found[0] if found else ""


AnyUnit = dict[str, tuple[Unit, ...]]


class UnitSpellings:
    """Units by spelling, and by folded spelling."""

    def __init__(self) -> None:
        self.exact: AnyUnit = {}
        self.folded: AnyUnit = {}

    def add(self, text: str, found: Unit) -> None:
        """One more spelling of a unit, in plain form; of several units the first counts where nothing fits better."""
        for table, key in ((self.exact, text), (self.folded, text.casefold())):
            held = table.get(key, ())
            if found not in held:
                table[key] = (*held, found)


def _fraction(text: str) -> tuple[int, int]:
    top, _, bottom = text.partition("/")
    return int(top), int(bottom or 1)


def _everyday() -> tuple[dict[str, Unit], UnitSpellings]:
    symbols: dict[str, Unit] = {}
    spellings = UnitSpellings()
    for row in EVERYDAY:
        found = symbols[row.symbol] = Unit(row.symbol, row.dimension, _fraction(row.factor), _fraction(row.offset))
        for spelling in (row.symbol, *row.spellings):
            spellings.add(normalize_unit(spelling), found)
    return symbols, spellings


_SYMBOLS, _EVERYDAY = _everyday()
_SYMBOLS["moment"] = Unit("moment", "moment")  # what stands for a unit where moments are compared; no text spells it


@cache
def _more() -> tuple[dict[str, Unit], UnitSpellings, UnitSpellings]:
    """The second table: units by symbol, by spelling in any text, and by codes that count beside a value only."""
    symbols: dict[str, Unit] = {}
    spellings, codes = UnitSpellings(), UnitSpellings()
    for symbol, dimension, factor, spelled, coded in other_units():
        found = Unit(symbol, dimension, _fraction(factor)) if dimension else _SYMBOLS[symbol]
        symbols[symbol] = found
        spellings.add(symbol, found)
        for spelling in spelled:
            spellings.add(spelling, found)
        for code in coded:
            codes.add(code, found)
    codes.add("K", _SYMBOLS["delta_degC"])  # differences are stated in kelvins, too
    for word in ("kelvin", "kelvins"):
        spellings.add(word, _SYMBOLS["delta_degC"])
    return symbols, spellings, codes


def find_unit(text: str) -> Unit | None:
    """The everyday unit a text spells, or None. Single letters keep their case; longer spellings need not.

    >>> find_unit("°C").symbol, find_unit("KM/H").symbol, find_unit("pm"), find_unit("furlong")
    ('degC', 'km/h', None, None)
    """
    plain = normalize_unit(text)
    hits = _EVERYDAY.exact.get(plain)
    return hits[0] if hits else _folded(plain, _EVERYDAY)


@lru_cache(maxsize=65_536)
def any_unit(text: str) -> Unit | None:
    """The unit of either table a text spells, or None; codes, and what may be something else, are left out.

    >>> any_unit("furlong").symbol, any_unit("ng/m³").dimension, any_unit("pm")
    ('furlong', 'concentration', None)
    """
    plain = normalize_unit(text)
    if not plain:
        return None
    hits = _EVERYDAY.exact.get(plain) or _more()[1].exact.get(plain)
    return hits[0] if hits else _folded(plain, _EVERYDAY) or _folded(plain, _more()[1])


def _folded(plain: str, spellings: UnitSpellings) -> Unit | None:
    """The one unit a text spells in another case; None if there are several."""
    hits = spellings.folded.get(plain.casefold(), ()) if len(plain) > 1 else ()
    return hits[0] if len(hits) == 1 else None


_NAMESPACES: Final = ("http://qudt.org/vocab/unit/", "https://qudt.org/vocab/unit/", "unit:", "ucum:", "qudt-unit:")


@lru_cache(maxsize=65_536)
def stated_units(text: str) -> tuple[Unit, ...]:
    """The units a text that stands beside a value may state, the likeliest first: also QUDT's names and any code.

    >>> [u.symbol for u in stated_units("FAH")], [u.symbol for u in stated_units("unit:DEG_C")], stated_units("raw")
    (['degF'], ['degC'], ())
    >>> [u.symbol for u in stated_units("F")][:2]
    ['degF', 'farad']
    """
    for namespace in _NAMESPACES:
        text = text.removeprefix(namespace)
    plain = normalize_unit(text)
    if not plain:
        return ()
    _, spellings, codes = _more()
    found: dict[Unit, None] = {}
    everyday = (
        len(plain) > 1 and plain in _EVERYDAY.exact
    )  # then it is no code: `ft` is no femtotonne, `dB` no decibyte
    for table in (_EVERYDAY, spellings) if everyday else (_EVERYDAY, spellings, codes):
        found.update(dict.fromkeys(table.exact.get(plain, ())))
    if not found:
        for table in (_EVERYDAY, spellings, codes):
            found.update(dict.fromkeys(table.folded.get(plain.casefold(), ())))
        measured = [u.dimension for u in found]  # `mpa` may be MPa or mPa: then it is neither
        return tuple(u for u in found if measured.count(u.dimension) == 1)
    return tuple(found)


def unit(text: str) -> Unit:
    """The unit a text spells; an unknown one is a `UnitError` that names what it may have meant."""
    found = _SYMBOLS.get(text) or any_unit(text) or _more()[0].get(text)
    if found is None:
        found = next(iter(stated_units(text)), None) if len(text.strip()) > 2 else None
    if found is None:
        raise UnitError(f"{text[:40]!r} is no unit of the table; {suggestion(text)}, or quote the value", unit=text)
    return found


def suggestion(text: str) -> str:
    """What somebody who wrote this for a unit may have meant.

    >>> suggestion("degc ")
    'did you mean degC'
    >>> suggestion("blorps")
    'write one like degC, km/h, %, kWh, hPa, ug/m3'
    """
    plain = normalize_unit(text)
    close = any_unit(text) or next(iter(stated_units(text)), None)
    if close is not None:
        return f"did you mean {close.symbol}"
    near = closest_spelling(plain, _EVERYDAY.exact) or closest_spelling(plain, _more()[1].exact)
    return f"did you mean {near}" if near else "write one like degC, km/h, %, kWh, hPa, ug/m3"


@cache
def units_of_dimension(dimension: str) -> tuple[Unit, ...]:
    """Every unit of a dimension, the everyday ones first.

    >>> [u.symbol for u in units_of_dimension("temperature")][:4]
    ['degC', 'degF', 'K', 'degR']
    """
    return tuple(dict.fromkeys(u for u in (*_SYMBOLS.values(), *_more()[0].values()) if u.dimension == dimension))


def all_units() -> tuple[Unit, ...]:
    """Every unit of both tables."""
    found = dict.fromkeys((*_SYMBOLS.values(), *_more()[0].values()))
    return tuple(u for u in found if u.symbol != "moment")

"""Lookup of units by spelling: the everyday ones first, all others loaded on the first miss.

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
    """Normalise the spelling of a unit for comparison; case is kept.

    >>> normalize_unit("µg / m³"), normalize_unit("kΩ"), normalize_unit("m·s⁻¹"), normalize_unit(" deg  C")
    ('ug/m3', 'kohm', 'm.s-1', 'deg C')
    """
    return _BLANKS.sub(lambda hit: hit.group(1) or " ", text.strip().translate(_SIGNS))


def closest_spelling(text: str, known: Iterable[str]) -> str:
    """Return the known text with at most about two typing errors; '' if there is none.

    >>> closest_spelling("degg C", ["deg C", "km"]), closest_spelling("kWhh", ["kWh"]), closest_spelling("x", ["m"])
    ('deg C', 'kWh', '')
    """
    from difflib import get_close_matches

    if len(text) < 3:
        return ""
    matches = get_close_matches(text, [k for k in known if abs(len(k) - len(text)) <= 2 and len(k) > 1], 1, 0.75)
    return matches[0] if matches else ""


AnyUnit = dict[str, tuple[Unit, ...]]


class UnitSpellings:
    """Units by spelling, and by folded spelling."""

    def __init__(self) -> None:
        self.exact: AnyUnit = {}
        self.folded: AnyUnit = {}

    def add(self, text: str, unit: Unit) -> None:
        """Add a normalised spelling of a unit; of several units, the first wins unless another fits better."""
        for table, key in ((self.exact, text), (self.folded, text.casefold())):
            units = table.get(key, ())
            if unit not in units:
                table[key] = (*units, unit)


def _fraction(text: str) -> tuple[int, int]:
    top, _, bottom = text.partition("/")
    return int(top), int(bottom or 1)


def _everyday() -> tuple[dict[str, Unit], UnitSpellings]:
    symbols: dict[str, Unit] = {}
    spellings = UnitSpellings()
    for row in EVERYDAY:
        unit_row = symbols[row.symbol] = Unit(row.symbol, row.dimension, _fraction(row.factor), _fraction(row.offset))
        for spelling in (row.symbol, *row.spellings):
            spellings.add(normalize_unit(spelling), unit_row)
    return symbols, spellings


_SYMBOLS, _EVERYDAY = _everyday()
_SYMBOLS["moment"] = Unit("moment", "moment")  # what stands for a unit where moments are compared; no text spells it


@cache
def _more() -> tuple[dict[str, Unit], UnitSpellings, UnitSpellings]:
    """Load the second table: units by symbol, by spelling in any text, and by codes that count only beside a value."""
    symbols: dict[str, Unit] = {}
    spellings, codes = UnitSpellings(), UnitSpellings()
    for symbol, dimension, factor, spelled, coded in other_units():
        unit_row = Unit(symbol, dimension, _fraction(factor)) if dimension else _SYMBOLS[symbol]
        symbols[symbol] = unit_row
        spellings.add(symbol, unit_row)
        for spelling in spelled:
            spellings.add(spelling, unit_row)
        for code in coded:
            codes.add(code, unit_row)
    codes.add("K", _SYMBOLS["delta_degC"])  # differences are stated in kelvins, too
    for word in ("kelvin", "kelvins"):
        spellings.add(word, _SYMBOLS["delta_degC"])
    for word in ("beats/min", "beat/min"):
        spellings.add(word, symbols["BPM"])
    for word in ("tr/min", "giri/min", "U/min", "omw/min", "revs/min", "turns/min"):
        spellings.add(word, _SYMBOLS["rpm"])
    for word in ("/min", "1/min", "min-1", "PER-MIN"):  # of a heart, of an engine: what is asked for decides
        codes.add(word, symbols["BPM"])
        codes.add(word, _SYMBOLS["rpm"])
    return symbols, spellings, codes


def find_unit(text: str) -> Unit | None:
    """Return the everyday unit of a spelling, or None. Single letters are case-sensitive.

    >>> find_unit("°C").symbol, find_unit("KM/H").symbol, find_unit("pm"), find_unit("furlong")
    ('degC', 'km/h', None, None)
    """
    plain = normalize_unit(text)
    hits = _EVERYDAY.exact.get(plain)
    return hits[0] if hits else _folded(plain, _EVERYDAY)


@lru_cache(maxsize=65_536)
def any_unit(text: str) -> Unit | None:
    """Return the unit of a spelling in either table, or None; codes and ambiguous spellings are left out.

    >>> any_unit("furlong").symbol, any_unit("ng/m³").dimension, any_unit("pm")
    ('furlong', 'concentration', None)
    """
    plain = normalize_unit(text)
    if not plain:
        return None
    hits = _EVERYDAY.exact.get(plain) or _more()[1].exact.get(plain)
    return hits[0] if hits else _folded(plain, _EVERYDAY) or _folded(plain, _more()[1])


def _folded(plain: str, spellings: UnitSpellings) -> Unit | None:
    """Return the one unit of a spelling in another case; None if there are several."""
    hits = spellings.folded.get(plain.casefold(), ()) if len(plain) > 1 else ()
    return hits[0] if len(hits) == 1 else None


_NAMESPACES: Final = ("http://qudt.org/vocab/unit/", "https://qudt.org/vocab/unit/", "unit:", "ucum:", "qudt-unit:")


@lru_cache(maxsize=65_536)
def stated_units(text: str) -> tuple[Unit, ...]:
    """Return the units that a text beside a value may state, the likeliest first, with QUDT's names and all codes.

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
    candidates: dict[Unit, None] = {}
    # Then it is no code: `ft` is no femtotonne, `dB` no decibyte.
    everyday = len(plain) > 1 and plain in _EVERYDAY.exact
    for table in (_EVERYDAY, spellings) if everyday else (_EVERYDAY, spellings, codes):
        candidates.update(dict.fromkeys(table.exact.get(plain, ())))
    if not candidates:
        for table in (_EVERYDAY, spellings, codes):
            candidates.update(dict.fromkeys(table.folded.get(plain.casefold(), ())))
        measured = [u.dimension for u in candidates]  # `mpa` may be MPa or mPa: then it is neither
        return tuple(u for u in candidates if measured.count(u.dimension) == 1)
    return tuple(candidates)


def unit(text: str) -> Unit:
    """Return the unit of a spelling. Raises `UnitError` with a suggestion for an unknown one.

    Args:
        text: A spelling or symbol.
    """
    known = _SYMBOLS.get(text) or any_unit(text) or _more()[0].get(text)
    if known is None:
        known = next(iter(stated_units(text)), None) if len(text.strip()) > 2 else None
    if known is None:
        raise UnitError(f"{text[:40]!r} is no unit of the table; {suggestion(text)}, or quote the value", unit=text)
    return known


def suggestion(text: str) -> str:
    """Return a hint about which unit an unknown spelling may mean.

    >>> suggestion("degc ")
    'did you mean degC'
    >>> suggestion("blorps")
    'write one like degC, km/h, %, kWh, hPa, ug/m3'
    """
    near = nearest_unit(text)
    return f"did you mean {near}" if near else "write one like degC, km/h, %, kWh, hPa, ug/m3"


def nearest_unit(text: str) -> str:
    """Return the spelling of a unit that is nearest to an unknown one, or an empty string.

    Known units joined by `/` are not misspelt: the table lacks their rate, and any other one is another quantity.

    >>> nearest_unit("degre"), nearest_unit("blorps"), nearest_unit("l/m2")
    ('degree', '', '')
    """
    close = any_unit(text) or next(iter(stated_units(text)), None)
    if close is not None:
        return close.symbol
    parts = text.split("/")
    if len(parts) > 1 and all(any_unit(part) for part in parts):
        return ""
    plain = normalize_unit(text)
    return closest_spelling(plain, _EVERYDAY.exact) or closest_spelling(plain, _more()[1].exact) or ""


@cache
def units_of_dimension(dimension: str) -> tuple[Unit, ...]:
    """Return every unit of a dimension, the everyday ones first.

    >>> [u.symbol for u in units_of_dimension("temperature")][:4]
    ['degC', 'degF', 'K', 'degR']
    """
    return tuple(dict.fromkeys(u for u in (*_SYMBOLS.values(), *_more()[0].values()) if u.dimension == dimension))


def all_units() -> tuple[Unit, ...]:
    """Return every unit of both tables."""
    units = dict.fromkeys((*_SYMBOLS.values(), *_more()[0].values()))
    return tuple(u for u in units if u.symbol != "moment")

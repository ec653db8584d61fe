"""Units of measurement: our own table, so that `5 pm` is never five picometres.

Every unit belongs to a named dimension and turns into that dimension's base by a factor and an
offset. Readings and bounds are compared in the base, rounded to twelve significant digits so that
77 degF equals 25 degC.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

import msgspec

from likewise.errors import UnitError
from likewise.model.unit_table import ROWS


class Unit(msgspec.Struct, frozen=True):
    """One unit: `base value = factor * value + offset` in the base of its dimension."""

    symbol: str
    dimension: str
    factor: float
    offset: float

    def to_base(self, value: float) -> float:
        """The value in the dimension's base unit, to twelve significant digits.

        >>> unit("degF").to_base(77) == unit("degC").to_base(25)
        True
        """
        return float(f"{self.factor * value + self.offset:.12g}")

    def from_base(self, value: float) -> float:
        """The value in this unit of a value in the base unit.

        >>> unit("degF").from_base(unit("degC").to_base(25))
        77.0
        """
        return float(f"{(value - self.offset) / self.factor:.10g}")


def _index() -> tuple[dict[str, Unit], dict[str, Unit], dict[str, tuple[Unit, bool]]]:
    """Units by spelling, by folded spelling where that is unambiguous, and by spelling in identifiers."""
    exact: dict[str, Unit] = {}
    folded: dict[str, Unit | None] = {}
    in_names: dict[str, tuple[Unit, bool]] = {}
    for symbol, dimension, factor, offset, spellings, names in ROWS:
        found = Unit(symbol, dimension, factor, offset)
        for spelling in (symbol, *(s.replace("_", " ") for s in spellings.split())):
            exact.setdefault(spelling, found)
            if len(spelling) > 1:
                key = spelling.casefold()
                folded[key] = found if folded.get(key, found) == found else None
        for name in names.split():
            in_names[name.lower()] = (found, name.islower())
    return exact, {k: u for k, u in folded.items() if u is not None}, in_names


_EXACT, _FOLDED, _IN_NAMES = _index()


def find_unit(text: str) -> Unit | None:
    """The unit a text spells, or None. Single letters keep their case; longer spellings need not.

    >>> find_unit("°C").symbol, find_unit("KM/H").symbol, find_unit("pm")
    ('degC', 'km/h', None)
    """
    text = text.strip()
    return _EXACT.get(text) or _FOLDED.get(text.casefold())


def unit(text: str) -> Unit:
    """The unit a text spells; an unknown one is a `UnitError` that names some known ones."""
    found = find_unit(text)
    if found is None:
        raise UnitError(
            f"{text[:40]!r} is no unit of the table; write one like degC, km/h, %, kWh, hPa, ug/m3, or quote the value"
        )
    return found


# A word of an identifier: an acronym (or several: MACs), a capitalised or lower-case word, or digits.
_WORD = re.compile(r"[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+|\d+|°[CF]|%")


@lru_cache(maxsize=65_536)
def units_in_name(attribute: str) -> tuple[tuple[Unit, bool], ...]:
    """Units an attribute's name may state, with whether it surely does, the last in the name first.

    A single letter (`TempC_SHT`, `air_temp_f`) may be a unit but need not: it is unsure and counts
    only where it fits the unit asked for.

    >>> [(u.symbol, sure) for u, sure in units_in_name("air_temp_f")]
    [('degF', False)]
    >>> [(u.symbol, sure) for u, sure in units_in_name("wind_avg_km_h")]
    [('km/h', True)]
    >>> [(u.symbol, sure) for u, sure in units_in_name("pressure_kPa")]
    [('kPa', True)]
    >>> units_in_name("temperature")
    ()
    """
    found: list[tuple[Unit, bool]] = []
    words = list(_WORD.finditer(attribute))
    end = len(words)
    while end > 0:
        for width in (3, 2, 1):  # `km_h` before `h`, `kPa` (which is cut into `k` and `Pa`) before `Pa`
            start = end - width
            if start < 1:  # the first word is the thing measured, never its unit
                continue
            hit = _IN_NAMES.get(_spelling(words[start:end]))
            if hit is not None:
                if not _is_rate(words, start, end):
                    found.append(hit)
                end = start
                break
        else:
            end -= 1
    return tuple(found)


def _is_rate(words: list[re.Match[str]], start: int, end: int) -> bool:
    """Whether words are half of a rate, which is no unit of the table: `pulses_per_kwh`, `GallonsPerTap`."""
    return "per" in {word.group().lower() for word in words[start - 1 : start] + words[end : end + 1]}


def _spelling(words: list[re.Match[str]]) -> str:
    """Words of a name as the table spells them: those that touch are one, others are joined by `_`."""
    text = words[0].group()
    for before, word in pairwise(words):
        text += word.group() if word.start() == before.end() else "_" + word.group()
    return text.lower()


def reading_unit(attribute: str, stated: str, asked: Unit) -> Unit | None:
    """The unit a reading is in when `asked` is the unit of the question; None if nothing says.

    The unit stands beside the reading (`stated`), else in its name. Raises nothing: a stated text
    that is no unit of the table counts as not stated.

    >>> reading_unit("air_temp_f", "", unit("degC")).symbol
    'degF'
    >>> reading_unit("temperature", "", unit("degC")) is None
    True
    """
    if stated:
        found = find_unit(stated)
        if found is not None:
            return found
    for candidate, sure in units_in_name(attribute):
        if sure or candidate.dimension == asked.dimension:
            return candidate
    return None

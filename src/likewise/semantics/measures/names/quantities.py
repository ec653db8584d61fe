"""Engineering vocabulary of attribute names: abbreviations, formulas, quantities, words without content.

General knowledge of measuring, as found in any handbook: the usual clippings (`temp`, `lvl`) and initials (RH, RSSI),
formulas of common gases, which words name a measurable quantity and of what dimension (the dimensions
of `likewise.units`), and which nouns carry little meaning of their own (`value`, `level`). Two quantities of
different dimensions are never the same reading, however often they are spoken of together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from typing import Final

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.units import find_unit


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(name: str) -> dict[str, tuple[str, ...]]:
    """Read rows of `word word: meaning meaning` from a file of `likewise/data`."""
    text = (resources.files("likewise") / "data" / name).read_text(encoding="utf-8")
    rows = (row.partition(":") for row in text.splitlines() if not row.startswith("#"))
    return {word: tuple(meaning.split()) for words, _, meaning in rows for word in words.split()}


# Short forms and what they stand for.
EXPANSIONS: Final = _table("name-short-forms.txt")

# Letters for quantities that stand before a name (ISO 80000): `Vbat`, `T_air`.
SYMBOLS: Final = {"v": "voltage", "t": "temperature"}

# What a word measures: a dimension of the table of units, or a name of its own where several things share one.
QUANTITIES: Final = _table("name-quantities.txt")

# Dimensions of units that fit a quantity whose name is no dimension, or not the only one.
_PARTS: Final = ("ratio", "concentration")
_UNITS: Final = {
    "latitude": ("angle",),
    "longitude": ("angle",),
    "sound": ("sound level",),
    "illuminance": ("illuminance", "ratio", "irradiance"),
    "rainfall": ("length", "density of flow"),
    "power": ("power", "apparent power", "reactive power"),
    "energy": ("energy", "reactive energy"),
    "particles": ("concentration",),
    **dict.fromkeys(
        _words(
            "humidity volatile carbon nitrogen sulfur oxygen ozone "
            "dioxide monoxide hydrogen ammonia methane formaldehyde"
        ),
        _PARTS,
    ),
}

# Words that say little about which reading it is, and how much they still count.
TRANSPARENT: Final = _words("""
value values val reading readings measurement measurements measure measured raw data sensor sensors payload payloads
bytes byte object decoded field fields channel channels input average mean minimum maximum min max last latest first
actual instantaneous present header info meter gauge probe
""")
LIGHT: Final = _words("""
level state status rate amount strength intensity content concentration degree quality room outdoor indoor outside
inside ambient device air total
""")
# Words for what is so or not so, rather than how much.
STATES: Final = _words("""
alarm alert warning state status presence occupancy motion movement detected occupied open closed leak leakage flood
tamper fault failure active contact
""")
# Words after which a phrase says no more what it is but where, when or how.
PREPOSITIONS: Final = _words("of in on at to from for by with when while per since until under over")
_AFTER_NOUN: Final = _words("open closed on off active inactive full empty low high")
# Names of units that are as often other things.
_ALSO_UNITS: Final = _words("meter min degree degrees second minute minutes bar bars yard pound foot feet day hour var")
_FORMULA: Final = re.compile(r"(pm)\d+")


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def expanded(word: str) -> tuple[str, ...]:
    """Return the words for a folded word: itself unless it is a known short form, a formula or a unit's name.

    >>> expanded("temp"), expanded("co2"), expanded("pm10"), expanded("volts"), expanded("house")
    (('temperature',), ('carbon', 'dioxide'), ('particulate', 'matter'), ('voltage',), ('house',))
    """
    expansion = EXPANSIONS.get(word)
    if expansion is not None:
        return expansion
    formula = _FORMULA.fullmatch(word)
    if formula:
        return EXPANSIONS[formula.group(1)]
    measured = unit_named(word)
    return (measured,) if measured else (word,)


def is_short(word: str) -> bool:
    """Return whether a word is a known short form."""
    return word in EXPANSIONS


def unit_named(word: str) -> str:
    """Return the quantity that a unit's name measures (`volts`: voltage); '' for other or ambiguous words."""
    if len(word) < 3 or word in QUANTITIES or word in _ALSO_UNITS:
        return ""
    unit = find_unit(word)
    return unit.dimension if unit is not None and " " not in unit.dimension and unit.dimension in QUANTITIES else ""


def follows_noun(word: str) -> bool:
    """Return whether a last word modifies the noun before it: `movement detected`, `door open`.

    >>> follows_noun("detected"), follows_noun("open"), follows_noun("speed"), follows_noun("voltage")
    (True, True, False, False)
    """
    return word in _AFTER_NOUN or (len(word) > 4 and word.endswith("ed") and word not in QUANTITIES)


_TAGS: Final = {tag: i for i, tag in enumerate(sorted({t for tags in QUANTITIES.values() for t in tags}))}
_DIMENSIONS: Final = {tag: i for i, tag in enumerate(sorted({d for t in _TAGS for d in _UNITS.get(t, (t,))}))}


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def quantity(word: str) -> int:
    """Return the quantities of a word as bits; 0 if it names none.

    >>> quantity("temperature") == quantity("celsius"), quantity("temperature") & quantity("humidity"), quantity("door")
    (True, 0, 0)
    """
    tags = QUANTITIES.get(word) or QUANTITIES.get(word.removesuffix("s")) or ()
    return sum(1 << _TAGS[tag] for tag in tags)


def dimensions(bits: int) -> int:
    """Return the dimensions of units that quantities may have, as bits."""
    return dimension_bits(d for tag, i in _TAGS.items() if bits >> i & 1 for d in _UNITS.get(tag, (tag,)))


def dimension_bits(names: Iterable[str]) -> int:
    """Return dimensions as bits. All dimensions without a quantity share one bit."""
    out = 0
    for name in names:
        out |= 1 << _DIMENSIONS.get(name, 60)
    return out

"""OBIS codes of meters (IEC 62056-61, EN 13757-1) in plain words: medium, channel, quantity, processing and tariff."""

from __future__ import annotations

import re
from typing import Final

_WRITTEN: Final = re.compile(
    r"(?<!\d)(?P<a>\d{1,2})-(?P<b>\d{1,3})[:._](?P<c>\d{1,3})[._](?P<d>\d{1,3})[._](?P<e>\d{1,3})(?:[*&._]\d{1,3})?(?!\d)"
)
_BARE: Final = re.compile(r"(?:obis[ ._]?)?(?P<c>\d{1,2})[._](?P<d>\d{1,2})[._](?P<e>\d{1,3})(?:[*._]\d{1,3})?", re.I)
_PACKED: Final = re.compile(r"0[0-9a-f]{9}ff", re.I)
_ELECTRICITY, _COOLING, _HEAT, _GAS, _WATER, _HOT_WATER = 1, 5, 6, 7, 8, 9
_INTEGRALS: Final = frozenset({8, 9, 29})  # of power over time: energy
_PROCESSING: Final = {3: " minimum", 4: " average", 5: " average", 6: " maximum", 24: " average"}
_EVENTS: Final = {32: "voltage sag count", 36: "voltage swell count"}
_TARIFFS: Final = {1: "off peak tariff ", 2: "peak tariff "}
# What is measured: in all phases together, and in L1, L2, L3 at 20, 40 and 60 more.
_POWERS: Final = {
    1: "imported",
    2: "exported",
    3: "imported reactive",
    4: "exported reactive",
    9: "imported apparent",
    10: "exported apparent",
    15: "",
    16: "",
}
_OTHERS: Final = {11: "current", 12: "line to neutral voltage", 13: "power factor", 14: "mains frequency"}
_NEUTRAL: Final = 91
_THERMAL: Final = {
    1: "energy",
    2: "volume",
    8: "power",
    9: "water flow",
    10: "supply water temperature",
    11: "return water temperature",
    12: "differential temperature",
}
_VOLUMES: Final = {_GAS: "gas consumption", _WATER: "water consumption", _HOT_WATER: "hot water consumption"}


def obis_reading(text: str) -> tuple[str, str]:
    """Return the code in a name and the plain words that it stands for, two empty strings if there is none.

    >>> obis_reading("1-0:1.8.0*255"), obis_reading("0100480700FF")
    (('1-0:1.8.0*255', 'imported energy'), ('0100480700FF', 'L3 line to neutral voltage'))
    >>> obis_reading("meter.6-0:11.0.0")[1], obis_reading("1.2.3"), obis_reading("2024-01-02")
    ('return water temperature', ('', ''), ('', ''))
    """
    if not any(c.isdigit() for c in text):
        return "", ""
    if _PACKED.fullmatch(text):
        medium, _, *rest = bytes.fromhex(text)[:5]
        return text, _words(medium, *rest)
    found = _WRITTEN.search(text)
    if found is not None:
        plain = _words(*(int(found[name]) for name in "acde"))
    else:
        found = _BARE.fullmatch(text)
        plain = _words(_ELECTRICITY, *(int(found[name]) for name in "cde")) if found is not None else ""
    return (found[0], plain) if found is not None and plain else ("", "")


def _words(medium: int, quantity: int, processing: int, tariff: int) -> str:
    """Return what the groups A, C, D and E say; '' for what no reading is."""
    if medium == _ELECTRICITY:
        return _electric(quantity, processing, tariff)
    if medium in (_HEAT, _COOLING):
        plain = _THERMAL.get(quantity, "")
        sort = "thermal" if medium == _HEAT else "cooling"
        return f"{sort} {plain}" if plain in ("energy", "power") else plain
    return _VOLUMES.get(medium, "") if quantity in (1, 3) else ""


def _electric(quantity: int, processing: int, tariff: int) -> str:
    phase, base = divmod(quantity, 20)
    if quantity > 80:
        return "neutral current" if quantity == _NEUTRAL and processing == 7 else ""
    of_phase = f"L{phase} " if phase else ""
    if processing in _EVENTS:
        return f"{of_phase}{_EVENTS[processing]}" if base == 12 else ""
    instant = processing == 7
    if base in _OTHERS:
        return (
            f"{of_phase}{_OTHERS[base]}{_PROCESSING.get(processing, '')}"
            if instant or processing in _PROCESSING
            else ""
        )
    if base not in _POWERS:
        return ""
    if processing in _INTEGRALS:
        band = _TARIFFS.get(tariff, f"tariff {tariff} " if 0 < tariff < 63 else "")
        return " ".join(f"{of_phase}{band}{_POWERS[base]} energy".split())
    if instant or processing in _PROCESSING:
        return " ".join(f"{of_phase}{_POWERS[base]} power{_PROCESSING.get(processing, '')}".split())
    return ""

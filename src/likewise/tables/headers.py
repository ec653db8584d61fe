"""Headers in the form of attribute names: without their unit and remarks, with short codes written out."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from likewise.units import Unit
from likewise.units.lookup import stated_units
from likewise.units.names import PLACES
from likewise.units.table import EVERYDAY

_EVERYDAY: Final = frozenset(row.symbol for row in EVERYDAY)
_BRACKETS: Final = re.compile(r"\s*[\[(]\s*([^\[\]()]+?)\s*[\])]")
# `10 mn`: an average of so long.
_WINDOW: Final = re.compile(r"[\s_]+\d+[\s_]*(?:mn|mins?|minutes?)\b[\s_.]*", re.IGNORECASE)
# These say how a value was obtained, not what it is.
_HOW: Final = frozenset({"calculated", "computed", "derived", "estimated", "modelled", "modeled"})
# What follows `T` in one word: TMAX, Tdewpoint. Others may mean another quantity (`Tpot`) or be a word (`Total`).
_GLUED: Final = re.compile(
    r"t(max|min|avg|mean|med|amb|ambient|dew|dewpoint|out|outdoor|in|indoor|air|water|soil|set)", re.IGNORECASE
)
_HEIGHT: Final = re.compile(r"([A-Z]{1,4})(\d{1,2})M")  # T2M: at 2 m
# Symbols of ISO 80000 and of meteorology that one dimension makes certain.
_SYMBOLS: Final = {
    ("p", "pressure"): "pressure",
    ("p", "power"): "power",
    ("v", "speed"): "speed",
    ("ws", "speed"): "wind speed",
    ("wv", "speed"): "wind speed",
    ("u", "voltage"): "voltage",
    ("v", "voltage"): "voltage",
    ("i", "current"): "current",
    ("f", "frequency"): "frequency",
    ("e", "energy"): "energy",
    ("q", "flow"): "flow",
}


class HeaderName(NamedTuple):
    """What a header names, and the unit that it states in brackets."""

    name: str
    unit: Unit | None = None


def header_name(header: str) -> HeaderName:
    """Return a header as the name of an attribute.

    >>> remaining, pressure = map(header_name, ("Fuel Remaining (Calculated from the trip)(%)", "p (mbar)"))
    >>> remaining.name, remaining.unit.symbol, pressure.name
    ('Fuel Remaining', '%', 'pressure')
    >>> [header_name(each).name for each in ("TMAX", "T2M", "Vent moyen 10 mn", "Temp (min)", "Tin (mg/kg)")]
    ['T MAX', 't_2m', 'Vent moyen', 'Temp (min)', 'Tin']
    """
    name, unit = header, None
    for bracket in _BRACKETS.finditer(header):
        inside = bracket[1]
        units = () if inside.casefold() in PLACES else stated_units(inside)
        if units and units[0].symbol in _EVERYDAY and (len(inside) > 1 or bracket.end() == len(header)):
            unit = units[0]
        elif inside.partition(" ")[0].casefold() not in _HOW:
            continue
        name = name.replace(bracket[0], "", 1)
    name = _WINDOW.sub(" ", name + " ").strip()
    dimension = "" if unit is None else unit.dimension
    if dimension in ("", "temperature") and (glued := _GLUED.fullmatch(name)):  # `Tin (mg/kg)` is a metal
        name = f"{name[0]} {glued[1]}"
    elif height := _HEIGHT.fullmatch(name):
        name = f"{height[1]}_{height[2]}m".lower()
    name = " ".join(_SYMBOLS.get((word.casefold(), dimension), word) for word in name.split())
    return HeaderName(name, unit) if name else HeaderName(header)

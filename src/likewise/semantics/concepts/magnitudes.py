"""Unit of a bare number under an ambiguous name, by its size: a `battery` of 3.6 is in volts, one of 87 in percent.

Only names that may be several kinds of readings are asked about; where the size fits several too, nothing is said.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.semantics.text.identifiers import split_identifier

BATTERY: Final = frozenset({"battery", "batteries", "batt", "bat", "accu", "accumulator"})
_SILENT: Final = frozenset({"value", "reading", "status", "state", "info", "main", "device", "sensor", "node"})
MOST_VOLTS: Final = 5.0  # of one or two cells; above it a number with decimals may be either
LEAST_MILLIVOLTS: Final = 1_000.0


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def is_bare_battery(attribute: str) -> bool:
    """Return whether a name says no more than that it belongs to a battery.

    >>> is_bare_battery("device.battery"), is_bare_battery("batteryVoltage"), is_bare_battery("bat_pct")
    (True, False, False)
    """
    words = {word.casefold() for word in split_identifier(attribute)}
    return bool(words & BATTERY) and words <= BATTERY | _SILENT


def unit_by_size(attribute: str, value: float) -> str:
    """Return the only possible unit of a number under a bare name; '' if several are possible.

    >>> [unit_by_size("battery", value) for value in (3.6, 87, 3300, 12.6, 3, 0.61)]
    ['V', '%', 'mV', '', '', '%']
    """
    if not is_bare_battery(attribute):
        return ""
    whole = float(value).is_integer()
    if 1 < value <= MOST_VOLTS and not whole:
        return "V"
    if (MOST_VOLTS < value <= 100 and whole) or 0 < value < 1:  # a fraction, too
        return "%"
    return "mV" if value >= LEAST_MILLIVOLTS else ""

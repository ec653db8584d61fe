"""Unit of a reading: the unit beside it, else the one in its name. A stated unit is never ignored."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from likewise.units.lookup import stated_units
from likewise.units.names import units_in_name
from likewise.units.unit import Unit

UNKNOWN: Final = ""  # the dimension of a stated unit that is in no table
NOT_STATED: Final = frozenset({"", "-", "--", "none", "null", "n/a", "na"})  # said where nothing is said


def is_stated(text: str) -> bool:
    """Return whether a text beside a value states a unit at all.

    >>> is_stated("C"), is_stated(" "), is_stated("None")
    (True, False, False)
    """
    return text.strip().casefold() not in NOT_STATED


@lru_cache(maxsize=65_536)
def _stated_unit(text: str, dimension: str) -> Unit | None:
    """Return the unit that a text beside a value states, preferably of `dimension`; None if it states none."""
    if not is_stated(text):
        return None
    candidates = stated_units(text) or (Unit(text, UNKNOWN),)
    return next((candidate for candidate in candidates if candidate.dimension == dimension), candidates[0])


def reading_unit(attribute: str, stated: str, target: Unit) -> Unit | None:
    """Return the unit of a reading, given the target unit of the comparison; None if it states none.

    The unit stands beside the reading (`stated`), else in its name. A stated text that is in no table is a
    unit of the dimension `UNKNOWN`, which fits no question.

    Args:
        attribute: Name of the attribute, which may contain a unit.
        stated: Unit beside the value, '' if there is none.
        target: Unit of the comparison, which decides between ambiguous spellings.

    >>> from likewise.model import unit
    >>> reading_unit("air_temp_f", "", unit("degC")).symbol
    'degF'
    >>> reading_unit("temperature", "", unit("degC")) is None
    True
    >>> reading_unit("temperature", "blorps", unit("degC"))
    Unit(symbol='blorps', dimension='', ratio=(1, 1), shift=(0, 1))
    """
    if stated and (stated_unit := _stated_unit(stated, target.dimension)) is not None:
        return stated_unit
    for candidate, sure in units_in_name(attribute):
        if sure or candidate.dimension == target.dimension:
            return candidate
    return None

"""Units of bare numbers under names that were asked for by meaning: the customary unit of the kind.

Somebody who asks for `"active power"~ > 2 kW` is met by `apower: 2254.1`, which is in watts as power mostly is, and not
by 2,254 kW. A number that cannot be such a reading (an outdoor temperature of 658) does not meet it at all, unless it
can only be in another unit of the kind (an atmospheric pressure of 98,430 is in pascals). What a number is taken in
follows from the asked name, the asked unit and the number alone, so that all engines agree.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, nextafter
from typing import TYPE_CHECKING, Final, NamedTuple

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.semantics.concepts.encyclopaedia.lexicon import CustomaryRow, folded, phrase_of
from likewise.semantics.concepts.library import customary_table
from likewise.semantics.text.identifiers import split_identifier
from likewise.units import Unit, reading_unit, unit, units_in_name

if TYPE_CHECKING:
    from likewise.model import EventTuple, Predicate

# Dimensions of which makers use several units alike: only a range above zero can tell which one is meant.
UNSETTLED_DIMENSIONS: Final = frozenset({"pressure", "flow", "volume", "mass", "energy"})
# Dimensions whose readings are in one unit whatever they are of, so that the end of a longer name says it.
SETTLED: Final = frozenset({"temperature", "power", "voltage", "current", "illuminance", "irradiance", "frequency"})
# What is no reading of a quantity, though its name holds the quantity's: a `power_outage_count`, a `Bat_status`.
NO_QUANTITY: Final = frozenset(
    {"count", "counter", "status", "index", "mode", "time", "threshold", "interval", "flag", "days"}
)
# What is asked for in percent and often sent as a fraction: a valve position of 0.58.
FRACTIONS: Final = frozenset(
    {"level", "charge", "position", "humidity", "moisture", "opening", "load", "health", "saturation", "brightness"}
    | {"dimming", "usage", "battery", "soc", "wetness", "fullness", "fill", "openness"}
)
KELVIN: Final = "K"  # has decimals where it is sent: a whole 283 may as well be tenths of a degree
MUCH_SMALLER: Final = 100.0  # units in one of the customary unit
CONTENTS: Final = frozenset({"volume", "mass"})  # dimensions of what is in a tank, which its height does not tell
COMPARED: Final = frozenset({"<", "<=", ">", ">=", "=", "between"})


class CustomaryUnit(NamedTuple):
    """A unit that a bare number may be in, and the numbers that are then possible, in the base of its dimension."""

    unit: Unit
    low: float
    high: float

    def holds(self, number: float) -> bool:
        """Return whether a bare number can be in this unit."""
        return bool(self.low <= self.unit.to_base(number) <= self.high)


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def customary_units(asked: str, symbol: str) -> tuple[CustomaryUnit, ...]:
    """Return the units that a bare number may be in where a name is asked for by meaning; none if no one is customary.

    >>> [(each.unit.symbol, each.holds(98_430)) for each in customary_units("atmospheric pressure", "bar")]
    [('hPa', False), ('Pa', True)]
    >>> customary_units("active power", "kW")[0].unit.symbol, customary_units("oil pressure", "bar")
    ('W', ())
    """
    table, words, dimension = customary_table(), phrase_of(asked), unit(symbol).dimension
    if symbol == "%" and not FRACTIONS.isdisjoint(words):
        return _fraction_or_percent(table.get(" ".join(words)))
    row = table.get(" ".join(words))
    if row is None and dimension in SETTLED:
        row = next((r for at in range(1, len(words)) if (r := table.get(" ".join(words[at:])))), None)
    if row is None:
        return ()
    _, customary, low, high, others = row
    first = unit(customary)
    if first.dimension != dimension or (dimension in UNSETTLED_DIMENSIONS and low <= 0):
        return ()
    units = [CustomaryUnit(first, *_based(first, low, high))]
    for each in map(unit, others):
        # Another unit is meant only where no number could be in both: of a much smaller one, those beyond the range.
        if low > -inf and high < inf and first.to(each, low) >= high:
            units.append(CustomaryUnit(each, *_based(first, low, high)))
        elif high < inf and not any(u.shift[0] for u in (first, each)) and first.to(each, 1) >= MUCH_SMALLER:
            beyond = nextafter(each.to_base(high), inf)
            units.append(CustomaryUnit(each, max(_based(first, low, high)[0], beyond), first.to_base(high)))
    return tuple(units)


def _fraction_or_percent(row: CustomaryRow | None) -> tuple[CustomaryUnit, ...]:
    """Return a fraction for numbers below one, percent for others within the range."""
    percent, fraction = unit("%"), unit("fraction")
    low, high = (0.0, inf) if row is None else _based(unit(row[1]), row[2], row[3])
    return (
        CustomaryUnit(fraction, max(low, 0.0), nextafter(fraction.to_base(1), 0)),
        CustomaryUnit(percent, max(low, percent.to_base(1)), high),
        *((CustomaryUnit(percent, low, nextafter(0.0, -inf)),) if low < 0 else ()),
    )


def _based(known: Unit, low: float, high: float) -> tuple[float, float]:
    return (low if low == -inf else known.to_base(low)), (high if high == inf else known.to_base(high))


def candidate_units(
    predicate: Predicate, attribute: str, stated: str, *, whole: bool = False
) -> tuple[CustomaryUnit, ...] | None:
    """Return the units that a bare number may be taken in for a predicate; None if it is read as it always is.

    Args:
        predicate: what is asked; only comparisons with a unit under a relaxed attribute take numbers by custom.
        attribute: the name that the number stands under.
        stated: the text beside the number that may state a unit.
        whole: whether the number is written without decimals, so that it is in no kelvins.
    """
    symbol = predicate.unit
    if not predicate.attribute_relaxed or not symbol or predicate.operator not in COMPARED:
        return None
    if reading_unit(attribute, stated, unit(symbol)) is not None:
        return None
    if is_no_quantity(attribute) and not is_no_quantity(predicate.attribute):
        return ()
    if (symbol == "%" or unit(symbol).dimension in CONTENTS) and _is_height(attribute):
        return ()
    units = customary_units(predicate.attribute, symbol)
    return tuple(u for u in units if not whole or u.unit.symbol != KELVIN) or None


def in_customary_unit(predicate: Predicate, item: EventTuple) -> EventTuple | None:
    """Return a tuple with the unit that its bare number is in by custom; None if the number cannot be what is asked.

    >>> from likewise.model import EventTuple, Predicate, Quantity
    >>> asked = Predicate("active power", ">", Quantity(2.0, "kW"), attribute_relaxed=True)
    >>> in_customary_unit(asked, EventTuple("apower", 2254.1)).unit
    'W'
    >>> in_customary_unit(asked, EventTuple("power_outage_count", 3)) is None
    True
    """
    reading = item.reading()
    if reading is None:
        return item
    units = candidate_units(predicate, item.attribute, reading[1], whole=is_whole(item.value))
    if units is None:
        return item
    taken = next((each.unit for each in units if each.holds(reading[0])), None)
    return None if taken is None else type(item)(item.attribute, reading[0], taken.symbol)


def is_whole(value: object) -> bool:
    """Return whether a number is written without decimals.

    >>> is_whole(283), is_whole("283"), is_whole(283.0), is_whole("283.4")
    (True, True, False, False)
    """
    return isinstance(value, int) or (isinstance(value, str) and value.strip().lstrip("+-").isdigit())


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def _is_height(attribute: str) -> bool:
    """Return whether a level's name ends with a length (`waterLevel_m`): it is no share and no content.

    >>> _is_height("waterLevel_m"), _is_height("fillLevel"), _is_height("humidity_in")
    (True, False, False)
    """
    *_, noun, _ = ("", "", *split_identifier(attribute))
    # Of other names the end is rarely a unit: `humidity_in`.
    return folded(noun) == "level" and any(each.dimension == "length" for each, _ in units_in_name(attribute))


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def is_no_quantity(name: str) -> bool:
    """Return whether a name's last word says that it is a count, a status or a setting, whatever it is of.

    >>> is_no_quantity("power_outage_count"), is_no_quantity("Bat_status"), is_no_quantity("count_power")
    (True, True, False)
    """
    words = [folded(word) for word in split_identifier(name) if word.isalpha()]
    return bool(words) and words[-1] in NO_QUANTITY

"""Units of measurement, from our own tables, so that `5 pm` is never five picometres.

Every unit belongs to a named dimension and turns into that dimension's base by a factor and an offset, both exact
fractions (`unit`). `lookup` says which unit a text spells, `names` which one the name of a reading states, `stated`
which one a reading is in. `table` reads the units themselves, which are data (decision 001).
"""

from likewise.units.lookup import all_units, any_unit, find_unit, stated_units, suggestion, unit, units_of_dimension
from likewise.units.names import units_in_name
from likewise.units.stated import UNKNOWN, is_stated, reading_unit
from likewise.units.unit import LARGEST_WHOLE, WHOLE_IN_FLOAT, Unit, decimal_fraction, same_dimension

__all__ = [
    "LARGEST_WHOLE",
    "UNKNOWN",
    "WHOLE_IN_FLOAT",
    "Unit",
    "all_units",
    "any_unit",
    "decimal_fraction",
    "find_unit",
    "is_stated",
    "reading_unit",
    "same_dimension",
    "stated_units",
    "suggestion",
    "unit",
    "units_in_name",
    "units_of_dimension",
]

"""Does every value that meets one predicate meet another? One tuple, one attribute; never errs towards yes.

The kinds of values a tuple may hold decide the rules:

- Text is compared folded, so a text operator's implications are decided on folded text alone.
- Text that is wholly a number also compares as one, so `= "27"` is a number, too; a Boolean may be
  written as text.
- A reading may state any unit of its dimension, or none and then counts in the unit asked for. So two
  predicates with different units must agree both in the base and in bare numbers: `t > 77 degF` does not
  cover `t > 25 degC`, because a bare 30 meets the second alone. A name that states a unit is not relied
  on, for an event may spell it otherwise.

Exact for predicates in one unit or none, for text operators, and for sets, except that a set is compared
value by value and that text which spells a number with a unit counts as mere text.
"""

from __future__ import annotations

from likewise.matching.covering.compatibility import compatible, equals
from likewise.matching.covering.stated_intervals import SLACK, bare, inside, stated
from likewise.matching.reference.operators import SEPARATORS, meets
from likewise.model.event import EventTuple
from likewise.model.predicate import TEXT_OPERATORS, Predicate
from likewise.model.text import fold, fold_part
from likewise.model.timestamps import MOMENT, MOMENT_UNITS
from likewise.model.values import Interval, Quantity, read_number
from likewise.units import unit, units_of_dimension


def implies(narrow: Predicate, wide: Predicate) -> bool:
    """Whether every value that meets `narrow` meets `wide`; attributes are not compared.

    >>> implies(Predicate("x", "=", 7.0), Predicate("x", ">", 5.0))
    True
    >>> implies(Predicate("x", "starts with", "building/1"), Predicate("x", "contains", "ING"))
    True
    """
    if wide.operator == "exists":
        return True
    if "matches" in (narrow.operator, wide.operator):  # compared as it is written, unlike all other text
        return narrow.operator == wide.operator and narrow.value == wide.value
    match narrow.operator:
        case "exists":
            return False
        case "in":
            assert isinstance(narrow.value, tuple)
            return all(implies(equals(narrow, one), wide) for one in narrow.value)
        case "!=":
            return wide.operator == "!=" and _excludes_less(wide, narrow)
    if wide.operator == "in":
        assert isinstance(wide.value, tuple)
        return any(implies(narrow, equals(wide, one)) for one in wide.value)
    if wide.operator == "!=":
        return never_equal(narrow, wide)
    value = narrow.value
    if isinstance(value, bool):
        return all(meets(wide, EventTuple("x", witness)) for witness in (value, str(value)))
    if narrow.operator in TEXT_OPERATORS:
        if wide.operator not in TEXT_OPERATORS:
            return False
        return _text_implies(narrow.operator, fold_part(str(value)), wide.operator, fold_part(str(wide.value)))
    if isinstance(value, str):
        asked = wide.interval()
        if asked is None:
            return bool(meets(wide, EventTuple("x", fold(value))))
        number = plain_number(value)
        return number is not None and not asked.unit and asked.holds(number)
    return _interval_implies(narrow.interval(), wide.interval())


def plain_number(text: str) -> float | None:
    """The number a text says however it is spelled, if it states no unit."""
    number = read_number(text)
    return None if isinstance(number, Quantity) else number


def _excludes_less(wide: Predicate, narrow: Predicate) -> bool:
    """`!= w` against `!= v`: all that w excludes, v excludes; a unit also excludes other dimensions."""
    w, v = wide.value, narrow.value
    if isinstance(w, Quantity) and not (isinstance(v, Quantity) and unit(v.unit).dimension == unit(w.unit).dimension):
        return False
    return implies(equals(wide, w), equals(narrow, v))


def never_equal(narrow: Predicate, unequal: Predicate) -> bool:
    """Whether no value that meets `narrow` fails `!= w`; errs towards no."""
    w = unequal.value
    if isinstance(w, Quantity):  # a reading of another dimension fails `!=` as well
        asked = narrow.interval()
        bare_text = isinstance(narrow.value, str) and narrow.operator == "=" and read_number(narrow.value) is None
        same = asked is not None and bool(asked.unit) and unit(asked.unit).dimension == unit(w.unit).dimension
        if not (same or bare_text or isinstance(narrow.value, bool)):
            return False
    return not compatible((narrow, equals(unequal, w)))


def _text_implies(narrow: str, v: str, wide: str, w: str) -> bool:
    if narrow == wide and v == w:
        return True
    if narrow == "is-a" and wide != "is-a":
        return False  # a declared type need not be spelled so
    if narrow in SEPARATORS:
        v = v.strip().rstrip(SEPARATORS[narrow])
        if not v:
            return False
    match wide:
        case "contains":
            return w in v
        case "starts with":
            return narrow not in ("contains", "ends with") and v.startswith(w)
        case "ends with":
            return narrow == "ends with" and v.endswith(w)
    if narrow in ("contains", "ends with"):
        return False
    w = w.strip().rstrip(SEPARATORS[wide])
    if v.startswith(tuple(w + s for s in SEPARATORS[wide])):
        return True
    return v == w and (narrow == "under" or narrow == wide == "is-a")


def _interval_implies(narrow: Interval | None, wide: Interval | None) -> bool:
    if narrow is None or wide is None:
        return False
    if narrow.unit == wide.unit:
        return inside(narrow.base(), wide.base())
    if not narrow.unit or MOMENT in (narrow.unit, wide.unit):
        return False  # a reading of another dimension, or one that is no time, meets the former only
    if not wide.unit and narrow.unit in MOMENT_UNITS:
        return False  # a date is a number of seconds, but no bare number
    found = unit(narrow.unit)
    if not wide.unit:
        base = narrow.base()
        readings = [stated(base, other) for other in units_of_dimension(found.dimension)]
        return all(inside(reading, wide, SLACK) for reading in [*readings, bare(narrow)])
    if found.dimension != unit(wide.unit).dimension:
        return False
    return inside(narrow.base(), wide.base()) and inside(bare(narrow), bare(wide), SLACK)

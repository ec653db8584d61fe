"""Covering, equality and intersection of conditions (sources.md C; CUPUS, section 4.4.1).

Covering: a covers b when every event that meets b meets a. Events may repeat an attribute, and each
predicate may be met by another tuple; so a covers b exactly when each predicate of a is implied by a single
predicate of b. (`x between 1 and 2` therefore does not cover `x >= 1, x <= 2`: two readings, 0 and 5, meet
the latter alone. The other way round it does cover.)

Intersection, for announcements: some publication could satisfy both. Here a publication gives an
attribute one value, as the paper's does, so `x = 9` does not intersect `x = 7`; an attribute only one side
mentions is open. Where one side alone asks for values no single one can have, and for attributes inside
lists (`tags[]`), repetition is meant and the attribute is open, too.

Exact for conjunctions (see `implication` and `compatibility` for mixed units); with `or` and `not`
covering never errs towards yes and intersection never towards no. A relaxed predicate, and an item of a
list, is covered by an equal condition only, and is open to intersection.

Does every value that meets one predicate meet another? One tuple, one attribute; never errs towards yes.

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

from collections.abc import Iterable

from likewise.matching.covering.compatibility import compatible, equals
from likewise.matching.covering.stated_intervals import SLACK, bare, inside, stated
from likewise.matching.reference.operators import SEPARATORS, meets
from likewise.model.condition import Conjunction
from likewise.model.event import EventTuple
from likewise.model.predicate import TEXT_OPERATORS, Predicate
from likewise.model.subscription import Condition
from likewise.model.text import fold, fold_part
from likewise.model.timestamps import MOMENT, MOMENT_UNITS
from likewise.model.values import Interval, Quantity, read_magnitude
from likewise.units import unit, units_of_dimension


def implies(narrow: Predicate, wide: Predicate) -> bool:
    """Return whether every value that meets `narrow` meets `wide`; attributes are not compared.

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
        interval = wide.interval()
        if interval is None:
            return bool(meets(wide, EventTuple("x", fold(value))))
        number = plain_number(value)
        return number is not None and not interval.unit and interval.holds(number)
    return _interval_implies(narrow.interval(), wide.interval())


def plain_number(text: str) -> float | None:
    """The number a text says however it is spelled, if it states no unit."""
    number = read_magnitude(text)
    return None if isinstance(number, Quantity) else number


def _excludes_less(wide: Predicate, narrow: Predicate) -> bool:
    """`!= w` against `!= v`: all that w excludes, v excludes; a unit also excludes other dimensions."""
    w, v = wide.value, narrow.value
    if isinstance(w, Quantity) and not (isinstance(v, Quantity) and unit(v.unit).dimension == unit(w.unit).dimension):
        return False
    return implies(equals(wide, w), equals(narrow, v))


def never_equal(narrow: Predicate, unequal: Predicate) -> bool:
    """Return whether no value that meets `narrow` fails `!= w`; errs towards no."""
    w = unequal.value
    if isinstance(w, Quantity):  # a reading of another dimension fails `!=` as well
        interval = narrow.interval()
        bare_text = isinstance(narrow.value, str) and narrow.operator == "=" and read_magnitude(narrow.value) is None
        same = interval is not None and bool(interval.unit) and unit(interval.unit).dimension == unit(w.unit).dimension
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
    narrow_unit = unit(narrow.unit)
    if not wide.unit:
        base = narrow.base()
        readings = [stated(base, other) for other in units_of_dimension(narrow_unit.dimension)]
        return all(inside(reading, wide, SLACK) for reading in [*readings, bare(narrow)])
    if narrow_unit.dimension != unit(wide.unit).dimension:
        return False
    return inside(narrow.base(), wide.base()) and inside(bare(narrow), bare(wide), SLACK)


Asked = Condition | Conjunction


def covers(a: Asked, b: Asked) -> bool:
    """Return whether every event that meets b meets a; never errs towards yes.

    >>> wide, narrow = (Condition((Predicate("x", ">", n),)) for n in (1.0, 2.0))
    >>> covers(wide, narrow), covers(narrow, wide)
    (True, False)
    """
    wide, narrow = _conjunctions(a), _conjunctions(b)
    if any(_relaxed(c) for c in (*wide, *narrow)):
        return sorted(map(repr, wide)) == sorted(map(repr, narrow))  # `x~ = 1` and `x~ = true` are equal in Python
    return all(any(_conjunction_covers(w, n) for w in wide) for n in narrow)


def equivalent(a: Asked, b: Asked) -> bool:
    """Return whether each covers the other; never errs towards yes.

    >>> from likewise.model.values import Interval
    >>> between = Predicate("x", "between", Interval(1, 2))
    >>> equivalent(Condition((between,)), Condition((Predicate("X", "between", Interval(1.0, 2.0)),)))
    True
    """
    return covers(a, b) and covers(b, a)


def intersects(a: Asked, b: Asked) -> bool:
    """Return whether some publication could satisfy both; never errs towards no.

    >>> intersects(Condition((Predicate("x", "=", 9.0),)), Condition((Predicate("x", "=", 7.0),)))
    False
    >>> intersects(Condition((Predicate("x", "=", 9.0),)), Condition((Predicate("y", "=", 7.0),)))
    True
    """
    others = _conjunctions(b)
    return any(_conjunctions_intersect(one, other) for one in _conjunctions(a) for other in others)


def _conjunctions(condition_or_conjunction: Asked) -> tuple[Conjunction, ...]:
    return (
        condition_or_conjunction.conjunctions()
        if isinstance(condition_or_conjunction, Condition)
        else (condition_or_conjunction,)
    )


def _relaxed(conjunction: Conjunction) -> bool:
    return any(p.relaxed_parts for p in (*conjunction.positive, *conjunction.negative)) or bool(
        conjunction.some or conjunction.none
    )


def _conjunction_covers(wide: Conjunction, narrow: Conjunction) -> bool:
    """Each demand of `wide` follows from one of `narrow`, each prohibition from a wider prohibition."""
    return all(any(_follows(n, w) for n in narrow.positive) for w in wide.positive) and all(
        any(_follows(w, n) for n in narrow.negative) for w in wide.negative
    )


def _follows(narrow: Predicate, wide: Predicate) -> bool:
    return fold(narrow.attribute) == fold(wide.attribute) and implies(narrow, wide)


def _conjunctions_intersect(a: Conjunction, b: Conjunction) -> bool:
    mine, theirs = _by_attribute(a.positive), _by_attribute(b.positive)
    for predicate in _by_attribute((*a.negative, *b.negative)).items():
        attribute, forbidden = predicate
        both = (*mine.get(attribute, ()), *theirs.get(attribute, ()))
        if any(implies(p, f) for p in both for f in forbidden):
            return False
    return all(
        "[]" in attribute
        or compatible((*both, *theirs[attribute]))
        or not compatible(both)
        or not compatible(theirs[attribute])
        for attribute, both in mine.items()
        if attribute in theirs
    )


def _by_attribute(predicates: Iterable[Predicate]) -> dict[str, list[Predicate]]:
    """Exact predicates by folded attribute; relaxed ones constrain nothing here."""
    grouped: dict[str, list[Predicate]] = {}
    for predicate in predicates:
        if not predicate.relaxed_parts:
            grouped.setdefault(fold(predicate.attribute), []).append(predicate)
    return grouped

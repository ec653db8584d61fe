"""Can one value meet several predicates at once? One tuple, one attribute; never errs towards no.

Exact for numbers without units or in one unit, for text operators and for finite sets; a text operator
beside a comparison of numbers is taken to fit if its text could stand in a number with a unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise, product
from typing import Final

from likewise.matching.covering.stated_intervals import SLACK, bare, stated
from likewise.matching.reference.operators import SEPARATORS, meets, register_operators
from likewise.model.event import EventTuple
from likewise.model.predicate import COMPARISONS, TEXT_OPERATORS, Predicate
from likewise.model.text import fold, fold_part
from likewise.model.timestamps import MOMENT, TimestampValue
from likewise.model.values import Interval, Quantity, read_magnitude
from likewise.units import Unit, unit, units_of_dimension
from likewise.units.table import EVERYDAY


def compatible(predicates: Sequence[Predicate]) -> bool:
    """Return whether one value could meet all the predicates; attributes are not compared.

    >>> compatible([Predicate("x", "=", 9.0), Predicate("x", "=", 7.0)])
    False
    >>> compatible([Predicate("x", "starts with", "a"), Predicate("x", "ends with", "b")])
    True
    """
    predicates = [p for p in predicates if not _open(p)]
    for place, predicate in enumerate(predicates):
        if predicate.operator == "in":
            assert isinstance(predicate.value, tuple)
            rest = [*predicates[:place], *predicates[place + 1 :]]
            return any(compatible([equals(predicate, one), *rest]) for one in predicate.value)
    for predicate in predicates:
        value = predicate.value
        if predicate.operator == "=" and isinstance(value, (str, bool)):
            witnesses: tuple[str | bool, ...] = (fold(value),) if isinstance(value, str) else (value, str(value))
            return any(all(_may_meet(one, other) for other in predicates) for one in witnesses)
    unequal = [p.value for p in predicates if p.operator == "!="]
    texts = [p for p in predicates if p.operator in TEXT_OPERATORS]
    intervals = [i for p in predicates if (i := p.interval()) is not None]
    if not _texts_fit(texts):
        return False
    if not intervals:
        return True
    if texts and not all(_could_stand_in_a_number(p) for p in texts):
        return False
    return _numbers_fit(fold(predicates[0].attribute), intervals, unequal)


# What an operator adds to the question whether one value can meet several predicates; `open` ones are taken to fit all
# others: topic filters and declared types are not reasoned about.
_ROLES: Final = register_operators(
    "covering",
    {
        "exists": "none",
        "=": "value",
        "!=": "exclusion",
        "in": "values",
        "between": "range",
        **dict.fromkeys(COMPARISONS, "range"),
        "contains": "infix",
        "starts with": "prefix",
        "ends with": "suffix",
        "under": "parent",
        "is-a": "open",
        "matches": "open",
    },
)


def _open(predicate: Predicate) -> bool:
    """Return whether a predicate fits all others: topics, declared types and times are not reasoned about."""
    values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
    if _ROLES[predicate.operator] == "open" or any(isinstance(value, TimestampValue) for value in values):
        return True
    interval = predicate.interval()
    return interval is not None and interval.unit == MOMENT


def equals(predicate: Predicate, value: object) -> Predicate:
    """`=` on a predicate's attribute."""
    return Predicate(predicate.attribute, "=", value)  # type: ignore[arg-type]  # one value of `in` or `!=`


def _may_meet(witness: str | bool, predicate: Predicate) -> bool:
    """Return whether a text, in some spelling and beside some unit, or a Boolean could meet a predicate."""
    value = predicate.value
    numeric = predicate.interval() is not None or isinstance(value, (float, int, Quantity))
    if isinstance(witness, bool) or not numeric or isinstance(value, bool):
        return bool(meets(predicate, EventTuple("x", witness)))
    read = read_magnitude(witness)
    read = read_magnitude(witness.upper()) if read is None else read
    if read is None:
        return predicate.operator == "!="  # not a number in any spelling: unequal to every number
    if predicate.unit:
        return True
    if predicate.operator == "!=":
        return read != value
    interval = predicate.interval()
    return interval is None or interval.holds(read.value if isinstance(read, Quantity) else read)


def _texts_fit(predicates: Iterable[Predicate]) -> bool:
    """Prefixes must agree with each other, endings with each other; anything fits between."""
    starts: list[tuple[str, str]] = []  # a prefix, and the characters that may follow it at once ('' for any)
    ends: list[str] = []
    for predicate in predicates:
        text = fold_part(str(predicate.value))
        match _ROLES[predicate.operator]:
            case "prefix":
                starts.append((text, ""))
            case "suffix":
                ends.append(text)
            case "parent":
                separators = SEPARATORS[predicate.operator]
                starts.append((text.strip().rstrip(separators), separators))
    ends.sort(key=len)
    starts.sort(key=lambda start: len(start[0]))
    return all(longer.endswith(shorter) for shorter, longer in pairwise(ends)) and all(
        _extends(longer, shorter, following)
        for place, (shorter, following) in enumerate(starts)
        for longer, _ in starts[place + 1 :]
    )


def _extends(longer: str, shorter: str, following: str) -> bool:
    if not longer.startswith(shorter):
        return False
    return not following or longer == shorter or longer[len(shorter)] in following


def _could_stand_in_a_number(predicate: Predicate) -> bool:
    """Return whether a text that reads as a number, perhaps with a unit, could meet a text operator."""
    text = fold(str(predicate.value))
    if predicate.operator in ("starts with", "under"):
        return text[:1] in "0123456789+-."
    return True  # units are spelled with nearly every letter


def _numbers_fit(attribute: str, intervals: list[Interval], unequal: Sequence[object]) -> bool:
    with_unit = [i for i in intervals if i.unit]
    plain = [i for i in intervals if not i.unit]
    symbols = {i.unit for i in with_unit}
    if not with_unit:
        joined = _join(plain)
        return joined is not None and not _excluded(joined, unequal)
    if len(symbols) == 1 and not plain:
        joined = _join([i.base() for i in with_unit])
        (symbol,) = symbols
        factor = unit(symbol)
        same = [factor.to_base(w.value) for w in unequal if isinstance(w, Quantity) and w.unit == symbol]
        return joined is not None and not _excluded(joined, same)
    if _join([bare(i) for i in intervals], SLACK) is not None:
        return True  # a bare reading, taken by each in its own unit
    dimensions: dict[str, list[Interval]] = {}
    for interval in with_unit:
        dimensions.setdefault(unit(interval.unit).dimension, []).append(interval)
    choices: list[list[list[Interval]]] = []
    for dimension, dimension_bounds in dimensions.items():
        base = _join([i.base() for i in dimension_bounds])
        units = units_of_dimension(dimension) if len(dimensions) == 1 else _units_a_name_may_state(attribute, dimension)
        in_units = [] if base is None else [[stated(base, u)] for u in units]
        choices.append([[bare(i) for i in dimension_bounds], *in_units])
    return any(_join([*plain, *chain.from_iterable(chosen)], SLACK) is not None for chosen in product(*choices))


def _units_a_name_may_state(attribute: str, dimension: str) -> list[Unit]:
    """Units of a dimension that some spelling of an attribute could state, and perhaps not surely.

    A unit that is not sure counts for predicates of its own dimension only; for others the reading is bare.
    That way alone can one reading meet predicates of two dimensions.
    """
    symbol_text = "".join(c for c in attribute if c.isalnum() or c in "°%")[1:]
    return [
        unit(row.symbol)
        for row in EVERYDAY
        if row.dimension == dimension and any(name.replace("_", "").casefold() in symbol_text for name in row.names)
    ]


def _excluded(joined: Interval, unequal: Iterable[object]) -> bool:
    """Return whether an interval is one point that a `!=` excludes."""
    return (
        joined.low is not None
        and joined.low == joined.high
        and any(w == joined.low for w in unequal if isinstance(w, (int, float)) and not isinstance(w, bool))
    )


def _room(bound: float, slack: float) -> float:
    return slack * max(1.0, abs(bound)) if slack else 0  # whole numbers of 64 bits stay whole


def _join(intervals: Sequence[Interval], slack: float = 0.0) -> Interval | None:
    """The numbers in all of the intervals; None if there are none. Slack widens bounds, relative to them."""
    lows = [(i.low - _room(i.low, slack), i.low_open and not slack) for i in intervals if i.low is not None]
    highs = [(i.high + _room(i.high, slack), not i.high_open or slack > 0) for i in intervals if i.high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and (low[0] > high[0] or (low[0] == high[0] and (low[1] or not high[1]))):
        return None
    return Interval(low and low[0], high and high[0], bool(low and low[1]), bool(high and not high[1]))

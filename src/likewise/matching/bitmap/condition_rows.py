"""A conjunction as rows of numbers: what the bitmap engine stores, scans and builds its bitmaps from.

A conjunction is a list of requirements on attributes. A positive requirement holds if *some* row of
it does; a negative row must not hold. A row is a code with, for numbers, the half-open range
[on, off) of the floating-point numbers it accepts. Lower and upper bounds on one axis become one
row, marked COMPOUND: an event that repeats the attribute may meet the bounds with two tuples.
"""

from __future__ import annotations

import math

from likewise.errors import UnsupportedSubscription
from likewise.matching.bitmap.code_book import AttributeCodes, CodeBook
from likewise.matching.reference.float_bounds import above, at_least, at_most, beyond
from likewise.matching.reference.list_items import PLAIN_VALUE
from likewise.matching.reference.operators import register_operators
from likewise.model.condition import Conjunction, ItemConjunction
from likewise.model.predicate import COMPARISONS, TEXT_OPERATORS, Predicate
from likewise.model.text import fold
from likewise.model.timestamps import MOMENT, TimestampValue
from likewise.model.values import Interval, Quantity
from likewise.units import WHOLE_IN_FLOAT

REQUIREMENT = 63  # mask: which requirement of the conjunction the row belongs to
NEGATIVE = 1 << 6  # the row must not hold
COMPOUND = 1 << 7  # a lower and an upper bound in one row
PRIMARY = 1 << 8  # belongs to the first requirement on its attribute
NUMERIC = 1 << 9  # a range of numbers; else a token
FIRST = 1 << 10  # the first row of its requirement
MAX_REQUIREMENTS = 62  # bits of a word, less the one that marks a violation

INFINITY = math.inf
Row = tuple[int, int, float, float]  # code, flags, on, off
Range = tuple[float, float]
Slot = tuple[list[Row], int, bool]  # the rows of a conjunction, how many requirements, whether they say it all


def range_of(interval: Interval) -> Range:
    """The half-open range of floating-point numbers an interval holds, or a wider one if it lies `beyond` them.

    >>> range_of(Interval(1.0, None)), range_of(Interval(None, 0.0, high_open=True))
    ((1.0, inf), (-inf, 0.0))
    """
    low, high = interval.low, interval.high
    on = -INFINITY if low is None else above(low) if interval.low_open else at_least(low)
    off = INFINITY if high is None else at_least(high) if interval.high_open else above(high)
    if beyond(interval):  # whole numbers that are no floats stand one float farther from zero: let them in
        on = on if low is None else at_most(low)
        off = off if high is None else above(at_least(high))
    return on, off


def conjunction_rows(conjunction: Conjunction, book: CodeBook) -> Slot:
    """The rows of a conjunction, how many positive requirements they make, and whether they say it all.

    What they do not say must be checked on the subscription itself: requirements beyond `MAX_REQUIREMENTS`, whole
    numbers that are no floats, spans of time between two bounds, and items of lists.

    >>> book = CodeBook()
    >>> rows, requirements, whole = conjunction_rows(
    ...     Conjunction((Predicate("lat", ">=", 45.0), Predicate("LAT", "<", 46.0))), book)
    >>> rows == [(book.axis(book.attribute("lat"), ""), COMPOUND | PRIMARY | NUMERIC | FIRST, 45.0, 46.0)]
    True
    """
    requirements: list[tuple[AttributeCodes, list[Row]]] = []
    negative: list[Row] = []
    whole = not (conjunction.some or conjunction.none)
    for predicate in conjunction.positive:
        attribute = book.attribute(fold(predicate.attribute))
        bounds = _plain_range(predicate)
        if bounds is not None:  # most are so, and the rest of this takes three times as long
            requirements.append((attribute, [(book.axis(attribute, ""), NUMERIC, *bounds)]))
        elif predicate.operator == "!=" and not isinstance(predicate.value, (Quantity, TimestampValue)):
            requirements.append((attribute, [(attribute.code, 0, 0.0, 0.0)]))
            negative.append((_different(predicate, attribute, book), NEGATIVE, 0.0, 0.0))
        else:
            requirements.append((attribute, _rows(predicate, attribute, book)))
            whole = whole and _is_exact(predicate)
    for item in conjunction.some:
        requirements += _item_requirements(item, book)
    for predicate in conjunction.negative:
        attribute = book.attribute(fold(predicate.attribute))
        rows = (
            _rows(predicate, attribute, book)
            if _is_exact(predicate)
            else [(book.unindexed(attribute, predicate), 0, 0.0, 0.0)]
        )
        negative.extend((c, f | NEGATIVE, on, off) for c, f, on, off in rows)
    merged = _merge(requirements) if len(requirements) > 1 else requirements
    rows = []
    covered: set[int] = set()
    for index, (attribute, alternatives) in enumerate(merged[:MAX_REQUIREMENTS]):
        flags = index | FIRST
        if attribute.code not in covered:
            flags |= PRIMARY
            covered.add(attribute.code)
        for code, row_flags, on, off in alternatives:
            rows.append((code, row_flags | flags, on, off))
            flags &= ~FIRST
    rows.extend(negative)
    return rows, min(len(merged), MAX_REQUIREMENTS), whole and len(merged) <= MAX_REQUIREMENTS


def _plain_range(predicate: Predicate) -> Range | None:
    """Return what `range_of` gives for a comparison with a number without a unit; None for all else.

    >>> _plain_range(Predicate("a", ">=", 2.0)), _plain_range(Predicate("a", "=", "warm"))
    ((2.0, inf), None)
    """
    number = predicate.value
    kind = type(number)
    if kind is not float and kind is not int:
        return None
    if not -WHOLE_IN_FLOAT < number < WHOLE_IN_FLOAT or predicate.attribute_relaxed or predicate.value_relaxed:  # type: ignore[operator]
        return None
    plain = float(number) + 0.0  # type: ignore[arg-type]
    match predicate.operator:
        case ">":
            return above(plain), INFINITY
        case ">=":
            return plain, INFINITY
        case "<":
            return -INFINITY, plain
        case "<=":
            return -INFINITY, above(plain)
        case "=":
            return plain, above(plain)
        case _:
            return None


def _is_exact(predicate: Predicate) -> bool:
    """Return whether the rows of a predicate are true of just the tuples that meet it."""
    if predicate.operator in ("in", "!=") or (predicate.operator == "=" and not isinstance(predicate.value, Quantity)):
        return True  # answered by tokens wherever a range would not do
    interval = predicate.interval()
    if interval is None:
        return True
    if interval.unit == MOMENT and interval.low is not None and interval.high is not None:
        return False
    return not beyond(interval.base())


def _item_requirements(item: ItemConjunction, book: CodeBook) -> list[tuple[AttributeCodes, list[Row]]]:
    """Return what an event must have for an item of a list to match a `some`; the rest is checked on the event."""
    results = []
    for predicate in item.conjunction.positive:
        field = fold(predicate.attribute)
        if field != PLAIN_VALUE and predicate.operator != "!=":
            name = f"{fold(item.attribute).replace('[]', '')}.{field.replace('[]', '')}"
            attribute = book.attribute(name)
            results.append((attribute, _rows(predicate, attribute, book)))
    return results


def _rows(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> list[Row]:
    """Return the rows of one predicate; it holds if one of them does."""
    if predicate.attribute_relaxed or predicate.value_relaxed:
        raise UnsupportedSubscription(
            "the bitmap engine serves exact conditions only; a part relaxed by `~` needs an approximate engine"
        )
    return _ROWS[predicate.operator](predicate, attribute, book)


def _presence_rows(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> list[Row]:
    return [(attribute.code, 0, 0.0, 0.0)]


def _inequality_rows(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> list[Row]:
    return [(book.unindexed(attribute, predicate), 0, 0.0, 0.0)]


def _equality_rows(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> list[Row]:
    return [_equal(predicate.value, attribute, book)]


def _membership_rows(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> list[Row]:
    rows = [_equal(one, attribute, book) for one in predicate.value]  # type: ignore[union-attr]
    distinct = [row for row in dict.fromkeys(rows) if not row[1] & NUMERIC or row[2] < row[3]]
    return distinct or rows[:1]


def _range_rows(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> list[Row]:
    interval = predicate.interval()
    assert interval is not None  # a comparison always has one
    return [_number(interval, attribute, book)]


def _text_rows(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> list[Row]:
    return [(book.text(attribute, predicate.operator, str(predicate.value)), 0, 0.0, 0.0)]


_ROWS = register_operators(
    "bitmap",
    {
        "exists": _presence_rows,
        "=": _equality_rows,
        "!=": _inequality_rows,
        "in": _membership_rows,
        "between": _range_rows,
        **dict.fromkeys(COMPARISONS, _range_rows),
        **dict.fromkeys(TEXT_OPERATORS, _text_rows),
    },
)


def _equal(value: object, attribute: AttributeCodes, book: CodeBook) -> Row:
    if isinstance(value, str):
        return book.text(attribute, "=", value), 0, 0.0, 0.0
    if isinstance(value, bool):
        return book.boolean(attribute, value), 0, 0.0, 0.0
    if isinstance(value, TimestampValue):
        return book.unindexed(attribute, Predicate(attribute.name, "=", value)), 0, 0.0, 0.0
    if isinstance(value, Quantity):
        interval = Interval(value.value, value.value, unit=value.unit)
        if beyond(interval.base()):
            return book.unindexed(attribute, Predicate(attribute.name, "=", value)), 0, 0.0, 0.0
        return _number(interval, attribute, book)
    number: float = value  # type: ignore[assignment]
    if abs(number) >= WHOLE_IN_FLOAT:
        return book.whole(attribute, number), 0, 0.0, 0.0
    return _number(Interval(number, number), attribute, book)


def _number(interval: Interval, attribute: AttributeCodes, book: CodeBook) -> Row:
    on, off = range_of(interval.base())  # adding 0.0 makes -0.0 the 0.0 it equals
    last = interval.unit == MOMENT and interval.low is None  # a day ends before a bound if its last moment does
    return book.axis(attribute, interval.unit, last), NUMERIC, on + 0.0, off + 0.0


def _different(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> int:
    value = predicate.value
    if isinstance(value, str):
        return book.different(attribute, str, fold(value))
    return book.different(attribute, bool if isinstance(value, bool) else float, value)


def _merge(requirements: list[tuple[AttributeCodes, list[Row]]]) -> list[tuple[AttributeCodes, list[Row]]]:
    """One-sided ranges on one axis made one, and presence left out where more is asked of the attribute."""
    lows: dict[int, float] = {}
    highs: dict[int, float] = {}
    by_axis: dict[tuple[int, int], tuple[AttributeCodes, list[Row]]] = {}
    demanding = {a.code for a, rows in requirements if rows[0][0] != a.code}
    for index, (attribute, rows) in enumerate(requirements):
        code, flags, on, off = rows[0]
        if code == attribute.code:
            if code not in demanding:
                by_axis[code, -1] = (attribute, rows)
        elif len(rows) == 1 and flags & NUMERIC and (on == -INFINITY or off == INFINITY):
            if off == INFINITY:
                lows[code] = max(on, lows.get(code, -INFINITY))
            else:
                highs[code] = min(off, highs.get(code, INFINITY))
            by_axis.setdefault((code, -2), (attribute, rows))
        else:
            by_axis[code, index] = (attribute, rows)
    merged: list[tuple[AttributeCodes, list[Row]]] = []
    for (code, position), (attribute, rows) in by_axis.items():
        if position != -2:
            merged.append((attribute, rows))
            continue
        low, high = lows.get(code), highs.get(code)
        if low is not None and high is not None and low < high:
            merged.append((attribute, [(code, NUMERIC | COMPOUND, low, high)]))
        else:  # bounds that no single number meets stay two requirements: two tuples may meet them
            if low is not None:
                merged.append((attribute, [(code, NUMERIC, low, INFINITY)]))
            if high is not None:
                merged.append((attribute, [(code, NUMERIC, -INFINITY, high)]))
    return merged

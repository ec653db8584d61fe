"""A conjunction as rows of numbers: what the bitmap engine stores, scans and builds its bitmaps from.

A conjunction is a list of requirements on attributes. A positive requirement holds if *some* row of
it does; a negative row must not hold. A row is a code with, for numbers, the half-open range
[on, off) of the floating-point numbers it accepts. Lower and upper bounds on one axis become one
row, marked COMPOUND: an event that repeats the attribute may meet the bounds with two tuples.
"""

from __future__ import annotations

import math

from likewise.errors import NotServed
from likewise.matching.bitmap.code_book import AttributeCodes, CodeBook
from likewise.model.condition import Conjunction
from likewise.model.predicate import Predicate
from likewise.model.text import fold
from likewise.model.values import Interval, Quantity

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


def at_least(number: float) -> float:
    """The smallest floating-point number not below a number (whole numbers may lie between two).

    >>> at_least(2**53 + 1) == 2.0**53 + 2, at_least(0.5)
    (True, 0.5)
    """
    near = float(number)
    return near if near >= number else math.nextafter(near, INFINITY)


def above(number: float) -> float:
    """The smallest floating-point number above a number.

    >>> above(0.0)
    5e-324
    """
    near = float(number)
    return near if near > number else math.nextafter(near, INFINITY)


def range_of(interval: Interval) -> Range:
    """The half-open range of floating-point numbers an interval holds.

    >>> range_of(Interval(1.0, None)), range_of(Interval(None, 0.0, high_open=True))
    ((1.0, inf), (-inf, 0.0))
    """
    low, high = interval.low, interval.high
    on = -INFINITY if low is None else above(low) if interval.low_open else at_least(low)
    off = INFINITY if high is None else at_least(high) if interval.high_open else above(high)
    return on, off


def conjunction_rows(conjunction: Conjunction, book: CodeBook) -> tuple[list[Row], int, bool]:
    """The rows of a conjunction, how many positive requirements they make, and whether they say it all.

    Beyond `MAX_REQUIREMENTS` what is left over must be checked on the subscription itself.

    >>> book = CodeBook()
    >>> rows, requirements, whole = conjunction_rows(
    ...     Conjunction((Predicate("lat", ">=", 45.0), Predicate("LAT", "<", 46.0))), book)
    >>> rows == [(book.axis(book.attribute("lat"), ""), COMPOUND | PRIMARY | NUMERIC | FIRST, 45.0, 46.0)]
    True
    """
    requirements: list[tuple[AttributeCodes, list[Row]]] = []
    negative: list[Row] = []
    for predicate in conjunction.positive:
        attribute = book.attribute(fold(predicate.attribute))
        if predicate.operator == "!=" and not isinstance(predicate.value, Quantity):
            requirements.append((attribute, [(attribute.code, 0, 0.0, 0.0)]))
            negative.append((_different(predicate, attribute, book), NEGATIVE, 0.0, 0.0))
        else:
            requirements.append((attribute, _rows(predicate, attribute, book)))
    for predicate in conjunction.negative:
        attribute = book.attribute(fold(predicate.attribute))
        negative.extend((c, f | NEGATIVE, on, off) for c, f, on, off in _rows(predicate, attribute, book))
    merged = _merge(requirements) if len(requirements) > 1 else requirements
    rows: list[Row] = []
    met: set[int] = set()
    for index, (attribute, alternatives) in enumerate(merged[:MAX_REQUIREMENTS]):
        flags = index | FIRST
        if attribute.code not in met:
            flags |= PRIMARY
            met.add(attribute.code)
        for code, own, on, off in alternatives:
            rows.append((code, own | flags, on, off))
            flags &= ~FIRST
    rows.extend(negative)
    return rows, min(len(merged), MAX_REQUIREMENTS), len(merged) <= MAX_REQUIREMENTS


def _rows(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> list[Row]:
    """The rows of one predicate; it holds if one of them does."""
    if predicate.attribute_relaxed or predicate.value_relaxed:
        raise NotServed(
            "the bitmap engine serves exact conditions only; a part relaxed by `~` needs an approximate engine"
        )
    operator, value = predicate.operator, predicate.value
    if operator == "exists":
        return [(attribute.code, 0, 0.0, 0.0)]
    if operator == "!=":
        return [(book.unindexed(attribute, predicate), 0, 0.0, 0.0)]
    if operator == "in":
        rows = [_equal(one, attribute, book) for one in value]  # type: ignore[union-attr]
        distinct = [row for row in dict.fromkeys(rows) if not row[1] & NUMERIC or row[2] < row[3]]
        return distinct or rows[:1]
    if isinstance(value, (str, bool)):
        if operator == "=":
            return [_equal(value, attribute, book)]
        return [(book.text(attribute, operator, str(value)), 0, 0.0, 0.0)]
    if isinstance(value, Interval):
        return [_number(value, attribute, book)]
    if isinstance(value, Quantity):
        interval = predicate.interval()
        assert interval is not None  # a comparison with a quantity always has one
        return [_number(interval, attribute, book)]
    number: float = value  # type: ignore[assignment]
    on, off = -INFINITY, INFINITY
    if operator in (">", ">=", "="):
        on = above(number) if operator == ">" else at_least(number)
    if operator in ("<", "<=", "="):
        off = at_least(number) if operator == "<" else above(number)
    return [(book.axis(attribute, ""), NUMERIC, on + 0.0, off + 0.0)]


def _equal(value: object, attribute: AttributeCodes, book: CodeBook) -> Row:
    if isinstance(value, str):
        return book.text(attribute, "=", value), 0, 0.0, 0.0
    if isinstance(value, bool):
        return book.boolean(attribute, value), 0, 0.0, 0.0
    if isinstance(value, Quantity):
        return _number(Interval(value.value, value.value, unit=value.unit), attribute, book)
    return _number(Interval(value, value), attribute, book)  # type: ignore[arg-type]


def _number(interval: Interval, attribute: AttributeCodes, book: CodeBook) -> Row:
    on, off = range_of(interval.base())  # adding 0.0 makes -0.0 the 0.0 it equals
    return book.axis(attribute, interval.unit), NUMERIC, on + 0.0, off + 0.0


def _different(predicate: Predicate, attribute: AttributeCodes, book: CodeBook) -> int:
    value = predicate.value
    if isinstance(value, str):
        return book.different(attribute, str, fold(value))
    return book.different(attribute, bool if isinstance(value, bool) else float, value)


def _merge(requirements: list[tuple[AttributeCodes, list[Row]]]) -> list[tuple[AttributeCodes, list[Row]]]:
    """One-sided ranges on one axis made one, and presence left out where more is asked of the attribute."""
    lows: dict[int, float] = {}
    highs: dict[int, float] = {}
    kept: dict[tuple[int, int], tuple[AttributeCodes, list[Row]]] = {}
    demanding = {a.code for a, rows in requirements if rows[0][0] != a.code}
    for index, (attribute, rows) in enumerate(requirements):
        code, flags, on, off = rows[0]
        if code == attribute.code:
            if code not in demanding:
                kept[code, -1] = (attribute, rows)
        elif len(rows) == 1 and flags & NUMERIC and (on == -INFINITY or off == INFINITY):
            if off == INFINITY:
                lows[code] = max(on, lows.get(code, -INFINITY))
            else:
                highs[code] = min(off, highs.get(code, INFINITY))
            kept.setdefault((code, -2), (attribute, rows))
        else:
            kept[code, index] = (attribute, rows)
    merged: list[tuple[AttributeCodes, list[Row]]] = []
    for (code, position), (attribute, rows) in kept.items():
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

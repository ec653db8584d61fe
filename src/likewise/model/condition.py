"""Conditions: predicates under and, or and not, and the conjunctions they expand to (docs/language.md).

A condition is checked when it is made: it expands to at most 64 conjunctions, no conjunction asks for
an empty interval on one attribute, or for two units of one attribute that cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import msgspec

from likewise.defaults import MAX_CONJUNCTIONS, MAX_NESTING, MAX_PREDICATES
from likewise.errors import InvalidSubscription, LimitExceeded
from likewise.model.predicate import Operator, Predicate
from likewise.model.text import fold
from likewise.model.units import same_dimension, unit
from likewise.model.values import Interval, Quantity, plain_number


class All(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="and", tag_field="kind"):
    """Every item holds."""

    items: tuple[Node, ...]


class Any(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="or", tag_field="kind"):
    """At least one item holds."""

    items: tuple[Node, ...]


class Not(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="not", tag_field="kind"):
    """The item does not hold."""

    item: Node


Node = Predicate | All | Any | Not


class Conjunction(msgspec.Struct, frozen=True, gc=False):
    """Predicates that hold for some tuple, and predicates that hold for none."""

    positive: tuple[Predicate, ...]
    negative: tuple[Predicate, ...] = ()

    @property
    def relaxed_parts(self) -> int:
        """Relaxed parts of the positive predicates: the r in the geometric mean."""
        return sum(p.relaxed_parts for p in self.positive)


def conjunctions(node: Node) -> tuple[Conjunction, ...]:
    """The disjunctive normal form of a condition, in the order of its text, duplicates left out.

    >>> p, q, r = (Predicate(a, "=", 1.0) for a in "pqr")
    >>> [[x.attribute for x in c.positive] for c in conjunctions(All((p, Any((q, r)))))]
    [['p', 'q'], ['p', 'r']]
    """
    found: dict[Conjunction, None] = {}
    for literals in _expand(node, negated=False):
        positive = tuple(dict.fromkeys(p for p, negated in literals if not negated))
        negative = tuple(dict.fromkeys(p for p, negated in literals if negated))
        found[Conjunction(positive, negative)] = None
    return tuple(found)


Literals = tuple[tuple[Predicate, bool], ...]


def _expand(node: Node, *, negated: bool) -> Iterator[Literals]:
    if isinstance(node, Predicate):
        yield ((node, negated),)
    elif isinstance(node, Not):
        yield from _expand(node.item, negated=not negated)
    elif isinstance(node, All) is not negated:  # and, or a negated or: every combination
        for parts in product(*(tuple(_expand(item, negated=negated)) for item in node.items)):
            yield tuple(literal for part in parts for literal in part)
    else:
        for item in node.items:
            yield from _expand(item, negated=negated)


def _measure(node: Node, negated: bool, depth: int) -> tuple[int, int]:
    """How many conjunctions and predicates a node expands to, without expanding it."""
    if depth > MAX_NESTING:
        raise LimitExceeded("nesting of a condition", allowed=MAX_NESTING)
    if isinstance(node, Predicate):
        return 1, 1
    if isinstance(node, Not):
        return _measure(node.item, not negated, depth + 1)
    if not node.items:
        raise InvalidSubscription("an empty condition matches nothing in particular; give at least one predicate")
    measured = [_measure(item, negated, depth + 1) for item in node.items]
    predicates = sum(p for _, p in measured)
    if isinstance(node, All) is negated:
        return sum(c for c, _ in measured), predicates
    total = 1
    for count, _ in measured:
        total = min(total * count, 10**9)
    return total, predicates


def check(items: tuple[Node, ...]) -> None:
    """Refuse a condition that passes a limit or can never match; called when a condition is made."""
    if not items:
        raise InvalidSubscription("an empty condition matches nothing in particular; give at least one predicate")
    if len(items) > MAX_PREDICATES:
        raise LimitExceeded("predicates of a condition", allowed=MAX_PREDICATES, found=len(items))
    attributes = set()
    for item in items:
        if type(item) is not Predicate:
            break
        attributes.add(fold(item.attribute))
    else:  # the common case, kept cheap
        if len(attributes) < len(items):
            merge_comparisons(items)  # type: ignore[arg-type]
        return
    count, predicates = _measure(All(items), False, 0)
    if predicates > MAX_PREDICATES:
        raise LimitExceeded("predicates of a condition", allowed=MAX_PREDICATES, found=predicates)
    if count > MAX_CONJUNCTIONS:
        raise LimitExceeded("conjunctions a condition expands to", allowed=MAX_CONJUNCTIONS, found=count)
    for conjunction in conjunctions(All(items)):
        merge_comparisons(conjunction.positive)


def merge_comparisons(predicates: tuple[Predicate, ...]) -> tuple[Predicate, ...]:
    """Comparisons of numbers on one attribute text become one interval; the rest stays as it is.

    Used where each predicate needs a tuple of its own. A bare number beside a number with a unit on
    the same attribute takes that unit. Relaxed and exact attributes are merged apart.

    >>> merged = merge_comparisons((Predicate("t", ">=", 1.0), Predicate("u", "=", "x"), Predicate("T", "<", 2.0)))
    >>> [(p.attribute, p.operator) for p in merged], merged[0].value.text()
    ([('t', 'between'), ('u', '=')], '[1, 2)')
    """
    groups: dict[tuple[str, bool], list[int]] = {}
    for index, predicate in enumerate(predicates):
        if predicate.interval() is not None:
            groups.setdefault((fold(predicate.attribute), predicate.attribute_relaxed), []).append(index)
    merged: dict[int, Predicate | None] = {}
    for members in groups.values():
        if len(members) > 1:
            chosen = [predicates[i] for i in members]
            first = chosen[0]
            merged.update(dict.fromkeys(members, None))
            merged[members[0]] = _merge(first, [p.interval() for p in chosen])  # type: ignore[misc]
    if not merged:
        return predicates
    return tuple(p for i, original in enumerate(predicates) if (p := merged.get(i, original)) is not None)


def _merge(first: Predicate, intervals: list[Interval]) -> Predicate:
    symbol = next((i.unit for i in intervals if i.unit), "")
    low: tuple[float, bool] | None = None
    high: tuple[float, bool] | None = None
    for interval in intervals:
        rescale = _rescale(interval.unit, symbol)
        if interval.low is not None:
            bound = (rescale(interval.low), interval.low_open)
            low = bound if low is None else max(low, bound)
        if interval.high is not None:
            closed = (rescale(interval.high), not interval.high_open)
            high = closed if high is None else min(high, closed)
    joined = Interval(
        None if low is None else low[0], None if high is None else high[0],
        low is not None and low[1], high is not None and not high[1], symbol,
    )  # fmt: skip
    relaxed = first.attribute_relaxed
    if joined.low is not None and joined.high is not None:
        return Predicate(first.attribute, "between", joined, relaxed)
    number = joined.low if joined.low is not None else joined.high
    assert number is not None  # every comparison has at least one bound
    operator: Operator = (
        ">" if joined.low_open else ">=" if joined.low is not None else "<" if joined.high_open else "<="
    )
    return Predicate(first.attribute, operator, Quantity(number, symbol) if symbol else number, relaxed)


def _rescale(source: str, target: str) -> Callable[[float], float]:
    """A function from numbers in one unit to numbers in another; the same unit changes nothing."""
    if not source or source == target:
        return plain_number
    a, b = unit(source), unit(target)
    same_dimension(a, b)
    return lambda number: a.to(b, number)

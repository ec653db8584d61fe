"""Conditions: predicates under and, or and not, and their disjunctive normal form (docs/language.md).

A condition is checked when it is made: it expands to at most 64 conjunctions, and none asks for two units of one
attribute that cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import msgspec

from likewise.defaults import MAX_CONJUNCTIONS, MAX_NESTING, MAX_PREDICATES, MAX_TERM_LENGTH
from likewise.errors import InvalidSubscription, LimitExceeded
from likewise.model.predicate import Operator, Predicate
from likewise.model.text import fold
from likewise.model.timestamps import MOMENT, TimestampValue, timestamp_text
from likewise.model.values import Interval, Quantity, plain_number
from likewise.units import same_dimension, unit


class All(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="and", tag_field="kind"):
    """Every item holds."""

    items: tuple[Node, ...]


class Any(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="or", tag_field="kind"):
    """At least one item holds."""

    items: tuple[Node, ...]


class Not(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="not", tag_field="kind"):
    """The item does not hold."""

    item: Node


class Some(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="some", tag_field="kind", omit_defaults=True):
    """One item of a list meets all conditions; attributes inside belong to that item."""

    attribute: str
    items: tuple[Node, ...]
    attribute_relaxed: bool = False

    def __post_init__(self) -> None:
        if not self.attribute.strip():
            raise InvalidSubscription("`some` names no list; write `some readings (...)`")
        if len(self.attribute) > MAX_TERM_LENGTH:
            raise LimitExceeded("characters of an attribute", allowed=MAX_TERM_LENGTH, found=len(self.attribute))


Node = Predicate | All | Any | Not | Some


class Conjunction(msgspec.Struct, frozen=True, gc=False):
    """Predicates that hold for some tuple, predicates that hold for none, and the same for items of lists."""

    positive: tuple[Predicate, ...]
    negative: tuple[Predicate, ...] = ()
    some: tuple[ItemConjunction, ...] = ()
    none: tuple[ItemConjunction, ...] = ()

    @property
    def relaxed_parts(self) -> int:
        """Number of relaxed parts of what must hold: the r in the geometric mean."""
        return sum(p.relaxed_parts for p in self.positive) + sum(i.relaxed_parts for i in self.some)


class ItemConjunction(msgspec.Struct, frozen=True, gc=False):
    """Condition on one item of a list. An `or` inside a `some` is expanded into several."""

    attribute: str
    attribute_relaxed: bool
    conjunction: Conjunction

    @property
    def relaxed_parts(self) -> int:
        """Number of relaxed parts inside, plus the list's name if it is relaxed."""
        return self.attribute_relaxed + self.conjunction.relaxed_parts

    def is_relaxed(self) -> bool:
        """Return whether any part is relaxed, also under `not`."""
        inside = self.conjunction
        return self.attribute_relaxed or any(p.relaxed_parts for p in (*inside.positive, *inside.negative))


def conjunctions(node: Node) -> tuple[Conjunction, ...]:
    """Return the disjunctive normal form of a condition, in text order, without duplicates.

    >>> p, q, r = (Predicate(a, "=", 1.0) for a in "pqr")
    >>> [[x.attribute for x in c.positive] for c in conjunctions(All((p, Any((q, r)))))]
    [['p', 'q'], ['p', 'r']]
    """
    expanded: dict[Conjunction, None] = {}
    for literals in _expand(node, negated=False):
        sides = [tuple(dict.fromkeys(x for x, no in literals if no is negated)) for negated in (False, True)]
        positive, negative = (tuple(x for x in side if isinstance(x, Predicate)) for side in sides)
        some, none = (tuple(x for x in side if isinstance(x, ItemConjunction)) for side in sides)
        expanded[Conjunction(positive, negative, some, none)] = None
    return tuple(expanded)


Literals = tuple[tuple[Predicate | ItemConjunction, bool], ...]


def _expand(node: Node, *, negated: bool) -> Iterator[Literals]:
    if isinstance(node, Predicate):
        yield ((node, negated),)
    elif isinstance(node, Not):
        yield from _expand(node.item, negated=not negated)
    elif isinstance(node, Some):
        alternatives = [
            ItemConjunction(node.attribute, node.attribute_relaxed, c) for c in conjunctions(All(node.items))
        ]
        if negated:  # no item meets any of them
            yield tuple((each, True) for each in alternatives)
        else:
            for each in alternatives:
                yield ((each, False),)
    elif isinstance(node, All) is not negated:  # and, or a negated or: every combination
        for parts in product(*(tuple(_expand(item, negated=negated)) for item in node.items)):
            yield tuple(literal for part in parts for literal in part)
    else:
        for item in node.items:
            yield from _expand(item, negated=negated)


def _measure(node: Node, negated: bool, depth: int, inside: bool = False) -> tuple[int, int]:
    """Return how many conjunctions and predicates a node expands to, without expanding it."""
    if depth > MAX_NESTING:
        raise LimitExceeded("nesting of a condition", allowed=MAX_NESTING)
    if isinstance(node, Predicate):
        return 1, 1
    if isinstance(node, Not):
        return _measure(node.item, not negated, depth + 1, inside)
    if isinstance(node, Some):
        if inside:
            raise InvalidSubscription("`some` cannot stand inside `some`; ask for the inner list by its own name")
        count, predicates = _measure(All(node.items), False, depth + 1, True)
        return 1 if negated else count, predicates
    if not node.items:
        raise InvalidSubscription("an empty condition matches nothing in particular; give at least one predicate")
    measured = [_measure(item, negated, depth + 1, inside) for item in node.items]
    predicates = sum(p for _, p in measured)
    if isinstance(node, All) is negated:
        return sum(c for c, _ in measured), predicates
    total = 1
    for count, _ in measured:
        total = min(total * count, 10**9)
    return total, predicates


def check(items: tuple[Node, ...]) -> None:
    """Refuse a condition that exceeds a limit or can never match; called when a condition is created."""
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
        for inside in (*conjunction.some, *conjunction.none):
            merge_comparisons(inside.conjunction.positive)


def merge_comparisons(predicates: tuple[Predicate, ...]) -> tuple[Predicate, ...]:
    """Merge numeric comparisons on one attribute text into one interval; other predicates are unchanged.

    Used where each predicate needs a tuple of its own. A bare number beside a number with a unit on
    the same attribute takes that unit. Relaxed and exact attributes are merged apart. Comparisons that no number
    meets at once stay as they are: two tuples of a repeated attribute may meet them.

    >>> merged = merge_comparisons((Predicate("t", ">=", 1.0), Predicate("u", "=", "x"), Predicate("T", "<", 2.0)))
    >>> [(p.attribute, p.operator) for p in merged], merged[0].value.text()
    ([('t', 'between'), ('u', '=')], '[1, 2)')
    """
    groups: dict[tuple[str, bool, bool], list[int]] = {}
    for index, predicate in enumerate(predicates):
        interval = predicate.interval()
        if interval is not None:
            key = (fold(predicate.attribute), predicate.attribute_relaxed, interval.unit == MOMENT)
            groups.setdefault(key, []).append(index)
    merged: dict[int, Predicate | None] = {}
    for members in groups.values():
        if len(members) > 1:
            chosen = [predicates[i] for i in members]
            one = _merge(chosen[0], [p.interval() for p in chosen])  # type: ignore[misc]
            if one is not None:
                merged.update(dict.fromkeys(members, None))
                merged[members[0]] = one
    if not merged:
        return predicates
    return tuple(p for i, original in enumerate(predicates) if (p := merged.get(i, original)) is not None)


def _merge(first: Predicate, intervals: list[Interval]) -> Predicate | None:
    """Return one predicate for the intersection of the intervals; None if that is empty."""
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
    try:
        joined = Interval(
            None if low is None else low[0],
            None if high is None else high[0],
            low is not None and low[1],
            high is not None and not high[1],
            symbol,
        )
    except InvalidSubscription:  # empty
        return None
    relaxed = first.attribute_relaxed
    if joined.low is not None and joined.high is not None:
        return Predicate(first.attribute, "between", joined, relaxed)
    number = joined.low if joined.low is not None else joined.high
    assert number is not None  # every comparison has at least one bound
    operator: Operator = (
        ">" if joined.low_open else ">=" if joined.low is not None else "<" if joined.high_open else "<="
    )
    if symbol == MOMENT:
        return Predicate(
            first.attribute, operator, TimestampValue(timestamp_text(int(number), last=operator == "<=")), relaxed
        )
    return Predicate(first.attribute, operator, Quantity(number, symbol) if symbol else number, relaxed)


def _rescale(source: str, target: str) -> Callable[[float], float]:
    """Return a function that converts numbers between two units; the identity for equal units."""
    if not source or source == target:
        return plain_number
    a, b = unit(source), unit(target)
    same_dimension(a, b)
    return lambda number: a.to(b, number)

"""Which part of a share goes behind a proxy: the heaviest subtrees of its covering forest, by measured matching time.

A forest takes time that grows with the square of what it holds. Above `FOREST` subscriptions, and where hardly any
covers another, the part is a cluster instead: conditions that bound one attribute, with one root that bounds them all.
Either way `covers` has the last word on what may stand behind a root.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf
from typing import Final

import msgspec

from likewise.broker.log.entries import Entry
from likewise.broker.pool.messages import Planned
from likewise.broker.tenants.match_guarded import events_of
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.matching.covering.covering import covers
from likewise.matching.forest.engine import ForestEngine
from likewise.matching.forest.predicate_table import PredicateTable
from likewise.model import Predicate, Subscription
from likewise.model.subscription import Condition

FOREST: Final = 10_000  # subscriptions up to which the forest is built
WEIGHED: Final = 64  # trees whose matching time is measured, the largest first
Conditions = dict[int, Subscription]


def plan(matcher: NumberedMatcher, entries: Sequence[Entry], at: Sequence[int]) -> Planned:
    """What of a matcher's exact subscriptions can stand behind a proxy, about half of them by weight."""
    held = {number: each for number, each in matcher.subscriptions() if each.kind == "exact"}
    found = _subtrees(matcher, held, entries, at) if len(held) <= FOREST else None
    return found if found is not None and found.numbers else _cluster(held)


def _subtrees(
    matcher: NumberedMatcher, held: Conditions, entries: Sequence[Entry], at: Sequence[int]
) -> Planned | None:
    """The heaviest trees of the forest, less their roots, until they weigh half; None if they hold hardly anything."""
    forest = ForestEngine(types=matcher.interpretation.types)
    for number, each in held.items():
        forest.add(number, each, 0)
    trees = sorted((tree for tree in forest.trees() if tree[1]), key=lambda tree: -len(tree[1]))
    if sum(len(below) for _, below in trees) < len(held) / 4:
        return None
    weighed = [(_weight(matcher, held, below, entries, at), roots[0], below) for roots, below in trees[:WEIGHED]]
    weighed.sort(reverse=True)
    total, taken = sum(weight for weight, _, _ in weighed), 0.0
    numbers, chosen = list[int](), list[Subscription]()
    for weight, root, below in weighed:
        if numbers and taken + weight > total / 2:
            continue
        taken += weight
        numbers += below
        chosen.append(_bare(held[root]))
    return Planned(sorted(numbers), chosen)


def _weight(
    matcher: NumberedMatcher, held: Conditions, numbers: Sequence[int], entries: Sequence[Entry], at: Sequence[int]
) -> float:
    """The seconds that matching some events against some subscriptions takes; without events, how many they are."""
    if not entries:
        return float(len(numbers))
    alone = matcher.alike()
    alone.add_many([(number, msgspec.structs.replace(held[number], valid_for=None), 0) for number in sorted(numbers)])
    events = events_of(entries)
    alone.match_batch(events, at)  # what is kept of words is there from now on
    begun = time.thread_time()
    alone.match_batch(events, at)
    return time.thread_time() - begun


def _cluster(held: Conditions) -> Planned:
    """The upper half of the conditions that bound one attribute, the one that most of them bound."""
    table = PredicateTable()
    bounds: dict[str, dict[int, tuple[float, float]]] = {}
    for number, each in held.items():
        assert isinstance(each.body, Condition)
        conjunctions = each.body.conjunctions()
        if len(conjunctions) > 1:
            continue
        for entry in table.acquire(conjunctions[0]).positive:
            if entry.bounds is not None:
                bounds.setdefault(entry.attribute, {})[number] = entry.bounds
    if not bounds:
        return Planned([], [])
    attribute, own = max(bounds.items(), key=lambda item: len(item[1]))
    order = sorted(own, key=lambda number: _middle(*own[number]))
    half = order[len(order) // 2 :]
    low, high = min(own[number][0] for number in half), max(own[number][1] for number in half)
    sides = [Predicate(attribute, ">=", low)] if low > -inf else []
    sides += [Predicate(attribute, "<=", high)] if high < inf else []
    root = Condition(tuple(sides) if sides else (Predicate(attribute, "exists", None),))
    return Planned(sorted(n for n in half if _covered(root, held[n])), [Subscription(root, id="root")])


def _covered(root: Condition, each: Subscription) -> bool:
    return isinstance(each.body, Condition) and covers(root, each.body)


def _middle(low: float, high: float) -> float:
    if low == -inf:
        return high
    return low if high == inf else (low + high) / 2


def _bare(each: Subscription) -> Subscription:
    """A condition alone, as a root."""
    return Subscription(each.body, id=each.id)

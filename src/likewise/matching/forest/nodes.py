"""Nodes of the covering forest, and the stalls siblings are kept in.

A stall holds siblings with the same needs: the attributes all their conjunctions ask for, with the text
where one text alone will do. The bounds of siblings that ask for bare numbers stand in arrays, one column
an attribute, so that a large stall is sifted at once: by bounds for what may cover or be covered, by an
event's numbers for what may be met. Sifting only leaves out what certainly does not apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from likewise.matching.covering.covering import covers
from likewise.matching.forest.predicate_table import Compiled
from likewise.model.condition import Conjunction
from likewise.model.text import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

Need = tuple[str, str | None]
Bounds = dict[str, tuple[float, float]]
SIFTED = 24  # smaller stalls are looked through one by one, which then costs less than the arrays do


class Node:
    """A condition, the ordinals of the subscriptions that ask for it, its parent and its children."""

    __slots__ = ("asked", "bounds", "box", "children", "compiled", "needs", "offers", "ordinals", "parent", "slot")

    def __init__(self, asked: tuple[Conjunction, ...], compiled: tuple[Compiled, ...]) -> None:
        self.asked = asked
        self.compiled = compiled
        self.ordinals: dict[int, None] = {}
        self.parent: Node | None = None
        self.children: Stalls = {}
        self.slot = -1
        self.box = _box(compiled)
        self.bounds = _bounds(compiled)
        self.needs = frozenset(set.intersection(*map(_needs, compiled)))
        self.offers = frozenset(set.intersection(*map(_offers, compiled)))

    def covers(self, other: Node) -> bool:
        """`likewise.matching.covering.covering.covers`, with a short way for two boxes."""
        if self.box is None or other.box is None:
            return all(any(covers(w, n) for w in self.asked) for n in other.asked)
        for attribute, low, high, text in self.box:
            for named, other_low, other_high, other_text in other.box:
                if named == attribute and low <= other_low and other_high <= high and text == other_text:
                    break
            else:
                return False
        return True


Box = tuple[tuple[str, float, float, str | None], ...]


def _box(compiled: tuple[Compiled, ...]) -> Box | None:
    """A single conjunction of bare numbers and equal texts as (attribute, low, high, text); None if it is more."""
    if len(compiled) > 1 or compiled[0].negative or compiled[0].some or compiled[0].none:
        return None
    sides: list[tuple[str, float, float, str | None]] = []
    for entry in compiled[0].positive:
        if entry.bounds is not None:
            sides.append((entry.attribute, *entry.bounds, None))
        elif entry.text is not None:
            sides.append((entry.attribute, 0.0, 0.0, entry.text))
        else:
            return None
    return tuple(sides)


def _bounds(compiled: tuple[Compiled, ...]) -> Bounds:
    """The range of each attribute of which a single conjunction asks for bare numbers and nothing else."""
    if len(compiled) > 1:
        return {}
    bounds: Bounds = {}
    other = set()
    for entry in compiled[0].positive:
        if entry.bounds is None:
            other.add(entry.attribute)
        else:
            low, high = bounds.get(entry.attribute, (-inf, inf))
            bounds[entry.attribute] = max(low, entry.bounds[0]), min(high, entry.bounds[1])
    return {attribute: span for attribute, span in bounds.items() if attribute not in other}


def _needs(compiled: Compiled) -> set[Need]:
    """The attributes an event must bring to meet a conjunction, with the text where one alone will do."""
    return {(entry.attribute, entry.text) for entry in compiled.positive}


def _offers(compiled: Compiled) -> set[Need]:
    """What the needs of every condition that covers a conjunction are among."""
    offered = _needs(compiled)
    for entry in compiled.positive:
        offered.add((entry.attribute, None))
        value = entry.predicate.value
        if isinstance(value, tuple) and isinstance(value[0], str):  # `in (a)` is an equality, too
            offered.add((entry.attribute, fold(value[0])))
    return offered


class Stall:
    """Siblings with the same needs.

    >>> from likewise.model.predicate import Predicate
    >>> from likewise.matching.forest.predicate_table import PredicateTable
    >>> table, stall = PredicateTable(), Stall(frozenset({("x", None)}))
    >>> for bound in range(100):
    ...     asked = Conjunction((Predicate("x", ">", float(bound)),))
    ...     stall.add(Node((asked,), (table.acquire(asked),)))
    >>> len(list(stall.may_meet({"x": [9.5]})))
    10
    """

    __slots__ = ("_attributes", "_boxed", "_high", "_low", "_others")

    def __init__(self, needs: frozenset[Need]) -> None:
        self._attributes = tuple(sorted(attribute for attribute, text in needs if text is None))
        self._boxed: list[Node] = []  # those with bounds on all these attributes, by slot
        self._others: dict[Node, None] = {}
        self._low = np.empty((0, len(self._attributes)))
        self._high = np.empty((0, len(self._attributes)))

    def __len__(self) -> int:
        return len(self._boxed) + len(self._others)

    def __iter__(self) -> Iterator[Node]:
        return chain(self._boxed, self._others)

    def add(self, node: Node) -> None:
        """Take a node in."""
        if not self._attributes or any(attribute not in node.bounds for attribute in self._attributes):
            self._others[node] = None
            return
        node.slot = len(self._boxed)
        self._boxed.append(node)
        if node.slot == len(self._low):
            more = np.empty((max(8, len(self._low)), len(self._attributes)))
            self._low, self._high = np.concatenate([self._low, more]), np.concatenate([self._high, more])
        for place, attribute in enumerate(self._attributes):
            self._low[node.slot, place], self._high[node.slot, place] = node.bounds[attribute]

    def remove(self, node: Node) -> None:
        """Let a node go; the last one takes its slot."""
        if node.slot < 0:
            del self._others[node]
            return
        last = self._boxed.pop()
        if last is not node:
            self._boxed[node.slot] = last
            self._low[node.slot], self._high[node.slot] = self._low[last.slot], self._high[last.slot]
            last.slot = node.slot
        node.slot = -1

    def may_cover(self, node: Node) -> Iterable[Node]:
        """The siblings that could cover a node: whose bounds lie around its own."""
        if len(self._boxed) < SIFTED:
            return chain(self._boxed, self._others)
        spans = [node.bounds.get(attribute, (inf, -inf)) for attribute in self._attributes]
        low, high = self._bounds_held()
        around = np.all((low <= [s[0] for s in spans]) & (high >= [s[1] for s in spans]), axis=1)
        return chain(self._chosen(around), self._others)

    def may_be_covered(self, node: Node) -> Iterable[Node]:
        """The siblings that a node could cover: whose bounds lie within its own."""
        if len(self._boxed) < SIFTED:
            return chain(self._boxed, self._others)
        spans = [node.bounds.get(attribute, (-inf, inf)) for attribute in self._attributes]
        low, high = self._bounds_held()
        within = np.all((low >= [s[0] for s in spans]) & (high <= [s[1] for s in spans]), axis=1)
        return chain(self._chosen(within), self._others)

    def may_meet(self, numbers: dict[str, list[float]]) -> Iterable[Node]:
        """The siblings an event with these numbers could meet; of repeated attributes the span of values counts."""
        if len(self._boxed) < SIFTED:
            return chain(self._boxed, self._others)
        values = [numbers.get(attribute) for attribute in self._attributes]
        if not all(values):
            return self._others
        low, high = self._bounds_held()
        met = np.all((low <= [max(v) for v in values if v]) & (high >= [min(v) for v in values if v]), axis=1)
        return chain(self._chosen(met), self._others)

    def _bounds_held(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        held = len(self._boxed)
        return self._low[:held], self._high[:held]

    def _chosen(self, mask: NDArray[np.bool_]) -> Sequence[Node]:
        return [self._boxed[slot] for slot in np.flatnonzero(mask).tolist()]


Stalls = dict[frozenset[Need], Stall]

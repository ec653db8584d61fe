"""The covering forest (sources.md C; CUPUS, section 4.4.1).

A node stands for one condition and covers its children; equivalent subscriptions share a node. An event
that does not meet a node meets nothing below it, so the node's subtree is skipped. (The paper also says
that an event which meets a node meets its children; that is backwards.) Taking a node out hands its
children to its parent, which covers them because covering is transitive.

Siblings are kept in stalls by what each of them must find in an event: the attributes its conjunctions
all ask for, and the text of those it compares for equality. A condition can be covered only from a stall
whose needs are among its own, and an event passes over every stall whose needs it does not bring. Large
stalls are sifted by bounds first (see `forest_nodes`).

Everything is iterative, for a chain of ever narrower conditions is as deep as it is long. Memory is one
node a distinct condition, with one reference from its parent and one to it: linear.

Nodes of the covering forest, and the stalls siblings are kept in.

A stall holds siblings with the same needs: the attributes all their conjunctions ask for, with the text
where one text alone will do. The bounds of siblings that ask for bare numbers stand in arrays, one column
an attribute, so that a large stall is sifted at once: by bounds for what may cover or be covered, by an
event's numbers for what may be met. Sifting only leaves out what certainly does not apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likewise.matching.covering.covering import covers
from likewise.matching.engine import BaseEngine, EngineResult
from likewise.matching.forest.predicate_table import CompiledConjunction, PredicateTable, PredicateTruths
from likewise.model.condition import Conjunction
from likewise.model.event import Event
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.subscription import Condition, Kind, Subscription
from likewise.model.text import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray


Need = tuple[str, str | None]
Bounds = dict[str, tuple[float, float]]
SIFTED = 24  # smaller stalls are looked through one by one, which then costs less than the arrays do


class ForestNode:
    """A condition, the ordinals of the subscriptions that ask for it, its parent and its children."""

    __slots__ = ("asked", "bounds", "box", "children", "compiled", "needs", "offers", "ordinals", "parent", "slot")

    def __init__(self, conjunctions: tuple[Conjunction, ...], compiled: tuple[CompiledConjunction, ...]) -> None:
        self.asked = conjunctions
        self.compiled = compiled
        self.ordinals: dict[int, None] = {}
        self.parent: ForestNode | None = None
        self.children: Stalls = {}
        self.slot = -1
        self.box = _box(compiled)
        self.bounds = _bounds(compiled)
        self.needs = frozenset(set.intersection(*map(_needs, compiled)))
        self.offers = frozenset(set.intersection(*map(_offers, compiled)))

    def covers(self, other: ForestNode) -> bool:
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


def _box(compiled: tuple[CompiledConjunction, ...]) -> Box | None:
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


def _bounds(compiled: tuple[CompiledConjunction, ...]) -> Bounds:
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


def _needs(compiled: CompiledConjunction) -> set[Need]:
    """The attributes an event must bring to meet a conjunction, with the text where one alone will do."""
    return {(entry.attribute, entry.text) for entry in compiled.positive}


def _offers(compiled: CompiledConjunction) -> set[Need]:
    """Return what the needs of every condition that covers a conjunction are among."""
    offered = _needs(compiled)
    for entry in compiled.positive:
        offered.add((entry.attribute, None))
        value = entry.predicate.value
        if isinstance(value, tuple) and isinstance(value[0], str):  # `in (a)` is an equality, too
            offered.add((entry.attribute, fold(value[0])))
    return offered


class SiblingIndex:
    """Siblings with the same needs.

    >>> from likewise.model.predicate import Predicate
    >>> from likewise.matching.forest.predicate_table import PredicateTable
    >>> table, stall = PredicateTable(), SiblingIndex(frozenset({("x", None)}))
    >>> for bound in range(100):
    ...     asked = Conjunction((Predicate("x", ">", float(bound)),))
    ...     stall.add(ForestNode((asked,), (table.acquire(asked),)))
    >>> len(list(stall.may_meet({"x": [9.5]})))
    10
    """

    __slots__ = ("_attributes", "_boxed", "_high", "_low", "_others")

    def __init__(self, needs: frozenset[Need]) -> None:
        self._attributes = tuple(sorted(attribute for attribute, text in needs if text is None))
        self._boxed: list[ForestNode] = []  # those with bounds on all these attributes, by slot
        self._others: dict[ForestNode, None] = {}
        self._low = np.empty((0, len(self._attributes)))
        self._high = np.empty((0, len(self._attributes)))

    def __len__(self) -> int:
        return len(self._boxed) + len(self._others)

    def __iter__(self) -> Iterator[ForestNode]:
        return chain(self._boxed, self._others)

    def add(self, node: ForestNode) -> None:
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

    def remove(self, node: ForestNode) -> None:
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

    def may_cover(self, node: ForestNode) -> Iterable[ForestNode]:
        """The siblings that could cover a node: whose bounds lie around its own."""
        if len(self._boxed) < SIFTED:
            return chain(self._boxed, self._others)
        spans = [node.bounds.get(attribute, (inf, -inf)) for attribute in self._attributes]
        low, high = self._bounds_view()
        enclosing = np.all((low <= [s[0] for s in spans]) & (high >= [s[1] for s in spans]), axis=1)
        return chain(self._chosen(enclosing), self._others)

    def may_be_covered(self, node: ForestNode) -> Iterable[ForestNode]:
        """The siblings that a node could cover: whose bounds lie within its own."""
        if len(self._boxed) < SIFTED:
            return chain(self._boxed, self._others)
        spans = [node.bounds.get(attribute, (-inf, inf)) for attribute in self._attributes]
        low, high = self._bounds_view()
        within = np.all((low >= [s[0] for s in spans]) & (high <= [s[1] for s in spans]), axis=1)
        return chain(self._chosen(within), self._others)

    def may_meet(self, numbers: dict[str, list[float]]) -> Iterable[ForestNode]:
        """The siblings an event with these numbers could meet; of repeated attributes the span of values counts."""
        if len(self._boxed) < SIFTED:
            return chain(self._boxed, self._others)
        values = [numbers.get(attribute) for attribute in self._attributes]
        if not all(values):
            return self._others
        low, high = self._bounds_view()
        meeting = np.all((low <= [max(v) for v in values if v]) & (high >= [min(v) for v in values if v]), axis=1)
        return chain(self._chosen(meeting), self._others)

    def _bounds_view(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        count = len(self._boxed)
        return self._low[:count], self._high[:count]

    def _chosen(self, mask: NDArray[np.bool_]) -> Sequence[ForestNode]:
        return [self._boxed[slot] for slot in np.flatnonzero(mask).tolist()]


Stalls = dict[frozenset[Need], SiblingIndex]


class ForestEngine(BaseEngine):
    """Exact conditions in a covering forest.

    >>> from likewise.model import Predicate, event
    >>> engine = ForestEngine()
    >>> for ordinal, bound in enumerate([3.0, 1.0, 2.0]):
    ...     engine.add(ordinal, Subscription(Condition((Predicate("x", ">", bound),))), 0)
    >>> engine.find(event({"x": 2.5}), 0).ordinals.tolist(), engine.roots, engine.depth
    ([1, 2], 1, 3)
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"exact"})

    def __init__(self, *, types: Hierarchy = NO_TYPES) -> None:
        super().__init__()
        self.types = types
        self._table = PredicateTable()
        self._roots: Stalls = {}
        self._nodes: dict[int, ForestNode] = {}  # by ordinal

    @property
    def roots(self) -> int:
        """Return how many nodes no other covers."""
        return sum(len(stall) for stall in self._roots.values())

    @property
    def depth(self) -> int:
        """The number of nodes on the longest way down."""
        deepest, level = 0, [n for stall in self._roots.values() for n in stall]
        while level:
            deepest += 1
            level = [n for node in level for stall in node.children.values() for n in stall]
        return deepest

    def trees(self) -> list[tuple[list[int], list[int]]]:
        """Return the subscriptions of each root and of everything below it.

        >>> from likewise.model import Predicate
        >>> engine = ForestEngine()
        >>> for ordinal, bound in enumerate([3.0, 1.0, 2.0]):
        ...     engine.add(ordinal, Subscription(Condition((Predicate("x", ">", bound),))), 0)
        >>> engine.trees()
        [([1], [2, 0])]
        """
        results = []
        for root in (node for stall in self._roots.values() for node in stall):
            below, pending = list[int](), [root.children]
            while pending:
                for node in (each for stall in pending.pop().values() for each in stall):
                    below.extend(node.ordinals)
                    pending.append(node.children)
            results.append((list(root.ordinals), below))
        return results

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Put the condition below the conditions that cover it and above those it covers."""
        self.register(ordinal, subscription)
        assert isinstance(subscription.body, Condition)
        conjunctions = subscription.body.conjunctions()
        node = ForestNode(conjunctions, tuple(map(self._table.acquire, conjunctions)))
        parent: ForestNode | None = None
        stalls = self._roots
        while (cover := _find_cover(stalls, node)) is not None:
            if node.covers(cover):
                self._release(node)
                cover.ordinals[ordinal] = None
                self._nodes[ordinal] = cover
                return
            parent, stalls = cover, cover.children
        for covered in _find_covered(stalls, node):
            _unlink(stalls, covered)
            _link(node.children, covered, node)
        _link(stalls, node, parent)
        node.ordinals[ordinal] = None
        self._nodes[ordinal] = node

    def remove(self, ordinal: int) -> None:
        """Forget a subscription; a node without any hands its children to its parent."""
        self.unregister(ordinal)
        node = self._nodes.pop(ordinal)
        del node.ordinals[ordinal]
        if node.ordinals:
            return
        parent = node.parent
        stalls = self._roots if parent is None else parent.children
        _unlink(stalls, node)
        for stall in list(node.children.values()):
            for child in list(stall):
                _unlink(node.children, child)
                _link(stalls, child, parent)
        self._release(node)

    def _release(self, node: ForestNode) -> None:
        for compiled in node.compiled:
            self._table.release(compiled)

    def find(self, event: Event, at: int) -> EngineResult:
        """Walk down from the roots, passing over what cannot be met."""
        truths = PredicateTruths(event, self.types)
        items, numbers, texts = truths.items, truths.numbers, truths.texts
        ordinals: list[int] = []
        pending = [self._roots]
        while pending:
            for needs, stall in pending.pop().items():
                for attribute, text in needs:
                    if attribute not in items or (text is not None and text not in texts.get(attribute, ())):
                        break
                else:
                    for node in stall.may_meet(numbers):
                        for conjunction in node.compiled:
                            if truths.hold(conjunction):
                                ordinals.extend(node.ordinals)
                                if node.children:
                                    pending.append(node.children)
                                break
        return EngineResult(np.array(sorted(ordinals), np.int64))


def _find_cover(stalls: Stalls, node: ForestNode) -> ForestNode | None:
    """A sibling that covers the node."""
    offers = node.offers
    for needs, stall in stalls.items():
        if needs <= offers:
            for sibling in stall.may_cover(node):
                if sibling.covers(node):
                    return sibling
    return None


def _find_covered(stalls: Stalls, node: ForestNode) -> list[ForestNode]:
    """The siblings the node covers."""
    needs = node.needs
    return [
        sibling
        for stall in stalls.values()
        for sibling in stall.may_be_covered(node)
        if needs <= sibling.offers and node.covers(sibling)
    ]


def _link(stalls: Stalls, node: ForestNode, parent: ForestNode | None) -> None:
    stall = stalls.get(node.needs)
    if stall is None:
        stall = stalls[node.needs] = SiblingIndex(node.needs)
    stall.add(node)
    node.parent = parent


def _unlink(stalls: Stalls, node: ForestNode) -> None:
    stall = stalls[node.needs]
    stall.remove(node)
    if not len(stall):
        del stalls[node.needs]

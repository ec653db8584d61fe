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
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from likewise.matching.engine import BaseEngine, Found
from likewise.matching.forest.nodes import Node, Stall, Stalls
from likewise.matching.forest.predicate_table import PredicateTable, Truths
from likewise.model.event import Event
from likewise.model.hierarchies.types import NO_TYPES, Hierarchy
from likewise.model.subscription import Condition, Kind, Subscription


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
        self._nodes: dict[int, Node] = {}  # by ordinal

    @property
    def roots(self) -> int:
        """How many nodes no other covers."""
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
        """Of each root, the subscriptions that ask for it, and those of everything below it.

        >>> from likewise.model import Predicate
        >>> engine = ForestEngine()
        >>> for ordinal, bound in enumerate([3.0, 1.0, 2.0]):
        ...     engine.add(ordinal, Subscription(Condition((Predicate("x", ">", bound),))), 0)
        >>> engine.trees()
        [([1], [2, 0])]
        """
        found = []
        for root in (node for stall in self._roots.values() for node in stall):
            below, pending = list[int](), [root.children]
            while pending:
                for node in (each for stall in pending.pop().values() for each in stall):
                    below.extend(node.ordinals)
                    pending.append(node.children)
            found.append((list(root.ordinals), below))
        return found

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Put the condition below the conditions that cover it and above those it covers."""
        self.admit(ordinal, subscription)
        assert isinstance(subscription.body, Condition)
        asked = subscription.body.conjunctions()
        node = Node(asked, tuple(map(self._table.acquire, asked)))
        parent: Node | None = None
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
        self.dismiss(ordinal)
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

    def _release(self, node: Node) -> None:
        for compiled in node.compiled:
            self._table.release(compiled)

    def find(self, event: Event, at: int) -> Found:
        """Walk down from the roots, passing over what cannot be met."""
        truths = Truths(event, self.types)
        items, numbers, texts = truths.items, truths.numbers, truths.texts
        found: list[int] = []
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
                                found.extend(node.ordinals)
                                if node.children:
                                    pending.append(node.children)
                                break
        return Found(np.array(sorted(found), np.int64))


def _find_cover(stalls: Stalls, node: Node) -> Node | None:
    """A sibling that covers the node."""
    offers = node.offers
    for needs, stall in stalls.items():
        if needs <= offers:
            for sibling in stall.may_cover(node):
                if sibling.covers(node):
                    return sibling
    return None


def _find_covered(stalls: Stalls, node: Node) -> list[Node]:
    """The siblings the node covers."""
    needs = node.needs
    return [
        sibling
        for stall in stalls.values()
        for sibling in stall.may_be_covered(node)
        if needs <= sibling.offers and node.covers(sibling)
    ]


def _link(stalls: Stalls, node: Node, parent: Node | None) -> None:
    stall = stalls.get(node.needs)
    if stall is None:
        stall = stalls[node.needs] = Stall(node.needs)
    stall.add(node)
    node.parent = parent


def _unlink(stalls: Stalls, node: Node) -> None:
    stall = stalls[node.needs]
    stall.remove(node)
    if not len(stall):
        del stalls[node.needs]

"""The covering forest (SPEC.md C; CUPUS, section 4.4.1).

A node stands for one condition and covers its children; equivalent subscriptions share a node. An event
that does not meet a node meets nothing below it, so the node's subtree is skipped. (The paper also says
that an event which meets a node meets its children; that is backwards.) Taking a node out hands its
children to its parent, which covers them because covering is transitive.

Siblings are kept in stalls by what each of them must find in an event: the attributes its conjunctions
all ask for, and the text of those it compares for equality. A condition can be covered only from a stall
whose needs are among its own, and an event passes over every stall whose needs it does not bring.

Everything is iterative, for a chain of ever narrower conditions is as deep as it is long. Memory is one
node a distinct condition, with one reference from its parent and one to it: linear.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from likewise.matching.covering import covers
from likewise.matching.engine import BaseEngine, Found
from likewise.matching.predicate_table import Compiled, PredicateTable, Truths
from likewise.model.condition import Conjunction
from likewise.model.event import Event
from likewise.model.subscription import Condition, Kind, Subscription
from likewise.model.text import fold

Need = tuple[str, str | None]
Stalls = dict[frozenset[Need], dict[int, "_Node"]]


class _Node:
    """A condition, the ordinals of the subscriptions that ask for it, its parent and its children."""

    __slots__ = ("asked", "box", "children", "compiled", "key", "needs", "offers", "ordinals", "parent")

    def __init__(self, key: int, asked: tuple[Conjunction, ...], compiled: tuple[Compiled, ...]) -> None:
        self.key = key
        self.asked = asked
        self.compiled = compiled
        self.ordinals: dict[int, None] = {}
        self.parent: _Node | None = None
        self.children: Stalls = {}
        self.box = _box(compiled)
        self.needs = frozenset(set.intersection(*map(_needs, compiled)))
        self.offers = frozenset(set.intersection(*map(_offers, compiled)))


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


Box = tuple[tuple[str, float, float, str | None], ...]


def _box(compiled: tuple[Compiled, ...]) -> Box | None:
    """A single conjunction of bare numbers and equal texts as (attribute, low, high, text); None if it is more."""
    if len(compiled) > 1 or compiled[0].negative:
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


def _node_covers(wide: _Node, narrow: _Node) -> bool:
    """`covers`, with a short way for two boxes."""
    if wide.box is None or narrow.box is None:
        return all(any(covers(w, n) for w in wide.asked) for n in narrow.asked)
    for attribute, low, high, text in wide.box:
        for other, other_low, other_high, other_text in narrow.box:
            if other == attribute and low <= other_low and other_high <= high and text == other_text:
                break
        else:
            return False
    return True


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

    def __init__(self) -> None:
        super().__init__()
        self._table = PredicateTable()
        self._roots: Stalls = {}
        self._nodes: dict[int, _Node] = {}  # by ordinal
        self._keys = 0

    @property
    def roots(self) -> int:
        """How many nodes no other covers."""
        return sum(len(stall) for stall in self._roots.values())

    @property
    def depth(self) -> int:
        """The number of nodes on the longest way down."""
        deepest, level = 0, [n for stall in self._roots.values() for n in stall.values()]
        while level:
            deepest += 1
            level = [n for node in level for stall in node.children.values() for n in stall.values()]
        return deepest

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Put the condition below the conditions that cover it and above those it covers."""
        self.admit(ordinal, subscription)
        assert isinstance(subscription.body, Condition)
        asked = subscription.body.conjunctions()
        node = _Node(self._keys, asked, tuple(map(self._table.acquire, asked)))
        self._keys += 1
        parent: _Node | None = None
        stalls = self._roots
        while (cover := _find_cover(stalls, node)) is not None:
            if _node_covers(node, cover):
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
        for stall in node.children.values():
            for child in stall.values():
                _link(stalls, child, parent)
        self._release(node)

    def _release(self, node: _Node) -> None:
        for compiled in node.compiled:
            self._table.release(compiled)

    def find(self, event: Event, at: int) -> Found:
        """Walk down from the roots, passing over what cannot be met."""
        truths = Truths(event)
        items, texts = truths.items, truths.texts
        found: list[int] = []
        pending = [self._roots]
        while pending:
            for needs, stall in pending.pop().items():
                for attribute, text in needs:
                    if attribute not in items or (text is not None and text not in texts.get(attribute, ())):
                        break
                else:
                    for node in stall.values():
                        for conjunction in node.compiled:
                            if truths.hold(conjunction):
                                found.extend(node.ordinals)
                                if node.children:
                                    pending.append(node.children)
                                break
        return Found(np.array(sorted(found), np.int64))


def _find_cover(stalls: Stalls, node: _Node) -> _Node | None:
    """A sibling that covers the node."""
    offers = node.offers
    for needs, stall in stalls.items():
        if needs <= offers:
            for sibling in stall.values():
                if _node_covers(sibling, node):
                    return sibling
    return None


def _find_covered(stalls: Stalls, node: _Node) -> list[_Node]:
    """The siblings the node covers."""
    needs = node.needs
    return [
        sibling for stall in stalls.values() for sibling in stall.values()
        if needs <= sibling.offers and _node_covers(node, sibling)
    ]  # fmt: skip


def _link(stalls: Stalls, node: _Node, parent: _Node | None) -> None:
    stalls.setdefault(node.needs, {})[node.key] = node
    node.parent = parent


def _unlink(stalls: Stalls, node: _Node) -> None:
    stall = stalls[node.needs]
    del stall[node.key]
    if not stall:
        del stalls[node.needs]

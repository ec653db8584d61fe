"""Near triples by MVR-trees: the patterns that may lie within a triple's reach are looked up, then measured.

Qin et al., CIKM 2014, section 2. A tree has one radius, and subscriptions have their own: those of one locality whose
radii lie in the same step share a tree, and are measured each by its own. The directions of a tree's coordinates are
chosen by the patterns it holds, anew whenever they have doubled, so no sample is needed to begin with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from likewise.errors import UnknownId, UnsupportedSubscription
from likewise.matching.engine import BaseEngine, EngineBatchResult, EngineResult, batch_result
from likewise.matching.explain.explain import explain
from likewise.matching.graphs_nearby.mvr_tree import MvrTree
from likewise.matching.graphs_nearby.pattern_space import PatternSpace
from likewise.matching.graphs_nearby.rtree_index import RTreeIndex, check_installed
from likewise.matching.reference.locality import Locality
from likewise.matching.reference.triple_distance import (
    TripleDistance,
    TripleDistances,
    parts_of,
    score_of,
    solutions_of,
)
from likewise.model.event import Event
from likewise.model.explanation import Explanation
from likewise.model.match import Match
from likewise.model.rdf import Triple
from likewise.model.subscription import Kind, NearBy, NearbyTriple, Subscription

STEP: Final = 0.1  # of radii that share a tree
SLACK: Final = 1e-4  # a tree reaches a little further, so that rounding loses nothing that measuring would keep
FIRST: Final = 64  # patterns after which directions are chosen for the first time

Home = tuple[NearBy, int]


class NearEngine(BaseEngine):
    """Subscriptions to near triples; `meaning` makes the vectors of terms by meaning when they are first needed.

    `tree` is the index: the MVR-tree, or the paper's baseline, the R-tree.

    >>> from likewise.model import TriplePattern
    >>> engine = NearEngine()
    >>> team = NearbyTriple(TriplePattern("?m", "<http://e.org/homeTeam>", "?t"), 0.9, "spelling")
    >>> engine.add(0, Subscription(team, id="s"), at=0)
    >>> match = engine.match(Event(graph=(Triple("<x:m>", "<http://e.org/team>", "<x:Spain>"),)), at=0)[0][1]
    >>> round(match.score, 2), match.bindings
    (0.22, ((('?m', '<x:m>'), ('?t', '<x:Spain>')),))
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"near"})

    def __init__(
        self, meaning: Callable[[], Locality] | None = None, tree: type[MvrTree] | type[RTreeIndex] = MvrTree
    ) -> None:
        super().__init__()
        self._nearness = TripleDistances(meaning)
        self._tree = tree
        self._trees: dict[Home, PatternSpace] = {}
        self._chosen: dict[Home, int] = {}  # how many patterns a tree had when its directions were chosen
        self._bodies: dict[int, NearbyTriple] = {}

    def serves(self, subscription: Subscription) -> bool:
        """Near triples; by meaning only with a space at hand."""
        return self._nearness.serves(subscription)

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription; one that cannot be held changes nothing."""
        if not self.serves(subscription):
            raise UnsupportedSubscription("what is near by meaning needs a space; give one, or ask `by spelling`")
        body = subscription.body
        assert isinstance(body, NearbyTriple)  # `serves` lets nothing else in
        if body.constants() > 1 or self._tree is RTreeIndex:
            check_installed()
        home = _home(body)
        self._nearness.locality(body.by)
        self.register(ordinal, subscription)
        self._bodies[ordinal] = body
        tree = self._trees.get(home)
        if tree is None or len(tree) + 1 >= 2 * max(FIRST // 2, self._chosen[home]):
            self._plant(home, [o for o, existing in self._bodies.items() if _home(existing) == home])
        else:
            tree.insert(body.pattern, ordinal)

    def _plant(self, home: Home, ordinals: Sequence[int]) -> None:
        """A tree of these patterns, its directions chosen by them."""
        patterns = [self._bodies[ordinal].pattern for ordinal in ordinals]
        radius = (home[1] + 1) * STEP + SLACK
        tree = self._tree(self._nearness.locality(home[0]), radius, patterns)
        for ordinal, pattern in zip(ordinals, patterns, strict=True):
            tree.insert(pattern, ordinal)
        self._trees[home], self._chosen[home] = tree, len(ordinals)

    def remove(self, ordinal: int) -> None:
        """Forget a subscription, and its tree if nothing else is in it."""
        self.unregister(ordinal)
        home = _home(self._bodies.pop(ordinal))
        tree = self._trees[home]
        tree.remove(ordinal)
        if not len(tree):
            del self._trees[home], self._chosen[home]

    # -- finding --------------------------------------------------------------------------------

    def find(self, event: Event, at: int) -> EngineResult:
        """The subscriptions that a triple of the event comes near enough to, with the score of the nearest."""
        return self._results(self.near([event.graph])[0])

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """The same, with what the variables stand for in every triple that is near enough."""
        out = []
        for ordinal, near in self.near([event.graph])[0].items():
            id, score = self.subscriptions[ordinal].id, max(map(score_of, near))
            bindings = solutions_of(self._bodies[ordinal], event.graph, near)
            out.append((ordinal, Match(event.id, id, "near", score, score, None, bindings)))
        return out

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """`find` for each event; the triples of all go through the trees together."""
        return batch_result([self._results(near) for near in self.near([event.graph for event in events])])

    def _results(self, near: dict[int, list[TripleDistance]]) -> EngineResult:
        import numpy as np

        scores = [max(map(score_of, nearby)) for nearby in near.values()]
        return EngineResult(np.array(list(near), np.int64), np.array(scores, np.float32))

    def near(self, graphs: Sequence[Sequence[Triple]]) -> list[dict[int, list[TripleDistance]]]:
        """For each graph, by ascending ordinal, the triples that are near enough to a subscription's."""
        triples = [triple for graph in graphs for triple in graph]
        owners = [(number, place) for number, graph in enumerate(graphs) for place in range(len(graph))]
        candidates: list[dict[int, list[int]]] = [{} for _ in graphs]
        for tree in self._trees.values() if triples else ():
            hits = tree.match_batch([parts_of(triple) for triple in triples])
            for at, ordinal in zip(hits.triples.tolist(), hits.numbers.tolist(), strict=True):
                number, place = owners[at]
                candidates[number].setdefault(ordinal, []).append(place)
        return [
            {
                ordinal: near
                for ordinal, places in sorted(of_graph.items())
                if (near := self._measured(ordinal, graph, sorted(places)))
            }
            for graph, of_graph in zip(graphs, candidates, strict=True)
        ]

    def _measured(self, ordinal: int, graph: Sequence[Triple], places: Sequence[int]) -> list[TripleDistance]:
        threshold = self.subscriptions[ordinal].threshold
        nearby = self._nearness.within(self._bodies[ordinal], threshold, [graph[place] for place in places])
        return [each._replace(place=places[each.place]) for each in nearby]

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """By the functions that match."""
        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        return explain(event, subscription, nearness=self._nearness)


def _home(near: NearbyTriple) -> Home:
    return near.by, math.floor(near.radius / STEP)

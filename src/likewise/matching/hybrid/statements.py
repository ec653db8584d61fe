"""Statement subscriptions that say by which measures they are compared: `using` and `best`.

Each way of comparing has an engine of its own (`engine`): hybrid, JCn alone, ESA alone, or sameness alone, which stands
for fP and fV both. What most subscriptions leave unsaid is the paper's hybrid with m = 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from likewise.defaults import CACHE_BYTES, HYBRID_M, THRESHOLD
from likewise.errors import UnknownId
from likewise.matching.cache_use import RELATEDNESS, CacheUse
from likewise.matching.engine import BaseEngine, EngineResult
from likewise.matching.explain.explain import explain
from likewise.matching.hybrid.engine import HybridEngine
from likewise.model import Event, Explanation, Kind, Match, Subscription
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Variant
from likewise.semantics.measure import Measure

Way = tuple[Variant, int]  # by which measures, and how many properties may answer


class StatementsEngine(BaseEngine):
    """Statements, each compared the way it says; `named` gives a measure by its name when it is first needed.

    >>> from likewise.language import parse
    >>> from likewise.model import event
    >>> from likewise.testing import TableMeasure
    >>> engine = StatementsEngine({"sameness": TableMeasure({("squad", "team"): 0.9})}.__getitem__)
    >>> engine.add(3, parse('event squad "Spain" using sameness', id="s"), 0)
    >>> engine.find(event({"team": "Spain", "year": 2010}), 0).ordinals.tolist()
    [3]
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"statements"})

    def __init__(
        self,
        named: Callable[[str], Measure],
        *,
        m: int = HYBRID_M,
        threshold: float = THRESHOLD,
        cache_bytes: int = CACHE_BYTES,
        curve: ProbabilityCurve = AS_SCORED,
    ) -> None:
        super().__init__()
        self._named, self.m, self.threshold, self._cache_bytes, self.curve = named, m, threshold, cache_bytes, curve
        self._ways: dict[Way, HybridEngine] = {}

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription."""
        part = self._part(self._way(subscription))
        self.register(ordinal, subscription)
        part.add(ordinal, subscription, at)

    def remove(self, ordinal: int) -> None:
        """Forget a subscription; a way that nobody uses any more is forgotten, too."""
        way = self._way(self.unregister(ordinal))
        self._ways[way].remove(ordinal)
        if not len(self._ways[way]):
            del self._ways[way]

    def find(self, event: Event, at: int) -> EngineResult:
        """The subscriptions whose relevance reaches what they need."""
        results = [part.find(event, at) for part in self._ways.values()]
        if len(results) == 1:
            return results[0]
        ordinals = np.concatenate([np.empty(0, np.int64), *(part.ordinals for part in results)])
        scores = np.concatenate(
            [np.empty(0, np.float32), *(part.scores for part in results if part.scores is not None)]
        )
        order = np.argsort(ordinals)
        return EngineResult(ordinals[order], scores[order])

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """`find`, as matches; the paper's score is the relevance itself."""
        matches = super().match(event, at)
        for _, match in matches:
            match.product = match.score
        return matches

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Why the event does or does not meet the subscription, by the measures it asks for."""
        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        return explain(event, subscription, named=self._named, m=self.m, threshold=self.threshold, curve=self.curve)

    def caches(self) -> dict[str, CacheUse]:
        """How often the relatedness of a property or value was there, whichever way."""
        total = CacheUse()
        for part in self._ways.values():
            use = part.caches()[RELATEDNESS]
            total.count(use.hits + use.misses, use.misses)
        return {RELATEDNESS: total}

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Forget what is kept about some seen texts."""
        for part in self._ways.values():
            part.forget_relatedness(of)

    def _way(self, subscription: Subscription) -> Way:
        return subscription.using or "hybrid", subscription.best or self.m

    def _part(self, way: Way) -> HybridEngine:
        part = self._ways.get(way)
        if part is None:
            variant, m = way
            if variant == "hybrid":
                jcn, esa = self._named("jcn"), self._named("esa")
            else:
                jcn = esa = self._named(variant)
            part = self._ways[way] = HybridEngine(
                jcn,
                esa,
                m=m,
                threshold=self.threshold,
                variant="hybrid" if variant == "hybrid" else "jcn",
                cache_bytes=self._cache_bytes,
                curve=self.curve,
            )
        return part

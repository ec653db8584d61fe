"""Statement subscriptions that say by which measures they are compared: `using` and `best`.

Each way of comparing has an engine of its own: hybrid, hybrid with background knowledge in fV, or JCn, ESA or sameness
alone, which stand for fP and fV both. What most subscriptions leave unsaid is the paper's hybrid with m = 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from likewise.defaults import CACHE_BYTES, HYBRID_M, THRESHOLD
from likewise.errors import UnknownId, UnsupportedSubscription
from likewise.kernels.growing_array import GrowingArray
from likewise.matching.cache_use import RELATEDNESS, CacheUse
from likewise.matching.engine import BaseEngine, EngineResult
from likewise.matching.explain.explain import explain
from likewise.matching.reference.match_threshold import MatchThreshold
from likewise.matching.reference.statement_terms import event_statements, plain_words
from likewise.matching.thematic.relatedness_rows import RelatednessRows
from likewise.matching.thematic.subscription_predicates import RelatednessColumns
from likewise.model import Event, Explanation, Kind, Match, Statements, Subscription, fold
from likewise.model.probability import AS_SCORED, ProbabilityCurve
from likewise.model.subscription import Variant
from likewise.semantics.measure import Measure, Role, Term

EngineVariant = Literal["hybrid", "jcn", "esa"]  # of one engine; a statement chooses among more

PATIENCE = 1_000  # subscriptions that may be gone before the rest is packed


class HybridEngine(BaseEngine):
    """Statement subscriptions over JCn and ESA.

    >>> from likewise.model import event
    >>> from likewise.language import parse
    >>> from likewise.testing import TableMeasure
    >>> related = TableMeasure({("squad", "team"): 0.9})
    >>> engine = HybridEngine(related, related)
    >>> engine.add(3, parse('event squad "Spain"', id="s"), 0)
    >>> engine.find(event({"team": "Spain", "year": 2010}), 0).ordinals.tolist()
    [3]
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"statements"})

    def __init__(
        self,
        jcn: Measure,
        esa: Measure,
        *,
        m: int = HYBRID_M,
        threshold: float = THRESHOLD,
        variant: EngineVariant = "hybrid",
        values: Measure | None = None,
        cache_bytes: int = CACHE_BYTES,
        curve: ProbabilityCurve = AS_SCORED,
    ) -> None:
        super().__init__()
        self.curve = curve
        self.jcn, self.esa, self.m, self.threshold, self.variant = jcn, esa, m, threshold, variant
        self._properties, self._values = RelatednessColumns(), RelatednessColumns()
        self._related = CacheUse()
        ranking, relating = (esa if variant == "esa" else jcn), (jcn if variant == "jcn" else esa)
        self._ranking = RelatednessRows(self._properties, ranking, cache_bytes // 4, self._related)
        self._relating = RelatednessRows(self._properties, relating, cache_bytes // 4, self._related)
        self._meaning = RelatednessRows(self._values, values or relating, cache_bytes // 2, self._related)
        self._statements: dict[tuple[int, int], int] = {}  # (property, value) -> number of the statement
        self._statement_property, self._statement_value = GrowingArray(np.int64), GrowingArray(np.int64)
        self._clear()

    def _clear(self) -> None:
        self._owners = GrowingArray(np.int64)  # ordinals, ascending; -1 when removed
        self._limits = GrowingArray(np.float64)
        self._starts = GrowingArray(np.int64)
        self._pool = GrowingArray(np.int64)  # the statements of each subscription, one after another
        self._places: dict[int, int] = {}

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription."""
        self.register(ordinal, subscription)
        self._place(ordinal, subscription)

    def _place(self, ordinal: int, subscription: Subscription) -> None:
        assert isinstance(subscription.body, Statements)  # `serves` lets nothing else in
        self._places[ordinal] = len(self._owners)
        self._owners.append(ordinal)
        self._limits.append(MatchThreshold.of(subscription, self.threshold, self.curve).score)
        self._starts.append(len(self._pool))
        for statement in subscription.body.items:
            key = (
                self._properties.number(_term(plain_words(statement.property), "attribute")),
                self._values.number(_term(plain_words(statement.value), "value")),
            )
            number = self._statements.get(key)
            if number is None:
                number = self._statements[key] = len(self._statements)
                self._statement_property.append(key[0])
                self._statement_value.append(key[1])
            self._pool.append(number)

    def remove(self, ordinal: int) -> None:
        """Forget a subscription; when most are gone, the rest is packed."""
        self.unregister(ordinal)
        self._owners.view()[self._places.pop(ordinal)] = -1
        if len(self._owners) > PATIENCE + 2 * len(self._places):
            self._clear()
            for remaining, subscription in self.subscriptions.items():
                self._place(remaining, subscription)

    def find(self, event: Event, at: int) -> EngineResult:
        """The subscriptions whose relevance fR reaches their threshold."""
        scores = self.relevances(event)
        owners = self._owners.view()
        matching = np.flatnonzero((scores >= self._limits.view()) & (owners >= 0))
        return EngineResult(owners[matching], scores[matching].astype(np.float32))

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """`find`, as matches; the paper's score is the relevance itself."""
        matches = super().match(event, at)
        for _, match in matches:
            match.product = match.score
        return matches

    def relevances(self, event: Event) -> NDArray[np.float64]:
        """fR of every subscription held, in the order of addition; those removed score too and are passed over."""
        if not len(self._owners):
            return np.empty(0)
        best = self._best_answers(event)[self._pool.view()]
        starts = self._starts.view()
        counts = np.diff(np.append(starts, len(best)))
        return np.asarray(np.add.reduceat(best, starts) / counts)

    def ranking(self, event: Event) -> list[tuple[str, float]]:
        """Every subscription with its relevance, the highest first: for subscriptions without a threshold."""
        scores = self.relevances(event).tolist()
        ranked = [(self.subscriptions[o].id, scores[place]) for o, place in self._places.items()]
        return sorted(ranked, key=lambda pair: -pair[1])

    def _best_answers(self, event: Event) -> NDArray[np.float64]:
        """For every distinct statement asked the highest f_stmt = fP * fV over the event's statements in Top_m."""
        statements = event_statements(event)
        if not statements:
            return np.zeros(len(self._statements))
        names = sorted({fold(s.property) for s in statements})
        texts = sorted({fold(s.value) for s in statements})
        weight = self._weights(names)
        values = np.array(self._meaning.of([_term(text, "value") for text in texts]), np.float64)
        # Distinct (property, value) pairs of the event: an answer's place does not change its score.
        pairs = sorted({(names.index(fold(s.property)), texts.index(fold(s.value))) for s in statements})
        rows, columns = np.array(pairs, np.int64).T
        best = np.zeros(len(self._statements))
        by_property, by_value = self._statement_property.view(), self._statement_value.view()
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            np.maximum(best, weight[row, by_property] * values[column, by_value], out=best)
        return best

    def _weights(self, names: list[str]) -> NDArray[np.float64]:
        """fP of each of the event's properties (in order of name) for each property asked."""
        terms = [_term(name, "attribute") for name in names]
        ranking = np.array(self._ranking.of(terms), np.float64)
        relating = np.array(self._relating.of(terms), np.float64)
        order = np.argsort(-ranking, axis=0, kind="stable")  # ties by name: the rows are in that order
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(1, len(names) + 1)[:, None], axis=0)
        steps = (self.m - rank + 1) if self.variant == "hybrid" else 1
        return np.where(rank <= self.m, np.minimum(1.0, steps * relating), 0.0)

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        """Explain why the event does or does not meet the subscription; the baselines are not explained."""
        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        if self.variant != "hybrid":
            raise UnsupportedSubscription(
                f"the baseline {self.variant!r} is for evaluations; explanations are those of `hybrid`"
            )
        measures = {"jcn": self.jcn, "esa": self.esa}
        return explain(
            event, subscription, named=measures.__getitem__, m=self.m, threshold=self.threshold, curve=self.curve
        )

    def caches(self) -> dict[str, CacheUse]:
        """Return how often the relatedness of a property or value was there."""
        return {RELATEDNESS: self._related}

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Forget what is kept about some seen texts."""
        for rows in (self._ranking, self._relating, self._meaning):
            rows.forget(of)


def _term(text: str, role: Role) -> Term:
    return Term(fold(text), role, kind="text")


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
        """Explain why the event does or does not meet the subscription, by the measures it asks for."""
        subscription = self.subscriptions.get(ordinal)
        if subscription is None:
            raise UnknownId(str(ordinal))
        return explain(event, subscription, named=self._named, m=self.m, threshold=self.threshold, curve=self.curve)

    def caches(self) -> dict[str, CacheUse]:
        """Return how often the relatedness of a property or value was there, whichever way."""
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
            values = self._named("background") if variant == "background" else None
            if variant in ("hybrid", "background"):
                jcn, esa = self._named("jcn"), self._named("esa")
            else:
                jcn = esa = self._named(variant)
            part = self._ways[way] = HybridEngine(
                jcn,
                esa,
                m=m,
                threshold=self.threshold,
                variant="hybrid" if variant in ("hybrid", "background") else "jcn",
                values=values,
                cache_bytes=self._cache_bytes,
                curve=self.curve,
            )
        return part

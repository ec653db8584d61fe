"""Near triples: how far a triple of an event lies from the one that is asked for (linked-data.md).

Every constant is compared with its counterpart; all must lie within the radius. The plain evaluation, which the trees
must equal, and what both share: the distances of pairs of texts, kept within a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from likewise import defaults
from likewise.errors import UnsupportedSubscription
from likewise.matching.reference.conditions import ConditionMatch
from likewise.matching.reference.locality import LexicalLocality, Locality, distances
from likewise.model.event import Event
from likewise.model.match import Bindings
from likewise.model.rdf import Triple, is_variable
from likewise.model.subscription import NearBy, NearbyTriple, Subscription
from likewise.semantics.vectors.lru_cache import LruCache

POSITIONS = ("subject", "predicate", "object")
Parts = tuple[str, str, str]


class TripleDistance(NamedTuple):
    """A triple, by its place, and how far each constant's counterpart is; the mean of these."""

    place: int
    distances: tuple[float, ...]
    mean: float


class TripleDistances:
    """Distances of terms by spelling and, where `meaning` makes a locality, by meaning.

    >>> near = TripleDistances()
    >>> round(near.distance("spelling", "<http://e.org/homeTeam>", "<http://e.org/home_teams>"), 3)
    0.0
    """

    def __init__(self, meaning: Callable[[], Locality] | None = None) -> None:
        self._make = meaning
        self._made: dict[NearBy, Locality] = {}
        self._kept: LruCache[tuple[NearBy, str, str], float] = LruCache(defaults.TERM_CACHE_BYTES // 8, lambda _: 200)

    def serves(self, subscription: Subscription) -> bool:
        """Return whether it can tell how near a subscription's triple is."""
        body = subscription.body
        return isinstance(body, NearbyTriple) and (body.by == "spelling" or self._make is not None)

    def locality(self, by: NearBy) -> Locality:
        """The vectors distances are taken from, made when first needed."""
        made = self._made.get(by)
        if made is None:
            if by == "spelling":
                made = LexicalLocality()
            elif self._make is not None:
                made = self._make()
            else:
                raise UnsupportedSubscription("what is near by meaning needs a space; give one, or ask `by spelling`")
            self._made[by] = made
        return made

    def distance(self, by: NearBy, pattern_term: str, triple_term: str) -> float:
        """Return how far two terms are apart."""
        locality = self.locality(by)
        a, b = locality.text(pattern_term), locality.text(triple_term)
        key = (by, a, b)
        cached = self._kept.get(key)
        if cached is None:
            cached = float(distances(locality, [a], [b])[0])
            self._kept.put(key, cached)
        return cached

    def measure(self, near: NearbyTriple, triples: Sequence[Triple]) -> Iterator[TripleDistance]:
        """Every triple that gives equal variables equal terms, with its distances."""
        pattern_terms = parts_of(near.pattern)
        for place, triple in enumerate(triples):
            triple_terms = parts_of(triple)
            named: dict[str, str] = {}
            if any(
                named.setdefault(a, s) != s for a, s in zip(pattern_terms, triple_terms, strict=True) if is_variable(a)
            ):
                continue
            result = tuple(
                self.distance(near.by, a, s)
                for a, s in zip(pattern_terms, triple_terms, strict=True)
                if not is_variable(a)
            )
            yield TripleDistance(place, result, sum(result) / len(result))

    def within(self, near: NearbyTriple, threshold: float | None, triples: Sequence[Triple]) -> list[TripleDistance]:
        """The triples within the radius in every constant, whose score reaches the threshold if there is one."""
        level = 0.0 if threshold is None else threshold
        return [
            candidate
            for candidate in self.measure(near, triples)
            if max(candidate.distances) <= near.radius and score_of(candidate) >= level
        ]


def meet_near(
    near: NearbyTriple, threshold: float | None, distances: TripleDistances, event: Event
) -> ConditionMatch | None:
    """Return how near an event comes to a triple whose nearest are ranked, or None if it is not near enough."""
    nearby = distances.within(near, threshold, event.graph)
    return nearest(nearby) if nearby else None


def nearest(nearby: Sequence[TripleDistance]) -> ConditionMatch:
    """Return the score of the nearest triple, and how near it is: triples further than 1 on the mean score 0 alike.

    >>> nearest([TripleDistance(0, (1.25,), 1.25), TripleDistance(1, (1.375,), 1.375)])
    ConditionMatch(score=0.0, product=0.0, conjunction=0, nearness=-0.25)
    """
    nearness = 1.0 - min(candidate.mean for candidate in nearby)
    score = max(0.0, nearness)
    return ConditionMatch(score, score, 0, nearness)


def parts_of(triple: object) -> Parts:
    """Subject, predicate and object of a triple or a pattern."""
    return triple.subject, triple.predicate, triple.object  # type: ignore[attr-defined]


def score_of(distance: TripleDistance) -> float:
    """1 less the mean distance; what lies further than 1 on the mean scores 0.

    >>> score_of(TripleDistance(0, (0.2, 0.4), 0.3)), score_of(TripleDistance(0, (1.3,), 1.3))
    (0.7, 0.0)
    """
    return max(0.0, 1.0 - distance.mean)


def solutions_of(near: NearbyTriple, triples: Sequence[Triple], nearby: Sequence[TripleDistance]) -> Bindings:
    """Return what the variables stand for in the triples that were found, sorted, each once."""
    pattern_terms = parts_of(near.pattern)
    if not near.pattern.variables():
        return ()
    every = set()
    for each in nearby:
        pairs = zip(pattern_terms, parts_of(triples[each.place]), strict=True)
        every.add(tuple(dict.fromkeys((a, s) for a, s in pairs if is_variable(a))))
    return tuple(sorted(every))

"""Basic Graph Patterns over the triples of one event, found by a triple automaton and joined (sources.md L).

Every distinct triple pattern of all subscriptions, whatever its variables are called, stands once in one
automaton (Qin et al., CIKM 2014, section 2.3). An event's triples go through it, which gives each pattern's
candidates. A subscription waits at one of its patterns, the one with most constants where fewest others
wait; it is looked at when that pattern has a candidate, and joined when all its patterns have. The paper
leaves joins open ("future work", section 3): here a solution takes all its triples from one event's graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from likewise.matching.engine import BaseEngine, EngineBatchResult, EngineResult, batch_result
from likewise.matching.graphs.triple_automaton import TripleAutomaton
from likewise.model.event import Event
from likewise.model.match import Match
from likewise.model.rdf import TriplePattern, is_variable
from likewise.model.subscription import GraphPattern, Kind, Subscription

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

# Joins of triple patterns over a small graph, by backtracking along hash indexes (sources.md L).
#
# The pattern whose candidates are fewest comes first, then always one that shares a variable with those
# before it, if there is any: its candidates are looked up by the values already bound. Patterns that share no
# variable, even over others, fall into groups; whether there is a solution is asked of each group alone.

Parts = tuple[str, str, str]
Values = tuple[str, ...]
Places = tuple[int, ...]
Index = dict[Values, dict[Values, None]]


class JoinStep(NamedTuple):
    """One pattern of a join: the variables known before it and those it binds, and where they stand in it."""

    pattern: int
    known: tuple[str, ...]
    new: tuple[str, ...]
    at_known: Places
    at_new: Places


class JoinPlan:
    """A subscription's distinct patterns as its join needs them: the variables of each, with their places."""

    __slots__ = ("_orders", "groups", "names", "places", "shapes")

    def __init__(self, patterns: Sequence[TriplePattern], names: tuple[str, ...]) -> None:
        distinct = tuple(dict.fromkeys(patterns))
        self.names = names
        self.shapes = tuple((p.subject, p.predicate, p.object) for p in distinct)
        self.places = tuple(
            {part: i for i, part in reversed(list(enumerate(shape))) if is_variable(part)} for shape in self.shapes
        )
        self.groups = _connected(self.places)
        self._orders: dict[tuple[Places, int], tuple[JoinStep, ...]] = {}

    def order(self, group: tuple[int, ...], first: int) -> tuple[JoinStep, ...]:
        """The patterns of a group, from the first on always one that shares a variable, the fewest new ones first."""
        cached = self._orders.get((group, first))
        if cached is None:
            remaining = [first, *(i for i in group if i != first)]
            before: set[str] = set()
            steps = []
            while remaining:
                near = [i for i in remaining if not before.isdisjoint(self.places[i])] or remaining[:1]
                chosen = min(near, key=lambda i: sum(name not in before for name in self.places[i]))
                remaining.remove(chosen)
                places = self.places[chosen]
                known = tuple(name for name in places if name in before)
                new = tuple(name for name in places if name not in before)
                at = tuple(places[name] for name in known), tuple(places[name] for name in new)
                steps.append(JoinStep(chosen, known, new, *at))
                before.update(places)
            cached = self._orders[group, first] = tuple(steps)
        return cached


def _connected(places: Sequence[Mapping[str, int]]) -> tuple[tuple[int, ...], ...]:
    """The patterns, by index, in groups that share variables.

    >>> _connected([{"?x": 0}, {"?y": 0}, {"?x": 0, "?z": 2}, {}])
    ((0, 2), (1,), (3,))
    """
    groups: list[tuple[set[str], list[int]]] = []
    for index, place in enumerate(places):
        names, members = set(place), [index]
        components = []
        for other, others in groups:
            if other.isdisjoint(names):
                components.append((other, others))
            else:
                names |= other
                members = others + members
        groups = [*components, (names, members)]
    return tuple(sorted(tuple(sorted(members)) for _, members in groups))


class Graph:
    """One event's candidates: the triples that meet each pattern alone, by pattern number, and indexes over them.

    An index serves every subscription that has the pattern, so it is made once for an event.
    """

    __slots__ = ("_indexes", "candidates")

    def __init__(self, candidates: Mapping[int, Sequence[Parts]]) -> None:
        self.candidates = candidates
        self._indexes: dict[tuple[int, Places, Places], Index] = {}

    def index(self, number: int, known: Places, new: Places) -> Index:
        """A pattern's distinct values at the `new` places, by those at the `known` places."""
        key = (number, known, new)
        cached = self._indexes.get(key)
        if cached is None:
            cached = self._indexes[key] = {}
            for parts in self.candidates[number]:
                values = cached.setdefault(tuple([parts[i] for i in known]), {})
                values[tuple([parts[i] for i in new])] = None
        return cached


def exists(plan: JoinPlan, numbers: Sequence[int], graph: Graph) -> bool:
    """Return whether there is a solution; `numbers` are those of the plan's patterns, all of which have candidates."""
    return all(len(group) == 1 or next(_search(plan, group, numbers, graph), None) is not None for group in plan.groups)


def bindings(plan: JoinPlan, numbers: Sequence[int], graph: Graph) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Every distinct solution, sorted; each gives the variables in their order.

    >>> chain = (TriplePattern("?x", "<knows>", "?y"), TriplePattern("?y", "<knows>", "?z"))
    >>> seen = Graph({0: [("<a>", "<knows>", "<b>"), ("<b>", "<knows>", "<c>")]})
    >>> bindings(JoinPlan(chain, ("?x", "?y", "?z")), [0, 0], seen)
    ((('?x', '<a>'), ('?y', '<b>'), ('?z', '<c>')),)
    """
    positions = tuple(range(len(plan.shapes)))
    solutions = {
        tuple([(name, bound[name]) for name in plan.names]) for bound in _search(plan, positions, numbers, graph)
    }
    return tuple(sorted(solutions))


def _search(plan: JoinPlan, group: tuple[int, ...], numbers: Sequence[int], graph: Graph) -> Iterator[dict[str, str]]:
    """Solutions of a group of patterns; the same dictionary is given out again and again."""
    first = min(group, key=lambda i: len(graph.candidates[numbers[i]])) if len(group) > 1 else group[0]
    steps = plan.order(group, first)
    indexes = [graph.index(numbers[step.pattern], step.at_known, step.at_new) for step in steps]
    bound: dict[str, str] = {}
    last = len(steps) - 1
    pending: list[Iterator[Values]] = [iter(indexes[0].get((), ()))]
    while pending:
        at = len(pending) - 1
        values = next(pending[-1], None)
        if values is None:
            pending.pop()
            continue
        bound.update(zip(steps[at].new, values, strict=True))
        if at == last:
            yield bound
        else:
            key = tuple([bound[name] for name in steps[at + 1].known])
            pending.append(iter(indexes[at + 1].get(key, ())))


Candidates = dict[int, list[Parts]]  # by pattern number


class PatternMatches(Protocol):
    """Triple `triples[i]` meets pattern `numbers[i]`; ordered by triple."""

    @property
    def triples(self) -> NDArray[int64]:
        """Places among the triples asked about."""
        ...

    @property
    def numbers(self) -> NDArray[int64]:
        """The patterns' numbers."""
        ...


class PatternIndex(Protocol):
    """Index of single patterns that returns those a triple matches."""

    def insert(self, pattern: TriplePattern, number: int) -> None:
        """Add a pattern under a number of its own."""
        ...

    def remove(self, number: int) -> None:
        """Take a pattern out."""
        ...

    def match(self, subject: str, predicate: str, object: str) -> list[int]:
        """The numbers of the patterns a triple meets, in no particular order."""
        ...

    def match_batch(self, triples: Sequence[Parts]) -> PatternMatches:
        """`match` for many triples at once."""
        ...

    def __len__(self) -> int: ...


class _JoinedSubscription:
    """A subscription: how it is joined, the numbers of its patterns, and the one it waits at."""

    __slots__ = ("numbers", "plan", "waits_at")

    def __init__(self, plan: JoinPlan, numbers: tuple[int, ...], waits_at: int) -> None:
        self.plan = plan
        self.numbers = numbers
        self.waits_at = waits_at


class GraphPatternEngine(BaseEngine):
    """Graph patterns with joins, answered with the bindings of their variables.

    `index` finds the single patterns a triple meets: a triple automaton unless another is given.

    >>> from likewise.model import Triple
    >>> engine = GraphPatternEngine()
    >>> body = GraphPattern((TriplePattern("?e", "<type>", "<Match>"), TriplePattern("?e", "<team>", "?t")))
    >>> engine.add(0, Subscription(body, id="s"), at=0)
    >>> event = Event(graph=(Triple("<m1>", "<type>", "<Match>"), Triple("<m1>", "<team>", "<Spain>")))
    >>> engine.match(event, at=0)[0][1].bindings
    ((('?e', '<m1>'), ('?t', '<Spain>')),)
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({"pattern"})

    def __init__(self, index: PatternIndex | None = None) -> None:
        super().__init__()
        self._index: PatternIndex = TripleAutomaton() if index is None else index
        self._held: dict[int, _JoinedSubscription] = {}
        self._numbers: dict[TriplePattern, int] = {}  # patterns with their variables named alike
        self._named: dict[int, TriplePattern] = {}
        self._uses: dict[int, int] = {}
        self._waiting: dict[int, dict[int, None]] = {}  # ordinals by the pattern they wait at
        self._next = 0

    @property
    def patterns(self) -> int:
        """Return how many distinct triple patterns the automaton holds."""
        return len(self._index)

    # -- holding --------------------------------------------------------------------------------

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        """Hold a subscription; patterns that are held already are shared."""
        self.register(ordinal, subscription)
        body = subscription.body
        assert isinstance(body, GraphPattern)  # the only body of this kind
        plan = JoinPlan(body.patterns, body.variables())
        numbers = tuple(self._number(TriplePattern(*shape)) for shape in plan.shapes)
        waits_at = min(numbers, key=self._selectivity)
        self._waiting[waits_at][ordinal] = None
        self._held[ordinal] = _JoinedSubscription(plan, numbers, waits_at)

    def _number(self, pattern: TriplePattern) -> int:
        shape = canonical_pattern(pattern)
        number = self._numbers.get(shape)
        if number is None:
            number = self._numbers[shape] = self._next
            self._next += 1
            self._named[number] = shape
            self._uses[number] = 0
            self._waiting[number] = {}
            self._index.insert(shape, number)
        self._uses[number] += 1
        return number

    def _selectivity(self, number: int) -> tuple[int, int]:
        """Return how little a pattern sets apart: its variables, and how many wait there already."""
        shape = self._named[number]
        variables = sum(is_variable(part) for part in (shape.subject, shape.predicate, shape.object))
        return variables, len(self._waiting[number])

    def remove(self, ordinal: int) -> None:
        """Forget a subscription, and the patterns that only it had."""
        self.unregister(ordinal)
        entry = self._held.pop(ordinal)
        del self._waiting[entry.waits_at][ordinal]
        for number in entry.numbers:
            self._uses[number] -= 1
            if self._uses[number] == 0:
                self._index.remove(number)
                del self._numbers[self._named.pop(number)], self._uses[number], self._waiting[number]

    # -- finding --------------------------------------------------------------------------------

    def find(self, event: Event, at: int) -> EngineResult:
        """The subscriptions with a solution in the event's graph."""
        return EngineResult(self._matching_subscriptions(self._candidates(event)))

    def match(self, event: Event, at: int) -> list[tuple[int, Match]]:
        """The same, with every solution."""
        candidates = self._candidates(event)
        graph = Graph(candidates)
        hits = []
        for ordinal in self._complete(candidates):
            entry = self._held[ordinal]
            solutions = bindings(entry.plan, entry.numbers, graph)
            if solutions:
                id = self.subscriptions[ordinal].id
                hits.append((ordinal, Match(event.id, id, "pattern", bindings=solutions)))
        return hits

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> EngineBatchResult:
        """`find` for each event; the triples of all go through the index together."""
        import numpy as np

        graphs = [tuple(dict.fromkeys((t.subject, t.predicate, t.object) for t in e.graph)) for e in events]
        triples = [parts for graph in graphs for parts in graph]
        hits = self._index.match_batch(triples)
        ends = np.searchsorted(hits.triples, np.cumsum([len(graph) for graph in graphs])).tolist()
        places, numbers = hits.triples.tolist(), hits.numbers.tolist()
        results = []
        start = 0
        for end in ends:
            candidates: Candidates = {}
            for place, number in zip(places[start:end], numbers[start:end], strict=True):
                candidates.setdefault(number, []).append(triples[place])
            results.append(self._matching_subscriptions(candidates))
            start = end
        return batch_result([EngineResult(ordinals) for ordinals in results])

    def _candidates(self, event: Event) -> Candidates:
        """The triples that meet each pattern, for the patterns that any triple meets."""
        candidates: Candidates = {}
        for parts in dict.fromkeys((t.subject, t.predicate, t.object) for t in event.graph):
            for number in self._index.match(*parts):
                candidates.setdefault(number, []).append(parts)
        return candidates

    def _complete(self, candidates: Candidates) -> list[int]:
        """The subscriptions all of whose patterns have candidates, ascending."""
        entry = self._held
        return sorted(
            ordinal
            for number in candidates
            for ordinal in self._waiting[number]
            if all(other in candidates for other in entry[ordinal].numbers)
        )

    def _matching_subscriptions(self, candidates: Candidates) -> NDArray[int64]:
        import numpy as np

        graph = Graph(candidates)
        ordinals = []
        for ordinal in self._complete(candidates):
            entry = self._held[ordinal]
            if len(entry.numbers) == 1 or exists(entry.plan, entry.numbers, graph):
                ordinals.append(ordinal)
        return np.array(ordinals, np.int64)


def canonical_pattern(pattern: TriplePattern) -> TriplePattern:
    """The pattern with its variables named ?0, ?1, ?2 in order, so that patterns that mean the same are equal.

    >>> canonical_pattern(TriplePattern("?who", "<p>", "?who")) == canonical_pattern(TriplePattern("?x", "<p>", "?x"))
    True
    """
    names: dict[str, str] = {}
    parts = (pattern.subject, pattern.predicate, pattern.object)
    return TriplePattern(*(names.setdefault(p, f"?{len(names)}") if is_variable(p) else p for p in parts))

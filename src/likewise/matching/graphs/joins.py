"""Joins of triple patterns over a small graph, by backtracking along hash indexes (sources.md L).

The pattern whose candidates are fewest comes first, then always one that shares a variable with those
before it, if there is any: its candidates are looked up by the values already bound. Patterns that share no
variable, even over others, fall into groups; whether there is a solution is asked of each group alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from likewise.model.rdf import TriplePattern, is_variable

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
    """Whether there is any solution; `numbers` are those of the plan's patterns, all of which have candidates."""
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

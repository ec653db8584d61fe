"""Joins of triple patterns over a small graph, by backtracking along hash indexes (SPEC.md L).

The pattern whose candidates are fewest comes first, then always one that shares a variable with those
before it, if there is any: its candidates are looked up by the values already bound. Patterns that share no
variable, even over others, fall into groups; whether there is a solution is asked of each group alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from likewise.model.rdf import TriplePattern, is_variable

Parts = tuple[str, str, str]
Values = tuple[str, ...]


class JoinPlan:
    """A subscription's distinct patterns as its join needs them: the variables of each, with their places."""

    __slots__ = ("groups", "names", "places", "shapes")

    def __init__(self, patterns: Sequence[TriplePattern], names: tuple[str, ...]) -> None:
        distinct = tuple(dict.fromkeys(patterns))
        self.names = names
        self.shapes = tuple((p.subject, p.predicate, p.object) for p in distinct)
        self.places = tuple(
            {part: i for i, part in reversed(list(enumerate(shape))) if is_variable(part)} for shape in self.shapes
        )
        self.groups = _connected(self.places)


def _connected(places: Sequence[Mapping[str, int]]) -> tuple[tuple[int, ...], ...]:
    """The patterns, by index, in groups that share variables.

    >>> _connected([{"?x": 0}, {"?y": 0}, {"?x": 0, "?z": 2}, {}])
    ((0, 2), (1,), (3,))
    """
    groups: list[tuple[set[str], list[int]]] = []
    for index, place in enumerate(places):
        names, members = set(place), [index]
        apart = []
        for other, others in groups:
            if other.isdisjoint(names):
                apart.append((other, others))
            else:
                names |= other
                members = others + members
        groups = [*apart, (names, members)]
    return tuple(sorted(tuple(sorted(members)) for _, members in groups))


def exists(plan: JoinPlan, candidates: Sequence[Sequence[Parts]]) -> bool:
    """Whether there is any solution; `candidates` are, for each pattern, the triples that meet it alone."""
    if len(plan.groups) == len(plan.shapes):
        return True  # nothing is shared, and each pattern has a candidate
    return all(len(group) == 1 or next(_search(plan, group, candidates), None) is not None for group in plan.groups)


def bindings(plan: JoinPlan, candidates: Sequence[Sequence[Parts]]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Every distinct solution, sorted; each gives the variables in their order.

    >>> chain = (TriplePattern("?x", "<knows>", "?y"), TriplePattern("?y", "<knows>", "?z"))
    >>> seen = [("<a>", "<knows>", "<b>"), ("<b>", "<knows>", "<c>")]
    >>> bindings(JoinPlan(chain, ("?x", "?y", "?z")), [seen, seen])
    ((('?x', '<a>'), ('?y', '<b>'), ('?z', '<c>')),)
    """
    everything = tuple(range(len(plan.shapes)))
    found = {tuple((name, bound[name]) for name in plan.names) for bound in _search(plan, everything, candidates)}
    return tuple(sorted(found))


def _search(plan: JoinPlan, group: tuple[int, ...], candidates: Sequence[Sequence[Parts]]) -> Iterator[dict[str, str]]:
    """Solutions of a group of patterns; the same dictionary is given out again and again."""
    steps = _ordered(plan, group, candidates)
    bound: dict[str, str] = {}
    pending: list[Iterator[Values]] = [iter(steps[0].matching(bound))]
    while pending:
        step = steps[len(pending) - 1]
        values = next(pending[-1], None)
        if values is None:
            pending.pop()
            continue
        bound.update(zip(step.new, values, strict=True))
        if len(pending) == len(steps):
            yield bound
        else:
            pending.append(iter(steps[len(pending)].matching(bound)))


class _Step:
    """One pattern of a join: the variables known before it, those it binds, and its candidates by the former."""

    __slots__ = ("_by_known", "known", "new")

    def __init__(self, places: Mapping[str, int], before: set[str], candidates: Sequence[Parts]) -> None:
        self.known = tuple(name for name in places if name in before)
        self.new = tuple(name for name in places if name not in before)
        at_known = [places[name] for name in self.known]
        at_new = [places[name] for name in self.new]
        self._by_known: dict[Values, dict[Values, None]] = {}
        for parts in candidates:
            key = tuple([parts[i] for i in at_known])
            self._by_known.setdefault(key, {})[tuple([parts[i] for i in at_new])] = None

    def matching(self, bound: Mapping[str, str]) -> Sequence[Values] | dict[Values, None]:
        """The values of the new variables that go with what is bound."""
        return self._by_known.get(tuple([bound[name] for name in self.known]), ())


def _ordered(plan: JoinPlan, group: tuple[int, ...], candidates: Sequence[Sequence[Parts]]) -> list[_Step]:
    remaining = sorted(group, key=lambda index: (len(candidates[index]), index))
    before: set[str] = set()
    steps = []
    while remaining:
        chosen = next((i for i in remaining if not before.isdisjoint(plan.places[i])), remaining[0])
        remaining.remove(chosen)
        steps.append(_Step(plan.places[chosen], before, candidates[chosen]))
        before.update(plan.places[chosen])
    return steps

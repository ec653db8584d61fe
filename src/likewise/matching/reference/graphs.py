"""Basic Graph Patterns over the triples of one event, by plain backtracking (sources.md L).

Terms are compared as terms. A pattern of three variables is met by every triple.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from likewise.model.match import Bindings
from likewise.model.rdf import Triple, TriplePattern, is_variable
from likewise.model.subscription import GraphPattern


def solutions(pattern: GraphPattern, triples: Sequence[Triple]) -> Bindings:
    """Every distinct solution, sorted; each gives the pattern's variables in their order.

    >>> graph = [Triple("<a>", "<knows>", "<b>"), Triple("<b>", "<knows>", "<c>")]
    >>> chain = GraphPattern((TriplePattern("?x", "<knows>", "?y"), TriplePattern("?y", "<knows>", "?z")))
    >>> solutions(chain, graph)
    ((('?x', '<a>'), ('?y', '<b>'), ('?z', '<c>')),)
    """
    names = pattern.variables()
    matches = {tuple((name, bound[name]) for name in names) for bound in search(pattern.patterns, triples)}
    return tuple(sorted(matches))


def search(patterns: Sequence[TriplePattern], triples: Sequence[Triple]) -> Iterator[dict[str, str]]:
    """Solutions as they are found, perhaps several times; the first tells whether there is any."""
    graph = tuple(dict.fromkeys(triples))
    pending: list[tuple[tuple[TriplePattern, ...], dict[str, str]]] = [(tuple(dict.fromkeys(patterns)), {})]
    while pending:
        remaining, bound = pending.pop()
        if not remaining:
            yield bound
            continue
        # The pattern with the fewest open parts first: the join is the same, with fewer dead ends.
        chosen = min(remaining, key=partial(_open_parts, bound))
        rest = tuple(p for p in remaining if p is not chosen)
        for triple in graph:
            further = unify(chosen, triple, bound)
            if further is not None:
                pending.append((rest, further))


def unify(pattern: TriplePattern, triple: Triple, bound: dict[str, str]) -> dict[str, str] | None:
    """The bindings after the pattern met the triple; None if it does not.

    >>> unify(TriplePattern("?x", "<p>", "?x"), Triple("<a>", "<p>", "<a>"), {})
    {'?x': '<a>'}
    >>> unify(TriplePattern("?x", "<p>", "?x"), Triple("<a>", "<p>", "<b>"), {}) is None
    True
    """
    further = dict(bound)
    for pattern_term, triple_term in (
        (pattern.subject, triple.subject),
        (pattern.predicate, triple.predicate),
        (pattern.object, triple.object),
    ):
        if (
            further.setdefault(pattern_term, triple_term) if is_variable(pattern_term) else pattern_term
        ) != triple_term:
            return None
    return further


def _open_parts(bound: dict[str, str], pattern: TriplePattern) -> int:
    return sum(name not in bound for name in pattern.variables())

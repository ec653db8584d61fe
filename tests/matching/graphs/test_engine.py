"""The promise of graph patterns: the oracle's answers and SPARQL's, with the bindings of every solution."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import parse
from likewise.formats.rdf.reader import events_from_rdf
from likewise.matching.graphs.engine import GraphPatternEngine, canonical_pattern
from likewise.matching.reference.graphs import solutions
from likewise.model import Event, GraphPattern, Subscription, Triple, TriplePattern
from likewise.testing import check_engine, compare_bulk

NODES = [f"<http://e.org/{n}>" for n in "abc"]
PREDICATES = [f"<http://e.org/{n}>" for n in "pqa"]
LITERALS = ['"x"', '"x"@en', '"5"^^<http://www.w3.org/2001/XMLSchema#integer>']
VARIABLES = ["?x", "?y", "?z", "?w"]
SUBJECTS = st.sampled_from([*NODES, *VARIABLES, *VARIABLES])
GRAPHS = st.lists(
    st.builds(Triple, st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from([*NODES, *LITERALS])),
    min_size=1,
    max_size=9,
)
PATTERNS = st.builds(
    TriplePattern,
    SUBJECTS,
    st.sampled_from([*PREDICATES, *PREDICATES, *VARIABLES]),
    st.one_of(SUBJECTS, st.sampled_from(LITERALS)),
)


def test_it_answers_as_the_oracle_under_any_interleaving() -> None:
    """The contract of engines."""
    check_engine(GraphPatternEngine)


def test_it_answers_as_the_oracle_on_many_pairs() -> None:
    """Subscriptions come and go between batches."""
    done = compare_bulk(GraphPatternEngine, pairs=100_000)
    assert done.matches > 500


def sparql(body: GraphPattern, graph: list[Triple]) -> set[tuple[tuple[str, str], ...]]:
    """The distinct solutions pyoxigraph gives."""
    import pyoxigraph

    store = pyoxigraph.Store()
    text = "".join(f"{t.subject} {t.predicate} {t.object} .\n" for t in graph)
    store.load(text, format=pyoxigraph.RdfFormat.N_TRIPLES)
    where = " . ".join(f"{p.subject} {p.predicate} {p.object}" for p in body.patterns)
    names = body.variables()
    if not names:
        return {()} if store.query(f"ASK {{ {where} }}") else set()
    found: Any = store.query(f"SELECT DISTINCT {' '.join(names)} WHERE {{ {where} }}")
    return {tuple((name, str(solution[name[1:]])) for name in names) for solution in found}


@given(st.lists(PATTERNS, min_size=1, max_size=4), GRAPHS)
def test_solutions_are_those_of_sparql(patterns: list[TriplePattern], graph: list[Triple]) -> None:
    """pyoxigraph evaluates the same pattern on the same graph: the same bindings."""
    body = GraphPattern(tuple(patterns))
    engine = GraphPatternEngine()
    engine.add(0, Subscription(body, id="s"), 0)
    event = Event(graph=tuple(graph))
    matched = engine.match(event, 0)
    found = matched[0][1].bindings if matched else ()
    expected = sparql(body, graph)
    assert set(found) == expected
    assert len(found) == len(expected)
    assert list(engine.find(event, 0).ordinals) == ([0] if expected else [])
    assert found == solutions(body, graph)


def test_a_chain_is_joined_over_several_subjects() -> None:
    """Variables tie triples of different subjects together; a term is a term: no number equals another spelling."""
    engine = GraphPatternEngine()
    engine.add(
        3, parse("?s <http://e.org/madeBy> ?d . ?d <http://e.org/in> ?room . ?room a <http://e.org/Lab>", id="c"), 0
    )
    engine.add(4, parse('?s <http://e.org/value> "5.0"^^xsd:decimal', id="d"), 0)
    integer = '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    graph = [("o1", "madeBy", "d1"), ("d1", "in", "r1"), ("d1", "in", "r2"), ("o2", "madeBy", "d2"), ("d2", "in", "r3")]
    triples = [Triple(f"<http://e.org/{s}>", f"<http://e.org/{p}>", f"<http://e.org/{o}>") for s, p, o in graph]
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    triples += [Triple("<http://e.org/r2>", kind, "<http://e.org/Lab>")]
    triples += [Triple("<http://e.org/o1>", "<http://e.org/value>", integer)]
    (hit,) = engine.match(Event(graph=tuple(triples), id="e"), 0)
    assert hit[0] == 3
    assert hit[1].bindings == (
        (("?s", "<http://e.org/o1>"), ("?d", "<http://e.org/d1>"), ("?room", "<http://e.org/r2>")),
    )


def test_patterns_that_mean_the_same_are_held_once() -> None:
    """Names of variables do not matter, which of them are equal does; the last user takes a pattern along."""
    engine = GraphPatternEngine()
    texts = ["?a <x:p> ?b", "?other <x:p> ?b", "?a <x:p> ?a", "?a <x:p> ?b . ?b <x:p> ?c"]
    for ordinal, text in enumerate(texts):
        engine.add(ordinal, parse(text, id=str(ordinal)), 0)
    assert engine.patterns == 2
    for ordinal in (0, 1, 2):
        engine.remove(ordinal)
    assert engine.patterns == 1
    engine.remove(3)
    assert (engine.patterns, len(engine)) == (0, 0)
    assert canonical_pattern(TriplePattern("?a", "<p>", "?b")) != canonical_pattern(TriplePattern("?a", "<p>", "?a"))


def test_whether_there_is_a_solution_does_not_multiply_what_is_unrelated() -> None:
    """Twenty patterns without a common variable over a thousand triples: found at once."""
    engine = GraphPatternEngine()
    patterns = tuple(TriplePattern(f"?s{i}", "<x:p>", f"?o{i}") for i in range(20))
    engine.add(0, Subscription(GraphPattern(patterns), id="many"), 0)
    event = Event(graph=tuple(Triple(f"<x:{i}>", "<x:p>", f"<x:{i + 1}>") for i in range(1_000)))
    assert engine.find(event, 0).ordinals.tolist() == [0]


def test_a_long_chain_needs_no_recursion() -> None:
    """As many patterns as one likes."""
    engine = GraphPatternEngine()
    chain = tuple(TriplePattern(f"?n{i}", "<x:next>", f"?n{i + 1}") for i in range(1_500))
    engine.add(0, Subscription(GraphPattern(chain), id="chain"), 0)
    graph = tuple(Triple(f"<x:{i}>", "<x:next>", f"<x:{i + 1}>") for i in range(1_500))
    assert engine.find(Event(graph=graph), 0).ordinals.tolist() == [0]
    assert engine.find(Event(graph=graph[1:]), 0).ordinals.tolist() == []


@pytest.mark.parametrize("pairs", [40])
def test_real_events_meet_what_plain_joins_say(shared: Path, pairs: int) -> None:
    """Patterns of two or three statements taken from real events."""
    with gzip.open(shared / "data" / "rdf" / "event-infobox-triples.nt.gz") as lines:
        events = list(events_from_rdf(lines.read(), "nt"))
    engine, bodies = GraphPatternEngine(), []
    for ordinal, event in enumerate(events[:pairs]):
        chosen = event.graph[:: max(1, len(event.graph) // 3)][:3]
        patterns = [TriplePattern("?e", t.predicate, f"?v{i}" if i else t.object) for i, t in enumerate(chosen)]
        bodies.append(GraphPattern(tuple(patterns)))
        engine.add(ordinal, Subscription(bodies[-1], id=str(ordinal)), 0)
    found = engine.match_batch(events, [0] * len(events))
    expected = [
        (e, o) for e, event in enumerate(events) for o, body in enumerate(bodies) if solutions(body, event.graph)
    ]
    assert list(zip(found.event_index.tolist(), found.ordinals.tolist(), strict=True)) == expected
    assert len(expected) >= pairs

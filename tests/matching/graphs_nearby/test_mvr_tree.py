"""The promise of both trees: exactly the patterns within the radius in every constant position, ranked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DuplicateId, UnknownId
from likewise.matching.graphs.triple_automaton import TripleAutomaton
from likewise.matching.graphs_nearby.mvr_tree import MvrTree, OrderedAxis
from likewise.matching.graphs_nearby.pattern_space import PatternSpace
from likewise.matching.graphs_nearby.rtree_index import RTreeIndex
from likewise.matching.reference.locality import LexicalLocality, Locality, SemanticLocality, distances
from likewise.model import TriplePattern
from likewise.model.rdf import is_variable
from likewise.semantics.library import load_space

pytest.importorskip("rtree")
INDEXES = [RTreeIndex, MvrTree]
NAMES = ["home team", "homeTeams", "awayTeam", "stadium", "stadion", "date", "Spain", "Spanish", "laptop", "computer"]
TERMS = [f"<http://e.org/{name.replace(' ', '_')}>" for name in NAMES] + ['"home team"@en', "_:b1"]
VARIABLES = ["?x", "?y", "?z"]
PARTS = st.sampled_from([*TERMS, *VARIABLES, *VARIABLES])
PATTERNS = st.builds(TriplePattern, PARTS, PARTS, PARTS)
TRIPLES = st.tuples(*[st.sampled_from(TERMS)] * 3)
RADII = st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.2, 1.5])
LEXICAL = LexicalLocality()


def parts_of(pattern: TriplePattern) -> tuple[str, str, str]:
    return pattern.subject, pattern.predicate, pattern.object


def exhaustive(
    near: Locality, radius: float, held: dict[int, TriplePattern], triple: tuple[str, str, str]
) -> tuple[dict[int, float], set[int]]:
    """Every pattern compared with the triple: what is within the radius, and what is so close to it either will do."""
    found, doubtful = {}, set()
    for number, pattern in held.items():
        parts = parts_of(pattern)
        named: dict[str, str] = {}
        if any(named.setdefault(p, t) != t for p, t in zip(parts, triple, strict=True) if is_variable(p)):
            continue
        pairs = [(near.text(p), near.text(t)) for p, t in zip(parts, triple, strict=True) if not is_variable(p)]
        apart = distances(near, [a for a, _ in pairs], [b for _, b in pairs]).tolist() if pairs else [0.0]
        if any(abs(d - radius) < 1e-5 and d for d in apart):
            doubtful.add(number)
        elif max(apart) <= radius:
            found[number] = sum(apart) / len(apart)
    return found, doubtful


def check(index: PatternSpace, held: dict[int, TriplePattern], triple: tuple[str, str, str]) -> None:
    expected, doubtful = exhaustive(index.locality, index.radius, held, triple)
    answered = index.match(*triple)
    assert [d for _, d in answered] == sorted(d for _, d in answered)
    found = {number: distance for number, distance in answered if number not in doubtful}
    assert found.keys() == expected.keys()
    assert all(abs(found[n] - expected[n]) < 1e-4 for n in found)


@pytest.mark.parametrize("kind", INDEXES)
@given(st.data())
def test_nothing_within_the_radius_is_missed_and_nothing_else_found(
    kind: type[PatternSpace], data: st.DataObject
) -> None:
    """Patterns of all eight kinds come and go; any radius; axes chosen by any sample."""
    index = kind(LEXICAL, data.draw(RADII), data.draw(st.lists(TRIPLES, max_size=3)))
    held: dict[int, TriplePattern] = {}
    for number in range(data.draw(st.integers(1, 12))):
        held[number] = data.draw(PATTERNS)
        index.insert(held[number], number)
        if data.draw(st.integers(0, 3)) == 3:
            check(index, held, data.draw(TRIPLES))
            gone = data.draw(st.sampled_from(sorted(held)))
            index.remove(gone)
            del held[gone]
    check(index, held, data.draw(TRIPLES))
    assert len(index) == len(held)


@pytest.mark.parametrize("kind", INDEXES)
def test_meaning_finds_within_the_radius_too(kind: type[PatternSpace]) -> None:
    """The same with the vectors of a space; a laptop is nearer to a computer than the date is."""
    near = SemanticLocality(load_space())
    rng = np.random.default_rng(1)
    held = {n: TriplePattern(*([*TERMS, *VARIABLES][i] for i in rng.integers(0, 15, 3))) for n in range(200)}
    index = kind(near, 1.0, [parts_of(p) for p in held.values()])
    index.extend(held.values())
    for _ in range(30):
        check(index, held, tuple(TERMS[i] for i in rng.integers(0, 12, 3)))


def test_batches_rank_as_one_by_one_and_both_trees_agree() -> None:
    """Ordered by triple, then distance, then number."""
    rng = np.random.default_rng(2)
    patterns = [TriplePattern(*([*TERMS, *VARIABLES][i] for i in rng.integers(0, 15, 3))) for _ in range(300)]
    triples = [tuple(TERMS[i] for i in rng.integers(0, 12, 3)) for _ in range(50)]
    answers = []
    for kind in INDEXES:
        index = kind(LEXICAL, 0.8, patterns)
        index.extend(patterns)
        near = index.match_batch(triples)
        assert list(zip(near.triples.tolist(), near.numbers.tolist(), near.distances.tolist(), strict=True)) == [
            (t, *hit) for t, triple in enumerate(triples) for hit in index.match(*triple)
        ]
        answers.append([a.tolist() for a in near])
    assert answers[0] == answers[1]


@pytest.mark.parametrize("kind", INDEXES)
def test_radius_zero_is_the_automaton_where_texts_tell_terms_apart(kind: type[PatternSpace]) -> None:
    """Pattern matching is semantic matching with no tolerance."""
    rng = np.random.default_rng(3)
    terms = [f"<http://e.org/thing-{i}>" for i in range(40)]
    patterns = [TriplePattern(*([*terms, *VARIABLES * 13][i] for i in rng.integers(0, 79, 3))) for _ in range(500)]
    triples = [tuple(terms[i] for i in rng.integers(0, 40, 3)) for _ in range(200)]
    index, machine = kind(LEXICAL, 0.0, patterns), TripleAutomaton()
    index.extend(patterns)
    machine.extend(patterns)
    near, exact = index.match_batch(triples), machine.match_batch(triples)
    assert sorted(zip(near.triples, near.numbers, strict=True)) == sorted(
        zip(exact.triples, exact.numbers, strict=True)
    )
    assert len(exact.numbers) > 100


@pytest.mark.parametrize("kind", INDEXES)
def test_numbers_are_unique_and_known(kind: type[PatternSpace]) -> None:
    """A number in use is refused, and one not in use; an empty index finds nothing."""
    index = kind(LEXICAL, 0.5)
    assert index.match("<x:a>", "<x:b>", "<x:c>") == []
    assert len(index.match_batch([]).numbers) == 0
    index.insert(TriplePattern("?s", "<x:b>", "?o"), 7)
    with pytest.raises(DuplicateId):
        index.insert(TriplePattern("?s", "?p", "?o"), 7)
    with pytest.raises(UnknownId):
        index.remove(8)
    assert index.match("<x:a>", "<x:b>", "<x:c>") == [(7, 0.0)]


def test_an_ordered_axis_forgets_and_takes_up_again() -> None:
    """A slot taken out and put in elsewhere between two searches stands at its new place alone."""
    axis = OrderedAxis()
    for slot in range(5):
        axis.insert(slot, [slot / 10])
    everywhere = np.array([0.0]), np.array([1.0])
    assert axis.search(*everywhere)[1].tolist() == [0, 1, 2, 3, 4]
    axis.delete(0, [0.0])
    axis.insert(0, [0.9])
    axis.delete(3, [0.3])
    assert axis.search(*everywhere)[1].tolist() == [1, 2, 4, 0]

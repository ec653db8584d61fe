"""The promise of the triple automaton: exactly the patterns a triple meets, through any inserts and removals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DuplicateId, UnknownId
from likewise.matching.graphs.triple_automaton import TripleAutomaton
from likewise.matching.reference.graphs import unify
from likewise.model import Triple, TriplePattern

TERMS = ["<a>", "<b>", "<c>", '"d"']
PARTS = st.sampled_from([*TERMS, "?x", "?y", "?z"])
PATTERNS = st.builds(TriplePattern, PARTS, PARTS, PARTS)
TRIPLES = st.tuples(*[st.sampled_from([*TERMS, "<unknown>"])] * 3)


def plain(held: dict[int, TriplePattern], triple: tuple[str, str, str]) -> list[int]:
    return sorted(n for n, pattern in held.items() if unify(pattern, Triple(*triple), {}) is not None)


@given(st.lists(st.tuples(st.sampled_from(["insert", "insert", "remove", "one", "batch"]), st.data())))
def test_any_interleaving_gives_what_plain_comparison_gives(steps: list[tuple[str, st.DataObject]]) -> None:
    """One by one and in batches, with patterns coming and going between."""
    machine, held = TripleAutomaton(), {}
    for number, (step, data) in enumerate(steps):
        if step == "insert":
            held[number] = data.draw(PATTERNS)
            machine.insert(held[number], number)
        elif step == "remove" and held:
            gone = data.draw(st.sampled_from(sorted(held)))
            machine.remove(gone)
            del held[gone]
        elif step == "one":
            triple = data.draw(TRIPLES)
            assert sorted(machine.match(*triple)) == plain(held, triple)
        else:
            check_batch(machine, held, data.draw(st.lists(TRIPLES, max_size=6)))
        assert len(machine) == len(held)


def check_batch(machine: TripleAutomaton, held: dict[int, TriplePattern], triples: list[tuple[str, str, str]]) -> None:
    hits = machine.match_batch(triples)
    assert hits.triples.tolist() == sorted(hits.triples.tolist())
    for index, triple in enumerate(triples):
        assert sorted(hits.numbers[hits.triples == index].tolist()) == plain(held, triple)


@pytest.mark.parametrize("seed", range(4))
def test_much_coming_and_going_keeps_batches_right(seed: int) -> None:
    """States and labels are given out again; the table follows and is made anew when it fell behind."""
    rng = np.random.default_rng(seed)
    terms = [f"<t{i}>" for i in range(12)]
    choices = [*terms, "?x", "?y", "?z", "?x"]
    machine, held = TripleAutomaton(), {}
    for round in range(12):
        for number in range(1_000 * round, 1_000 * round + int(rng.integers(0, 400))):
            held[number] = TriplePattern(*(choices[i] for i in rng.integers(0, len(choices), 3)))
            machine.insert(held[number], number)
        for number in [n for n in held if rng.random() < rng.choice([0.1, 0.9])]:
            machine.remove(number)
            del held[number]
        check_batch(machine, held, [tuple(terms[i] for i in rng.integers(0, 12, 3)) for _ in range(30)])


@pytest.mark.parametrize(
    "pattern", ["<s> <p{}> <o{}>", "<s> <p> <o{}>", "<s> ?p <o{}>", "?s <p> <o{}>", "<s{}> <p{}> ?o"]
)
def test_constants_that_come_after_a_batch_are_followed_in_the_next(pattern: str) -> None:
    """Labels are shared by subject, predicate and object: each has a place in every role, whichever it came in."""
    machine, held = TripleAutomaton(), {}
    triples = [(f"<s{i % 3}>" if "<s{}>" in pattern else "<s>", f"<p{i}>", f"<o{i}>") for i in range(200)]
    triples += [("<s>", "<p>", o) for _, _, o in triples]
    for number in range(200):
        held[number] = TriplePattern(*pattern.format(number, number).split())
        machine.insert(held[number], number)
        if number % 7 == 0:
            check_batch(machine, held, triples)
    check_batch(machine, held, triples)


def test_common_beginnings_share_their_states() -> None:
    """Two patterns with the same subject and predicate differ in their final state only."""
    machine = TripleAutomaton()
    machine.insert(TriplePattern("<a>", "<p>", "<x>"), 0)
    alone = machine.states
    machine.insert(TriplePattern("<a>", "<p>", "<y>"), 1)
    machine.insert(TriplePattern("<a>", "<p>", "?any"), 2)
    assert machine.states == alone + 2
    machine.insert(TriplePattern("<a>", "<p>", "?other"), 3)
    assert machine.states == alone + 2


def test_removing_everything_leaves_nothing() -> None:
    """No state, label or number is left behind."""
    machine = TripleAutomaton()
    before = machine.states
    patterns = [TriplePattern(s, p, o) for s in ("<a>", "?s") for p in ("<p>", "?p") for o in ("<o>", "?o")]
    machine.extend(patterns)
    assert len(machine.match("<a>", "<p>", "<o>")) == 8
    for number in range(8):
        machine.remove(number)
    assert (machine.states, len(machine), machine.match("<a>", "<p>", "<o>")) == (before, 0, [])


def test_one_triple_may_meet_more_patterns_than_a_batch_has_room_for() -> None:
    """The output grows until it fits."""
    machine = TripleAutomaton()
    machine.extend([TriplePattern("?s", "<p>", "?o")] * 20_000)
    hits = machine.match_batch([("<a>", "<q>", "<b>"), ("<a>", "<p>", "<b>"), ("<b>", "<p>", "<b>")])
    assert np.array_equal(hits.numbers, np.tile(np.arange(20_000), 2))
    assert np.array_equal(hits.triples, np.repeat([1, 2], 20_000))


def test_numbers_are_unique_and_known() -> None:
    """A number in use is refused, and one not in use, and nothing changes."""
    machine = TripleAutomaton()
    machine.insert(TriplePattern("?s", "<p>", "?o"), 7)
    with pytest.raises(DuplicateId):
        machine.insert(TriplePattern("<a>", "<b>", "<c>"), 7)
    with pytest.raises(UnknownId):
        machine.remove(8)
    assert (machine.match("<a>", "<p>", "<c>"), 7 in machine, len(machine)) == ([7], True, 1)


def test_real_triples_meet_as_many_patterns_as_a_plain_count_says(shared: Path) -> None:
    """Patterns drawn from real triples, counted by a dictionary of kinds."""
    import gzip

    from likewise.formats.rdf.reader import parse_triples

    with gzip.open(shared / "data" / "rdf" / "event-infobox-triples.nt.gz") as lines:
        triples = [(t.subject, t.predicate, t.object) for t in parse_triples(lines.read(), "nt")]
    kept = [[bool(kind & 1 << i) for i in range(3)] for kind in range(8)]
    patterns = [tuple(x if k else "" for x, k in zip(t, kept[i % 8], strict=True)) for i, t in enumerate(triples)]
    counted: dict[tuple[str, ...], int] = {}
    for pattern in patterns:
        counted[pattern] = counted.get(pattern, 0) + 1
    expected = sum(
        counted.get(tuple(x if k else "" for x, k in zip(t, kinds, strict=True)), 0) for t in triples for kinds in kept
    )
    machine = TripleAutomaton()
    machine.extend(TriplePattern(s or "?s", p or "?p", o or "?o") for s, p, o in patterns)
    assert len(machine.match_batch(triples).numbers) == sum(len(machine.match(*t)) for t in triples) == expected

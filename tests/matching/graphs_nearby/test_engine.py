"""Near triples: the trees answer as measuring every subscription does; every door knows the kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

import likewise as lw
from likewise.errors import InvalidSubscription, MissingDependency, UnsupportedSubscription
from likewise.formats.json import subscription_from_json, subscription_to_json
from likewise.matching.graphs_nearby.engine import FIRST, NearEngine
from likewise.matching.graphs_nearby.mvr_tree import MvrTree
from likewise.matching.reference.locality import LexicalLocality, SemanticLocality
from likewise.model import NearbyTriple, Subscription, Triple, TriplePattern
from likewise.semantics.library import load_space
from likewise.testing import check_engine, check_regressions, compare_bulk, compare_interleavings
from likewise.testing.oracle import vectors

pytest.importorskip("rtree")
GAME = (
    Triple("<http://e.org/final>", "<http://e.org/homeTeams>", "<http://e.org/Spain>"),
    Triple("<http://e.org/final>", "<http://e.org/type>", "<http://e.org/Football_Game>"),
)


def engine() -> NearEngine:
    return NearEngine(vectors)


def asked(text: str, id: str = "s") -> Subscription:
    return lw.parse(text, id=id)


def test_the_trees_answer_as_the_oracle_does() -> None:
    """Any radius, by spelling and by meaning, repeated variables, thresholds; adding and removing in between."""
    check_engine(engine, examples=max(5, settings().max_examples // 4))
    check_regressions(engine)


def test_many_more_pairs_answer_so_too() -> None:
    """Also past the point where directions are chosen anew."""
    done = compare_bulk(engine, ["near"], 20_000, subscriptions=3 * FIRST)
    assert 0 < done.matches < done.pairs
    compare_interleavings(engine, calls=600)


def test_semantic_coordinates_need_no_sample() -> None:
    """The tree by meaning begins empty, with no terms to choose directions by."""
    tree = MvrTree(SemanticLocality(load_space()), 1.2)
    tree.insert(TriplePattern("?e", "<http://e.org/laptop>", "?x"), 1)
    assert [number for number, _ in tree.match("<x:a>", "<http://e.org/computer>", "<x:b>")] == [1]
    assert tree.match("<x:a>", "<http://e.org/banana>", "<x:b>") == []


def test_meaning_and_spelling_find_different_things() -> None:
    """A game is a match by meaning, and `homeTeams` a `home_team` by spelling."""
    matcher = lw.Matcher()
    matcher.add(asked('near (?e, <http://e.org/type>, "soccer match") radius 1.3 by meaning', "meant"))
    matcher.add(asked('near (?e, <http://e.org/type>, "soccer match") radius 0.6 by spelling', "spelt"))
    matcher.add(asked("near (?e, <http://e.org/home_team>, ?team) radius 0.1 by spelling", "team"))
    found = {match.subscription_id: match for match in matcher.match(lw.Event(graph=GAME, id="e"))}
    assert found.keys() == {"meant", "team"}
    assert found["team"].kind == "near"
    assert found["team"].score == 1
    assert found["team"].bindings == ((("?e", "<http://e.org/final>"), ("?team", "<http://e.org/Spain>")),)
    assert 0 < found["meant"].score < 1


def test_the_score_is_one_less_the_distance_of_the_nearest_triple() -> None:
    """The mean over the terms; a threshold is compared with it."""
    matcher = lw.Matcher()
    text = "near (?m, <http://e.org/homeTeam>, <http://e.org/Spanish>) radius 1.4 by spelling"
    matcher.add(asked(text, "any"))
    event = lw.Event(graph=GAME)
    (match,) = matcher.match(event)
    assert 0 < match.score < 1
    matcher.add(asked(f"{text} threshold {match.score - 1e-6}", "low"))
    matcher.add(asked(f"{text} threshold {match.score + 1e-6}", "high"))
    assert [m.subscription_id for m in matcher.match(event)] == ["any", "low"]
    assert "threshold of at most" in matcher.explain(event, "high").change


def test_an_explanation_says_how_far_apart_and_what_radius_would_do() -> None:
    """And following the advice makes it match."""
    matcher = lw.Matcher()
    matcher.add(asked("near (?m, <http://e.org/awayTeam>, ?t) radius 0.2 by spelling", "s"))
    event = lw.Event(graph=GAME)
    explained = matcher.explain(event, "s")
    assert explained.verdict == "below_threshold"
    assert explained.degree == 1
    (report,) = explained.predicates
    assert report.text == "predicate near <http://e.org/awayTeam>"
    assert "apart by spelling, 0.2 is allowed" in report.notes[0]
    radius = explained.change.removeprefix("It would match with a radius of at least ").removesuffix(".")
    matcher.add(asked(f"near (?m, <http://e.org/awayTeam>, ?t) radius {radius} by spelling", "wider"))
    assert matcher.explain(event, "wider").verdict == "match"
    assert matcher.explain(lw.event({"a": 1}), "s").verdict == "missing_attribute"
    matcher.add(asked("near (?x, <http://e.org/homeTeams>, ?x) radius 0.2 by spelling", "twice"))
    assert matcher.explain(event, "twice").verdict == "exact_part_false"


def test_one_line_of_json_or_text_and_a_saved_matcher_keep_it(tmp_path: Path) -> None:
    """The structure is read back equal, the printed text parses to the same, and a saved matcher matches on."""
    made = asked('near (?e, rdf:type, "Football Match"@en) radius 0.5 by spelling threshold 0.2 valid for 7 d')
    assert subscription_from_json(subscription_to_json(made)) == made
    assert lw.parse(str(made), id=made.id) == made
    with pytest.raises(lw.LikewiseError):
        subscription_from_json(
            '{"v":1,"body":{"kind":"near","pattern":["?s","plain text","?o"],"radius":0.5,"by":"spelling"}}'
        )
    matcher = lw.Matcher(clock=lambda: 0)
    matcher.add(made)
    matcher.save(tmp_path)
    event = lw.Event(
        graph=(Triple("<x:a>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<x:/FootballMatches>"),)
    )
    again = lw.Matcher.load(tmp_path, clock=lambda: 0)
    assert [m.score for m in again.match(event, at=1)] == [m.score for m in matcher.match(event, at=1)] == [1.0]


@pytest.mark.parametrize("radius", [-0.1, 1.5, float("nan")])
def test_a_radius_that_cannot_be_is_refused(radius: float) -> None:
    with pytest.raises(InvalidSubscription):
        NearbyTriple(TriplePattern("?s", "<x:p>", "?o"), radius, "spelling")


def test_what_cannot_be_served_is_refused_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """By meaning without vectors; several terms without the library of R-trees. One term needs none."""
    plain = NearEngine()
    with pytest.raises(UnsupportedSubscription):
        plain.add(0, asked("near (?s, <x:p>, ?o) radius 0.5 by meaning"), 0)

    def missing() -> None:
        raise MissingDependency("rtree", "rdf")

    monkeypatch.setattr("likewise.matching.graphs_nearby.engine.check_installed", missing)
    with pytest.raises(MissingDependency):
        plain.add(0, asked("near (<x:s>, <x:p>, ?o) radius 0.5 by spelling"), 0)
    assert len(plain) == 0
    plain.add(0, asked("near (?s, <x:p>, ?o) radius 0.5 by spelling"), 0)
    assert plain.find(lw.Event(graph=(Triple("<x:a>", "<x:p>", "<x:b>"),)), 0).ordinals.tolist() == [0]


def test_lexical_vectors_of_nothing_are_none() -> None:
    assert LexicalLocality(8).vectors([]).shape == (0, 8)
    assert SemanticLocality(load_space()).vectors([]).shape[0] == 0

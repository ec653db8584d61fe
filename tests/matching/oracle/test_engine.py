"""The oracle: every kind of subscription, judged as the specification says, on cases worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DuplicateId, UnknownId, UnsupportedSubscription
from likewise.language import parse
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.reference.statement_terms import event_statements, plain_words, singular, term_text
from likewise.model import Event, EventTuple, Match, Triple, event
from likewise.semantics.measure import Term
from likewise.testing import TableMeasure
from tests.matching.plain_engine import WORDS, engine_with

Hits = list[tuple[int, Match]]


def meets(text: str, obj: dict[str, object], **options: Any) -> bool:
    return list(engine_with(text, **options).find(event(obj), 0).ordinals) == [0]


def score(text: str, obj: dict[str, object], **options: Any) -> float | None:
    hits = engine_with(text, **options).match(event(obj), 0)
    return hits[0][1].score if hits else None


# -- exact conditions ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "obj", "met"),
    [
        ("{Office = room 112}", {"office": "Room  112"}, True),
        ("{t > 25 degC}", {"t": {"value": 81.2, "unit": "degF"}}, True),
        ("{t > 25 degC}", {"t": {"value": 30, "unit": "kg"}}, False),
        ("{t > 25}", {"u": 30}, False),
        ("{t[] > 1, t[] < 3}", {"t": [0, 5]}, True),  # each by another tuple
        ("{t[] > 1, t[] < 3}", {"t": [0, 0.5]}, False),
        ("{t > 1, t < 3}", {"t": 2}, True),
        ("{tags[] = a, tags[] = b}", {"tags": ["b", "a"]}, True),
        ("{not status = off}", {"t": 1}, True),
        ("{not status = off}", {"status": ["on", "off"]}, False),  # a list may be named without `[]`
        ("{not status[] = off}", {"status": ["on", "off"]}, False),
        ("{status != off}", {"t": 1}, False),
        ("{status[] != off}", {"status": ["on", "off"]}, True),
        ("{(a = 1 or b = 2), c exists}", {"b": 2, "c": "x"}, True),
        ("{(a = 1 or b = 2), c exists}", {"b": 2}, False),
        ("{not (a = 1 or b = 2)}", {"a": 3, "b": 3}, True),
        ("{not (a = 1, b = 2)}", {"a": 1, "b": 3}, True),
        ('{topic under "building/floor 1"}', {"topic": "Building/Floor 1/room 3"}, True),
    ],
)
def test_exact_conditions(text: str, obj: dict[str, object], met: bool) -> None:
    """A predicate is true if some tuple satisfies it, and predicates may share a tuple."""
    assert meets(text, obj) is met


# -- relaxed conditions -------------------------------------------------------------------------


def test_the_score_is_the_geometric_mean_of_relaxed_parts() -> None:
    """Two relaxed parts of 0.49 and 0.81 score 0.63; the exact part only filters; the product is kept."""
    engine = engine_with("{device~ = laptop~, office = room 112}", measure=WORDS)
    [(_, match)] = engine.match(event({"machine": "computer", "office": "Room 112"}), 0)
    assert match.score == pytest.approx(0.63)
    assert match.product == pytest.approx(0.49 * 0.81)
    assert match.mapping is not None
    assert [c.tuple for c in match.mapping.correspondences] == [0, 1]
    assert not engine.match(event({"machine": "computer", "office": "room 113"}), 0)


def test_each_predicate_needs_its_own_tuple() -> None:
    """With a relaxed part two predicates never share a tuple."""
    assert score("{device~ exists, machine exists}", {"machine": 1}, measure=WORDS, threshold=0.1) is None
    found = score("{device~ exists, machine exists}", {"machine": 1, "device": 2}, measure=WORDS, threshold=0.1)
    assert found == 1.0


def test_comparisons_on_one_attribute_are_merged() -> None:
    """`temperature~ > 1, temperature~ < 3` is one predicate with one relaxed part, met by one tuple."""
    text = "{temperature~ > 1, temperature~ < 3}"
    assert score(text, {"temp": 2}, measure=WORDS) == pytest.approx(0.64)
    assert score(text, {"temp": 5, "temperature": 0}, measure=WORDS) is None


@pytest.mark.parametrize(("threshold", "met"), [(0.80, True), (0.82, False)])
def test_a_match_needs_the_threshold(threshold: float, met: bool) -> None:
    """The subscription's own threshold wins over the engine's."""
    obj: dict[str, object] = {"device": "computer"}
    assert meets("{device = laptop~}", obj, measure=WORDS, threshold=threshold) is met
    assert meets(f"{{device = laptop~}} threshold {threshold}", obj, measure=WORDS, threshold=0.5) is met


def test_threshold_zero_still_needs_a_score() -> None:
    """Unrelated terms never match, even at threshold 0."""
    assert not meets("{device = laptop~} threshold 0", {"device": "banana"}, measure=WORDS)


def test_not_with_a_relaxed_part_means_none_reaches_the_threshold() -> None:
    """`not device = laptop~` fails for a computer at 0.5 and holds at 0.9."""
    obj: dict[str, object] = {"device": "computer"}
    assert not meets("{not device = laptop~} threshold 0.5", obj, measure=WORDS)
    assert meets("{not device = laptop~} threshold 0.9", obj, measure=WORDS)
    assert meets("{not device~ = laptop~} threshold 0.64", {"machine": "computer"}, measure=WORDS)  # 0.63
    assert not meets("{not device~ = laptop~} threshold 0.5", {"machine": "computer"}, measure=WORDS)


def test_the_best_conjunction_counts() -> None:
    """Of two conjunctions that hold the higher score is the match's, with its mapping."""
    text = "{(device = laptop~ or device = computer~)}"
    [(_, match)] = engine_with(text, measure=WORDS).match(event({"device": "laptop"}), 0)
    assert match.score == 1.0
    [(_, match)] = engine_with("{(device~ = laptop or device = laptop~)}", measure=WORDS).match(
        event({"device": "computer", "machine": "laptop"}), 0
    )
    assert match.score == pytest.approx(0.81)
    assert match.mapping is not None
    assert match.mapping.conjunction == 1


class Nothing:
    """A measure that relates nothing, not even equal terms."""

    name = "nothing"

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> Any:
        import numpy as np

        return np.zeros((len(asked), len(seen)), np.float32)

    def configuration(self) -> dict[str, object]:
        return {}


def test_a_measure_decides_about_equal_text_too() -> None:
    """Equal text may differ in its unit, kind or context: only the measure sees the whole term."""
    assert score("{device~ = laptop~}", {"DEVICE": " Laptop "}, measure=Nothing()) is None


def test_equal_text_is_the_same_without_a_measure() -> None:
    """Folded equal terms are 1; a number is equal to its text and related to no other."""
    assert score("{device~ = laptop~}", {"DEVICE": " Laptop "}) == 1.0
    assert score('{room~ = "112"~}', {"room": 112}) == 1.0
    assert score("{on~ = true}", {"ON": True}) == 1.0
    assert score('{room~ = "113"~}', {"room": 112}) is None


def test_numbers_are_not_related_to_text() -> None:
    """Whatever a measure would say about `27` and a word, a number's tuple never answers a relaxed text."""
    everything = TableMeasure({("warm", "27"): 0.9})
    assert score("{t = warm~}", {"t": "27"}, measure=everything) == pytest.approx(0.9)
    assert score("{t = warm~}", {"t": 27}, measure=everything) is None


def test_relaxed_attributes_compare_numbers_in_units() -> None:
    """The reading's unit is beside it or in its name; one that measures something else excludes the tuple."""
    related = TableMeasure({("temperature", "air_temp_f"): 0.9, ("temperature", "weight"): 0.9})
    assert score("{temperature~ > 25 degC}", {"air_temp_f": 81.2}, measure=related) == pytest.approx(0.9)
    assert score("{temperature~ > 25 degC}", {"air_temp_f": 70}, measure=related) is None
    assert score("{temperature~ > 25 degC}", {"weight": {"value": 99, "unit": "kg"}}, measure=related) is None


def test_the_measure_is_told_everything_about_a_term() -> None:
    """Theme, unit, kind and context of both sides reach the measure."""
    asked: list[Term] = []
    seen: list[Term] = []

    class Listening(Nothing):
        def matrix(self, a: Sequence[Term], s: Sequence[Term]) -> Any:
            asked.extend(a)
            seen.extend(s)
            return super().matrix(a, s)

    engine = engine_with("{Power, power} {temperature~ > 25 degC, device = laptop~}", measure=Listening())
    engine.find(event({"r": [{"name": "hall", "value": 3, "unit": "C"}]}, themes=["B", "a"]), 0)
    assert Term("temperature", "attribute", ("power",), "degC", "number") in asked
    assert Term("laptop", "value", ("power",), kind="text") in asked
    assert Term("r[].value", "attribute", ("a", "b"), "degC", "number", ("\u2261hall", "hall", "C")) in seen
    assert Term("hall", "value", ("a", "b"), kind="text") in seen


# -- statements ---------------------------------------------------------------------------------

PROPERTIES = ("type", "team", "place", "date", "label", "note", "score")


def test_statements_follow_the_papers_formulas() -> None:
    """fP = min(1, (m - rank + 1) * ESA) in the top m by JCn, fV = ESA, fR the mean of the best products."""
    jcn, esa = TableMeasure(seed=1), TableMeasure(seed=2)
    obj: dict[str, object] = {name: f"value {i % 3}" for i, name in enumerate(PROPERTIES)}
    engine = OracleEngine(jcn=jcn, esa=esa, m=3, threshold=0.0)
    engine.add(0, parse('event club "value 9" . event kind "value 1"', id="s"), 0)
    [(_, match)] = engine.match(event(obj), 0)

    def rel(measure: TableMeasure, role: Any, a: str, b: str) -> float:
        return float(measure.matrix([Term(a, role, kind="text")], [Term(b, role, kind="text")])[0, 0])

    total = 0.0
    for ps, vs in (("club", "value 9"), ("kind", "value 1")):
        ranking = sorted(PROPERTIES, key=lambda pe: (-rel(jcn, "attribute", ps, pe), pe))
        best = 0.0
        for pe, ve in obj.items():
            rank = ranking.index(pe) + 1
            if rank <= 3:
                fp = min(1.0, (3 - rank + 1) * rel(esa, "attribute", ps, pe))
                best = max(best, fp * rel(esa, "value", vs, str(ve)))
        total += best
    assert 0 < match.score < 1
    assert match.score == pytest.approx(total / 2)


def test_statements_may_share_an_answer_and_use_the_threshold() -> None:
    """Two statements answered by one triple score 1; with one unanswered the mean is 0.5."""
    graph = [Triple("<http://e.org/m>", "<http://e.org/homeTeams>", '"Spain"@en')]
    e = event({}, graph=graph)
    engine = engine_with(
        'event "home team" "Spain" . event homeTeam "spain"',
        'event "home team" "Spain" . event type "race"',
        'event "home team" "Spain" . event type "race" threshold 0.6',
        jcn=TableMeasure(),
        esa=TableMeasure(),
        threshold=0.5,
    )
    assert [(ordinal, match.score) for ordinal, match in engine.match(e, 0)] == [(0, 1.0), (1, 0.5)]


def test_statements_need_both_measures() -> None:
    """Without JCn and ESA the engine does not serve statements, and says so."""
    s = parse('event team "Spain"', id="s")
    assert not OracleEngine().serves(s)
    with pytest.raises(UnsupportedSubscription):
        OracleEngine(esa=TableMeasure()).add(0, s, 0)


def test_rdf_terms_become_plain_words() -> None:
    """Last part of a URI, underscores, camel case, singular nouns; foreign literals and blank nodes dropped."""
    graph = (
        Triple("<http://e.org/m>", "<http://e.org/ns#homeTeams>", "<http://e.org/F.C._Barcelona/>"),
        Triple("<http://e.org/m>", "<http://e.org/label>", '"Spiel"@de'),
        Triple("<http://e.org/m>", "<http://e.org/label>", '"A \\"big\\" match\\u0021"@en-GB'),
        Triple("<http://e.org/m>", "<http://e.org/at>", "_:b0"),
        Triple("<http://e.org/m>", "<http://e.org/goals>", '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        Triple("<http://e.org/m>", "<http://e.org/in>", "<http://e.org/S%C3%A3o_Paulo>"),
    )
    found = [(s.property, s.value, s.place) for s in event_statements(Event(graph=graph))]
    assert found == [
        ("home Team", "F.C. Barcelona", 0),
        ("label", 'A "big" match!', 2),
        ("goal", "3", 4),
        ("in", "São Paulo", 5),
    ]
    assert event_statements(Event((EventTuple("isOpen", True),)))[0].value == "true"


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("Matches", "Match"),
        ("parties", "party"),
        ("boxes", "box"),
        ("buses", "bus"),
        ("houses", "house"),
        ("children", "child"),
        ("series", "series"),
        ("bus", "bus"),
        ("class", "class"),
        ("USA", "USA"),
        ("NBAS", "NBAS"),
        ("Texas", "Texas"),
        ("cameras", "camera"),
        ("People", "Person"),
        ("is", "is"),
    ],
)
def test_nouns_become_singular(plural: str, one: str) -> None:
    """Regular endings and the usual exceptions; what is no plural stays."""
    assert singular(plural) == one


@given(st.text(max_size=30))
def test_any_text_is_a_term(text: str) -> None:
    """No text breaks the pre-processing."""
    assert "_" not in plain_words(text)
    term_text(f'"{text}"')
    term_text(f"<{text}>")


# -- graph patterns and interest vectors --------------------------------------------------------


def test_patterns_join_over_one_events_triples() -> None:
    """All solutions, sorted; terms with datatype and language are other terms."""
    graph = [
        Triple("<http://e.org/a>", "<http://e.org/knows>", "<http://e.org/b>"),
        Triple("<http://e.org/a>", "<http://e.org/knows>", "<http://e.org/c>"),
        Triple("<http://e.org/b>", "<http://e.org/name>", '"B"@en'),
        Triple("<http://e.org/c>", "<http://e.org/name>", '"B"'),
    ]
    engine = engine_with(
        "PREFIX e: <http://e.org/> ?x e:knows ?y . ?y e:name ?n",
        'PREFIX e: <http://e.org/> ?x e:knows ?y . ?y e:name "B"',
        "PREFIX e: <http://e.org/> ?x e:knows ?x",
        "?s ?p ?o",
        "PREFIX e: <http://e.org/> e:a e:knows e:b",
    )
    e = event({}, graph=graph)
    found = dict(engine.match(e, 0))
    assert engine.find(e, 0).ordinals.tolist() == list(found) == [0, 1, 3, 4]
    assert [dict(b)["?n"] for b in found[0].bindings] == ['"B"@en', '"B"']
    assert [dict(b)["?y"] for b in found[1].bindings] == ["<http://e.org/c>"]
    assert len(found[3].bindings) == 4
    assert found[4].bindings == ((),)
    assert engine.find(event({"x": 1}), 0).ordinals.tolist() == []


def test_interest_vectors_agree_in_every_position() -> None:
    """`*` agrees with both; another length never agrees; p1, p2, ... serve as well as the payload `vector`."""
    engine = engine_with("[1, *, 0]", "[1, 1, 1]", "[1, *]", "[*, *, *]")
    assert engine.find(event({"vector": [1, 1, 0]}), 0).ordinals.tolist() == [0, 3]
    assert engine.find(event({"p1": True, "p2": False, "p3": False}), 0).ordinals.tolist() == [0, 3]
    assert engine.find(event({"x": 1}), 0).ordinals.tolist() == []


def test_ordinals_are_used_once() -> None:
    """An ordinal in use is refused, and so is the removal or explanation of one that is not."""
    engine = engine_with("{a = 1}")
    with pytest.raises(DuplicateId):
        engine.add(0, parse("{a = 2}", id="other"), 0)
    with pytest.raises(UnknownId):
        engine.remove(1)
    with pytest.raises(UnknownId):
        engine.explain(event({"a": 1}), 1, 0)
    engine.remove(0)
    assert len(engine) == 0
    assert engine.find(event({"a": 1}), 0).ordinals.tolist() == []


def test_scores_of_the_fast_path_are_float32() -> None:
    """`find` and `match_batch` give arrays of ordinals and float32 scores, also when nothing was found."""
    engine = engine_with("{device = laptop~}", measure=WORDS)
    found = engine.find(event({"device": "computer"}), 0)
    assert found.scores is not None
    assert (found.ordinals.dtype.name, found.scores.dtype.name) == ("int64", "float32")
    assert math.isclose(float(found.scores[0]), 0.81, abs_tol=1e-6)
    empty = engine.match_batch([], [])
    assert (len(empty.event_index), len(empty.ordinals), empty.promoted) == (0, 0, ())

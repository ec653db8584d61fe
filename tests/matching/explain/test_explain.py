"""Explanations: the verdict is what happened, and the change says what would have to differ."""

from __future__ import annotations

from math import floor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.defaults import PART_FLOOR
from likewise.errors import UnsupportedSubscription
from likewise.language import parse
from likewise.matching.explain.explain import explain
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import Event, Explanation, Triple, event
from likewise.testing import TableMeasure
from likewise.testing.generators import DrawnChoice
from likewise.testing.generators import event as random_event
from likewise.testing.generators import subscription as random_subscription
from likewise.testing.oracle import ESA, JCN, MEASURE

WORDS = TableMeasure(
    {("laptop", "computer"): 0.81, ("device", "machine"): 0.49, ("heat", "temp"): 0.64, ("heat", "mass"): 0.5}
)


def why(text: str, obj: dict[str, object], **options: Any) -> Explanation:
    return explain(event(obj, id="e"), parse(text, id="s"), measure=WORDS, **options)


def test_a_match_names_its_tuples_and_needs_no_change() -> None:
    """The best mapping and the runner-up, with the relatedness of both parts."""
    obj: dict[str, object] = {"machine": "computer", "office": "room 112", "device": "laptop"}
    told = why("{device~ = laptop~, office = room 112}", obj)
    assert (told.verdict, told.change, told.subscription_id, told.event_id) == ("match", "", "s", "e")
    assert told.score == 1.0
    assert told.threshold == 0.5
    assert [(r.text, r.tuple, r.attribute, r.value) for r in told.predicates] == [
        ("device~ = laptop~", 2, "device", "laptop"),
        ("office = room 112", 1, "office", "room 112"),
    ]
    assert told.mapping is not None
    assert told.runner_up is not None
    assert told.runner_up.product == pytest.approx(0.49 * 0.81)
    assert told.mapping.probability > told.runner_up.probability


def test_a_near_miss_names_the_weakest_predicate_and_what_it_needs() -> None:
    """The sentence gives the threshold that would do, in thousandths."""
    text, obj = "{device~ exists, item = laptop~} threshold 0.7", {"machine": 1, "item": "computer"}
    told = why(text, obj)
    assert told.verdict == "below_threshold"
    assert told.score == pytest.approx(0.63)
    assert [r.verdict for r in told.predicates] == ["below_threshold", "match"]
    assert told.change == f"It would match with a threshold of at most {floor(1000 * 0.49 / PART_FLOOR) / 1000}."
    assert why(text.replace("0.7", "0.544"), obj).verdict == "match"
    assert why(text.replace("0.7", "0.545"), obj).verdict == "below_threshold"


@pytest.mark.parametrize(
    ("text", "obj", "verdict", "said"),
    [
        ("{city = Galway}", {"town": "Galway", "x": 1}, "missing_attribute", "also said `city: Galway`"),
        ("{t > 25}", {"t": 20}, "exact_part_false", "`t` said `28` instead of `20`"),
        ("{t > 25}", {"t": "off"}, "exact_part_false", "instead of `off`"),
        ("{t > 25 degC}", {"t": {"value": 30, "unit": "kg"}}, "unit_mismatch", "`t` said `28 degC` instead of `30 kg`"),
        ("{not status = off, t exists}", {"status": "OFF", "t": 1}, "exact_part_false", "did not say `status: OFF`"),
        ("{a = 1, b = 2, c = 3}", {"a": 1}, "missing_attribute", "also said `b: 2` and `c: 3`"),
        ("{a = 1, b = 2, c = 3}", {"d": 1}, "missing_attribute", "3 parts fail"),
        ("{heat~ > 25 degC}", {"mass": {"value": 30, "unit": "kg"}}, "unit_mismatch", "`mass` said `28 degC`"),
        ("{heat~ > 25}", {"temp": 20}, "exact_part_false", "`temp` said `28` instead of `20`"),
        ("{heat~ > 25}", {"colour": "red"}, "missing_attribute", "also said `heat: 28`"),
        ("{device = laptop~}", {"device": "banana"}, "below_threshold", "`device` said `laptop` instead of `banana`"),
        ("{device~ exists, machine exists}", {"machine": 1}, "missing_attribute", "also said `device: 1`"),
        ("{not device = laptop~}", {"device": "computer"}, "exact_part_false", "what fails is `not device = laptop~`"),
        ("[1, 0, *]", {"vector": [0, 0, 1]}, "exact_part_false", "[1, 0, 1] instead of [0, 0, 1]"),
        ("[1, 0, *]", {"vector": [1, 0]}, "missing_attribute", "[1, 0, 0] instead of [1, 0]"),
        (
            "?x <http://e.org/p> ?y",
            {"a": 1},
            "missing_attribute",
            "`<http://example.org/x> <http://e.org/p> <http://example.org/y>`",
        ),
    ],
)
def test_every_failure_has_a_verdict_and_a_sentence(text: str, obj: dict[str, object], verdict: str, said: str) -> None:
    """The verdict names the kind of failure, the change what would mend it."""
    told = why(text, obj)
    assert told.verdict == verdict
    assert said in told.change
    assert told.change.endswith(".")


def test_notes_tell_of_units_and_missing_numbers() -> None:
    """A unit taken for granted and text where a number is needed are said."""
    assert why("{t > 25 degC}", {"t": 30}).predicates[0].notes == ("the reading states no unit and was taken in degC",)
    assert why("{t > 25 degC}", {"t": "off"}).predicates[0].notes == ("'off' is not a number",)
    assert why("{t > 25 degC}", {"t": "30 °C"}).predicates[0].notes == ()
    assert why("{heat~ > 25 degC}", {"temp": 30}).predicates[0].notes[0].endswith("taken in degC")


def test_the_nearest_conjunction_is_explained() -> None:
    """Of two that fail the one with fewer failing parts; of those that hold the one that counts."""
    told = why("{(a = 1, b = 1, c = 1 or d = 1, e = 1)}", {"d": 1})
    assert [r.text for r in told.predicates] == ["d = 1", "e = 1"]
    told = why("{(a = 1 or b = 1)}", {"b": 1})
    assert [r.text for r in told.predicates] == ["b = 1"]


def test_exact_conditions_have_no_threshold() -> None:
    """`threshold` is what was compared; nothing is compared where nothing is relaxed."""
    assert why("{a = 1}", {"a": 1}).threshold is None
    assert why("{a~ = 1} threshold 0.3", {"a": 1}, threshold=0.9).threshold == 0.3
    assert why("{a~ = 1}", {"a": 1}, threshold=0.9).threshold == 0.9


def graph_event(*triples: tuple[str, str, str]) -> Event:
    terms = [[part if part[0] in '"_' else f"<http://e.org/{part}>" for part in triple] for triple in triples]
    return event({}, graph=[Triple(*parts) for parts in terms])


def test_graph_patterns_tell_where_the_join_fails() -> None:
    """A pattern that nothing meets, or the first that cannot be joined."""
    pattern = parse("PREFIX e: <http://e.org/> ?x e:knows ?y . ?y e:likes ?z", id="s")
    assert explain(graph_event(("a", "knows", "b"), ("b", "likes", "c")), pattern).verdict == "match"
    told = explain(graph_event(("a", "knows", "b"), ("c", "likes", "d")), pattern)
    assert told.verdict == "exact_part_false"
    assert (
        told.change
        == "It would match if the event also had the triple `<http://e.org/b> <http://e.org/likes> <http://example.org/z>`."
    )
    assert [r.verdict for r in told.predicates] == ["match", "exact_part_false"]
    assert explain(graph_event(("a", "knows", "b")), pattern).verdict == "missing_attribute"


def test_statements_show_what_is_behind_their_score() -> None:
    """fP and fV, and as evidence JCn, ESA and the rank; a near miss names the weakest statement."""
    s = parse('event "home team" "Spain" . event type "race"', id="s")
    told = explain(graph_event(("m", "homeTeam", '"Spain"')), s, named=lambda name: TableMeasure(), threshold=0.9)
    assert told.verdict == "below_threshold"
    assert told.score == 0.5
    assert told.predicates[0].evidence == (("jcn", 1.0), ("esa", 1.0), ("rank", 1.0))
    assert 'event type "race"` is answered weakest' in told.change
    with pytest.raises(UnsupportedSubscription):
        explain(graph_event(("m", "homeTeam", '"Spain"')), s)


def test_windows_tell_the_place() -> None:
    """In the k best, outside of them, outside the window, or without the number to rank by; nothing changes."""
    engine = OracleEngine()
    engine.add(0, parse("{x exists} top 1 within 10 s by value(y)", id="s"), 0)
    engine.match(event({"x": 1, "y": 5}, id="a"), 1_000_000)
    now = 2_000_000
    assert engine.explain(event({"x": 1, "y": 5}, id="a"), 0, now).verdict == "match"
    assert engine.explain(event({"x": 1, "y": 4}, id="b"), 0, now).verdict == "match"
    told = engine.explain(event({"x": 1, "y": 6}, id="c"), 0, now)
    assert told.verdict == "not_in_top_k"
    assert "place 2 of the window by 6" in told.change
    assert "place 1 is held by 5" in told.change
    assert "a lower value" in told.change
    assert engine.explain(event({"x": 1}, id="d"), 0, now).verdict == "missing_attribute"
    assert engine.explain(event({"z": 1}, id="d"), 0, now).verdict == "missing_attribute"
    assert engine.explain(event({"x": 1, "y": 1}, id="a", time=0), 0, 11_000_000).verdict == "expired"
    late = engine.explain(event({"x": 1, "y": 1}, id="f", time=0), 0, now)
    assert late.verdict == "expired"
    assert [match.event_id for _, match in engine.match(event({"x": 1, "y": 4}, id="b"), now)] == ["b"]


def test_without_a_window_the_condition_is_judged() -> None:
    """Asked outside an engine, a top-k subscription is explained by its condition and its scored attributes."""
    told = why("{x exists} top 1 by value(y)", {"x": 1, "y": 2})
    assert told.verdict == "match"
    assert told.predicates[-1].text == "top 1 by value(y)"
    assert why("{x exists} top 1 by value(y)", {"x": 1}).verdict == "missing_attribute"


@given(st.data())
def test_the_verdict_is_what_happened(data: st.DataObject) -> None:
    """For every kind without a window: `match` exactly where the engine matches, with its score; else a change."""
    choice = DrawnChoice(data.draw)
    kind = choice.pick(("exact", "approximate", "statements", "pattern", "interest"))
    engine = OracleEngine(MEASURE, jcn=JCN, esa=ESA)
    engine.add(0, random_subscription(choice, kind, "s"), 0)  # type: ignore[arg-type]
    e = random_event(choice, frozenset({kind}), "e", 0)  # type: ignore[arg-type]
    hits = engine.match(e, 0)
    told = engine.explain(e, 0, 0)
    assert (told.verdict == "match") == bool(hits) == (not told.change)
    if hits:
        match = hits[0][1]
        assert told.score == match.score
        if match.mapping is not None:
            assert told.mapping == match.mapping
    assert all(r.verdict == "match" for r in told.predicates) or told.verdict != "match"


def test_the_item_that_is_asked_for_is_named_not_the_one_with_the_right_number() -> None:
    """A humidity of 30 is not the temperature above 20 that is missing; the temperature of 15 is."""
    matcher = lw.Matcher()
    readings = [{"name": "hum", "value": 30}, {"name": "temp", "value": 15}]
    for name in ("name = temp", "name~ = temperature~"):
        matcher.add(lw.parse(f"{{some readings ({name}, value > 20 degC)}}", id="s"))
        report = matcher.explain(lw.event({"readings": readings}), "s").predicates[0]
        assert report.verdict == "exact_part_false"
        assert report.value == "name: temp, value: 15"
        matcher.remove("s")


def test_what_does_not_match_exactly_has_no_score() -> None:
    """A score of 1 is a match's."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{t > 25 degC}", id="s"))
    explained = matcher.explain(lw.event({"t": 20}), "s")
    assert explained.score == 0
    assert "score" not in str(explained)
    assert matcher.explain(lw.event({"t": 26}), "s").score == 1

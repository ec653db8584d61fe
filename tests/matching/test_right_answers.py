"""Answers that were wrong once, at the edges of units, numbers, dates, lists and topics: in every engine alike."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

import likewise as lw
from likewise.formats.arrow.event_batch import EventBatch
from likewise.matching.bitmap.engine import BitmapEngine
from likewise.matching.classical.sgim import SgimEngine
from likewise.matching.engine import BaseEngine
from likewise.matching.forest.engine import ForestEngine
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.thematic.engine import ThematicEngine
from likewise.model import Event
from likewise.model.hierarchies.types import Hierarchy
from likewise.testing import TableMeasure

TYPES = Hierarchy([("Thermometer", "Sensor"), ("https://brickschema.org/schema/Brick#Sensor", "Device")])


def engines() -> list[BaseEngine]:
    return [
        OracleEngine(types=TYPES),
        BitmapEngine(types=TYPES),
        ForestEngine(types=TYPES),
        SgimEngine(types=TYPES),
        ThematicEngine(types=TYPES),
    ]


def meets(text: str, event: Event) -> bool:
    """What every engine says, one by one, in a batch and through Arrow; they must agree."""
    subscription = lw.parse(text, id="s")
    found = set()
    batches = [[event], EventBatch.from_events([event]), EventBatch.from_ipc(EventBatch.from_events([event]).to_ipc())]
    for engine in engines():
        engine.add(0, subscription, 0)
        found.add(bool(len(engine.find(event, 0).ordinals)))
        for batch in batches:
            found.add(bool(engine.match_batch(batch, [0])[0].sum()))
    assert len(found) == 1, text
    return found.pop()


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("{temp > 30 degC}", {"temp": {"value": 300, "unit": "KEL"}}, False),
        ("{temp > 30 degC}", {"temp": {"value": 310, "unit": "KEL"}}, True),
        ("{temp > 30 degC}", {"temp": {"value": 81.2, "unit": "FAH"}}, False),
        ("{temp > 30 degC}", {"temp": {"value": 5, "unit": "furlong"}}, False),
        ("{temp > 30 degC}", {"temp": {"value": 5000, "unit": "blorps"}}, False),
        ("{no2 > 40 ug/m3}", {"no2": {"value": 500, "unit": "ng/m3"}}, False),
        ("{no2 > 40 ug/m3}", {"no2": {"value": 50000, "unit": "ng/m3"}}, True),
        ("{t > 30 degC}", {"t": {"value": "81.2", "unit": "F"}}, False),
        ("{t > 27 degC}", {"t": {"value": "81.2", "unit": "F"}}, True),
        ("{temperature > 30 degC}", {"temperature": 81.2, "unit": "F"}, False),
        ("{temperature > 27 degC}", {"temperature": 81.2, "unit": "F"}, True),
        ("{BatV < 85 %}", {"BatV": 3.01}, False),
        ("{e.v > 20 degC}", {"e": [{"n": "temp", "u": "Cel", "v": 21.5}]}, True),
        ("{e.v > 20 degC}", {"e": [{"n": "temp", "u": "[degF]", "v": 21.5}]}, False),
        ("{rise > 4 delta_degC}", {"rise": {"value": 9, "unit": "delta_degF"}}, True),
        ("{rise > 4 delta_degC}", {"rise": {"value": 9, "unit": "degF"}}, False),
    ],
)
def test_a_stated_unit_is_never_ignored(text: str, said: Mapping[str, object], expected: bool) -> None:
    """Codes, text, fields, names; an unknown one fits nothing."""
    assert meets(text, lw.event(said)) is expected


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("{n > 9007199254740992}", {"n": 2**53 + 1}, True),
        ("{n > 9007199254740993}", {"n": 2**53 + 1}, False),
        ("{n = 9007199254740993}", {"n": 2**53}, False),
        ("{n = 9007199254740993}", {"n": "9007199254740993"}, True),
        ("{n != 9007199254740993}", {"n": 2**53 + 1}, False),
        ("{not n >= 9007199254740993}", {"n": 2**53}, True),
        ("{n < -9007199254740993}", {"n": -(2**53) - 2}, True),
        ("{n in (9223372036854775807, 1)}", {"n": 2**63 - 1}, True),
        ("{n between 9223372036854775806 and 9223372036854775807}", {"n": 2**63 - 3}, False),
        ("{n > 9007199254740992 B}", {"n": {"value": 2**53 + 1, "unit": "B"}}, True),
        ("{id = 123456789012345678901234567890}", {"id": 123456789012345678901234567890}, True),
        ("{id = 123456789012345678901234567890}", {"id": 123456789012345678901234567891}, False),
        ("{id != 123456789012345678901234567890}", {"id": 123456789012345678901234567891}, True),
        ("{id > 5}", {"id": 123456789012345678901234567890}, True),
        ("{id < 5}", {"id": -(2**70)}, True),
        ("{id > 9223372036854775807}", {"id": 2**63}, True),
        ("{id > 9223372036854775807}", {"id": 2**63 - 1}, False),
        ("{id > 100000000000000000000}", {"id": 99999999999999999999}, False),
        ("{id > 100000000000000000000}", {"id": 3 * 10**20}, True),
        ("{1 < id < 200000000000000000000}", {"id": 10**20 + 1}, True),
        ("{not id > 5}", {"id": 10**20}, False),
        ("{m > 2 kg}", {"m": {"value": 10**20, "unit": "g"}}, True),
        ("{m > 100000000000000000000 g}", {"m": {"value": 10**17, "unit": "kg"}}, False),
        ("{m > 100000000000000000000 g}", {"m": {"value": 10**18, "unit": "kg"}}, True),
        ("{id > 5}", {"id": 10**400}, False),
        ("{t > 1700000000.123456 s}", {"t": {"value": 1700000000123457, "unit": "us"}}, True),
        ("{t > 1700000000.123456 s}", {"t": {"value": 1700000000123456, "unit": "us"}}, False),
        ("{t = 77 degF}", {"t": {"value": 25, "unit": "degC"}}, True),
    ],
)
def test_whole_numbers_and_times_are_exact(text: str, said: Mapping[str, object], expected: bool) -> None:
    """To the last of 64 bits, to the microsecond; larger ones as floating point numbers, but equal as written."""
    assert meets(text, lw.event(said)) is expected
    assert meets(text, lw.event(json.loads(json.dumps(said)))) is expected


DAY = {"d": "2024-05-01"}
NOON = {"d": "2024-05-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("{d = 2024-05-01}", DAY, True),
        ("{d = 2024-05-01}", NOON, True),
        ("{d = 2024-05-01T12:00:00Z}", DAY, False),
        ("{d = 2024-05-01T12:00:00Z}", {"d": "2024-05-01T14:00+02:00"}, True),
        ("{d > 2024-05-01}", NOON, False),
        ("{d > 2024-05-01}", {"d": "2024-05-02"}, True),
        ("{d >= 2024-05-01}", DAY, True),
        ("{d < 2024-05-01T12:00:00Z}", DAY, False),
        ("{d <= 2024-05-01}", NOON, True),
        ("{d < 2024-05-02}", DAY, True),
        ("{2024-04-30 < d < 2024-05-02}", DAY, True),
        ("{not d = 2024-05-01}", {"d": "2024-05-01T23:59:59.999999Z"}, False),
        ("{d != 2024-05-01}", {"d": "2024-05-02T00:00"}, True),
        ("{d in (2024-05-01, 2024-06-01)}", NOON, True),
        ("{d > 2024-05-01}", {"d": 1800000000}, False),
        ("{d > 2024-05-01}", {"d": {"value": 1800000000, "unit": "s"}}, True),
        ("{d > 2024-05-01}", {"d": {"value": 1800000000, "unit": "h"}}, False),
        ("{d > 1700000000 s}", DAY, True),
        ("{d > 1714550000 s}", DAY, False),
        ("{not d > 1714550000 s}", DAY, True),
        ("{d > 5}", DAY, False),
    ],
)
def test_dates_compare_as_times(text: str, said: Mapping[str, object], expected: bool) -> None:
    """A day is all of it, on both sides; a bare number is no time."""
    assert meets(text, lw.event(said)) is expected


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        ("{team = Spain}", {"team": ["Spain", "Italy"]}, True),
        ("{team[] = Spain}", {"team": ["Spain"]}, True),
        ("{team[] = Spain}", {"team": "Spain"}, False),
        ("{t[] = 1, t[] = 2}", {"t": [1, 2]}, True),
        ("{t = 1, t = 2}", {"t": [1, 3]}, False),
        ("{team = Spain, team[] = Italy}", {"team": ["Spain", "Italy"]}, True),
        ("{some r (n = a, v > 5)}", {"r": [{"n": "a", "v": 3}, {"n": "b", "v": 9}]}, False),
        ("{some r (n = a, v > 5)}", {"r": [{"n": "a", "v": 7}, {"n": "b", "v": 1}]}, True),
        ("{not some r (n = a, v > 5)}", {"r": [{"n": "a", "v": 3}, {"n": "b", "v": 9}]}, True),
        ("{some r (n = a, not v > 5)}", {"r": [{"n": "a", "v": 3}]}, True),
        ("{some r (value > 5, value < 7)}", {"r": [4, 8]}, False),
        ("{some r (value > 5, value < 7)}", {"r": [4, 6]}, True),
        ("{some a.r (p.x = 1)}", {"a": {"r": [{"p": {"x": 1}}]}}, True),
        ("{a = é}", {"a": "e\u0301"}, True),
        ('{a = ""}', {"a": " "}, True),
        ('{a = ""}', {"a": "x"}, False),
        ('{a contains "b "}', {"a": "ab"}, False),
        ('{a contains "b "}', {"a": "ab c"}, True),
        ('{v under "v1."}', {"v": "v1"}, False),
        ('{v under "v1."}', {"v": "v1./x"}, True),
        ('{topic matches "a/+/c/#"}', {"topic": "a/b/c"}, True),
        ('{topic matches "a/+/c/#"}', {"topic": "a/b/d"}, False),
        ('{topic matches "a/+"}', {"topic": "A/b"}, False),
        ('{not topic matches "#"}', {"topic": "$SYS/x"}, True),
        ('{kind is-a "device"}', {"kind": "thermometer"}, True),
        ('{kind is-a "sensor"}', {"kind": "https://brickschema.org/schema/Brick#Sensor"}, True),
        ('{kind is-a "lamp"}', {"kind": "thermometer"}, False),
    ],
)
def test_lists_text_topics_and_types_mean_what_they_say(text: str, said: Mapping[str, object], expected: bool) -> None:
    """One meaning in every engine."""
    assert meets(text, lw.event(said)) is expected


def test_a_point_in_no_unit_ranks_numbers_as_they_are_written() -> None:
    """`distance(temp_celsius 21)` once preferred -252 to 21."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{temp_celsius exists} top 1 by distance(temp_celsius 21)", id="mild"))
    for number in (-252, 21):
        matcher.match(lw.event({"temp_celsius": number}, id=f"e{number}"), at=1)
    assert [place.event_id for place in matcher.board("mild")] == ["e21"]


def test_points_and_values_in_units_bring_readings_to_them() -> None:
    """Mixed units rank by what they mean; one whose unit does not fit is not ranked."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{t exists} top 3 by value(t in degC)", id="cold"))
    for id, value, unit in (("a", 68, "degF"), ("b", 25, "degC"), ("c", 290, "K"), ("d", 1, "kg")):
        matcher.match(lw.event({"t": {"value": value, "unit": unit}}, id=id), at=1)
    assert [(place.event_id, round(place.value, 2)) for place in matcher.board("cold")] == [
        ("c", 16.85),
        ("a", 20.0),
        ("b", 25.0),
    ]


MEASURE = TableMeasure(
    {
        ("temperature", "temp"): 0.9,
        ("temperature", "linkquality"): 0.06,
        ("temperature", "battery"): 0.1,
        ("battery", "BatV"): 0.9,
    }
)


def test_why_not_names_the_reading_that_was_asked_about() -> None:
    """A temperature that is too low, and no threshold at which anything would match."""
    matcher = lw.Matcher(measure=MEASURE)
    matcher.add(lw.parse("{temperature~ > 25 degC}", id="warm"))
    found = matcher.explain({"linkquality": 120, "temp": 19.0, "battery": 80}, "warm")
    assert (found.verdict, found.predicates[0].attribute) == ("exact_part_false", "temp")
    assert "threshold" not in found.change
    other = matcher.explain({"linkquality": 120, "battery": 80}, "warm")
    assert other.verdict == "missing_attribute"
    assert "threshold" not in other.change


def test_why_not_says_that_a_unit_does_not_fit() -> None:
    """A battery in volts is asked for in percent; an unknown unit is named."""
    matcher = lw.Matcher(measure=MEASURE)
    matcher.add(lw.parse("{battery~ < 85 %}", id="low"))
    found = matcher.explain({"BatV": 3.01}, "low")
    assert found.verdict == "unit_mismatch"
    assert found.predicates[0].notes[0] == "the reading is in V, which measures voltage; % measures ratio"
    unknown = matcher.explain({"battery": {"value": 3, "unit": "blorps"}}, "low")
    assert unknown.verdict == "unit_mismatch"
    assert "no unit of the table" in unknown.predicates[0].notes[0]


def test_a_withdrawn_event_is_not_explained_as_a_match() -> None:
    """Until it is published again."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{x > 1}", id="s"))
    event = lw.event({"x": 2}, id="e")
    matcher.match(event)
    assert matcher.explain(event, "s").verdict == "match"
    matcher.withdraw("e")
    assert matcher.explain(event, "s").verdict == "expired"
    matcher.match(event)
    assert matcher.explain(event, "s").verdict == "match"


def test_text_and_mappings_are_taken_for_subscriptions_and_events() -> None:
    """As JSON has them, with an envelope or without."""
    matcher = lw.Matcher()
    assert matcher.add({"text": "{t > 25 degC}", "id": "warm"}) == "warm"
    assert matcher.add("{t > 25 degC, x exists}") == lw.parse("{t > 25 degC, x exists}").id
    for event in ({"t": 30}, '{"t": 30}', {"v": 1, "payload": {"t": 30}}):
        assert [match.subscription_id for match in matcher.match(event)] == ["warm"]
    assert matcher.match_batch([{"t": 30}, {"t": 20}]).event_index.tolist() == [0]
    structure = {
        "body": {"kind": "condition", "items": [{"kind": "predicate", "attribute": "t", "operator": "exists"}]}
    }
    assert str(lw.parse(structure)) == "{t exists}"
    with pytest.raises(lw.LikewiseError, match="no subscription"):
        lw.parse({"body": {"kind": "nothing"}})


def test_a_wrong_threshold_or_measure_is_refused_at_once() -> None:
    """Not when the first relaxed subscription comes."""
    with pytest.raises(lw.LikewiseError, match="between 0 and 1"):
        lw.Matcher(threshold=2)
    with pytest.raises(lw.LikewiseError, match="no measure is named 'foo'"):
        lw.Matcher(measure="foo")


def test_a_unit_that_is_not_an_everyday_one_says_what_is_read() -> None:
    """Three acres are an area whatever they are called, and no temperature."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{area~ exists}", id="area"))
    matcher.add(lw.parse("{temperature~ exists}", id="temperature"))
    for name, met in (("field", ["area"]), ("temperature", [])):
        assert [m.subscription_id for m in matcher.match({name: {"value": 3, "unit": "acre"}})] == met
    assert [m.subscription_id for m in matcher.match({"temperature": 3})] == ["temperature"]

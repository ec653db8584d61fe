"""What `select` names, and in which unit a reading is that states none."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import likewise as lw
from likewise.testing import TableMeasure


def chosen(text: str, said: Mapping[str, object], **matcher: object) -> dict[str, object]:
    found = lw.Matcher(**matcher)  # type: ignore[arg-type]
    found.add(lw.parse(text, id="s"))
    event = lw.event(said, id="e", source="a")
    assert len(found.match(event, at=0)) == 1
    return found.selected(event, "s", at=0).values


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("{t > 25 degC}", {"t": 26}),
        ("{t > 25 degC}", {"t": "26"}),
        ("{25 degC < t < 30 degC}", {"t": 26}),
        ("{t between 25 and 30 degC}", {"t": 26}),
        ("{(t > 25 degC or t < 2 degC)}", {"t": 26}),
        ("{some l (t > 25 degC)}", {"l": [{"t": 1}, {"t": 26}]}),
        ("{some l (t > 25 degC, room = hall)}", {"l": [{"t": 1}, {"room": "hall", "t": 26}]}),
        ("{t > 25 degC}", {"t": {"value": 78.8, "unit": "degF"}}),
    ],
)
def test_a_reading_without_a_unit_is_in_the_unit_of_the_condition(condition: str, said: dict[str, object]) -> None:
    assert chosen(f"{condition} select (t in degF as f)", said) == {"f": 78.8}


@pytest.mark.parametrize("column", ["temperature", "temperature~", "heat"])
def test_so_is_one_that_is_found_by_its_meaning(column: str) -> None:
    measure = TableMeasure({("temperature", "heat"): 0.9, ("temperature", "l[].heat"): 0.9})
    for condition, said in (
        ("{temperature~ > 25 degC}", {"heat": 26}),
        ("{some l (temperature~ > 25 degC, room = hall)}", {"l": [{"room": "hall", "heat": 26}]}),
    ):
        if column != "heat" or "some" not in condition:
            assert chosen(f"{condition} select ({column} in degF as f)", said, measure=measure) == {"f": 78.8}


def test_where_no_condition_names_a_unit_it_is_in_the_selected_one() -> None:
    assert chosen("{t > 25} select (t in degF as f)", {"t": 26}) == {"f": 26}
    assert chosen("{t > 25 degC} select (u in degF as f)", {"t": 26, "u": 26}) == {"f": 26}


def test_the_payload_is_what_was_sent_with_its_structure_and_units() -> None:
    said = {"room": {"t": {"value": 30.0, "unit": "degC"}}, "tags": ["a", "b"], "l": [{"x": 1}, {"x": 2}]}
    rows = [{"key": "source", "is": "a", "attribute": "floor", "value": "1"}]
    assert chosen('{"room.t" > 25} select (@payload)', said, annotations=rows) == {"payload": said}


def test_the_score_of_what_is_cleared_is_that_of_its_match() -> None:
    matcher = lw.Matcher()
    matcher.add(lw.parse("{t > 25} once until false select (@score)", id="s"))
    matcher.match(lw.event({"t": 30}, id="e1", source="a"), at=0)
    cold = lw.event({"t": 10}, id="e2", source="a")
    [match] = matcher.match(cold, at=1)
    assert matcher.selected(cold, "s", at=1, score=match.score).values == {"score": match.score}

"""What people see of values: `str()` in a terminal, HTML in a notebook."""

from __future__ import annotations

from typing import Any

import likewise as lw
from likewise.model import Event, Explanation, Match, PredicateReport, Triple

HOSTILE = '<script>alert("x")</script>'


def test_a_subscription_is_its_text() -> None:
    """`str()` of a subscription parses to the same subscription."""
    said = "{power} {device~ = laptop~, temperature > 25 degC} threshold 0.6"
    assert str(lw.parse(said, id="warm")) == said
    assert lw.parse(str(lw.parse(said))) == lw.parse(said)


def test_an_event_is_a_line() -> None:
    """Themes, then each reading with its unit."""
    event = lw.event({"no2": {"value": 45, "unit": "ug/m3"}, "city": "Zagreb"}, themes=["air"], id="e1")
    assert str(event) == "{air}  no2: 45 ug/m3 · city: Zagreb"


def test_a_match_and_an_explanation_are_readable() -> None:
    """The real ones, from a matcher: who met whom, what answered, and what would change it."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{no2 > 40 ug/m3, not status = off}", id="air"))
    event = lw.event({"no2": {"value": 0.045, "unit": "mg/m3"}}, id="e5")
    [match] = matcher.match(event)
    assert str(match) == "e5 meets air, score 1"
    assert repr(match).startswith("Match(event_id='e5'")
    lines = str(matcher.explain(event, "air")).splitlines()
    assert lines[0] == "e5 and air: matches, score 1"
    assert lines[1] == "  no2 > 40 ug/m3 | no2: 0.045 mg/m3"
    missed = str(matcher.explain(lw.event({"no2": 3}, id="e6"), "air"))
    assert missed.startswith("e6 and air: value does not match")
    assert "3 µg/m³, not above 40 µg/m³" in missed
    assert "It would match if" in missed


def test_nothing_an_event_says_becomes_markup() -> None:
    """Whatever stands in names, values, ids, sources and themes is shown as it is."""
    event = lw.event(
        {HOSTILE: HOSTILE, "unit": {"value": 1, "unit": HOSTILE}}, id=HOSTILE, source=HOSTILE, themes=[HOSTILE]
    )
    graph = Event(graph=(Triple("<s>", "<p>", f'"{HOSTILE.replace(chr(34), "")}"'),))
    report = PredicateReport(HOSTILE, "match", 0, HOSTILE, HOSTILE, 0.5, 1.0, notes=(HOSTILE,))
    shown: list[Any] = [
        event,
        graph,
        lw.parse('{"<script>" = "<script>"}', id=HOSTILE),
        Match(HOSTILE, HOSTILE, "exact"),
        Explanation(HOSTILE, HOSTILE, "below_threshold", (report,), HOSTILE, 0.5, 0.5),
    ]
    for value in shown:
        drawn = value._repr_html_()
        assert "<script" not in drawn
        assert "&lt;script" in drawn


def test_a_large_event_does_not_fill_the_notebook() -> None:
    """The first readings are shown, and how many are left out."""
    drawn = lw.event({f"a{i}": i for i in range(80)})._repr_html_()
    assert drawn.count("<tr>") == 50
    assert "and 30 more" in drawn


def test_a_time_no_calendar_has_is_still_shown() -> None:
    """Times are any 64-bit number of microseconds."""
    assert "2024-05-01 12:00:00 UTC" in lw.event({"a": 1}, time="2024-05-01T12:00:00Z")._repr_html_()
    assert f"{2**62} µs" in lw.event({"a": 1}, time=2**62)._repr_html_()

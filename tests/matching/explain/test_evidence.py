"""Explanations say what made a score: each measure, the themes, the documents, the feedback."""

from __future__ import annotations

import pytest

import likewise as lw
from likewise.model import PredicateReport

ASKED = "{power, computers} {type = increased energy usage event~, device~ = laptop~, office = room 112}"
SEEN = {"type": "increased energy consumption event", "device": "computer", "office": "room 112"}


def reports(matcher: lw.Matcher, event: lw.Event) -> tuple[PredicateReport, ...]:
    return matcher.explain(event, "s").predicates


def test_relaxed_parts_carry_every_measures_score_and_what_the_themes_did() -> None:
    """Exact and equal parts carry nothing: there is nothing to witness."""
    matcher = lw.Matcher()
    matcher.add(lw.parse(ASKED, id="s"))
    kind, device, office = reports(matcher, lw.event(SEEN, themes=["energy", "appliances"]))
    assert {"value esa", "value jcn", "value combine"} <= dict(kind.evidence).keys()
    assert dict(device.evidence)["value combine"] == device.value_relatedness
    assert any("themes span" in note and "without them" in note for note in kind.notes)
    assert any("both occur in" in note for note in kind.notes)
    assert office.evidence == ()


def test_a_theme_unknown_to_the_space_is_said() -> None:
    """The explanation names the fallback."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{qqzzxx} {device = laptop~}", id="s"))
    (device,) = reports(matcher, lw.event({"device": "computer"}))
    assert any("unknown to the space" in note for note in device.notes)


def test_feedback_is_shown_with_what_it_moved() -> None:
    """A judged pair says how often and from where to where."""
    matcher = lw.Matcher()
    matcher.add(lw.parse("{device = laptop~}", id="s"))
    event = lw.event({"device": "computer"})
    matcher.feedback(event, "s", relevant=False)
    (device,) = reports(matcher, event)
    assert any("judged not relevant (net 1)" in note for note in device.notes)


@pytest.mark.parametrize(
    ("asked", "seen", "words"),
    [
        (
            "{type = increased temperature event~}",
            {"type": "decreased temperature event"},
            "but decreased, not increased",
        ),
        ("{place = room 201~}", {"place": "room 112"}, "112, not 201"),
        ("{door = open~}", {"door": "shut"}, "opposite state"),
    ],
)
def test_what_differs_is_said_in_words(asked: str, seen: dict[str, object], words: str) -> None:
    """The direction, the number, the state: by the default measure."""
    matcher = lw.Matcher()
    matcher.add(lw.parse(asked, id="s"))
    told = matcher.explain(lw.event(seen), "s")
    assert told.verdict == "below_threshold"
    assert any(words in note for note in told.predicates[0].notes)


@pytest.mark.parametrize(
    ("asked", "payload", "words"),
    [
        (
            "{pipe temperature~ > 20}",
            {"air_temp": 25},
            "both are temperature; you ask for the pipe's, this is the air's",
        ),
        ("{temperature~ > 20}", {"temp_alarm": 25}, "you ask for the reading itself, this is its alarm"),
        ("{channel 1 temperature~ > 20}", {"temperature_2": 25}, "number 1 was asked for, this is number 2"),
        ("{air temperature~ > 20}", {"temp": 25}, "air is assumed where nothing else is said"),
        ("{kind~ = rising tide~}", {"kind": "falling tide"}, "the same tide, but falling, not rising"),
        ('{"door open"~ = true}', {"doorClosed": True}, "what is true of 'doorClosed' is false of 'door open'"),
    ],
)
def test_the_text_of_an_explanation_says_what_differs(asked: str, payload: dict[str, object], words: str) -> None:
    """`str` is what people read first."""
    matcher = lw.Matcher()
    matcher.add(lw.parse(asked, id="s"))
    event = lw.event(payload)
    matcher.match(event)
    assert words in str(matcher.explain(event, "s"))

"""Every relaxed part must be meant, not only their mean; Booleans, 0 and 1 meet words for states."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.language import parse
from likewise.matching.engine import Engine
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.reference.match_threshold import MatchThreshold, part_floor
from likewise.matching.thematic.engine import ThematicEngine
from likewise.model import event
from likewise.model.probability import ProbabilityCurve
from likewise.semantics.measure import Measure
from likewise.testing import TableMeasure

LEAK = TableMeasure({("leak detected", "no leak detected"): 0.4, ("leak detected", "leakage"): 0.46})


def engines(measure: Measure, *texts: str) -> list[Engine]:
    """The oracle and the production engine with the same subscriptions."""
    made: list[Engine] = [OracleEngine(measure), ThematicEngine(measure)]
    for engine in made:
        for ordinal, text in enumerate(texts):
            engine.add(ordinal, parse(text, id=str(ordinal)), 0)
    return made


@pytest.mark.parametrize(("value", "met"), [("no leak detected", False), ("leakage", True)])
def test_an_equal_attribute_does_not_carry_a_value_that_is_not_meant(value: str, met: bool) -> None:
    """The mean over both parts is 0.63 and 0.68; the first value is below the floor of 0.45."""
    for engine in engines(LEAK, "{state~ = leak detected~}"):
        assert bool(len(engine.find(event({"state": value}), 0).ordinals)) == met


def test_what_a_part_lacks_is_said() -> None:
    """Which part is too weak, and what it would need."""
    (naive, _) = engines(LEAK, "{state~ = leak detected~}")
    told = naive.explain(event({"state": "no leak detected"}), 0, 0)
    assert told.verdict == "below_threshold"
    assert told.change == "It would match with a threshold of at most 0.444."  # under 0.5 a part needs less, too
    assert told.predicates[0].value == "no leak detected"
    assert "0.45" in told.predicates[0].notes[0]


def test_under_not_a_part_must_be_meant_too() -> None:
    """A value that would not be met rules nothing out."""
    for engine in engines(LEAK, "{x = 1, not state~ = leak detected~}"):
        assert engine.find(event({"x": 1, "state": "no leak detected"}), 0).ordinals.tolist() == [0]
        assert engine.find(event({"x": 1, "state": "leak detected"}), 0).ordinals.tolist() == []


def test_a_score_that_is_just_the_threshold_in_32_bits_matches_everywhere() -> None:
    """0.7 in 32 bits is less than 0.7: the reference, the engine and what an edge is asked for agree on it."""
    assert float(np.float32(0.7)) < 0.7
    for engine in engines(TableMeasure({("t", "warmth"): 0.7}), "{t~ exists} threshold 0.7"):
        assert engine.find(event({"warmth": 1}), 0).ordinals.tolist() == [0]


def test_the_floor_follows_the_threshold() -> None:
    """Nothing is cut at 0; whoever asks for more, asks it of every part."""
    assert part_floor(0.0) == 0.0
    assert part_floor(0.5) < part_floor(0.9) < 0.9
    assert MatchThreshold.at(0.5).part < MatchThreshold.at(0.5).score


@pytest.mark.parametrize("value", [True, False, 0, 1, 0.0, 1.0, 2, "on", "off", "true"])
def test_states_written_as_numbers_or_booleans_meet_words(value: object) -> None:
    """The engines agree on each, alone and beside others, through what a measure says of the value in its place."""
    measure = TableMeasure(seed=5)
    texts = (
        "{door~ = open~} threshold 0.3",
        "{door = open~} threshold 0.2",
        '{door~ = "1"~} threshold 0.1',
        '{door~ = "true"~} threshold 0.1',
        "{door~ = yes~, x = 1} threshold 0.2",
    )
    naive, thematic = engines(measure, *texts)
    for attribute in ("door", "door_open", "contact", "gate"):
        seen = event({attribute: value, "x": 1})
        expected, found = naive.find(seen, 0), thematic.find(seen, 0)
        assert found.ordinals.tolist() == expected.ordinals.tolist()


@pytest.mark.parametrize(("confidence", "met"), [(0.5, True), (0.79, True), (0.81, False)])
def test_confidence_asks_for_a_probability(confidence: float, met: bool) -> None:
    """At the score 0.6 the curve says 0.8; threshold and floor stay what they were."""
    curve = ProbabilityCurve((0.0, 0.6, 1.0), (0.0, 0.8, 1.0))
    measure = TableMeasure({("laptop", "computer"): 0.6})
    subscription = parse(f"{{device = laptop~}} confidence {confidence}", id="s")
    for engine in (OracleEngine(measure, curve=curve), ThematicEngine(measure, curve=curve)):
        engine.add(0, subscription, 0)
        found = engine.match(event({"device": "computer"}), 0)
        assert bool(found) == met
        assert not found or round(found[0][1].probability, 3) == 0.8
        told = engine.explain(event({"device": "computer"}), 0, 0)
        assert told.verdict == ("match" if met else "below_confidence")
        assert told.probability is not None
        assert round(told.probability, 3) == 0.8


def test_what_is_exact_is_certain() -> None:
    """A confidence of 1 is met by equal terms, and changes nothing for exact subscriptions."""
    for engine in engines(LEAK, "{a = 1} confidence 1", "{a~ = x~} confidence 1"):
        matches = [*engine.match(event({"a": 1}), 0), *engine.match(event({"a": "x"}), 0)]
        assert [(ordinal, match.probability) for ordinal, match in matches] == [(0, 1.0), (1, 1.0)]

"""The oracle's windows: top-k over sliding windows, on cases worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import ArtefactDamaged, ArtefactMissing, ArtefactVersion, UnknownId
from likewise.language import parse
from likewise.matching.oracle.engine import FILE, OracleEngine
from likewise.model import Event, Match, event
from likewise.model.time import SECOND
from likewise.testing.generators import DrawnChoice
from likewise.testing.generators import event as random_event
from likewise.testing.generators import subscription as random_subscription
from likewise.testing.oracle import OracleSettings
from tests.matching.plain_engine import WORDS, engine_with

Hits = list[tuple[int, Match]]


def brief(hits: Hits) -> list[tuple[int, str | None, str]]:
    return [(ordinal, match.event_id, match.cause) for ordinal, match in hits]


def reading(id: str, **numbers: float) -> Event:
    return event(dict(numbers), id=id)


def test_a_better_event_is_delivered_and_a_worse_one_waits() -> None:
    """On arrival if among the k best; promoted when a better one expires; never twice."""
    engine = engine_with("{x exists} top 1 within 10 s by value(x)")
    assert brief(engine.match(reading("a", x=5), 0)) == [(0, "a", "arrival")]
    assert brief(engine.match(reading("b", x=7), 1 * SECOND)) == []
    assert brief(engine.match(reading("c", x=3), 2 * SECOND)) == [(0, "c", "arrival")]
    assert brief(engine.advance(11 * SECOND)) == []  # a and b left before c did
    [(_, match)] = engine.match(reading("d", x=9), 12 * SECOND)
    assert (match.event_id, match.cause, match.rank_value, match.score) == ("d", "arrival", 9.0, 1.0)


def test_an_event_counts_while_its_age_is_less_than_the_window() -> None:
    """At the very moment its age equals the window it is out."""
    engine = engine_with("{x exists} top 1 within 10 s by value(x)")
    engine.match(reading("a", x=1), 0)
    engine.match(reading("b", x=2), 5 * SECOND)
    assert brief(engine.advance(10 * SECOND - 1)) == []
    assert brief(engine.advance(10 * SECOND)) == [(0, "b", "promoted")]
    assert brief(engine.advance(10 * SECOND)) == []


def test_time_that_passes_with_an_arrival_promotes_as_well() -> None:
    """What expired before the arrival is told with it, ordered by ordinal, arrival before promotion."""
    engine = engine_with("{x exists} top 1 within 10 s by value(x)", "{x exists} top 1 within 3 s by value(x)")
    engine.match(reading("a", x=1), 0)
    engine.match(reading("b", x=5), 1 * SECOND)
    assert brief(engine.match(reading("c", x=3), 3 * SECOND)) == [(1, "c", "arrival"), (1, "b", "promoted")]
    batch = engine.match_batch([reading("d", x=9)], [10 * SECOND])
    assert batch.ordinals.tolist() == [1]
    assert [(p.event_index, p.match.event_id) for p in batch.promoted] == [(0, "c")]


def test_ties_go_to_the_more_recent() -> None:
    """Equal values: the later event time, then the later arrival, is better."""
    engine = engine_with("{x exists} top 1 by value(x)", lateness=10)
    assert brief(engine.match(event({"x": 1}, id="a", time=9), 10)) == [(0, "a", "arrival")]
    assert brief(engine.match(event({"x": 1}, id="b", time=8), 10)) == []
    assert brief(engine.match(event({"x": 1}, id="c", time=9), 10)) == [(0, "c", "arrival")]


def test_windows_of_events_hold_the_last_that_passed() -> None:
    """Of the last two that pass the condition the best one; the rest is not remembered."""
    engine = engine_with("{x exists, not y exists} top 1 within 2 events by value(x) highest")
    assert brief(engine.match(reading("a", x=5), 0)) == [(0, "a", "arrival")]
    assert brief(engine.match(reading("b", x=3), 1)) == []
    assert brief(engine.match(reading("no", x=9, y=1), 2)) == []
    assert brief(engine.match(reading("c", x=1), 3)) == [(0, "b", "promoted")]  # a was pushed out
    assert brief(engine.withdraw("b")) == [(0, "c", "promoted")]
    assert brief(engine.match(reading("d", x=0), 4)) == []  # its place stays empty: c and d are the last two
    assert brief(engine.match(reading("e", x=-1), 5)) == [(0, "d", "promoted")]


def test_no_candidate_without_the_scored_attributes() -> None:
    """A publication that lacks a scored number is never delivered."""
    engine = engine_with("{x exists} top 5 by distance(x 0, y 0)")
    assert brief(engine.match(event({"x": 1, "y": "off"}, id="a"), 0)) == []
    [(_, match)] = engine.match(event({"x": 3, "y": ["off"], "Y": "4"}, id="b"), 0)
    assert match.rank_value == 5.0


def test_scores_are_in_the_unit_that_is_named() -> None:
    """A stated unit and one surely in the name are brought to it; a bare number is taken as it is."""
    engine = engine_with("{v exists} top 5 by sum(2*v in m/s)", "{v_kmh exists} top 5 by value(v_kmh in m/s)")
    hits = engine.match(event({"v": {"value": 36, "unit": "km/h"}, "v_kmh": 72}, id="a"), 0)
    assert [match.rank_value for _, match in hits] == [20.0, 20.0]
    assert engine.match(event({"v": 36}, id="b"), 0)[0][1].rank_value == 72.0


def test_relatedness_ranks_highest_first() -> None:
    """`by relatedness` ranks by the condition's score."""
    engine = engine_with("{device = laptop~} top 1 by relatedness", measure=WORDS)
    assert brief(engine.match(event({"device": "computer"}, id="a"), 0)) == [(0, "a", "arrival")]
    [(_, match)] = engine.match(event({"device": "laptop"}, id="b"), 0)
    assert (match.event_id, match.rank_value) == ("b", 1.0)
    assert match.mapping is not None
    assert brief(engine.match(event({"device": "computer"}, id="c"), 0)) == []


def test_withdrawing_promotes_and_forgets() -> None:
    """A withdrawn event makes room; what is unknown changes nothing."""
    engine = engine_with("{x exists} top 1 by value(x)", "{x > 1} top 1 by value(x)")
    for id, x in (("a", 1), ("b", 2), ("c", 3)):
        engine.match(reading(id, x=x), 0)
    assert engine.withdraw("z") == []
    assert brief(engine.withdraw("a")) == [(0, "b", "promoted")]
    assert brief(engine.withdraw("b")) == [(0, "c", "promoted"), (1, "c", "promoted")]


def test_late_events_enter_no_window_but_meet_other_subscriptions() -> None:
    """An event older than the lateness allows is counted and left out; one within it takes part by its own time."""
    engine = engine_with("{x exists} top 1 within 10 s by value(x)", "{x exists}", lateness=2 * SECOND)
    engine.match(reading("a", x=5), 20 * SECOND)
    assert brief(engine.match(event({"x": 1}, id="b", time=17 * SECOND), 20 * SECOND)) == [(1, "b", "arrival")]
    assert engine.refused_late == 1
    hits = engine.match(event({"x": 2}, id="c", time=18 * SECOND), 20 * SECOND)
    assert brief(hits) == [(0, "c", "arrival"), (1, "c", "arrival")]
    engine.match(reading("d", x=9), 21 * SECOND)
    assert engine.advance(28 * SECOND) == []  # c leaves by its own time; a was delivered already


def test_only_what_comes_after_activation_counts() -> None:
    """A window starts empty, and time never runs backwards."""
    engine = engine_with("{x exists} top 1 within 10 s by value(x)")
    engine.match(reading("a", x=1), 5 * SECOND)
    engine.add(7, parse("{x exists} top 1 within 10 s by value(x)", id="late"), 6 * SECOND)
    assert brief(engine.match(reading("b", x=2), 6 * SECOND)) == [(7, "b", "arrival")]
    assert engine.advance(0) == []
    assert brief(engine.advance(15 * SECOND)) == [(0, "b", "promoted")]


@given(st.data())
def test_one_long_step_delivers_what_many_short_ones_do(data: st.DataObject) -> None:
    """Advancing at once gives the promotions of advancing moment by moment, in the same order."""
    choice = DrawnChoice(data.draw)
    engines = [OracleSettings().oracle(), OracleSettings().oracle()]
    for ordinal in range(3):
        s = random_subscription(choice, "top", f"s{ordinal}")
        for engine in engines:
            engine.add(ordinal, s, 0)
    now = 0
    for number in range(8):
        now += choice.integer(0, 2)
        e = random_event(choice, frozenset({"top"}), f"e{number}", now)
        assert engines[0].match(e, now) == engines[1].match(e, now)
    at_once = engines[0].advance(now + 15)
    in_steps = [hit for moment in range(now, now + 16) for hit in engines[1].advance(moment)]
    assert at_once == in_steps
    assert len({(ordinal, match.event_id) for ordinal, match in at_once}) == len(at_once)


# -- keeping ------------------------------------------------------------------------------------


def test_saved_windows_go_on_without_repeating(tmp_path: Path) -> None:
    """After save and load nothing is delivered twice and what waits is still promoted."""
    text = "{x exists} top 1 within 10 s by value(x)"
    engine = engine_with(text)
    engine.match(reading("a", x=1), 0)
    engine.match(reading("b", x=2), 1 * SECOND)
    engine.save(tmp_path)
    loaded = engine_with(text)
    loaded.load(tmp_path)
    for each in (engine, loaded):
        assert brief(each.advance(10 * SECOND)) == [(0, "b", "promoted")]


def test_damaged_windows_are_refused(tmp_path: Path) -> None:
    """A missing, cut or foreign file is an `ArtefactError`; an unknown subscription is `UnknownId`."""
    engine = engine_with("{x exists} top 1 by value(x)")
    with pytest.raises(ArtefactMissing):
        engine.load(tmp_path)
    engine.match(reading("a", x=1), 0)
    engine.save(tmp_path)
    whole = (tmp_path / FILE).read_bytes()
    with pytest.raises(UnknownId):
        OracleEngine().load(tmp_path)
    for bad in (b"", whole[:-1], whole[: len(whole) // 2], b"x" * 500):
        (tmp_path / FILE).write_bytes(bad)
        with pytest.raises(ArtefactDamaged):
            engine.load(tmp_path)
    (tmp_path / FILE).write_bytes(whole.replace(b'"v":2', b'"v":9'))
    with pytest.raises(ArtefactVersion):
        engine.load(tmp_path)

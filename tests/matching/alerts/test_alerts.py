"""What alerts promise, one sentence a test."""

from __future__ import annotations

from pathlib import Path

import pytest

import likewise as lw
from likewise.defaults import MAX_RETRACTABLE_EVENTS
from likewise.errors import ArtefactDamaged, ArtefactMissing, StateError
from likewise.matching.alerts.saved_state import FILE
from likewise.model import Event

S = 1_000_000
MINUTE = 60 * S


class Watched:
    """A matcher with one alert, told events and ticks in seconds."""

    def __init__(self, text: str, lateness: int = 0, **matcher: object) -> None:
        self.matcher = lw.Matcher(lateness=lateness * S, **matcher)  # type: ignore[arg-type]
        self.matcher.add(lw.parse(text, id="s"), at=0)

    def hear(
        self, at: float, source: str | None = "a", own: float | None = None, id: str | None = None, **said: object
    ) -> list[tuple[str, str | None]]:
        event: Event = lw.event(said, source=source, id=id, time=None if own is None else round(own * S))
        return [(m.cause, m.event_id) for m in self.matcher.match(event, at=round(at * S))]

    def tick(self, at: float) -> list[tuple[str, str | None]]:
        return [(m.cause, m.event_id) for m in self.matcher.advance(round(at * S))]


def test_what_lasts_is_said_once_a_run_also_by_a_tick_alone() -> None:
    door = Watched("{door = open} for 5 min")
    assert door.hear(0, id="e1", door="open") == []
    assert door.hear(100, id="e2", door="open") == []
    assert door.tick(299) == []
    assert door.tick(300) == [("held", "e2")]
    assert door.hear(400, id="e3", door="open") == door.tick(5_000) == []
    assert door.hear(5_001, door="closed") == []
    assert door.hear(5_002, id="e4", door="open") == []
    assert door.tick(5_303) == [("held", "e4")]


def test_a_run_that_ends_in_time_says_nothing() -> None:
    door = Watched("{door = open} for 5 min")
    door.hear(0, door="open")
    door.hear(299, door="closed")
    assert door.tick(10_000) == []


def test_what_is_not_about_it_ends_nothing() -> None:
    door = Watched("{door = open} for 5 min")
    door.hear(0, id="e1", door="open")
    assert door.hear(10, battery=3) == []
    assert door.tick(300) == [("held", "e1")]


def test_what_a_condition_excludes_fails_it_and_what_it_leaves_out_does_not() -> None:
    door = Watched("{door = open, not mode = away} once until false")
    assert door.hear(0, id="e1", door="open", mode="home") == [("arrival", "e1")]
    assert door.hear(1, mode="away") == []
    assert door.hear(2, id="e2", door="open", mode="away") == [("cleared", "e2")]
    assert door.hear(3, id="e3", door="open") == [("arrival", "e3")]


def test_two_bounds_on_one_relaxed_attribute_are_about_one_reading() -> None:
    warm = Watched("{temperature~ > 20 degC, temperature~ < 30 degC} once until false")
    assert warm.hear(0, id="e1", temperature=25) == [("arrival", "e1")]
    assert warm.hear(1, id="e2", temperature=35) == [("cleared", "e2")]


def test_what_is_meant_with_less_than_the_asked_confidence_moves_nothing() -> None:
    from likewise.testing import TableMeasure

    measure = TableMeasure({("warmth", "heat"): 0.6, ("warmth", "warmth"): 1.0})
    warm = Watched("{warmth~ > 20} confidence 0.9 once until false", measure=measure)
    assert warm.hear(0, heat=25) == []
    assert warm.hear(1, id="e1", warmth=25) == [("arrival", "e1")]
    assert warm.hear(2, heat=5) == warm.hear(3, heat=25) == []
    assert warm.hear(4, id="e2", warmth=5) == [("cleared", "e2")]


def test_a_condition_arms_it_again_on_the_same_key_only() -> None:
    hot = Watched("{t > 30} once until {t < 28}")
    assert hot.hear(0, id="e1", t=31) == [("arrival", "e1")]
    assert hot.hear(1, t=29) == hot.hear(2, t=32) == []
    assert hot.hear(3, source="b", t=20) == hot.hear(4, t=33) == []
    assert hot.hear(5, id="e2", t=27) == [("cleared", "e2")]
    assert hot.hear(6, id="e3", t=31) == [("arrival", "e3")]


def test_what_comes_too_often_is_sent_when_the_cool_down_ends_and_counts_the_rest() -> None:
    smoke = Watched("{smoke = true} at most every 10 s")
    assert smoke.hear(0, id="e1", smoke=True) == [("arrival", "e1")]
    for at in (1, 2, 3, 4):
        assert smoke.hear(at, id=f"e{at + 1}", smoke=True) == []
    smoke.matcher.withdraw("e3")
    smoke.matcher.withdraw("e5")
    (said,) = smoke.matcher.advance(10 * S)
    assert said.spoken is not None
    assert (said.event_id, said.spoken.moment, said.spoken.suppressed) == ("e4", 10 * S, 1)
    assert smoke.tick(100) == []


@pytest.mark.parametrize("engine", ["alerts", "naive"])
def test_with_a_lateness_at_most_every_goes_by_the_events_own_times(engine: str) -> None:
    for delay in (0.0, 1.9):
        matcher = lw.Matcher(lateness=4 * S, engines={"alert": engine})
        matcher.add(lw.parse("{t > 25} at most every 5 s", id="s"), at=0)
        found: list[lw.Match] = []
        for own in (0, 4, 6):
            event = lw.event({"t": 30}, source="a", id=f"e{own}", time=own * S)
            found += matcher.match(event, at=round((own + (delay if own else 0)) * S))
        found += matcher.advance(20 * S)
        sent = [(m.event_id, m.spoken.moment // S, m.spoken.suppressed) for m in found if m.spoken]
        assert sent == [("e0", 4, 0), ("e4", 9, 0), ("e6", 14, 0)]


def test_silence_is_said_of_what_has_held_once_and_its_return_too() -> None:
    silent = Watched("{t exists, city = Galway} absent for 1 min")
    assert silent.hear(0, id="e1", t=1, city="Galway") == silent.hear(0, source="d", t=1, city="Dublin") == []
    assert silent.tick(59) == []
    assert silent.hear(59.5, battery=4) == []
    assert silent.tick(60) == [("absent", "e1")]
    assert silent.tick(600) == []
    assert silent.hear(601, id="e2", t=2, city="Galway") == [("returned", "e2")]


def test_an_outage_of_ours_is_no_absence() -> None:
    silent = Watched("{t exists} absent for 1 min")
    silent.hear(0, id="e1", t=1)
    silent.matcher.state.outage(3_600 * S)
    assert silent.tick(3_659) == []
    assert silent.tick(3_660) == [("absent", "e1")]


@pytest.mark.parametrize("engine", ["alerts", "naive"])
def test_an_outage_counts_only_from_when_a_key_was_last_heard(engine: str) -> None:
    watched = Watched("{t exists} absent for 6 s", engines={"alert": engine})
    watched.hear(21, source="k", t=1)
    watched.hear(26, source="u", t=1)
    watched.matcher.state.outage(10 * S, until=31 * S)  # from 21 on
    assert watched.tick(36.9) == []
    assert [m.spoken.key for m in watched.matcher.advance(37 * S) if m.spoken] == [("k",), ("u",)]


def test_silence_goes_by_arrival_whatever_time_events_state() -> None:
    silent = Watched("{t exists} absent for 1 min")
    silent.hear(0, t=1)
    assert silent.hear(50, own=1, t=1) == []
    assert silent.tick(109) == []
    assert [cause for cause, _ in silent.tick(110)] == ["absent"]


def test_a_digest_has_everything_of_all_keys_and_nothing_is_sent_for_nothing() -> None:
    errors = Watched("{error exists} digest every 1 min")
    for at in range(120):
        assert errors.hear(at / 2, source=f"s{at % 3}", id=f"e{at}", error="x") == []
    (said,) = errors.matcher.advance(60 * S)
    assert (said.cause, said.event_id) == ("digest", "e119")
    assert said.spoken is not None
    assert said.spoken.total == 120
    assert [item.event_id for item in said.spoken.items] == [f"e{at}" for at in range(20, 120)]
    assert dict(said.spoken.counts) == {("s0",): 40, ("s1",): 40, ("s2",): 40}
    assert errors.tick(600) == []


def test_keys_are_the_values_of_per_and_an_event_that_lacks_one_is_counted() -> None:
    room = Watched("{door = open} per room once until false")
    assert room.hear(0, id="e1", door="open", room="Hall") == [("arrival", "e1")]
    assert room.hear(1, source="b", door="open", room="hall") == []
    assert room.hear(2, id="e2", door="open", room="attic") == [("arrival", "e2")]
    assert room.hear(3, door="open") == []
    assert room.matcher.state.engine("alert").keyless == 1  # type: ignore[attr-defined]


def test_a_key_of_several_sources_holds_while_one_of_them_does() -> None:
    room = Watched("{door = open} per room once until false")
    room.hear(0, source="a", door="open", room="hall")
    room.hear(1, source="b", door="open", room="hall")
    assert room.hear(2, source="a", door="closed", room="hall") == []
    assert room.hear(3, source="b", id="e", door="closed", room="hall") == [("cleared", "e")]


def test_events_without_a_source_share_a_key() -> None:
    door = Watched("{door = open} once until false")
    assert door.hear(0, source=None, id="e1", door="open") == [("arrival", "e1")]
    assert door.hear(1, source=None, door="open") == []


def test_a_late_event_counts_at_its_own_time_and_a_later_one_moves_nothing() -> None:
    door = Watched("{door = open} for 5 min", lateness=10)
    door.hear(0, own=0, id="e1", door="open")
    door.hear(305, own=305, door="open")
    assert door.hear(308, own=299, id="late", door="closed") == []
    assert door.tick(320) == []
    assert door.matcher.state.refused_late == 0
    door.hear(400, own=350, door="open")
    assert door.matcher.state.refused_late == 0
    door.hear(500, own=340, door="closed")
    assert door.matcher.state.refused_late == 1


def test_an_old_reading_that_comes_after_a_newer_one_of_its_source_moves_nothing() -> None:
    door = Watched("{door = open} once until false")
    assert door.hear(100, own=100, door="closed") == []
    assert door.hear(101, own=50, door="open") == []
    assert door.matcher.state.refused_late == 1


def test_a_withdrawn_event_no_longer_counts_for_what_was_not_said() -> None:
    door = Watched("{door = open} for 5 min")
    door.hear(0, id="e1", door="open")
    door.hear(100, id="e2", door="open")
    door.matcher.withdraw("e1")
    assert door.tick(300) == []
    assert door.tick(400) == [("held", "e2")]
    door.hear(500, id="shut", door="closed")
    door.hear(510, id="e3", door="open")
    door.matcher.withdraw("shut")
    assert door.tick(10_000) == []  # it lasted all the time, which was said


@pytest.mark.parametrize("engine", ["alerts", "naive"])
@pytest.mark.parametrize(
    "clauses", ["once until {t < 20}", "once until false", "at most every 30 s", "for 1 us once until false"]
)
def test_an_event_that_only_waits_in_a_digest_is_withdrawn_as_if_it_had_not_been(clauses: str, engine: str) -> None:
    watched = Watched(f"{{t > 25}} {clauses} digest every 10 s", engines={"alert": engine})
    watched.hear(1, id="e0", t=30)
    watched.tick(1.5)
    watched.matcher.withdraw("e0")
    watched.hear(2, id="e2", t=30)
    [digest] = watched.matcher.advance(10 * S)
    assert digest.spoken is not None
    assert [(item.event_id, item.suppressed) for item in digest.spoken.items] == [("e2", 0)]


def test_what_a_digest_has_said_stays_said() -> None:
    watched = Watched("{t > 25} once until {t < 20} digest every 10 s")
    watched.hear(1, id="e0", t=30)
    assert watched.tick(10) == [("digest", "e0")]
    watched.matcher.withdraw("e0")
    watched.hear(12, id="e2", t=30)
    assert watched.tick(40) == []


def test_withdrawing_all_that_held_clears_what_was_said() -> None:
    door = Watched("{door = open} once until false")
    door.hear(0, id="e1", door="open")
    assert [(m.cause, m.event_id) for m in door.matcher.withdraw("e1")] == [("cleared", "e1")]
    assert door.hear(1, id="e2", door="open") == [("arrival", "e2")]


def test_clauses_act_in_their_order() -> None:
    door = Watched("{door = open} for 10 s once until false at most every 1 min digest every 5 min")
    for begin in (0, 20, 40, 70):
        door.hear(begin, id=f"o{begin}", door="open")
        door.hear(begin + 15, id=f"c{begin}", door="closed")
    (said,) = door.matcher.advance(300 * S)
    assert said.spoken is not None
    assert [(i.cause, i.event_id, i.suppressed) for i in said.spoken.items] == [
        ("held", "o0", 0),
        ("cleared", "c0", 0),
        ("held", "o70", 2),
        ("cleared", "c70", 0),
    ]


def test_a_saved_matcher_goes_on_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    door = Watched("{door = open} for 5 min once until false")
    door.hear(0, id="e1", door="open")
    door.matcher.save(tmp_path / "m")
    again = lw.Matcher.load(tmp_path / "m")
    assert [(m.cause, m.event_id) for m in again.advance(300 * S)] == [("held", "e1")]
    path = tmp_path / "m" / "engines" / "alert" / FILE
    raw = path.read_bytes()
    at = raw.index(b'"last_arrival":0')
    path.write_bytes(raw[:at] + b'"last_arrival":7' + raw[at + 16 :])
    with pytest.raises(ArtefactDamaged, match="SHA-256"):
        lw.Matcher.load(tmp_path / "m")


@pytest.mark.parametrize("text", ["{t > 25} for 5 s", "{t > 25} top 1 within 1 h by value(t)"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_saved_matcher_without_the_file_of_its_states_is_refused(text: str, whole: bool, tmp_path: Path) -> None:
    watched = Watched(text)
    watched.hear(0, t=30)
    watched.matcher.save(tmp_path / "saved")
    [place] = (tmp_path / "saved" / "engines").iterdir()
    for file in place.iterdir():
        file.unlink()
    if whole:
        place.rmdir()
    with pytest.raises(ArtefactMissing, match="restore a copy"):
        lw.Matcher.load(tmp_path / "saved")


def test_explanations_say_how_far_it_is() -> None:
    door = Watched("{door = open} for 5 min at most every 1 h")
    event = lw.event({"door": "open"}, source="a")
    door.matcher.match(event, at=0)
    found = door.matcher.explain(event, "s", at=3 * MINUTE)
    assert found.verdict == "not_yet"
    assert found.change == "It has held for 3 min of 5 min; it is said if it lasts for 2 min more."
    door.tick(300)
    assert door.matcher.explain(event, "s", at=6 * MINUTE).verdict == "suppressed"
    assert door.matcher.explain(lw.event({"door": "shut"}, source="a"), "s").verdict == "exact_part_false"
    assert door.matcher.would_match(event, at=6 * MINUTE) == []


def test_keys_are_forgotten_of_which_nothing_came_for_long() -> None:
    from likewise.matching.alerts.engine import AlertEngine

    engine = AlertEngine(forget=100 * S)
    engine.add(0, lw.parse("{door = open} once until false", id="s"), at=0)
    opened = lw.event({"door": "open"}, source="a")
    assert [m.cause for _, m in engine.match(opened, at=0)] == ["arrival"]
    assert engine.match(opened, at=99 * S) == []
    assert [m.cause for _, m in engine.match(opened, at=200 * S)] == ["arrival"]


def test_what_is_no_alert_has_no_keys() -> None:
    matcher = lw.Matcher()
    matcher.add(lw.parse("{t > 1}", id="s"))
    with pytest.raises(StateError, match="no alert"):
        matcher.standings("s")


def test_ten_thousand_alerts_about_an_event_that_moves_none_are_not_looked_at() -> None:
    from likewise.matching.alerts.engine import AlertEngine

    engine = AlertEngine()
    for ordinal in range(200):
        engine.add(ordinal, lw.parse(f"{{t > {100 + ordinal}}} for {1 + ordinal} s", id=f"s{ordinal}"), at=0)
    for source in range(50):
        assert engine.match(lw.event({"t": 20}, source=f"s{source}"), at=source) == []
    assert engine.keys() == 0


@pytest.mark.parametrize("engine", ["alerts", "naive"])
def test_silence_counts_from_an_event_that_is_left_when_a_source_begins_anew(engine: str) -> None:
    """The newest events of the key came from a name that several sources had used by mistake."""
    room = Watched("{t > 10} absent for 1 h per room", engines={"alert": engine})
    room.hear(0, source="a", id="e", t=20, room="hall")
    for number in range(MAX_RETRACTABLE_EVENTS + 2):
        room.hear(10, source="b", id=f"f{number}", t=5, room="hall")
    room.matcher.state.rename_source("b", None)
    assert room.tick(3_599) == []
    assert room.tick(3_700) == [("absent", "e")]

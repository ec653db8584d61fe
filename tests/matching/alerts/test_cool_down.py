"""Alarms that fall into a cool-down, sources that die while active, clocks that fall back: no alarm is lost."""

from __future__ import annotations

from typing import Any

import pytest

import likewise as lw
from likewise.model.alerts.notification import AlertNotification

S = 1_000_000
HOUR, DAY = 3_600, 86_400
ENGINES = pytest.mark.parametrize("engine", ["alerts", "naive"])
Sent = tuple[str, str | None, int]  # cause, event, when


class Alarms:
    """A matcher with one alert; what it sends, in seconds."""

    def __init__(self, text: str, engine: str, lateness: int = 0) -> None:
        self.matcher = lw.Matcher(engines={"alert": engine}, lateness=lateness * S)
        self.matcher.add(lw.parse(text, id="s"), at=0)
        self.sent: list[lw.Match] = []

    def hear(self, at: int, source: str = "a", own: int | None = None, **fields: Any) -> None:
        event = lw.event(fields, source=source, id=f"{source}{at}", time=None if own is None else own * S)
        self.sent += self.matcher.match(event, at=at * S)

    def tick(self, *moments: int) -> list[Sent]:
        for at in moments:
            self.sent += self.matcher.advance(at * S)
        return [(m.cause, m.event_id, m.spoken.moment // S) for m in self.sent if m.spoken is not None]

    def facts(self) -> list[AlertNotification]:
        return [match.spoken for match in self.sent if match.spoken is not None]


@ENGINES
def test_an_alarm_just_after_the_end_of_one_is_sent_at_once(engine: str) -> None:
    smoke = Alarms("{smoke = true} once until false at most every 10 min", engine)
    smoke.hear(0, smoke=True)
    smoke.hear(601, smoke=False)
    smoke.hear(605, smoke=True)
    assert smoke.tick(9_999) == [("arrival", "a0", 0), ("cleared", "a601", 601), ("arrival", "a605", 605)]


@ENGINES
def test_a_deferred_alarm_is_sent_when_the_cool_down_ends(engine: str) -> None:
    smoke = Alarms("{smoke = true} once until false at most every 10 min", engine)
    smoke.hear(0, smoke=True)
    smoke.hear(60, smoke=False)
    smoke.hear(120, smoke=True)
    assert smoke.tick(599) == [("arrival", "a0", 0), ("cleared", "a60", 60)]
    assert smoke.tick(600, 9_999)[2:] == [("arrival", "a120", 600)]


@ENGINES
def test_a_deferred_alarm_names_the_newest_event_and_counts_those_that_ended(engine: str) -> None:
    smoke = Alarms("{smoke = true} once until false at most every 10 min", engine)
    for at, value in ((0, True), (60, False), (120, True), (180, False), (240, True), (300, True)):
        smoke.hear(at, smoke=value)
    assert smoke.tick(600)[2:] == [("arrival", "a300", 600)]
    assert [facts.suppressed for facts in smoke.facts()] == [0, 0, 1]


@ENGINES
def test_a_deferred_alarm_that_ends_sends_neither_itself_nor_its_end(engine: str) -> None:
    smoke = Alarms("{smoke = true} once until false at most every 10 min", engine)
    for at, value in ((0, True), (60, False), (120, True), (180, False)):
        smoke.hear(at, smoke=value)
    assert smoke.tick(9_999) == [("arrival", "a0", 0), ("cleared", "a60", 60)]
    smoke.hear(10_000, smoke=True)
    assert smoke.facts()[-1].suppressed == 1


@ENGINES
def test_a_door_that_stands_open_all_night_is_sent_after_the_cool_down(engine: str) -> None:
    door = Alarms("{door = open} for 5 min at most every 1 h", engine)
    door.hear(0, door="open")
    door.hear(600, door="closed")
    door.hear(1_200, door="open")
    assert door.tick(20_000) == [("held", "a0", 300), ("held", "a1200", 3_900)]


@ENGINES
def test_a_second_silence_is_sent_after_the_cool_down(engine: str) -> None:
    silent = Alarms("{t exists} absent for 1 h at most every 1 d", engine)
    silent.hear(0, t=1)
    silent.tick(HOUR)
    silent.hear(4_000, t=1)
    expected = [("absent", "a0", HOUR), ("returned", "a4000", 4_000), ("absent", "a4000", HOUR + DAY)]
    assert silent.tick(8_000, 3 * DAY) == expected


@ENGINES
def test_a_silence_that_ends_in_the_cool_down_sends_no_return(engine: str) -> None:
    silent = Alarms("{t exists} absent for 1 h at most every 1 d", engine)
    silent.hear(0, t=1)
    silent.tick(HOUR)
    silent.hear(4_000, t=1)
    silent.hear(20_000, t=1)  # over an hour of silence, in the cool-down
    assert silent.tick(20_001)[2:] == []
    silent.tick(2 * DAY)
    assert silent.facts()[-1].suppressed == 1


@ENGINES
def test_a_sensor_that_died_while_active_does_not_silence_its_room(engine: str) -> None:
    room = Alarms("{smoke = true} per room once until false", engine)
    room.hear(0, "dead", smoke=True, room="hall")
    room.hear(HOUR, "other", smoke=True, room="hall")  # the first is not stale: one alarm
    room.hear(HOUR + 60, "other", smoke=False, room="hall")
    room.hear(DAY, "other", smoke=True, room="hall")
    room.hear(DAY + 60, "other", smoke=False, room="hall")
    assert room.tick(3 * DAY) == [("arrival", "dead0", 0)]
    room.hear(3 * DAY, "other", smoke=True, room="hall")
    assert room.tick(4 * DAY)[1:] == [("arrival", f"other{3 * DAY}", 3 * DAY)]
    assert room.facts()[-1].stale == ("dead",)


@ENGINES
def test_a_stale_source_ends_no_run_and_sends_no_end(engine: str) -> None:
    room = Alarms("{smoke = true} per room once until false", engine)
    room.hear(0, "dead", smoke=True, room="hall")
    room.hear(3 * DAY, "other", smoke=False, room="hall")
    room.hear(3 * DAY + 1, "other", smoke=True, room="hall")
    room.hear(3 * DAY + 2, "other", smoke=False, room="hall")
    assert [cause for cause, _, _ in room.tick(9 * DAY)] == ["arrival", "arrival"]
    room.hear(9 * DAY, "dead", smoke=False, room="hall")
    assert room.tick(9 * DAY)[2:] == [("cleared", f"dead{9 * DAY}", 9 * DAY)]


@ENGINES
def test_an_event_that_meets_both_conditions_is_active_and_does_not_flap(engine: str) -> None:
    hot = Alarms("{temperature > 30} once until {temperature < 28}", engine)
    for at in (0, 10, 20):
        hot.hear(at, temperature=[35, 20])
    assert hot.tick(30) == [("arrival", "a0", 0)]
    hot.hear(40, temperature=20)
    assert hot.tick(40)[1:] == [("cleared", "a40", 40)]


@ENGINES
def test_an_alarm_whose_clock_fell_back_to_2000_is_sent(engine: str) -> None:
    now, year_2000 = 1_700_000_000, 946_684_800
    smoke = Alarms("{smoke = true} once until false", engine)
    smoke.hear(now, own=now, smoke=False)
    smoke.hear(now + 100, own=year_2000, smoke=True)
    assert smoke.tick(now + 159) == []
    assert smoke.tick(now + 160) == [("arrival", f"a{now + 100}", now + 160)]
    smoke.hear(now + 200, own=year_2000 + 100, smoke=False)
    assert smoke.tick(now + 999)[1:] == [("cleared", f"a{now + 200}", now + 260)]


@ENGINES
def test_a_logger_that_uploads_a_week_sends_no_alarm(engine: str) -> None:
    now = 1_700_000_000
    smoke = Alarms("{smoke = true} once until false", engine)
    smoke.hear(now, own=now, smoke=False)
    for step in range(7 * 24):
        smoke.hear(now + 1 + step // 10, own=now - 9 * DAY + step * HOUR, smoke=step % 2 == 0)
    assert smoke.tick(now + 9_999) == []


@ENGINES
@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("{t > 30} at most every 10 min", {"t": 20}),
        ("{t > 30} digest every 1 h", {"t": 20}),
        ("{t > 30} once until {t < 28}", {"t": 29}),
        ("{t > 30} once until false", {"battery": 20}),
        ("{t > 30} per room once until false", {"t": 20, "room": "B"}),
    ],
)
@pytest.mark.parametrize("every", [3, 90])
def test_an_upload_sends_no_alarm_whatever_the_newest_event_of_its_source_is_about(
    text: str, live: dict[str, Any], every: int, engine: str
) -> None:
    now = 1_700_000_000
    alarms = Alarms(text, engine)
    alarms.hear(now, own=now, **live)
    for step in range(100):  # with 90, all but two of the uploaded readings concern no plain alarm
        reading: dict[str, Any] = {"t": 35 if step % every == 0 else 20, "room": "A"}
        alarms.hear(now + HOUR + step // 20, own=now - 7 * DAY + step * HOUR, **reading)
    assert alarms.tick(now + 3 * HOUR) == []


@ENGINES
def test_one_reading_of_an_upload_that_matters_sends_no_alarm(engine: str) -> None:
    now = 1_700_000_000
    alarms = Alarms("{t > 30} at most every 10 min", engine)
    alarms.hear(now, own=now, t=20)
    alarms.hear(now + HOUR, own=now - 3 * DAY, t=35)
    alarms.hear(now + HOUR + 1, own=now - 3 * DAY + HOUR, t=20)  # tells that the one before is of an upload
    assert alarms.tick(now + 3 * HOUR) == []
    alarms.hear(now + 4 * HOUR, own=now - 3 * DAY, t=35)  # alone: its clock is wrong
    assert [cause for cause, _, _ in alarms.tick(now + 5 * HOUR)] == ["arrival"]


@ENGINES
@pytest.mark.parametrize("clauses", ["at most every 10 min", "once until {ok exists} at most every 10 min"])
def test_withdrawal_cancels_a_deferred_alarm(clauses: str, engine: str) -> None:
    smoke = Alarms(f"{{smoke = true}} {clauses}", engine)
    smoke.hear(0, smoke=True)
    smoke.hear(1, ok=True)
    smoke.hear(100, smoke=True)
    smoke.hear(200, smoke=True)
    sent = smoke.tick(300)
    smoke.matcher.withdraw("a200")
    assert smoke.tick(600)[len(sent) :] == [("arrival", "a100", 600)]  # the one before still stands
    smoke.hear(700, ok=True)
    smoke.hear(710, smoke=True)
    sent = smoke.tick(720)
    smoke.matcher.withdraw("a710")
    assert smoke.tick(9_999) == sent


@ENGINES
def test_unsubscribing_and_the_end_of_validity_cancel_a_deferred_alarm(engine: str) -> None:
    for text, remove in (("", True), (" valid for 5 min", False)):
        smoke = Alarms(f"{{smoke = true}} at most every 10 min{text}", engine)
        smoke.hear(0, smoke=True)
        smoke.hear(60, smoke=True)
        if remove:
            smoke.matcher.remove("s")
        assert smoke.tick(9_999) == [("arrival", "a0", 0)]


@ENGINES
def test_withdrawing_what_ended_an_alarm_raises_it_again(engine: str) -> None:
    smoke = Alarms("{smoke = true} once until false", engine)
    smoke.hear(0, smoke=True)
    smoke.hear(60, smoke=False)
    smoke.sent += smoke.matcher.withdraw("a60")
    assert smoke.tick(61) == [("arrival", "a0", 0), ("cleared", "a60", 60), ("arrival", "a0", 60)]


@ENGINES
def test_withdrawing_what_ended_an_alarm_raises_it_again_though_its_source_was_stale(engine: str) -> None:
    room = Alarms("{smoke = true} per room once until false at most every 10 min stale 1 min", engine)
    room.hear(0, "x", smoke=True, room="hall")
    room.hear(100, "b", smoke=True, room="hall")  # x is stale: a new alarm, which waits for the cool-down
    room.hear(200, "b", smoke=False, room="hall")
    room.hear(300, "x", smoke=True, room="hall")  # it was active all the time, which was sent
    room.hear(400, "x", smoke=False, room="hall")
    room.sent += room.matcher.withdraw("x400")
    assert room.tick(599) == [("arrival", "x0", 0), ("cleared", "x400", 400)]
    assert room.tick(600)[2:] == [("arrival", "x300", 600)]


@pytest.mark.parametrize("engine", ["alerts", "naive"])
@pytest.mark.parametrize("clauses", ["once until false", "once until {reset = true}", "for 1 min once until false"])
def test_explain_names_stale_sources_and_does_not_count_them(clauses: str, engine: str) -> None:
    """Beside stale sources alone, another alarm is not suppressed, as it is beside one that is not stale."""
    hour = 3_600_000_000
    matcher = lw.Matcher(engines={"alert": engine})
    matcher.add(lw.parse(f"{{smoke = true}} per room {clauses} stale 2 h", id="s"), at=0)
    matcher.match(lw.event({"smoke": True, "room": "hall"}, source="dead", id="e1"), at=0)
    matcher.advance(hour)
    other = lw.event({"smoke": True, "room": "hall"}, source="new", id="e2")
    before = matcher.explain(other, "s", at=hour)
    assert before.verdict == "suppressed"
    assert "silent" not in str(before)
    after = matcher.explain(other, "s", at=3 * hour)
    assert after.verdict == ("not_yet" if "for" in clauses else "match")
    assert "Active and silent for longer than 2 h: dead (3 h)." in after.predicates[-1].notes[-1]
    sent = matcher.match(other, at=3 * hour) or matcher.advance(4 * hour)
    assert [match.spoken.stale for match in sent if match.spoken] == [("dead",)]
    own = matcher.explain(lw.event({"smoke": True, "room": "hall"}, source="dead", id="e3"), "s", at=4 * hour)
    assert own.verdict == "suppressed"


@ENGINES
@pytest.mark.parametrize("taken_back", [16, 19, 20])
@pytest.mark.parametrize("clause", ["", "once until {smoke = false} "])
def test_an_alarm_of_which_many_events_are_withdrawn_stands_while_one_is_left(
    engine: str, clause: str, taken_back: int
) -> None:
    """More events than are kept one by one: the newest 16 can be withdrawn, and those before them are not forgotten."""
    smoke = Alarms(f"{{smoke = true}} {clause}at most every 10 min", engine)
    smoke.hear(0, smoke=True)
    smoke.hear(5, smoke=False)
    for at in range(10, 30):
        smoke.hear(at, smoke=True)
    for at in range(29, 29 - taken_back, -1):
        smoke.sent += smoke.matcher.withdraw(f"a{at}")
    begun = len(smoke.tick(599))
    if taken_back == 20 and not clause:
        assert smoke.tick(601)[begun:] == []
        return
    assert smoke.tick(601)[begun:] == [("arrival", "a13", 600)]
    assert smoke.facts()[-1].suppressed == (20 - taken_back - 1 if not clause else 0)
    smoke.hear(1_300, smoke=False)
    smoke.hear(1_301, smoke=True)
    assert smoke.tick(2_000)[-1] == ("arrival", "a1301", 1_301)
    assert smoke.facts()[-1].suppressed == 0


@ENGINES
def test_an_alarm_that_was_never_sent_and_ended_is_counted_once(engine: str) -> None:
    """Also without a cool-down, in which nothing else is counted."""
    smoke = Alarms("{smoke = true} once until {smoke = false}", engine, lateness=10)
    smoke.hear(5, own=5, smoke=True)
    smoke.tick(15)
    smoke.matcher.state.unsend("s", ("a",), "a5")
    smoke.hear(16, own=12, smoke=False)
    for at in (17, 37):
        smoke.hear(at, own=at, smoke=True)
        smoke.hear(at + 10, own=at + 10, smoke=False)
    smoke.tick(99)
    assert [(m.cause, m.event_id, m.spoken.suppressed) for m in smoke.sent if m.spoken and m.cause == "arrival"] == [
        ("arrival", "a5", 0),
        ("arrival", "a17", 1),
        ("arrival", "a37", 0),
    ]

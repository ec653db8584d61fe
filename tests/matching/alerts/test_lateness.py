"""What waits for others: `held` comes when the lateness has passed since the end of its span, in whatever order.

An event that came within the lateness counts at its own time, so what is said, and when, is the same as if every event
had come at once. That is what lets events take ways of different lengths, over edges or bridges.
"""

from __future__ import annotations

import random

import pytest

import likewise as lw
from likewise.model import Event

S = 1_000_000
CLAUSES = (
    "for 7 s",
    "for 7 s once until false",
    "once until false",
    "once until {t < 3}",
    "at most every 20 s",
    "for 4 s at most every 30 s",
    "once until false digest every 25 s",
)


def matcher(engine: str, lateness: int) -> lw.Matcher:
    return lw.Matcher(lateness=lateness * S, engines={"alert": engine})


def made(text: str, engine: str, lateness: int) -> lw.Matcher:
    found = matcher(engine, lateness)
    found.add(lw.parse(text, id="s"), at=0)
    return found


def hear(at_work: lw.Matcher, arrival: int, source: str, own: int, x: int) -> list[tuple[int, str]]:
    """What is said by the time of an event of room 1, and because of it: for which moment, and why."""
    said = at_work.match(lw.event({"x": x, "r": 1}, source=source, time=own * S), at=arrival * S)
    return [(match.spoken.moment // S, match.cause) for match in said if match.spoken is not None]


@pytest.mark.parametrize("engine", ["alerts", "naive"])
def test_held_is_said_at_the_end_of_the_lateness_though_another_event_waits(engine: str) -> None:
    door = matcher(engine, lateness=10)
    door.add(lw.parse("{door = open} for 60 s", id="s"), at=0)
    door.match(lw.event({"door": "open"}, source="a", id="e1", time=0), at=0)
    assert door.match(lw.event({"door": "open"}, source="a", id="e2", time=69 * S), at=69 * S) == []
    (said,) = door.advance(70 * S)
    assert (said.cause, said.event_id, said.spoken and said.spoken.moment) == ("held", "e1", 70 * S)
    assert door.advance(1_000 * S) == []


@pytest.mark.parametrize("engine", ["alerts", "naive"])
def test_held_is_not_said_where_an_event_that_waits_ended_the_run_in_time(engine: str) -> None:
    door = matcher(engine, lateness=10)
    door.add(lw.parse("{door = open} for 60 s", id="s"), at=0)
    door.match(lw.event({"door": "open"}, source="a", id="e1", time=0), at=0)
    door.match(lw.event({"door": "closed"}, source="a", id="e2", time=59 * S), at=69 * S)
    assert door.advance(1_000 * S) == []


@pytest.mark.parametrize("engine", ["alerts", "naive"])
def test_what_a_device_sends_after_a_break_is_waited_for_as_a_whole(engine: str) -> None:
    door = matcher(engine, lateness=10)
    door.add(lw.parse("{door = open} for 60 s", id="s"), at=0)
    door.match(lw.event({"door": "open"}, source="a", id="e1", time=0), at=500 * S)
    assert door.match(lw.event({"door": "closed"}, source="a", id="e2", time=30 * S), at=501 * S) == []
    assert door.advance(1_000 * S) == []


def _events(chance: random.Random) -> list[Event]:
    times = sorted(chance.sample(range(0, 200), 30))
    return [
        lw.event(
            {"t": chance.randint(0, 9), "room": chance.choice("ab")},
            source=chance.choice(("x", "y", "z")),
            id=f"e{number}",
            time=time * S,
        )
        for number, time in enumerate(times)
    ]


def _told(held: list[lw.Subscription], engine: str, arriving: list[tuple[int, Event]]) -> set[tuple[object, ...]]:
    listening = matcher(engine, lateness=15)
    for each in held:
        listening.add(each, at=0)
    said = [match for at, event in arriving for match in listening.match(event, at=at)]
    said += listening.advance(1_000 * S)
    return {(m.subscription_id, m.cause, m.event_id, m.spoken) for m in said}


@pytest.mark.parametrize("engine", ["alerts", "naive"])
@pytest.mark.parametrize("seed", range(6))
def test_ways_of_different_lengths_change_neither_what_is_said_nor_when(seed: int, engine: str) -> None:
    chance = random.Random(seed)
    pers = ("", "per room ")
    held = [lw.parse(f"{{t > 5}} {per}{clause}", id=per + clause) for per in pers for clause in CLAUSES]
    events = _events(chance)
    at_once = [(event.time or 0, event) for event in events]
    delayed = sorted(((time + chance.randint(0, 15 * S), event) for time, event in at_once), key=lambda pair: pair[0])
    expected = _told(held, engine, at_once)
    assert len(expected) > 20
    assert _told(held, engine, delayed) == expected


@pytest.mark.parametrize("engine", ["alerts", "naive"])
@pytest.mark.parametrize("behind", [0, 20, 600, 3600])
@pytest.mark.parametrize("said", [1, 9])
def test_a_neighbour_whose_clock_is_behind_puts_off_nothing(engine: str, behind: int, said: int) -> None:
    """One sensor holds and falls silent; another of the same room, late by its own clock, goes on talking."""
    matcher = made("{x > 5} per r for 30 s", engine, lateness=10)
    begin = 4_000
    heard = [*hear(matcher, begin, "a", begin, x=9)]
    for n in range(1, 40):
        heard += hear(matcher, begin + 5 * n, "b", begin + 5 * n - behind, x=said)
    (held,) = [at for at, cause in heard if cause == "held"]
    assert held == begin + 40 if said == 1 else held <= begin + 40  # who holds, too, may have begun earlier


@pytest.mark.parametrize("engine", ["alerts", "naive"])
def test_a_reading_from_before_what_armed_an_alert_again_says_nothing(engine: str) -> None:
    """Too high at 23 came after low at 34 and later than the lateness: it is the past, and counted."""
    matcher = made("{x > 5} once until {x < 3}", engine, lateness=5)
    heard = [*hear(matcher, 35, "a", 34, x=1), *hear(matcher, 41, "a", 23, x=9), *hear(matcher, 200, "b", 200, x=1)]
    assert heard == []


@pytest.mark.parametrize("engine", ["alerts", "naive"])
def test_what_arms_one_alert_again_does_not_silence_another(engine: str) -> None:
    """Two alerts on one condition know of their own events only."""
    matcher = made("{x > 5} at most every 1 s", engine, lateness=0)
    matcher.add(lw.parse("{x > 5} once until {x < 3}", id="other"), at=0)
    heard = [*hear(matcher, 35, "a", 34, x=1), *hear(matcher, 41, "a", 23, x=9)]
    assert heard == [(41, "arrival")]

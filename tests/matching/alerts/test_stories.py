"""Forty alarms that somebody relies on, as `docs/guides/alerts.md` promises them.

Each story is written from the guide: a subscription, what sensors say, and the notifications that a person who has read
the guide waits for. Times are seconds; what is sent is (second, cause, second of the event that is named).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

import likewise as lw

S = 1_000_000
MIN, HOUR, DAY = 60, 3_600, 86_400
START = 20_000 * DAY  # long after 1970
Said = tuple[int, str, dict[str, Any]]  # second, source, what it says
Sent = tuple[int, str, int]


class Story(NamedTuple):
    """What somebody asked for, what came, until when, and what must be sent; `stated` are wrong times by second."""

    text: str
    said: list[Said]
    until: int
    sent: list[Sent]
    stated: Mapping[int, int] = MappingProxyType({})
    withdrawn: tuple[tuple[int, int], ...] = ()  # at which second the event of which second is taken back


def smoke(at: int, value: bool, source: str = "kitchen", **more: Any) -> Said:
    return at, source, {"smoke": value, **more}


def door(at: int, state: str, source: str = "front", **more: Any) -> Said:
    return at, source, {"door": state, **more}


def water(at: int, leak: bool, source: str = "cellar", **more: Any) -> Said:
    return at, source, {"leak": leak, **more}


def freezer(at: int, degrees: float, source: str = "freezer") -> Said:
    return at, source, {"temperature": degrees}


STORIES = {
    # -- once until false -----------------------------------------------------------------------
    "smoke is told once and its end too": Story(
        "{smoke = true} once until false",
        [smoke(0, True), smoke(10, True), smoke(20, False), smoke(30, True)],
        HOUR,
        [(0, "arrival", 0), (20, "cleared", 20), (30, "arrival", 30)],
    ),
    "a battery message does not end a fire": Story(
        "{smoke = true} once until false",
        [smoke(0, True), (10, "kitchen", {"battery": 80}), smoke(20, False)],
        HOUR,
        [(0, "arrival", 0), (20, "cleared", 20)],
    ),
    "two detectors are two alarms": Story(
        "{smoke = true} once until false",
        [smoke(0, True), smoke(5, True, "hall"), smoke(10, False)],
        HOUR,
        [(0, "arrival", 0), (5, "arrival", 5), (10, "cleared", 10)],
    ),
    "a room is clear when its last detector is": Story(
        "{smoke = true} per room once until false",
        [
            smoke(0, True, "a", room="hall"),
            smoke(5, True, "b", room="hall"),
            smoke(10, False, "a", room="hall"),
            smoke(20, False, "b", room="hall"),
        ],
        HOUR,
        [(0, "arrival", 0), (20, "cleared", 20)],
    ),
    "an alarm after the end of another comes at once": Story(
        "{smoke = true} once until false at most every 10 min",
        [smoke(0, True), smoke(601, False), smoke(605, True)],
        HOUR,
        [(0, "arrival", 0), (601, "cleared", 601), (605, "arrival", 605)],
    ),
    "an alarm in the cool-down comes when it ends": Story(
        "{smoke = true} once until false at most every 10 min",
        [smoke(0, True), smoke(60, False), smoke(120, True)],
        HOUR,
        [(0, "arrival", 0), (60, "cleared", 60), (600, "arrival", 120)],
    ),
    "an alarm in the cool-down names the newest": Story(
        "{smoke = true} once until false at most every 10 min",
        [smoke(0, True), smoke(60, False), smoke(120, True), smoke(180, True)],
        HOUR,
        [(0, "arrival", 0), (60, "cleared", 60), (600, "arrival", 180)],
    ),
    "burnt toast in the cool-down wakes nobody": Story(
        "{smoke = true} once until false at most every 10 min",
        [smoke(0, True), smoke(60, False), smoke(120, True), smoke(150, False)],
        HOUR,
        [(0, "arrival", 0), (60, "cleared", 60)],
    ),
    "a deferred alarm begins a cool-down of its own": Story(
        "{smoke = true} once until false at most every 10 min",
        [smoke(0, True), smoke(60, False), smoke(120, True), smoke(700, False), smoke(710, True)],
        2 * HOUR,
        [
            (0, "arrival", 0),
            (60, "cleared", 60),
            (600, "arrival", 120),
            (700, "cleared", 700),
            (1_200, "arrival", 710),
        ],
    ),
    "the end of a deferred alarm is sent once it was sent": Story(
        "{smoke = true} once until false at most every 10 min",
        [smoke(0, True), smoke(60, False), smoke(120, True), smoke(900, False)],
        HOUR,
        [(0, "arrival", 0), (60, "cleared", 60), (600, "arrival", 120), (900, "cleared", 900)],
    ),
    "another room's cool-down is its own": Story(
        "{smoke = true} per room once until false at most every 10 min",
        [smoke(0, True, room="hall"), smoke(10, True, "attic", room="attic")],
        HOUR,
        [(0, "arrival", 0), (10, "arrival", 10)],
    ),
    # -- once until something -------------------------------------------------------------------
    "a freezer that thaws is told once until it is cold": Story(
        "{temperature > -10} once until {temperature < -15}",
        [freezer(0, -5), freezer(60, -12), freezer(120, -4), freezer(180, -16), freezer(240, -9)],
        HOUR,
        [(0, "arrival", 0), (180, "cleared", 180), (240, "arrival", 240)],
    ),
    "a list of readings, hot and cold, is hot": Story(
        "{temperature > 30} once until {temperature < 28}",
        [
            (0, "oven", {"temperature": [35, 20]}),
            (10, "oven", {"temperature": [35, 20]}),
            (20, "oven", {"temperature": 20}),
        ],
        HOUR,
        [(0, "arrival", 0), (20, "cleared", 20)],
    ),
    "a pump that fails in the cool-down is told after it": Story(
        "{pump = failed} once until {pump = running} at most every 1 h",
        [
            (0, "p", {"pump": "failed"}),
            (60, "p", {"pump": "running"}),
            (120, "p", {"pump": "failed"}),
        ],
        DAY,
        [(0, "arrival", 0), (60, "cleared", 60), (HOUR, "arrival", 120)],
    ),
    "a pump that recovered in the cool-down is not": Story(
        "{pump = failed} once until {pump = running} at most every 1 h",
        [
            (0, "p", {"pump": "failed"}),
            (60, "p", {"pump": "running"}),
            (120, "p", {"pump": "failed"}),
            (180, "p", {"pump": "running"}),
        ],
        DAY,
        [(0, "arrival", 0), (60, "cleared", 60)],
    ),
    "a button ends the alarm of its room": Story(
        "{leak = true} per room once until {button = pressed}",
        [
            water(0, True, room="bath"),
            (60, "button", {"button": "pressed", "room": "bath"}),
            water(120, True, room="bath"),
        ],
        HOUR,
        [(0, "arrival", 0), (60, "cleared", 60), (120, "arrival", 120)],
    ),
    # -- for ------------------------------------------------------------------------------------
    "a door that stands open is told after five minutes": Story(
        "{door = open} for 5 min", [door(0, "open")], HOUR, [(300, "held", 0)]
    ),
    "a door that is closed in time is not": Story(
        "{door = open} for 5 min", [door(0, "open"), door(299, "closed")], HOUR, []
    ),
    "a door that says open again is told once": Story(
        "{door = open} for 5 min",
        [door(0, "open"), door(100, "open"), door(400, "open")],
        HOUR,
        [(300, "held", 100)],
    ),
    "a door that stands open twice is told twice": Story(
        "{door = open} for 5 min",
        [door(0, "open"), door(400, "closed"), door(500, "open")],
        HOUR,
        [(300, "held", 0), (800, "held", 500)],
    ),
    "a door left open in the evening's cool-down is told in the night": Story(
        "{door = open} for 5 min at most every 1 h",
        [door(0, "open"), door(600, "closed"), door(1_200, "open")],
        DAY,
        [(300, "held", 0), (3_900, "held", 1_200)],
    ),
    "a door closed before the cool-down ends is not": Story(
        "{door = open} for 5 min at most every 1 h",
        [door(0, "open"), door(600, "closed"), door(1_200, "open"), door(3_000, "closed")],
        DAY,
        [(300, "held", 0)],
    ),
    "a gate that closes says so": Story(
        "{door = open} for 5 min once until false",
        [door(0, "open"), door(600, "closed"), door(700, "open"), door(800, "closed")],
        HOUR,
        [(300, "held", 0), (600, "cleared", 600)],
    ),
    "three doors of one room are one open room": Story(
        "{door = open} per room for 5 min",
        [
            door(0, "open", "a", room="hall"),
            door(200, "open", "b", room="hall"),
            door(250, "closed", "a", room="hall"),
        ],
        HOUR,
        [(300, "held", 200)],
    ),
    # -- absent ---------------------------------------------------------------------------------
    "a silent freezer is told and so is its return": Story(
        "{temperature exists} absent for 1 h",
        [freezer(0, -18), freezer(2 * HOUR, -18)],
        2 * HOUR + 60,
        [(HOUR, "absent", 0), (2 * HOUR, "returned", 2 * HOUR)],
    ),
    "a freezer that speaks in time is not missed": Story(
        "{temperature exists} absent for 1 h", [freezer(0, -18), freezer(HOUR - 1, -18)], 2 * HOUR - 2, []
    ),
    "a second silence in the cool-down is told after it": Story(
        "{temperature exists} absent for 1 h at most every 1 d",
        [freezer(0, -18), freezer(4_000, -18)],
        3 * DAY,
        [(HOUR, "absent", 0), (4_000, "returned", 4_000), (HOUR + DAY, "absent", 4_000)],
    ),
    "a silence that ended in the cool-down is not": Story(
        "{temperature exists} absent for 1 h at most every 1 d",
        [
            freezer(0, -18),
            freezer(4_000, -18),
            freezer(20_000, -18),
            *(freezer(h, -18) for h in range(20_000, 9 * DAY, 3_000)),
        ],
        9 * DAY,
        [(HOUR, "absent", 0), (4_000, "returned", 4_000)],
    ),
    # -- at most every --------------------------------------------------------------------------
    "motion is told at most every ten minutes, and the last is not lost": Story(
        "{motion = true} at most every 10 min",
        [(at, "yard", {"motion": True}) for at in (0, 100, 200, 300)],
        HOUR,
        [(0, "arrival", 0), (600, "arrival", 300)],
    ),
    "motion every minute is told every ten": Story(
        "{motion = true} at most every 10 min",
        [(at, "yard", {"motion": True}) for at in range(0, 1_200, 60)],
        HOUR,
        [(0, "arrival", 0), (600, "arrival", 540), (1_200, "arrival", 1_140)],
    ),
    "motion after the cool-down comes at once": Story(
        "{motion = true} at most every 10 min",
        [(0, "yard", {"motion": True}), (700, "yard", {"motion": True})],
        HOUR,
        [(0, "arrival", 0), (700, "arrival", 700)],
    ),
    # -- sources that are gone ------------------------------------------------------------------
    "a detector that died in the fire does not silence the room": Story(
        "{smoke = true} per room once until false",
        [smoke(0, True, "dead", room="hall"), smoke(2 * DAY, True, "other", room="hall")],
        3 * DAY,
        [(0, "arrival", 0), (2 * DAY, "arrival", 2 * DAY)],
    ),
    "a detector that is only quiet for an hour does": Story(
        "{smoke = true} per room once until false",
        [smoke(0, True, "a", room="hall"), smoke(HOUR, True, "b", room="hall")],
        2 * HOUR,
        [(0, "arrival", 0)],
    ),
    "stale may be an hour": Story(
        "{smoke = true} per room once until false stale 1 h",
        [smoke(0, True, "a", room="hall"), smoke(2 * HOUR, True, "b", room="hall")],
        3 * HOUR,
        [(0, "arrival", 0), (2 * HOUR, "arrival", 2 * HOUR)],
    ),
    "a dead detector is never called clear": Story(
        "{smoke = true} per room once until false",
        [smoke(0, True, "dead", room="hall"), smoke(3 * DAY, False, "other", room="hall")],
        9 * DAY,
        [(0, "arrival", 0)],
    ),
    "a dead window contact does not hide an open door": Story(
        "{door = open} per room for 5 min",
        [door(0, "open", "dead", room="hall"), door(2 * DAY, "open", "front", room="hall")],
        3 * DAY,
        [(300, "held", 0), (2 * DAY + 300, "held", 2 * DAY)],
    ),
    # -- clocks ---------------------------------------------------------------------------------
    "a leak by a clock that fell back is told a minute late": Story(
        "{leak = true} once until false",
        [water(0, False), water(100, True)],
        HOUR,
        [(160, "arrival", 100)],
        stated={100: 30 * 365 * DAY - START},
    ),
    "a logger that uploads its week wakes nobody": Story(
        "{leak = true} once until false",
        [water(0, False), *(water(10 + n, n % 3 == 0) for n in range(40))],
        HOUR,
        [],
        stated={10 + n: -8 * DAY + n * HOUR for n in range(40)},
    ),
    # -- withdrawn ------------------------------------------------------------------------------
    "a false alarm that is taken back in the cool-down is not sent": Story(
        "{leak = true} at most every 10 min",
        [water(0, True), water(60, True)],
        HOUR,
        [(0, "arrival", 0)],
        withdrawn=((120, 60),),
    ),
    "an all-clear that is taken back raises the alarm anew": Story(
        "{leak = true} once until false",
        [water(0, True), water(60, False)],
        HOUR,
        [(0, "arrival", 0), (60, "cleared", 60), (90, "arrival", 0)],
        withdrawn=((90, 60),),
    ),
}


def test_there_are_forty() -> None:
    assert len(STORIES) == 40


@pytest.mark.parametrize("engine", ["alerts", "naive"])
@pytest.mark.parametrize("name", STORIES)
def test_every_alarm_that_one_relies_on_is_sent(name: str, engine: str) -> None:
    story = STORIES[name]
    matcher = lw.Matcher(engines={"alert": engine})
    matcher.add(lw.parse(story.text, id="s"), at=START * S)
    steps: list[tuple[int, Said | int]] = [(said[0], said) for said in story.said]
    steps = sorted([*steps, *story.withdrawn, (story.until, -1)], key=lambda step: step[0])
    found: list[lw.Match] = []
    for at, said in steps:
        moment = (START + at) * S
        if isinstance(said, int):
            found += matcher.advance(moment)
            found += matcher.withdraw(f"e{said}") if said >= 0 else []
        else:
            own = START + story.stated.get(at, at)
            event = lw.event(said[2], source=said[1], id=f"e{at}", time=own * S)
            found += matcher.match(event, at=moment)
    sent = [
        (match.spoken.moment // S - START, match.cause, int(str(match.event_id)[1:]))
        for match in found
        if match.spoken is not None
    ]
    assert sent == story.sent

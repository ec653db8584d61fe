"""Alarms that a household, a building or a plant relies on, written from the documentation of the clauses alone.

Every story is one alert or several, what comes when, and each notification that must be sent: at which second, the
cause, the event that it names, and the facts that count. Nothing else may be sent. Times are seconds after a midnight
in UTC. `tests/matching/alerts/test_relied_on.py` runs the stories through a matcher, `tests/broker/alerts/relied_on.py`
through a broker.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import likewise as lw

SECOND: Final = 1_000_000
MIDNIGHT: Final = 20_500 * 86_400 * SECOND
MINUTE, HOUR, DAY = 60, 3_600, 86_400
YEAR_2000: Final = (946_684_800 * SECOND - MIDNIGHT) // SECOND  # as seconds of a story
YEARS: Final = 10 * 365 * DAY
ANY: Final = "*"  # the documentation leaves open which event is named


class Step(NamedTuple):
    """What happens at a second: an event, or a word with what it is about."""

    at: int
    word: str = ""  # "" is time that passes; else event, stop, kill, withdraw, subscribe, unsubscribe
    id: str = ""
    source: str = ""
    fields: Mapping[str, Any] = MappingProxyType({})
    own: int | None = None
    until: int = 0


class Sent(NamedTuple):
    """A notification that must be sent; a fact that is None may be anything."""

    at: int
    cause: str
    event: str
    alert: str = "a"
    key: tuple[str, ...] | None = None
    suppressed: int | None = None
    stale: tuple[str, ...] | None = None
    total: int | None = None


class Story(NamedTuple):
    """Alerts by name, what happens, and what must be sent."""

    alerts: dict[str, str]
    steps: list[Step]
    sent: list[Sent]
    lateness: int = 0
    broker_only: bool = False


def comes(at: int, id: str, source: str, own: int | None = None, /, **fields: Any) -> Step:
    return Step(at, "event", id, source, {name.rstrip("_"): value for name, value in fields.items()}, own)


def passes(*at: int) -> list[Step]:
    return [Step(each) for each in at]


def kill(at: int, until: int) -> Step:
    return Step(at, "kill", until=until)


def stop(at: int, until: int) -> Step:
    return Step(at, "stop", until=until)


def withdraw(at: int, id: str, source: str) -> Step:
    return Step(at, "withdraw", id, source)


def _ordered(*parts: Step | list[Step]) -> list[Step]:
    steps = [step for part in parts for step in (part if isinstance(part, list) else [part])]
    return sorted(steps, key=lambda step: step.at)


def story(alerts: str | dict[str, str], *parts: Step | list[Step], sent: list[Sent], **more: Any) -> Story:
    named = {"a": alerts} if isinstance(alerts, str) else alerts
    steps = _ordered(*parts)
    end = max([step.at for step in steps] + [each.at for each in sent])
    due = sorted({each.at for each in sent} - {step.at for step in steps})
    return Story(named, _ordered(steps, passes(*due), passes(end + 1)), sent, **more)


SMOKE = "{smoke = true} once until false"
STORIES: Final[dict[str, Story]] = {
    # -- once, cool-down -----------------------------------------------------------------------------------------
    "smoke is announced once, and again after it ended": story(
        SMOKE,
        comes(0, "e1", "attic", smoke=True),
        comes(10, "e2", "attic", smoke=True),
        comes(30, "b1", "attic", battery=80),
        comes(60, "e3", "attic", smoke=False),
        comes(70, "e4", "attic", smoke=True),
        sent=[
            Sent(0, "arrival", "e1", key=("attic",), suppressed=0),
            Sent(60, "cleared", "e3", key=("attic",)),
            Sent(70, "arrival", "e4"),
        ],
    ),
    "two smoke detectors alarm each for itself": story(
        SMOKE + " at most every 10 min",
        comes(0, "e1", "attic", smoke=True),
        comes(5, "e2", "cellar", smoke=True),
        comes(9, "e3", "attic", smoke=False),
        comes(12, "e4", "attic", smoke=True),
        sent=[
            Sent(0, "arrival", "e1", key=("attic",)),
            Sent(5, "arrival", "e2", key=("cellar",)),
            Sent(9, "cleared", "e3", key=("attic",)),
            Sent(600, "arrival", "e4", key=("attic",)),
        ],
    ),
    "smoke that is back in the cool-down is announced at its end": story(
        SMOKE + " at most every 10 min",
        comes(0, "e1", "attic", smoke=True),
        comes(60, "e2", "attic", smoke=False),
        comes(120, "e3", "attic", smoke=True),
        comes(1260, "e4", "attic", smoke=False),
        comes(1320, "e5", "attic", smoke=True),
        sent=[
            Sent(0, "arrival", "e1"),
            Sent(60, "cleared", "e2"),
            Sent(600, "arrival", "e3", suppressed=0),
            Sent(1260, "cleared", "e4"),
            Sent(1320, "arrival", "e5"),
        ],
    ),
    "smoke that begins a second after the cool-down is announced at once": story(
        SMOKE + " at most every 10 min",
        comes(0, "e1", "attic", smoke=True),
        comes(601, "e2", "attic", smoke=False),
        comes(605, "e3", "attic", smoke=True),
        sent=[Sent(0, "arrival", "e1"), Sent(601, "cleared", "e2"), Sent(605, "arrival", "e3")],
    ),
    "smoke that flickers in the cool-down is counted, not sent": story(
        SMOKE + " at most every 10 min",
        comes(0, "e1", "attic", smoke=True),
        comes(60, "e2", "attic", smoke=False),
        comes(120, "e3", "attic", smoke=True),
        comes(180, "e4", "attic", smoke=False),
        comes(240, "e5", "attic", smoke=True),
        comes(300, "e6", "attic", smoke=False),
        passes(600),
        comes(700, "e7", "attic", smoke=True),
        sent=[
            Sent(0, "arrival", "e1"),
            Sent(60, "cleared", "e2"),
            Sent(700, "arrival", "e7", suppressed=2),
        ],
    ),
    "reports of water come every ten minutes with their count": story(
        "{water_leak = true} at most every 10 min",
        [comes(60 * n, f"e{n}", "kitchen", water_leak=True) for n in range(10)],
        comes(1300, "late", "kitchen", water_leak=True),
        sent=[
            Sent(0, "arrival", "e0", suppressed=0),
            Sent(600, "arrival", "e9", suppressed=8),
            Sent(1300, "arrival", "late", suppressed=0),
        ],
    ),
    "a deferred alarm begins a cool-down of its own": story(
        "{motion = true} at most every 5 min",
        comes(0, "e1", "hall", motion=True),
        comes(100, "e2", "hall", motion=True),
        comes(301, "e3", "hall", motion=True),
        comes(599, "e4", "hall", motion=True),
        sent=[
            Sent(0, "arrival", "e1"),
            Sent(300, "arrival", "e2", suppressed=0),
            Sent(600, "arrival", "e4", suppressed=1),
        ],
    ),
    # -- for -----------------------------------------------------------------------------------------------------
    "a door left open is announced after five minutes, and when it is closed": story(
        "{door = open} for 5 min once until false",
        comes(0, "e1", "hall", door="open"),
        comes(240, "b1", "hall", battery=80),
        comes(540, "e2", "hall", door="open"),
        comes(600, "e3", "hall", door="closed"),
        sent=[Sent(300, "held", "e1"), Sent(600, "cleared", "e3")],
    ),
    "a door opened for a moment again and again is no alarm": story(
        "{door = open} for 5 min",
        [comes(240 * n, f"o{n}", "hall", door="open") for n in range(5)],
        [comes(240 * n + 200, f"c{n}", "hall", door="closed") for n in range(5)],
        passes(3_000),
        sent=[],
    ),
    "a door that stands open all night is announced after the cool-down of the evening": story(
        "{door = open} for 5 min at most every 1 h",
        comes(0, "e1", "hall", door="open"),
        comes(600, "e2", "hall", door="closed"),
        comes(1_200, "e3", "hall", door="open"),
        passes(1_500, 9 * HOUR),
        comes(9 * HOUR + 60, "e4", "hall", door="closed"),
        comes(9 * HOUR + 120, "e5", "hall", door="open"),
        sent=[
            Sent(300, "held", "e1"),
            Sent(3_900, "held", "e3", suppressed=0),
            Sent(9 * HOUR + 420, "held", "e5"),
        ],
    ),
    "a door that closed before the cool-down ended is counted in the next alarm": story(
        "{door = open} for 5 min at most every 1 h",
        comes(0, "e1", "hall", door="open"),
        comes(600, "e2", "hall", door="closed"),
        comes(1_200, "e3", "hall", door="open"),
        comes(3_000, "e4", "hall", door="closed"),
        passes(3_900),
        comes(4_000, "e5", "hall", door="open"),
        sent=[Sent(300, "held", "e1"), Sent(4_300, "held", "e5", suppressed=1)],
    ),
    "the end of a door that was announced is sent in the cool-down, and the next night is deferred": story(
        "{door = open} for 5 min once until false at most every 1 h",
        comes(0, "e1", "hall", door="open"),
        comes(400, "e2", "hall", door="closed"),
        comes(500, "e3", "hall", door="open"),
        comes(3_000, "e4", "hall", door="closed"),
        comes(3_200, "e5", "hall", door="open"),
        comes(5_000, "e6", "hall", door="closed"),
        sent=[
            Sent(300, "held", "e1"),
            Sent(400, "cleared", "e2"),
            Sent(3_900, "held", "e5", suppressed=1),
            Sent(5_000, "cleared", "e6"),
        ],
    ),
    "a freezer that warms up is announced once until it is cold": story(
        "{temperature > -15 degC} for 15 min once until {temperature < -17 degC}",
        comes(0, "e1", "freezer", temperature=-10),
        comes(600, "e2", "freezer", temperature=-12),
        comes(1_000, "e3", "freezer", temperature=-16),
        comes(1_100, "e4", "freezer", temperature=-14),
        passes(2_050),
        comes(2_100, "e5", "freezer", temperature=-18),
        comes(2_200, "e6", "freezer", temperature=-10),
        sent=[
            Sent(900, "held", "e2"),
            Sent(2_100, "cleared", "e5"),
            Sent(3_100, "held", "e6"),
        ],
    ),
    "a pump that loses pressure for a minute is announced whatever its unit": story(
        "{pressure < 2 bar} for 1 min once until false",
        comes(0, "e1", "pump", pressure={"value": 150, "unit": "kPa"}),
        comes(30, "e2", "pump", pressure={"value": 2.5, "unit": "bar"}),
        comes(60, "e3", "pump", pressure={"value": 1.5, "unit": "bar"}),
        comes(200, "e4", "pump", pressure={"value": 300, "unit": "kPa"}),
        sent=[Sent(120, "held", "e3"), Sent(200, "cleared", "e4")],
    ),
    "a washing machine is done once": story(
        "{power < 5 W} for 3 min once until {power > 50 W}",
        comes(0, "e1", "washer", power=400),
        comes(HOUR, "e2", "washer", power=2),
        comes(4_200, "e3", "washer", power=20),
        comes(4_260, "e4", "washer", power=1),
        passes(4_500),
        comes(5_400, "e5", "washer", power=300),
        sent=[Sent(HOUR + 180, "held", "e2"), Sent(5_400, "cleared", "e5")],
    ),
    # -- clear conditions ----------------------------------------------------------------------------------------
    "too warm is announced once between its two bounds": story(
        "{temperature > 30} once until {temperature < 28}",
        comes(0, "e1", "roof", temperature=31),
        comes(60, "e2", "roof", temperature=29),
        comes(120, "e3", "roof", temperature=32),
        comes(180, "e4", "roof", temperature=27),
        comes(200, "e5", "roof", temperature=29),
        comes(240, "e6", "roof", temperature=30.5),
        sent=[Sent(0, "arrival", "e1"), Sent(180, "cleared", "e4"), Sent(240, "arrival", "e6")],
    ),
    "a list that is too warm and cool enough at once does not flap": story(
        "{temperature > 30} once until {temperature < 28}",
        comes(0, "e1", "roof", temperature=[35, 20]),
        comes(60, "e2", "roof", temperature=[35, 20]),
        comes(120, "e3", "roof", temperature=[20]),
        sent=[Sent(0, "arrival", "e1"), Sent(120, "cleared", "e3")],
    ),
    "a list that is too warm and cool enough does not end a run": story(
        "{temperature > 30} for 5 min once until {temperature < 28}",
        comes(0, "e1", "roof", temperature=[35, 20]),
        comes(200, "e2", "roof", temperature=[36, 21]),
        comes(400, "e3", "roof", temperature=[35, 20]),
        comes(500, "e4", "roof", temperature=27),
        sent=[Sent(300, "held", "e2"), Sent(500, "cleared", "e4")],
    ),
    "too warm again in the cool-down names the newest reading": story(
        "{temperature > 30} once until {temperature < 28} at most every 1 h",
        comes(0, "e1", "roof", temperature=31),
        comes(600, "e2", "roof", temperature=27),
        comes(1_200, "e3", "roof", temperature=31),
        comes(2_000, "e4", "roof", temperature=32),
        comes(4_000, "e5", "roof", temperature=27),
        comes(4_100, "e6", "roof", temperature=31),
        comes(5_000, "e7", "roof", temperature=27),
        passes(7_200),
        comes(8_000, "e8", "roof", temperature=31),
        sent=[
            Sent(0, "arrival", "e1"),
            Sent(600, "cleared", "e2"),
            Sent(3_600, "arrival", "e4", suppressed=0),
            Sent(4_000, "cleared", "e5"),
            Sent(8_000, "arrival", "e8", suppressed=1),
        ],
    ),
    # -- silence -------------------------------------------------------------------------------------------------
    "a freezer's sensor that falls silent is missed, and is back": story(
        "{temperature exists} absent for 1 h",
        comes(0, "e1", "freezer", temperature=-18),
        comes(3_000, "e2", "freezer", temperature=-18),
        comes(3_500, "b1", "freezer", battery=3),
        comes(7_200, "e3", "freezer", temperature=-17),
        sent=[Sent(6_600, "absent", "e2"), Sent(7_200, "returned", "e3")],
    ),
    "the second silence of a day is announced when the day is over": story(
        "{temperature exists} absent for 1 h at most every 1 d",
        comes(0, "e1", "freezer", temperature=-18),
        comes(4_000, "e2", "freezer", temperature=-18),
        passes(7_600),
        comes(95_000, "e3", "freezer", temperature=-18),
        sent=[
            Sent(3_600, "absent", "e1"),
            Sent(4_000, "returned", "e2"),
            Sent(90_000, "absent", "e2", suppressed=0),
            Sent(95_000, "returned", "e3"),
            Sent(176_400, "absent", "e3"),
        ],
    ),
    "a silence that ended in the cool-down is counted in the next": story(
        "{temperature exists} absent for 1 h at most every 1 d",
        comes(0, "e1", "freezer", temperature=-18),
        comes(4_000, "e2", "freezer", temperature=-18),
        comes(50_000, "e3", "freezer", temperature=-18),
        passes(53_600),
        sent=[
            Sent(3_600, "absent", "e1"),
            Sent(4_000, "returned", "e2"),
            Sent(90_000, "absent", "e3", suppressed=1),
        ],
    ),
    "a sensor with a wrong clock that reports is not silent": story(
        "{temperature exists} absent for 1 h",
        comes(0, "e1", "freezer", 0, temperature=-18),
        comes(3_000, "e2", "freezer", YEAR_2000, temperature=-18),
        comes(6_000, "e3", "freezer", YEAR_2000 + 3_000, temperature=-18),
        sent=[Sent(9_600, "absent", "e3")],
    ),
    # -- several sources on a key --------------------------------------------------------------------------------
    "water in a room is announced once, and ends when every sensor is dry": story(
        "{water_leak = true} per room once until false",
        comes(0, "e1", "s1", water_leak=True, room="kitchen"),
        comes(10, "e2", "s2", water_leak=True, room="kitchen"),
        comes(60, "e3", "s1", water_leak=False, room="kitchen"),
        comes(100, "e4", "s2", water_leak=False, room="kitchen"),
        comes(110, "e5", "s3", water_leak=True, room="bath"),
        comes(120, "e6", "s4", water_leak=True),
        sent=[
            Sent(0, "arrival", "e1", key=("kitchen",), stale=()),
            Sent(100, "cleared", "e4", key=("kitchen",)),
            Sent(110, "arrival", "e5", key=("bath",)),
        ],
    ),
    "a detector that died while it alarmed does not silence its room": story(
        "{smoke = true} per room once until false",
        comes(0, "e1", "s1", smoke=True, room="attic"),
        comes(25 * HOUR, "e2", "s2", smoke=True, room="attic"),
        comes(25 * HOUR + 100, "e3", "s2", smoke=False, room="attic"),
        comes(26 * HOUR, "e4", "s2", smoke=True, room="attic"),
        comes(26 * HOUR + 60, "e5", "s2", smoke=False, room="attic"),
        comes(27 * HOUR, "e6", "s1", smoke=False, room="attic"),
        comes(28 * HOUR, "e7", "s2", smoke=True, room="attic"),
        sent=[
            Sent(0, "arrival", "e1", stale=()),
            Sent(25 * HOUR, "arrival", "e2", stale=("s1",)),
            Sent(26 * HOUR, "arrival", "e4", stale=("s1",)),
            Sent(27 * HOUR, "cleared", "e6"),
            Sent(28 * HOUR, "arrival", "e7", stale=()),
        ],
    ),
    "a detector that still reports smoke keeps the room's alarm one alarm": story(
        "{smoke = true} per room once until false",
        comes(0, "e1", "s1", smoke=True, room="attic"),
        comes(12 * HOUR, "e2", "s1", smoke=True, room="attic"),
        comes(25 * HOUR, "e3", "s2", smoke=True, room="attic"),
        comes(26 * HOUR, "e4", "s2", smoke=False, room="attic"),
        comes(27 * HOUR, "e5", "s1", smoke=False, room="attic"),
        sent=[Sent(0, "arrival", "e1"), Sent(27 * HOUR, "cleared", "e5")],
    ),
    "a door contact that died open does not keep the second door from its alarm": story(
        "{door = open} per room for 5 min stale 12 h",
        comes(0, "e1", "s1", door="open", room="hall"),
        comes(50_000, "e2", "s2", door="open", room="hall"),
        sent=[
            Sent(300, "held", "e1", key=("hall",), stale=()),
            Sent(50_300, "held", "e2", key=("hall",), stale=("s1",)),
        ],
    ),
    "stale air of a room with two sensors is one alarm, deferred with the newest reading": story(
        "{co2 > 1000} per room for 10 min at most every 1 h",
        comes(0, "e1", "s1", co2=1200, room="112"),
        comes(300, "e2", "s2", co2=1100, room="112"),
        comes(700, "e3", "s1", co2=800, room="112"),
        comes(800, "e4", "s2", co2=800, room="112"),
        comes(1_000, "e5", "s1", co2=1500, room="112"),
        comes(4_000, "e6", "s2", co2=1500, room="112"),
        sent=[Sent(600, "held", "e2"), Sent(4_200, "held", "e6", suppressed=0)],
    ),
    "rooms are told apart by two attributes": story(
        "{door = open} per building, room once until false",
        comes(0, "e1", "s1", door="open", building="a", room="1"),
        comes(1, "e2", "s1", door="open", building="B", room="1"),
        comes(2, "e3", "s1", door="closed", building="B", room="1"),
        sent=[
            Sent(0, "arrival", "e1", key=("a", "1")),
            Sent(1, "arrival", "e2", key=("b", "1")),
            Sent(2, "cleared", "e3", key=("b", "1")),
        ],
    ),
    # -- clocks --------------------------------------------------------------------------------------------------
    "a smoke detector whose clock fell back to 2000 alarms a minute late": story(
        SMOKE,
        comes(0, "b1", "attic", 0, battery=90),
        comes(HOUR, "e1", "attic", YEAR_2000, smoke=True),
        comes(HOUR + 400, "e2", "attic", HOUR + 400, smoke=False),
        sent=[Sent(HOUR + 60, "arrival", "e1"), Sent(HOUR + 400, "cleared", "e2")],
    ),
    "a smoke detector whose clock fell back and that repeats itself alarms": story(
        SMOKE,
        comes(0, "b1", "attic", 0, battery=90),
        [comes(HOUR + 10 * n, f"e{n}", "attic", YEAR_2000 + 10 * n, smoke=True) for n in range(12)],
        comes(HOUR + 400, "end", "attic", HOUR + 400, smoke=False),
        sent=[Sent(HOUR + 60, "arrival", ANY), Sent(HOUR + 400, "cleared", "end")],
    ),
    "a delayed message does not silence a device with a wrong clock that goes on sending": story(
        SMOKE,
        comes(0, "b0", "attic", 0, smoke=False),
        [comes(10 * n, f"b{n}", "attic", YEAR_2000 + 10 * n, battery=80) for n in range(1, 5)],
        comes(58, "b5", "attic", YEAR_2000 + 50, battery=80),
        [comes(10 * n, f"b{n}", "attic", YEAR_2000 + 10 * n, battery=80) for n in range(6, 30)],
        [comes(10 * n, f"s{n}", "attic", YEAR_2000 + 10 * n, smoke=True) for n in range(30, 40)],
        passes(400),
        sent=[Sent(360, "arrival", "s30")],
    ),
    "a logger that uploads what it measured ten times a second raises no alarm": story(
        "{vibration > 30} once until false",
        comes(0, "e0", "logger", 0, vibration=20),
        [comes(1_000 + n // 100, f"u{n}", "logger", -3 * DAY + n // 10, vibration=35) for n in range(700)],
        passes(1_100),
        sent=[],
    ),
    "a smoke detector that never had a clock alarms at once": story(
        SMOKE,
        comes(0, "e1", "attic", YEAR_2000, smoke=True),
        comes(60, "e2", "attic", YEAR_2000 + 60, smoke=False),
        comes(100, "e3", "attic", YEAR_2000 + 100, smoke=True),
        sent=[Sent(0, "arrival", "e1"), Sent(60, "cleared", "e2"), Sent(100, "arrival", "e3")],
    ),
    "a clock ten years ahead that is set right loses no alarm and no end": story(
        SMOKE,
        comes(0, "e1", "attic", YEARS, smoke=True),
        comes(60, "e2", "attic", 60, smoke=False),
        comes(120, "e3", "attic", 120, smoke=True),
        sent=[Sent(0, "arrival", "e1"), Sent(60, "cleared", "e2"), Sent(120, "arrival", "e3")],
    ),
    "a door contact whose clock fell back is announced five minutes after it opened": story(
        "{door = open} for 5 min",
        comes(0, "e1", "hall", 0, door="closed"),
        comes(1_000, "e2", "hall", YEAR_2000, door="open"),
        comes(2_000, "e3", "hall", 2_000, door="closed"),
        sent=[Sent(1_300, "held", "e2")],
    ),
    "smoke with a wrong clock and its end with a right one are both sent": story(
        SMOKE,
        comes(0, "e1", "attic", 0, smoke=False),
        comes(100, "e2", "attic", YEAR_2000, smoke=True),
        comes(110, "e3", "attic", 110, smoke=False),
        sent=[Sent(110, "arrival", "e2"), Sent(110, "cleared", "e3")],
    ),
    "a logger that uploads a week raises no alarm, and its next one does": story(
        "{temperature > 30} once until false",
        comes(0, "e0", "logger", 0, temperature=20),
        [comes(1_000 + n, f"u{n}", "logger", (n - 8) * DAY, temperature=35 if n % 2 else 20) for n in range(7)],
        comes(1_200, "e1", "logger", 1_200, temperature=33),
        sent=[Sent(1_200, "arrival", "e1")],
    ),
    "an upload of quiet days does not end an alarm that stands": story(
        SMOKE,
        comes(0, "e1", "attic", 0, smoke=True),
        [comes(1_000 + n, f"u{n}", "attic", (n - 6) * DAY, smoke=False) for n in range(5)],
        comes(2_000, "e2", "attic", 2_000, smoke=False),
        sent=[Sent(0, "arrival", "e1"), Sent(2_000, "cleared", "e2")],
    ),
    "a device that was cut off raises the alarm of that time when it is back": story(
        "{temperature > 30} for 10 min",
        comes(0, "e1", "roof", 0, temperature=20),
        comes(7_200, "e2", "roof", 1_000, temperature=35),
        comes(7_201, "e3", "roof", 2_000, temperature=35),
        comes(7_202, "e4", "roof", 3_000, temperature=20),
        sent=[Sent(7_200, "held", "e2")],
    ),
    "readings out of order are taken in the order of their times": story(
        "{door = open} once until false",
        comes(0, "e1", "hall", 0, door="open"),
        comes(8, "e2", "hall", 8, door="closed"),
        comes(9, "e3", "hall", 6, door="open"),
        comes(30, "e4", "hall", 30, door="open"),
        sent=[Sent(10, "arrival", "e1"), Sent(18, "cleared", "e2"), Sent(40, "arrival", "e4")],
        lateness=10,
    ),
    # -- digests -------------------------------------------------------------------------------------------------
    "batteries to buy come once a day, and on a day without any nothing": story(
        "{battery < 20 %} digest every 1 d",
        comes(HOUR, "e1", "d1", battery=12),
        comes(2 * HOUR, "e2", "d2", battery=19),
        comes(3 * HOUR, "e3", "d3", battery=70),
        comes(80_000, "e4", "d1", battery=11),
        passes(2 * DAY),
        comes(200_000, "e5", "d1", battery=10),
        sent=[Sent(DAY, "digest", ANY, total=3), Sent(3 * DAY, "digest", ANY, total=1)],
    ),
    "a digest of alarms has each alarm and its end once": story(
        "{battery < 20 %} once until false digest every 1 d",
        comes(HOUR, "e1", "d1", battery=12),
        comes(2 * HOUR, "e2", "d1", battery=11),
        comes(3 * HOUR, "e3", "d1", battery=90),
        sent=[Sent(DAY, "digest", ANY, total=2)],
    ),
    # -- restarts ------------------------------------------------------------------------------------------------
    "a door that stays open over a restart is announced in time": story(
        "{door = open} for 5 min",
        comes(0, "e1", "hall", door="open"),
        stop(100, 200),
        sent=[Sent(300, "held", "e1")],
    ),
    "a door that came due while the broker was off is announced when it is back, once": story(
        "{door = open} for 5 min once until false",
        comes(0, "e1", "hall", door="open"),
        kill(200, 1_000),
        kill(1_100, 1_200),
        comes(2_000, "e2", "hall", door="closed"),
        sent=[Sent(1_000, "held", "e1"), Sent(2_000, "cleared", "e2")],
    ),
    "a cool-down that ended while the broker was off sends its alarm at the start": story(
        SMOKE + " at most every 10 min",
        comes(0, "e1", "attic", smoke=True),
        comes(60, "e2", "attic", smoke=False),
        comes(120, "e3", "attic", smoke=True),
        kill(300, 900),
        stop(950, 960),
        comes(1_000, "e4", "attic", smoke=False),
        sent=[
            Sent(0, "arrival", "e1"),
            Sent(60, "cleared", "e2"),
            Sent(900, "arrival", "e3"),
            Sent(1_000, "cleared", "e4"),
        ],
    ),
    "smoke with a wrong clock alarms though the broker died in the minute it waits": story(
        SMOKE,
        comes(0, "e1", "attic", 0, smoke=False),
        comes(100, "e2", "attic", YEAR_2000, smoke=True),
        kill(120, 130),
        comes(500, "e3", "attic", 500, smoke=False),
        sent=[Sent(160, "arrival", "e2"), Sent(500, "cleared", "e3")],
    ),
    "an upload over a restart raises no alarm": story(
        SMOKE,
        comes(0, "e1", "attic", 0, smoke=False),
        comes(100, "u1", "attic", -3 * DAY, smoke=True),
        kill(110, 120),
        comes(125, "u2", "attic", -2 * DAY, smoke=True),
        passes(300),
        comes(400, "e2", "attic", 400, smoke=False),
        sent=[],
    ),
    "a digest is whole though the broker was killed on its day": story(
        "{error exists} digest every 1 d",
        comes(HOUR, "e1", "m1", error="jam"),
        kill(2 * HOUR, 2 * HOUR + 10),
        comes(5 * HOUR, "e2", "m2", error="door"),
        stop(DAY - 10, DAY + 50),
        sent=[Sent(DAY + 50, "digest", ANY, total=2)],
    ),
    "a room's stale detector is remembered over a restart": story(
        "{smoke = true} per room once until false",
        comes(0, "e1", "s1", smoke=True, room="attic"),
        kill(HOUR, HOUR + 5),
        comes(25 * HOUR, "e2", "s2", smoke=True, room="attic"),
        sent=[Sent(0, "arrival", "e1", stale=()), Sent(25 * HOUR, "arrival", "e2", stale=("s1",))],
    ),
    # -- withdrawal, unsubscribe, validity -----------------------------------------------------------------------
    "a withdrawn report is not named by the deferred alarm": story(
        "{smoke = true} at most every 10 min",
        comes(0, "e1", "attic", smoke=True),
        comes(100, "e2", "attic", smoke=True),
        comes(200, "e3", "attic", smoke=True),
        withdraw(250, "e3", "attic"),
        comes(700, "e4", "attic", smoke=True),
        withdraw(800, "e4", "attic"),
        passes(1_200),
        sent=[Sent(0, "arrival", "e1"), Sent(600, "arrival", "e2", suppressed=0)],
    ),
    "an alarm whose only report is withdrawn is ended": story(
        SMOKE,
        comes(0, "e1", "attic", smoke=True),
        withdraw(60, "e1", "attic"),
        comes(100, "e2", "attic", smoke=True),
        sent=[Sent(0, "arrival", "e1"), Sent(60, "cleared", ANY), Sent(100, "arrival", "e2")],
    ),
    "an alarm whose end is withdrawn is raised anew": story(
        SMOKE,
        comes(0, "e1", "attic", smoke=True),
        comes(60, "e2", "attic", smoke=False),
        withdraw(100, "e2", "attic"),
        comes(200, "e3", "attic", smoke=False),
        sent=[
            Sent(0, "arrival", "e1"),
            Sent(60, "cleared", "e2"),
            Sent(100, "arrival", "e1"),
            Sent(200, "cleared", "e3"),
        ],
    ),
    "a door whose opening was withdrawn is not announced": story(
        "{door = open} for 5 min",
        comes(0, "e1", "hall", door="open"),
        withdraw(100, "e1", "hall"),
        passes(600),
        sent=[],
    ),
    "an alert that was ended sends nothing that was deferred": story(
        {"a": SMOKE + " at most every 10 min", "b": "{smoke = true} at most every 10 min"},
        comes(0, "e1", "attic", smoke=True),
        comes(60, "e2", "attic", smoke=False),
        comes(90, "e3", "attic", smoke=True),
        Step(100, "unsubscribe", "a"),
        passes(600),
        sent=[
            Sent(0, "arrival", "e1", "a"),
            Sent(0, "arrival", "e1", "b"),
            Sent(60, "cleared", "e2", "a"),
            Sent(600, "arrival", "e3", "b", suppressed=0),
        ],
    ),
    "an alert whose validity ended sends nothing that was deferred": story(
        {"a": "{smoke = true} at most every 10 min valid for 5 min", "b": "{door = open} for 10 min valid for 5 min"},
        comes(0, "e1", "attic", smoke=True),
        comes(1, "d1", "attic", door="open"),
        comes(60, "e2", "attic", smoke=True),
        passes(301, 600, 700),
        sent=[Sent(0, "arrival", "e1", "a")],
    ),
    # -- several alerts, and what is about none ------------------------------------------------------------------
    "alerts on one attribute do not disturb each other": story(
        {
            "now": "{temperature > 30} once until false",
            "long": "{temperature > 30} for 10 min",
            "gone": "{temperature exists} absent for 30 min",
            "low": "{temperature < 5} once until false",
        },
        comes(0, "e1", "roof", temperature=31),
        comes(300, "e2", "roof", temperature=32),
        comes(900, "e3", "roof", temperature=3),
        comes(1_000, "e4", "roof", temperature=10),
        sent=[
            Sent(0, "arrival", "e1", "now"),
            Sent(600, "held", "e2", "long"),
            Sent(900, "cleared", "e3", "now"),
            Sent(900, "arrival", "e3", "low"),
            Sent(1_000, "cleared", "e4", "low"),
            Sent(2_800, "absent", "e4", "gone"),
        ],
    ),
    "the house being at home ends an alarm of the house being away": story(
        "{door = open, not mode = home} for 1 min once until false",
        comes(0, "e1", "hall", door="open", mode="home"),
        comes(100, "e2", "hall", door="open", mode="away"),
        comes(200, "e3", "hall", door="open", mode="home"),
        comes(300, "e4", "hall", door="open"),
        sent=[Sent(160, "held", "e2"), Sent(200, "cleared", "e3"), Sent(360, "held", "e4")],
    ),
    "events without a source share one alarm": story(
        SMOKE,
        comes(0, "e1", "", smoke=True),
        comes(10, "e2", "", smoke=True),
        comes(20, "e3", "", smoke=False),
        sent=[Sent(0, "arrival", "e1"), Sent(20, "cleared", "e3")],
    ),
    # -- a broker alone ------------------------------------------------------------------------------------------
    "an outage of the broker is not the silence of a sensor": story(
        "{temperature exists} absent for 1 h",
        comes(0, "e1", "freezer", temperature=-18),
        kill(1_800, 9_000),
        passes(10_700),
        sent=[Sent(10_802, "absent", "e1")],
        broker_only=True,
    ),
    "a door that was open before the alert was made is announced when it lasts": story(
        {},
        comes(0, "e1", "hall", door="open"),
        comes(1, "w1", "yard", door="open"),
        Step(100, "subscribe", "a", fields={"text": "{door = open} for 5 min once until false"}),
        comes(400, "e2", "hall", door="closed"),
        Step(500, "subscribe", "late", fields={"text": "{door = open} for 5 min once until false"}),
        comes(600, "w2", "yard", door="closed"),
        comes(700, "w3", "yard", door="open"),
        sent=[
            Sent(300, "held", "e1", "a"),
            Sent(301, "held", "w1", "a"),
            Sent(400, "cleared", "e2", "a"),
            Sent(600, "cleared", "w2", "a"),
            Sent(1_000, "held", "w3", "a"),
            Sent(1_000, "held", "w3", "late"),
        ],
        broker_only=True,
    ),
}


def event_of(step: Step) -> lw.Event:
    """Return the event of a step, as the matcher takes it."""
    own = None if step.own is None else MIDNIGHT + step.own * SECOND
    return lw.event(step.fields, id=step.id, source=step.source or None, time=own)


def run(told: Story) -> list[Sent]:
    """Run a story through a matcher, which is saved and loaded where the story stops or kills."""
    matcher = lw.Matcher(lateness=told.lateness * SECOND)
    for name, text in told.alerts.items():
        matcher.add(lw.parse(text, id=name), at=MIDNIGHT)
    sent: list[Sent] = []
    now = 0

    def note(matches: Any) -> None:
        for match in matches:
            facts = match.spoken
            assert facts is not None
            total = getattr(facts, "total", None) if match.cause == "digest" else None
            stale = tuple(facts.stale)
            sent.append(
                Sent(now, match.cause, match.event_id, match.subscription_id, facts.key, facts.suppressed, stale, total)
            )

    for step in told.steps:
        now = step.at
        moment = MIDNIGHT + now * SECOND
        note(matcher.advance(moment))
        if step.word == "event":
            note(matcher.match(event_of(step), at=moment))
        elif step.word == "withdraw":
            note(matcher.withdraw(step.id))
        elif step.word == "unsubscribe":
            matcher.remove(step.id)
        elif step.word in ("kill", "stop"):
            with tempfile.TemporaryDirectory() as folder:
                matcher.save(Path(folder) / "saved")
                matcher = lw.Matcher.load(Path(folder) / "saved")
            now = step.until
            note(matcher.advance(MIDNIGHT + now * SECOND))
        note(matcher.advance(moment if step.word not in ("kill", "stop") else MIDNIGHT + now * SECOND))
    return sent


def differences(sent: list[Sent], expected: list[Sent]) -> Iterator[str]:
    """Say what was sent otherwise than a story promises; within one second the order does not count."""

    def order(each: Sent) -> tuple[int, str, str]:
        return each.at, each.alert, {"arrival": "0", "cleared": "1"}.get(each.cause, each.cause)

    ours, theirs = sorted(sent, key=order), sorted(expected, key=order)
    for index in range(max(len(ours), len(theirs))):
        got = ours[index] if index < len(ours) else None
        wanted = theirs[index] if index < len(theirs) else None
        if got is None or wanted is None:
            yield f"got {got}, wanted {wanted}"
            continue
        for name, value in wanted._asdict().items():
            if value is not None and value != ANY and getattr(got, name) != value:
                yield f"{name}: got {got}, wanted {wanted}"
                break

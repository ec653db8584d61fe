"""Alarms that somebody relies on, each as a script that people can read, for the matcher and for the broker.

A line is a time, a source and what it reports: `12:02 kitchen smoke=true`. `-` is no source, `@11:58` the time that the
event states, and `1d 12:02` the next day. `restart` stops and starts again, `restart 12:30` at that time only;
`withdraw 12:02 kitchen` takes an event back; `end` is the last moment. What must be sent is a time, the cause, and the
event that is named.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import likewise as lw

SECOND = 1_000_000
START = 20_000 * 86_400 * SECOND  # midnight, long after 1970
TIME = re.compile(r"(?:(?P<days>-?\d+)d )?(?P<hours>\d\d):(?P<minutes>\d\d)(?::(?P<seconds>\d\d))? ")


class Step(NamedTuple):
    """A moment (µs), an event or a word (`restart`, `withdraw`, `end`), and what the word is about."""

    at: int
    event: lw.Event | None = None
    word: str = ""
    id: str = ""
    until: int | None = None


class Story(NamedTuple):
    """A subscription, what happens, and what must be sent."""

    text: str
    steps: str
    sent: str


def read_time(text: str) -> tuple[int, str]:
    """Return the moment (µs) that a text begins with, and the rest of it."""
    found = TIME.match(text + " ")
    assert found is not None, text
    days, hours, minutes, seconds = (int(found[name] or 0) for name in ("days", "hours", "minutes", "seconds"))
    return START + (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * SECOND, text[found.end() :]


def write_time(moment: int) -> str:
    """Return a moment as the scripts write it."""
    days, seconds = divmod((moment - START) // SECOND, 86_400)
    hours, minutes = seconds // 3_600, seconds % 3_600 // 60
    text = f"{hours:02}:{minutes:02}" + (f":{seconds % 60:02}" if seconds % 60 else "")
    return f"{days}d {text}" if days else text


def read_steps(story: Story) -> list[Step]:
    """Return the steps of a story in order."""
    steps = []
    for line in filter(None, map(str.strip, story.steps.splitlines())):
        at, rest = read_time(line)
        word, _, more = rest.partition(" ")
        if word == "end":
            steps.append(Step(at, word=word))
        elif word == "restart":
            steps.append(Step(at, word=word, until=read_time(more)[0] if more else None))
        elif word == "withdraw":
            steps.append(Step(at, word=word, id=more))
        else:
            own, stated = at, re.match(r"@(\S+) ", more)
            if stated:
                own = _own_time(stated[1])
                more = more[stated.end() :]
            values = {
                name: json.loads(value) if value[0] in '-0123456789"' or value in {"true", "false"} else value
                for name, value in (part.split("=") for part in more.split())
            }
            source = None if word == "-" else word
            steps.append(Step(at, lw.event(values, source=source, id=f"{write_time(at)} {word}", time=own)))
    assert steps == sorted(steps, key=lambda step: step.at)
    return steps


def _own_time(text: str) -> int:
    if text == "2000":
        return 10_957 * 86_400 * SECOND
    return read_time(text.replace("_", " "))[0]


def read_sent(story: Story) -> list[str]:
    """Return what must be sent: time, cause and event of each."""
    return [line.strip() for line in story.sent.splitlines() if line.strip()]


STORIES = {
    # -- smoke ----------------------------------------------------------------------------------
    "a detector that chatters wakes once every ten minutes": Story(
        "{smoke = true} once until false at most every 10 min",
        """
        02:00 kitchen smoke=true
        02:00:30 kitchen smoke=false
        02:04 kitchen smoke=true
        02:04:30 kitchen smoke=false
        02:09 kitchen smoke=true
        02:15 kitchen smoke=false
        03:00 end
        """,
        """
        02:00 arrival 02:00 kitchen
        02:00:30 cleared 02:00:30 kitchen
        02:10 arrival 02:09 kitchen
        02:15 cleared 02:15 kitchen
        """,
    ),
    "fire goes on in another corner of the room during the cool-down": Story(
        "{smoke = true} per room once until false at most every 10 min",
        """
        12:00 a smoke=true room=hall
        12:01 a smoke=false room=hall
        12:02 b smoke=true room=hall
        12:05 a smoke=false room=hall
        13:00 end
        """,
        """
        12:00 arrival 12:00 a
        12:01 cleared 12:01 a
        12:10 arrival 12:02 b
        """,
    ),
    "a restart in the cool-down loses no fire": Story(
        "{smoke = true} once until false at most every 10 min",
        """
        12:00 kitchen smoke=true
        12:01 kitchen smoke=false
        12:02 kitchen smoke=true
        12:05 restart
        12:20 kitchen smoke=false
        13:00 end
        """,
        """
        12:00 arrival 12:00 kitchen
        12:01 cleared 12:01 kitchen
        12:10 arrival 12:02 kitchen
        12:20 cleared 12:20 kitchen
        """,
    ),
    "a fire whose cool-down ended while everything was off is sent at the start": Story(
        "{smoke = true} once until false at most every 10 min",
        """
        12:00 kitchen smoke=true
        12:01 kitchen smoke=false
        12:02 kitchen smoke=true
        12:05 restart 12:30
        13:00 end
        """,
        """
        12:00 arrival 12:00 kitchen
        12:01 cleared 12:01 kitchen
        12:10 arrival 12:02 kitchen
        """,
    ),
    "a restart in a fire neither repeats the alarm nor forgets its end": Story(
        "{smoke = true} once until false",
        """
        12:00 kitchen smoke=true
        12:05 restart
        12:10 kitchen smoke=true
        12:20 kitchen smoke=false
        12:30 kitchen smoke=true
        13:00 end
        """,
        """
        12:00 arrival 12:00 kitchen
        12:20 cleared 12:20 kitchen
        12:30 arrival 12:30 kitchen
        """,
    ),
    "smoke that lasts half a minute is sent, a puff is not": Story(
        "{smoke = true} for 30 s",
        """
        12:00 kitchen smoke=true
        12:00:20 kitchen smoke=false
        12:10 kitchen smoke=true
        12:11 kitchen smoke=false
        13:00 end
        """,
        """
        12:10:30 held 12:10 kitchen
        """,
    ),
    "smoke that lasts again in the cool-down is sent after it": Story(
        "{smoke = true} for 30 s once until false at most every 10 min",
        """
        12:00 kitchen smoke=true
        12:01 kitchen smoke=false
        12:02 kitchen smoke=true
        12:12 kitchen smoke=false
        13:00 end
        """,
        """
        12:00:30 held 12:00 kitchen
        12:01 cleared 12:01 kitchen
        12:10:30 held 12:02 kitchen
        12:12 cleared 12:12 kitchen
        """,
    ),
    "only the button of the panel ends a fire": Story(
        "{smoke = true} per room once until {reset = true}",
        """
        12:00 a smoke=true room=hall
        12:01 a smoke=true room=hall
        12:05 a smoke=false room=hall
        12:06 b smoke=true room=hall
        12:10 panel reset=true room=hall
        12:11 b smoke=true room=hall
        13:00 end
        """,
        """
        12:00 arrival 12:00 a
        12:10 cleared 12:10 panel
        12:11 arrival 12:11 b
        """,
    ),
    "a detector that names no source is heard": Story(
        "{smoke = true} once until false",
        """
        12:00 - smoke=true
        12:10 - smoke=false
        12:20 - smoke=true
        13:00 end
        """,
        """
        12:00 arrival 12:00 -
        12:10 cleared 12:10 -
        12:20 arrival 12:20 -
        """,
    ),
    "a false alarm taken back in the cool-down leaves the real one before it": Story(
        "{smoke = true} at most every 10 min",
        """
        12:00 kitchen smoke=true
        12:03 kitchen smoke=true
        12:05 kitchen smoke=true
        12:06 withdraw 12:05 kitchen
        13:00 end
        """,
        """
        12:00 arrival 12:00 kitchen
        12:10 arrival 12:03 kitchen
        """,
    ),
    # -- doors ----------------------------------------------------------------------------------
    "a door that repeats open while its alarm waits is named by its newest": Story(
        "{door = open} for 5 min at most every 1 h",
        """
        22:00 front door=open
        22:10 front door=closed
        22:20 front door=open
        22:40 front door=open
        23:00 front door=open
        23:30 end
        """,
        """
        22:05 held 22:00 front
        23:05 held 23:00 front
        """,
    ),
    "a door that was opened while somebody was away counts when they are not": Story(
        "{door = open, not mode = away} for 5 min",
        """
        12:00 front door=open mode=home
        12:03 front door=open mode=away
        12:20 front door=open
        13:00 end
        """,
        """
        12:25 held 12:20 front
        """,
    ),
    "a restart while a door stands open": Story(
        "{door = open} for 5 min",
        """
        12:00 front door=open
        12:03 restart
        12:10 front door=closed
        13:00 end
        """,
        """
        12:05 held 12:00 front
        """,
    ),
    "a door opened and left open while everything was off is sent at the start": Story(
        "{door = open} for 5 min once until false",
        """
        12:00 front door=open
        12:01 restart 12:30
        12:40 front door=closed
        13:00 end
        """,
        """
        12:05 held 12:00 front
        12:40 cleared 12:40 front
        """,
    ),
    "a message that was four minutes on its way": Story(
        "{door = open} for 5 min",
        """
        12:04 front @12:00 door=open
        12:10 front door=closed
        13:00 end
        """,
        """
        12:05 held 12:04 front
        """,
    ),
    "a door whose clock is an hour ahead": Story(
        "{door = open} for 5 min",
        """
        12:00 front @13:00 door=open
        12:30 end
        """,
        """
        12:05 held 12:00 front
        """,
    ),
    "each floor's room of the same name is its own": Story(
        "{door = open} per room, floor for 5 min",
        """
        12:00 a door=open room=hall floor=1
        12:01 b door=open room=hall floor=2
        12:04 a door=closed room=hall floor=1
        13:00 end
        """,
        """
        12:06 held 12:01 b
        """,
    ),
    "a door that names no room moves nothing, the next that does": Story(
        "{door = open} per room for 5 min",
        """
        12:00 a door=open
        12:10 a door=open room=hall
        13:00 end
        """,
        """
        12:15 held 12:10 a
        """,
    ),
    "the last of two open doors counts on for the room": Story(
        "{door = open} per room for 5 min once until false",
        """
        12:00 a door=open room=hall
        12:03 b door=open room=hall
        12:04 a door=closed room=hall
        12:09 b door=closed room=hall
        13:00 end
        """,
        """
        12:05 held 12:03 b
        12:09 cleared 12:09 b
        """,
    ),
    # -- water ----------------------------------------------------------------------------------
    "a leak that repeats for two days is told once, and its end": Story(
        "{leak = true} once until false",
        """
        12:00 cellar leak=true
        13:00 cellar leak=true
        1d 12:00 cellar leak=true
        2d 12:00 cellar leak=false
        3d 00:00 end
        """,
        """
        12:00 arrival 12:00 cellar
        2d 12:00 cleared 2d 12:00 cellar
        """,
    ),
    "a second leak although the first sensor died wet, and no end while it is": Story(
        "{leak = true} per house once until false",
        """
        12:00 old leak=true house=1
        2d 12:00 new leak=true house=1
        2d 13:00 new leak=false house=1
        3d 12:00 new leak=true house=1
        3d 13:00 new leak=false house=1
        4d 00:00 old leak=false house=1
        5d 00:00 end
        """,
        """
        12:00 arrival 12:00 old
        2d 12:00 arrival 2d 12:00 new
        3d 12:00 arrival 3d 12:00 new
        4d 00:00 cleared 4d 00:00 old
        """,
    ),
    "a stale sensor stays stale over a restart": Story(
        "{leak = true} per house once until false stale 1 h",
        """
        12:00 old leak=true house=1
        12:30 restart
        14:00 new leak=true house=1
        15:00 end
        """,
        """
        12:00 arrival 12:00 old
        14:00 arrival 14:00 new
        """,
    ),
    "water that runs for half an hour": Story(
        "{flow > 5} for 30 min",
        """
        12:00 main flow=6
        12:10 main flow=7
        12:20 main flow=3
        12:25 main flow=6
        12:40 main flow=8
        14:00 end
        """,
        """
        12:55 held 12:40 main
        """,
    ),
    "a leak in the middle of an upload": Story(
        "{leak = true} once until false",
        """
        12:00 cellar leak=false
        12:01 cellar @-7d_12:00 leak=true
        12:01:05 cellar @-7d_13:00 leak=true
        12:01:10 cellar @-7d_14:00 leak=false
        12:01:20 cellar leak=true
        12:01:30 cellar @-7d_15:00 leak=false
        12:30 cellar leak=false
        13:00 end
        """,
        """
        12:01:20 arrival 12:01:20 cellar
        12:30 cleared 12:30 cellar
        """,
    ),
    # -- clocks ---------------------------------------------------------------------------------
    "a clock that fell back and was put right at once": Story(
        "{smoke = true} once until false",
        """
        12:00 kitchen smoke=false
        12:01 kitchen @2000 smoke=true
        12:01:30 kitchen smoke=true
        12:10 kitchen smoke=false
        13:00 end
        """,
        """
        12:01:30 arrival 12:01 kitchen
        12:10 cleared 12:10 kitchen
        """,
    ),
    "a door whose clock fell back counts from when it came": Story(
        "{door = open} for 5 min",
        """
        11:00 front door=closed
        12:00 front @2000 door=open
        13:00 end
        """,
        """
        12:05 held 12:00 front
        """,
    ),
    "an all-clear by a clock that fell back": Story(
        "{smoke = true} once until false",
        """
        12:00 kitchen smoke=true
        12:05 kitchen @2000 smoke=false
        12:20 kitchen smoke=true
        13:00 end
        """,
        """
        12:00 arrival 12:00 kitchen
        12:06 cleared 12:05 kitchen
        12:20 arrival 12:20 kitchen
        """,
    ),
    "a new detector that was never set": Story(
        "{smoke = true} once until false",
        """
        12:00 kitchen @2000 smoke=true
        13:00 end
        """,
        """
        12:00 arrival 12:00 kitchen
        """,
    ),
    "a restart while an event with a wrong clock waits": Story(
        "{smoke = true} once until false",
        """
        12:00 kitchen smoke=false
        12:01 kitchen @2000 smoke=true
        12:01:20 restart
        13:00 end
        """,
        """
        12:02 arrival 12:01 kitchen
        """,
    ),
    # -- freezers -------------------------------------------------------------------------------
    "a freezer that thaws for half an hour, until it is cold, and again": Story(
        "{temperature > -10} for 30 min once until {temperature < -15}",
        """
        12:00 freezer temperature=-5
        12:20 freezer temperature=-8
        13:00 freezer temperature=-12
        13:30 freezer temperature=-16
        14:00 freezer temperature=-5
        15:00 end
        """,
        """
        12:30 held 12:20 freezer
        13:30 cleared 13:30 freezer
        14:30 held 14:00 freezer
        """,
    ),
    "a freezer that is silent, comes back, and is silent again": Story(
        "{temperature exists} absent for 1 h at most every 6 h",
        """
        12:00 freezer temperature=-18
        13:10 freezer temperature=-18
        20:00 freezer temperature=-18
        20:30 end
        """,
        """
        13:00 absent 12:00 freezer
        13:10 returned 13:10 freezer
        19:00 absent 13:10 freezer
        20:00 returned 20:00 freezer
        """,
    ),
    "two sensors in a room, of which one died, are not silent": Story(
        "{temperature exists} per room absent for 1 h",
        """
        12:00 a temperature=-18 room=1
        12:00:30 b temperature=-18 room=1
        12:40 b temperature=-18 room=1
        13:20 b temperature=-18 room=1
        15:00 end
        """,
        """
        14:20 absent 13:20 b
        """,
    ),
    # -- people ---------------------------------------------------------------------------------
    "a lone worker who does not press": Story(
        "{button = ok} absent for 30 min",
        """
        12:00 worker button=ok
        12:20 worker button=ok
        12:30 worker battery=80
        13:00 worker button=ok
        13:20 end
        """,
        """
        12:50 absent 12:20 worker
        13:00 returned 13:00 worker
        """,
    ),
    "a panic button that is pressed three times": Story(
        "{panic = true} at most every 1 min",
        """
        12:00 worker panic=true
        12:00:05 worker panic=true
        12:00:20 worker panic=true
        12:05 worker panic=true
        13:00 end
        """,
        """
        12:00 arrival 12:00 worker
        12:01 arrival 12:00:20 worker
        12:05 arrival 12:05 worker
        """,
    ),
    "a worker who lies still": Story(
        "{motion = false} per worker for 2 min once until {motion = true}",
        """
        12:00 vest motion=false worker=ann
        12:01 vest motion=false worker=ann
        12:05 vest motion=true worker=ann
        12:06 vest motion=false worker=ann
        12:10 end
        """,
        """
        12:02 held 12:01 vest
        12:05 cleared 12:05 vest
        12:08 held 12:06 vest
        """,
    ),
    # -- batteries ------------------------------------------------------------------------------
    "a battery that is low is told once, and again a day later after a new one was bad": Story(
        "{battery < 20} once until {battery > 80} at most every 1 d",
        """
        12:00 lock battery=19
        12:30 lock battery=18
        13:00 lock battery=95
        15:00 lock battery=15
        16:00 lock battery=14
        2d 00:00 end
        """,
        """
        12:00 arrival 12:00 lock
        13:00 cleared 13:00 lock
        1d 12:00 arrival 16:00 lock
        """,
    ),
    # -- validity -------------------------------------------------------------------------------
    "an alarm that waits is sent before the subscription ends": Story(
        "{smoke = true} once until false at most every 10 min valid for 15 min",
        """
        00:00 kitchen smoke=true
        00:01 kitchen smoke=false
        00:02 kitchen smoke=true
        12:00 end
        """,
        """
        00:00 arrival 00:00 kitchen
        00:01 cleared 00:01 kitchen
        00:10 arrival 00:02 kitchen
        """,
    ),
    "an alarm that is due after the subscription's end is not": Story(
        "{smoke = true} once until false at most every 10 min valid for 5 min",
        """
        00:00 kitchen smoke=true
        00:01 kitchen smoke=false
        00:02 kitchen smoke=true
        12:00 end
        """,
        """
        00:00 arrival 00:00 kitchen
        00:01 cleared 00:01 kitchen
        """,
    ),
    "a door that stood open before the subscription's end": Story(
        "{door = open} for 5 min valid for 1 h",
        """
        00:50 front door=open
        12:00 end
        """,
        """
        00:55 held 00:50 front
        """,
    ),
    "a freezer that was silent before the subscription's end": Story(
        "{temperature exists} absent for 30 min valid for 1 h",
        """
        00:10 freezer temperature=-18
        12:00 end
        """,
        """
        00:40 absent 00:10 freezer
        """,
    ),
}

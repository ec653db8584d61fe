"""Alerts that are fed only what they demand of each source say what they say when they are fed everything."""

from __future__ import annotations

import random

import pytest

import likewise as lw
from likewise.matching.demand.index import DemandIndex
from likewise.model import Event
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement

S = 1_000_000
ALERTS = (
    "{temperature~ > 25 degC} for 20 s",
    "{temperature~ > 25 degC, not mode = away} for 20 s once until false",
    "{temperature~ > 25 degC, not mode = away} once until {humidity~ < 40}",
    "{door = open} per room for 15 s",
    "{door = open} once until false at most every 40 s",
    "{door = open} at most every 30 s",
    "{temperature~ exists, room = hall} absent for 60 s",
    "{door exists} per room absent for 45 s",
    "{humidity~ between 50 and 80} digest every 60 s",
    "{(door = open or humidity~ > 70)} for 20 s once until false digest every 50 s",
    "{some readings (value > 25, name = temperature)} for 20 s",
    "{temperature~ > 25 degC} confidence 0.6 for 20 s",
)
ANNOUNCED = {
    "zigbee": (AnnouncedAttribute("temperature", "degC"), AnnouncedAttribute("humidity"), AnnouncedAttribute("room")),
    "shelly": (AnnouncedAttribute("air_temp_f", "degF"), AnnouncedAttribute("mode", values=("home", "away"))),
    "contact": (AnnouncedAttribute("door", values=("open", "closed")), AnnouncedAttribute("room")),
    "gateway": (AnnouncedAttribute("readings[].name"), AnnouncedAttribute("readings[].value")),
    "meter": (AnnouncedAttribute("battery", low=0, high=100), AnnouncedAttribute("power", "W")),
}


def _event(chance: random.Random, source: str, number: int) -> Event:
    hot, room = chance.choice((20, 24, 26, 31)), chance.choice(("hall", "attic"))
    vocabularies: dict[str, dict[str, object]] = {
        "zigbee": {"temperature": hot, "humidity": chance.choice((30, 55, 75)), "room": room},
        "shelly": {"air_temp_f": hot * 1.8 + 32, **({"mode": "away"} if chance.random() < 0.3 else {})},
        "contact": {"door": chance.choice(("open", "closed")), **({"room": room} if chance.random() < 0.8 else {})},
        "gateway": {"readings": [{"name": "temperature", "value": hot}, {"name": "co2", "value": 400}]},
        "meter": {"battery": 50, "power": hot},
    }
    said = vocabularies[source]
    if chance.random() < 0.05:
        said["linkquality"] = 7  # nobody announced it
    return lw.event(said, id=f"e{number}", source=source)


@pytest.mark.parametrize("seed", range(2))
def test_alerts_fed_what_they_demand_say_what_they_say_fed_everything(seed: int) -> None:
    chance = random.Random(seed)
    whole, part = lw.Matcher(), lw.Matcher()
    index = DemandIndex(whole.interpretation)
    for number, text in enumerate(ALERTS):
        subscription = lw.parse(text, id=text)
        index.add(number, subscription)
        for matcher in (whole, part):
            matcher.add(subscription, at=0)
    for source, attributes in ANNOUNCED.items():
        index.announce(Announcement(source, attributes))
    demands = {source: index.demand(source) for source in ANNOUNCED}
    said: dict[bool, list[tuple[object, ...]]] = {True: [], False: []}
    left_out = now = 0
    for number in range(300):
        now += chance.randint(0, 8) * S
        event = _event(chance, chance.choice(sorted(ANNOUNCED)), number)
        wanted = demands[event.source or ""].evaluate(event).is_demanded
        left_out += not wanted
        for everything, matcher in ((True, whole), (False, part)):
            found = matcher.match(event, at=now) if everything or wanted else matcher.advance(now)
            said[everything] += [(m.subscription_id, m.cause, m.event_id, m.spoken) for m in found]
    for everything, matcher in ((True, whole), (False, part)):
        said[everything] += [(m.subscription_id, m.cause, m.event_id, m.spoken) for m in matcher.advance(now + 900 * S)]
    assert sorted(said[True], key=str) == sorted(said[False], key=str)
    assert {each[0] for each in said[True]} == set(ALERTS)
    assert left_out > 20

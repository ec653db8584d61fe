"""Alerts whose events come through two edges say what one matcher says that gets every event."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import AlertSettings, Config, EdgeSettings, ServerSettings
from likewise.broker.maintenance import housekeeping
from likewise.broker.maintenance import housekeeping as being_up
from likewise.matching.matcher import system_clock
from likewise.model import Event
from likewise.testing.clocks import ManualClock
from tests.broker.alerts.test_alerts import tick
from tests.edge.brokers import Running, connected, edge, hub, until

SECOND = 1_000_000
HOUR = 3600 * SECOND
TEXTS = {
    "held": "{door = open} for 5 min",
    "cleared": "{door = open} for 2 min once until false",
    "until": "{no2 > 40} once until {no2 < 20}",
    "seldom": "{no2 > 40} at most every 10 min",
    "room": "{door = open} per room for 10 min",
}
ABOVE = Config(server=ServerSettings(port=0), alerts=AlertSettings(lateness="3 h"), edges=EdgeSettings(interval=0.5))


@pytest.fixture(autouse=True)
def no_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(being_up, "PAUSE", 24 * HOUR)
    monkeypatch.setattr(being_up, "TICK", 24 * HOUR)


def story(seed: int, begun: int) -> list[Event]:
    """An hour of doors, air and batteries of six sources, each at one edge; some say nothing that is asked for."""
    dice, events = random.Random(seed), []
    for number in range(240):
        source = dice.choice(("roof/1", "roof/2", "roof/3", "cellar/1", "cellar/2", "cellar/3"))
        said: dict[str, Any] = dice.choice(
            (
                {"door": dice.choice(("open", "closed")), "room": dice.choice(("a", "b"))},
                {"no2": dice.randrange(60)},
                {"battery": dice.randrange(100)},
            )
        )
        events.append(lw.event(said, id=f"e{number}", source=source, time=begun + number * 15 * SECOND))
    return events


def said_above(broker: Broker) -> set[tuple[str, str, str]]:
    """Subscription, event and cause of everything that was said."""
    broker.wait_until_matched()
    tenant = broker.tenant("default")
    page = broker.page(tenant, tenant.subscriber("ann"), after=0, limit=100_000)
    found = [msgspec.json.decode(frame) for _, frame in page]
    return {(met["id"], each["event"]["id"], each["cause"]) for each in found for met in each["subscriptions"]}


def said_by_one(events: list[Event], arrived: int, end: int) -> set[tuple[str, str, str]]:
    one = lw.Matcher(lateness=3 * HOUR, clock=lambda: arrived)
    for id, text in TEXTS.items():
        one.add(lw.parse(text, id=id), at=arrived)
    found = [match for event in events for match in one.match(event, at=arrived)]
    found += one.advance(end)
    return {(match.subscription_id, str(match.event_id), match.cause) for match in found}


@pytest.mark.parametrize("seed", [1, 2])
def test_alerts_through_two_edges_say_what_one_matcher_says(seed: int) -> None:
    """Bursts of both edges arrive in no order of time, and what no alert is about stays below."""
    clock = ManualClock(system_clock())
    events = story(seed, clock() - HOUR)
    with hub(config=ABOVE, clock=clock) as above:
        above.broker.register(above.tenant, "ann")
        wanted = [lw.parse(text, id=id) for id, text in TEXTS.items()]
        above.broker.subscribe(above.tenant, "ann", wanted)
        with (
            edge("roof", above.address, clock=clock) as roof,
            edge("cellar", above.address, clock=clock) as cellar,
        ):
            until(lambda: connected(roof) and connected(cellar), "the lines open")
            dice = random.Random(seed)
            _publish(dice, events[:60], roof, cellar)  # from which the hub learns what their sources say
            until(lambda: _judged(roof, clock) and _judged(cellar, clock), "the demand comes")
            _publish(dice, events[60:], roof, cellar)
            until(lambda: _settled(roof) + _settled(cellar) == len(events), "all are above, or wanted by nobody")
            for _ in range(10):
                clock.advance(HOUR // 2)
                tick(above.broker)
            assert said_above(above.broker) == said_by_one(events, clock() - 5 * HOUR, clock())
            stored = _stored(above.broker)
            assert len(stored) < len(events), "once they are judged, batteries and air that moves no alert stay below"
            assert {event.id for event in events if event.tuples[0].attribute == "door"} <= stored


def _publish(dice: random.Random, events: list[Event], roof: Running, cellar: Running) -> None:
    """In bursts, the edges taking turns by chance, each in its own order."""
    waiting = {
        at: [event for event in events if str(event.source).startswith(name)]
        for name, at in (("roof", roof), ("cellar", cellar))
    }
    while any(waiting.values()):
        at = dice.choice([at for at, left in waiting.items() if left])
        burst = waiting[at][: dice.randrange(1, 30)]
        del waiting[at][: len(burst)]
        at.broker.publish(at.tenant, burst)


def _judged(at: Running, clock: ManualClock) -> bool:
    clock.advance(SECOND // 20)  # the hub looks every second
    assert at.uplink is not None
    return bool(at.uplink.outbox.demand.filters)


def _settled(at: Running) -> int:
    """How many events of an edge were taken above, or are wanted by nobody there."""
    assert at.uplink is not None
    counts = at.uplink.outbox.counts
    return counts.acknowledged + counts.passed_over


def _stored(broker: Broker) -> set[str]:
    entries = broker.store.entries(0, broker.store.position)
    return {str(each.value.id) for each in entries if isinstance(each.value, Event)}

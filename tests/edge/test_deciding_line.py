"""Relaxed subscriptions at an edge and its hub together: decided by either, delivered once, as with one broker."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, EdgeSettings, MatchingSettings, ServerSettings
from likewise.broker.tenants.tenant import Tenant
from likewise.edge.outbox import LocalDecisions
from tests.edge.brokers import Running, connected, edge, hub, until
from tests.edge.relay import Relay
from tests.edge.test_local_evaluation import event_of

FULL = Config(
    server=ServerSettings(port=0), matching=MatchingSettings(profile="full"), edges=EdgeSettings(interval=2.0)
)
EARLY = {
    "warm": "{air temperature~ > 20 degC}",
    "damp": "{moisture~ > 40}",
    "computer": "{device~ = laptop~}",
    "door": '{"door open"~ = true}',
    "dry": "{temperature~ > 10 degC, not humidity~ > 60}",
}
LATE = {"open": "{state~ = open~}", "heat": "{appliance~ = heater~}", "flat": "{battery voltage~ < 3 V}"}
WHO = ("bob", "carl")
Got = dict[tuple[str, str], float]


def deliveries(broker: Broker, tenant: Tenant) -> Got:
    """What waits for subscribers, by subscription and event, with scores; each must be there once."""
    broker.wait_until_matched()
    found: Got = {}
    for who in WHO:
        for _, frame in broker.page(tenant, tenant.subscriber(who), after=0, limit=100_000):
            said = msgspec.json.decode(frame)
            for met in said["subscriptions"]:
                key = met["id"], said["event"]["id"]
                assert key not in found, f"{key} came twice"
                found[key] = met["score"]
    return found


def subscribe(broker: Broker, tenant: Tenant, who: str, texts: dict[str, str]) -> None:
    """Subscribe for somebody."""
    broker.subscribe(tenant, who, [lw.parse(text, id=id) for id, text in texts.items()])


def test_deliveries_and_scores_are_those_of_one_broker(tmp_path: Path) -> None:
    """With the line cut and the edge restarted between events, subscriptions that come late, events that are taken
    back, and events that go up for others, so that both ends decide about them."""
    chance = random.Random(7)
    events = [event_of(number, chance) for number in range(160)]
    with Broker(None, FULL) as one:
        tenant = one.tenant("default")
        for who in WHO:
            one.register(tenant, who)
        subscribe(one, tenant, "bob", EARLY)
        one.publish(tenant, events)
        subscribe(one, tenant, "carl", LATE)
        for number in range(0, 160, 23):
            one.withdraw(tenant, f"e{number}")
        expected = deliveries(one, tenant)
    assert len(expected) > 60
    with hub(config=FULL) as above:
        relay = Relay(above.port)
        above.broker.register(above.tenant, "ann")
        above.broker.subscribe(above.tenant, "ann", [lw.parse('{room = "r1"}', id="room")])
        passed_over = 0
        for part in range(8):
            with edge("roof", relay.address, tmp_path / "roof", config=FULL) as below:
                if part == 0:
                    for who in WHO:
                        below.broker.register(below.tenant, who)
                    subscribe(below.broker, below.tenant, "bob", EARLY)
                if part == 5:
                    subscribe(below.broker, below.tenant, "carl", LATE)
                for first in range(part * 20, part * 20 + 20, 5):
                    below.broker.publish(below.tenant, events[first : first + 5])
                    if chance.random() < 0.5:
                        relay.cut()
                if part in (1, 4):
                    until(lambda: connected(below), "the line opens")
                    until(lambda: _scored(below) > 3, "the hub has sent scores", 120)
                if part == 7:
                    for number in range(0, 160, 23):
                        below.broker.withdraw(below.tenant, f"e{number}")
                    until(lambda: _same(below, expected), "all of it is delivered", 120)
                    got = deliveries(below.broker, below.tenant)
                    assert got.keys() == expected.keys()
                    assert got == pytest.approx(expected, abs=2e-6)
                assert below.uplink is not None
                passed_over = below.uplink.outbox.counts.passed_over
        assert passed_over > 10, "what was decided here, and nobody else asks for, stayed here"


def _scored(at: Running) -> int:
    return sum(at.tenant.decided(held) == "edge" for held in at.tenant.live())


def _same(at: Running, expected: Got) -> bool:
    return deliveries(at.broker, at.tenant).keys() == expected.keys()


def test_without_a_line_scores_go_on_deciding_and_what_is_new_waits(tmp_path: Path) -> None:
    """What was judged is decided without the hub, also after a restart; a new subscription works when it is back."""
    warm = {"temperature": {"value": 30, "unit": "degC"}}
    with hub(config=FULL) as above:
        relay = Relay(above.port)
        with edge("roof", relay.address, tmp_path / "roof", config=FULL) as below:
            for who in WHO:
                below.broker.register(below.tenant, who)
            subscribe(below.broker, below.tenant, "bob", {"warm": EARLY["warm"]})
            below.broker.publish(below.tenant, [lw.event(warm, id="first", source="roof/1")])
            until(lambda: _scored(below) == 1, "the hub has sent scores", 120)
            until(lambda: _same(below, {("warm", "first"): 1.0}), "the hub decides what was new", 120)
        relay.open = False
        relay.cut()
        with edge("roof", relay.address, tmp_path / "roof", config=FULL) as below:
            below.broker.publish(below.tenant, [lw.event(warm, id="second", source="roof/1")])
            both: Got = {("warm", "first"): 1.0, ("warm", "second"): 1.0}
            until(lambda: _same(below, both), "it is decided here")
            assert not connected(below)
            subscribe(below.broker, below.tenant, "carl", {"heat": "{temperature~ > 20}"})
            assert below.tenant.decided(below.tenant.subscription("carl", "heat")) == "waiting"
            relay.open = True
            until(lambda: _scored(below) == 2, "the hub has sent scores for both", 120)
            both |= {("heat", "first"): 1.0, ("heat", "second"): 1.0}
            until(lambda: _same(below, both), "the new one has the earlier events", 120)


def test_a_broker_between_decides_for_those_below_it() -> None:
    """By the scores of the hub above it; what it decides about an event of the edge below comes back by its name."""
    warm = {"temperature": {"value": 30, "unit": "degC"}}
    with hub(config=FULL) as above, edge("house", above.address) as house, edge("room", house.address) as room:
        until(lambda: connected(house) and connected(room), "both lines open")
        for who in WHO:
            room.broker.register(room.tenant, who)
        subscribe(room.broker, room.tenant, "bob", {"warm": EARLY["warm"]})
        room.broker.publish(room.tenant, [lw.event(warm, id="new", source="room")])
        until(lambda: _scored(house) == 1, "the house has scores", 120)
        for number in range(3):
            for at, name in ((above, "hub"), (house, "house"), (room, "room")):
                at.broker.publish(at.tenant, [lw.event(warm, id=f"{name}{number}", source=name)])
        names = {"new", *(f"{name}{number}" for name in ("hub", "house", "room") for number in range(3))}
        wanted: Got = {("warm", name): 1.0 for name in names}
        until(lambda: _same(room, wanted), "all are delivered, once", 120)
        assert len(set(deliveries(room.broker, room.tenant).values())) == 1, "with one score"


def test_a_new_subscription_is_not_given_what_its_subscriber_had(tmp_path: Path) -> None:
    """As with one broker, whoever decides it; those that come together are given an event for all of them."""
    warm = {"temperature": {"value": 30, "unit": "degC"}}
    with hub(config=FULL) as above, edge("roof", above.address, config=FULL) as below:
        for who in WHO:
            below.broker.register(below.tenant, who)
        subscribe(below.broker, below.tenant, "bob", {"exact": "{temperature > 20 degC}", "warm": EARLY["warm"]})
        below.broker.publish(below.tenant, [lw.event(warm, id="e", source="roof/1")])
        until(lambda: _same(below, {("exact", "e"): 1.0, ("warm", "e"): 1.0}), "both kinds are given it", 120)
        for who in WHO:
            subscribe(below.broker, below.tenant, who, {f"{who}1": EARLY["warm"], f"{who}2": "{temperature~ > 25}"})
        until(lambda: _scored(below) == 6, "the hub has sent scores", 120)
        below.broker.publish(below.tenant, [lw.event(warm, id="f", source="roof/1")])
        wanted = {(id, "f"): 1.0 for id in ("exact", "warm", "bob1", "bob2", "carl1", "carl2")}
        wanted |= {("exact", "e"): 1.0, ("warm", "e"): 1.0, ("carl1", "e"): 1.0, ("carl2", "e"): 1.0}
        until(lambda: _same(below, wanted), "carl has the earlier one, and bob has it no second time", 120)


def test_a_decision_that_is_said_again_is_delivered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The edge stops between the decision and the note that the event was looked at: it decides again."""
    warm = {"temperature": {"value": 30, "unit": "degC"}}
    with hub(config=FULL) as above, edge("roof", above.address, config=FULL) as below:
        for who in WHO:
            below.broker.register(below.tenant, who)
        subscribe(below.broker, below.tenant, "bob", {"warm": EARLY["warm"]})
        below.broker.publish(below.tenant, [lw.event(warm, id="new", source="roof/1")])
        until(lambda: _scored(below) == 1, "the hub has sent scores", 120)
        append, said = LocalDecisions.append, []

        def append_and_fail(decisions: LocalDecisions) -> None:
            many = len(decisions)
            append(decisions)
            if many:
                said.append(many)
                if len(said) < 3:
                    raise RuntimeError("it stops here")

        monkeypatch.setattr(LocalDecisions, "append", append_and_fail)
        below.broker.publish(below.tenant, [lw.event(warm, id=f"e{n}", source="roof/1") for n in range(3)])
        until(lambda: len(said) >= 3, "it is said three times", 120)
        wanted: Got = {("warm", id): 1.0 for id in ("new", "e0", "e1", "e2")}
        until(lambda: _same(below, wanted), "each is delivered, once", 120)

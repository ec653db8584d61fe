"""Replay from a sequence number: everything that is still there, under the same numbers, changing nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.broker.queries import replay as replaying
from likewise.broker.queries.replay import replay
from likewise.client import AsyncSubscriber, Publisher, Subscriber
from likewise.testing.clocks import ManualClock
from tests.server.conftest import serving

HOUR = 3_600 * 1_000_000


def given(broker: Broker, subscriber: str, after: int = 0, limit: int = 100) -> tuple[list[tuple[int, str]], int]:
    broker.wait_until_matched()
    tenant = broker.tenant("default")
    found = replay(broker.store, tenant, tenant.subscriber(subscriber), after, limit, broker.clock())
    return [(number, msgspec.json.decode(frame)["event"]["id"]) for number, frame in found.deliveries], found.next


def test_acknowledged_deliveries_are_given_again_under_their_numbers(tmp_path: Path) -> None:
    """Also after a restart, and without touching what is pending or acknowledged."""
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        for name in ("ann", "bob"):
            broker.register(tenant, name)
        broker.subscribe(tenant, "ann", [lw.parse("{x >= 0}", id="s")])
        broker.subscribe(tenant, "bob", [lw.parse("{x >= 3}", id="s")])
        for x in range(5):
            broker.publish(tenant, [lw.event({"x": x}, id=f"e{x}")])
        broker.wait_until_matched()
        broker.acknowledge(tenant, "ann", 4)
        assert given(broker, "ann") == ([(n, f"e{n - 1}") for n in range(1, 6)], 5)
    with Broker(tmp_path / "data") as broker:
        tenant = broker.tenant("default")
        assert given(broker, "ann", after=2) == ([(3, "e2"), (4, "e3"), (5, "e4")], 5)
        assert given(broker, "ann", after=2, limit=2) == ([(3, "e2"), (4, "e3")], 4)
        broker.withdraw(tenant, "e2")
        assert given(broker, "ann", after=1, limit=2) == ([(2, "e1"), (4, "e3")], 4)
        assert given(broker, "bob") == ([(4, "e3"), (5, "e4")], 5)
        assert given(broker, "bob", after=5) == ([], 5)
        assert [number for number, _ in broker.page(tenant, tenant.subscriber("ann"), after=0)] == [5]


def test_what_is_over_withdrawn_or_anothers_is_not_replayed_and_what_was_dropped_is() -> None:
    """What the store still keeps for this subscriber, and nothing else."""
    clock = ManualClock("2024-05-01T12:00:00Z")
    with Broker(None, clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann", "drop-oldest", 1)
        broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="s")])
        broker.publish(tenant, [lw.event({"x": 1}, id="short", expires=clock.now + HOUR)])
        for id in ("back", "dropped", "last"):
            broker.publish(tenant, [lw.event({"x": 1}, id=id)])
        broker.wait_until_matched()
        broker.withdraw(tenant, "back")
        assert [id for _, id in given(broker, "ann")[0]] == ["short", "dropped", "last"]
        clock.advance(2 * HOUR)
        assert [id for _, id in given(broker, "ann")[0]] == ["dropped", "last"]
        broker.sweep()
        assert [id for _, id in given(broker, "ann")[0]] == ["dropped", "last"]
        broker.unregister(tenant, "ann")
        broker.register(tenant, "ann")
        assert given(broker, "ann")[0] == []


def test_a_replay_goes_on_where_a_request_stopped_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """One request looks through so many deliveries; following `next` finds them all, once."""
    monkeypatch.setattr(replaying, "LOOKED_AT", 3)
    monkeypatch.setattr(replaying, "PAGE", 2)
    broker = Broker(None, Config(server=ServerSettings(port=0)))
    with serving(broker=broker) as address, httpx.Client(base_url=address) as http:
        with Publisher(address) as out, Subscriber("ann", address) as inbox, Subscriber("rare", address) as rare:
            inbox.subscribe("{x >= 0}", id="s")
            rare.subscribe("{x >= 18}", id="s")
            out.publish_all([{"x": x} for x in range(20)])
            broker.wait_until_matched()
            inbox.acknowledge(20)
            assert [d.sequence for d in inbox.replay(after=4)] == list(range(5, 21))
            assert [d.sequence for d in rare.replay()] == [19, 20]
            assert inbox.pending() == ()

        async def again() -> list[int]:
            async with AsyncSubscriber("rare", address) as inbox:
                return [delivery.sequence async for delivery in inbox.replay()]

        assert asyncio.run(again()) == [19, 20]
        first = http.get("/v1/subscribers/rare/deliveries", params={"replay": "true"}).json()
        assert (first["deliveries"], first["sequence"]) == ([], 4)
        assert http.get("/v1/subscribers/rare/deliveries", params={"replay": "maybe"}).status_code == 400

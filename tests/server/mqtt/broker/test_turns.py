"""Nobody's many filters, and nobody's many messages, hold up the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.defaults import MQTT_FILTERS_PER_TURN
from likewise.server.mqtt.broker.delivery import fan_out
from likewise.server.mqtt.broker.delivery.fan_out import FanOut
from likewise.server.mqtt.broker.subscribe import SubscriptionService
from likewise.server.mqtt.codec import FilterRequest, Suback, Subscribe
from tests.server.mqtt.broker.conftest import devices


class Recorded(FanOut):
    """Notes what it would send, and what else the loop did in between."""

    def __init__(self, send_bytes: int) -> None:
        self.sent: list[str] = []
        self.lost: Counter[int] = Counter()
        home: Any = SimpleNamespace(
            config=SimpleNamespace(send_bytes=send_bytes),
            broker=SimpleNamespace(clock=lambda: 0, tenants={1: 1, 2: 2}),
            counters=lambda tenant: Lost(self.lost, tenant),
        )
        super().__init__(home)

    def _send_to_all(self, tenant: int, message: StoredMessage, now: int) -> None:
        self.sent.append(message.topic)


class Lost:
    """Counts what a tenant lost."""

    def __init__(self, counts: Counter[int], tenant: int) -> None:
        self._counts, self._tenant = counts, tenant

    @property
    def lost(self) -> int:
        return self._counts[self._tenant]

    @lost.setter
    def lost(self, value: int) -> None:
        self._counts[self._tenant] = value


def messages(tenant: int, *topics: str) -> list[tuple[int, StoredMessage]]:
    return [(tenant, StoredMessage(topic, b"", 0)) for topic in topics]


def test_tenants_take_turns_and_the_loop_looks_at_sockets_between_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the messages of one take; each tenant's stay in their order."""
    monkeypatch.setattr(fan_out, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(fan_out, "ROUND_SECONDS", 0.0)

    async def run() -> list[str]:
        made = Recorded(1_000_000)
        made._send_all([*messages(1, "a", "b", "c"), *messages(2, "x")])
        asyncio.get_running_loop().call_soon(made.sent.append, "a socket")
        for _ in range(5):
            await asyncio.sleep(0)
        return made.sent

    assert asyncio.run(run()) == ["a", "x", "a socket", "b", "c"]


def test_messages_that_wait_for_their_turn_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """`[mqtt] send_bytes`; what does not fit is lost and counted."""
    monkeypatch.setattr(fan_out, "ROUND_SECONDS", 0.0)

    async def run() -> tuple[list[str], Counter[int]]:
        made = Recorded(1_200)
        made._send_all([*messages(1, "a", "b", "c", "d"), *messages(2, "x")])
        for _ in range(5):
            await asyncio.sleep(0)
        made._send_all(messages(2, "y"))
        return made.sent, made.lost

    sent, lost = asyncio.run(run())
    assert sent == ["a", "b", "c", "y"]
    assert lost == {1: 1, 2: 1}


def test_the_filters_of_one_packet_are_served_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them are answered, in their order."""
    under_way, most = [0], [0]
    subscribe = SubscriptionService._subscribe

    async def counted(*arguments: Any) -> Any:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        try:
            return await subscribe(*arguments)
        finally:
            under_way[0] -= 1

    monkeypatch.setattr(SubscriptionService, "_subscribe", counted)
    with devices() as home, home.client("many") as client:
        requests = tuple(FilterRequest(f"f/{number}", 1) for number in range(300))
        client.send(Subscribe(1, requests[:6]), Subscribe(2, requests))
        assert client.next(Suback).reasons == (1,) * 6
        assert client.next(Suback).reasons == (1,) * 300
    assert 1 < most[0] <= MQTT_FILTERS_PER_TURN

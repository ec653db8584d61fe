"""What takes long is done beside the loop and beside the thread that matches, and counts as its tenant's own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, ServerSettings
from likewise.defaults import OFF_LOOP_BYTES, OFF_LOOP_EVENTS
from likewise.matching.matcher import Matcher
from likewise.server import ingest as ingress
from likewise.server import media_types
from likewise.server.gateway import Gateway
from tests.server.conftest import serving


def test_large_requests_are_read_and_made_entries_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones are not: a thread would cost more than they do. Order and receipts are the same."""
    threads: dict[str, set[str]] = {"read": set(), "made": set()}
    broker = Broker(None, Config(server=ServerSettings(port=0)))
    read, made = media_types.read_events, broker.entries

    def reading(*given: Any) -> Sequence[lw.Event]:
        threads["read"].add(threading.current_thread().name)
        return read(*given)

    def making(*given: Any) -> Any:
        threads["made"].add(threading.current_thread().name)
        return made(*given)

    monkeypatch.setattr(ingress, "read_events", reading)
    monkeypatch.setattr(broker, "entries", making)
    with serving(broker=broker) as address, httpx.Client(base_url=address, timeout=60) as http:
        assert len(http.post("/v1/events", json=[{"x": 1}]).json()["events"]) == 1
        loop = set.union(*threads.values())
        assert len(loop) == 1, "a small request went to another thread"
        many = [{"x": n, "said": "w" * (OFF_LOOP_BYTES // OFF_LOOP_EVENTS)} for n in range(OFF_LOOP_EVENTS + 1)]
        found = http.post("/v1/events", json=many).json()["events"]
        assert [each["position"] for each in found] == list(range(2, len(many) + 2))
        assert threads["read"] > loop
        assert threads["made"] > loop
        broker.wait_until_matched()


def test_a_tenant_does_one_piece_of_work_beside_the_loop_at_once() -> None:
    """However many it asks for; another tenant's does not wait for it."""

    async def both(broker: Broker) -> None:
        one, way = Gateway(broker), threading.Event()
        busy, quiet = broker.tenant("busy"), broker.tenant("quiet")
        under_way: list[int] = []
        most: list[int] = []

        def work() -> None:
            under_way.append(1)
            most.append(len(under_way))
            assert way.wait(30)
            under_way.pop()

        pieces = [asyncio.create_task(one.run_off_loop(busy, work)) for _ in range(4)]
        assert await asyncio.wait_for(one.run_off_loop(quiet, lambda: "done"), 30) == "done"
        way.set()
        await asyncio.gather(*pieces)
        assert most == [1, 1, 1, 1]

    with Broker(None) as broker:
        asyncio.run(both(broker))


def test_new_words_of_subscriptions_are_heard_before_the_thread_that_matches_meets_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a thread of who subscribes. An exact subscription needs none, and one that is refused is refused as ever."""
    added: list[tuple[str, str]] = []
    add = Matcher.add

    def adding(self: Matcher, subscription: Any, **given: Any) -> Any:
        added.append((threading.current_thread().name, subscription.kind))
        return add(self, subscription, **given)

    monkeypatch.setattr(Matcher, "add", adding)
    texts = {
        "exact": "{x > 1}",
        "relaxed": "{temperature~ > 1}",
        "top": "{room~ = hall~} top 1 within 9 events by value(x)",
    }
    broker = Broker(None, Config(server=ServerSettings(port=0)))
    with serving(broker=broker) as address, httpx.Client(base_url=address, timeout=120) as http:
        http.put("/v1/subscribers/ann").raise_for_status()
        for id, text in texts.items():
            http.put(f"/v1/subscribers/ann/subscriptions/{id}", json={"v": 1, "text": text}).raise_for_status()
    first = {kind: next(name for name, each in added if each == kind) for kind in ("exact", "approximate", "top")}
    assert first["exact"] == "likewise-matching"
    assert first["approximate"] != "likewise-matching"
    assert first["top"] != "likewise-matching"


def test_words_that_are_not_served_are_refused_by_the_one_who_holds_them() -> None:
    """With the words of the profile, not with a mistake of ours."""
    small = Config(server=ServerSettings(port=0), matching=MatchingSettings(profile="small"))
    with serving(broker=Broker(None, small)) as address, httpx.Client(base_url=address, timeout=60) as http:
        http.put("/v1/subscribers/ann").raise_for_status()
        refused = http.put("/v1/subscribers/ann/subscriptions/w", json={"v": 1, "text": "{a~ = b~}"})
        assert (refused.status_code, refused.json()["code"]) == (409, "not_served"), refused.text

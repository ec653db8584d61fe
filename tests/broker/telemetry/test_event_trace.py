"""The structured log says what happens to each event, under its id."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import structlog
from structlog.testing import capture_logs
from websockets.sync.client import connect

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings, TenantLimits
from likewise.broker.telemetry.event_trace import EventTrace
from likewise.client.messages import stream_address
from likewise.errors import Conflict
from likewise.testing.clocks import ManualClock
from tests.server.conftest import serving

HOUR = 3_600 * 1_000_000


@pytest.fixture
def lines() -> Iterator[list[Any]]:
    """What is logged."""
    before = structlog.get_config()
    with capture_logs() as lines:
        yield lines
    structlog.configure(**before)


def said(lines: list[Any], event: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["event"] == event]


def test_each_step_of_an_event_is_said_under_its_id(lines: list[Any]) -> None:
    """Received, known already, in conflict, matched, a dead letter, withdrawn, expired; with tenant and source."""
    clock = ManualClock("2024-05-01T12:00:00Z")
    with Broker(None, clock=clock, trace=EventTrace(logging.DEBUG)) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann", "dead-letter", 1)
        broker.subscribe(tenant, "ann", [lw.parse("{no2 > 40}", id="s")])
        event = lw.event({"no2": 45}, id="e1", source="/roof", expires=clock.now + HOUR)
        broker.publish(tenant, [event])
        broker.publish(tenant, [event])
        with pytest.raises(Conflict):
            broker.publish(tenant, [lw.event({"no2": 46}, id="e0"), lw.event({"no2": 1}, id="e1", source="/roof")])
        broker.publish(tenant, [lw.event({"no2": 47}, id="e2", source="/yard")])
        broker.wait_until_matched()
        broker.withdraw(tenant, "e2")
        clock.advance(3 * HOUR)
        broker.wait_until_matched()
        broker.sweep()
    identity = {"tenant": "default", "event_id": "e1", "source": "/roof"}
    for step, level in (
        ("event_received", "debug"),
        ("event_duplicate", "debug"),
        ("events_refused", "info"),
        ("event_matched", "debug"),
        ("event_expired", "debug"),
    ):
        found = said(lines, step)[0]
        assert identity.items() <= found.items(), (step, found)
        assert found["log_level"] == level
    [matched, _] = said(lines, "event_matched")
    assert (matched["sequence"], matched["recipients"], matched["cause"]) == (1, 1, "arrival")
    assert said(lines, "events_refused")[0]["code"] == "conflict"
    assert said(lines, "event_dead_lettered")[0]["event_id"] == "e2"
    [letters] = said(lines, "dead_letters_added")
    assert (letters["count"], letters["reason"], letters["source"]) == (1, "queue_full", "/yard")
    assert said(lines, "event_withdrawn")[0]["event_id"] == "e2"


def test_at_the_level_info_single_events_are_not_spoken_of(lines: list[Any]) -> None:
    """A thousand events leave the log as it was; what somebody should know of is there."""
    with Broker(None, trace=EventTrace(logging.INFO)) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x >= 0}", id="s")])
        broker.publish(tenant, [lw.event({"x": x}, id=str(x)) for x in range(1000)])
        broker.wait_until_matched()
        assert lines == []
        with pytest.raises(Conflict):
            broker.publish(tenant, [lw.event({"x": -1}, id="7")])
        assert [(line["event"], line["event_id"]) for line in lines] == [("events_refused", "7")]


def test_what_is_sent_acknowledged_and_refused_at_the_door_is_said(lines: list[Any]) -> None:
    """Over a real connection: unreadable bodies and too many events are refused, deliveries go out."""
    config = Config(server=ServerSettings(port=0), limits=TenantLimits(rate=2.0))
    broker = Broker(None, config, trace=EventTrace(logging.DEBUG))
    with serving(broker=broker) as address, httpx.Client(base_url=address) as http:
        http.put("/v1/subscribers/ann")
        http.put("/v1/subscribers/ann/subscriptions/s", json={"v": 1, "text": "{x exists}"})
        http.post("/v1/events", json={"v": 1, "payload": {"x": 1}, "id": "e1", "source": "/roof"})
        assert http.post("/v1/events", content=b"{").status_code == 400
        assert http.post("/v1/events", json=[{"x": 1}] * 3).status_code == 429
        with connect(stream_address(address, "ann", 0)) as socket:
            socket.recv(timeout=30)
            socket.send('{"sequence":1}')
            socket.send('{"sequence":1}')
            socket.ping().wait(30)
    [delivered] = said(lines, "event_delivered")
    assert (delivered["event_id"], delivered["source"], delivered["subscriber"]) == ("e1", "/roof", "ann")
    assert said(lines, "deliveries_acknowledged")[0]["sequence"] == 1
    assert [line["code"] for line in said(lines, "events_refused")] == ["format", "rate"]


def test_a_broker_used_as_a_library_says_nothing_of_single_events(lines: list[Any]) -> None:
    """Programs that never asked for a log are left alone."""
    with Broker(None) as broker:
        tenant = broker.tenant("default")
        broker.publish(tenant, [lw.event({"x": 1}, id="e1")])
        broker.withdraw(tenant, "e1")
        broker.wait_until_matched()
    assert lines == []

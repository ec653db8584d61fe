"""Publishing without the framework says what the described address says, also of what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.types import ASGIApp, Message

from likewise.broker.broker import Broker
from likewise.broker.config import Config, TenantLimits
from likewise.server.http.publishing import PublishMiddleware
from likewise.server.http.server import make_app

JSON = {"content-type": "application/json"}


def answers(app: ASGIApp) -> list[tuple[int, str, Any]]:
    """Status, media type and content of some requests, good and bad."""
    said = []
    with TestClient(app, raise_server_exceptions=False) as http:
        for body, headers in (
            (b'{"v":1,"payload":{"no2":45},"id":"e1"}', JSON),
            (b'{"v":1,"payload":{"no2":45},"id":"e1"}', JSON),
            (b'{"v":1,"payload":{"no2":46},"id":"e1"}', JSON),
            (b'[{"v":1,"payload":{"a":1},"id":"e2"},{"v":1,"payload":{"a":2},"id":"e3"}]', {}),
            (b"{", JSON),
            (b"x" * 2_000, JSON),
            (b"x", {"content-type": "text/csv"}),
            (b"\x1f\x8b\x08", {**JSON, "content-encoding": "gzip"}),
            (b'{"v":1,"payload":{"a":1},"id":"e4"}', {**JSON, "content-encoding": "identity"}),
        ):
            found = http.post("/v1/events", content=body, headers=headers)
            said.append((found.status_code, found.headers["content-type"], found.json()))
        said.append((http.put("/v1/events").status_code, "", http.get("/v1/dead-letters").json()[0]["reason"]))
    return said


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(None, Config(limits=TenantLimits(body=1_000))) as broker:
        yield broker


def test_the_short_way_answers_as_the_described_address_does(broker: Broker) -> None:
    """Receipts, duplicates, conflicts, limits and dead letters alike."""
    with Broker(None, broker.config) as other:
        short, described = answers(PublishMiddleware(make_app(broker))), answers(make_app(other))
    assert short == described
    assert [status for status, _, _ in short] == [200, 200, 409, 200, 400, 413, 400, 400, 200, 405]
    assert "Content-Encoding" in short[7][2]["detail"]


async def _posted(broker: Broker, messages: list[Message]) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    from likewise.server.gateway import Gateway

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/events",
        "headers": [],
        "state": {"gateway": Gateway(broker)},
    }
    await PublishMiddleware(make_app(broker))(scope, receive, send)
    return sent


def test_a_body_in_parts_is_joined_and_refused_as_soon_as_it_is_too_large(broker: Broker) -> None:
    """Without a stated length, what has come is counted; a client that goes away is answered nothing."""
    import asyncio

    def part(body: bytes, more: bool = True) -> Message:
        return {"type": "http.request", "body": body, "more_body": more}

    good = asyncio.run(_posted(broker, [part(b'{"no2"'), part(b":45}", more=False)]))
    assert good[0]["status"] == 200
    waiting = [part(b"x" * 600), part(b"x" * 600), part(b"x" * 600)]
    assert asyncio.run(_posted(broker, waiting))[0]["status"] == 413
    assert len(waiting) == 1
    assert asyncio.run(_posted(broker, [part(b"{"), {"type": "http.disconnect"}])) == []


def test_a_mistake_of_ours_is_said_without_its_details(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """500, and nothing of the error."""
    import asyncio

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(broker, "request", broken)
    sent = asyncio.run(_posted(broker, [{"type": "http.request", "body": b'{"a":1}'}]))
    assert sent[0]["status"] == 500
    assert b"secret" not in sent[1]["body"]

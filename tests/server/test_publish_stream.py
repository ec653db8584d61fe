"""Publishing over a WebSocket: in order, acknowledged by ranges, a refused message leaves the others alone."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

import likewise as lw
from likewise.broker.config import Config, ServerSettings, TenantLimits
from likewise.client import AsyncPublisher, Publisher, Subscriber
from likewise.client.messages import BrokerRefused
from likewise.client.publish_stream import MAX_IN_FLIGHT
from likewise.errors import LimitExceeded, Unavailable
from tests.server.conftest import address, http, serving
from tests.server.http.test_access import made_town

__all__ = ["address", "http"]


def opened(address: str) -> ClientConnection:
    return connect(address.replace("http", "ws") + "/v1/events/stream")


def answers(stream: ClientConnection, until: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while not found or found[-1]["last"] < until:
        found.append(json.loads(stream.recv(timeout=300)))
    return found


def stored(http: httpx.Client, subscriber: str) -> list[Any]:
    """What a subscriber was given, in order."""
    found: list[Any] = []
    sequence = 0
    while page := http.get(f"/v1/subscribers/{subscriber}/deliveries?sequence={sequence}&limit=1000").json()[
        "deliveries"
    ]:
        found += page
        sequence = page[-1]["sequence"]
    return found


def wait_for(http: httpx.Client, subscriber: str, count: int) -> list[Any]:
    while len(found := stored(http, subscriber)) < count:
        time.sleep(0.05)
    return found


def listen(http: httpx.Client, name: str) -> None:
    http.put(f"/v1/subscribers/{name}").raise_for_status()
    http.put(f"/v1/subscribers/{name}/subscriptions/s", json={"v": 1, "text": f"{{town = {name}}}"}).raise_for_status()


def test_messages_are_acknowledged_by_ranges_without_a_gap(address: str, http: httpx.Client) -> None:
    """Whether as text or as bytes, one event or several, in the order they were sent."""
    listen(http, "ranges")
    with opened(address) as stream:
        for n in range(100):
            stream.send(json.dumps({"town": "ranges", "n": n}))
        stream.send(json.dumps([{"town": "ranges", "n": n} for n in range(100, 130)]))
        stream.send(json.dumps({"town": "ranges", "n": 130}).encode())
        found = answers(stream, 102)
    assert [each["first"] for each in found] == [1, *(each["last"] + 1 for each in found[:-1])]
    assert found[-1]["last"] == 102
    assert not any("problem" in each for each in found)
    assert [d["event"]["payload"]["n"] for d in wait_for(http, "ranges", 131)] == list(range(131))


def test_a_refused_message_leaves_the_others_alone(address: str, http: httpx.Client) -> None:
    """It is said which one and why; of an array nothing is kept if one event is refused."""
    listen(http, "refused")
    good = [{"v": 1, "id": f"r{n}", "payload": {"town": "refused", "n": n}} for n in range(6)]
    other = {"v": 1, "id": "r0", "payload": {"town": "refused", "n": 99}}
    sent = [
        good[0],
        good[1],
        "{",
        good[2],
        other,
        [{"town": "refused", "n": 77}, {}],
        good[3],
        7,
        [],
        good[4],
        good[0],
        good[5],
    ]
    with opened(address) as stream:
        for each in sent:
            stream.send(each if isinstance(each, str) else json.dumps(each))
        found = answers(stream, len(sent))
    bad = {n: each["problem"] for each in found for n in range(each["first"], each["last"] + 1) if "problem" in each}
    assert {n: (said["status"], said["type"].rpartition(":")[2]) for n, said in bad.items()} == {
        3: (400, "format"),
        5: (409, "conflict"),
        6: (400, "invalid_event"),
        8: (400, "format"),
    }
    assert [d["event"]["payload"]["n"] for d in wait_for(http, "refused", 6)] == list(range(6))


def test_a_client_publishes_many_and_waits_once(address: str, http: httpx.Client) -> None:
    listen(http, "sync")
    with Publisher(address, source="/roof") as out, out.stream() as stream:
        ids = [stream.publish({"town": "sync", "n": n}) for n in range(MAX_IN_FLIGHT + 50)]
        ids += stream.publish_all({"town": "sync", "n": n} for n in range(2000))
        stream.flush()
        assert stream.under_way == 0
    found = wait_for(http, "sync", len(ids))
    assert [d["event"]["id"] for d in found] == ids
    assert {d["event"]["source"] for d in found} == {"/roof"}


def test_an_asynchronous_client_does_the_same(address: str, http: httpx.Client) -> None:
    listen(http, "async")

    async def publish() -> list[str]:
        async with AsyncPublisher(address) as out, out.stream() as stream:
            ids = [await stream.publish({"town": "async", "n": n}) for n in range(MAX_IN_FLIGHT + 50)]
            ids += await stream.publish_all({"town": "async", "n": n} for n in range(500))
            await stream.publish({"v": 1, "payload": {"x": 1}})
            await stream.flush()
            assert stream.under_way == 0
            return ids

    ids = asyncio.run(publish())
    assert [d["event"]["id"] for d in wait_for(http, "async", len(ids))] == ids


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_the_broker_refuses_is_raised(address: str, kind: str) -> None:
    """By the next call; the rest is published."""
    other = [{"v": 1}, {"v": 2}]

    def events() -> list[Any]:
        return [lw.event(said, id=f"same-{kind}") for said in other]

    def publish() -> None:
        with Publisher(address) as out, out.stream() as stream:
            for each in events():
                stream.publish(each)

    async def publish_async() -> None:
        async with AsyncPublisher(address) as out, out.stream() as stream:
            for each in events():
                await stream.publish(each)

    with pytest.raises(BrokerRefused) as raised:
        publish() if kind == "sync" else asyncio.run(publish_async())
    assert raised.value.status == 409


def test_what_was_not_acknowledged_is_sent_again_to_a_broker_that_came_back(tmp_path: Path) -> None:
    """None is lost, and none is there twice."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = Config(server=ServerSettings(port=port))
    with ExitStack() as clients:
        with serving(tmp_path / "data", config) as address:
            out = clients.enter_context(Publisher(address, patience=120))
            with httpx.Client(base_url=address, timeout=300) as http:
                listen(http, "back")
            stream = out.stream()
            ids = [stream.publish({"town": "back", "n": n}) for n in range(200)]
        with serving(tmp_path / "data", config) as address:
            ids += [stream.publish({"town": "back", "n": n}) for n in range(200, 300)]
            stream.flush()
            stream.close()
            with httpx.Client(base_url=address, timeout=300) as http:
                assert [d["event"]["id"] for d in wait_for(http, "back", 300)] == ids


def test_a_tenants_rate_holds_a_stream_up_and_refuses_nothing() -> None:
    config = Config(server=ServerSettings(port=0), limits=TenantLimits(rate=100))
    with serving(config=config) as address, Publisher(address) as out, out.stream() as stream:
        for n in range(150):
            stream.publish({"n": n})
        stream.flush()


def test_an_event_too_large_for_a_message_is_refused_before_it_is_sent() -> None:
    with Publisher("http://127.0.0.1:1", patience=0.1) as out, out.stream() as stream:
        with pytest.raises(LimitExceeded):
            stream.publish({f"k{n}": "x" * 1000 for n in range(100)})
        with pytest.raises(Unavailable):
            stream.publish({"n": 1})
        stream._in_flight = type(stream._in_flight)()


def test_deliveries_come_together_and_one_by_one_alike(address: str, http: httpx.Client) -> None:
    """An array where it is asked for and several are there; a client that stops within one is given the rest again."""
    listen(http, "pages")
    http.post("/v1/events", json=[{"town": "pages", "n": n} for n in range(300)]).raise_for_status()
    wait_for(http, "pages", 300)
    base = address.replace("http", "ws") + "/v1/subscribers/pages/stream"
    with connect(base + "?together=true") as together:
        frames = [json.loads(together.recv(timeout=300)) for _ in range(2)]
    with connect(base) as single:
        alone = [json.loads(single.recv(timeout=300)) for _ in range(len(frames[0]) + len(frames[1]))]
    assert len(frames[0]) > 1
    assert [*frames[0], *frames[1]] == alone
    with Subscriber("pages", address) as inbox:
        seen = [d.sequence for d in islice(inbox, 5)]
        inbox.acknowledge(seen[-1])
        inbox.stop_stream()
        after = list(islice(inbox, 295))
    assert [*seen, *(d.sequence for d in after)] == [d["sequence"] for d in alone[:5]] + [d.sequence for d in after]
    assert [d.event.tuples[1].value for d in after] == list(range(5, 300))


def publish_one(out: Publisher) -> None:
    with out.stream() as stream:
        stream.publish({"x": 1})


def test_a_stream_needs_a_token_that_publishes_and_keeps_to_its_sources() -> None:
    """As a request does."""
    with made_town() as town:
        with Publisher(town.address, token=town.tokens["out"]) as out, pytest.raises(BrokerRefused) as raised:
            publish_one(out)
        assert raised.value.status == 1008
        with Publisher(town.address, token=town.tokens["roof"]) as out, out.stream() as stream:
            id = stream.publish({"x": 1})
            stream.flush()
            stream.publish(lw.event({"x": 2}, source="/cellar"))
            with pytest.raises(BrokerRefused) as elsewhere:
                stream.flush()
        assert elsewhere.value.status == 403
        assert town.ask("root", "GET", f"/v1/events/{id}").json()["event"]["source"] == "/roof"

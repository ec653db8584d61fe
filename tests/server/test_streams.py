"""Streams: one slow consumer holds up itself alone; server-sent events say the same as the WebSocket."""

from __future__ import annotations

import json
from itertools import islice

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from likewise.client import Publisher, Subscriber


def test_a_consumer_that_reads_nothing_delays_nobody(address: str, http: httpx.Client) -> None:
    """With one stalled stream, another gets everything."""
    for id in ("stalled", "healthy"):
        http.put(f"/v1/subscribers/{id}")
        http.put(f"/v1/subscribers/{id}/subscriptions/s", json={"v": 1, "text": "{town = W}"})
    payload = {"town": "W", **{f"filler{n}": "x" * 900 for n in range(20)}}
    with connect(address.replace("http", "ws") + "/v1/subscribers/stalled/stream") as stalled:
        with Publisher(address) as out, Subscriber("healthy", address) as inbox:
            for _ in range(10):
                out.publish_all([payload] * 60)
            for delivery in islice(inbox, 600):
                inbox.acknowledge(delivery)
        assert stalled.recv(timeout=30)
    assert http.get("/v1/subscribers/stalled").json()["pending"] == 600


def test_server_sent_events_carry_sequence_numbers_and_resume(http: httpx.Client) -> None:
    """`Last-Event-ID` goes on after what was seen."""
    http.put("/v1/subscribers/sse")
    http.put("/v1/subscribers/sse/subscriptions/s", json={"v": 1, "text": "{town = E}"})
    http.post("/v1/events", content=json.dumps([{"town": "E", "n": n} for n in range(2)], indent=1))
    http.post("/v1/events", content=b'{"town": "E",\r\n\n"n": 2}')

    def read(count: int, headers: dict[str, str]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        with http.stream("GET", "/v1/subscribers/sse/events", headers=headers) as answer:
            number = 0
            for line in answer.iter_lines():
                if line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("data: "):
                    found.append((number, json.loads(line[6:])["event"]["payload"]["n"]))
                    if len(found) == count:
                        break
        return found

    first = read(2, {})
    assert [n for _, n in first] == [0, 1]
    assert [n for _, n in read(1, {"last-event-id": str(first[-1][0])})] == [2]


def test_a_stream_without_subscriber_is_refused_with_a_reason(address: str) -> None:
    """Close code 1008."""
    with connect(address.replace("http", "ws") + "/v1/subscribers/nobody/stream") as socket:
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=30)
        assert socket.close_code == 1008
        assert "unknown_id" in (socket.close_reason or "")


def test_what_a_client_sends_wrongly_ends_the_stream_with_a_reason(address: str, http: httpx.Client) -> None:
    """Close code 4400, for what is no acknowledgement and for one of the future."""
    http.put("/v1/subscribers/odd")
    for said in ("hello", '{"sequence": 999999}'):
        with connect(address.replace("http", "ws") + "/v1/subscribers/odd/stream") as socket:
            socket.send(said)
            with pytest.raises(ConnectionClosed):
                socket.recv(timeout=30)
            assert socket.close_code == 4400

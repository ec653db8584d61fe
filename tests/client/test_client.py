"""The client library against a served broker."""

from __future__ import annotations

import asyncio
import socket
import threading
from itertools import islice
from pathlib import Path

import pytest

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.client import AsyncPublisher, AsyncSubscriber, Publisher, Subscriber
from likewise.client.messages import BrokerRefused
from likewise.errors import InvalidEvent, ParseError, Unavailable
from tests.server.conftest import address, serving

__all__ = ["address"]


def test_what_is_published_is_streamed_in_order(address: str) -> None:
    """Each delivery once, with its sequence number."""
    with Publisher(address, source="/roof") as out, Subscriber("s1", address) as inbox:
        inbox.subscribe("{x exists, town = S1}", id="all")
        receipts = out.publish_all({"x": x, "town": "S1"} for x in range(300))
        found = []
        for delivery in islice(inbox, 300):
            found.append(delivery)
            inbox.acknowledge(delivery)
        assert [d.event.id for d in found] == [r.id for r in receipts]
        assert [m.id for m in found[0].subscriptions] == ["all"]
        assert found[0].event.source == "/roof"
        assert sorted({d.sequence for d in found}) == [d.sequence for d in found]


def test_an_absent_subscriber_gets_what_it_missed_after_its_cursor(address: str) -> None:
    """What was not acknowledged comes again; a kept cursor skips what was seen."""
    with Publisher(address) as out:
        with Subscriber("s2", address) as inbox:
            inbox.subscribe("{town = S2}")
            out.publish_all({"n": n, "town": "S2"} for n in range(4))
            seen = [d for d, _ in zip(inbox, range(3), strict=False)]
            inbox.acknowledge(seen[0])
        with Subscriber("s2", address) as again:
            assert next(iter(again)).sequence == seen[1].sequence
        with Subscriber("s2", address, cursor=seen[2].sequence) as after:
            assert next(iter(after)).event.tuples[0].value == 3
            assert after.pending() == ()


def test_a_subscription_is_tried_on_stored_events_without_subscribing(address: str) -> None:
    """An alert, too, up to now; for asyncio the same."""
    with Publisher(address, source="/gate") as out, Subscriber("b1", address) as inbox:
        out.publish_all(
            [{"gate": "open", "town": "B1"}, {"gate": "shut", "town": "B1"}, {"gate": "open", "town": "B1"}]
        )
        text = "{gate = open, town = B1} for 1 us"
        found = inbox.backtest(text)
        assert [(each.cause, each.key) for each in found.matches][-1:] == [("held", ("/gate",))]
        assert found.causes["held"] == found.matched
        assert inbox.backtest(text, shown=0).matches == ()
        assert inbox.pending() == ()

    async def tried() -> int:
        async with AsyncSubscriber("b1", address) as inbox:
            return (await inbox.backtest(text, events=1)).events

    assert asyncio.run(tried()) == 1


def test_mistakes_are_found_before_anything_is_sent() -> None:
    """No broker is needed to refuse them."""
    with Publisher("http://127.0.0.1:1", patience=0.1) as out, pytest.raises(InvalidEvent):
        out.publish({})
    with serving() as address, Subscriber("s", address) as inbox, pytest.raises(ParseError):
        inbox.subscribe("{a > }")


def test_refusals_carry_what_the_broker_said(address: str) -> None:
    """The problem's facts."""
    with Publisher(address) as out:
        with pytest.raises(BrokerRefused) as refused:
            out.unpublish("nothing")
        assert (refused.value.status, refused.value.problem["code"]) == (404, "unknown_id")


def test_an_envelope_given_as_a_mapping_keeps_its_id_and_source(address: str) -> None:
    """As with every other door; published again it is known."""
    said = {"v": 1, "payload": {"no2": 45}, "id": "given", "source": "roof"}
    with Publisher(address) as publisher:
        first, again = publisher.publish(said), publisher.publish(said)
    assert first.id == again.id == "given"
    assert again.duplicate
    assert not first.duplicate


def test_a_newer_stream_takes_over(address: str) -> None:
    """The older one is told."""
    with Subscriber("s3", address) as older, Publisher(address) as out:
        older.subscribe("{town = S3}")
        out.publish({"town": "S3"})
        stream = iter(older)
        first = next(stream)
        with Subscriber("s3", address) as newer:
            assert next(iter(newer)).sequence == first.sequence
            with pytest.raises(BrokerRefused, match="newer stream"):
                next(stream)


def test_a_stream_goes_on_when_the_broker_comes_back(tmp_path: Path) -> None:
    """Reconnecting with a cursor gives each delivery once across a restart."""
    with Broker(tmp_path / "data", Config(server=ServerSettings(port=0))) as broker, serving(broker=broker) as address:
        port = int(address.rpartition(":")[2])
        inbox = Subscriber("s4", address)
        inbox.subscribe("{x exists}")
        with Publisher(address) as out:
            out.publish_all({"x": x} for x in range(3))
        stream = iter(inbox)
        found = [next(stream) for _ in range(3)]
    second = Broker(tmp_path / "data", Config(server=ServerSettings(port=port)))
    with serving(broker=second), Publisher(address) as out:
        rest: list[object] = []
        reading = threading.Thread(target=lambda: rest.extend(islice(stream, 2)))
        reading.start()
        out.publish_all({"x": x} for x in (3, 4))
        reading.join(timeout=60)
        values = [d.event.tuples[0].value for d in [*found, *rest]]  # type: ignore[attr-defined]
        inbox.close()
    assert values == [0, 1, 2, 3, 4]


def test_the_asynchronous_clients_do_the_same(address: str) -> None:
    """Publish, stream, acknowledge."""

    async def run() -> list[object]:
        async with AsyncPublisher(address) as out, AsyncSubscriber("s5", address) as inbox:
            await inbox.subscribe("{town = S5}")
            await out.publish_all({"n": n, "town": "S5"} for n in range(5))
            found: list[object] = []
            async for delivery in inbox:
                found.append(delivery.event.tuples[0].value)
                await inbox.acknowledge(delivery)
                if len(found) == 5:
                    return found
        return []

    assert asyncio.run(run()) == [0, 1, 2, 3, 4]


def test_a_connection_that_breaks_while_it_is_opened_is_made_again() -> None:
    """Also between the request for a stream and its answer; and when patience ends, that is said."""
    tried: list[bytes] = []
    over = threading.Event()

    def answer(listening: socket.socket) -> None:
        listening.settimeout(0.1)
        while not over.is_set():
            try:
                taken, _ = listening.accept()
            except TimeoutError:
                continue
            taken.settimeout(10)
            request = taken.recv(4096)
            tried.append(request.split(b" ", 1)[0])
            if request.startswith(b"PUT"):  # registering is answered, the stream is not
                taken.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
            taken.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        try:
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            with (
                Subscriber("ann", address, limit=9, patience=1.0) as inbox,
                pytest.raises(Unavailable, match="not answer"),
            ):
                next(iter(inbox))
        finally:
            over.set()
            thread.join(timeout=30)
    assert tried[:3] == [b"PUT", b"GET", b"GET"]


def test_what_waits_is_given_while_matching_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A subscriber that is known connects without waiting for the backlog; its own stream waits for nothing."""
    broker = Broker(None, Config(server=ServerSettings(port=0)))
    with serving(broker=broker) as address, Publisher(address) as out:
        with Subscriber("known", address) as before:
            before.subscribe("{x exists} top 1000 within 1000 events by value(x)", id="board")  # matched in turns
            out.publish_all({"x": x} for x in range(5))
            first = next(iter(before))
        broker.wait_until_matched()
        held, goes_on = broker.worker._match, threading.Event()
        monkeypatch.setattr(broker.worker, "_match", lambda *given: (goes_on.wait(120), held(*given))[1])
        try:
            out.publish_all({"x": x} for x in range(5, 8))
            with Subscriber("known", address, cursor=first.sequence) as again:
                assert [d.event.tuples[0].value for d in islice(again, 4)] == [1, 2, 3, 4]

            async def again_async() -> list[object]:
                async with AsyncSubscriber("known", address) as inbox:
                    return [(await anext(aiter(inbox))).event.tuples[0].value]

            assert asyncio.run(again_async()) == [1]
            assert not goes_on.is_set()
        finally:
            goes_on.set()

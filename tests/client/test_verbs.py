"""The verbs of CUPUS clients (Tables 4 to 7), for asyncio and without: connect, disconnect, reconnect, listen."""

from __future__ import annotations

import asyncio
import queue
import shutil
import socket
import threading
from itertools import islice
from pathlib import Path

import pytest
import stamina

from likewise.broker.broker import Broker
from likewise.broker.config import Config, ServerSettings
from likewise.client import AsyncPublisher, AsyncSubscriber, ClientDelivery, Publisher, Subscriber
from likewise.client.endpoint import broker_address
from likewise.client.listening import Listening
from likewise.errors import InputError, Unavailable
from tests.server.conftest import address, serving

__all__ = ["address"]


def nowhere() -> str:
    """An address where nobody listens."""
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{trying.getsockname()[1]}"


def numbers(deliveries: list[ClientDelivery]) -> list[object]:
    return [delivery.event.tuples[0].value for delivery in deliveries]


def test_connect_says_at_once_that_there_is_no_broker() -> None:
    """One attempt, one line, whatever the client's patience; the same for asyncio."""
    tried: list[int] = []
    before = stamina.instrumentation.get_on_retry_hooks()
    stamina.instrumentation.set_on_retry_hooks([lambda details: tried.append(details.retry_num)])
    try:
        for client in (Publisher(nowhere()), Subscriber("ann", nowhere())):
            with pytest.raises(Unavailable, match="does not answer: connection refused; is it running") as told:
                client.connect(patience=0)
            assert "\n" not in str(told.value)
        with pytest.raises(Unavailable, match="connection refused"):
            asyncio.run(AsyncSubscriber("ann", nowhere()).connect(patience=0))
    finally:
        stamina.instrumentation.set_on_retry_hooks(before)
    assert tried == []


def test_an_address_may_be_short_but_not_wrong() -> None:
    """A host alone is enough; what cannot be an address is refused before anything is tried."""
    assert broker_address("10.0.0.5") == "http://10.0.0.5:8787"
    assert broker_address("https://roof/likewise/") == "https://roof/likewise"
    for wrong in ("", "http://", "ftp://roof", "a broker", "http://roof:port", "roof:99999"):
        with pytest.raises(InputError, match="no address of a broker"):
            Publisher(wrong)


def test_a_disconnected_subscriber_misses_nothing(address: str) -> None:
    """What comes while it is away waits, and follows when it connects again; nothing comes twice."""
    with Publisher(address) as out, Subscriber("v1", address).connect() as inbox:
        inbox.subscribe("{n exists, town = V1}")
        out.publish_all({"n": n, "town": "V1"} for n in (0, 1))
        first = list(islice(inbox, 2))
        inbox.disconnect()
        out.publish_all({"n": n, "town": "V1"} for n in (2, 3))
        inbox.connect()
        assert numbers([*first, *islice(inbox, 2)]) == [0, 1, 2, 3]


def test_reconnecting_elsewhere_keeps_the_cursor(tmp_path: Path) -> None:
    """A stream that is under way goes on at the other address, after the last delivery given."""
    with (
        Broker(tmp_path / "data", Config(server=ServerSettings(port=0))) as broker,
        serving(broker=broker) as one,
        Publisher(one) as out,
    ):
        inbox = Subscriber("v2", one)
        inbox.subscribe("{n exists}")
        out.publish_all({"n": n} for n in range(3))
        stream = iter(inbox)
        found = [next(stream) for _ in range(3)]
        broker.wait_until_matched()
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    with (
        Broker(tmp_path / "copy", Config(server=ServerSettings(port=0))) as moved,
        serving(broker=moved) as other,
        Publisher(other) as out,
    ):
        assert inbox.reconnect(other).address == other
        assert inbox.cursor == found[-1].sequence
        out.publish_all({"n": n} for n in (3, 4))
        assert numbers([*found, *islice(stream, 2)]) == [0, 1, 2, 3, 4]
        with pytest.raises(Unavailable):
            inbox.reconnect(nowhere(), patience=0)
        assert inbox.address == other  # nothing changed
        inbox.close()


def test_a_publisher_reconnects_and_unpublishes(address: str) -> None:
    """What was taken back is given to no new subscriber."""
    with Publisher(address, source="/v3").connect() as out:
        kept, gone = out.publish_all({"n": n, "town": "V3"} for n in (1, 2))
        out.disconnect()
        out.reconnect(address)
        out.unpublish(gone.id)
        with Subscriber("v3", address) as inbox:
            inbox.subscribe("{town = V3}")
            assert [delivery.event.id for delivery in inbox.pending()] == [kept.id]


def test_a_listener_is_told_and_what_it_took_is_settled(address: str) -> None:
    """Each delivery once, on a thread of its own, acknowledged after the listener returned; `stop` ends it."""
    told: queue.Queue[ClientDelivery] = queue.Queue()
    with Publisher(address) as out, Subscriber("v4", address) as inbox:
        inbox.subscribe("{n exists, town = V4}")
        with inbox.listen(told.put) as listening:
            out.publish_all({"n": n, "town": "V4"} for n in range(20))
            assert numbers([told.get(timeout=30) for _ in range(20)]) == list(range(20))
            assert listening.active
        assert not listening.active
        out.publish({"n": 20, "town": "V4"})
        assert numbers(list(inbox.pending())) == [20]


def test_a_listener_may_stop_itself_and_its_last_delivery_is_settled(address: str) -> None:
    """`stop` inside the listener returns at once; nothing comes after the delivery it was called for."""
    told: list[object] = []
    listening: list[Listening] = []
    ready = threading.Event()

    def stop_at_three(delivery: ClientDelivery) -> None:
        assert ready.wait(30)
        told.extend(numbers([delivery]))
        if told[-1] == 3:
            listening[0].stop()

    with Publisher(address) as out, Subscriber("v5b", address) as inbox:
        inbox.subscribe("{n exists, town = V5B}")
        out.publish_all({"n": n, "town": "V5B"} for n in range(6))
        listening.append(inbox.listen(stop_at_three))
        ready.set()
        listening[0].wait(30)
        assert not listening[0].active
        assert told == [0, 1, 2, 3]
        assert numbers(list(inbox.pending())) == [4, 5]


def test_a_listener_that_fails_is_heard_and_its_delivery_comes_again(address: str) -> None:
    """The error is raised where somebody waits, and nothing is settled that was not dealt with."""

    def fail(delivery: ClientDelivery) -> None:
        raise ValueError(f"cannot take {delivery.sequence}")

    with Publisher(address) as out, Subscriber("v5", address) as inbox:
        inbox.subscribe("{town = V5}")
        out.publish({"town": "V5"})
        listening = inbox.listen(fail)
        with pytest.raises(ValueError, match="cannot take"):
            listening.wait(30)
    with Subscriber("v5", address) as again:
        assert len(again.pending()) == 1


def test_a_listener_goes_on_across_reconnect(address: str) -> None:
    """Reconnecting from another thread neither ends the listener nor repeats a delivery."""
    told: queue.Queue[ClientDelivery] = queue.Queue()
    with Publisher(address) as out, Subscriber("v6", address) as inbox:
        inbox.subscribe("{n exists, town = V6}")
        with inbox.listen(told.put):
            out.publish({"n": 0, "town": "V6"})
            found = [told.get(timeout=30)]
            inbox.reconnect()
            out.publish({"n": 1, "town": "V6"})
            found.append(told.get(timeout=30))
    assert numbers(found) == [0, 1]
    assert told.empty()


def test_the_verbs_work_for_asyncio(address: str) -> None:
    """Connect, listen with a coroutine, reconnect, disconnect, unsubscribe, unpublish."""

    async def run() -> list[object]:
        told: asyncio.Queue[ClientDelivery] = asyncio.Queue()
        async with AsyncPublisher(address) as out, AsyncSubscriber("v7", address) as inbox:
            await out.connect(patience=0)
            await inbox.connect(patience=0)
            id = await inbox.subscribe("{n exists, town = V7}")
            listening = inbox.listen(told.put)
            await out.publish({"n": 0, "town": "V7"})
            found = [await told.get()]
            await inbox.reconnect(address)
            await out.publish({"n": 1, "town": "V7"})
            found.append(await told.get())
            await inbox.disconnect()
            await listening
            receipt = await out.publish({"n": 2, "town": "V7"})
            await out.unpublish(receipt.id)
            await inbox.unsubscribe(id)
            await inbox.unregister()
            return numbers(found)

    assert asyncio.run(run()) == [0, 1]


def test_a_broker_that_stays_away_can_be_given_up() -> None:
    """`disconnect` from another thread ends an iteration that waits for the broker to come back."""
    with serving() as address:
        inbox = Subscriber("v8", address, patience=600)
        inbox.connect()
    following = threading.Thread(target=lambda: list(inbox))
    following.start()
    inbox.disconnect()
    following.join(timeout=60)
    assert not following.is_alive()

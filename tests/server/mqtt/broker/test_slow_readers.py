"""Clients that do not read: they cost a bounded memory, lose nothing that is acknowledged, and go after a while."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from likewise.broker.config import MqttSettings, TenantLimits
from likewise.server.mqtt.broker.send_buffers import SendBuffers
from likewise.server.mqtt.codec import MQTT_3_1_1, FilterRequest, Puback, Publish, Reason, Subscribe, encode
from tests.server.mqtt.broker.conftest import PATIENCE, Client, devices
from tests.server.mqtt.processes import Running, listening_broker

LARGE = 90_000
TINY = 4_096  # bytes of a receive window


def connected(running: Running, name: str, window: int | None = None) -> Client:
    """A client of a broker in a process of its own."""
    made = Client(running.port, name, window=window)
    assert made.connect().reason == 0
    return made


def test_bytes_are_counted_for_each_connection_and_in_total() -> None:
    """What was written may have been read since: that is looked at before anybody waits for it."""

    class Line:
        unsent = 0

    now = [0.0]
    buffers, one, two = SendBuffers(100, lambda: now[0]), Line(), Line()
    one.unsent = 60
    buffers.note(one)
    two.unsent = 50
    buffers.note(two)
    assert buffers.total == 110
    assert buffers.full
    assert buffers.was_full
    one.unsent = 0
    assert buffers.full  # it was counted just now
    now[0] = 1.0
    assert not buffers.full
    buffers.forget(two)
    assert buffers.total == 0


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_subscribers_that_do_not_read_take_a_bounded_memory(qos: int) -> None:
    """60 messages of 90 KB at once for 60 of them would be 320 MB; a neighbour that reads gets every one."""
    with listening_broker() as running, ExitStack() as held:
        for number in range(60):
            silent = held.enter_context(connected(running, f"silent-{number}", TINY))
            silent.send(Subscribe(1, (FilterRequest("large/#", qos),)))
        reader, publisher = connected(running, "reader"), connected(running, "publisher")
        assert reader.subscribe("large/#", qos=max(1, qos)).reasons == (max(1, qos),)
        before = running.memory()
        peak, over = [before], threading.Event()

        def watch() -> None:
            while not over.wait(0.02):
                peak[0] = max(peak[0], running.memory())

        watching = threading.Thread(target=watch)
        watching.start()
        for number in range(60):
            publisher.send(Publish(f"large/{number}", bytes(LARGE), max(1, qos), packet_id=number + 1))
        assert [each.topic for each in reader.messages(60)] == [f"large/{number}" for number in range(60)]
        over.set()
        watching.join()
        assert peak[0] - before < 140


def test_what_a_client_of_qos_0_is_too_slow_for_is_lost_and_counted() -> None:
    """Others get it."""
    with devices() as home, home.client("silent", window=TINY) as silent, home.client("publisher") as publisher:
        silent.subscribe("large/#")
        deadline = time.monotonic() + PATIENCE
        while home.metric("likewise_mqtt_lost_total") == 0:
            publisher.publish("large/x", bytes(LARGE))
            assert time.monotonic() < deadline
        assert home.metric("likewise_mqtt_unsent_bytes") < 2_000_000


@pytest.mark.parametrize("qos", [1, 2])
def test_what_is_acknowledged_waits_for_a_client_that_reads_late(qos: int) -> None:
    """Every message once, in its order."""
    with devices() as home, home.client("late", window=TINY) as late, home.client("publisher") as publisher:
        late.subscribe("large/#", qos=qos)
        for number in range(80):
            publisher.publish(f"large/{number}", bytes(LARGE), qos)
        assert home.metric("likewise_mqtt_unsent_bytes") < 2_000_000
        assert [each.topic for each in late.messages(80)] == [f"large/{number}" for number in range(80)]
        assert late.settled() == []


def test_one_that_reads_is_served_while_all_together_have_too_many_bytes() -> None:
    """The bound of all connections stops those that have bytes waiting, not the others."""
    with devices(mqtt=MqttSettings(send_bytes=1)) as home, ExitStack() as held:
        for number in range(3):
            held.enter_context(home.client(f"silent-{number}", window=TINY)).subscribe("large/#")
        with home.client("reader") as reader, home.client("publisher") as publisher:
            reader.subscribe("large/#", qos=1)
            for number in range(80):
                publisher.publish(f"large/{number}", bytes(LARGE))
            assert [each.topic for each in reader.messages(80)] == [f"large/{number}" for number in range(80)]


def test_a_client_that_reads_nothing_for_too_long_is_disconnected_and_its_session_stays() -> None:
    """With 0x97, counted; what it did not read waits for it."""
    with devices(mqtt=MqttSettings(stalled_seconds=0.5)) as home, home.client("publisher") as publisher:
        stalled = home.client("stalled", window=TINY, session_expiry=600)
        stalled.subscribe("large/#", qos=1)
        for number in range(60):
            publisher.publish(f"large/{number}", bytes(LARGE))
        home.until(lambda: home.metric("likewise_mqtt_stalled_total") == 1)
        home.until(lambda: home.metric("likewise_mqtt_unsent_bytes") == 0)
        home.until(lambda: home.metric('likewise_connections_open{protocol="mqtt"}') == 1)  # the socket is gone, too
        assert stalled.again(session_expiry=600).session_present
        assert {each.topic for each in stalled.messages(60)} == {f"large/{number}" for number in range(60)}


def test_a_client_that_reads_slowly_stays() -> None:
    """Bytes that shrink are a sign of life."""
    with devices(mqtt=MqttSettings(stalled_seconds=3.0)) as home, home.client("publisher") as publisher:
        slow = home.client("slow", window=TINY)
        slow.subscribe("large/#", qos=1)
        for number in range(60):
            publisher.publish(f"large/{number}", bytes(LARGE))
        for _ in range(40):  # 8 s, a little at a time
            assert slow.more()
            time.sleep(0.2)
        assert len(slow.messages(60)) == 60
        assert home.metric("likewise_mqtt_stalled_total") == 0


def test_what_was_in_flight_is_sent_again_in_its_order_after_a_reconnect() -> None:
    """By pages: 60 messages of 90 KB are more than one."""
    with devices() as home, home.client("publisher") as publisher:
        reader = home.client("reader", session_expiry=600)
        reader.subscribe("large/#", qos=1)
        for number in range(60):
            publisher.publish(f"large/{number}", bytes(LARGE))
        reader.messages(60, acknowledge=False)
        assert reader.again(session_expiry=600).session_present
        publisher.publish("large/60", bytes(LARGE))
        assert [each.topic for each in reader.messages(61)] == [f"large/{number}" for number in range(61)]


# -- retained messages -----------------------------------------------------------------------------


def retain(publisher: Client, count: int, size: int, qos: int = 1) -> None:
    """Retain messages, a hundred at a time."""
    for first in range(0, count, 100):
        numbers = range(first, min(count, first + 100))
        for n in numbers:
            publisher.send(Publish(f"kept/{n}", b"x" * size, qos, True, packet_id=publisher.packet_id()))
        for _ in numbers:
            assert publisher.next(Puback).reason == 0


@pytest.mark.parametrize("qos", [0, 1])
def test_retained_messages_for_clients_that_do_not_read_take_a_bounded_memory(qos: int) -> None:
    """1,500 of 16 KB for 30 of them would be 700 MB; a neighbour that reads gets every one, in the order of the log."""
    with listening_broker() as running, ExitStack() as held:
        publisher = connected(running, "publisher")
        retain(publisher, 1_500, 16_000)
        before = running.memory()
        for number in range(30):
            silent = held.enter_context(connected(running, f"silent-{number}", TINY))
            silent.send(Subscribe(1, (FilterRequest("#", qos),)))
        reader = connected(running, "reader")
        reader.subscribe("kept/#", qos=qos)
        assert [each.topic for each in reader.messages(1_500)] == [f"kept/{n}" for n in range(1_500)]
        assert running.memory() - before < 120
        assert publisher.publish("neighbour/x").reason == 0  # type: ignore[union-attr]


def test_packets_of_a_client_do_not_wait_until_it_has_read_its_retained_messages() -> None:
    """A client that subscribes and then publishes without reading is heard."""
    with devices() as home, home.client("publisher") as publisher, home.client("other") as other:
        retain(publisher, 300, 30_000)
        other.subscribe("said/#")
        with home.client("silent", window=TINY) as silent:
            silent.send(Subscribe(1, (FilterRequest("kept/#", 0),)))
            silent.send(Publish("said/x", b"1"))
            assert other.next(Publish).topic == "said/x"
            silent.send(Subscribe(2, (FilterRequest("kept/#", 0),)))  # anew: they come a second time, after the first
            silent.send(Publish("said/y", b"1"))
            assert other.next(Publish).topic == "said/y"
            publisher.publish("kept/299", b"new", retain=True)
            topics: set[str] = set()
            while len(topics) < 300:
                topics.add(silent.next(Publish).topic)


def test_retained_messages_have_limits_with_a_clear_error(tmp_path: Path) -> None:
    """Of topics and of bytes, for a tenant; what is there may be replaced and ended, also after a restart."""
    limits = TenantLimits(retained_topics=2, retained_bytes=1_000)
    with devices(tmp_path, limits=limits) as home, home.client("publisher") as publisher:
        assert publisher.publish("a", b"1", retain=True).reason == 0  # type: ignore[union-attr]
        assert publisher.publish("b", b"1", retain=True).reason == 0  # type: ignore[union-attr]
        refused = publisher.publish("c", b"1", retain=True)
        assert isinstance(refused, Puback)
        assert refused.reason == Reason.QUOTA_EXCEEDED
        assert "retained topics" in (refused.properties.reason_string or "")
        assert publisher.publish("c", b"1").reason == 0  # type: ignore[union-attr]
        assert publisher.publish("a", b"2", retain=True).reason == 0  # type: ignore[union-attr]
        large = publisher.publish("a", bytes(2_000), retain=True)
        assert isinstance(large, Puback)
        assert large.reason == Reason.QUOTA_EXCEEDED
        assert "bytes" in (large.properties.reason_string or "")
        with home.client("old", MQTT_3_1_1) as old:  # it cannot be told: a dead letter says so
            old.publish("c", b"1", retain=True)
        letters = httpx.get(f"{home.url}/v1/dead-letters", timeout=PATIENCE).text
        assert "retained topics" in letters
    with devices(tmp_path, limits=limits) as home, home.client("publisher") as publisher:
        assert home.tenant.retained.bytes == 4
        assert publisher.publish("c", b"1", retain=True).reason == Reason.QUOTA_EXCEEDED  # type: ignore[union-attr]
        assert publisher.publish("a", b"", retain=True).reason == 0  # type: ignore[union-attr]
        assert publisher.publish("c", b"1", retain=True).reason == 0  # type: ignore[union-attr]
        with home.client("reader") as reader:
            reader.subscribe("+", qos=1)
            assert {each.topic for each in reader.messages(2)} == {"b", "c"}


# -- order -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("qos", [0, 1])
def test_messages_of_one_read_keep_their_order_whatever_they_say(qos: int) -> None:
    """One that is a JSON object does not overtake one that is not."""
    with devices() as home, home.client("reader") as reader, home.client("writer") as writer:
        reader.subscribe("mixed", qos=qos)
        payloads = [b"21.5", b'{"t": 1}', b'{"t": 2}', b"x", b'{"t": 3}'] * 5
        packets = [Publish("mixed", each, qos, packet_id=n + 1 if qos else 0) for n, each in enumerate(payloads)]
        writer.raw(b"".join(encode(each) for each in packets))
        assert [each.payload for each in reader.messages(len(payloads))] == payloads

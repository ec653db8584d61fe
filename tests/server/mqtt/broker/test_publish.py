"""A device's PUBLISH is an event: acknowledged when it is on disk, refused with a reason where it is."""

from __future__ import annotations

import re
import time
from pathlib import Path

import httpx
import pytest

from likewise.broker.config import MqttSettings, TenantLimits
from likewise.broker.log.entries import EVENT, Entry
from likewise.model import Event
from likewise.server.mqtt.codec import MQTT_3_1_1, MQTT_5, Puback, Pubcomp, Publish, Pubrec, Pubrel, Reason
from tests.server.mqtt.broker.conftest import Devices, devices


def entries(found: Devices, topic: str) -> list[Entry]:
    store = found.broker.store
    every = store.entries(0, store.position)
    return [each for each in every if each.kind == EVENT and each.message is not None and each.message.topic == topic]


def said(entry: Entry) -> dict[str, object]:
    assert isinstance(entry.value, Event)
    return {item.attribute: item.value for item in entry.value.tuples}


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
def test_a_message_is_an_event_with_topic_and_client_and_its_qos_stands_in_the_entry(
    home: Devices, version: int
) -> None:
    """Read as over a bridge: attributes as the device calls them, the topic and the client beside them."""
    with home.client(f"dev-{version}", version) as client:
        for qos in (1, 2):
            topic = f"pub/{version}/{qos}/temperature"
            answer = client.publish(topic, b"21.5", qos)
            assert answer is not None
            assert answer.reason == 0
            [entry] = entries(home, topic)
            assert said(entry) == {"temperature": 21.5, "topic": topic, "client": f"dev-{version}"}
            assert entry.message is not None
            assert (entry.message.qos, entry.message.payload) == (qos, b"21.5")


def test_an_acknowledgement_means_that_the_event_is_on_disk(tmp_path: Path) -> None:
    """With QoS 1 and with QoS 2: a store that is opened from elsewhere has it when the answer is there."""
    with devices(tmp_path / "data") as found, found.client("dev") as client:
        for n, qos in enumerate((1, 2, 1)):
            client.publish("disk", b"%d" % n, qos)
            from likewise.broker.log.integrity import reading_store

            with reading_store(tmp_path / "data") as tables:
                assert tables.one("SELECT count(*) FROM messages")[0] == n + 1


def test_what_none_can_read_is_kept_and_passed_on(home: Devices) -> None:
    """An image, half a JSON, nothing at all: an event with its topic, and the message as it came."""
    with home.client() as client, home.client() as reader:
        reader.subscribe("odd/#", qos=1)
        for n, payload in enumerate((b"\x89PNG\r\n\x1a\n\x00", b'{"half": ', b"", b"\xff" * 2_000_000)):
            assert client.publish(f"odd/{n}", payload).reason == 0  # type: ignore[union-attr]
            [entry] = entries(home, f"odd/{n}")
            assert said(entry)["topic"] == f"odd/{n}"
            assert [each.payload for each in reader.messages(1)] == [payload]


def test_a_strict_broker_refuses_what_cannot_be_read() -> None:
    """MQTT 5 is told 0x99; 3.1.1 is told that it was taken, and it is a dead letter."""
    with devices(mqtt=MqttSettings(strict=True)) as found:
        for version in (MQTT_5, MQTT_3_1_1):
            with found.client(f"v{version}", version) as client:
                answer = (
                    client.publish("a", b'{"half": ', content_type="application/json")
                    if version == MQTT_5
                    else client.publish("a", b'{"half": ')
                )
                assert answer is not None
                assert answer.reason == (Reason.PAYLOAD_FORMAT_INVALID if version == MQTT_5 else 0)
                assert client.publish("a", b'{"whole": 1}').reason == 0  # type: ignore[union-attr]
        letters = httpx.get(f"{found.url}/v1/dead-letters").json()
        assert [(each["reason"], each["body"]) for each in letters] == [("unreadable", '{"half": ')] * 2
        assert "published to 'a'" in letters[0]["detail"]


def test_a_map_may_be_strict(tmp_path: Path) -> None:
    """Only where it says so."""
    (tmp_path / "mine.toml").write_text('[[topic]]\ntopic = "s/{device}"\nread = "json"\nstrict = true\n')
    with devices(mqtt=MqttSettings(maps=(str(tmp_path / "mine.toml"),))) as found, found.client() as client:
        assert client.publish("s/1", b"no").reason == Reason.PAYLOAD_FORMAT_INVALID  # type: ignore[union-attr]
        assert client.publish("t/1", b"no").reason == 0  # type: ignore[union-attr]


def test_a_tenant_over_its_rate_is_told_with_mqtt_5_and_held_up_with_3_1_1() -> None:
    """0x97 and when to come again, where that can be said; nobody else's messages are lost."""
    with devices(limits=TenantLimits(rate=5)) as found:
        with found.client("five") as client:
            answers = [answer for _ in range(30) if (answer := client.publish("r", b"1")) is not None]
            assert {answer.reason for answer in answers} == {0, Reason.QUOTA_EXCEEDED}
            for answer in answers:
                if answer.reason == Reason.QUOTA_EXCEEDED:
                    reason_string = answer.properties.reason_string or ""
                    [seconds] = re.findall(r"come again in (\d+\.\d) s$", reason_string)
                    assert 0 < float(seconds) <= 0.2, reason_string  # one event of five a second
        stored = len(entries(found, "r"))
        with found.client("three", MQTT_3_1_1) as client:
            for _ in range(8):
                assert client.publish("r3", b"1").reason == 0  # type: ignore[union-attr]
        assert len(entries(found, "r3")) == 8
        assert len(entries(found, "r")) == stored


def test_the_same_id_is_stored_once_and_with_other_content_refused(home: Devices) -> None:
    """The user property `id` is the message's own."""
    with home.client() as client:
        for _ in range(2):
            assert client.publish("same", b'{"x": 1}', user=(("id", "m1"),)).reason == 0  # type: ignore[union-attr]
        answer = client.publish("same", b'{"x": 2}', user=(("id", "m1"),))
        assert answer is not None
        assert answer.reason == Reason.IMPLEMENTATION_SPECIFIC_ERROR
        assert "m1" in (answer.properties.reason_string or "")
        assert len(entries(home, "same")) == 1


def test_messages_sent_together_are_acknowledged_each(home: Devices) -> None:
    """One that is refused fails no other."""
    with home.client() as client:
        packets = [Publish("many", b'{"n": %d}' % n, 1, packet_id=n) for n in range(1, 200)]
        client.send(*packets)
        assert [client.next(Puback).packet_id for _ in packets] == [each.packet_id for each in packets]
        assert [said(entry)["n"] for entry in entries(home, "many")] == list(range(1, 200))


def test_message_expiry_is_the_end_of_the_events_validity(home: Devices) -> None:
    """And what is left of it is passed on."""
    with home.client() as client, home.client() as reader:
        reader.subscribe("ends", qos=1)
        before = time.time()
        client.publish("ends", b"1", message_expiry=1_000)
        [entry] = entries(home, "ends")
        assert entry.ends is not None
        assert before + 990 < entry.ends / 1e6 < time.time() + 1_000
        [message] = reader.messages(1)
        assert message.properties.message_expiry is not None
        assert 0 < message.properties.message_expiry <= 1_000


def test_qos_2_a_repeated_publish_is_stored_once(tmp_path: Path) -> None:
    """Until it is released; also when the client comes back, and when the broker was restarted meanwhile."""
    with devices(tmp_path / "data") as found:
        client = found.client("dev", clean=False, session_expiry=1_000)
        client.send(Publish("once", b"1", 2, packet_id=7))
        assert client.next(Pubrec).packet_id == 7
        client.send(Publish("once", b"1", 2, dup=True, packet_id=7))
        assert client.next(Pubrec).packet_id == 7
        assert client.again(session_expiry=1_000).session_present
        client.send(Publish("once", b"1", 2, dup=True, packet_id=7))
        assert client.next(Pubrec).packet_id == 7
        client.cut()
    with devices(tmp_path / "data") as found:
        client.port = found.port
        assert client.again(session_expiry=1_000).session_present
        client.send(Publish("once", b"1", 2, dup=True, packet_id=7), Pubrel(7))
        assert client.next(Pubrec).packet_id == 7
        assert client.next(Pubcomp).reason == 0
        assert len(entries(found, "once")) == 1
        client.send(Publish("once", b"2", 2, packet_id=7), Pubrel(7))  # released: another message
        client.next(Pubcomp)
        client.send(Pubrel(99))
        assert client.next(Pubcomp).reason == Reason.PACKET_IDENTIFIER_NOT_FOUND
        assert len(entries(found, "once")) == 2
        client.cut()


def test_qos_2_released_before_it_was_stored_it_is_released_then(home: Devices) -> None:
    """A client that does not wait for PUBREC: its next message under the same packet id is another one."""
    with home.client("hasty") as client:
        for number in range(1, 6):
            client.send(Publish("hasty", b"%d" % number, 2, packet_id=5), Pubrel(5))
            assert client.next(Pubrec).packet_id == 5
            assert client.next(Pubcomp).reason == 0
        assert len(entries(home, "hasty")) == 5


def test_qos_2_refused_where_nobody_can_be_told_it_is_released_once_it_is_set_aside(home: Devices) -> None:
    """Also if the client does not wait for PUBREC: each message under the same packet id is a letter of its own."""
    with home.client("hasty-3", MQTT_3_1_1) as client:
        for number in range(1, 4):
            client.send(Publish("$SYS/hasty", b"%d" % number, 2, packet_id=5), Pubrel(5))
            assert client.next(Pubrec).packet_id == 5
            assert client.next(Pubcomp).packet_id == 5
    letters = httpx.get(f"{home.url}/v1/dead-letters").json()
    assert sum("$SYS/hasty" in letter["detail"] for letter in letters) == 3


def test_a_message_of_several_events_is_passed_on_once_and_met_by_each(home: Devices) -> None:
    """An array of readings: one message for topics, each reading for meaning, the original payload."""
    pack = b'[{"pack_a": 21}, {"pack_b": 22}]'
    with home.client() as client, home.client() as reader, home.client() as meaning:
        reader.subscribe("pack", qos=1)
        meaning.subscribe("$likewise/q/%7Bpack_a%20exists%7D", "$likewise/q/%7Bpack_b%20exists%7D", qos=1)
        client.publish("pack", pack)
        client.publish("pack", b"end")
        assert [each.payload for each in reader.messages(2)] == [pack, b"end"]
        assert [each.payload for each in meaning.messages(2)] == [pack, pack]


def test_topics_of_the_broker_itself_are_not_published_to(home: Devices) -> None:
    """Other topics with a dollar are somebody's own."""
    with home.client() as client:
        for topic in ("$SYS/x", "$likewise/matches/x", "$share/g/x"):
            answer = client.publish(topic, b"1")
            assert answer is not None
            assert answer.reason == Reason.NOT_AUTHORIZED
            assert "broker's own" in (answer.properties.reason_string or "")
        assert client.publish("$mine", b"1").reason == 0  # type: ignore[union-attr]

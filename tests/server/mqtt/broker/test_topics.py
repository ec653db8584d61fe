"""Topics: who gets what, unchanged; retained messages; the options of a subscription."""

from __future__ import annotations

import httpx
import pytest

from likewise.server.mqtt.codec import MQTT_3_1_1, MQTT_5, FilterRequest, Properties, Publish, Reason
from tests.server.mqtt.broker.conftest import Devices


def test_a_filter_meets_its_topics_by_the_trie(home: Devices) -> None:
    """One level, any number of levels, and nothing with a dollar by a sign at the beginning."""
    with home.client() as one, home.client() as rest, home.client() as writer:
        one.subscribe("t1/+/c", qos=0)
        rest.subscribe("t1/#", "#", "+/x", qos=0)
        for topic in ("t1/a/c", "t1/a/b/c", "t1", "$t1/c"):
            writer.publish(topic, topic.encode(), 0)
        writer.publish("t1/end/c", b"end", 0)
        assert [each.topic for each in one.messages(2)] == ["t1/a/c", "t1/end/c"]
        assert [each.topic for each in rest.messages(4)] == ["t1/a/c", "t1/a/b/c", "t1", "t1/end/c"]


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
@pytest.mark.parametrize("asked", [0, 1, 2])
@pytest.mark.parametrize("published", [0, 1, 2])
def test_the_qos_is_the_smaller_of_both(home: Devices, version: int, asked: int, published: int) -> None:
    """Of the subscription's and of the publication's."""
    topic = f"qos/{version}/{asked}/{published}"
    with home.client(version=version) as reader, home.client() as writer:
        assert reader.subscribe(topic, qos=asked).reasons == (asked,)
        writer.publish(topic, b"1", published)
        [message] = reader.messages(1)
        assert (message.qos, message.payload) == (min(asked, published), b"1")
        assert not message.retain
        assert not message.dup


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_topic_payload_and_properties_are_passed_on_as_published_and_nothing_is_added(home: Devices, qos: int) -> None:
    """In 5 every property but the alias; in 3.1.1 the bytes."""
    said = Properties(
        payload_format=1,
        content_type="text/plain",
        response_topic="answers/1",
        correlation_data=b"\0c",
        user=(("a", "1"), ("a", "2")),
    )
    topic = f"props/{qos}"
    with home.client() as five, home.client(version=MQTT_3_1_1) as three, home.client() as writer:
        five.subscribe(topic, qos=qos)
        three.subscribe(topic, qos=qos)
        writer.send(Publish(topic, "grün".encode(), qos, packet_id=1 if qos else 0, properties=said))
        [message] = five.messages(1)
        assert (message.topic, message.payload, message.properties) == (topic, "grün".encode(), said)
        [message] = three.messages(1)
        assert (message.topic, message.payload, message.properties) == (topic, "grün".encode(), Properties())


def test_a_message_is_judged_by_the_topic_it_was_published_to(home: Devices) -> None:
    """Never by a `topic` inside its payload; an event that came over HTTP by its tuple `topic`."""
    with home.client() as reader, home.client() as live, home.client() as writer:
        reader.subscribe("judged/#", qos=1)
        live.subscribe("judged/#", qos=0)
        writer.publish("elsewhere", b'{"topic": "judged/liar"}')
        httpx.post(f"{home.url}/v1/events", json={"topic": "judged/http", "no2": 45}).raise_for_status()
        writer.publish("judged/mqtt", b"2")
        for client in (reader, live):
            first, second = client.messages(2)
            assert (first.topic, second.topic) == ("judged/http", "judged/mqtt")
            assert b'"no2":45' in first.payload.replace(b" ", b"")


def test_overlapping_filters_bring_a_message_once_with_all_their_identifiers(home: Devices) -> None:
    """With the highest QoS of them."""
    with home.client() as reader, home.client() as writer:
        reader.subscribe("over/+", qos=0, identifiers=(3,))
        reader.subscribe("over/#", qos=2, identifiers=(268_435_455,))
        writer.publish("over/a", b"1", 2)
        writer.publish("over/a", b"2", 0)
        one, two = reader.messages(2)
        for message, qos in ((one, 0), (two, 2)) if one.qos == 0 else ((one, 2), (two, 0)):
            assert message.qos == qos
            assert sorted(message.properties.subscription_identifiers) == [3, 268_435_455]
        assert not reader.settled()


@pytest.mark.parametrize("qos", [0, 1])
def test_no_local_keeps_a_clients_own_messages_from_it(home: Devices, qos: int) -> None:
    """Others' come."""
    with home.client(f"own-{qos}") as one, home.client() as other:
        one.subscribe(FilterRequest(f"local/{qos}", qos, no_local=True))
        one.publish(f"local/{qos}", b"mine", qos)
        other.publish(f"local/{qos}", b"hers", qos)
        assert [each.payload for each in one.messages(1)] == [b"hers"]
        assert not one.settled()


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_newcomer_gets_retained_messages_and_no_other_earlier_one(home: Devices, qos: int) -> None:
    """The newest of each topic, marked; what comes later is not marked unless the client wants it as published."""
    base = f"kept/{qos}"
    with home.client() as writer:
        writer.publish(f"{base}/a", b"1", qos, retain=True)
        writer.publish(f"{base}/a", b"2", qos, retain=True)
        writer.publish(f"{base}/b", b"3", qos, retain=True)
        writer.publish(f"{base}/b", b"", qos, retain=True)
        writer.publish(f"{base}/c", b"4", qos)
        with home.client() as reader, home.client() as other:
            reader.subscribe(f"{base}/#", qos=qos)
            [message] = reader.messages(1)
            assert (message.topic, message.payload, message.retain, message.qos) == (f"{base}/a", b"2", True, qos)
            other.subscribe(FilterRequest(f"{base}/#", qos, retain_as_published=True, retain_handling=2))
            writer.publish(f"{base}/a", b"5", qos, retain=True)
            assert [(each.payload, each.retain) for each in reader.messages(1)] == [(b"5", False)]
            assert [(each.payload, each.retain) for each in other.messages(1)] == [(b"5", True)]
            assert not reader.settled()


def test_retain_handling_says_whether_retained_messages_are_sent(home: Devices) -> None:
    """0 always, 1 for a new subscription alone, 2 never."""
    with home.client() as writer, home.client() as reader:
        writer.publish("handled", b"1", 1, retain=True)
        for qos in (0, 1):
            for handling, count in ((1, 1), (1, 0), (0, 1), (2, 0)):
                reader.subscribe(FilterRequest("handled", qos, retain_handling=handling))
                assert len(reader.messages(count)) == count
                assert not reader.settled()
            reader.unsubscribe("handled")


def test_an_empty_retained_message_withdraws_nothing(home: Devices) -> None:
    """The event stays; it is only not given to newcomers."""
    with home.client() as writer:
        writer.publish("withdrawn", b'{"marked": 7}', 1, retain=True)
        writer.publish("withdrawn", b"", 1, retain=True)
        with home.client() as reader:
            reader.subscribe("withdrawn", qos=1)
            assert not reader.settled()
            reader.subscribe("$likewise/q/%7Bmarked%20%3D%207%7D", qos=1)
            assert [each.payload for each in reader.messages(1)] == [b'{"marked": 7}']


def test_unsubscribing_ends_it(home: Devices) -> None:
    """Each filter is answered; one that was not asked for is said to be none."""
    with home.client() as reader, home.client() as writer:
        reader.subscribe("un/1", qos=1)
        reader.subscribe("un/0", qos=0)
        reasons = reader.unsubscribe("un/1", "un/2", "un/0").reasons
        assert reasons == (0, Reason.NO_SUBSCRIPTION_EXISTED, 0)
        writer.publish("un/1", b"1")
        writer.publish("un/0", b"1", 0)
        assert not reader.settled()


def test_asking_again_with_another_qos_takes_the_place_of_the_first(home: Devices) -> None:
    """Up and down."""
    with home.client() as reader, home.client() as writer:
        for qos in (0, 2, 1, 0, 1):
            reader.subscribe("again", qos=qos)
            writer.publish("again", b"1", 2)
            assert [each.qos for each in reader.messages(1)] == [qos]
            assert not reader.settled()


def test_a_topic_alias_stands_for_its_topic(home: Devices) -> None:
    """A device says a long topic once."""
    with home.client() as reader, home.client() as writer:
        reader.subscribe("alias/#", qos=1)
        alias = Properties(topic_alias=1)
        writer.send(Publish("alias/a", b"1", 1, packet_id=1, properties=alias))
        writer.send(Publish("", b"2", 1, packet_id=2, properties=alias))
        assert [(each.topic, each.payload) for each in reader.messages(2)] == [("alias/a", b"1"), ("alias/a", b"2")]

"""What is encoded is decoded to the same, however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    Connect,
    Decoder,
    Packet,
    Properties,
    Publish,
    SharedPublish,
    encode,
)
from likewise.server.mqtt.codec.property_bytes import PROPERTIES
from tests.server.mqtt.codec.packets import connects, from_client, from_server, payloads, properties, topics

versions = st.sampled_from((MQTT_3_1_1, MQTT_5))


def cut(data: bytes, places: list[int]) -> list[bytes]:
    marks = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in pairwise(marks)]


def fed(decoder: Decoder, parts: list[bytes]) -> list[Packet]:
    return [packet for part in parts for packet in decoder.feed(part)]


def test_the_struct_and_the_table_of_properties_have_one_order() -> None:
    """Writing goes by place."""
    assert msgspec.structs.fields(Properties)
    assert [each.name for each in msgspec.structs.fields(Properties)] == [each.name for each in PROPERTIES]


@given(st.data(), versions, st.lists(st.integers(0, 10_000), max_size=8))
def test_a_clients_packets_come_out_as_they_went_in(data: st.DataObject, version: int, places: list[int]) -> None:
    """In whatever parts they arrive; the version is learnt."""
    sent: list[Packet] = [data.draw(connects(version)), *data.draw(st.lists(from_client(version), max_size=4))]
    decoder = Decoder()
    assert fed(decoder, cut(b"".join(encode(each, version) for each in sent), places)) == sent
    assert decoder.version == version


@given(st.data(), versions)
def test_a_servers_packets_come_out_as_they_went_in(data: st.DataObject, version: int) -> None:
    """Byte by byte."""
    sent = data.draw(st.lists(from_server(version), max_size=4))
    whole = b"".join(encode(each, version) for each in sent)
    assert fed(Decoder(version, of_server=True), [whole]) == sent
    assert fed(Decoder(version, of_server=True), [whole[at : at + 1] for at in range(len(whole))]) == sent


@given(st.data(), versions, topics, payloads, st.integers(0, 2), st.booleans(), st.booleans())
def test_a_message_for_many_is_the_message_for_one(
    data: st.DataObject, version: int, topic: str, payload: bytes, qos: int, retain: bool, dup: bool
) -> None:
    """Bytes as `encode` makes them, at each call."""
    said = data.draw(properties(3, version, False))
    identifiers = tuple(data.draw(st.lists(st.integers(1, 300), max_size=2))) if version == MQTT_5 else ()
    many = SharedPublish(topic, payload, said, version)
    for packet_id in (1, 65_535):
        one = Publish(
            topic,
            payload,
            qos,
            retain,
            dup and qos > 0,
            packet_id if qos else 0,
            msgspec.structs.replace(said, subscription_identifiers=identifiers),
        )
        made = many.encode_for(qos, packet_id, retain=retain, dup=one.dup, identifiers=identifiers)
        assert list(Decoder(version, of_server=True).feed(made)) == [one]


def test_what_is_set_after_a_packet_counts_for_the_next() -> None:
    """So a listener may answer a CONNECT before it reads on."""
    sent = encode(Connect("a")) + encode(Publish("t", properties=Properties(topic_alias=3)))
    decoder = Decoder()
    reading = decoder.feed(sent)
    next(reading)
    decoder.topic_aliases = 5
    assert [packet.topic for packet in reading if isinstance(packet, Publish)] == ["t"]


def test_bytes_that_were_not_asked_for_are_kept() -> None:
    """A reader may stop between two packets and go on with the next bytes."""
    decoder = Decoder(MQTT_5)
    first = decoder.feed(encode(Publish("a")) + encode(Publish("b")) + encode(Publish("c"))[:3])
    assert next(first) == Publish("a")
    assert list(decoder.feed(encode(Publish("c"))[3:])) == [Publish("b"), Publish("c")]

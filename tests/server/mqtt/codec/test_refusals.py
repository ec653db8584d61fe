"""What is no packet is refused with the reason code that says why, before more than its head was kept."""

from __future__ import annotations

import pytest

from likewise.errors import FormatError, LimitExceeded, PacketError
from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    Connack,
    Connect,
    Decoder,
    Disconnect,
    FilterRequest,
    Packet,
    Properties,
    Puback,
    Publish,
    Reason,
    SharedPublish,
    Suback,
    Subscribe,
    Unsuback,
    encode,
    reason_of_return_code,
    return_code,
    truncate_text,
)
from likewise.server.mqtt.codec.packet_types import NAMES
from likewise.server.mqtt.codec.reasons import REASONS

MALFORMED, PROTOCOL = Reason.MALFORMED_PACKET, Reason.PROTOCOL_ERROR
HELLO = b"\x00\x04MQTT"


def packet(first: int, body: bytes) -> bytes:
    assert len(body) < 128
    return bytes((first, len(body))) + body


def feed(decoder: Decoder, parts: list[bytes], came: list[Packet] | None = None) -> None:
    for part in parts:
        for each in decoder.feed(part):
            if came is not None:
                came.append(each)


def refused(data: bytes, version: int | None, *, of_server: bool = False, largest: int = 1_000_000) -> int:
    """The reason code that bytes are refused with, whole and byte by byte."""
    reasons = set()
    for parts in ([data], [data[at : at + 1] for at in range(len(data))]):
        decoder = Decoder(version, of_server=of_server, largest=largest, topic_aliases=2)
        with pytest.raises(PacketError) as error:
            feed(decoder, parts)
        with pytest.raises(PacketError):
            list(decoder.feed(b"\xc0\x00"))  # nothing is read after an error
        reasons.add(error.value.reason)
    assert len(reasons) == 1
    return reasons.pop()


BEFORE_CONNECT = {
    "a kind that is none": (b"\x00\x00", MALFORMED),
    "flags that are none": (b"\x11\x00", MALFORMED),
    "something else first": (b"\xc0\x00", PROTOCOL),
    "a message first": (b"\x30\x03\x00\x01a", PROTOCOL),
    "another protocol": (b"GET / HTTP/1.1\r\n\r\n", MALFORMED),
    "a size without an end": (b"\x10\xff\xff\xff\xff\x01", MALFORMED),
    "another name": (packet(0x10, b"\x00\x06MQIsdp\x03\x02\x00\x00\x00\x01a"), Reason.UNSUPPORTED_PROTOCOL_VERSION),
    "another version": (packet(0x10, HELLO + b"\x06\x02\x00\x00\x00\x00\x01a"), Reason.UNSUPPORTED_PROTOCOL_VERSION),
    "the reserved flag": (packet(0x10, HELLO + b"\x04\x03\x00\x00\x00\x01a"), MALFORMED),
    "a will's QoS 3": (packet(0x10, HELLO + b"\x04\x1c\x00\x00\x00\x01a\x00\x01t\x00\x00"), MALFORMED),
    "a will's retain without a will": (packet(0x10, HELLO + b"\x04\x22\x00\x00\x00\x01a"), MALFORMED),
    "a password without a name": (packet(0x10, HELLO + b"\x04\x42\x00\x00\x00\x01a\x00\x01p"), MALFORMED),
    "bytes after the last field": (packet(0x10, HELLO + b"\x04\x02\x00\x00\x00\x01a!"), MALFORMED),
    "an end within a text": (packet(0x10, HELLO + b"\x04\x02\x00\x00\x00\x09a"), MALFORMED),
    "an end within the head": (packet(0x10, HELLO + b"\x04"), MALFORMED),
    "a name that is not UTF-8": (packet(0x10, HELLO + b"\x04\x02\x00\x00\x00\x01\xff"), MALFORMED),
    "a surrogate": (packet(0x10, HELLO + b"\x04\x02\x00\x00\x00\x03\xed\xa0\x80"), MALFORMED),
    "U+0000": (packet(0x10, HELLO + b"\x04\x02\x00\x00\x00\x01\x00"), MALFORMED),
    "a will's wildcard": (
        packet(0x10, HELLO + b"\x04\x06\x00\x00\x00\x01a\x00\x01+\x00\x00"),
        Reason.TOPIC_NAME_INVALID,
    ),
    "a packet of a server": (b"\x20\x02\x00\x00", PROTOCOL),
    "too large": (b"\x10\xff\xff\x7f\x00\x04MQTT\x05", Reason.PACKET_TOO_LARGE),
    "an unknown property": (packet(0x10, HELLO + b"\x05\x02\x00\x00\x02\x7f\x00\x00\x01a"), MALFORMED),
    "a property twice": (packet(0x10, HELLO + b"\x05\x02\x00\x00\x06\x21\x00\x01\x21\x00\x01\x00\x01a"), PROTOCOL),
    "receive maximum 0": (packet(0x10, HELLO + b"\x05\x02\x00\x00\x03\x21\x00\x00\x00\x01a"), PROTOCOL),
    "largest packet 0": (packet(0x10, HELLO + b"\x05\x02\x00\x00\x05\x27\x00\x00\x00\x00\x00\x01a"), PROTOCOL),
    "authentication without a method": (
        packet(0x10, HELLO + b"\x05\x02\x00\x00\x04\x16\x00\x01x\x00\x01a"),
        PROTOCOL,
    ),
    "a message's property": (packet(0x10, HELLO + b"\x05\x02\x00\x00\x02\x01\x00\x00\x01a"), PROTOCOL),
    "properties beyond the packet": (packet(0x10, HELLO + b"\x05\x02\x00\x00\x7e\x21\x00\x01\x00\x01a"), MALFORMED),
}

BOTH = {
    "a second CONNECT": (packet(0x10, HELLO + b"\x04\x02\x00\x00\x00\x01a"), PROTOCOL),
    "QoS 3": (packet(0x36, b"\x00\x01t\x00\x01"), MALFORMED),
    "QoS 0 repeated": (packet(0x38, b"\x00\x01t\x00"), MALFORMED),
    "no topic": (packet(0x30, b"\x00\x00\x00"), Reason.TOPIC_NAME_INVALID),
    "a topic with +": (packet(0x30, b"\x00\x03a/+\x00"), Reason.TOPIC_NAME_INVALID),
    "a topic with #": (packet(0x30, b"\x00\x03a/#\x00"), Reason.TOPIC_NAME_INVALID),
    "a topic with U+0000": (packet(0x30, b"\x00\x01\x00\x00"), MALFORMED),
    "a topic that is not UTF-8": (packet(0x30, b"\x00\x02\xc0\xaf\x00"), MALFORMED),
    "a topic beyond the packet": (packet(0x30, b"\x00\x09t"), MALFORMED),
    "packet id 0": (packet(0x32, b"\x00\x01t\x00\x00\x00"), PROTOCOL),
    "no packet id": (packet(0x32, b"\x00\x01t\x00"), MALFORMED),
    "PUBACK of 0": (packet(0x40, b"\x00\x00"), PROTOCOL),
    "PUBACK without an id": (packet(0x40, b"\x00"), MALFORMED),
    "PUBREL without its flags": (packet(0x60, b"\x00\x01"), MALFORMED),
    "PUBACK with flags": (packet(0x41, b"\x00\x01"), MALFORMED),
    "SUBSCRIBE without its flags": (packet(0x80, b"\x00\x01\x00\x00\x01a\x00"), MALFORMED),
    "PINGREQ with a body": (packet(0xC0, b"\x00"), MALFORMED),
    "PINGRESP from a client": (packet(0xD0, b""), PROTOCOL),
    "SUBACK from a client": (packet(0x90, b"\x00\x01\x00"), PROTOCOL),
    "UNSUBACK from a client": (packet(0xB0, b"\x00\x01"), PROTOCOL),
    "too large": (b"\x30\x80\x80\x80\x01", Reason.PACKET_TOO_LARGE),
    "kind 0": (b"\x0f\x00", MALFORMED),
}

OLD = {
    "nothing asked for": (packet(0x82, b"\x00\x01"), PROTOCOL),
    "nothing ended": (packet(0xA2, b"\x00\x01"), PROTOCOL),
    "options of 5": (packet(0x82, b"\x00\x01\x00\x01a\x04"), MALFORMED),
    "a filter's QoS 3": (packet(0x82, b"\x00\x01\x00\x01a\x03"), MALFORMED),
    "a filter a#": (packet(0x82, b"\x00\x01\x00\x02a#\x00"), Reason.TOPIC_FILTER_INVALID),
    "a filter #/a": (packet(0x82, b"\x00\x01\x00\x03#/a\x00"), Reason.TOPIC_FILTER_INVALID),
    "a filter a+": (packet(0x82, b"\x00\x01\x00\x02a+\x00"), Reason.TOPIC_FILTER_INVALID),
    "an empty filter": (packet(0x82, b"\x00\x01\x00\x00\x00"), Reason.TOPIC_FILTER_INVALID),
    "a filter without options": (packet(0x82, b"\x00\x01\x00\x01a"), MALFORMED),
    "a group and nothing": (packet(0x82, b"\x00\x01\x00\x08$share/g\x00"), Reason.TOPIC_FILTER_INVALID),
    "no group": (packet(0x82, b"\x00\x01\x00\x09$share//a\x00"), Reason.TOPIC_FILTER_INVALID),
    "a group with +": (packet(0xA2, b"\x00\x01\x00\x0b$share/g+/a"), Reason.TOPIC_FILTER_INVALID),
    "PUBACK with a reason": (packet(0x40, b"\x00\x01\x00"), MALFORMED),
    "DISCONNECT with a reason": (packet(0xE0, b"\x00"), MALFORMED),
    "AUTH": (packet(0xF0, b""), PROTOCOL),
}

NEW = {
    "a size in too many bytes": (b"\xc0\x80\x00", MALFORMED),
    "a property's size in too many bytes": (packet(0x30, b"\x00\x01t\x80\x00"), MALFORMED),
    "no properties": (packet(0x30, b"\x00\x01t"), MALFORMED),
    "retain handling 3": (packet(0x82, b"\x00\x01\x00\x00\x01a\x30"), PROTOCOL),
    "reserved options": (packet(0x82, b"\x00\x01\x00\x00\x01a\x40"), MALFORMED),
    "no local, shared": (packet(0x82, b"\x00\x01\x00\x00\x0a$share/g/a\x04"), PROTOCOL),
    "nothing asked for": (packet(0x82, b"\x00\x01\x00"), PROTOCOL),
    "subscription identifier 0": (packet(0x82, b"\x00\x01\x02\x0b\x00\x00\x01a\x00"), PROTOCOL),
    "two subscription identifiers": (packet(0x82, b"\x00\x01\x04\x0b\x01\x0b\x02\x00\x01a\x00"), PROTOCOL),
    "a client's identifier": (packet(0x30, b"\x00\x01t\x02\x0b\x01"), PROTOCOL),
    "alias 0": (packet(0x30, b"\x00\x01t\x03\x23\x00\x00"), Reason.TOPIC_ALIAS_INVALID),
    "an alias beyond the largest": (packet(0x30, b"\x00\x01t\x03\x23\x00\x03"), Reason.TOPIC_ALIAS_INVALID),
    "an alias for nothing": (packet(0x30, b"\x00\x00\x03\x23\x00\x02"), PROTOCOL),
    "payload format 2": (packet(0x30, b"\x00\x01t\x02\x01\x02"), PROTOCOL),
    "a response topic with #": (packet(0x30, b"\x00\x01t\x04\x08\x00\x01#"), Reason.TOPIC_NAME_INVALID),
    "a reason that PUBACK has not": (packet(0x40, b"\x00\x01\x01"), PROTOCOL),
    "a reason that PUBREL has not": (packet(0x62, b"\x00\x01\x80"), PROTOCOL),
    "a reason that DISCONNECT has not": (packet(0xE0, b"\x01"), PROTOCOL),
    "a reason that AUTH has not": (packet(0xF0, b"\x01\x00"), PROTOCOL),
    "AUTH without properties": (packet(0xF0, b"\x18"), MALFORMED),
    "bytes after PUBACK": (packet(0x40, b"\x00\x01\x00\x00!"), MALFORMED),
    "bytes after DISCONNECT": (packet(0xE0, b"\x00\x00!"), MALFORMED),
    "a property that is cut": (packet(0x30, b"\x00\x01t\x02\x02\x00"), MALFORMED),
    "a pair that is cut": (packet(0x30, b"\x00\x01t\x04\x26\x00\x01a"), MALFORMED),
}

OF_SERVER = {
    "CONNECT": (b"\x10\x00", PROTOCOL),
    "SUBSCRIBE": (b"\x82\x00", PROTOCOL),
    "PINGREQ": (b"\xc0\x00", PROTOCOL),
    "CONNACK's flags": (packet(0x20, b"\x02\x00\x00"), MALFORMED),
    "CONNACK's reason": (packet(0x20, b"\x00\x01\x00"), PROTOCOL),
    "an empty SUBACK": (packet(0x90, b"\x00\x01\x00"), PROTOCOL),
    "SUBACK's reason": (packet(0x90, b"\x00\x01\x00\x03"), PROTOCOL),
    "an empty UNSUBACK": (packet(0xB0, b"\x00\x01\x00"), MALFORMED),
}


@pytest.mark.parametrize("case", BEFORE_CONNECT)
def test_what_comes_before_a_connect_is_refused(case: str) -> None:
    data, reason = BEFORE_CONNECT[case]
    assert refused(data, None) == reason


@pytest.mark.parametrize("version", [MQTT_3_1_1, MQTT_5])
@pytest.mark.parametrize("case", BOTH)
def test_what_no_version_has_is_refused(case: str, version: int) -> None:
    data, reason = BOTH[case]
    assert refused(data, version) == reason


@pytest.mark.parametrize("case", OLD)
def test_what_mqtt_3_1_1_has_not_is_refused(case: str) -> None:
    data, reason = OLD[case]
    assert refused(data, MQTT_3_1_1) == reason


@pytest.mark.parametrize("case", NEW)
def test_what_mqtt_5_has_not_is_refused(case: str) -> None:
    data, reason = NEW[case]
    assert refused(data, MQTT_5) == reason


@pytest.mark.parametrize("case", OF_SERVER)
def test_what_a_server_cannot_say_is_refused(case: str) -> None:
    data, reason = OF_SERVER[case]
    assert refused(data, MQTT_5, of_server=True) == reason


@pytest.mark.parametrize("kind", REASONS, ids=lambda kind: NAMES[kind])
def test_each_answer_may_say_its_reasons_and_no_other(kind: int) -> None:
    """All 256, for each kind of packet that has a reason."""
    first = kind << 4 | (2 if NAMES[kind] == "PUBREL" else 0)
    heads = {"CONNACK": (b"\0", b"\0"), "DISCONNECT": (b"", b"\0"), "AUTH": (b"", b"\0")}
    begin, end = heads.get(NAMES[kind], (b"\0\1\0", b"") if "SUBACK" in NAMES[kind] else (b"\0\1", b"\0"))
    taken = set()
    for code in range(256):
        sent = packet(first, begin + bytes((code,)) + end)
        if code not in REASONS[kind]:
            assert refused(sent, MQTT_5, of_server=True) == PROTOCOL
            continue
        [read] = Decoder(MQTT_5, of_server=True).feed(sent)
        taken.add(read.reasons[0] if isinstance(read, Suback | Unsuback) else getattr(read, "reason", None))
    assert taken == REASONS[kind]


def test_packets_before_a_malformed_one_come_out_first() -> None:
    """So that a good message in the same read is not lost."""
    came: list[Packet] = []
    with pytest.raises(PacketError):
        feed(Decoder(MQTT_5), [encode(Publish("a")) + encode(Publish("b")) + b"\x00\x00"], came)
    assert came == [Publish("a"), Publish("b")]


def test_a_size_in_more_bytes_than_it_needs_is_taken_from_old_devices() -> None:
    """MQTT 3.1.1 does not forbid it."""
    assert len(list(Decoder(MQTT_3_1_1).feed(b"\xc0\x80\x00"))) == 1


def test_the_largest_packet_is_counted_with_its_head() -> None:
    """One byte more is refused."""
    sent = encode(Publish("t", b"x" * 200))
    assert len(list(Decoder(MQTT_5, largest=len(sent)).feed(sent))) == 1
    assert refused(sent, MQTT_5, largest=len(sent) - 1) == Reason.PACKET_TOO_LARGE


def test_an_alias_stands_for_the_topic_it_was_given_last() -> None:
    """And the packet says the whole topic."""
    decoder = Decoder(MQTT_5, topic_aliases=1)
    alias = Properties(topic_alias=1)
    sent = [Publish("a", properties=alias), Publish("", properties=alias), Publish("b", properties=alias)]
    sent.append(Publish("", properties=alias))
    came = list(decoder.feed(b"".join(encode(each) for each in sent)))
    assert [each.topic for each in came if isinstance(each, Publish)] == ["a", "a", "b", "b"]


UNSAYABLE: dict[str, tuple[Packet, int]] = {
    "a long topic": (Publish("x" * 65_536), MQTT_5),
    "a topic with U+0000": (Publish("a\0b"), MQTT_5),
    "a surrogate": (Publish("\ud800"), MQTT_5),
    "no packet id": (Publish("a", qos=1), MQTT_5),
    "an expiry below 0": (Publish("a", properties=Properties(message_expiry=-1)), MQTT_5),
    "an expiry too large": (Publish("a", properties=Properties(message_expiry=2**32)), MQTT_5),
    "a property of another packet": (Publish("a", properties=Properties(reason_string="no")), MQTT_5),
    "identifier 0": (Subscribe(1, (FilterRequest("a"),), Properties(subscription_identifiers=(0,))), MQTT_5),
    "a password without a name": (Connect("a", MQTT_3_1_1, password=b"p"), MQTT_3_1_1),
}


@pytest.mark.parametrize("case", UNSAYABLE)
def test_what_cannot_be_said_is_not_encoded(case: str) -> None:
    """With an error of the tree."""
    with pytest.raises((FormatError, LimitExceeded)):
        encode(*UNSAYABLE[case])


def test_what_only_5_can_say_is_left_out_for_3_1_1() -> None:
    """And its failures are translated."""
    said = Properties(reason_string="full")
    assert encode(Puback(1, Reason.QUOTA_EXCEEDED, said), MQTT_3_1_1) == b"\x40\x02\x00\x01"
    assert encode(Suback(1, (1, Reason.NOT_AUTHORIZED), said), MQTT_3_1_1) == b"\x90\x04\x00\x01\x01\x80"
    assert encode(Connack(False, Reason.NOT_AUTHORIZED, said), MQTT_3_1_1) == b"\x20\x02\x00\x05"
    assert encode(Disconnect(Reason.SERVER_BUSY, said), MQTT_3_1_1) == b"\xe0\x00"
    assert SharedPublish("a", b"1", Properties(content_type="x"), MQTT_3_1_1).encode_for(0) == b"\x30\x04\x00\x01a1"
    for code in range(6):
        reason = reason_of_return_code(code)
        assert reason is not None
        assert return_code(reason) == code
    assert reason_of_return_code(6) is None


def test_words_are_made_fit_to_be_said() -> None:
    """Whatever they hold, and however long they are."""
    for words in ("a\0b", "\ud83d\ude00 \udfff", "é" * 40_000, ""):
        [came] = Decoder(MQTT_5).feed(encode(Publish(truncate_text(words) or "-")))
        assert isinstance(came, Publish)
        assert len(came.topic.encode()) <= 65_535

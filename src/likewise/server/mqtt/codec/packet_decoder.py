"""Packets from bytes (MQTT 5.0 and 3.1.1, chapter 3), one function a packet.

Each takes the bytes, where the packet's fields begin, where it ends, the flags of its first byte and the version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from likewise.errors import PacketError
from likewise.server.mqtt.codec.fields import malformed, out_of_place, read_binary, read_byte, read_number, read_text
from likewise.server.mqtt.codec.packet_types import (
    AUTH,
    CONNACK,
    CONNECT,
    DISCONNECT,
    NAMES,
    PINGREQ,
    PINGRESP,
    PUBACK,
    PUBCOMP,
    PUBLISH,
    PUBREC,
    PUBREL,
    SUBACK,
    SUBSCRIBE,
    UNSUBACK,
    UNSUBSCRIBE,
    WILL,
)
from likewise.server.mqtt.codec.packets import (
    MQTT_3_1_1,
    MQTT_5,
    Auth,
    Connack,
    Connect,
    Disconnect,
    Packet,
    Pingreq,
    Pingresp,
    Puback,
    Pubcomp,
    Publish,
    Pubrec,
    Pubrel,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
    Will,
    Wish,
)
from likewise.server.mqtt.codec.properties import NO_PROPERTIES, Properties
from likewise.server.mqtt.codec.property_bytes import read_properties
from likewise.server.mqtt.codec.reasons import REASONS, Reason, reason_of_return_code
from likewise.server.mqtt.codec.topics import SHARED, check_asked, check_topic

Reading = Callable[[bytes, int, int, int, int], Packet]


def read_publish(data: bytes, at: int, end: int, flags: int, version: int) -> Publish:
    """A PUBLISH as it stands: with an alias its topic may be ''."""
    begin = at + 2
    if begin > end or (at := begin + (data[at] << 8 | data[at + 1])) > end:
        malformed("a PUBLISH ends within its topic")
    try:
        topic = data[begin:at].decode()
    except UnicodeDecodeError as error:
        malformed(f"the topic of a PUBLISH is not UTF-8: {error.reason} at byte {error.start}")
    if "\0" in topic:
        malformed("the topic of a PUBLISH has the character U+0000")
    qos, packet_id = flags >> 1 & 3, 0
    if qos:
        packet_id, at = _read_packet_id(data, at, end)
        if qos == 3:
            malformed("a PUBLISH has QoS 3; there are 0, 1 and 2")
    elif flags & 8:
        malformed("a PUBLISH with QoS 0 says that it is repeated")
    properties = NO_PROPERTIES
    if version == MQTT_5:
        properties, at = read_properties(data, at, end, PUBLISH)
    if "+" in topic or "#" in topic or (not topic and properties.topic_alias is None):
        check_topic(topic)
    return Publish(topic, data[at:end], qos, bool(flags & 1), bool(flags & 8), packet_id, properties)


def _read_packet_id(data: bytes, at: int, end: int) -> tuple[int, int]:
    if at + 2 > end:
        malformed("a packet of MQTT ends before its packet id")
    packet_id = data[at] << 8 | data[at + 1]
    if packet_id == 0:
        out_of_place("0 is no packet id")
    return packet_id, at + 2


def read_connect(data: bytes, at: int, end: int, flags: int, version: int) -> Connect:
    """A CONNECT; it says its version itself."""
    name, at = read_binary(data, at, end)
    level, at = read_byte(data, at, end)
    if name != b"MQTT" or level not in (MQTT_3_1_1, MQTT_5):
        raise PacketError("this speaks MQTT 3.1.1 and 5 only", reason=Reason.UNSUPPORTED_PROTOCOL_VERSION)
    asked, at = read_byte(data, at, end)
    if asked & 1 or (not asked & 4 and asked & 0b111000) or asked & 0b11000 == 0b11000:
        malformed(f"{asked:#04x} are no flags of a CONNECT")
    if level == MQTT_3_1_1 and asked & 0x40 and not asked & 0x80:
        malformed("a CONNECT of MQTT 3.1.1 has a password and no user name")
    keep_alive, at = read_number(data, at, end, 2)
    properties, at = _properties(data, at, end, CONNECT, level)
    client_id, at = read_text(data, at, end)
    will = username = password = None
    if asked & 4:
        said, at = _properties(data, at, end, WILL, level)
        topic, at = read_text(data, at, end)
        check_topic(topic)
        payload, at = read_binary(data, at, end)
        will = Will(topic, payload, asked >> 3 & 3, bool(asked & 0x20), said)
    if asked & 0x80:
        username, at = read_text(data, at, end)
    if asked & 0x40:
        password, at = read_binary(data, at, end)
    _at_end(at, end, CONNECT)
    return Connect(client_id, level, bool(asked & 2), keep_alive, username, password, will, properties)


def read_connack(data: bytes, at: int, end: int, flags: int, version: int) -> Connack:
    """A CONNACK; 3.1.1's return code as the reason code it stands for."""
    present, at = read_byte(data, at, end)
    if present > 1:
        malformed(f"{present:#04x} are no flags of a CONNACK")
    code, at = read_byte(data, at, end)
    reason: int | None = reason_of_return_code(code) if version == MQTT_3_1_1 else _reason(code, CONNACK)
    if reason is None:
        out_of_place(f"{code:#04x} is no return code of a CONNACK")
    properties, at = _properties(data, at, end, CONNACK, version)
    _at_end(at, end, CONNACK)
    return Connack(bool(present), reason, properties)


def _reading_acknowledgement(made: type[Puback | Pubrec | Pubrel | Pubcomp], packet: int) -> Reading:
    def read(data: bytes, at: int, end: int, flags: int, version: int) -> Packet:
        packet_id, at = _read_packet_id(data, at, end)
        if at == end:
            return made(packet_id)
        if version == MQTT_3_1_1:
            malformed(f"a {NAMES[packet]} of MQTT 3.1.1 goes on after its packet id")
        reason = _reason(data[at], packet)
        if at + 1 == end:
            return made(packet_id, reason)
        properties, at = read_properties(data, at + 1, end, packet)
        _at_end(at, end, packet)
        return made(packet_id, reason, properties)

    return read


def read_subscribe(data: bytes, at: int, end: int, flags: int, version: int) -> Subscribe:
    """A SUBSCRIBE with at least one filter."""
    packet_id, at = _read_packet_id(data, at, end)
    properties, at = _properties(data, at, end, SUBSCRIBE, version)
    wishes: list[Wish] = []
    while at < end:
        asked, at = read_text(data, at, end)
        check_asked(asked)
        options, at = read_byte(data, at, end)
        if options & 3 == 3 or options & (0xC0 if version == MQTT_5 else 0xFC):
            malformed(f"{options:#04x} are no options of a filter")
        if options & 0x30 == 0x30:
            out_of_place("a filter's retain handling is 3; there are 0, 1 and 2")
        if options & 4 and asked.startswith(SHARED):
            out_of_place("a filter that is shared cannot leave out what its own client publishes")
        wishes.append(Wish(asked, options & 3, bool(options & 4), bool(options & 8), options >> 4))
    if not wishes:
        out_of_place("a SUBSCRIBE asks for nothing")
    return Subscribe(packet_id, tuple(wishes), properties)


def read_unsubscribe(data: bytes, at: int, end: int, flags: int, version: int) -> Unsubscribe:
    """An UNSUBSCRIBE with at least one filter."""
    packet_id, at = _read_packet_id(data, at, end)
    properties, at = _properties(data, at, end, UNSUBSCRIBE, version)
    filters: list[str] = []
    while at < end:
        asked, at = read_text(data, at, end)
        check_asked(asked)
        filters.append(asked)
    if not filters:
        out_of_place("an UNSUBSCRIBE names nothing")
    return Unsubscribe(packet_id, tuple(filters), properties)


def read_suback(data: bytes, at: int, end: int, flags: int, version: int) -> Suback:
    """A SUBACK; 3.1.1 knows one failure only."""
    packet_id, at = _read_packet_id(data, at, end)
    properties, at = _properties(data, at, end, SUBACK, version)
    reasons = tuple(_reason(code, SUBACK) for code in data[at:end])
    if not reasons or (version == MQTT_3_1_1 and not {0, 1, 2, 0x80}.issuperset(reasons)):
        out_of_place("a SUBACK says nothing or what MQTT 3.1.1 cannot say")
    return Suback(packet_id, reasons, properties)


def read_unsuback(data: bytes, at: int, end: int, flags: int, version: int) -> Unsuback:
    """An UNSUBACK; in 3.1.1 without reasons."""
    packet_id, at = _read_packet_id(data, at, end)
    properties, at = _properties(data, at, end, UNSUBACK, version)
    if (at < end) != (version == MQTT_5):
        malformed("an UNSUBACK has reasons in MQTT 5, and in MQTT 3.1.1 none")
    return Unsuback(packet_id, tuple(_reason(code, UNSUBACK) for code in data[at:end]), properties)


def read_pingreq(data: bytes, at: int, end: int, flags: int, version: int) -> Pingreq:
    """A PINGREQ."""
    _at_end(at, end, PINGREQ)
    return Pingreq()


def read_pingresp(data: bytes, at: int, end: int, flags: int, version: int) -> Pingresp:
    """A PINGRESP."""
    _at_end(at, end, PINGRESP)
    return Pingresp()


def read_disconnect(data: bytes, at: int, end: int, flags: int, version: int) -> Disconnect:
    """A DISCONNECT."""
    if at == end:
        return Disconnect()
    if version == MQTT_3_1_1:
        malformed("a DISCONNECT of MQTT 3.1.1 says nothing more")
    reason = _reason(data[at], DISCONNECT)
    if at + 1 == end:
        return Disconnect(reason)
    properties, at = read_properties(data, at + 1, end, DISCONNECT)
    _at_end(at, end, DISCONNECT)
    return Disconnect(reason, properties)


def read_auth(data: bytes, at: int, end: int, flags: int, version: int) -> Auth:
    """An AUTH, of MQTT 5."""
    if version == MQTT_3_1_1:
        out_of_place("MQTT 3.1.1 has no AUTH")
    if at == end:
        return Auth()
    reason = _reason(data[at], AUTH)
    properties, at = read_properties(data, at + 1, end, AUTH)
    _at_end(at, end, AUTH)
    return Auth(reason, properties)


def _properties(data: bytes, at: int, end: int, packet: int, version: int) -> tuple[Properties, int]:
    return read_properties(data, at, end, packet) if version == MQTT_5 else (NO_PROPERTIES, at)


def _reason(code: int, packet: int) -> int:
    if code not in REASONS[packet]:
        out_of_place(f"{code:#04x} is no reason code of a {NAMES[packet]}")
    return code


def _at_end(at: int, end: int, packet: int) -> None:
    if at != end:
        malformed(f"a {NAMES[packet]} goes on after its last field")


READING: Final[dict[int, Reading]] = {
    CONNECT: read_connect,
    CONNACK: read_connack,
    PUBLISH: read_publish,
    PUBACK: _reading_acknowledgement(Puback, PUBACK),
    PUBREC: _reading_acknowledgement(Pubrec, PUBREC),
    PUBREL: _reading_acknowledgement(Pubrel, PUBREL),
    PUBCOMP: _reading_acknowledgement(Pubcomp, PUBCOMP),
    SUBSCRIBE: read_subscribe,
    SUBACK: read_suback,
    UNSUBSCRIBE: read_unsubscribe,
    UNSUBACK: read_unsuback,
    PINGREQ: read_pingreq,
    PINGRESP: read_pingresp,
    DISCONNECT: read_disconnect,
    AUTH: read_auth,
}

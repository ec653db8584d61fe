"""Packets to bytes (MQTT 5.0 and 3.1.1, chapter 3), one function a packet.

One message to many recipients: what is the same for all of them is encoded once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from likewise.errors import FormatError
from likewise.server.mqtt.codec.fields import LONGEST_FIELD, encode_binary, encode_text, encode_variable
from likewise.server.mqtt.codec.packet_types import PUBLISH, PacketType
from likewise.server.mqtt.codec.packets import (
    MQTT_3_1_1,
    MQTT_5,
    Acknowledgement,
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
)
from likewise.server.mqtt.codec.properties import NO_PROPERTIES, Properties
from likewise.server.mqtt.codec.property_bytes import encode_properties, encode_properties_body
from likewise.server.mqtt.codec.reasons import FAILED, return_code


class SharedPublish:
    """A message for all recipients of one version. Only QoS, flags, packet id and subscription identifiers differ.

    >>> many = SharedPublish("a/b", b"21.5")
    >>> many.encode_for(0), many.encode_for(1, 7)
    (b'0\\n\\x00\\x03a/b\\x0021.5', b'2\\x0c\\x00\\x03a/b\\x00\\x07\\x0021.5')
    """

    __slots__ = ("_made", "_payload", "_properties", "_topic", "_version")

    def __init__(
        self, topic: str, payload: bytes, properties: Properties = NO_PROPERTIES, version: int = MQTT_5
    ) -> None:
        self._topic = encode_text(topic)
        self._payload = payload
        self._version = version
        five = version == MQTT_5 and properties is not NO_PROPERTIES
        self._properties = encode_properties_body(properties, PUBLISH) if five else b""
        self._made: dict[tuple[int, tuple[int, ...]], tuple[bytes, bytes]] = {}

    @property
    def size(self) -> int:
        """Return how many bytes it keeps, about: the payload, which most recipients' packets share."""
        return len(self._payload)

    def encode_for(
        self,
        qos: int,
        packet_id: int = 0,
        *,
        retain: bool = False,
        dup: bool = False,
        identifiers: tuple[int, ...] = (),
    ) -> bytes:
        """Return the packet for one recipient; `identifiers` are those of its subscriptions that the message meets."""
        first = 0x30 | dup << 3 | qos << 1 | retain
        halves = self._made.get((first, identifiers))
        if halves is None:
            halves = self._made[first, identifiers] = self._halves(first, identifiers)
        if qos:
            return halves[0] + packet_id.to_bytes(2) + halves[1]
        return halves[0] + halves[1]

    def _halves(self, first: int, identifiers: tuple[int, ...]) -> tuple[bytes, bytes]:
        tail = self._payload
        if self._version == MQTT_5:
            properties = self._properties + b"".join(b"\x0b" + encode_variable(each) for each in identifiers)
            tail = encode_variable(len(properties)) + properties + tail
        size = len(self._topic) + (2 if first & 6 else 0) + len(tail)
        return first.to_bytes() + encode_variable(size) + self._topic, tail


_acknowledgement: Final = struct.Struct(">BBH").pack  # one without a reason
_with_reason: Final = struct.Struct(">BBHB").pack


def encode(packet: Packet, version: int = MQTT_5) -> bytes:
    """Encode a packet. For 3.1.1, what only 5 has is left out.

    >>> encode(Puback(258)), encode(Puback(1, reason=0x97)), encode(Puback(1, reason=0x97), MQTT_3_1_1)
    (b'@\\x02\\x01\\x02', b'@\\x03\\x00\\x01\\x97', b'@\\x02\\x00\\x01')
    >>> encode(Publish("a/b", b"21.5", qos=1, packet_id=7), MQTT_3_1_1)
    b'2\\x0b\\x00\\x03a/b\\x00\\x0721.5'
    """
    return _WRITING[type(packet)](packet, version)


def _packet(first: int, body: bytes) -> bytes:
    return first.to_bytes() + encode_variable(len(body)) + body


def _properties(properties: Properties, packet: int, version: int) -> bytes:
    return encode_properties(properties, packet) if version == MQTT_5 else b""


def _packet_id(number: int) -> bytes:
    if not 0 < number <= LONGEST_FIELD:
        raise FormatError(f"{number} is no packet id; one from 1 to 65,535 is needed")
    return number.to_bytes(2)


def _write_publish(packet: Publish, version: int) -> bytes:
    qos = packet.qos
    flags = 0x30 | packet.dup << 3 | qos << 1 | packet.retain
    body = encode_text(packet.topic)
    if qos:
        body += _packet_id(packet.packet_id)
    if version == MQTT_5:
        body += encode_properties(packet.properties, PUBLISH)
    return flags.to_bytes() + encode_variable(len(body) + len(packet.payload)) + body + packet.payload


def _acknowledgement_writer(kind: int, flags: int = 0) -> Callable[[Any, int], bytes]:
    first = kind << 4 | flags

    def write(packet: Acknowledgement, version: int) -> bytes:
        if version == MQTT_3_1_1 or (packet.reason == 0 and packet.properties is NO_PROPERTIES):
            return _acknowledgement(first, 2, packet.packet_id)
        if packet.properties is NO_PROPERTIES:
            return _with_reason(first, 3, packet.packet_id, packet.reason)
        body = _packet_id(packet.packet_id) + packet.reason.to_bytes() + encode_properties(packet.properties, kind)
        return _packet(first, body)

    return write


def _write_connect(packet: Connect, version: int) -> bytes:
    level, will = packet.version, packet.will
    if level == MQTT_3_1_1 and packet.username is None and packet.password is not None:
        raise FormatError("a CONNECT of MQTT 3.1.1 with a password needs a user name")
    flags = packet.clean_start << 1 | (packet.password is not None) << 6 | (packet.username is not None) << 7
    parts = [encode_text("MQTT"), level.to_bytes(), b"", packet.keep_alive.to_bytes(2)]
    parts += _properties(packet.properties, PacketType.CONNECT, level), encode_text(packet.client_id)
    if will is not None:
        flags |= 4 | will.qos << 3 | will.retain << 5
        parts += (
            _properties(will.properties, PacketType.WILL, level),
            encode_text(will.topic),
            encode_binary(will.payload),
        )
    if packet.username is not None:
        parts.append(encode_text(packet.username))
    if packet.password is not None:
        parts.append(encode_binary(packet.password))
    parts[2] = flags.to_bytes()
    return _packet(PacketType.CONNECT << 4, b"".join(parts))


def _write_connack(packet: Connack, version: int) -> bytes:
    code = packet.reason if version == MQTT_5 else return_code(packet.reason)
    body = bytes((packet.session_present, code)) + _properties(packet.properties, PacketType.CONNACK, version)
    return _packet(PacketType.CONNACK << 4, body)


def _write_subscribe(packet: Subscribe, version: int) -> bytes:
    parts = [_packet_id(packet.packet_id), _properties(packet.properties, PacketType.SUBSCRIBE, version)]
    for wish in packet.requests:
        options = wish.qos
        if version == MQTT_5:
            options |= wish.no_local << 2 | wish.retain_as_published << 3 | wish.retain_handling << 4
        parts += encode_text(wish.filter), options.to_bytes()
    return _packet(PacketType.SUBSCRIBE << 4 | 2, b"".join(parts))


def _write_suback(packet: Suback, version: int) -> bytes:
    reasons = packet.reasons
    if version == MQTT_3_1_1:
        reasons = tuple(min(reason, FAILED) for reason in reasons)
    properties = _properties(packet.properties, PacketType.SUBACK, version)
    return _packet(PacketType.SUBACK << 4, _packet_id(packet.packet_id) + properties + bytes(reasons))


def _write_unsubscribe(packet: Unsubscribe, version: int) -> bytes:
    properties = _properties(packet.properties, PacketType.UNSUBSCRIBE, version)
    body = _packet_id(packet.packet_id) + properties + b"".join(encode_text(each) for each in packet.filters)
    return _packet(PacketType.UNSUBSCRIBE << 4 | 2, body)


def _write_unsuback(packet: Unsuback, version: int) -> bytes:
    body = _packet_id(packet.packet_id)
    if version == MQTT_5:
        body += encode_properties(packet.properties, PacketType.UNSUBACK) + bytes(packet.reasons)
    return _packet(PacketType.UNSUBACK << 4, body)


def _write_disconnect(packet: Disconnect, version: int) -> bytes:
    if version == MQTT_3_1_1 or (packet.reason == 0 and packet.properties is NO_PROPERTIES):
        return b"\xe0\0"
    return _packet(
        PacketType.DISCONNECT << 4,
        packet.reason.to_bytes() + encode_properties(packet.properties, PacketType.DISCONNECT),
    )


def _write_auth(packet: Auth, version: int) -> bytes:
    if version == MQTT_3_1_1:
        raise FormatError("MQTT 3.1.1 has no AUTH")
    return _packet(
        PacketType.AUTH << 4, packet.reason.to_bytes() + encode_properties(packet.properties, PacketType.AUTH)
    )


_WRITING: Final[dict[type[Packet], Callable[[Any, int], bytes]]] = {
    Connect: _write_connect,
    Connack: _write_connack,
    Publish: _write_publish,
    Puback: _acknowledgement_writer(PacketType.PUBACK),
    Pubrec: _acknowledgement_writer(PacketType.PUBREC),
    Pubrel: _acknowledgement_writer(PacketType.PUBREL, 2),
    Pubcomp: _acknowledgement_writer(PacketType.PUBCOMP),
    Subscribe: _write_subscribe,
    Suback: _write_suback,
    Unsubscribe: _write_unsubscribe,
    Unsuback: _write_unsuback,
    Pingreq: lambda packet, version: b"\xc0\0",
    Pingresp: lambda packet, version: b"\xd0\0",
    Disconnect: _write_disconnect,
    Auth: _write_auth,
}

"""Packets to bytes (MQTT 5.0 and 3.1.1, chapter 3), one function a packet."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from likewise.errors import FormatError
from likewise.server.mqtt.codec.fields import LONGEST_FIELD, binary, text, variable
from likewise.server.mqtt.codec.packet_types import (
    AUTH,
    CONNACK,
    CONNECT,
    DISCONNECT,
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
)
from likewise.server.mqtt.codec.properties import NO_PROPERTIES, Properties
from likewise.server.mqtt.codec.property_bytes import write_properties
from likewise.server.mqtt.codec.reasons import FAILED, return_code

_acknowledgement: Final = struct.Struct(">BBH").pack  # one without a reason
_with_reason: Final = struct.Struct(">BBHB").pack


def encode(packet: Packet, version: int = MQTT_5) -> bytes:
    """A packet in bytes. For 3.1.1 what only 5 can say is left out.

    >>> encode(Puback(258)), encode(Puback(1, reason=0x97)), encode(Puback(1, reason=0x97), MQTT_3_1_1)
    (b'@\\x02\\x01\\x02', b'@\\x03\\x00\\x01\\x97', b'@\\x02\\x00\\x01')
    >>> encode(Publish("a/b", b"21.5", qos=1, packet_id=7), MQTT_3_1_1)
    b'2\\x0b\\x00\\x03a/b\\x00\\x0721.5'
    """
    return _WRITING[type(packet)](packet, version)


def _packet(first: int, body: bytes) -> bytes:
    return first.to_bytes() + variable(len(body)) + body


def _properties(properties: Properties, packet: int, version: int) -> bytes:
    return write_properties(properties, packet) if version == MQTT_5 else b""


def _packet_id(number: int) -> bytes:
    if not 0 < number <= LONGEST_FIELD:
        raise FormatError(f"{number} is no packet id; one from 1 to 65,535 is needed")
    return number.to_bytes(2)


def _write_publish(packet: Publish, version: int) -> bytes:
    qos = packet.qos
    flags = 0x30 | packet.dup << 3 | qos << 1 | packet.retain
    body = text(packet.topic)
    if qos:
        body += _packet_id(packet.packet_id)
    if version == MQTT_5:
        body += write_properties(packet.properties, PUBLISH)
    return flags.to_bytes() + variable(len(body) + len(packet.payload)) + body + packet.payload


def _writing_acknowledgement(kind: int, flags: int = 0) -> Callable[[Any, int], bytes]:
    first = kind << 4 | flags

    def write(packet: Puback | Pubrec | Pubrel | Pubcomp, version: int) -> bytes:
        if version == MQTT_3_1_1 or (packet.reason == 0 and packet.properties is NO_PROPERTIES):
            return _acknowledgement(first, 2, packet.packet_id)
        if packet.properties is NO_PROPERTIES:
            return _with_reason(first, 3, packet.packet_id, packet.reason)
        body = _packet_id(packet.packet_id) + packet.reason.to_bytes() + write_properties(packet.properties, kind)
        return _packet(first, body)

    return write


def _write_connect(packet: Connect, version: int) -> bytes:
    level, will = packet.version, packet.will
    if level == MQTT_3_1_1 and packet.username is None and packet.password is not None:
        raise FormatError("a CONNECT of MQTT 3.1.1 with a password needs a user name")
    flags = packet.clean_start << 1 | (packet.password is not None) << 6 | (packet.username is not None) << 7
    parts = [text("MQTT"), level.to_bytes(), b"", packet.keep_alive.to_bytes(2)]
    parts += _properties(packet.properties, CONNECT, level), text(packet.client_id)
    if will is not None:
        flags |= 4 | will.qos << 3 | will.retain << 5
        parts += _properties(will.properties, WILL, level), text(will.topic), binary(will.payload)
    if packet.username is not None:
        parts.append(text(packet.username))
    if packet.password is not None:
        parts.append(binary(packet.password))
    parts[2] = flags.to_bytes()
    return _packet(CONNECT << 4, b"".join(parts))


def _write_connack(packet: Connack, version: int) -> bytes:
    code = packet.reason if version == MQTT_5 else return_code(packet.reason)
    body = bytes((packet.session_present, code)) + _properties(packet.properties, CONNACK, version)
    return _packet(CONNACK << 4, body)


def _write_subscribe(packet: Subscribe, version: int) -> bytes:
    parts = [_packet_id(packet.packet_id), _properties(packet.properties, SUBSCRIBE, version)]
    for wish in packet.wishes:
        options = wish.qos
        if version == MQTT_5:
            options |= wish.no_local << 2 | wish.retain_as_published << 3 | wish.retain_handling << 4
        parts += text(wish.filter), options.to_bytes()
    return _packet(SUBSCRIBE << 4 | 2, b"".join(parts))


def _write_suback(packet: Suback, version: int) -> bytes:
    reasons = packet.reasons
    if version == MQTT_3_1_1:
        reasons = tuple(min(reason, FAILED) for reason in reasons)
    properties = _properties(packet.properties, SUBACK, version)
    return _packet(SUBACK << 4, _packet_id(packet.packet_id) + properties + bytes(reasons))


def _write_unsubscribe(packet: Unsubscribe, version: int) -> bytes:
    properties = _properties(packet.properties, UNSUBSCRIBE, version)
    body = _packet_id(packet.packet_id) + properties + b"".join(text(each) for each in packet.filters)
    return _packet(UNSUBSCRIBE << 4 | 2, body)


def _write_unsuback(packet: Unsuback, version: int) -> bytes:
    body = _packet_id(packet.packet_id)
    if version == MQTT_5:
        body += write_properties(packet.properties, UNSUBACK) + bytes(packet.reasons)
    return _packet(UNSUBACK << 4, body)


def _write_disconnect(packet: Disconnect, version: int) -> bytes:
    if version == MQTT_3_1_1 or (packet.reason == 0 and packet.properties is NO_PROPERTIES):
        return b"\xe0\0"
    return _packet(DISCONNECT << 4, packet.reason.to_bytes() + write_properties(packet.properties, DISCONNECT))


def _write_auth(packet: Auth, version: int) -> bytes:
    if version == MQTT_3_1_1:
        raise FormatError("MQTT 3.1.1 has no AUTH")
    return _packet(AUTH << 4, packet.reason.to_bytes() + write_properties(packet.properties, AUTH))


_WRITING: Final[dict[type[Packet], Callable[[Any, int], bytes]]] = {
    Connect: _write_connect,
    Connack: _write_connack,
    Publish: _write_publish,
    Puback: _writing_acknowledgement(PUBACK),
    Pubrec: _writing_acknowledgement(PUBREC),
    Pubrel: _writing_acknowledgement(PUBREL, 2),
    Pubcomp: _writing_acknowledgement(PUBCOMP),
    Subscribe: _write_subscribe,
    Suback: _write_suback,
    Unsubscribe: _write_unsubscribe,
    Unsuback: _write_unsuback,
    Pingreq: lambda packet, version: b"\xc0\0",
    Pingresp: lambda packet, version: b"\xd0\0",
    Disconnect: _write_disconnect,
    Auth: _write_auth,
}

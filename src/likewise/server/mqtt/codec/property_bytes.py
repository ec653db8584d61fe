"""Properties to and from bytes (MQTT 5.0, section 2.2.2): which packet may have which, and how each is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from likewise.errors import FormatError, PacketError
from likewise.server.mqtt.codec.fields import (
    encode_binary,
    encode_text,
    encode_variable,
    malformed,
    protocol_error,
    read_binary,
    read_byte,
    read_number,
    read_text,
    read_variable,
)
from likewise.server.mqtt.codec.packet_types import NAMES, PUBLISH, PacketType
from likewise.server.mqtt.codec.properties import NO_PROPERTIES, Properties
from likewise.server.mqtt.codec.reasons import Reason
from likewise.server.mqtt.codec.topics import check_topic

_MESSAGE: Final = (PUBLISH, PacketType.WILL)
_CONNECTING: Final = (PacketType.CONNECT, PacketType.CONNACK)
_AUTHENTICATING: Final = (PacketType.CONNECT, PacketType.CONNACK, PacketType.AUTH)
_ANSWERS: Final = (
    PacketType.CONNACK,
    PacketType.PUBACK,
    PacketType.PUBREC,
    PacketType.PUBREL,
    PacketType.PUBCOMP,
    PacketType.SUBACK,
    PacketType.UNSUBACK,
    PacketType.DISCONNECT,
    PacketType.AUTH,
)
_ALL: Final = (*(kind for kind in range(16) if kind not in (PacketType.PINGREQ, PacketType.PINGRESP)),)

_Decoder = Callable[[bytes, int, int], tuple[Any, int]]
_Encoder = Callable[[Any], bytes]


class _PropertyCodec(NamedTuple):
    """Codec of a property; `fits` checks its value."""

    read: _Decoder
    write: _Encoder
    fits: Callable[[Any], bool] = lambda value: True


def _number(size: int, least: int = 0) -> _PropertyCodec:
    def read(data: bytes, at: int, end: int) -> tuple[int, int]:
        return read_number(data, at, end, size)

    def write(value: int) -> bytes:
        return value.to_bytes(size)

    return _PropertyCodec(read, write, lambda value: least <= value < 256**size)


def _read_pair(data: bytes, at: int, end: int) -> tuple[tuple[str, str], int]:
    name, at = read_text(data, at, end)
    value, at = read_text(data, at, end)
    return (name, value), at


_FLAG: Final = _PropertyCodec(read_byte, int.to_bytes, lambda value: 0 <= value <= 1)
_TEXT: Final = _PropertyCodec(read_text, encode_text)
_BINARY: Final = _PropertyCodec(read_binary, encode_binary)
_PAIR: Final = _PropertyCodec(_read_pair, lambda pair: encode_text(pair[0]) + encode_text(pair[1]))
_IDENTIFIER: Final = _PropertyCodec(read_variable, encode_variable, lambda value: value > 0)
_TWO, _FOUR, _FROM_ONE, _FOUR_FROM_ONE = _number(2), _number(4), _number(2, 1), _number(4, 1)


class Property(NamedTuple):
    """A property: its number, its name in `Properties`, which packets may have it, and whether several times."""

    number: int
    name: str
    kind: _PropertyCodec
    packets: tuple[int, ...]
    several: bool = False


PROPERTIES: Final = (
    Property(0x01, "payload_format", _FLAG, _MESSAGE),
    Property(0x02, "message_expiry", _FOUR, _MESSAGE),
    Property(0x03, "content_type", _TEXT, _MESSAGE),
    Property(0x08, "response_topic", _TEXT, _MESSAGE),
    Property(0x09, "correlation_data", _BINARY, _MESSAGE),
    Property(0x0B, "subscription_identifiers", _IDENTIFIER, (PUBLISH, PacketType.SUBSCRIBE), several=True),
    Property(0x11, "session_expiry", _FOUR, (PacketType.CONNECT, PacketType.CONNACK, PacketType.DISCONNECT)),
    Property(0x12, "assigned_client_id", _TEXT, (PacketType.CONNACK,)),
    Property(0x13, "server_keep_alive", _TWO, (PacketType.CONNACK,)),
    Property(0x15, "authentication_method", _TEXT, _AUTHENTICATING),
    Property(0x16, "authentication_data", _BINARY, _AUTHENTICATING),
    Property(0x17, "request_problem_information", _FLAG, (PacketType.CONNECT,)),
    Property(0x18, "will_delay", _FOUR, (PacketType.WILL,)),
    Property(0x19, "request_response_information", _FLAG, (PacketType.CONNECT,)),
    Property(0x1A, "response_information", _TEXT, (PacketType.CONNACK,)),
    Property(0x1C, "server_reference", _TEXT, (PacketType.CONNACK, PacketType.DISCONNECT)),
    Property(0x1F, "reason_string", _TEXT, _ANSWERS),
    Property(0x21, "receive_maximum", _FROM_ONE, _CONNECTING),
    Property(0x22, "topic_alias_maximum", _TWO, _CONNECTING),
    Property(0x23, "topic_alias", _TWO, (PUBLISH,)),
    Property(0x24, "maximum_qos", _FLAG, (PacketType.CONNACK,)),
    Property(0x25, "retain_available", _FLAG, (PacketType.CONNACK,)),
    Property(0x26, "user", _PAIR, _ALL, several=True),
    Property(0x27, "maximum_packet_size", _FOUR_FROM_ONE, _CONNECTING),
    Property(0x28, "wildcards_available", _FLAG, (PacketType.CONNACK,)),
    Property(0x29, "subscription_identifiers_available", _FLAG, (PacketType.CONNACK,)),
    Property(0x2A, "shared_available", _FLAG, (PacketType.CONNACK,)),
)
_BY_NUMBER: Final = {each.number: each for each in PROPERTIES}
_WRITTEN: Final = tuple((each.number.to_bytes(), each.name, each.kind, each.packets) for each in PROPERTIES)


def read_properties(data: bytes, at: int, end: int, packet: int) -> tuple[Properties, int]:
    """Return the properties of a packet (or of its will), with their length before them."""
    if at < end and data[at] == 0:
        return NO_PROPERTIES, at + 1
    size, at = read_variable(data, at, end)
    if at + size > end:
        malformed(f"the properties of a {NAMES[packet]} end after the packet")
    end = at + size
    values: dict[str, Any] = {}
    while at < end:
        known = _BY_NUMBER.get(data[at])
        if known is None:
            malformed(f"{data[at]:#04x} is no property of MQTT 5")
        if packet not in known.packets:
            protocol_error(f"a {NAMES[packet]} has no property {known.name}")
        value, at = known.kind.read(data, at + 1, end)
        if not known.kind.fits(value):
            protocol_error(f"{value} cannot be the property {known.name}")
        if known.several and (known.name == "user" or packet == PUBLISH):
            values.setdefault(known.name, []).append(value)
        elif known.name in values:
            protocol_error(f"a {NAMES[packet]} has the property {known.name} twice")
        else:
            values[known.name] = [value] if known.several else value
    return _validated(values), at


def _validated(values: dict[str, Any]) -> Properties:
    for name in ("user", "subscription_identifiers"):
        if name in values:
            values[name] = tuple(values[name])
    if "response_topic" in values:
        check_topic(values["response_topic"])
    if values.get("topic_alias") == 0:
        raise PacketError("0 is no alias of a topic", reason=Reason.TOPIC_ALIAS_INVALID)
    if "authentication_data" in values and "authentication_method" not in values:
        protocol_error("data to authenticate with come without their method")
    return Properties(**values)


def encode_properties(properties: Properties, packet: int) -> bytes:
    """Return a packet's properties with their length before them."""
    if properties is NO_PROPERTIES:
        return b"\0"
    written = encode_properties_body(properties, packet)
    return encode_variable(len(written)) + written


def encode_properties_body(properties: Properties, packet: int) -> bytes:
    """Return a packet's properties without their length."""
    parts: list[bytes] = []
    values = msgspec.structs.astuple(properties)
    for place, value in enumerate(values):
        if value is None or value == ():
            continue
        sign, name, kind, packets = _WRITTEN[place]
        if packet not in packets:
            raise FormatError(f"a {NAMES[packet]} has no property {name}; leave it out")
        several = value if type(value) is tuple else (value,)
        for each in several:
            if not kind.fits(each):
                raise FormatError(f"{each!r} cannot be the property {name} of a {NAMES[packet]}")
            parts += sign, kind.write(each)
    return b"".join(parts)

"""The packets in a stream of bytes, however it is cut.

Packets from bytes (MQTT 5.0 and 3.1.1, chapter 3), one function a packet.

Each takes the bytes, where the packet's fields begin, where it ends, the flags of its first byte and the version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from likewise.errors import PacketError
from likewise.server.mqtt.codec.fields import (
    LARGEST_PACKET,
    malformed,
    protocol_error,
    read_binary,
    read_byte,
    read_number,
    read_text,
)
from likewise.server.mqtt.codec.packet_types import BY_A_CLIENT, BY_A_SERVER, FLAGS, NAMES, PUBLISH, PacketType
from likewise.server.mqtt.codec.packets import (
    MQTT_3_1_1,
    MQTT_5,
    Acknowledgement,
    Auth,
    Connack,
    Connect,
    Disconnect,
    FilterRequest,
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
)
from likewise.server.mqtt.codec.properties import NO_PROPERTIES, Properties
from likewise.server.mqtt.codec.property_bytes import read_properties
from likewise.server.mqtt.codec.reasons import REASONS, Reason, reason_of_return_code
from likewise.server.mqtt.codec.topics import SHARED, check_topic, check_topic_filter

PacketReader = Callable[[bytes, int, int, int, int], Packet]


def read_publish(data: bytes, at: int, end: int, flags: int, version: int) -> Publish:
    """Decode a PUBLISH; with an alias its topic may be ''."""
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
        protocol_error("0 is no packet id")
    return packet_id, at + 2


def read_connect(data: bytes, at: int, end: int, flags: int, version: int) -> Connect:
    """Decode a CONNECT, which states its version itself."""
    name, at = read_binary(data, at, end)
    level, at = read_byte(data, at, end)
    if name != b"MQTT" or level not in (MQTT_3_1_1, MQTT_5):
        raise PacketError("this speaks MQTT 3.1.1 and 5 only", reason=Reason.UNSUPPORTED_PROTOCOL_VERSION)
    flags_byte, at = read_byte(data, at, end)
    if flags_byte & 1 or (not flags_byte & 4 and flags_byte & 0b111000) or flags_byte & 0b11000 == 0b11000:
        malformed(f"{flags_byte:#04x} are no flags of a CONNECT")
    if level == MQTT_3_1_1 and flags_byte & 0x40 and not flags_byte & 0x80:
        malformed("a CONNECT of MQTT 3.1.1 has a password and no user name")
    keep_alive, at = read_number(data, at, end, 2)
    properties, at = _properties(data, at, end, PacketType.CONNECT, level)
    client_id, at = read_text(data, at, end)
    will = username = password = None
    if flags_byte & 4:
        will_properties, at = _properties(data, at, end, PacketType.WILL, level)
        topic, at = read_text(data, at, end)
        check_topic(topic)
        payload, at = read_binary(data, at, end)
        will = Will(topic, payload, flags_byte >> 3 & 3, bool(flags_byte & 0x20), will_properties)
    if flags_byte & 0x80:
        username, at = read_text(data, at, end)
    if flags_byte & 0x40:
        password, at = read_binary(data, at, end)
    _at_end(at, end, PacketType.CONNECT)
    return Connect(client_id, level, bool(flags_byte & 2), keep_alive, username, password, will, properties)


def read_connack(data: bytes, at: int, end: int, flags: int, version: int) -> Connack:
    """Return a CONNACK; 3.1.1's return code as the reason code it stands for."""
    present, at = read_byte(data, at, end)
    if present > 1:
        malformed(f"{present:#04x} are no flags of a CONNACK")
    code, at = read_byte(data, at, end)
    reason: int | None = reason_of_return_code(code) if version == MQTT_3_1_1 else _reason(code, PacketType.CONNACK)
    if reason is None:
        protocol_error(f"{code:#04x} is no return code of a CONNACK")
    properties, at = _properties(data, at, end, PacketType.CONNACK, version)
    _at_end(at, end, PacketType.CONNACK)
    return Connack(bool(present), reason, properties)


def _acknowledgement_reader(made: type[Acknowledgement], packet: int) -> PacketReader:
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
    """Return a SUBSCRIBE with at least one filter."""
    packet_id, at = _read_packet_id(data, at, end)
    properties, at = _properties(data, at, end, PacketType.SUBSCRIBE, version)
    wishes: list[FilterRequest] = []
    while at < end:
        topic_filter, at = read_text(data, at, end)
        check_topic_filter(topic_filter)
        options, at = read_byte(data, at, end)
        if options & 3 == 3 or options & (0xC0 if version == MQTT_5 else 0xFC):
            malformed(f"{options:#04x} are no options of a filter")
        if options & 0x30 == 0x30:
            protocol_error("a filter's retain handling is 3; there are 0, 1 and 2")
        if options & 4 and topic_filter.startswith(SHARED):
            protocol_error("a filter that is shared cannot leave out what its own client publishes")
        wishes.append(FilterRequest(topic_filter, options & 3, bool(options & 4), bool(options & 8), options >> 4))
    if not wishes:
        protocol_error("a SUBSCRIBE asks for nothing")
    return Subscribe(packet_id, tuple(wishes), properties)


def read_unsubscribe(data: bytes, at: int, end: int, flags: int, version: int) -> Unsubscribe:
    """Return an UNSUBSCRIBE with at least one filter."""
    packet_id, at = _read_packet_id(data, at, end)
    properties, at = _properties(data, at, end, PacketType.UNSUBSCRIBE, version)
    filters: list[str] = []
    while at < end:
        topic_filter, at = read_text(data, at, end)
        check_topic_filter(topic_filter)
        filters.append(topic_filter)
    if not filters:
        protocol_error("an UNSUBSCRIBE names nothing")
    return Unsubscribe(packet_id, tuple(filters), properties)


def read_suback(data: bytes, at: int, end: int, flags: int, version: int) -> Suback:
    """Return a SUBACK; 3.1.1 knows one failure only."""
    packet_id, at = _read_packet_id(data, at, end)
    properties, at = _properties(data, at, end, PacketType.SUBACK, version)
    reasons = tuple(_reason(code, PacketType.SUBACK) for code in data[at:end])
    if not reasons or (version == MQTT_3_1_1 and not {0, 1, 2, 0x80}.issuperset(reasons)):
        protocol_error("a SUBACK says nothing or what MQTT 3.1.1 cannot say")
    return Suback(packet_id, reasons, properties)


def read_unsuback(data: bytes, at: int, end: int, flags: int, version: int) -> Unsuback:
    """Return an UNSUBACK; in 3.1.1 without reasons."""
    packet_id, at = _read_packet_id(data, at, end)
    properties, at = _properties(data, at, end, PacketType.UNSUBACK, version)
    if (at < end) != (version == MQTT_5):
        malformed("an UNSUBACK has reasons in MQTT 5, and in MQTT 3.1.1 none")
    return Unsuback(packet_id, tuple(_reason(code, PacketType.UNSUBACK) for code in data[at:end]), properties)


def read_pingreq(data: bytes, at: int, end: int, flags: int, version: int) -> Pingreq:
    """Return a PINGREQ."""
    _at_end(at, end, PacketType.PINGREQ)
    return Pingreq()


def read_pingresp(data: bytes, at: int, end: int, flags: int, version: int) -> Pingresp:
    """Return a PINGRESP."""
    _at_end(at, end, PacketType.PINGRESP)
    return Pingresp()


def read_disconnect(data: bytes, at: int, end: int, flags: int, version: int) -> Disconnect:
    """Return a DISCONNECT."""
    if at == end:
        return Disconnect()
    if version == MQTT_3_1_1:
        malformed("a DISCONNECT of MQTT 3.1.1 says nothing more")
    reason = _reason(data[at], PacketType.DISCONNECT)
    if at + 1 == end:
        return Disconnect(reason)
    properties, at = read_properties(data, at + 1, end, PacketType.DISCONNECT)
    _at_end(at, end, PacketType.DISCONNECT)
    return Disconnect(reason, properties)


def read_auth(data: bytes, at: int, end: int, flags: int, version: int) -> Auth:
    """Return an AUTH, of MQTT 5."""
    if version == MQTT_3_1_1:
        protocol_error("MQTT 3.1.1 has no AUTH")
    if at == end:
        return Auth()
    reason = _reason(data[at], PacketType.AUTH)
    properties, at = read_properties(data, at + 1, end, PacketType.AUTH)
    _at_end(at, end, PacketType.AUTH)
    return Auth(reason, properties)


def _properties(data: bytes, at: int, end: int, packet: int, version: int) -> tuple[Properties, int]:
    return read_properties(data, at, end, packet) if version == MQTT_5 else (NO_PROPERTIES, at)


def _reason(code: int, packet: int) -> int:
    if code not in REASONS[packet]:
        protocol_error(f"{code:#04x} is no reason code of a {NAMES[packet]}")
    return code


def _at_end(at: int, end: int, packet: int) -> None:
    if at != end:
        malformed(f"a {NAMES[packet]} goes on after its last field")


READERS: Final[dict[int, PacketReader]] = {
    PacketType.CONNECT: read_connect,
    PacketType.CONNACK: read_connack,
    PUBLISH: read_publish,
    PacketType.PUBACK: _acknowledgement_reader(Puback, PacketType.PUBACK),
    PacketType.PUBREC: _acknowledgement_reader(Pubrec, PacketType.PUBREC),
    PacketType.PUBREL: _acknowledgement_reader(Pubrel, PacketType.PUBREL),
    PacketType.PUBCOMP: _acknowledgement_reader(Pubcomp, PacketType.PUBCOMP),
    PacketType.SUBSCRIBE: read_subscribe,
    PacketType.SUBACK: read_suback,
    PacketType.UNSUBSCRIBE: read_unsubscribe,
    PacketType.UNSUBACK: read_unsuback,
    PacketType.PINGREQ: read_pingreq,
    PacketType.PINGRESP: read_pingresp,
    PacketType.DISCONNECT: read_disconnect,
    PacketType.AUTH: read_auth,
}


_PROTOCOL_BYTES: Final = 7  # the protocol's name and version, the first fields of a CONNECT


class Decoder:
    """Reads what one side of a connection sends: a client's packets, or (`of_server`) a server's.

    `version` is learnt from CONNECT by whoever reads a client and given by whoever reads a server. A packet larger than
    `largest` is refused as soon as its head is there, so that no more than that (and one read) is ever kept.
    `topic_aliases` is how many aliases of topics the other side may use; a PUBLISH always comes with its full topic.
    All three may be set between packets. After an error nothing more is read.

    >>> decoder = Decoder()
    >>> [packet] = decoder.feed(b"\\x10\\x10\\0\\4MQTT\\4\\2\\0\\x3c\\0\\4roof")
    >>> packet.client_id, packet.keep_alive, decoder.version
    ('roof', 60, 4)
    >>> list(decoder.feed(b"\\xc0\\0\\xc0"))
    [Pingreq()]
    >>> list(decoder.feed(b"\\1\\0"))
    Traceback (most recent call last):
    likewise.errors.PacketError: a PINGREQ goes on after its last field (reason code 0x81); the connection ends
    """

    __slots__ = ("_aliases", "_at", "_broken", "_data", "_needed", "_refused", "largest", "topic_aliases", "version")

    def __init__(
        self,
        version: int | None = None,
        *,
        largest: int = LARGEST_PACKET,
        topic_aliases: int = 0,
        of_server: bool = False,
    ) -> None:
        self.version = version
        self.largest = largest
        self.topic_aliases = topic_aliases
        self._refused: Final = BY_A_CLIENT if of_server else BY_A_SERVER
        self._aliases: dict[int, str] | None = None
        self._data: bytes | bytearray = b""  # what is not read yet
        self._at = 0
        self._needed = 2  # bytes before the next packet can be read
        self._broken: PacketError | None = None

    @property
    def buffered(self) -> int:
        """Return how many bytes of a packet that is not complete are kept."""
        return len(self._data) - self._at

    def drop(self) -> None:
        """Drop what is kept of an incomplete packet: the connection is over."""
        self._data, self._at = b"", 0

    def feed(self, data: bytes) -> Iterator[Packet]:
        """Yield the packets that these bytes complete. Raises `PacketError` at a malformed one.

        The bytes are taken at once, a packet is read when it is asked for: what is set after one counts for the next.
        """
        if self._at == len(self._data):
            self._data, self._at = data, 0
        else:
            if not isinstance(self._data, bytearray):
                self._data, self._at = bytearray(memoryview(self._data)[self._at :]), 0
            self._data += data
        return self._packets()

    def _packets(self) -> Iterator[Packet]:
        if self._broken is not None:
            raise self._broken
        try:
            while len(self._data) - self._at >= self._needed:
                if (packet := self._next()) is not None:
                    yield packet
        except PacketError as error:
            self._broken = error
            self._data, self._at = b"", 0
            raise

    def _next(self) -> Packet | None:
        """Decode the next packet; None if it is incomplete."""
        data, at = self._data, self._at
        if isinstance(data, bytearray):
            data = self._data = bytes(data)
        first = data[at]
        kind = first >> 4
        if kind != PUBLISH or self.version is None:
            self._check_head(kind, first & 15)
        size, body = data[at + 1], at + 2
        if size >= 0x80:
            size, body = self._size(data, at + 1)
            if body == 0:  # its end is not there yet
                self._needed = len(data) - at + 1
                return None
        end = body + size
        if end - at > self.largest:
            if kind == PacketType.CONNECT and not self._peek_version(data, body):
                self._needed = body - at + _PROTOCOL_BYTES
                return None
            raise PacketError(
                f"a {NAMES[kind]} has {end - at:,} bytes, at most {self.largest:,} are taken",
                reason=Reason.PACKET_TOO_LARGE,
            )
        if end > len(data):
            self._needed = end - at
            return None
        packet = READERS[kind](data, body, end, first & 15, self.version or MQTT_5)
        self._at = end
        self._needed = 2
        if kind == PUBLISH:
            properties = packet.properties  # type: ignore[union-attr]
            if properties.topic_alias is not None or properties.subscription_identifiers:
                return self._resolved(packet)  # type: ignore[arg-type]
        elif kind == PacketType.CONNECT:
            self.version = packet.version  # type: ignore[union-attr]
        return packet

    def _check_head(self, kind: int, flags: int) -> None:
        """Refuse what cannot come here, before its bytes are waited for."""
        if kind == 0:
            malformed("0 is no kind of packet of MQTT")
        if kind != PUBLISH and flags != FLAGS[kind]:
            malformed(f"{flags:#03x} are no flags of a {NAMES[kind]}")
        if kind in self._refused:
            protocol_error(f"the other side cannot send a {NAMES[kind]}")
        if self._refused is BY_A_SERVER and (kind == PacketType.CONNECT) != (self.version is None):
            protocol_error("a client's first packet is a CONNECT, and no other is")

    def _peek_version(self, data: bytes, body: int) -> bool:
        """Learn the version of a CONNECT that is too large: only MQTT 5 has a reason code for that.

        Returns:
            Whether enough of the packet is there to tell.
        """
        if len(data) < body + _PROTOCOL_BYTES:
            return False
        if data[body : body + 6] == b"\0\4MQTT" and data[body + 6] == MQTT_5:
            self.version = MQTT_5
        return True

    def _size(self, data: bytes, at: int) -> tuple[int, int]:
        """Return how many bytes follow the fixed header, and where; (0, 0) if the number is incomplete."""
        size = 0
        for place in range(4):
            if at + place == len(data):
                return 0, 0
            byte = data[at + place]
            size |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                if byte == 0 and self.version == MQTT_5:  # 3.1.1 does not forbid it, and small devices do it
                    malformed("the size of a packet of MQTT stands in more bytes than it needs")
                return size, at + place + 1
        malformed("the size of a packet of MQTT has no end")

    def _resolved(self, packet: Publish) -> Publish:
        """Return a PUBLISH with the topic that its alias stands for."""
        if packet.properties.subscription_identifiers and self._refused is BY_A_SERVER:
            protocol_error("a client's PUBLISH has a subscription identifier")
        alias = packet.properties.topic_alias
        if alias is None:
            return packet
        if alias > self.topic_aliases:
            raise PacketError(
                f"the alias {alias} of a topic is larger than {self.topic_aliases}, the largest allowed",
                reason=Reason.TOPIC_ALIAS_INVALID,
            )
        if self._aliases is None:
            self._aliases = {}
        if packet.topic:
            self._aliases[alias] = packet.topic
            return packet
        if alias not in self._aliases:
            protocol_error(f"the alias {alias} stands for no topic")
        return msgspec.structs.replace(packet, topic=self._aliases[alias])

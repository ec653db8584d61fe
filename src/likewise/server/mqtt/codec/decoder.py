"""The packets in a stream of bytes, however it is cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from likewise.errors import PacketError
from likewise.server.mqtt.codec.fields import LARGEST_PACKET, malformed, out_of_place
from likewise.server.mqtt.codec.packet_decoder import READING
from likewise.server.mqtt.codec.packet_types import BY_A_CLIENT, BY_A_SERVER, CONNECT, FLAGS, NAMES, PUBLISH
from likewise.server.mqtt.codec.packets import MQTT_5, Packet, Publish
from likewise.server.mqtt.codec.reasons import Reason

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

    def feed(self, data: bytes) -> Iterator[Packet]:
        """The packets that are complete with these bytes; raises `PacketError` where a malformed one stands.

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
        """The next packet; None if it is not there as a whole."""
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
            if kind == CONNECT and not self._peek_version(data, body):
                self._needed = body - at + _PROTOCOL_BYTES
                return None
            raise PacketError(
                f"a {NAMES[kind]} has {end - at:,} bytes, at most {self.largest:,} are taken",
                reason=Reason.PACKET_TOO_LARGE,
            )
        if end > len(data):
            self._needed = end - at
            return None
        packet = READING[kind](data, body, end, first & 15, self.version or MQTT_5)
        self._at = end
        self._needed = 2
        if kind == PUBLISH:
            properties = packet.properties  # type: ignore[union-attr]
            if properties.topic_alias is not None or properties.subscription_identifiers:
                return self._resolved(packet)  # type: ignore[arg-type]
        elif kind == CONNECT:
            self.version = packet.version  # type: ignore[union-attr]
        return packet

    def _check_head(self, kind: int, flags: int) -> None:
        """Refuse what cannot come here, before its bytes are waited for."""
        if kind == 0:
            malformed("0 is no kind of packet of MQTT")
        if kind != PUBLISH and flags != FLAGS[kind]:
            malformed(f"{flags:#03x} are no flags of a {NAMES[kind]}")
        if kind in self._refused:
            out_of_place(f"the other side cannot send a {NAMES[kind]}")
        if self._refused is BY_A_SERVER and (kind == CONNECT) != (self.version is None):
            out_of_place("a client's first packet is a CONNECT, and no other is")

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
        """How many bytes follow the head, and where; (0, 0) if the number has not ended yet."""
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
        """A PUBLISH with the topic that its alias stands for."""
        if packet.properties.subscription_identifiers and self._refused is BY_A_SERVER:
            out_of_place("a client's PUBLISH has a subscription identifier")
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
            out_of_place(f"the alias {alias} stands for no topic")
        return msgspec.structs.replace(packet, topic=self._aliases[alias])

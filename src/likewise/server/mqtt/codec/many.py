"""One message to many recipients: what is the same for all of them is encoded once."""

from __future__ import annotations

from likewise.server.mqtt.codec.fields import text, variable
from likewise.server.mqtt.codec.packet_types import PUBLISH
from likewise.server.mqtt.codec.packets import MQTT_5
from likewise.server.mqtt.codec.properties import NO_PROPERTIES, Properties
from likewise.server.mqtt.codec.property_bytes import written_properties


class PublishForMany:
    """A message for all recipients of one version. Only QoS, flags, packet id and subscription identifiers differ.

    >>> many = PublishForMany("a/b", b"21.5")
    >>> many.to(0), many.to(1, 7)
    (b'0\\n\\x00\\x03a/b\\x0021.5', b'2\\x0c\\x00\\x03a/b\\x00\\x07\\x0021.5')
    """

    __slots__ = ("_made", "_payload", "_properties", "_topic", "_version")

    def __init__(
        self, topic: str, payload: bytes, properties: Properties = NO_PROPERTIES, version: int = MQTT_5
    ) -> None:
        self._topic = text(topic)
        self._payload = payload
        self._version = version
        five = version == MQTT_5 and properties is not NO_PROPERTIES
        self._properties = written_properties(properties, PUBLISH) if five else b""
        self._made: dict[tuple[int, tuple[int, ...]], tuple[bytes, bytes]] = {}

    @property
    def size(self) -> int:
        """Return how many bytes it keeps, about: the payload, which most recipients' packets share."""
        return len(self._payload)

    def to(
        self,
        qos: int,
        packet_id: int = 0,
        *,
        retain: bool = False,
        dup: bool = False,
        identifiers: tuple[int, ...] = (),
    ) -> bytes:
        """The packet for one recipient; `identifiers` are those of its subscriptions that the message meets."""
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
            properties = self._properties + b"".join(b"\x0b" + variable(each) for each in identifiers)
            tail = variable(len(properties)) + properties + tail
        size = len(self._topic) + (2 if first & 6 else 0) + len(tail)
        return first.to_bytes() + variable(size) + self._topic, tail

"""Messages as they are sent: what a device published, unchanged; and deliveries by meaning."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from likewise.broker.log.deliveries import CAUSES, Delivery
from likewise.broker.log.entries import read_event
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.log.packed_sets import unpack_scores
from likewise.defaults import MQTT_RENDERED
from likewise.formats.json.raw_payload import raw_payload
from likewise.model.time import SECOND
from likewise.server.mqtt.codec import NO_PROPERTIES, Properties, SharedPublish, truncate_text
from likewise.server.mqtt.codec.fields import encode_variable
from likewise.server.mqtt.codec.packet_types import PUBLISH
from likewise.server.mqtt.codec.property_bytes import encode_properties_body, read_properties

RENDERED_BYTES: Final = 16 * 2**20  # of payloads that are remembered, whatever their number
STATED_QOS: Final = 2  # of an event that came another way; the subscription's own QoS counts then


_ENCODE: Final = msgspec.json.Encoder().encode
_JSON: Final = Properties(content_type="application/json")


def encode_stored_properties(properties: Properties) -> bytes:
    """Return the forwarded properties of a message as bytes to store; its expiry is stored beside them."""
    if properties is NO_PROPERTIES:
        return b""
    passed = msgspec.structs.replace(properties, message_expiry=None, topic_alias=None, subscription_identifiers=())
    return encode_properties_body(passed, PUBLISH)


def delivery_properties(message: StoredMessage, now: int) -> Properties:
    """Return the properties of a stored message as they are sent now.

    >>> properties = encode_stored_properties(Properties(content_type="x"))
    >>> message = StoredMessage("a", b"1", properties=properties, expires=5_000_000)
    >>> sent = delivery_properties(message, 3_000_000)
    >>> sent.content_type, sent.message_expiry
    ('x', 2)
    """
    properties = NO_PROPERTIES
    if message.properties:
        written = encode_variable(len(message.properties)) + message.properties
        properties, _ = read_properties(written, 0, len(written), PUBLISH)
    if message.expires is not None:
        left = max(1, -(-(message.expires - now) // SECOND))
        properties = msgspec.structs.replace(properties, message_expiry=left)
    return properties


def event_message(body: bytes, position: int, topic: str = "") -> StoredMessage:
    """Return an event that was not published over MQTT as a message; its tuple `topic` is the topic."""
    if not topic:
        items = read_event(body, position).tuples
        topic = next((str(item.value) for item in items if item.attribute == "topic"), "")
    return StoredMessage(topic, raw_payload(body), STATED_QOS, properties=encode_stored_properties(_JSON))


class Renderer:
    """Encodes a message once for all its recipients of a version; the newest are remembered."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[int, int, int], SharedPublish] = OrderedDict()
        self._bytes = 0  # of the payloads of these

    def many(self, message: StoredMessage, version: int, now: int, key: tuple[int, int] | None = None) -> SharedPublish:
        """Return a message encoded for a version; `key` is its tenant and sequence number."""
        if key is None or message.expires is not None:
            return SharedPublish(message.topic, message.payload, delivery_properties(message, now), version)
        known = self._made.get((*key, version))
        if known is None:
            known = SharedPublish(message.topic, message.payload, delivery_properties(message, now), version)
            self._made[*key, version] = known
            self._bytes += known.size
            while len(self._made) > MQTT_RENDERED or (self._bytes > RENDERED_BYTES and len(self._made) > 1):
                self._bytes -= self._made.popitem(last=False)[1].size
        return known


def render_semantic(
    delivery: Delivery, matched: list[tuple[int, str]], place: int, topic: str, now: int, because: bytes = b""
) -> tuple[bytes, Properties]:
    """Return the payload and properties of a semantic match for MQTT 5, with subscriptions and scores."""
    message = delivery.message or event_message(delivery.body, delivery.event, topic or " ")
    scores = unpack_scores(delivery.scores, len(delivery.matched))
    added = [
        ("score", f"{round(float(scores[place]), 6):g}"),
        ("subscriptions", _ENCODE([{"id": id, "score": round(float(scores[at]), 6)} for at, id in matched]).decode()),
        ("cause", CAUSES[delivery.cause]),
        ("sequence", str(delivery.number)),
    ]
    if delivery.message is not None:
        added.append(("topic", delivery.message.topic))
    if because:
        added.append(("because", because.decode()))
    properties = delivery_properties(message, now)
    user = (*properties.user, *((name, truncate_text(value)) for name, value in added))
    return message.payload, msgspec.structs.replace(properties, user=user)

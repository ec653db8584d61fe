"""A message's events: read by the tenant's topic map, within what its client may publish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from likewise.broker.catalogue.sensing_commands import ANNOUNCEMENTS, SENSE
from likewise.broker.log.mqtt.messages import StoredMessage, retained_bytes
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import AccessError, FormatError, InvalidEvent, NotAllowed
from likewise.formats.json.batches import first_end
from likewise.model import Event
from likewise.model.time import SECOND
from likewise.server.ingest import check_sources
from likewise.server.media_types import UnreadableInput
from likewise.server.mqtt.broker.announcements import parse_announcement
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.rendering import encode_stored_properties
from likewise.server.mqtt.broker.delivery.topic_filters import SEMANTIC_PREFIX, SHARED_PREFIX
from likewise.server.mqtt.codec import Publish
from likewise.server.mqtt.messages import MqttPublication

_RESERVED: Final = (SEMANTIC_PREFIX, SHARED_PREFIX, "$SYS/", SENSE)


def decode_events(home: ListenerContext, tenant: Tenant, access: Access, client: str, packet: Publish) -> list[Event]:
    """Return the events of a message, at least one. Refuse what its client may not publish."""
    topic, properties, reader = packet.topic, packet.properties, home.reader(tenant)
    access.require("publish")
    if topic.startswith(ANNOUNCEMENTS):  # a will: checked now, carried out when it is published
        parse_announcement(access, topic, packet.payload)
        return []
    if topic.startswith(_RESERVED):
        raise AccessError(f"{topic[:200]!r} is the broker's own to publish to; choose a topic that begins otherwise")
    if not access.free("publish") and not any(map(access.covers, reader.names_of(topic, packet.payload))):
        raise NotAllowed(f"publish:{reader.source_of(topic, packet.payload)}")
    message = MqttPublication(
        topic,
        packet.payload,
        properties.content_type or "",
        properties.user,
        properties.message_expiry,
        packet.qos,
        packet.retain,
        client,
    )
    if access.free("publish"):  # who is bound to a source says nothing about others
        home.broker.announcements.identify(tenant, reader.identities(message))
    try:
        events = reader.read(message, home.broker.clock())
    except UnreadableInput:
        if reader.strict(topic):
            raise
        events = []
    except RecursionError:
        raise UnreadableInput(FormatError("the payload is nested too deeply"), packet.payload) from None
    home.counters(tenant).unannounced = reader.unannounced
    if not events and access.free("publish"):
        home.broker.announcements.announce_all(tenant, reader.announcements(message))
    decoded: Sequence[Event] = events or [reader.opaque_event(message, home.broker.clock())]
    source = reader.source_of(topic, packet.payload)
    # The topic's own source is allowed by its topic.
    check_sources(access, [each for each in decoded if each.source != source])
    if (ends := first_end(decoded)) is not None and ends < 0:
        raise InvalidEvent(f"`expires` is {ends}, before 1970; give the end of its validity, or leave it out")
    return list(decoded)


def stored_message(packet: Publish, client: str, now: int) -> StoredMessage:
    """Return a message as it is stored."""
    properties = packet.properties
    expiry = properties.message_expiry
    return StoredMessage(
        packet.topic,
        packet.payload,
        packet.qos,
        packet.retain,
        encode_stored_properties(properties),
        None if expiry is None else now + expiry * SECOND,
        client,
    )


def message_bytes(packet: Publish) -> int:
    """Return how many bytes a message counts as while it is retained: its topic, payload and properties.

    >>> message_bytes(Publish("a/b", b"21.5"))
    7
    """
    return retained_bytes(packet.topic, packet.payload, encode_stored_properties(packet.properties))

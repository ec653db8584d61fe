"""Devices announce themselves by a message to `likewise/announcements/SOURCE`; an empty one revokes that.

It is acknowledged when it is on disk, and refused with words as any other message is. What a source is told comes on
`likewise/sense/SOURCE`, where nobody else may publish; who may publish as the source may listen there.
"""

from __future__ import annotations

from likewise.broker.broker import Broker
from likewise.broker.catalogue.sensing_commands import ANNOUNCEMENTS, SENSE, source_in
from likewise.broker.log.event_log import Done
from likewise.broker.tenants.access import Access
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import InputError
from likewise.model.announcements.announcement import Announcement
from likewise.server.announcements import decode_announcement


def parse_announcement(access: Access, topic: str, payload: bytes) -> tuple[str, Announcement | None]:
    """Return the announced source and its announcement, None if it is revoked. Refuse what cannot be one.

    >>> free = Access("default", frozenset({"publish"}))
    >>> parse_announcement(free, "likewise/announcements/roof", b"")
    ('roof', None)
    """
    access.require("publish")
    source = source_in(topic, ANNOUNCEMENTS)
    if not source:
        raise InputError(f"the topic names no source: publish to {ANNOUNCEMENTS}SOURCE")
    access.require_source(source)
    return source, decode_announcement(payload, source) if payload.strip() else None


def apply_announcement(
    broker: Broker, tenant: Tenant, source: str, announcement: Announcement | None, done: Done
) -> None:
    """Hold an announcement, or revoke it; `done` is told when that is on disk. Revoking nothing is no mistake."""
    announcements = broker.announcements
    if announcement is not None:
        announcements.start_announce(tenant, announcement, done)
    elif source in tenant.sources.announcements:
        announcements.start_revoke(tenant, source, "it said so over MQTT", done)
    else:
        done(None)


def may_read_sensing(access: Access, filter: str) -> bool:
    """Return whether a filter is the sensing topic of a source that the caller may publish as.

    >>> roof = Access("default", frozenset({"publish:roof"}))
    >>> [may_read_sensing(roof, f"{topic}/1") for topic in ("likewise/sense/roof", "likewise/sense/#", "home")]
    [True, False, False]
    """
    source = source_in(filter, SENSE)
    if not source or "+" in filter or "#" in filter:
        return False
    return access.free("publish") or access.covers(source)

"""Publishing, whatever brought it: HTTP, WebSocket or a device's own protocol."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from likewise.api.events import Receipt
from likewise.broker.cpu_gate import run_exclusive
from likewise.broker.tenants.access import Access
from likewise.defaults import OFF_LOOP_BYTES
from likewise.errors import InvalidEvent, LikewiseError
from likewise.formats.json.batches import first_end
from likewise.model import Event
from likewise.server.gateway import Gateway
from likewise.server.media_types import MediaType, UnreadableInput, read_events


async def publish(gateway: Gateway, access: Access, body: bytes, kind: MediaType) -> list[Receipt]:
    """Read events, append them, and return their receipts when they are on disk; all of them or none.

    What cannot be read is refused and becomes a dead letter. A tenant's rate and full queues hold publishers up.
    """
    begun = time.perf_counter()
    access.require("publish")
    broker, tenant = gateway.broker, gateway.broker.tenant(access.tenant)
    try:
        most = broker.config.limits.batch
        if len(body) > OFF_LOOP_BYTES:
            events = await gateway.run_off_loop(
                tenant, lambda: run_exclusive(lambda: read_events(body, kind, broker.clock, most))
            )
        else:
            events = read_events(body, kind, broker.clock, most)
    except UnreadableInput as refused:
        error, part = refused.error, refused.part
        await gateway.wait_committed(lambda done: broker.add_dead_letter(tenant, error, part, done, str(kind)))
        raise error from refused
    return await publish_events(gateway, access, events, begun)


async def publish_events(
    gateway: Gateway, access: Access, events: Sequence[Event], begun: float | None = None
) -> list[Receipt]:
    """Append events that were read, since `begun`, and return their receipts when they are on disk; all or none."""
    begun = time.perf_counter() if begun is None else begun
    broker, tenant = gateway.broker, gateway.broker.tenant(access.tenant)
    events = check_sources(access, events)
    if (ends := first_end(events)) is not None and ends < 0:
        raise InvalidEvent(f"`expires` is {ends}, before 1970; give the end of its validity, or leave it out")
    try:
        gateway.check_rate(tenant, len(events))
        await gateway.wait_unblocked(tenant)
    except LikewiseError as too_much:
        broker.trace.refused(tenant.name, too_much, events)
        raise
    receipts = await gateway.publish(tenant, events)
    broker.metrics.published(tenant.name, time.perf_counter() - begun)
    return receipts


def check_sources(access: Access, events: Sequence[Event]) -> Sequence[Event]:
    """Check the events of a token bound to sources; an event without a source gets the token's only one."""
    if access.free("publish"):
        return events
    sources = access.bound("publish")
    if len(sources) == 1:
        events = [each if each.source else msgspec.structs.replace(each, source=sources[0]) for each in events]
    for each in events:
        access.require_source(each.source or "")
    return events

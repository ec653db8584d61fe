"""The deliveries for an edge, which is one subscriber for all of its own.

Of an event that came from this edge it is told what was decided above, by the event's name; what it decides itself
about it is none of ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from likewise.api.edge_frames import EdgeDelivery
from likewise.broker.edge_hub.identities import read_name
from likewise.broker.log.deliveries import CAUSES, PROMOTED, Delivery, recipients_of
from likewise.broker.log.edges.hops import event_route
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant


class _Named(msgspec.Struct, gc=False):
    """The identity in an event's envelope."""

    id: str = ""
    source: str | None = None


_NAMED = msgspec.json.Decoder(_Named)


def edge_deliveries(
    log: EventLog, tenant: Tenant, queue: SubscriberQueue, edge: str, page: Sequence[Delivery]
) -> list[EdgeDelivery]:
    """Return deliveries as they are sent to an edge, without those that mean nothing to it."""
    deliveries = []
    with log.reading() as tables:
        for each in page:
            made = _one(tables, tenant, queue, edge, each)
            if made is not None:
                deliveries.append(made)
    return deliveries


def _one(
    tables: StoreTables, tenant: Tenant, queue: SubscriberQueue, edge: str, delivery: Delivery
) -> EdgeDelivery | None:
    hops = event_route(tables, delivery.event).hops
    from_edge = bool(hops) and hops[-1] == edge
    scores = np.frombuffer(delivery.scores, "<f4") if delivery.scores else None
    matched = []
    for place, id in tenant.recipient_subscriptions(delivery, queue.number):
        name = read_name(id)
        if name is not None and (name.above or not from_edge):
            matched.append((id, 1.0 if scores is None else float(scores[place])))
    if not matched:
        return None
    named = _NAMED.decode(delivery.body)
    whole = not from_edge or delivery.cause == PROMOTED or bool(delivery.notification)
    return EdgeDelivery(
        delivery.number,
        CAUSES[delivery.cause],
        tuple(matched),
        named.source or "",
        named.id,
        msgspec.Raw(delivery.body) if whole else msgspec.UNSET,
        hops,
        msgspec.Raw(delivery.notification) if delivery.notification else msgspec.UNSET,
    )


def withdrawn_names(
    log: EventLog, tenant: Tenant, queue: SubscriberQueue, events: Sequence[int]
) -> list[tuple[str, str]]:
    """Return sources and ids of withdrawn events that an edge was given."""
    names = []
    for position in events:
        with log.reading() as tables:
            delivered = queue.number in recipients_of(tables, tenant.number, position)
        entry = next(log.entries(position - 1, position), None) if delivered else None
        if entry is not None:
            names.append((entry.source, entry.id))
    return names

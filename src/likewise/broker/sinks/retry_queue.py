"""Read the matches that wait for a target, from memory or the store, without what expired."""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

import msgspec
import numpy as np
from pyroaring import BitMap64

from likewise.api.deliveries import Cause
from likewise.broker.locks import Lock
from likewise.broker.log.deliveries import ARRIVAL, CAUSES, INITIAL, PROMOTED, REPLAYED, Delivery, read, render
from likewise.broker.log.event_log import EventLog
from likewise.broker.retention_clock import TimeOf
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.broker.tenants.tenant import Tenant

READ_AHEAD: Final = 256 * 1024  # bytes of matches that a target holds in memory, unless one alone has more


class SinkDelivery(NamedTuple):
    """An event that matched the subscription of a target.

    `id` is the same whenever this match is sent to this target, and no other's: who keeps it sees each match once.
    """

    id: str
    sequence: int
    cause: Cause
    subscription: str
    number: int  # of the subscription
    score: float
    position: int  # of the event in the log
    event: bytes  # its published JSON
    delivery: bytes  # as a stream would give it, with this subscription alone
    ends: int | None = None  # when it is over, in µs since 1970
    alert: bytes = b""  # the facts of what an alert says


def read_waiting(
    log: EventLog, queues: Lock, tenant: Tenant, feed: SinkQueue, limit: int, times: TimeOf
) -> list[SinkDelivery]:
    """Return the next matches of a target, in order; expired and withdrawn ones are removed."""
    while True:
        with queues:
            numbers = list(feed.pending[:limit])
            deliveries = {n: d for n in numbers if (d := tenant.recent.get(n)) is not None}
        if not numbers:
            return []
        missing = [number for number in numbers if number not in deliveries]
        if missing:
            with log.reading() as tables:
                deliveries.update((d.number, d) for d in read(tables, tenant.number, missing))
        good = [
            m for n in numbers if n in deliveries and (m := outgoing(deliveries[n], tenant, feed, times)) is not None
        ]
        over = set(numbers) - {match.sequence for match in good}
        if over:
            with queues:
                feed.expired += len(over)
                feed.pending.difference_update(BitMap64(over))
                if not good:
                    feed.pass_over(max(over))
        if good:
            return _within(good)


def _within(matches: list[SinkDelivery]) -> list[SinkDelivery]:
    """Return the matches that fit into `READ_AHEAD`, at least one, so that many targets use little memory."""
    size = 0
    for count, match in enumerate(matches):
        size += len(match.delivery)
        if size > READ_AHEAD:
            return matches[: max(1, count)]
    return matches


def read_again(log: EventLog, tenant: Tenant, feed: SinkQueue, sequence: int, times: TimeOf) -> SinkDelivery | None:
    """Return the match of a delivery that became a dead letter; None if it expired."""
    with log.reading() as tables:
        deliveries = read(tables, tenant.number, [sequence])
    return outgoing(deliveries[0], tenant, feed, times) if deliveries else None


def outgoing(delivery: Delivery, tenant: Tenant, feed: SinkQueue, times: TimeOf) -> SinkDelivery | None:
    """Return a delivery as its target gets it; None if it expired, or no longer names the subscription."""
    if delivery.over(times(delivery.event)) or (delivery.event in tenant.withdrawn and not delivery.notification):
        return None
    place = next(
        (p for p, id in tenant.recipient_subscriptions(delivery, feed.subscriber) if id == feed.subscription), None
    )
    if place is None:
        return None
    scores = np.frombuffer(delivery.scores, "<f4") if delivery.scores else None
    score = 1.0 if scores is None else round(float(scores[place]), 6)
    frame = render(delivery, [(place, feed.subscription)])
    number, cause = int(delivery.matched[place]), CAUSES[delivery.cause]
    return SinkDelivery(
        message_id(feed, delivery),
        delivery.number,
        cause,
        feed.subscription,
        number,
        score,
        delivery.event,
        delivery.body,
        frame,
        None if delivery.cause == PROMOTED or delivery.notification else delivery.ends,
        delivery.notification,
    )


def message_id(feed: SinkQueue, delivery: Delivery) -> str:
    """Return the id of a match at a target: the same for each attempt, and when the event is replayed.

    An event may be promoted to the same board more than once; then the sequence number tells these apart.
    """
    known = msgspec.json.decode(delivery.body, type=_Identity)
    once = delivery.cause in (ARRIVAL, INITIAL, REPLAYED)
    named = (feed.setting.uid, delivery.event, known.source, known.id, 0 if once else delivery.number)
    return "msg_" + hashlib.sha256(repr(named).encode()).hexdigest()[:32]


class _Identity(msgspec.Struct):
    """The identity of an event; nothing else of it is decoded."""

    id: str = ""
    source: str | None = ""

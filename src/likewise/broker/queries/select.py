"""Add the values of `select` to deliveries when they are sent."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from likewise.api.deliveries import SelectedValues, SubscriptionScore
from likewise.broker.log.event_log import EventLog
from likewise.broker.queries.dry_run import explain_live
from likewise.broker.queries.match_reasons import position_of
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.defaults import MAX_BECAUSE
from likewise.matching.explain.select import names_payload, needs_measure, payload_sent, selected
from likewise.model import Event

_log = structlog.get_logger("likewise.questions")


class _Frame(msgspec.Struct):
    """The needed fields of a delivery's JSON."""

    sequence: int
    subscriptions: tuple[SubscriptionScore, ...]


class _Envelope(msgspec.Struct):
    """The payload as it was published, in a delivery's JSON; empty if it came in another form."""

    payload: msgspec.Raw = msgspec.Raw()


class _Carried(msgspec.Struct):
    event: _Envelope


def selects(tenant: Tenant, queue: SubscriberQueue) -> bool:
    """Return whether a subscription of a subscriber has `select`."""
    return bool(tenant.selecting) and not tenant.selecting.isdisjoint(queue.subscriptions.values())


def with_selected(
    log: EventLog, tenant: Tenant, queue: SubscriberQueue, page: Sequence[tuple[int, bytes]], now: int
) -> list[tuple[int, bytes]]:
    """Return deliveries with the values that their subscriptions select."""
    return [(number, _with_selected(log, tenant, queue, frame, now)) for number, frame in page]


def _with_selected(log: EventLog, tenant: Tenant, queue: SubscriberQueue, frame: bytes, now: int) -> bytes:
    decoded = msgspec.json.decode(frame, type=_Frame)
    selecting = [
        (stored, each.score)
        for each in decoded.subscriptions
        if (number := queue.subscriptions.get(each.id)) in tenant.selecting
        and (stored := tenant.subscriptions.get(number or 0)) is not None
    ]
    position = position_of(log, tenant, decoded.sequence) if selecting else None
    if position is None:
        return frame
    return append_selected(frame, select_of(log, tenant, position, selecting, now, frame))


def select_of(
    log: EventLog,
    tenant: Tenant,
    position: int,
    subscriptions: Sequence[tuple[StoredSubscription, float]],
    now: int,
    frame: bytes,
) -> tuple[SelectedValues, ...]:
    """Evaluate `select` of some subscriptions, given with stored scores, on an event; at most `MAX_BECAUSE`.

    `frame` is the JSON of the delivery, which has the payload as it was sent.
    """
    entry = next(log.entries(position - 1, position), None)
    if entry is None or not isinstance(entry.value, Event):
        return ()
    interpretation = tenant.stateless.interpretation
    event = tenant.stateless.matcher.annotated(entry.value)
    if event.time is None:
        event = msgspec.structs.replace(event, time=entry.arrival)
    selections = []
    for stored, score in subscriptions[:MAX_BECAUSE]:
        subscription = stored.subscription
        try:
            explained = explain_live(tenant, stored, entry, now)
            values = selected(
                event,
                subscription,
                explained,
                interpretation.measure if needs_measure(subscription) else None,
                interpretation.threshold,
                score=score,
                payload=_payload(frame, entry.value) if names_payload(subscription) else None,
                curve=interpretation.probability_curve("conditions"),
            )
        except Exception as error:  # what is selected is no reason to keep a delivery back
            _log.error("select_failed", tenant=tenant.name, subscription=stored.id, exc_info=error)
            continue
        selections.append(SelectedValues(stored.id, values.values, values.notes, values.units))
    return tuple(selections)


def _payload(frame: bytes, event: Event) -> object:
    """Return the payload as it was published, else rebuilt from the event's tuples."""
    sent = msgspec.json.decode(frame, type=_Carried).event.payload
    return sent if bytes(sent) else payload_sent(event)


def append_selected(frame: bytes, values: tuple[SelectedValues, ...]) -> bytes:
    """Return the JSON of a delivery with its reasons appended.

    >>> append_selected(b'{"v":1}', (SelectedValues("warm", {"t": 27.5}),))
    b'{"v":1,"selected":[{"id":"warm","values":{"t":27.5}}]}'
    """
    return frame[:-1] + b',"selected":' + msgspec.json.encode(values) + b"}" if values else frame

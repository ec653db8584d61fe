"""Trace a stored event for a subscription: why it was delivered, or why not, step by step.

Everything is read from the store as it was written then: when the event came, which subscription was held at that
position of the log, what was delivered with which score, to whom it went, and what was set aside.
"""

from __future__ import annotations

from typing import Final

from likewise.api.history import Outcome, Trace, TraceStep
from likewise.broker.log.dead_letters import about, of_event
from likewise.broker.log.deliveries import CAUSES, NOTIFICATION, Delivery
from likewise.broker.log.entries import Entry
from likewise.broker.log.event_history import deliveries_of
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.packed_sets import unpack_scores
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.language import subscription_text

WHY: Final = {
    "arrival": "when it came",
    "promoted": "when it moved up among the best",
    "initial": "as the subscription was made",
    "replayed": "after it had been set aside",
    "held": "as it had held for long enough",
    "cleared": "as it was over",
    "absent": "as nothing came",
    "returned": "as something came again",
    "digest": "in what was gathered",
}

NOT_MET: Final = {
    "top": "It was compared with the subscription, and was not among the best.",
    "alert": "It was compared with the subscription, and nothing had to be said because of it.",
}


def trace(log: EventLog, tenant: Tenant, entry: Entry, subscriber: str, subscription: str) -> Trace:
    """Trace an event for a subscriber's subscription, active or ended."""
    queue = tenant.subscriber(subscriber)
    versions = [h for h in list(tenant.subscriptions.values()) if h.subscriber == queue.number and h.id == subscription]
    then = next((h for h in versions if _active_at(h, entry.position)), None)
    with log.reading() as tables:
        deliveries = deliveries_of(tables, tenant.number, entry.position)
        mine = [(d, h) for d in deliveries for h in versions if h.number in d.matched]
        steps = [TraceStep("came", f"It came and was stored at position {entry.position:,} of the log.", entry.arrival)]
        outcome = _outcome(tables, tenant, entry, then, versions, bool(mine), steps)
        for delivery, stored in mine:
            steps += _describe_delivery(tenant, queue.number, delivery, stored)
        for letter in of_event(tables, tenant.number, entry.position, queue.number):
            steps.append(TraceStep("set aside", f"It was set aside for {subscriber}: {letter.detail}", letter.at))
    subscription_at = then or (mine[0][1] if mine else versions[-1] if versions else None)
    text = "" if subscription_at is None else subscription_text(subscription_at.subscription)
    now = queue.subscriptions.get(subscription)
    return Trace(
        entry.id,
        entry.source,
        entry.arrival,
        outcome,
        tuple(steps),
        text,
        subscription_at is not None and subscription_at.number != now,
    )


def _active_at(stored: StoredSubscription, position: int) -> bool:
    return stored.number < position and (stored.ended is None or stored.ended > position)


def _outcome(
    tables: StoreTables,
    tenant: Tenant,
    entry: Entry,
    then: StoredSubscription | None,
    versions: list[StoredSubscription],
    delivered: bool,
    steps: list[TraceStep],
) -> Outcome:
    """Return the outcome; add a step where nothing was delivered."""
    if delivered:
        return "delivered"

    def say(outcome: Outcome, text: str) -> Outcome:
        steps.append(TraceStep("not delivered", text))
        return outcome

    if entry.position in tenant.withdrawn:
        return say("withdrawn", "It was taken back by its sender.")
    if entry.position > tenant.matched:
        return say("not_matched_yet", "It waits to be matched.")
    if about(tables, tenant.number, entry.position):
        return say("unmatched", "It could not be matched and was set aside.")
    if then is not None:
        return say(
            "not_met", NOT_MET.get(then.subscription.kind, "It was compared with the subscription, and missed it.")
        )
    if not versions:
        return say("unknown_then", "What was asked for under this name then is not known any more.")
    if all(stored.number > entry.position for stored in versions):
        return say("before_it", "It came before the subscription was made, and was not among the earlier events given.")
    return say("after_it", "It came after the subscription had ended, or between two under this name.")


def _describe_delivery(
    tenant: Tenant, subscriber: int, delivery: Delivery, stored: StoredSubscription
) -> list[TraceStep]:
    place = delivery.matched.tolist().index(stored.number)
    score = unpack_scores(delivery.scores, len(delivery.matched))[place]
    cause = CAUSES[delivery.cause]
    text = f"It met the subscription with a score of {score:.2f} and became delivery {delivery.number:,}"
    if delivery.cause >= NOTIFICATION:
        text = f"The alert spoke of it in delivery {delivery.number:,}"
    steps = [TraceStep("delivered", f"{text}, {WHY.get(cause, cause)}.")]
    queue = tenant.by_number.get(subscriber)
    if subscriber not in delivery.recipients:
        steps.append(TraceStep("dropped", "The queue was full, and it was not put into it."))
    elif queue is not None:
        waits = delivery.number in queue.pending
        text = "It waits to be read." if waits else "It was read and acknowledged, or let go as the queue was full."
        steps.append(TraceStep("waits" if waits else "settled", text))
    for feed in tenant.sinks.of(stored.subscriber, stored.id):
        if delivery.number in feed.pending:
            text = f"The target {feed.id} has not accepted it yet{f': {feed.last_error}' if feed.last_error else ''}."
            steps.append(TraceStep("target waits", text))
        elif feed.acknowledged >= delivery.number:
            steps.append(TraceStep("target", f"The target {feed.id} is past it: it was accepted, or set aside."))
    return steps

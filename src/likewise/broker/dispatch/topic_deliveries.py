"""Deliver messages to acknowledged topic subscriptions (QoS 1 and 2), and apply their commands.

A message is judged by the topic it was published to, never by a `topic` inside its payload; an event that came another
way by its tuple `topic`. They are deliveries of their own: who meets an event by its meaning, too, gets it both ways.
What nobody acknowledges (QoS 0) is sent as it comes and is no delivery (`server/mqtt/broker`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.log.deliveries import RETAINED, TOPIC, Delivery
from likewise.broker.log.entries import Entry, SubscribeTopicCommand
from likewise.broker.log.mqtt.topic_subscriptions import TopicSubscription, put_topic, remove_topic
from likewise.broker.log.packed_sets import pack
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import UnknownId
from likewise.model import Event

FindEntry = Callable[[int], Entry | None]  # an earlier event by its position; None if it is gone
STATED_QOS: Final = 2  # of an event that came another way: it is on disk, so the subscription's own QoS counts


def matching_topic(entry: Entry) -> tuple[str, int]:
    """Return the topic an event is matched by, and its QoS; '' if it has none or its message was counted."""
    message = entry.message
    if message is not None:
        return ("", 0) if message.part else (message.topic, message.qos)
    if b'"topic"' not in entry.body:
        return "", 0
    event = entry.value
    assert isinstance(event, Event)
    stated = next((item.value for item in event.tuples if item.attribute == "topic"), None)
    return (stated, STATED_QOS) if isinstance(stated, str) else ("", 0)


def deliver_topics(tenant: Tenant, entries: Sequence[Entry], outcome: CommitBatch) -> None:
    """Send events to those who subscribed to their topics and acknowledge what they get."""
    for entry in entries:
        topic, qos = matching_topic(entry)
        if not qos or (entry.ends is not None and entry.ends <= entry.arrival):
            continue
        subscriptions = list(tenant.topics.find(topic, _publisher(tenant, entry)))
        if subscriptions:
            owners = np.array(sorted({subscription.subscriber for subscription in subscriptions}), np.int64)
            _send(
                tenant, entry, TOPIC, owners.tolist(), [subscription.number for subscription in subscriptions], outcome
            )


def _publisher(tenant: Tenant, entry: Entry) -> int | None:
    """Return the subscriber whose client published a message."""
    if entry.message is None or not entry.message.client:
        return None
    queue = tenant.subscribers.get(session_subscriber(entry.message.client))
    return None if queue is None else queue.number


def session_subscriber(client: str) -> str:
    """Return the subscriber that stands for a client's session.

    >>> session_subscriber("attic")
    'mqtt:attic'
    """
    return f"mqtt:{client}"


def _send(
    tenant: Tenant, entry: Entry, cause: int, owners: list[int], numbers: list[int], outcome: CommitBatch
) -> None:
    to, matched = np.array(owners, np.int64), np.array(sorted(numbers), np.int64)
    outcome.send(
        tenant, Delivery(0, entry.position, cause, to, matched, b"", entry.body, entry.ends, message=entry.message)
    )


def subscribe_topic(
    tenant: Tenant, command: SubscribeTopicCommand, position: int, outcome: CommitBatch, find: FindEntry
) -> TopicSubscription:
    """Hold a subscription to topics; one with the same filter keeps its number."""
    queue = tenant.subscriber(command.subscriber)
    before = tenant.topics.get(queue.number, command.filter)
    number = position if before is None else before.number
    subscription = TopicSubscription(number, queue.number, command.filter, command.qos, command.no_local)
    tenant.topics.put(subscription)
    outcome.change(put_topic, tenant.number, subscription)
    if command.retained:
        to, matched = np.array([queue.number], np.int64), np.array([number], np.int64)
        packed = pack(to), pack(matched)  # once for all of them
        for row in tenant.retained.find(command.filter, now=0):
            if row.qos and row.position < position and row.position not in tenant.withdrawn:
                # Without its event: `#` may find very many, which are read a page at a time when they are sent.
                outcome.send(tenant, Delivery(0, row.position, RETAINED, to, matched, packed=packed))
    return subscription


def unsubscribe_topic(tenant: Tenant, subscriber: str, text: str, outcome: CommitBatch) -> None:
    """End a subscription to topics."""
    subscription = tenant.topics.get(tenant.subscriber(subscriber).number, text)
    if subscription is None:
        raise UnknownId(text)
    tenant.topics.remove(subscription)
    outcome.change(remove_topic, subscription.number)


def end_topics(tenant: Tenant, subscriber: int, outcome: CommitBatch) -> None:
    """End all of a subscriber's subscriptions to topics."""
    if tenant.topics:
        for subscription in tenant.topics.of(subscriber):
            tenant.topics.remove(subscription)
            outcome.change(remove_topic, subscription.number)

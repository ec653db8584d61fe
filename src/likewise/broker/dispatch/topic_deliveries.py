"""Deliveries to those who subscribed to topics and acknowledge what they get, and the commands that make them.

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
    """The topic an event is judged by, and the QoS it came with; '' if it has none, or was said with another one."""
    message = entry.message
    if message is not None:
        return ("", 0) if message.part else (message.topic, message.qos)
    if b'"topic"' not in entry.body:
        return "", 0
    event = entry.value
    assert isinstance(event, Event)
    said = next((item.value for item in event.tuples if item.attribute == "topic"), None)
    return (said, STATED_QOS) if isinstance(said, str) else ("", 0)


def deliver_topics(tenant: Tenant, entries: Sequence[Entry], outcome: CommitBatch) -> None:
    """Send events to those who subscribed to their topics and acknowledge what they get."""
    for entry in entries:
        topic, qos = matching_topic(entry)
        if not qos or (entry.ends is not None and entry.ends <= entry.arrival):
            continue
        found = list(tenant.topics.find(topic, _publisher(tenant, entry)))
        if found:
            owners = np.array(sorted({held.subscriber for held in found}), np.int64)
            _send(tenant, entry, TOPIC, owners.tolist(), [held.number for held in found], outcome)


def _publisher(tenant: Tenant, entry: Entry) -> int | None:
    """The subscriber whose client published a message."""
    if entry.message is None or not entry.message.client:
        return None
    queue = tenant.subscribers.get(session_subscriber(entry.message.client))
    return None if queue is None else queue.number


def session_subscriber(client: str) -> str:
    """The subscriber that a client's session is registered as.

    >>> session_subscriber("attic")
    'mqtt:attic'
    """
    return f"mqtt:{client}"


def _send(
    tenant: Tenant, entry: Entry, cause: int, owners: list[int], numbers: list[int], outcome: CommitBatch
) -> None:
    to, met = np.array(owners, np.int64), np.array(sorted(numbers), np.int64)
    outcome.send(
        tenant, Delivery(0, entry.position, cause, to, met, b"", entry.body, entry.ends, message=entry.message)
    )


def subscribe_topic(
    tenant: Tenant, command: SubscribeTopicCommand, position: int, outcome: CommitBatch, find: FindEntry
) -> TopicSubscription:
    """Hold a subscription to topics; one with the same filter keeps its number."""
    queue = tenant.subscriber(command.subscriber)
    before = tenant.topics.get(queue.number, command.filter)
    number = position if before is None else before.number
    held = TopicSubscription(number, queue.number, command.filter, command.qos, command.no_local)
    tenant.topics.put(held)
    outcome.change(put_topic, tenant.number, held)
    if command.retained:
        to, met = np.array([queue.number], np.int64), np.array([number], np.int64)
        packed = pack(to), pack(met)  # once for all of them
        for row in tenant.retained.find(command.filter, now=0):
            if row.qos and row.position < position and row.position not in tenant.withdrawn:
                # Without its event: `#` may find very many, which are read a page at a time when they are sent.
                outcome.send(tenant, Delivery(0, row.position, RETAINED, to, met, packed=packed))
    return held


def unsubscribe_topic(tenant: Tenant, subscriber: str, text: str, outcome: CommitBatch) -> None:
    """End a subscription to topics."""
    held = tenant.topics.get(tenant.subscriber(subscriber).number, text)
    if held is None:
        raise UnknownId(text)
    tenant.topics.remove(held)
    outcome.change(remove_topic, held.number)


def end_topics(tenant: Tenant, subscriber: int, outcome: CommitBatch) -> None:
    """End all of a subscriber's subscriptions to topics."""
    if tenant.topics:
        for held in tenant.topics.of(subscriber):
            tenant.topics.remove(held)
            outcome.change(remove_topic, held.number)

"""Acknowledged topic subscriptions; their numbers are the positions of their entries."""

from __future__ import annotations

from typing import Final

import msgspec

from likewise.broker.log.checksums import refuse, text_checksum
from likewise.broker.log.tables import Row, StoreTables

TOPIC: Final = "number, tenant, subscriber, filter, qos, no_local, checksum"


class TopicSubscription(msgspec.Struct, frozen=True, gc=False):
    """A subscriber's subscription to topics; `no_local` keeps a client's own messages from it."""

    number: int
    subscriber: int
    filter: str
    qos: int
    no_local: bool = False


def _checksum(subscription: TopicSubscription, tenant: int) -> int:
    return text_checksum(
        (subscription.filter,),
        subscription.number,
        tenant,
        subscription.subscriber,
        subscription.qos,
        int(subscription.no_local),
    )


def put_topic(tables: StoreTables, tenant: int, subscription: TopicSubscription) -> None:
    """Keep a subscription to topics, in place of one with its number."""
    tables.change(
        "INSERT OR REPLACE INTO topics VALUES (?, ?, ?, ?, ?, ?, ?)",
        subscription.number,
        tenant,
        subscription.subscriber,
        subscription.filter,
        subscription.qos,
        int(subscription.no_local),
        _checksum(subscription, tenant),
    )


def remove_topic(tables: StoreTables, number: int) -> None:
    """Forget a subscription to topics."""
    tables.change("DELETE FROM topics WHERE number = ?", number)


def topic_row(row: Row) -> TopicSubscription:
    """Decode and verify a topic subscription."""
    number, tenant, subscriber, text, qos, no_local, check = row
    subscription = TopicSubscription(number, subscriber, text, qos, bool(no_local))
    if no_local not in (0, 1) or check != _checksum(subscription, tenant):
        raise refuse(f"the subscription to topics {number}")
    return subscription


def read_topics(tables: StoreTables, tenant: int) -> list[TopicSubscription]:
    """Return the topic subscriptions of a tenant."""
    return [topic_row(row) for row in tables.each(f"SELECT {TOPIC} FROM topics WHERE tenant = ?", tenant)]

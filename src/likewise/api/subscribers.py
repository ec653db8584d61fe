"""Subscribers and their queues."""

from __future__ import annotations

from typing import Literal

import msgspec

QueuePolicy = Literal["drop-oldest", "dead-letter", "block"]  # what a full queue does


class QueueRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of a subscriber's queue; a missing field stays, or is as the broker is configured.

    >>> msgspec.json.encode(QueueRequest("block"))
    b'{"policy":"block"}'
    """

    policy: QueuePolicy | None = None
    limit: int | None = None


class SubscriberDetails(msgspec.Struct, frozen=True):
    """A registered subscriber and its queue; `acknowledged` is the last sequence number it settled."""

    id: str
    policy: QueuePolicy
    limit: int
    pending: int
    acknowledged: int
    dropped: int
    subscriptions: int
    connected: bool

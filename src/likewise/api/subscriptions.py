"""Subscriptions."""

from __future__ import annotations

from typing import Literal

import msgspec

from likewise.model import Kind

EvaluatedAt = Literal["", "edge", "above", "waiting"]  # where a subscription is decided, at a broker at the edge


class SubscriptionDetails(msgspec.Struct, frozen=True):
    """A subscription as the broker holds it, in its one printed form; None `expires` means never.

    At an edge `decided` says where: `edge`, `above`, or `waiting` as long as the broker above has not taken it.
    """

    subscriber: str
    id: str
    text: str
    kind: Kind
    added: int
    expires: int | None = None
    decided: EvaluatedAt = ""


class SubscriptionList(msgspec.Struct, frozen=True):
    """The subscriptions of one request, in their order."""

    subscriptions: tuple[SubscriptionDetails, ...]

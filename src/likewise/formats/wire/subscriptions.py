"""What is listened for."""

from __future__ import annotations

import msgspec

from likewise.model import Kind


class SubscriptionShown(msgspec.Struct, frozen=True):
    """A subscription as the broker holds it, in its one printed form; None `expires` means never."""

    subscriber: str
    id: str
    text: str
    kind: Kind
    added: int
    expires: int | None = None


class SubscriptionsShown(msgspec.Struct, frozen=True):
    """The subscriptions of one request, in their order."""

    subscriptions: tuple[SubscriptionShown, ...]

"""The subscriptions of subscribers here, as the broker above is told of them: which are new, and which are gone."""

from __future__ import annotations

import msgspec

from likewise.api.edge_frames import EdgeSubscriptionRequest, SubscribeFrame, UnsubscribeFrame
from likewise.broker.edge_hub.identities import EdgeSubscription, read_name
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.formats.json.subscriptions import subscription_to_json


def upstream_name(tenant: Tenant, stored: StoredSubscription, here: str) -> EdgeSubscription:
    """Return a subscription's name at the hub: who evaluates it, its number here, and the edges it passed."""
    below = read_name(stored.id) if tenant.by_number[stored.subscriber].is_edge else None
    above = not tenant.decides(stored.subscription) or (below is not None and below.above)
    return EdgeSubscription(above, stored.number, (*(() if below is None else below.path), here))


class UpstreamSubscriptions:
    """Track which subscriptions the hub knows, and which changes it has to be sent."""

    def __init__(self, tenant: Tenant, here: str) -> None:
        self._tenant = tenant
        self._edge_id = here
        self._sent: dict[str, None] = {}
        self.errors: dict[int, str] = {}  # why the broker above does not hold one, by number here
        self.accepted: set[int] = set()  # those that it holds

    def _subscriptions(self) -> dict[str, StoredSubscription]:
        tenant = self._tenant
        live = [stored for stored in tenant.live() if stored.subscriber in tenant.by_number]
        return {str(upstream_name(tenant, stored, self._edge_id)): stored for stored in live}

    def snapshot(self) -> SubscribeFrame:
        """Return all subscriptions, for a new connection."""
        current = self._subscriptions()
        self._sent = dict.fromkeys(current)
        self.accepted.clear()
        return SubscribeFrame(
            wanted=tuple(_subscription_request(id, stored) for id, stored in current.items()), whole=True
        )

    def diff(self) -> list[SubscribeFrame | UnsubscribeFrame]:
        """Return the changes since the last call."""
        current = self._subscriptions()
        new = [_subscription_request(id, stored) for id, stored in current.items() if id not in self._sent]
        removed = tuple(id for id in self._sent if id not in current)
        self._sent = dict.fromkeys(current)
        for id in removed:
            name = read_name(id)
            if name is not None:
                self.accepted.discard(name.number)
                self.errors.pop(name.number, None)
        frames: list[SubscribeFrame | UnsubscribeFrame] = []
        if new:
            frames.append(SubscribeFrame(wanted=tuple(new)))
        if removed:
            frames.append(UnsubscribeFrame(ids=removed))
        return frames

    def acknowledge(self, id: str, refused: str) -> None:
        """Record that the hub accepted a subscription, or why it rejected it."""
        name = read_name(id)
        if name is not None:
            if refused:
                self.errors[name.number] = refused
            else:
                self.accepted.add(name.number)

    def reset(self) -> None:
        """Forget what the hub accepted, after the connection is lost."""
        self.accepted.clear()


def _subscription_request(id: str, stored: StoredSubscription) -> EdgeSubscriptionRequest:
    return EdgeSubscriptionRequest(id, msgspec.Raw(subscription_to_json(stored.subscription)))

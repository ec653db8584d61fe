"""The subscriptions of subscribers here, as the broker above is told of them: which are new, and which are gone."""

from __future__ import annotations

import msgspec

from likewise.api.edge_frames import EdgeSubscriptionRequest, SubscribeFrame, UnsubscribeFrame
from likewise.broker.edge_hub.identities import EdgeSubscription, read_name
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.formats.json.subscriptions import subscription_to_json


def upstream_name(tenant: Tenant, held: StoredSubscription, here: str) -> EdgeSubscription:
    """What a subscription here is called above: who decides it, its number here, and over which edges it came."""
    below = read_name(held.id) if tenant.by_number[held.subscriber].is_edge else None
    above = not tenant.decides(held.subscription) or (below is not None and below.above)
    return EdgeSubscription(above, held.number, (*(() if below is None else below.path), here))


class UpstreamSubscriptions:
    """What the broker above was told, and what it has to be told."""

    def __init__(self, tenant: Tenant, here: str) -> None:
        self._tenant = tenant
        self._edge_id = here
        self._sent: dict[str, None] = {}
        self.errors: dict[int, str] = {}  # why the broker above does not hold one, by number here
        self.accepted: set[int] = set()  # those that it holds

    def _subscriptions(self) -> dict[str, StoredSubscription]:
        tenant = self._tenant
        live = [held for held in tenant.live() if held.subscriber in tenant.by_number]
        return {str(upstream_name(tenant, held, self._edge_id)): held for held in live}

    def snapshot(self) -> SubscribeFrame:
        """All of them, for a new line."""
        found = self._subscriptions()
        self._sent = dict.fromkeys(found)
        self.accepted.clear()
        return SubscribeFrame(wanted=tuple(_subscription_request(id, held) for id, held in found.items()), whole=True)

    def diff(self) -> list[SubscribeFrame | UnsubscribeFrame]:
        """What has changed since."""
        found = self._subscriptions()
        new = [_subscription_request(id, held) for id, held in found.items() if id not in self._sent]
        gone = tuple(id for id in self._sent if id not in found)
        self._sent = dict.fromkeys(found)
        for id in gone:
            name = read_name(id)
            if name is not None:
                self.accepted.discard(name.number)
                self.errors.pop(name.number, None)
        said: list[SubscribeFrame | UnsubscribeFrame] = []
        if new:
            said.append(SubscribeFrame(wanted=tuple(new)))
        if gone:
            said.append(UnsubscribeFrame(ids=gone))
        return said

    def acknowledge(self, id: str, refused: str) -> None:
        """The broker above took a subscription, or refused it with words."""
        name = read_name(id)
        if name is not None:
            if refused:
                self.errors[name.number] = refused
            else:
                self.accepted.add(name.number)

    def reset(self) -> None:
        """The line is broken: nothing of it is known to be held."""
        self.accepted.clear()


def _subscription_request(id: str, held: StoredSubscription) -> EdgeSubscriptionRequest:
    return EdgeSubscriptionRequest(id, msgspec.Raw(subscription_to_json(held.subscription)))

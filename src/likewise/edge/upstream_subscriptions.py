"""The subscriptions of subscribers here, as the broker above is told of them: which are new, and which are gone."""

from __future__ import annotations

import msgspec

from likewise.api.edge_frames import Subscribes, Unsubscribes, Wanted
from likewise.broker.edge_hub.identities import EdgeSubscription, read_name
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.formats.json.subscriptions import subscription_to_json


def name_above(tenant: Tenant, held: Held, here: str) -> EdgeSubscription:
    """What a subscription here is called above: who decides it, its number here, and over which edges it came."""
    below = read_name(held.id) if tenant.by_number[held.subscriber].is_edge else None
    above = not tenant.decides(held.subscription) or (below is not None and below.above)
    return EdgeSubscription(above, held.number, (*(() if below is None else below.path), here))


class OwnSubscriptions:
    """What the broker above was told, and what it has to be told."""

    def __init__(self, tenant: Tenant, here: str) -> None:
        self._tenant = tenant
        self._here = here
        self._told: dict[str, None] = {}
        self.refused: dict[int, str] = {}  # why the broker above does not hold one, by number here
        self.held: set[int] = set()  # those that it holds

    def _all(self) -> dict[str, Held]:
        tenant = self._tenant
        live = [held for held in tenant.live() if held.subscriber in tenant.by_number]
        return {str(name_above(tenant, held, self._here)): held for held in live}

    def everything(self) -> Subscribes:
        """All of them, for a new line."""
        found = self._all()
        self._told = dict.fromkeys(found)
        self.held.clear()
        return Subscribes(wanted=tuple(_wanted(id, held) for id, held in found.items()), whole=True)

    def news(self) -> list[Subscribes | Unsubscribes]:
        """What has changed since."""
        found = self._all()
        new = [_wanted(id, held) for id, held in found.items() if id not in self._told]
        gone = tuple(id for id in self._told if id not in found)
        self._told = dict.fromkeys(found)
        for id in gone:
            name = read_name(id)
            if name is not None:
                self.held.discard(name.number)
                self.refused.pop(name.number, None)
        said: list[Subscribes | Unsubscribes] = []
        if new:
            said.append(Subscribes(wanted=tuple(new)))
        if gone:
            said.append(Unsubscribes(ids=gone))
        return said

    def answered(self, id: str, refused: str) -> None:
        """The broker above took a subscription, or refused it with words."""
        name = read_name(id)
        if name is not None:
            if refused:
                self.refused[name.number] = refused
            else:
                self.held.add(name.number)

    def lost(self) -> None:
        """The line is broken: nothing of it is known to be held."""
        self.held.clear()


def _wanted(id: str, held: Held) -> Wanted:
    return Wanted(id, msgspec.Raw(subscription_to_json(held.subscription)))

"""Index the demand for every announced source, kept up to date with the log's commands.

A tenant has an index once it has an announcement. It follows the log a little behind matching; whoever asks is answered
as of then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from likewise.broker.catalogue.observations import ObservedAttribute
from likewise.broker.log.entries import COMMAND, Entry, SubscribeCommand
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_ANNOUNCED_ATTRIBUTES
from likewise.errors import InputError
from likewise.matching.demand.demand_filter import Demand
from likewise.matching.demand.expected_keys import uses_announced_facts
from likewise.matching.demand.index import DemandIndex
from likewise.matching.registry import Profile
from likewise.model import Subscription
from likewise.model.alerts.notification import Key
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.model.text import fold
from likewise.units import any_unit

SOURCES_PER_TURN: Final = 100  # sources that spoke whose words are looked at in one turn
FULL_COMPARISON_S: Final = 60.0  # between two comparisons with everything that is held
Texts = Callable[[Tenant, str], Iterable[str]]
ObservedAttributes = Callable[[Tenant, str], Iterable[ObservedAttribute]]


class _TenantDemand:
    """The demand index of one tenant, and what it still has to take in."""

    def __init__(self, tenant: Tenant, profile: Profile) -> None:
        self.index = DemandIndex(tenant.stateless.interpretation, profile)
        self.announced: dict[str, Announcement] = {}
        self.waiting: list[int] = []  # subscriptions that are not held yet
        self.spoke: set[str] = set()  # sources that sent something since they were last looked at
        self.words: dict[str, object] = {}  # by source: the words that its demand was judged with
        self.compared = 0.0
        self.unheard = 0  # the last subscription that came by before this was there; 0 once all up to it are held


class SourceDemand:
    """Which sources have demand, by which subscriptions; changed on one thread, read from any."""

    def __init__(
        self,
        profile: Profile,
        texts: Texts = lambda tenant, name: (),
        observed: ObservedAttributes = lambda tenant, source: (),
    ) -> None:
        self._profile = profile
        self._texts = texts
        self._observed = observed
        self._tenants: dict[int, _TenantDemand] = {}
        self._subscribed: dict[int, int] = {}  # by tenant without an index: the last subscription that came by
        self._lock = threading.Lock()  # of the indexes

    def observe(self, tenant: Tenant, entries: Iterable[Entry]) -> None:
        """Note new subscriptions and sources that sent something."""
        with self._lock:
            demand = self._tenants.get(tenant.number)
            for entry in entries:
                if entry.kind == COMMAND:
                    if not isinstance(entry.value, SubscribeCommand):
                        continue
                    if demand is None:
                        self._subscribed[tenant.number] = entry.position
                    else:
                        demand.waiting.append(entry.position)
                elif demand is not None and entry.source in demand.announced:
                    demand.spoke.add(entry.source)

    def bring_up_to_date(self, tenant: Tenant) -> bool:
        """Take in what changed; whether the tenant has any announcement."""
        announced = {source: stored.announcement for source, stored in list(tenant.sources.announcements.items())}
        with self._lock:
            demand = self._tenants.get(tenant.number)
            if demand is None:
                if not announced:
                    return False
                demand = self._tenants[tenant.number] = _TenantDemand(tenant, self._profile)
                demand.unheard = self._subscribed.pop(tenant.number, 0)
            self._take_subscriptions(tenant, demand)
            for source in [source for source in demand.announced if source not in announced]:
                demand.index.revoke(source)
                demand.words.pop(source, None)
                del demand.announced[source]
            for source, announcement in announced.items():
                known = demand.announced.get(source)
                demand.announced[source] = announcement
                if known is not announcement and (known is None or not known.same_as(announcement)):
                    demand.words.pop(source, None)
                    self._announce(tenant, demand, announcement)
            for source in list(demand.spoke)[:SOURCES_PER_TURN]:
                demand.spoke.discard(source)
                if source in demand.announced:
                    self._announce(tenant, demand, demand.announced[source])
            if not demand.index.up_to_date():
                demand.index.recompile()
        return bool(announced)

    def _announce(self, tenant: Tenant, demand: _TenantDemand, announcement: Announcement) -> None:
        """Compile an announcement, with what was seen beside it, unless that was done with the same words."""
        whole = with_observed(announcement, self._observed(tenant, announcement.source))
        texts = {each.name: frozenset(self._texts(tenant, each.name)) for each in whole.attributes if not each.values}
        words = (whole.attributes, frozenset(texts.items()))
        if demand.words.get(announcement.source) != words:
            demand.words[announcement.source] = words
            demand.index.announce(whole, lambda name: texts.get(name, ()))

    def _take_subscriptions(self, tenant: Tenant, demand: _TenantDemand) -> None:
        waiting, demand.waiting = demand.waiting, []
        for number in waiting:
            stored = tenant.subscriptions.get(number)
            if stored is not None and stored.ended is None:
                if number not in demand.index:
                    demand.index.add(number, stored.subscription)
            elif number > tenant.matched:
                demand.waiting.append(number)
        for number in list(tenant.ended):
            demand.index.remove(number)
        if time.monotonic() - demand.compared >= FULL_COMPARISON_S or not demand.compared or demand.unheard:
            demand.compared = time.monotonic()
            if tenant.matched >= demand.unheard:
                demand.unheard = 0  # everything up to it is held, or was refused
            live = {stored.number: stored.subscription for stored in tenant.live()}
            for number, subscription in live.items():
                if number not in demand.index:
                    demand.index.add(number, subscription)
            for number in demand.index.numbers() - live.keys():
                demand.index.remove(number)

    def subscriptions_for(self, tenant: Tenant, source: str) -> list[tuple[int, Subscription]]:
        """Return the subscriptions that a source may have events for."""
        demand = self._tenants.get(tenant.number)
        if demand is None or source not in demand.announced:
            return []
        with self._lock:
            return [(number, demand.index.subscription(number)) for number in demand.index.subscriptions_of(source)]

    def subscription_count(self, tenant: Tenant) -> int:
        """Return the number of subscriptions in a tenant's index."""
        demand = self._tenants.get(tenant.number)
        return 0 if demand is None else len(demand.index)

    def expected(self, tenant: Tenant, alerts: set[int]) -> dict[tuple[int, str], Key]:
        """Return the keys that alerts wait for by what sources announced; by alert and source."""
        demand = self._tenants.get(tenant.number)
        keys: dict[tuple[int, str], Key] = {}
        if demand is not None:
            with self._lock:
                numbers = demand.index.numbers() & alerts
                by_fact = {number for number in numbers if uses_announced_facts(demand.index.subscription(number))}
                for source in demand.announced:
                    for number in by_fact | numbers.intersection(demand.index.subscriptions_of(source)):
                        key = demand.index.expected_key(source, number, demand.announced[source])
                        if key is not None:
                            keys[number, source] = key
        return keys

    def count(self, tenant: Tenant, source: str) -> int | None:
        """Return how many subscriptions a source may have events for; None if it has announced nothing."""
        demand = self._tenants.get(tenant.number)
        return None if demand is None or source not in demand.announced else len(self.subscriptions_for(tenant, source))

    def demand(self, tenant: Tenant, source: str) -> Demand:
        """Return the demand for a source, as filters."""
        tenant.sources.announcement(source)
        self.bring_up_to_date(tenant)
        with self._lock:
            return self._tenants[tenant.number].index.demand(source)


def with_observed(announcement: Announcement, readings: Iterable[ObservedAttribute]) -> Announcement:
    """Return an announcement with its source's other observed attributes, and ranges widened to observed numbers.

    So what was new once is judged from then on, and not sent on for ever because it is not known.

    >>> from likewise.model.announcements.announcement import AnnouncedAttribute
    >>> roof = Announcement("roof", (AnnouncedAttribute("t", low=0, high=9),))
    >>> nan = float("nan")
    >>> rows = ("t", "", 3, 2, -4, 5, 0, 5, "", ()), ("mode", "", 1, 1, nan, nan, 0, nan, "eco", ())
    >>> observed = [ObservedAttribute(*row) for row in rows]
    >>> [(each.name, each.low, each.high) for each in with_observed(roof, observed).attributes]
    [('t', -4, 9), ('mode', None, None)]
    """
    attributes = {(fold(each.name), each.unit): each for each in announcement.attributes}
    names = {fold(each.name) for each in announcement.all_attributes()}
    units = {fold(each.name): each.unit for each in announcement.attributes}
    for reading in readings:
        unit = any_unit(reading.unit) if reading.unit else None
        if reading.unit and unit is None:
            continue  # a unit that is not known can be no announcement's
        name = fold(reading.attribute)
        key = (name, units.get(name, "") if unit is None else unit.symbol)  # what states none is in the announced one
        known = attributes.get(key)
        if known is not None and known.kind == "number":
            low, high = (known.low, known.high)
            if low is not None and reading.low < low:
                low = reading.low
            if high is not None and reading.high > high:
                high = reading.high
            with suppress(InputError):  # a number so large that it has no base: it stays outside
                attributes[key] = replace(known, low=low, high=high)
        elif known is None and name not in names and len(attributes) < MAX_ANNOUNCED_ATTRIBUTES:
            attributes[key] = AnnouncedAttribute(reading.attribute, key[1])
    return (
        announcement
        if list(attributes.values()) == list(announcement.attributes)
        else replace(announcement, attributes=tuple(attributes.values()))
    )

"""The demand of every announcement, kept up to date as commands come by: what each source is asked for.

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
    """What is kept for one tenant."""

    def __init__(self, tenant: Tenant, profile: Profile) -> None:
        self.index = DemandIndex(tenant.stateless.interpretation, profile)
        self.announced: dict[str, Announcement] = {}
        self.waiting: list[int] = []  # subscriptions that are not held yet
        self.spoke: set[str] = set()  # sources that sent something since they were last looked at
        self.words: dict[str, object] = {}  # by source: the words that its demand was judged with
        self.compared = 0.0
        self.unheard = 0  # the last subscription that came by before this was there; 0 once all up to it are held


class SourceDemand:
    """Which sources are wanted, by which subscriptions; changed on one thread, asked from any."""

    def __init__(
        self,
        profile: Profile,
        texts: Texts = lambda tenant, name: (),
        seen: ObservedAttributes = lambda tenant, source: (),
    ) -> None:
        self._profile = profile
        self._texts = texts
        self._observed = seen
        self._tenants: dict[int, _TenantDemand] = {}
        self._subscribed: dict[int, int] = {}  # by tenant without an index: the last subscription that came by
        self._lock = threading.Lock()  # of the indexes

    def observe(self, tenant: Tenant, entries: Iterable[Entry]) -> None:
        """Entries came by."""
        with self._lock:
            own = self._tenants.get(tenant.number)
            for entry in entries:
                if entry.kind == COMMAND:
                    if not isinstance(entry.value, SubscribeCommand):
                        continue
                    if own is None:
                        self._subscribed[tenant.number] = entry.position
                    else:
                        own.waiting.append(entry.position)
                elif own is not None and entry.source in own.announced:
                    own.spoke.add(entry.source)

    def bring_up_to_date(self, tenant: Tenant) -> bool:
        """Take in what changed; whether the tenant has any announcement."""
        announced = {source: held.announcement for source, held in list(tenant.sources.announcements.items())}
        with self._lock:
            own = self._tenants.get(tenant.number)
            if own is None:
                if not announced:
                    return False
                own = self._tenants[tenant.number] = _TenantDemand(tenant, self._profile)
                own.unheard = self._subscribed.pop(tenant.number, 0)
            self._take_subscriptions(tenant, own)
            for source in [source for source in own.announced if source not in announced]:
                own.index.revoke(source)
                own.words.pop(source, None)
                del own.announced[source]
            for source, said in announced.items():
                known = own.announced.get(source)
                own.announced[source] = said
                if known is not said and (known is None or not known.same_as(said)):
                    own.words.pop(source, None)
                    self._announce(tenant, own, said)
            for source in list(own.spoke)[:SOURCES_PER_TURN]:
                own.spoke.discard(source)
                if source in own.announced:
                    self._announce(tenant, own, own.announced[source])
            if not own.index.up_to_date():
                own.index.recompile()
        return bool(announced)

    def _announce(self, tenant: Tenant, own: _TenantDemand, said: Announcement) -> None:
        """Compile an announcement, with what was seen beside it, unless that was done with the same words."""
        whole = with_observed(said, self._observed(tenant, said.source))
        texts = {each.name: frozenset(self._texts(tenant, each.name)) for each in whole.attributes if not each.values}
        words = (whole.attributes, frozenset(texts.items()))
        if own.words.get(said.source) != words:
            own.words[said.source] = words
            own.index.announce(whole, lambda name: texts.get(name, ()))

    def _take_subscriptions(self, tenant: Tenant, own: _TenantDemand) -> None:
        waiting, own.waiting = own.waiting, []
        for number in waiting:
            held = tenant.subscriptions.get(number)
            if held is not None and held.ended is None:
                if number not in own.index:
                    own.index.add(number, held.subscription)
            elif number > tenant.matched:
                own.waiting.append(number)
        for number in list(tenant.ended):
            own.index.remove(number)
        if time.monotonic() - own.compared >= FULL_COMPARISON_S or not own.compared or own.unheard:
            own.compared = time.monotonic()
            if tenant.matched >= own.unheard:
                own.unheard = 0  # everything up to it is held, or was refused
            live = {held.number: held.subscription for held in tenant.live()}
            for number, subscription in live.items():
                if number not in own.index:
                    own.index.add(number, subscription)
            for number in own.index.numbers() - live.keys():
                own.index.remove(number)

    def subscriptions_for(self, tenant: Tenant, source: str) -> list[tuple[int, Subscription]]:
        """The subscriptions that a source may have something for."""
        own = self._tenants.get(tenant.number)
        if own is None or source not in own.announced:
            return []
        with self._lock:
            return [(number, own.index.subscription(number)) for number in own.index.subscriptions_of(source)]

    def subscription_count(self, tenant: Tenant) -> int:
        """How many subscriptions are looked at."""
        own = self._tenants.get(tenant.number)
        return 0 if own is None else len(own.index)

    def expected(self, tenant: Tenant, alerts: set[int]) -> dict[tuple[int, str], Key]:
        """By alert and source, the keys that are to be waited for by what the source announced."""
        own = self._tenants.get(tenant.number)
        found: dict[tuple[int, str], Key] = {}
        if own is not None:
            with self._lock:
                held = own.index.numbers() & alerts
                by_fact = {number for number in held if uses_announced_facts(own.index.subscription(number))}
                for source in own.announced:
                    for number in by_fact | held.intersection(own.index.subscriptions_of(source)):
                        key = own.index.expected_key(source, number, own.announced[source])
                        if key is not None:
                            found[number, source] = key
        return found

    def count(self, tenant: Tenant, source: str) -> int | None:
        """How many those are; None if it has announced nothing."""
        own = self._tenants.get(tenant.number)
        return None if own is None or source not in own.announced else len(self.subscriptions_for(tenant, source))

    def demand(self, tenant: Tenant, source: str) -> Demand:
        """What a source is asked for, as filters."""
        tenant.sources.announcement(source)
        self.bring_up_to_date(tenant)
        with self._lock:
            return self._tenants[tenant.number].index.demand(source)


def with_observed(said: Announcement, readings: Iterable[ObservedAttribute]) -> Announcement:
    """An announcement with what was seen of its source: attributes that it does not name, numbers beyond its ranges.

    So what was new once is judged from then on, and not sent on for ever because it is not known.

    >>> from likewise.model.announcements.announcement import AnnouncedAttribute
    >>> roof = Announcement("roof", (AnnouncedAttribute("t", low=0, high=9),))
    >>> nan = float("nan")
    >>> seen = [Reading("t", "", 3, 2, -4, 5, 0, 5, "", ()), Reading("mode", "", 1, 1, nan, nan, 0, nan, "eco", ())]
    >>> [(each.name, each.low, each.high) for each in with_observed(roof, seen).attributes]
    [('t', -4, 9), ('mode', None, None)]
    """
    found = {(fold(each.name), each.unit): each for each in said.attributes}
    names = {fold(each.name) for each in said.all_attributes()}
    units = {fold(each.name): each.unit for each in said.attributes}
    for reading in readings:
        unit = any_unit(reading.unit) if reading.unit else None
        if reading.unit and unit is None:
            continue  # a unit that is not known can be no announcement's
        name = fold(reading.attribute)
        key = (name, units.get(name, "") if unit is None else unit.symbol)  # what states none is in the announced one
        known = found.get(key)
        if known is not None and known.kind == "number":
            low, high = (known.low, known.high)
            if low is not None and reading.low < low:
                low = reading.low
            if high is not None and reading.high > high:
                high = reading.high
            with suppress(InputError):  # a number so large that it has no base: it stays outside
                found[key] = replace(known, low=low, high=high)
        elif known is None and name not in names and len(found) < MAX_ANNOUNCED_ATTRIBUTES:
            found[key] = AnnouncedAttribute(reading.attribute, key[1])
    return said if list(found.values()) == list(said.attributes) else replace(said, attributes=tuple(found.values()))

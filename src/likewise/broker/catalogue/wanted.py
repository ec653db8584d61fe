"""The demand of every announcement, kept up to date as commands come by: what each source is asked for.

A tenant has an index once it has an announcement. It follows the log a little behind matching; whoever asks is answered
as of then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from likewise.broker.store.entries import COMMAND, Entry, Subscribe
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.demand.filters import Demand
from likewise.matching.demand.index import DemandIndex
from likewise.matching.engines import Profile
from likewise.model import Subscription
from likewise.model.announcements.announcement import Announcement

WHOLE_SECONDS: Final = 60.0  # between two comparisons with everything that is held
Texts = Callable[[Tenant, str], Iterable[str]]


class _Own:
    """What is kept for one tenant."""

    def __init__(self, tenant: Tenant, profile: Profile) -> None:
        self.index = DemandIndex(tenant.stateless.interpretation, profile)
        self.announced: dict[str, Announcement] = {}
        self.waiting: list[int] = []  # subscriptions that are not held yet
        self.compared = 0.0


class WantedSources:
    """Which sources are wanted, by which subscriptions; changed on one thread, asked from any."""

    def __init__(self, profile: Profile, texts: Texts = lambda tenant, name: ()) -> None:
        self._profile = profile
        self._texts = texts
        self._own: dict[int, _Own] = {}
        self._lock = threading.Lock()  # of the indexes

    def heard(self, tenant: Tenant, entries: Iterable[Entry]) -> None:
        """Entries came by."""
        own = self._own.get(tenant.number)
        if own is not None:
            own.waiting += [e.position for e in entries if e.kind == COMMAND and isinstance(e.value, Subscribe)]

    def bring_up_to_date(self, tenant: Tenant) -> bool:
        """Take in what changed; whether the tenant has any announcement."""
        announced = {source: held.announcement for source, held in list(tenant.known.announcements.items())}
        own = self._own.get(tenant.number)
        if own is None:
            if not announced:
                return False
            own = self._own[tenant.number] = _Own(tenant, self._profile)
        with self._lock:
            self._take_subscriptions(tenant, own)
            for source in [source for source in own.announced if source not in announced]:
                own.index.revoke(source)
                del own.announced[source]
            for source, said in announced.items():
                known = own.announced.get(source)
                if known is not said and (known is None or not known.same_as(said)):
                    own.index.announce(said, lambda name: self._texts(tenant, name))
                own.announced[source] = said
            if not own.index.up_to_date():
                own.index.recompile()
        return bool(announced)

    def _take_subscriptions(self, tenant: Tenant, own: _Own) -> None:
        waiting, own.waiting = own.waiting, []
        for number in waiting:
            held = tenant.held.get(number)
            if held is not None and held.ended is None:
                if number not in own.index:
                    own.index.add(number, held.subscription)
            elif number > tenant.matched:
                own.waiting.append(number)
        for number in list(tenant.ended):
            own.index.remove(number)
        if time.monotonic() - own.compared >= WHOLE_SECONDS or not own.compared:
            own.compared = time.monotonic()
            live = {held.number: held.subscription for held in tenant.live()}
            for number, subscription in live.items():
                if number not in own.index:
                    own.index.add(number, subscription)
            for number in own.index.numbers() - live.keys():
                own.index.remove(number)

    def wanted_by(self, tenant: Tenant, source: str) -> list[tuple[int, Subscription]]:
        """The subscriptions that a source may have something for."""
        own = self._own.get(tenant.number)
        if own is None or source not in own.announced:
            return []
        with self._lock:
            return [(number, own.index.subscription(number)) for number in own.index.wanted_by(source)]

    def count(self, tenant: Tenant, source: str) -> int | None:
        """How many those are; None if it has announced nothing."""
        own = self._own.get(tenant.number)
        return None if own is None or source not in own.announced else len(self.wanted_by(tenant, source))

    def demand(self, tenant: Tenant, source: str) -> Demand:
        """What a source is asked for, as filters."""
        tenant.known.announcement(source)
        self.bring_up_to_date(tenant)
        with self._lock:
            return self._own[tenant.number].index.demand(source)

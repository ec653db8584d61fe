"""Keep `absent for` waiting for sources that announced an alert's attribute before they sent any event.

What a source announces and what alerts ask for changes seldom; then it is looked at who is to be waited for, and what
is new of that is written to the log.
"""

from __future__ import annotations

from collections.abc import Callable

from likewise.broker.catalogue.demand_index import SourceDemand
from likewise.broker.log.entries import Command, ExpectCommand
from likewise.broker.tenants.tenant import Tenant
from likewise.model.alerts.notification import Key

Append = Callable[[Tenant, Command], None]


class AbsenceWatch:
    """Registers announced sources with the alerts that wait for them; used by one thread."""

    def __init__(self, demand: SourceDemand, append: Append) -> None:
        self._demand = demand
        self._append = append
        self._known: dict[int, dict[tuple[int, str], Key]] = {}  # by tenant: alert and source
        self._checked: dict[int, tuple[object, ...]] = {}

    def update(self, tenant: Tenant) -> None:
        """Look whether somebody else is to be waited for, where anything has changed."""
        state = (
            tenant.sources.version,
            len(tenant.subscriptions),
            len(tenant.ended),
            self._demand.subscription_count(tenant),
        )
        if self._checked.get(tenant.number) == state:
            return
        silent = {
            stored.number
            for stored in tenant.live()
            if stored.subscription.alert is not None and stored.subscription.alert.absent_for is not None
        }
        before = self._known.get(tenant.number, {})
        now = self._demand.expected(tenant, silent) if silent and tenant.sources.announcements else {}
        for (number, source), key in before.items():
            announced = tenant.sources.announcements.get(source)
            if (number, source) not in now and number in silent and announced is not None:
                self._append(tenant, ExpectCommand(number, key, source, announced.event, ends=True))
        for (number, source), key in now.items():
            announced = tenant.sources.announcements.get(source)
            if announced is not None and announced.event and before.get((number, source)) != key:
                with tenant.matchers:
                    known = tenant.alerts.expects(number, key)
                if not known:
                    self._append(tenant, ExpectCommand(number, key, source, announced.event))
        self._known[tenant.number] = now
        self._checked[tenant.number] = state

"""Whom alerts wait for because they announced it: `absent for` counts for them though nothing of them held yet.

What a source announces and what alerts ask for changes seldom; then it is looked at who is to be waited for, and what
is new of that is written to the log.
"""

from __future__ import annotations

from collections.abc import Callable

from likewise.broker.catalogue.demand_index import WantedSources
from likewise.broker.log.entries import Command, Expect
from likewise.broker.tenants.tenant import Tenant
from likewise.model.alerts.notification import Key

Append = Callable[[Tenant, Command], None]


class Expecting:
    """Keeps the alerts of tenants waiting for announced sources; one thread takes turns."""

    def __init__(self, wanted: WantedSources, append: Append) -> None:
        self._wanted = wanted
        self._append = append
        self._known: dict[int, dict[tuple[int, str], Key]] = {}  # by tenant: alert and source
        self._looked: dict[int, tuple[object, ...]] = {}

    def turn(self, tenant: Tenant) -> None:
        """Look whether somebody else is to be waited for, where anything has changed."""
        state = (tenant.known.version, len(tenant.held), len(tenant.ended), self._wanted.held(tenant))
        if self._looked.get(tenant.number) == state:
            return
        silent = {
            held.number
            for held in tenant.live()
            if held.subscription.alert is not None and held.subscription.alert.absent_for is not None
        }
        before = self._known.get(tenant.number, {})
        now = self._wanted.expected(tenant, silent) if silent and tenant.known.announcements else {}
        for (number, source), key in before.items():
            announced = tenant.known.announcements.get(source)
            if (number, source) not in now and number in silent and announced is not None:
                self._append(tenant, Expect(number, key, source, announced.event, ends=True))
        for (number, source), key in now.items():
            announced = tenant.known.announcements.get(source)
            if announced is not None and announced.event and before.get((number, source)) != key:
                with tenant.matchers:
                    known = tenant.alerts.expects(number, key)
                if not known:
                    self._append(tenant, Expect(number, key, source, announced.event))
        self._known[tenant.number] = now
        self._looked[tenant.number] = state

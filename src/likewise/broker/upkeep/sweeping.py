"""Forgetting: which events, and which commands of the log, nobody needs any more."""

from __future__ import annotations

from likewise.broker.store.log_entries import Unneeded
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import KNOWN_FOR


def unneeded(tenant: Tenant, now: int) -> Unneeded:
    """What is needed neither by matching nor by a tenant's windows or their replay.

    An event stays known for `KNOWN_FOR` after its arrival, so that publishing it again is noticed.
    """
    matched = tenant.matched
    before = matched + 1 if tenant.windows_from is None else min(matched + 1, tenant.windows_from)
    arrived = now - KNOWN_FOR
    for number, subscription in tenant.windows.subscriptions():
        if subscription.top is not None and subscription.top.duration is not None:
            arrived = min(arrived, now - subscription.top.duration)
        else:  # a window of events may reach back to where its subscription began
            before = min(before, number)
    return Unneeded(tenant.number, before, arrived)

"""Retention limits: the events and commands of the log that nobody needs any more."""

from __future__ import annotations

from likewise.broker.log.log_entries import RemovalLimits
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import DEDUPLICATION_SPAN


def unneeded(tenant: Tenant, now: int, *, replayed: bool = True) -> RemovalLimits:
    """Return what neither matching, nor windows of time, nor their replay need.

    Windows of the last n events, and those without an end, hold what time never takes out: what is over there has to be
    taken out first (`upkeep.housekeeping`).

    An event stays known for `DEDUPLICATION_SPAN` after its arrival, so that publishing it again is noticed.
    """
    matched = tenant.matched
    before = matched + 1
    if replayed and tenant.windows_from is not None:  # what is in memory alone is never replayed
        before = min(before, tenant.windows_from)
    arrived = now - DEDUPLICATION_SPAN
    arrived = min(arrived, now - tenant.window_length)
    return RemovalLimits(tenant.number, before, arrived)

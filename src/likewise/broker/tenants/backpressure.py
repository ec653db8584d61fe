"""Backpressure: publishers wait or come again later while a tenant has more work than it can take.

Two limits apply. `check_backlog` refuses events (429 with `Retry-After`) while too many entries of the tenant wait to
be matched. `is_blocked` holds publishers up while a subscriber's queue with the policy `block` is full.
"""

from __future__ import annotations

from math import inf

from likewise.broker.config import TenantLimits
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_RETRY_SECONDS
from likewise.errors import BacklogExceeded


def check_backlog(tenant: Tenant, limits: TenantLimits) -> None:
    """Refuse events of a tenant whose backlog is too long.

    Args:
        tenant: The tenant that publishes.
        limits: `backlog` bounds the entries, `backlog_seconds` the time that matching them takes: an event with new
            terms takes far longer than others.

    Raises:
        BacklogExceeded: The backlog is too long; `retry_after` is when it will be down to 90 %.
    """
    waiting, pace = tenant.waiting, tenant.pace
    allowed = min(float(limits.backlog), limits.backlog_seconds / pace if pace > 0 else inf)
    if waiting >= max(1.0, allowed):
        wait = min(MAX_RETRY_SECONDS, max(1.0, (waiting - 0.9 * allowed) * pace))
        raise BacklogExceeded("entries wait to be matched", waiting=waiting, allowed=allowed, retry_after=wait)


def is_blocked(tenant: Tenant) -> bool:
    """Return whether a full queue with the policy `block` holds publishers of a tenant up."""
    return any(queue.full for queue in list(tenant.blocking))

"""Where alerts stand: which keys are on, since when, how far others are."""

from __future__ import annotations

from likewise.api.mobile import AlertDetails, AlertKeyDetails
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.errors import StateError
from likewise.model.alerts.alert_state import summarize_key


def alert_shown(tenant: Tenant, held: StoredSubscription, now: int, limit: int) -> AlertDetails:
    """An alert's keys, the most telling first."""
    alert = held.subscription.alert
    if alert is None:
        raise StateError(f"{held.id!r} is no alert, so it has no keys")
    with tenant.matchers:
        if held.number not in tenant.alerts:  # its validity is over
            return AlertDetails(0)
        total, found = tenant.alerts.count_keys(held.number), tenant.alerts.standings(held.number, limit)
    shown = []
    for each in found:
        state, words = summarize_key(alert, each, now)
        said = each.notified or each.fired or each.absent
        shown.append(
            AlertKeyDetails(each.key, each.last_observed, each.since, said, each.absent, each.suppressed, state, words)
        )
    return AlertDetails(total, tuple(shown))

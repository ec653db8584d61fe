"""The state of alerts: which keys are active, since when, and how far others are."""

from __future__ import annotations

from likewise.api.mobile import AlertDetails, AlertKeyDetails
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.errors import StateError
from likewise.model.alerts.alert_state import summarize_key


def alert_shown(tenant: Tenant, stored: StoredSubscription, now: int, limit: int) -> AlertDetails:
    """Return an alert's keys, the most important first."""
    alert = stored.subscription.alert
    if alert is None:
        raise StateError(f"{stored.id!r} is no alert, so it has no keys")
    with tenant.matchers:
        if stored.number not in tenant.alerts:  # its validity is over
            return AlertDetails(0)
        total, standings = tenant.alerts.count_keys(stored.number), tenant.alerts.standings(stored.number, limit)
    shown = []
    for each in standings:
        state, words = summarize_key(alert, each, now)
        notified = each.notified or each.fired or each.absent
        shown.append(
            AlertKeyDetails(
                each.key, each.last_observed, each.since, notified, each.absent, each.suppressed, state, words
            )
        )
    return AlertDetails(total, tuple(shown))

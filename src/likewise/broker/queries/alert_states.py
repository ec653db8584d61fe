"""Where alerts stand: which keys are on, since when, how far others are."""

from __future__ import annotations

from likewise.api.mobile import AlertShown, KeyShown
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.errors import StateError
from likewise.model.alerts.alert_state import told_key


def alert_shown(tenant: Tenant, held: Held, now: int, limit: int) -> AlertShown:
    """An alert's keys, the most telling first."""
    alert = held.subscription.alert
    if alert is None:
        raise StateError(f"{held.id!r} is no alert, so it has no keys")
    with tenant.matchers:
        if held.number not in tenant.alerts:  # its validity is over
            return AlertShown(0)
        total, found = tenant.alerts.count_keys(held.number), tenant.alerts.standings(held.number, limit)
    shown = []
    for each in found:
        state, words = told_key(alert, each, now)
        said = each.told or each.spoken or each.absent
        shown.append(KeyShown(each.key, each.heard, each.begin, said, each.absent, each.suppressed, state, words))
    return AlertShown(total, tuple(shown))

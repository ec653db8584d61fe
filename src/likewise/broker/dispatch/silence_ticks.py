"""What the log says about silence: outages of the broker's own, whose silence is excused, and whom alerts wait for.

A replay does the same as was done when the command came first.
"""

from __future__ import annotations

from likewise.broker.log.entries import Announce, Entry, Excuse, Expect, RenameSource, Resume, Revoke
from likewise.broker.tenants.tenant import Tenant

OfSilence = Resume | Excuse | Expect | Announce | Revoke


def take_silence(tenant: Tenant, command: OfSilence, entry: Entry) -> None:
    """Let alerts know what a command says about silence."""
    alerts = tenant.alerts
    match command:
        case Resume(after=by):
            alerts.outage(by, tenant.window_time(entry.arrival))
        case Excuse(sources=sources, why=why, ends=ends):
            (alerts.end_excuse if ends else alerts.excuse)(sources, why, tenant.window_time(entry.arrival))
        case Expect(subscription=number, key=key, source=source, event=event, ends=ends):
            if number not in alerts:  # it ended meanwhile
                return
            if ends:
                alerts.unexpect(number, key, event)
            else:
                alerts.expect(number, key, source, event, tenant.window_time(entry.arrival))
        case Announce(before=before, said=said):
            if said and before:
                alerts.rename(before, entry.position + 1)
        case Revoke(waited_for=event):
            if event:
                alerts.rename(event, entry.position + 1)


def rename_in_alerts(tenant: Tenant, command: RenameSource) -> None:
    """Let what alerts know of a name count for the one source that it became; of several, each begins anew."""
    if command.sources != (command.before,):
        tenant.alerts.rename_source(command.before, command.sources[0] if len(command.sources) == 1 else None)

"""Forgetting: events whose validity is over or that were withdrawn, with everything that was kept for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from likewise.broker.store.checksums import refuse
from likewise.broker.store.deliveries import COLUMNS, delivery_row
from likewise.broker.store.entries import Gone
from likewise.broker.store.rows import ENTRY, entry_row
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import KNOWN_FOR

EVENTS: Final = 2_000  # removed in one commit, so that nobody waits long for it


class Swept(NamedTuple):
    """What was removed: events, and deliveries by tenant, number and recipients."""

    events: list[Gone]
    deliveries: list[tuple[int, int, list[int]]]


def sweep(connection: sqlite3.Connection, tenants: Iterable[Tenant], matched: int, now: int) -> Swept:
    """Remove what is over, up to the position matched; what windows may still promote stays.

    An event stays known for `KNOWN_FOR` after its arrival, so that publishing it again is noticed.
    """
    events: list[Gone] = []
    deliveries: list[tuple[int, int, list[int]]] = []
    replayed_from = matched + 1
    for tenant in tenants:
        before, arrived = _unneeded(tenant, matched, now)
        replayed_from = min(replayed_from, before)
        rows = connection.execute(
            "SELECT position FROM log WHERE kind = 0 AND ends IS NOT NULL AND ends <= ?2 AND tenant = ?1 "
            "AND position < ?3 AND arrival <= ?4 UNION SELECT position FROM log WHERE kind = 0 AND withdrawn = 1 "
            "AND tenant = ?1 AND position < ?3 AND arrival <= ?4 LIMIT ?5",
            (tenant.number, now, before, min(arrived, now - KNOWN_FOR), EVENTS),
        ).fetchall()
        for (position,) in rows:
            events.append(_over(connection, position, now))
            found = connection.execute(f"SELECT {COLUMNS} FROM deliveries WHERE event = ?", (position,)).fetchall()
            deliveries += [(tenant.number, d.number, d.recipients) for d in map(delivery_row, found)]
    connection.executemany("DELETE FROM deliveries WHERE tenant = ? AND number = ?", [d[:2] for d in deliveries])
    connection.executemany("DELETE FROM log WHERE position = ?", [(event.position,) for event in events])
    connection.execute("DELETE FROM log WHERE kind = 1 AND position < ?", (replayed_from,))
    return Swept(events, deliveries)


def _over(connection: sqlite3.Connection, position: int, now: int) -> Gone:
    """The event to be removed; refused if an index alone says that it is over, which was altered on disk then."""
    row = connection.execute(f"SELECT withdrawn, {ENTRY} FROM log WHERE position = ?", (position,)).fetchone()
    entry = entry_row(row[1:])
    if not row[0] and (entry.ends is None or entry.ends > now):
        raise refuse(f"an index over entry {position} of the log")
    return Gone(entry.tenant, position, entry.id, entry.source)


def _unneeded(tenant: Tenant, matched: int, now: int) -> tuple[int, int]:
    """Before which position, and up to which arrival, nothing is needed by a tenant's windows or their replay."""
    before = matched + 1 if tenant.windows_from is None else min(matched + 1, tenant.windows_from)
    arrived = now
    for subscription in tenant.windows.subscriptions():
        if subscription.top is not None and subscription.top.duration is not None:
            arrived = min(arrived, now - subscription.top.duration)
        else:  # a window of events may reach back to where its subscription began
            before = min(before, int(subscription.id))
    return before, arrived

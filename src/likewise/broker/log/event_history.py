"""Read the log and the deliveries backwards: by source, by time, and counted."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from likewise.broker.log.deliveries import COLUMNS, Delivery, delivery_row
from likewise.broker.log.entries import Entry
from likewise.broker.log.rows import ENTRY, entry_row
from likewise.broker.log.tables import StoreTables

MINUTE: Final = 60_000_000  # µs


def first_position(tables: StoreTables, tenant: int) -> int | None:
    """Return the position of the oldest event of a tenant that is kept."""
    row = tables.row("SELECT position FROM log WHERE kind = 0 AND tenant = ? ORDER BY position LIMIT 1", tenant)
    return None if row is None else int(row[0])


def events_by_minute(tables: StoreTables, tenant: int, after: int, until: int) -> list[tuple[int, int]]:
    """Count a tenant's events between two positions by the minute of their arrival."""
    sql = (
        "SELECT arrival / ?4, count(*) FROM log WHERE kind = 0 AND tenant = ?1 AND position > ?2 AND position <= ?3 "
        "GROUP BY 1"
    )
    rows = tables.rows(sql, tenant, after, until, MINUTE)
    return [(minute, count) for minute, count in rows]


def event_identity(tables: StoreTables, position: int) -> tuple[int, str, str] | None:
    """Return arrival, id and source of the event at a position."""
    row = tables.row("SELECT arrival, id, source FROM log WHERE position = ? AND kind = 0", position)
    return None if row is None else (row[0], row[1], row[2])


def events_back(
    tables: StoreTables,
    tenant: int,
    before: int,
    after: int,
    limit: int,
    sources: Collection[str] | None,
    since: int,
    until: int,
) -> list[Entry]:
    """Return a tenant's events between two positions within a time, the newest first.

    Withdrawn ones are left out.
    """
    named = None if sources is None else msgspec.json.encode(sorted(sources)).decode()
    sql = (
        f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ?1 AND position < ?2 AND position > ?3 "
        "AND (?4 IS NULL OR source IN (SELECT value FROM json_each(?4))) "
        "AND arrival >= ?5 AND arrival < ?6 AND withdrawn = 0 ORDER BY position DESC LIMIT ?7"
    )
    rows = tables.rows(sql, tenant, before, after, named, since, until, limit)
    return [entry_row(row) for row in rows]


def deliveries_of(tables: StoreTables, tenant: int, event: int) -> list[Delivery]:
    """Return the deliveries of an event, in order, without the event."""
    rows = tables.rows(
        f"SELECT {COLUMNS} FROM deliveries WHERE event = ? AND tenant = ? ORDER BY number", event, tenant
    )
    return [delivery_row(row) for row in rows]

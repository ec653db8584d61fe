"""The log as a table: entries are added, found and read in order, and expired events are removed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from likewise.broker.log.checksums import entry_checksums, refuse
from likewise.broker.log.deliveries import COLUMNS, delivery_row
from likewise.broker.log.edges.hops import EventRoute, add_hops, remove_hops
from likewise.broker.log.entries import Entry, RemovedEvent
from likewise.broker.log.mqtt.messages import add_messages, remove_messages
from likewise.broker.log.rows import ENTRY, entry_row, entry_rows
from likewise.broker.log.tables import Row, StoreTables

PAGE: Final = 1_000  # entries read at once
SWEPT: Final = 2_000  # events of a tenant removed in one commit, so that nobody waits long for it


def add_entries(tables: StoreTables, entries: Sequence[Entry]) -> bool:
    """Write entries at the log's end, which have their positions, and the messages they came in.

    Nothing is written if the identity of one is known, or stands among them twice; then it is False.
    """
    checks = entry_checksums((e.position, e.tenant, e.kind, e.arrival, e.ends, e.body) for e in entries)
    rows = [
        (e.position, e.tenant, e.kind, e.source, e.id, e.arrival, e.ends, check, e.body)
        for e, check in zip(entries, checks, strict=True)
    ]
    into = "log (position, tenant, kind, source, id, arrival, ends, checksum, body)"
    if tables.insert_all(into, rows, "ON CONFLICT (tenant, id, source) WHERE kind = 0 DO NOTHING") < len(rows):
        tables.change("DELETE FROM log WHERE position >= ?", entries[0].position)
        return False
    if messages := [(e.position, e.tenant, e.message, e.received) for e in entries if e.message is not None]:
        add_messages(tables, messages)
    if routes := [(e.position, e.tenant, EventRoute(e.hops, e.first_received)) for e in entries if e.hops]:
        add_hops(tables, routes)
    return True


def find_identity(tables: StoreTables, tenant: int, id: str, source: str) -> Entry | None:
    """Return a tenant's event with this id and source."""
    row = tables.row(
        f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ? AND id = ? AND source = ?", tenant, id, source
    )
    return None if row is None else entry_row(row)


def find_events(tables: StoreTables, tenant: int, id: str, sources: Collection[str] | None) -> list[tuple[int, str]]:
    """Return positions and sources of the events with an id that were not withdrawn."""
    rows = tables.rows(
        "SELECT position, source FROM log WHERE kind = 0 AND tenant = ? AND id = ? AND withdrawn = 0", tenant, id
    )
    return [(position, by) for position, by in rows if sources is None or by in sources]


def rows_between(tables: StoreTables, after: int, until: int, tenant: int | None = None) -> list[Row]:
    """Return the rows of the first `PAGE` entries between two positions, in order."""
    sql = (
        f"SELECT {ENTRY} FROM log "
        "WHERE position > ?1 AND position <= ?2 AND (?3 IS NULL OR tenant = ?3) ORDER BY position LIMIT ?4"
    )
    return tables.rows(sql, after, until, tenant, PAGE)


def ranges_after(tables: StoreTables, positions: Mapping[int, int]) -> dict[int, int]:
    """Return the last position of each tenant that has entries after its given position."""
    last_positions: dict[int, int] = {}
    for tenant, position in tables.each(
        "SELECT tenant, max(position) FROM log WHERE position > ? GROUP BY tenant", min(positions.values(), default=0)
    ):
        if tenant not in positions:
            raise refuse(f"the tenant of entry {position} of the log")
        if position > positions[tenant]:
            last_positions[tenant] = position
    return last_positions


def entries_at(tables: StoreTables, positions: Sequence[int]) -> list[Entry]:
    """Return the entries at some positions that still exist, in order."""
    entries: list[Entry] = []
    ordered = sorted(positions)
    for first in range(0, len(ordered), PAGE):
        some = ordered[first : first + PAGE]
        marks = ", ".join("?" * len(some))
        entries += entry_rows(
            tables.rows(f"SELECT {ENTRY} FROM log WHERE position IN ({marks}) ORDER BY position", *some)
        )
    return entries


def newest_event(tables: StoreTables, tenant: int, until: int) -> Entry | None:
    """Return the newest event of a tenant up to a position."""
    sql = f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ? AND position <= ? ORDER BY position DESC LIMIT 1"
    row = tables.row(sql, tenant, until)
    return None if row is None else entry_row(row)


def newest_events(tables: StoreTables, tenant: int, after: int, limit: int) -> list[Entry]:
    """Return the newest events of a tenant after a position, withdrawn ones left out, in order."""
    sql = (
        f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ? AND position > ? AND withdrawn = 0 "
        "ORDER BY position DESC LIMIT ?"
    )
    rows = tables.rows(sql, tenant, after, limit)
    return [entry_row(row) for row in reversed(rows)]


def first_of_newest(tables: StoreTables, tenant: int, before: int, limit: int) -> int | None:
    """Return the first position of the newest events of a tenant before a position, at most so many of them."""
    sql = (
        "SELECT min(position) FROM (SELECT position FROM log WHERE kind = 0 AND tenant = ? AND position < ? "
        "ORDER BY position DESC LIMIT ?)"
    )
    (first,) = tables.one(sql, tenant, before, limit)
    return None if first is None else int(first)


def count_between(tables: StoreTables, tenant: int, after: int, until: int) -> int:
    """Return how many entries of a tenant there are after a position, up to another."""
    (count,) = tables.one(
        "SELECT count(*) FROM log WHERE tenant = ? AND position > ? AND position <= ?", tenant, after, until
    )
    return int(count)


def withdraw(tables: StoreTables, position: int) -> None:
    """Mark an event as withdrawn: the row stays as a tombstone until `sweep` removes it."""
    tables.change(
        "UPDATE log SET withdrawn = 1, checksum = checksum + 1 WHERE position = ? AND withdrawn = 0", position
    )


def withdrawn_events(tables: StoreTables, tenant: int) -> set[int]:
    """Return the positions of a tenant's withdrawn events."""
    rows = tables.each("SELECT position FROM log WHERE kind = 0 AND withdrawn = 1 AND tenant = ?", tenant)
    return {position for (position,) in rows}


# -- forgetting ------------------------------------------------------------------------------------


class RemovalLimits(NamedTuple):
    """The limits of removal: a tenant's entries before a position that arrived up to a time."""

    tenant: int
    before: int
    arrived: int


Waiting = tuple[int, int, int]  # positions after one, up to another, and by how many µs their expiry waits


class SweepResult(NamedTuple):
    """Rows that a sweep removed: events, and deliveries by tenant, number and recipients."""

    events: list[RemovedEvent]
    deliveries: list[tuple[int, int, list[int]]]


def expired(tables: StoreTables, unneeded: RemovalLimits, now: int, spans: Sequence[Waiting] = ()) -> list[int]:
    """Return positions of unneeded events that expired or were withdrawn, at most `SWEPT`.

    A retained message stays until another takes its place, or it is over by what it said itself. `spans` are
    positions whose expiry waits because of a step of the clock.
    """
    tenant, before, arrived = unneeded
    sql = (
        f"SELECT position FROM log WHERE kind = 0 AND ends IS NOT NULL AND ends <= ?2 {_waited(spans)}AND tenant = ?1 "
        "AND position < ?3 AND arrival <= ?4 AND position NOT IN (SELECT position FROM retained) "
        "UNION SELECT position FROM log WHERE kind = 0 AND withdrawn = 1 "
        "AND tenant = ?1 AND position < ?3 AND arrival <= ?4 LIMIT ?5"
    )
    rows = tables.rows(sql, tenant, now, before, arrived, SWEPT)
    return [position for (position,) in rows]


def _waited(spans: Sequence[Waiting]) -> str:
    """Return the SQL condition for expiry where it is delayed by a step of the clock."""
    if not spans:
        return ""
    cases = " ".join(f"WHEN position > {int(a)} AND position <= {int(u)} THEN {int(b)}" for a, u, b in spans)
    return f"AND ends <= ?2 - CASE {cases} ELSE 0 END "


def count_delayed(tables: StoreTables, tenant: int, now: int, spans: Sequence[Waiting]) -> int:
    """Count the events of a tenant that are over by the clock, and whose expiry waits."""
    total = 0
    for after, upto, behind in spans:
        sql = (
            "SELECT count(*) FROM log WHERE kind = 0 AND ends IS NOT NULL AND ends <= ?2 AND ends > ?3 AND tenant = ?1 "
            "AND position > ?4 AND position <= ?5"
        )
        (count,) = tables.one(sql, tenant, now, now - behind, after, upto)
        total += int(count)
    return total


def any_ending(tables: StoreTables, after: int, upto: int) -> bool:
    """Return whether an event with an end is left between two positions."""
    row = tables.row(
        "SELECT 1 FROM log WHERE kind = 0 AND +ends IS NOT NULL AND position > ? AND position <= ? LIMIT 1", after, upto
    )
    return row is not None


def newly_expired(
    tables: StoreTables, tenant: int, after: tuple[int, int], now: int, until: int, limit: int
) -> list[tuple[int, int]]:
    """Return ends and positions of events up to a position that expired after a given one, in order."""
    sql = (
        "SELECT ends, position FROM log WHERE kind = 0 AND ends IS NOT NULL AND ends >= ?2 AND ends <= ?4 "
        "AND (ends, position) > (?2, ?3) AND tenant = ?1 AND position <= ?5 AND withdrawn = 0 "
        "ORDER BY ends, position LIMIT ?6"
    )
    rows = tables.rows(sql, tenant, *after, now, until, limit)
    return [(ends, position) for ends, position in rows]


def expired_between(tables: StoreTables, tenant: int, after: int, until: int, now: int) -> list[tuple[int, int]]:
    """Return ends and positions of expired events between two positions."""
    sql = (
        "SELECT ends, position FROM log WHERE kind = 0 AND tenant = ? AND position > ? AND position <= ? "
        "AND ends <= ? AND withdrawn = 0"
    )
    rows = tables.rows(sql, tenant, after, until, now)
    return [(ends, position) for ends, position in rows]


def sweep(tables: StoreTables, chosen: Iterable[tuple[RemovalLimits, Iterable[int]]], now: int) -> SweepResult:
    """Remove events by their positions, each of which must be over, and unneeded commands."""
    swept = SweepResult([], [])
    for (tenant, before, _), positions in chosen:
        for position in positions:
            removed = _expired_event(tables, position, now)
            if removed is None:
                continue
            swept.events.append(removed)
            rows = tables.rows(f"SELECT {COLUMNS} FROM deliveries WHERE event = ?", position)
            swept.deliveries.extend((tenant, d.number, d.recipients.tolist()) for d in map(delivery_row, rows))
        tables.change("DELETE FROM log WHERE kind = 1 AND tenant = ? AND position < ?", tenant, before)
    tables.change_all("DELETE FROM deliveries WHERE tenant = ? AND number = ?", [d[:2] for d in swept.deliveries])
    tables.change_all("DELETE FROM log WHERE position = ?", [(event.position,) for event in swept.events])
    remove_messages(tables, [event.position for event in swept.events])
    remove_hops(tables, [event.position for event in swept.events])
    return swept


def _expired_event(tables: StoreTables, position: int, now: int) -> RemovedEvent | None:
    """Return the event to remove; raise if only an altered index says that it expired."""
    stored_row = tables.row(f"SELECT withdrawn, {ENTRY} FROM log WHERE position = ?", position)
    if stored_row is None:
        return None  # removed already
    withdrawn, *row = stored_row
    entry = entry_row(tuple(row))
    if not withdrawn and (entry.ends is None or entry.ends > now):
        raise refuse(f"an index over entry {position} of the log")
    return RemovedEvent(entry.tenant, position, entry.id, entry.source)

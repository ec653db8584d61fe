"""The log as a table: entries added, found and read in their order, and events that are over removed."""

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
    if beside := [(e.position, e.tenant, e.message, e.received) for e in entries if e.message is not None]:
        add_messages(tables, beside)
    if come := [(e.position, e.tenant, EventRoute(e.hops, e.first_received)) for e in entries if e.hops]:
        add_hops(tables, come)
    return True


def find_identity(tables: StoreTables, tenant: int, id: str, source: str) -> Entry | None:
    """The event of a tenant with this id and source."""
    row = tables.row(
        f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ? AND id = ? AND source = ?", tenant, id, source
    )
    return None if row is None else entry_row(row)


def find_events(tables: StoreTables, tenant: int, id: str, sources: Collection[str] | None) -> list[tuple[int, str]]:
    """The positions and sources of the events with this id that were not withdrawn; of some names if they are said."""
    rows = tables.rows(
        "SELECT position, source FROM log WHERE kind = 0 AND tenant = ? AND id = ? AND withdrawn = 0", tenant, id
    )
    return [(position, by) for position, by in rows if sources is None or by in sources]


def rows_between(tables: StoreTables, after: int, until: int, tenant: int | None = None) -> list[Row]:
    """The rows of the first `PAGE` entries between two positions, in order; each begins with its position."""
    return tables.rows(
        f"SELECT {ENTRY} FROM log "
        "WHERE position > ?1 AND position <= ?2 AND (?3 IS NULL OR tenant = ?3) ORDER BY position LIMIT ?4",
        after,
        until,
        tenant,
        PAGE,
    )


def ranges_after(tables: StoreTables, positions: Mapping[int, int]) -> dict[int, int]:
    """The last position of each tenant that has entries after the position it is said to be at."""
    found: dict[int, int] = {}
    for tenant, position in tables.each(
        "SELECT tenant, max(position) FROM log WHERE position > ? GROUP BY tenant", min(positions.values(), default=0)
    ):
        if tenant not in positions:
            raise refuse(f"the tenant of entry {position} of the log")
        if position > positions[tenant]:
            found[tenant] = position
    return found


def entries_at(tables: StoreTables, positions: Sequence[int]) -> list[Entry]:
    """The entries at some positions that are still there, in order."""
    found: list[Entry] = []
    ordered = sorted(positions)
    for first in range(0, len(ordered), PAGE):
        some = ordered[first : first + PAGE]
        marks = ", ".join("?" * len(some))
        found += entry_rows(
            tables.rows(f"SELECT {ENTRY} FROM log WHERE position IN ({marks}) ORDER BY position", *some)
        )
    return found


def newest_event(tables: StoreTables, tenant: int, until: int) -> Entry | None:
    """The newest event of a tenant up to a position."""
    row = tables.row(
        f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ? AND position <= ? ORDER BY position DESC LIMIT 1",
        tenant,
        until,
    )
    return None if row is None else entry_row(row)


def newest_events(tables: StoreTables, tenant: int, after: int, limit: int) -> list[Entry]:
    """The newest events of a tenant after a position that were not withdrawn, at most so many, in order."""
    rows = tables.rows(
        f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ? AND position > ? AND withdrawn = 0 "
        "ORDER BY position DESC LIMIT ?",
        tenant,
        after,
        limit,
    )
    return [entry_row(row) for row in reversed(rows)]


def first_of_newest(tables: StoreTables, tenant: int, before: int, limit: int) -> int | None:
    """The first position of the newest events of a tenant before a position, at most so many of them."""
    (first,) = tables.one(
        "SELECT min(position) FROM (SELECT position FROM log WHERE kind = 0 AND tenant = ? AND position < ? "
        "ORDER BY position DESC LIMIT ?)",
        tenant,
        before,
        limit,
    )
    return None if first is None else int(first)


def count_between(tables: StoreTables, tenant: int, after: int, until: int) -> int:
    """How many entries of a tenant there are after a position, up to another."""
    (found,) = tables.one(
        "SELECT count(*) FROM log WHERE tenant = ? AND position > ? AND position <= ?", tenant, after, until
    )
    return int(found)


def withdraw(tables: StoreTables, position: int) -> None:
    """Mark an event as taken back."""
    tables.change(
        "UPDATE log SET withdrawn = 1, checksum = checksum + 1 WHERE position = ? AND withdrawn = 0", position
    )


def withdrawn_events(tables: StoreTables, tenant: int) -> set[int]:
    """The positions of a tenant's events that were taken back."""
    rows = tables.each("SELECT position FROM log WHERE kind = 0 AND withdrawn = 1 AND tenant = ?", tenant)
    return {position for (position,) in rows}


# -- forgetting ------------------------------------------------------------------------------------


class RemovalLimits(NamedTuple):
    """What of a tenant nobody needs any more: entries before a position, if they arrived up to a moment."""

    tenant: int
    before: int
    arrived: int


Waiting = tuple[int, int, int]  # positions after one, up to another, and by how many µs their expiry waits


class SweepResult(NamedTuple):
    """What was removed: events, and deliveries by tenant, number and recipients."""

    events: list[RemovedEvent]
    deliveries: list[tuple[int, int, list[int]]]


def expired(tables: StoreTables, unneeded: RemovalLimits, now: int, spans: Sequence[Waiting] = ()) -> list[int]:
    """The positions of unneeded events whose validity is over or that were withdrawn, at most `SWEPT`.

    A retained message stays until another takes its place, or it is over by what it said itself. `spans` are
    positions whose expiry waits because of a step of the clock.
    """
    tenant, before, arrived = unneeded
    rows = tables.rows(
        f"SELECT position FROM log WHERE kind = 0 AND ends IS NOT NULL AND ends <= ?2 {_waited(spans)}AND tenant = ?1 "
        "AND position < ?3 AND arrival <= ?4 AND position NOT IN (SELECT position FROM retained) "
        "UNION SELECT position FROM log WHERE kind = 0 AND withdrawn = 1 "
        "AND tenant = ?1 AND position < ?3 AND arrival <= ?4 LIMIT ?5",
        tenant,
        now,
        before,
        arrived,
        SWEPT,
    )
    return [position for (position,) in rows]


def _waited(spans: Sequence[Waiting]) -> str:
    """The condition that an event is over also where its expiry waits."""
    if not spans:
        return ""
    cases = " ".join(f"WHEN position > {int(a)} AND position <= {int(u)} THEN {int(b)}" for a, u, b in spans)
    return f"AND ends <= ?2 - CASE {cases} ELSE 0 END "


def count_delayed(tables: StoreTables, tenant: int, now: int, spans: Sequence[Waiting]) -> int:
    """Count the events of a tenant that are over by the clock, and whose expiry waits."""
    found = 0
    for after, upto, behind in spans:
        (count,) = tables.one(
            "SELECT count(*) FROM log WHERE kind = 0 AND ends IS NOT NULL AND ends <= ?2 AND ends > ?3 AND tenant = ?1 "
            "AND position > ?4 AND position <= ?5",
            tenant,
            now,
            now - behind,
            after,
            upto,
        )
        found += int(count)
    return found


def any_ending(tables: StoreTables, after: int, upto: int) -> bool:
    """Whether an event with an end is left between two positions; found by these, since newer ones have most ends."""
    row = tables.row(
        "SELECT 1 FROM log WHERE kind = 0 AND +ends IS NOT NULL AND position > ? AND position <= ? LIMIT 1", after, upto
    )
    return row is not None


def newly_expired(
    tables: StoreTables, tenant: int, after: tuple[int, int], now: int, until: int, limit: int
) -> list[tuple[int, int]]:
    """Ends and positions of a tenant's events up to a position whose validity ended after one's, in order of both."""
    rows = tables.rows(
        "SELECT ends, position FROM log WHERE kind = 0 AND ends IS NOT NULL AND ends >= ?2 AND ends <= ?4 "
        "AND (ends, position) > (?2, ?3) AND tenant = ?1 AND position <= ?5 AND withdrawn = 0 "
        "ORDER BY ends, position LIMIT ?6",
        tenant,
        *after,
        now,
        until,
        limit,
    )
    return [(ends, position) for ends, position in rows]


def expired_between(tables: StoreTables, tenant: int, after: int, until: int, now: int) -> list[tuple[int, int]]:
    """Ends and positions of a tenant's events between two positions whose validity is over."""
    rows = tables.rows(
        "SELECT ends, position FROM log WHERE kind = 0 AND tenant = ? AND position > ? AND position <= ? "
        "AND ends <= ? AND withdrawn = 0",
        tenant,
        after,
        until,
        now,
    )
    return [(ends, position) for ends, position in rows]


def sweep(tables: StoreTables, chosen: Iterable[tuple[RemovalLimits, Iterable[int]]], now: int) -> SweepResult:
    """Remove events by their positions, each of which must be over, and unneeded commands."""
    swept = SweepResult([], [])
    for (tenant, before, _), positions in chosen:
        for position in positions:
            gone = _expired_event(tables, position, now)
            if gone is None:
                continue
            swept.events.append(gone)
            found = tables.rows(f"SELECT {COLUMNS} FROM deliveries WHERE event = ?", position)
            swept.deliveries.extend((tenant, d.number, d.recipients.tolist()) for d in map(delivery_row, found))
        tables.change("DELETE FROM log WHERE kind = 1 AND tenant = ? AND position < ?", tenant, before)
    tables.change_all("DELETE FROM deliveries WHERE tenant = ? AND number = ?", [d[:2] for d in swept.deliveries])
    tables.change_all("DELETE FROM log WHERE position = ?", [(event.position,) for event in swept.events])
    remove_messages(tables, [event.position for event in swept.events])
    remove_hops(tables, [event.position for event in swept.events])
    return swept


def _expired_event(tables: StoreTables, position: int, now: int) -> RemovedEvent | None:
    """The event to be removed; refused if an index alone says that it is over, which was altered on disk then."""
    found = tables.row(f"SELECT withdrawn, {ENTRY} FROM log WHERE position = ?", position)
    if found is None:
        return None  # removed already
    withdrawn, *row = found
    entry = entry_row(tuple(row))
    if not withdrawn and (entry.ends is None or entry.ends > now):
        raise refuse(f"an index over entry {position} of the log")
    return RemovedEvent(entry.tenant, position, entry.id, entry.source)

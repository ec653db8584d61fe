"""The table `outbox`: what an edge forwards to the broker above, in order.

A row names an entry of the log: an event, or the command that withdraws one, whose source and id stand in `body`. It
stays when it was acknowledged, as long as its entry does: so nothing is put in twice. Sequences ascend and are never
dealt again; gaps are legal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from likewise.broker.log.checksums import altered, check_entry, checksum, refuse
from likewise.broker.log.edges.hops import Hops, event_route
from likewise.broker.log.tables import Row, StoreTables
from likewise.defaults import CLOCK_BEHIND
from likewise.model.time import microseconds

OUTBOX: Final = "sequence, tenant, position, bytes, checksum, body"


class WithdrawnItem(msgspec.Struct, frozen=True, array_like=True):
    """The identity of a withdrawn event."""

    source: str
    id: str


class OutboxItem(NamedTuple):
    """An item: its sequence, the position of its entry, its size, and the event it withdraws."""

    sequence: int
    position: int
    bytes: int
    withdrawn: WithdrawnItem | None = None


class OutboxEvent(NamedTuple):
    """An event as it is forwarded; its body is None if it expired or was withdrawn."""

    item: OutboxItem
    body: bytes | None
    hops: Hops = ()
    received: int = 0  # when the first broker got it, where it states a time long before that


def outbox_row(row: Row) -> OutboxItem:
    """Decode and verify an item."""
    sequence, tenant, position, size, check, body = row
    if altered(check, (body,), sequence, tenant, position, size):
        raise refuse(f"item {sequence} of the outbox")
    return OutboxItem(sequence, position, size, msgspec.json.decode(body, type=WithdrawnItem) if body else None)


def put(tables: StoreTables, tenant: int, items: Iterable[tuple[int, int, WithdrawnItem | None]]) -> tuple[int, int]:
    """Let entries wait, by their positions, with their sizes; one that is there already stays where it is.

    How many are new, and how many bytes they have.
    """
    sequence, rows = last_dealt(tables), []
    positions: set[int] = set()
    for position, size, withdrawn in items:
        if position in positions or is_in_outbox(tables, tenant, position):
            continue
        positions.add(position)
        sequence += 1
        body = b"" if withdrawn is None else msgspec.json.encode(withdrawn)
        rows.append((sequence, tenant, position, size, checksum(body, sequence, tenant, position, size), body))
    tables.change_all("INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?)", rows)
    return len(rows), sum(row[3] for row in rows)


def waiting(tables: StoreTables, tenant: int, after: int, limit: int, *, newest: bool = False) -> list[OutboxItem]:
    """Return the first items after a sequence, or the last ones."""
    order = "DESC" if newest else "ASC"
    sql = f"SELECT {OUTBOX} FROM outbox WHERE tenant = ? AND sequence > ? ORDER BY sequence {order} LIMIT ?"
    rows = tables.rows(sql, tenant, after, limit)
    return [outbox_row(row) for row in rows]


def outgoing(tables: StoreTables, items: Iterable[OutboxItem], now: int) -> list[OutboxEvent]:
    """Return items with the events that they forward."""
    events = []
    for item in items:
        row = tables.row(
            "SELECT tenant, kind, arrival, ends, checksum - withdrawn, withdrawn, body FROM log WHERE position = ?",
            item.position,
        )
        if row is None or item.withdrawn is not None:
            events.append(OutboxEvent(item, None))
            continue
        tenant, kind, arrival, ends, check, withdrawn, body = row
        check_entry(item.position, tenant, kind, arrival, ends, check, body)
        over = withdrawn or (ends is not None and ends <= now)
        route = event_route(tables, item.position)
        received = arrival if route.received is None else route.received
        events.append(OutboxEvent(item, None if over else body, route.hops, received if _is_old(body, received) else 0))
    return events


class _Timed(msgspec.Struct):
    """The time stated in an envelope."""

    time: int | str | None = None


_TIMED: Final = msgspec.json.Decoder(_Timed)


def _is_old(body: bytes, received: int) -> bool:
    """Return whether an event's stated time is so old that its clock may be wrong."""
    if b'"time"' not in body:
        return False
    stated = _TIMED.decode(body).time
    return stated is not None and received - microseconds(stated) > CLOCK_BEHIND


def is_in_outbox(tables: StoreTables, tenant: int, position: int) -> bool:
    """Return whether an entry is in the outbox, sent or not."""
    return tables.row("SELECT 1 FROM outbox WHERE position = ? AND tenant = ?", position, tenant) is not None


def load(tables: StoreTables, tenant: int, after: int) -> tuple[int, int]:
    """Count the items after a sequence, and their bytes."""
    count, size = tables.one(
        "SELECT count(*), coalesce(sum(bytes), 0) FROM outbox WHERE tenant = ? AND sequence > ?", tenant, after
    )
    return int(count), int(size)


def last_dealt(tables: StoreTables) -> int:
    """Return the last sequence that was ever assigned; 0 if none was."""
    row = tables.row("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'")
    return 0 if row is None else int(row[0])


def source_of(tables: StoreTables, position: int) -> tuple[str, int]:
    """Return the source of an entry, and when it arrived."""
    row = tables.row("SELECT source, arrival FROM log WHERE position = ?", position)
    return ("", 0) if row is None else (row[0], row[1])


def take_out(tables: StoreTables, sequences: Iterable[int]) -> None:
    """Forget items."""
    tables.change_all("DELETE FROM outbox WHERE sequence = ?", [(sequence,) for sequence in sequences])


def forget(tables: StoreTables, tenant: int, until: int) -> None:
    """Forget items up to a sequence whose entries the log holds no longer."""
    sql = (
        "DELETE FROM outbox WHERE tenant = ? AND sequence <= ? AND NOT EXISTS "
        "(SELECT 1 FROM log WHERE log.position = outbox.position)"
    )
    tables.change(sql, tenant, until)

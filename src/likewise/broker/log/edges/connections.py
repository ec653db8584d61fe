"""The table `edges`: connections to brokers at the edge, and up to where each one's events are stored.

An edge numbers what it sends; a reset edge has another `epoch` and begins anew. `line` is a name that this store gave
the edge: by it the edge knows that it speaks with the store that has its numbers.
"""

from __future__ import annotations

import secrets
from typing import Final, NamedTuple

import msgspec

from likewise.broker.log.checksums import guarded, refuse, text_checksum
from likewise.broker.log.tables import Row, StoreTables

EDGE_COLUMNS: Final = "tenant, id, epoch, sequence, guard, checksum, body"


class EdgePosition(NamedTuple):
    """The position of an edge, stored with the entries that it belongs to."""

    tenant: int
    edge: str
    epoch: str
    sequence: int


class EdgeRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The name of the connection, and since when (µs) the edge is known."""

    line: str
    added: int = 0


class EdgeRow(NamedTuple):
    """An edge as it is stored."""

    tenant: int
    id: str
    epoch: str
    sequence: int
    known: EdgeRecord


def decode_edge(row: Row) -> EdgeRow:
    """Decode and verify an edge."""
    tenant, id, epoch, sequence, guard, check, body = row
    if not guarded(sequence, guard) or not isinstance(body, bytes) or check != text_checksum((id, epoch, body), tenant):
        raise refuse(f"how far the edge {str(id)[:60]!r} has come")
    return EdgeRow(tenant, id, epoch, sequence, msgspec.json.decode(body, type=EdgeRecord))


def find_edge(tables: StoreTables, tenant: int, id: str) -> EdgeRow | None:
    """Return an edge of a tenant; None if it is unknown."""
    row = tables.row(f"SELECT {EDGE_COLUMNS} FROM edges WHERE tenant = ? AND id = ?", tenant, id)
    return None if row is None else decode_edge(row)


def read_edges(tables: StoreTables, tenant: int) -> list[EdgeRow]:
    """Return the edges of a tenant, by name."""
    rows = tables.rows(f"SELECT {EDGE_COLUMNS} FROM edges WHERE tenant = ? ORDER BY id", tenant)
    return [decode_edge(row) for row in rows]


def open_edge(tables: StoreTables, tenant: int, id: str, epoch: str, now: int) -> EdgeRow:
    """Return the record of an edge, made if it is new; another epoch resets its sequence."""
    existing = find_edge(tables, tenant, id)
    if existing is not None and existing.epoch == epoch:
        return existing
    known = EdgeRecord(secrets.token_hex(8), now) if existing is None else existing.known
    return _keep(tables, EdgeRow(tenant, id, epoch, 0, known))


def _keep(tables: StoreTables, row: EdgeRow) -> EdgeRow:
    body = msgspec.json.encode(row.known)
    tables.change(
        "INSERT OR REPLACE INTO edges VALUES (?1, ?2, ?3, ?4, ~?4, ?5, ?6)",
        row.tenant,
        row.id,
        row.epoch,
        row.sequence,
        text_checksum((row.id, row.epoch, body), row.tenant),
        body,
    )
    return row


def advance_edge(tables: StoreTables, forwarded: EdgePosition) -> None:
    """Write up to where an edge's items are stored; it never goes back, and one of another epoch changes nothing."""
    sql = (
        "UPDATE edges SET sequence = max(sequence, ?1), guard = ~max(sequence, ?1) "
        "WHERE tenant = ?2 AND id = ?3 AND epoch = ?4"
    )
    tables.change(sql, forwarded.sequence, forwarded.tenant, forwarded.edge, forwarded.epoch)


def remove_edge(tables: StoreTables, tenant: int, id: str) -> bool:
    """Forget an edge; whether it was known."""
    return tables.change("DELETE FROM edges WHERE tenant = ? AND id = ?", tenant, id) > 0

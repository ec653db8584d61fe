"""The table `edges`: the lines to brokers at the edge, and up to where each one's events are stored here.

An edge numbers what it sends; a reset edge has another `epoch` and begins anew. `line` is a name that this store gave
the edge: by it the edge knows that it speaks with the store that has its numbers.
"""

from __future__ import annotations

import secrets
from typing import Final, NamedTuple

import msgspec

from likewise.broker.log.checksums import guarded, refuse, text_checksum
from likewise.broker.log.tables import Row, Tables

LINE: Final = "tenant, id, epoch, sequence, guard, checksum, body"


class Forwarded(NamedTuple):
    """Up to where an edge's items are stored with the entries that it is written with."""

    tenant: int
    edge: str
    epoch: str
    sequence: int


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known about an edge beside its numbers: the name of the line, and since when (µs) it is known."""

    line: str
    added: int = 0


class LineRow(NamedTuple):
    """An edge as it is kept."""

    tenant: int
    id: str
    epoch: str
    sequence: int
    known: Line


def line_row(row: Row) -> LineRow:
    """An edge, checked."""
    tenant, id, epoch, sequence, guard, check, body = row
    if not guarded(sequence, guard) or not isinstance(body, bytes) or check != text_checksum((id, epoch, body), tenant):
        raise refuse(f"how far the edge {str(id)[:60]!r} has come")
    return LineRow(tenant, id, epoch, sequence, msgspec.json.decode(body, type=Line))


def find_line(tables: Tables, tenant: int, id: str) -> LineRow | None:
    """An edge of a tenant."""
    row = tables.row(f"SELECT {LINE} FROM edges WHERE tenant = ? AND id = ?", tenant, id)
    return None if row is None else line_row(row)


def read_lines(tables: Tables, tenant: int) -> list[LineRow]:
    """The edges of a tenant, by name."""
    rows = tables.rows(f"SELECT {LINE} FROM edges WHERE tenant = ? ORDER BY id", tenant)
    return [line_row(row) for row in rows]


def open_line(tables: Tables, tenant: int, id: str, epoch: str, now: int) -> LineRow:
    """The line to an edge, made if it is new; with another epoch its numbers begin anew."""
    found = find_line(tables, tenant, id)
    if found is not None and found.epoch == epoch:
        return found
    known = Line(secrets.token_hex(8), now) if found is None else found.known
    return _keep(tables, LineRow(tenant, id, epoch, 0, known))


def _keep(tables: Tables, row: LineRow) -> LineRow:
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


def come_to(tables: Tables, forwarded: Forwarded) -> None:
    """Write up to where an edge's items are stored; it never goes back, and one of another epoch changes nothing."""
    tables.change(
        "UPDATE edges SET sequence = max(sequence, ?1), guard = ~max(sequence, ?1) "
        "WHERE tenant = ?2 AND id = ?3 AND epoch = ?4",
        forwarded.sequence,
        forwarded.tenant,
        forwarded.edge,
        forwarded.epoch,
    )


def remove_line(tables: Tables, tenant: int, id: str) -> bool:
    """Forget an edge; whether it was known."""
    return tables.change("DELETE FROM edges WHERE tenant = ? AND id = ?", tenant, id) > 0

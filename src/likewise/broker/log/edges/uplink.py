"""The table `uplink`: what an edge stores about the broker that it dials, by name."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

import msgspec

from likewise.broker.log.checksums import altered, refuse, text_checksum
from likewise.broker.log.tables import Row, StoreTables

UPLINK: Final = "tenant, name, checksum, body"
RECEIVED: Final = "received"  # the row of what came from above
T = TypeVar("T")


class ReceivedPosition(NamedTuple):
    """The position of the received deliveries, stored with the entries that it belongs to."""

    tenant: int
    line: str
    sequence: int


class UplinkPosition(msgspec.Struct, frozen=True):
    """Position that the deliveries of a connection have reached."""

    line: str
    sequence: int


def store_uplink(tables: StoreTables, tenant: int, name: str, value: msgspec.Struct) -> None:
    """Keep something, in place of what had its name."""
    body = msgspec.json.encode(value)
    tables.change("INSERT OR REPLACE INTO uplink VALUES (?, ?, ?, ?)", tenant, name, _check(tenant, name, body), body)


def _check(tenant: int, name: str, body: bytes) -> int:
    return text_checksum((name, body), tenant)


def uplink_row(row: Row) -> tuple[str, bytes]:
    """Decode and verify a row."""
    tenant, name, check, body = row
    if altered(check, (repr((name, body)).encode(),), tenant):
        raise refuse(f"what is remembered of the uplink as {str(name)[:60]!r}")
    return name, body


def read_uplink(tables: StoreTables, tenant: int, name: str, kind: type[T]) -> T | None:
    """Return the value that is stored under a name."""
    row = tables.row(f"SELECT {UPLINK} FROM uplink WHERE tenant = ? AND name = ?", tenant, name)
    return None if row is None else msgspec.json.decode(uplink_row(row)[1], type=kind)


def advance_uplink(tables: StoreTables, received: ReceivedPosition) -> None:
    """Write up to where the deliveries of a line are stored; of the same line it never goes back."""
    known = read_uplink(tables, received.tenant, RECEIVED, UplinkPosition)
    if known is None or known.line != received.line or known.sequence < received.sequence:
        store_uplink(tables, received.tenant, RECEIVED, UplinkPosition(received.line, received.sequence))

"""The table `catalogue`: announcements in force, corrections, pinned sources, aliases and source routes.
name that sources had before, and for whatever brought sources that it had not brought before.

`number` is the position of the entry that made the row; `name` is the source, the name of before, or the number of a
correction.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeVar

import msgspec

from likewise.broker.log.checksums import refuse, text_checksum
from likewise.broker.log.tables import Row, StoreTables
from likewise.model.announcements.announcement import Announcement
from likewise.semantics.enrichment.corrections import Correction

KNOWN: Final = "tenant, what, name, number, checksum, body"
What = Literal["announcement", "correction", "kept", "brought", "alias"]
Basis = Literal["", "discovery", "device"]  # who says what a source is called; '' is an upgrade
T = TypeVar("T")


class StoredAnnouncement(msgspec.Struct, frozen=True, omit_defaults=True):
    """An announcement in force: when it ends (µs), since when it counts, and the position of its event."""

    announcement: Announcement
    ends: int
    since: int
    event: int


class PinnedSource(msgspec.Struct, frozen=True):
    """A source that an operator keeps on without demand."""

    source: str


class SourceRoute(msgspec.Struct, frozen=True):
    """The sources that a bridge or an edge was the last to bring events of."""

    bringer: str
    sources: tuple[str, ...]


class Alias(msgspec.Struct, frozen=True, omit_defaults=True):
    """An earlier name of some sources; `basis` and `label` as in `RenameSource`.

    `earlier` are the sources that it stood for before these: a name can be given to another device. `at` is when it was
    given up (µs).
    """

    sources: tuple[str, ...]
    label: str = ""
    basis: Basis = ""
    earlier: tuple[str, ...] = ()
    at: int = 0


CatalogueRecord = StoredAnnouncement | Correction | PinnedSource | SourceRoute | Alias


class CatalogueRow(NamedTuple):
    """A row as it is read."""

    tenant: int
    name: str
    number: int
    record: CatalogueRecord


_TYPES: Final[dict[str, type[CatalogueRecord]]] = {
    "announcement": StoredAnnouncement,
    "correction": Correction,
    "kept": PinnedSource,
    "brought": SourceRoute,
    "alias": Alias,
}
_ENCODE: Final = msgspec.json.Encoder().encode


def upsert(tables: StoreTables, tenant: int, what: What, name: str, number: int, record: CatalogueRecord) -> None:
    """Keep a row, in place of the one with the same name."""
    body = _ENCODE(record)
    tables.change(
        "INSERT OR REPLACE INTO catalogue VALUES (?, ?, ?, ?, ?, ?)",
        tenant,
        what,
        name,
        number,
        text_checksum((what, name, body), tenant, number),
        body,
    )


def delete(tables: StoreTables, tenant: int, what: What, name: str) -> None:
    """Forget a row."""
    tables.change("DELETE FROM catalogue WHERE tenant = ? AND what = ? AND name = ?", tenant, what, name)


def decode_row(row: Row) -> CatalogueRow:
    """Decode and verify a row."""
    tenant, what, name, number, check, body = row
    if (
        what not in _TYPES
        or not isinstance(body, bytes)
        or type(tenant) is not int
        or type(number) is not int
        or check != text_checksum((what, name, body), tenant, number)
    ):
        raise refuse(f"what the catalogue keeps of {str(name)[:60]!r}")
    return CatalogueRow(tenant, name, number, msgspec.json.decode(body, type=_TYPES[what]))


def read_records(tables: StoreTables, tenant: int, kind: type[T]) -> list[tuple[int, T]]:
    """Return the records of one kind with their numbers, in the order they were made."""
    rows = tables.rows(f"SELECT {KNOWN} FROM catalogue WHERE tenant = ? ORDER BY number", tenant)
    return [(row.number, row.record) for row in map(decode_row, rows) if isinstance(row.record, kind)]


def read_aliases(tables: StoreTables, tenant: int) -> list[tuple[str, Alias]]:
    """Return the names that a tenant's sources had before, in the order in which they were given up."""
    rows = tables.rows(
        f"SELECT {KNOWN} FROM catalogue WHERE tenant = ? AND what = 'alias' ORDER BY number, name", tenant
    )
    return [(row.name, row.record) for row in map(decode_row, rows) if isinstance(row.record, Alias)]

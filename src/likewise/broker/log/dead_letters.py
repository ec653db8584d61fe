"""Dead letters: what could not be decoded, matched or delivered, kept for inspection and retry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from likewise.api.operations import Reason
from likewise.broker.log.checksums import refuse, text_checksum
from likewise.broker.log.packed_sets import unpack
from likewise.broker.log.tables import Row, StoreTables
from likewise.defaults import MAX_DEAD_LETTER_BYTES, MAX_DEAD_LETTERS
from likewise.errors import UnknownId

COLUMNS: Final = "number, tenant, at, reason, detail, subscriber, event, matched, body, media_type, checksum - number"


class NewLetter(NamedTuple):
    """A dead letter to store: either an event of the log, or bytes that could not be decoded."""

    tenant: int
    at: int
    reason: Reason
    detail: str
    subscriber: int | None = None
    event: int | None = None
    matched: bytes = b"n"
    body: bytes = b""
    media_type: str = ""  # what the sender called the bytes, parameters with it


class DeadLetter(NamedTuple):
    """A stored dead letter; `subscriptions` are numbers."""

    number: int
    at: int
    reason: Reason
    detail: str
    subscriber: int | None
    event: int | None
    subscriptions: list[int]
    body: bytes
    media_type: str


def insert(tables: StoreTables, dead_letters: Sequence[NewLetter]) -> None:
    """Keep dead letters; of each tenant the newest `MAX_DEAD_LETTERS`."""
    if not dead_letters:
        return
    (last,) = tables.one("SELECT coalesce(max(number), 0) FROM dead_letters")
    truncated = [letter._replace(body=letter.body[:MAX_DEAD_LETTER_BYTES]) for letter in dead_letters]
    tables.change_all(
        "INSERT INTO dead_letters (tenant, at, reason, detail, subscriber, event, matched, body, media_type, "
        "checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*letter, _checksum(*letter)) for letter in truncated],
    )
    tables.change("UPDATE dead_letters SET checksum = checksum + number WHERE number > ?", last)
    for tenant in {letter.tenant for letter in dead_letters}:
        sql = (
            "DELETE FROM dead_letters WHERE tenant = ?1 AND number <= (SELECT number FROM dead_letters "
            "WHERE tenant = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)"
        )
        tables.change(sql, tenant, MAX_DEAD_LETTERS)


def listed(tables: StoreTables, tenant: int, after: int, limit: int) -> list[DeadLetter]:
    """Return a tenant's dead letters after a number, oldest first."""
    sql = f"SELECT {COLUMNS} FROM dead_letters WHERE tenant = ? AND number > ? ORDER BY number LIMIT ?"
    rows = tables.rows(sql, tenant, after, limit)
    return [letter_row(row) for row in rows]


def one(tables: StoreTables, tenant: int, number: int) -> DeadLetter:
    """Return a tenant's dead letter by its number."""
    row = tables.row(f"SELECT {COLUMNS} FROM dead_letters WHERE tenant = ? AND number = ?", tenant, number)
    if row is None:
        raise UnknownId(str(number))
    return letter_row(row)


def about(tables: StoreTables, tenant: int, event: int) -> bool:
    """Return whether an event of a tenant is a dead letter because it could not be matched."""
    query = "SELECT 1 FROM dead_letters WHERE tenant = ? AND event = ? AND reason = 'unmatched'"
    return tables.row(query, tenant, event) is not None


def of_event(tables: StoreTables, tenant: int, event: int, subscriber: int) -> list[DeadLetter]:
    """Return the dead letters of a tenant about an event: of a subscriber, or of no particular one."""
    sql = (
        f"SELECT {COLUMNS} FROM dead_letters WHERE tenant = ? AND event = ? AND (subscriber IS NULL OR subscriber = ?) "
        "ORDER BY number"
    )
    rows = tables.rows(sql, tenant, event, subscriber)
    return [letter_row(row) for row in rows]


def _checksum(tenant: int, at: int, *rest: object) -> int:
    return text_checksum(rest, tenant, at)


def letter_row(row: Row) -> DeadLetter:
    """Decode and verify a row of `COLUMNS`."""
    number, tenant, at, reason, detail, subscriber, event, matched, body, media_type, check = row
    if check != _checksum(tenant, at, reason, detail, subscriber, event, matched, body, media_type):
        raise refuse(f"dead letter {number}")
    return DeadLetter(number, at, reason, detail, subscriber, event, unpack(matched).tolist(), body, media_type)


def remove_of(tables: StoreTables, tenant: int, subscriber: int) -> None:
    """Forget the dead letters of a subscriber."""
    tables.change("DELETE FROM dead_letters WHERE tenant = ? AND subscriber = ?", tenant, subscriber)


def remove(tables: StoreTables, tenant: int, number: int) -> None:
    """Forget a dead letter."""
    tables.change("DELETE FROM dead_letters WHERE tenant = ? AND number = ?", tenant, number)

"""What could not be read, matched or delivered: kept to be looked at and, once its cause is gone, replayed."""

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
    """A dead letter to be kept: either an event that is in the log, or bytes that could not be read."""

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
    """A dead letter as it is kept; `subscriptions` are numbers."""

    number: int
    at: int
    reason: Reason
    detail: str
    subscriber: int | None
    event: int | None
    subscriptions: list[int]
    body: bytes
    media_type: str


def insert(tables: StoreTables, letters: Sequence[NewLetter]) -> None:
    """Keep dead letters; of each tenant the newest `MAX_DEAD_LETTERS`."""
    if not letters:
        return
    (last,) = tables.one("SELECT coalesce(max(number), 0) FROM dead_letters")
    kept = [letter._replace(body=letter.body[:MAX_DEAD_LETTER_BYTES]) for letter in letters]
    tables.change_all(
        "INSERT INTO dead_letters (tenant, at, reason, detail, subscriber, event, matched, body, media_type, "
        "checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*letter, _checksum(*letter)) for letter in kept],
    )
    tables.change("UPDATE dead_letters SET checksum = checksum + number WHERE number > ?", last)
    for tenant in {letter.tenant for letter in letters}:
        tables.change(
            "DELETE FROM dead_letters WHERE tenant = ?1 AND number <= (SELECT number FROM dead_letters "
            "WHERE tenant = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
            tenant,
            MAX_DEAD_LETTERS,
        )


def listed(tables: StoreTables, tenant: int, after: int, limit: int) -> list[DeadLetter]:
    """A tenant's dead letters after a number, oldest first."""
    rows = tables.rows(
        f"SELECT {COLUMNS} FROM dead_letters WHERE tenant = ? AND number > ? ORDER BY number LIMIT ?",
        tenant,
        after,
        limit,
    )
    return [letter_row(row) for row in rows]


def one(tables: StoreTables, tenant: int, number: int) -> DeadLetter:
    """A tenant's dead letter by its number."""
    row = tables.row(f"SELECT {COLUMNS} FROM dead_letters WHERE tenant = ? AND number = ?", tenant, number)
    if row is None:
        raise UnknownId(str(number))
    return letter_row(row)


def about(tables: StoreTables, tenant: int, event: int) -> bool:
    """Whether an event of a tenant is a dead letter because it could not be matched."""
    query = "SELECT 1 FROM dead_letters WHERE tenant = ? AND event = ? AND reason = 'unmatched'"
    return tables.row(query, tenant, event) is not None


def of_event(tables: StoreTables, tenant: int, event: int, subscriber: int) -> list[DeadLetter]:
    """The dead letters of a tenant about an event: those of a subscriber, and those of nobody in particular."""
    rows = tables.rows(
        f"SELECT {COLUMNS} FROM dead_letters WHERE tenant = ? AND event = ? AND (subscriber IS NULL OR subscriber = ?) "
        "ORDER BY number",
        tenant,
        event,
        subscriber,
    )
    return [letter_row(row) for row in rows]


def _checksum(tenant: int, at: int, *rest: object) -> int:
    return text_checksum(rest, tenant, at)


def letter_row(row: Row) -> DeadLetter:
    """A dead letter as `COLUMNS` are read, refused if it was altered on disk."""
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

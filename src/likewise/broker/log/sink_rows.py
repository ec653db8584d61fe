"""The table of targets: settings, secrets included, and the last accepted delivery of each.

The settings are the store's own: nothing but what sends reads `body`, and no answer shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from likewise.api.sinks import TargetSettings
from likewise.broker.log.checksums import refuse, text_checksum
from likewise.broker.log.tables import Row, StoreTables

TARGET: Final = "number, tenant, subscriber, subscription, id, acknowledged, succeeded, guard, checksum, body"
_APART: Final = 1_000_003  # between the two numbers that one guard guards


class StoredTarget(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settings of a target; `uid` never changes, so that message ids are unique.

    `tried` is the last delivery that was not taken at once, and when it was tried first (µs since 1970).
    """

    uid: str
    made: int
    wanted: TargetSettings
    tried: tuple[int, int] | None = None


class TargetRow(msgspec.Struct, frozen=True):
    """A target as it is stored; `succeeded` is the last success in seconds since 1970, 0 if never."""

    number: int
    subscriber: int
    subscription: str
    id: str
    setting: StoredTarget
    acknowledged: int = 0
    succeeded: int = 0


_SETTINGS: Final = msgspec.json.Decoder(StoredTarget)
_ENCODE: Final = msgspec.json.Encoder().encode


def _guard(acknowledged: int, succeeded: int) -> int:
    return ~(acknowledged + _APART * succeeded)


def add_target(tables: StoreTables, tenant: int, row: TargetRow) -> int:
    """Keep a new target; its number."""
    body = _ENCODE(row.setting)
    number = tables.add(
        "INSERT INTO targets (tenant, subscriber, subscription, id, acknowledged, succeeded, guard, checksum, body) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?)",
        tenant,
        row.subscriber,
        row.subscription,
        row.id,
        row.acknowledged,
        row.succeeded,
        _guard(row.acknowledged, row.succeeded),
        body,
    )
    check = _checksum(number, tenant, row.subscriber, row.subscription, row.id, body)
    tables.change("UPDATE targets SET checksum = ? WHERE number = ?", check, number)
    return number


def change_target(tables: StoreTables, tenant: int, row: TargetRow) -> None:
    """Keep other settings of a target; how far it has come stays."""
    body = _ENCODE(row.setting)
    check = _checksum(row.number, tenant, row.subscriber, row.subscription, row.id, body)
    tables.change("UPDATE targets SET body = ?, checksum = ? WHERE number = ?", body, check, row.number)


def note_tried(tables: StoreTables, number: int, tried: tuple[int, int]) -> None:
    """Keep since when a delivery is tried; the settings are those that are kept by then."""
    for row in tables.rows(f"SELECT {TARGET} FROM targets WHERE number = ?", number):
        known = target_row(row)
        setting = msgspec.structs.replace(known.setting, tried=tried)
        change_target(tables, row[1], msgspec.structs.replace(known, setting=setting))


def note_targets(tables: StoreTables, cursors: Iterable[tuple[int, int, int]]) -> None:
    """Store the cursors of targets, given as (target, delivery, seconds)."""
    sql = (
        f"UPDATE targets SET acknowledged = max(acknowledged, ?2), succeeded = max(succeeded, ?3), "
        f"guard = ~(max(acknowledged, ?2) + {_APART} * max(succeeded, ?3)) WHERE number = ?1"
    )
    tables.change_all(sql, cursors)


def remove_target(tables: StoreTables, tenant: int, number: int) -> None:
    """Forget a target and its dead letters."""
    tables.change("DELETE FROM targets WHERE number = ? AND tenant = ?", number, tenant)
    sql = "DELETE FROM dead_letters WHERE tenant = ? AND reason = 'undelivered' AND media_type = ?"
    tables.change(sql, tenant, dead_letter_type(number))


def remove_targets_of(tables: StoreTables, tenant: int, subscriber: int, subscription: str | None) -> None:
    """Forget the targets of a subscription, or of a whole subscriber, and their dead letters."""
    for (number,) in tables.rows(
        "SELECT number FROM targets WHERE tenant = ?1 AND subscriber = ?2 AND (?3 IS NULL OR subscription = ?3)",
        tenant,
        subscriber,
        subscription,
    ):
        remove_target(tables, tenant, number)


def read_targets(tables: StoreTables, tenant: int) -> list[TargetRow]:
    """Return the targets of a tenant."""
    rows = tables.rows(f"SELECT {TARGET} FROM targets WHERE tenant = ? ORDER BY number", tenant)
    return [target_row(row) for row in rows]


def count_dead(tables: StoreTables, tenant: int) -> dict[str, int]:
    """Count each target's dead letters, by `letter_mark`."""
    return dict(
        tables.rows(
            "SELECT media_type, count(*) FROM dead_letters WHERE tenant = ? AND reason = 'undelivered' "
            "GROUP BY media_type",
            tenant,
        )
    )


def dead_of(tables: StoreTables, tenant: int, number: int) -> list[int]:
    """Return the numbers of a target's dead letters, oldest first."""
    sql = (
        "SELECT number FROM dead_letters WHERE tenant = ? AND reason = 'undelivered' AND media_type = ? ORDER BY number"
    )
    rows = tables.rows(sql, tenant, dead_letter_type(number))
    return [dead for (dead,) in rows]


def dead_letter_type(number: int) -> str:
    """Return the media type that marks a target's dead letters; no sender can name it.

    >>> dead_letter_type(7), target_of_type(dead_letter_type(7)), target_of_type("text/plain")
    ('likewise/target; number=7', 7, None)
    """
    return f"likewise/target; number={number}"


def target_of_type(media_type: str) -> int | None:
    """Return the target whose dead letters have this media type; None if there is none."""
    start, _, number = media_type.partition("=")
    return int(number) if f"{start}=" == dead_letter_type(0)[:-1] and number.isdecimal() else None


def target_row(row: Row) -> TargetRow:
    """Decode and verify a target."""
    number, tenant, subscriber, subscription, id, acknowledged, succeeded, guard, check, body = row
    whole = type(acknowledged) is int and type(succeeded) is int and isinstance(body, bytes)
    if (
        not whole
        or guard != _guard(acknowledged, succeeded)
        or check != _checksum(number, tenant, subscriber, subscription, id, body)
    ):
        raise refuse(f"the target {id!r} of {subscription!r}")
    return TargetRow(number, subscriber, subscription, id, _SETTINGS.decode(body), acknowledged, succeeded)


def _checksum(number: int, tenant: int, subscriber: int, subscription: str, id: str, body: bytes) -> int:
    return text_checksum((subscription, id, body), number, tenant, subscriber)

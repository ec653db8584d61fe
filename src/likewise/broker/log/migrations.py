"""Migrate the tables from an older version: a step for each version, all in one transaction.

A step reads and writes tables as they were when it was made: it never uses functions that change with the tables.
Versions go up only. Each is tried on a folder of the version before it (`tests/broker/fixtures`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from likewise.broker.log.checksums import guarded, refuse, text_checksum
from likewise.broker.log.files import DATABASE, FolderLock, check, check_version, connect, storage_error
from likewise.broker.log.schema import APPLICATION, OLDEST, VERSION
from likewise.broker.log.tables import StoreTables
from likewise.errors import ArtefactDamaged, ArtefactMissing


class Migrated(NamedTuple):
    """The version a store had, and the one it has."""

    before: int
    after: int


def migrate(data: Path) -> Migrated:
    """Bring the store of a folder to this version, wholly or not at all; the broker must be stopped."""
    if not (data / DATABASE).is_file():
        raise ArtefactMissing(f"there is no broker's store in {data}")
    lock = FolderLock(data)
    connection = connect(data)
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION:
            raise ArtefactDamaged(f"{data} does not hold a broker's store; name another folder")
        (old_version,) = connection.execute("PRAGMA user_version").fetchone()
        if not OLDEST <= old_version <= VERSION:
            check_version(old_version, data)
        if old_version == VERSION:
            return Migrated(old_version, old_version)
        check(connection, data, thoroughly=True)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        for version in range(old_version, VERSION):
            _STEPS[version](StoreTables(connection))
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
        return Migrated(old_version, VERSION)
    except sqlite3.Error as error:
        raise storage_error(error, data) from error
    finally:
        connection.close()  # which takes back what was not committed
        lock.release()


def _followers(tables: StoreTables) -> None:
    """Migrate to version 3: the matched position becomes a follower's position, by tenant."""
    matched, guard = tables.one("SELECT value, guard FROM state WHERE name = 'matched'")
    if not guarded(matched, guard):
        raise refuse("a number the store goes on from")
    tables.change(
        "CREATE TABLE followers (follower TEXT NOT NULL, tenant INTEGER NOT NULL, position INTEGER NOT NULL, "
        "guard INTEGER NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (follower, tenant)) WITHOUT ROWID"
    )
    tables.change_all(
        "INSERT INTO followers VALUES (?, ?, ?, ?, ?)",
        [
            ("matching", tenant, matched, ~matched, text_checksum(("matching",), tenant))
            for (tenant,) in tables.rows("SELECT number FROM tenants ORDER BY number")
        ],
    )
    tables.change("DELETE FROM state WHERE name = 'matched'")


def _dead_letter_types(tables: StoreTables) -> None:
    """Migrate to version 4: dead letters keep their media type, and tokens may expire."""
    tables.change("ALTER TABLE dead_letters ADD COLUMN media_type TEXT NOT NULL DEFAULT ''")
    rows = tables.rows(
        "SELECT number, tenant, at, checksum - number, reason, detail, subscriber, event, matched, body "
        "FROM dead_letters"
    )
    for number, tenant, at, stored, *rest in rows:
        if stored != text_checksum(tuple(rest), tenant, at):
            raise refuse(f"dead letter {number}")
        check = text_checksum((*rest, ""), tenant, at) + number
        tables.change("UPDATE dead_letters SET checksum = ? WHERE number = ?", check, number)
    tables.change("ALTER TABLE tokens ADD COLUMN expires INTEGER")
    for made, stored, *rest in tables.rows("SELECT made, checksum, digest, name, tenant, scopes FROM tokens"):
        if stored != text_checksum(tuple(rest), made):
            raise refuse(f"the token {rest[1]!r}")
        check = text_checksum((*rest, None), made)
        tables.change("UPDATE tokens SET checksum = ? WHERE digest = ?", check, rest[0])


def _targets(tables: StoreTables) -> None:
    """Migrate to version 5: subscriptions may have targets."""
    if not all(guarded(value, guard) for value, guard in tables.rows("SELECT value, guard FROM state")):
        raise refuse("a number the store goes on from")
    tables.change(
        "CREATE TABLE targets (number INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, "
        "subscriber INTEGER NOT NULL, subscription TEXT NOT NULL, id TEXT NOT NULL, acknowledged INTEGER NOT NULL, "
        "succeeded INTEGER NOT NULL, guard INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL, "
        "UNIQUE (tenant, subscriber, subscription, id))"
    )


def _mqtt(tables: StoreTables) -> None:
    """Migrate to version 6: devices connect over MQTT."""
    if not all(guarded(value, guard) for value, guard in tables.rows("SELECT value, guard FROM state")):
        raise refuse("a number the store goes on from")
    for statement in _MQTT:
        tables.change(statement)


_MQTT: Final = (
    "CREATE TABLE messages (position INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, checksum INTEGER NOT NULL, "
    "body BLOB NOT NULL)",
    "CREATE TABLE retained (tenant INTEGER NOT NULL, topic TEXT NOT NULL, position INTEGER NOT NULL, ends "
    "INTEGER, checksum INTEGER NOT NULL, PRIMARY KEY (tenant, topic)) WITHOUT ROWID",
    "CREATE INDEX retained_position ON retained (position)",
    "CREATE TABLE topics (number INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, subscriber INTEGER NOT NULL, "
    "filter TEXT NOT NULL, qos INTEGER NOT NULL, no_local INTEGER NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, client TEXT NOT "
    "NULL, ends INTEGER, checksum INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (tenant, client))",
    "CREATE TABLE in_flight (subscriber INTEGER NOT NULL, sequence INTEGER NOT NULL, part INTEGER NOT NULL, "
    "tenant INTEGER NOT NULL, session INTEGER NOT NULL, packet INTEGER NOT NULL, state INTEGER NOT NULL, checksum "
    "INTEGER NOT NULL, PRIMARY KEY (subscriber, sequence, part)) WITHOUT ROWID",
    "CREATE INDEX in_flight_session ON in_flight (session)",
    "CREATE TABLE received (session INTEGER NOT NULL, packet INTEGER NOT NULL, tenant INTEGER NOT NULL, checksum "
    "INTEGER NOT NULL, PRIMARY KEY (session, packet)) WITHOUT ROWID",
)


def _catalogue(tables: StoreTables) -> None:
    """Migrate to version 7: the catalogue is stored."""
    if not all(guarded(value, guard) for value, guard in tables.rows("SELECT value, guard FROM state")):
        raise refuse("a number the store goes on from")
    tables.change(
        "CREATE TABLE catalogue (tenant INTEGER NOT NULL, what TEXT NOT NULL, name TEXT NOT NULL, "
        "number INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (tenant, what, name)"
        ") WITHOUT ROWID"
    )


def _edges(tables: StoreTables) -> None:
    """Migrate to version 8: edges."""
    if not all(guarded(value, guard) for value, guard in tables.rows("SELECT value, guard FROM state")):
        raise refuse("a number the store goes on from")
    for statement in _EDGES:
        tables.change(statement)


_EDGES: Final = (
    "CREATE TABLE hops (position INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB "
    "NOT NULL)",
    "CREATE TABLE edges (tenant INTEGER NOT NULL, id TEXT NOT NULL, epoch TEXT NOT NULL, sequence INTEGER NOT NULL, "
    "guard INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (tenant, id)) WITHOUT ROWID",
    "CREATE TABLE outbox (sequence INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, position INTEGER NOT "
    "NULL UNIQUE, bytes INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE uplink (tenant INTEGER NOT NULL, name TEXT NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL, "
    "PRIMARY KEY (tenant, name)) WITHOUT ROWID",
)


def _naming(tables: StoreTables) -> None:
    """Migrate to version 9: source aliases; sources of MQTT are named by prefix, not by the last level.

    Which names change is found when the broker starts, which knows the topic maps
    (`likewise.server.mqtt.source_upgrade`).
    """
    if not all(guarded(value, guard) for value, guard in tables.rows("SELECT value, guard FROM state")):
        raise refuse("a number the store goes on from")
    tables.change("INSERT INTO state VALUES ('naming', 1, ~1)")


_STEPS: Final[dict[int, Callable[[StoreTables], None]]] = {
    2: _followers,
    3: _dead_letter_types,
    4: _targets,
    5: _mqtt,
    6: _catalogue,
    7: _edges,
    8: _naming,
}

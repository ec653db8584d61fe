"""Integrity and maintenance of the store's files: copy it while in use, compact it, verify every row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from likewise.broker.log import dead_letters
from likewise.broker.log.catalogue.records import KNOWN, decode_row
from likewise.broker.log.checksums import refuse
from likewise.broker.log.commit_marker import CommitMarker
from likewise.broker.log.deliveries import COLUMNS, delivery_row
from likewise.broker.log.edges.connections import EDGE_COLUMNS, decode_edge
from likewise.broker.log.edges.hops import HOPS, hops_row
from likewise.broker.log.edges.outbox import OUTBOX, outbox_row
from likewise.broker.log.edges.uplink import UPLINK, uplink_row
from likewise.broker.log.files import DATABASE, FolderLock, check, connect, storage_error
from likewise.broker.log.mqtt.messages import MESSAGE, RECEIVED, RETAINED, message_row, received_row, retained_row
from likewise.broker.log.mqtt.sessions import IN_FLIGHT, SESSION, in_flight_row, session_row
from likewise.broker.log.mqtt.topic_subscriptions import TOPIC, topic_row
from likewise.broker.log.rows import (
    ENTRY,
    FOLLOWER,
    JUDGEMENT,
    SUBSCRIBER,
    SUBSCRIPTION,
    TENANT,
    TOKEN,
    entry_row,
    follower_row,
    judgement_row,
    read_all,
    state_rows,
    subscriber_row,
    subscription_row,
    tenant_row,
    token_row,
)
from likewise.broker.log.sink_rows import TARGET, target_row
from likewise.broker.log.tables import Row, StoreTables
from likewise.errors import ArtefactMissing

_TABLES: Final[dict[str, tuple[str, Callable[[Row], object]]]] = {
    "log": (ENTRY, entry_row),
    "followers": (FOLLOWER, follower_row),
    "deliveries": (COLUMNS, delivery_row),
    "subscriptions": (SUBSCRIPTION, subscription_row),
    "subscribers": (SUBSCRIBER, subscriber_row),
    "tenants": (TENANT, tenant_row),
    "judgements": (JUDGEMENT, judgement_row),
    "dead_letters": (dead_letters.COLUMNS, dead_letters.letter_row),
    "tokens": (TOKEN, token_row),
    "targets": (TARGET, target_row),
    "messages": (MESSAGE, message_row),
    "retained": (RETAINED, retained_row),
    "topics": (TOPIC, topic_row),
    "sessions": (SESSION, session_row),
    "in_flight": (IN_FLIGHT, in_flight_row),
    "received": (RECEIVED, received_row),
    "catalogue": (KNOWN, decode_row),
    "hops": (HOPS, hops_row),
    "edges": (EDGE_COLUMNS, decode_edge),
    "outbox": (OUTBOX, outbox_row),
    "uplink": (UPLINK, uplink_row),
}


def count_rows(tables: StoreTables, table: str, tenant: int, *, events: bool = False) -> int:
    """Count a tenant's rows of a table; of the log, with `events`, its events alone."""
    (count,) = tables.one(f"SELECT count(*) FROM {table} WHERE tenant = ? {'AND kind = 0' if events else ''}", tenant)
    return int(count)


def events_size(tables: StoreTables, tenant: int, events: int) -> int:
    """Estimate the bytes of a tenant's events, by the mean of a thousand of them."""
    (mean,) = tables.one(
        "SELECT avg(length(body)) FROM (SELECT body FROM log WHERE kind = 0 AND tenant = ? LIMIT 1000)", tenant
    )
    return round((mean or 0) * events)


def copy_store(data: Path, target: Path, copy_windows: Callable[[StoreTables], None] = lambda tables: None) -> int:
    """Copy the store of a folder, in use or not, into another folder; the bytes copied.

    The copy is the store as it was at one moment: all of it is read in one transaction, which holds nobody up.
    `beside` is called with the tables of that moment before it is copied.
    """
    source, copy = connect(data, reading=True), sqlite3.connect(target / DATABASE)
    try:
        source.execute("BEGIN")
        state = state_rows(StoreTables(source))
        copy_windows(StoreTables(source))
        source.backup(copy, pages=-1)  # in smaller steps every commit would make it start again
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise storage_error(error, data) from error
    finally:
        source.close()
        copy.close()
    mark = CommitMarker(target)
    mark.write(state["commit"])
    mark.close()
    return (target / DATABASE).stat().st_size


@contextmanager
def reading_store(data: Path) -> Iterator[StoreTables]:
    """Open the tables of a folder, in use or not."""
    there(data)
    connection = connect(data, reading=True)
    try:
        yield StoreTables(connection)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise storage_error(error, data) from error
    finally:
        connection.close()


def verify_tables(data: Path) -> dict[str, int]:
    """Check the database's structure and every row of every table; how many rows of each were read."""
    there(data)
    connection = connect(data, reading=True)
    try:
        check(connection, data, thoroughly=True)
        tables = StoreTables(connection)
        state = state_rows(tables)
        (newest,) = tables.one("SELECT max(position) FROM log")
        if (newest or 0) > state["position"]:
            raise refuse(f"the position {state['position']:,} of the log, which has an entry {newest:,}")
        return {table: read_all(tables, table, columns, read) for table, (columns, read) in _TABLES.items()}
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise storage_error(error, data) from error
    finally:
        connection.close()


def compact(data: Path) -> tuple[int, int]:
    """Give back the space of what was removed; the size before and after. The broker must be stopped."""
    there(data)
    lock = FolderLock(data)
    connection = connect(data)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = (data / DATABASE).stat().st_size
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return before, (data / DATABASE).stat().st_size
    finally:
        connection.close()
        lock.release()


def there(data: Path) -> None:
    """Refuse a folder that holds no store."""
    if not (data / DATABASE).is_file():
        raise ArtefactMissing(f"there is no broker's store in {data}")

"""Looking after a store's files: a copy while it is in use, giving space back, and checking every row."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from likewise.broker.store import dead_letters
from likewise.broker.store.deliveries import COLUMNS, delivery_row
from likewise.broker.store.files import DATABASE, FolderLock, check, connect, said
from likewise.broker.store.rows import (
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
from likewise.broker.store.tables import Row, Tables
from likewise.broker.store.watermark import Watermark
from likewise.errors import ArtefactMissing, StateError

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
}


def count_rows(tables: Tables, table: str, tenant: int, *, events: bool = False) -> int:
    """How many rows of a table are a tenant's; of the log with `events` those alone."""
    (found,) = tables.one(f"SELECT count(*) FROM {table} WHERE tenant = ? {'AND kind = 0' if events else ''}", tenant)
    return int(found)


def size_of(tables: Tables) -> int:
    """The bytes of the database."""
    ((pages,), (size,)) = (tables.one(f"PRAGMA {name}") for name in ("page_count", "page_size"))
    return int(pages) * int(size)


def backup(data: Path, target: Path) -> int:
    """Copy the store of a folder, in use or not, into a new folder; the bytes copied.

    The copy is what was committed when it was finished. Windows saved beside the store are not needed: they
    are made again from the log where it still holds what they need, which the copy's own mark says.
    """
    _there(data)
    if target.exists() and any(target.iterdir()):
        raise StateError(f"{target} is not empty; name a new folder")
    target.mkdir(parents=True, exist_ok=True)
    source, copy = connect(data, reading=True), sqlite3.connect(target / DATABASE)
    try:
        source.backup(copy, pages=1024, sleep=0.001)
        (commit,) = copy.execute("SELECT value FROM state WHERE name = 'commit'").fetchone()
        for tenant, start in copy.execute("SELECT number, windows_from FROM tenants").fetchall():
            if start is not None:
                _copy_windows(data, target, f"{tenant}-{start - 1}")
    finally:
        source.close()
        copy.close()
    mark = Watermark(target)
    mark.write(commit)
    mark.close()
    return (target / DATABASE).stat().st_size


def _copy_windows(data: Path, target: Path, name: str) -> None:
    saved = data / "windows" / name
    if saved.is_dir():
        shutil.copytree(saved, target / "windows" / name)


def verify_store(data: Path) -> dict[str, int]:
    """Check the database's structure and every row of every table; how many rows of each were read."""
    _there(data)
    connection = connect(data, reading=True)
    try:
        check(connection, data, thoroughly=True)
        tables = Tables(connection)
        state_rows(tables)
        return {table: read_all(tables, table, columns, read) for table, (columns, read) in _TABLES.items()}
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise said(error, data) from error
    finally:
        connection.close()


def compact(data: Path) -> tuple[int, int]:
    """Give back the space of what was removed; the size before and after. The broker must be stopped."""
    _there(data)
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


def _there(data: Path) -> None:
    if not (data / DATABASE).is_file():
        raise ArtefactMissing(f"there is no broker's store in {data}")

"""Looking after a store: figures, a copy while it is in use, giving space back, and checking every row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

from likewise.broker.broker import Broker
from likewise.broker.store import dead_letters
from likewise.broker.store.deliveries import COLUMNS, delivery_row
from likewise.broker.store.files import DATABASE, check, connect, said
from likewise.broker.store.rows import (
    ENTRY,
    JUDGEMENT,
    SUBSCRIBER,
    SUBSCRIPTION,
    TENANT,
    TOKEN,
    Row,
    entry_row,
    judgement_row,
    read_all,
    state_rows,
    subscriber_row,
    subscription_row,
    tenant_row,
    token_row,
)
from likewise.broker.store.watermark import Watermark
from likewise.errors import ArtefactMissing, StateError
from likewise.formats.wire.operations import Stats

_TABLES: Final[dict[str, tuple[str, Callable[[Row], object]]]] = {
    "log": (ENTRY, entry_row),
    "deliveries": (COLUMNS, delivery_row),
    "subscriptions": (SUBSCRIPTION, subscription_row),
    "subscribers": (SUBSCRIBER, subscriber_row),
    "tenants": (TENANT, tenant_row),
    "judgements": (JUDGEMENT, judgement_row),
    "dead_letters": (dead_letters.COLUMNS, dead_letters.letter_row),
    "tokens": (TOKEN, token_row),
}


def stats(broker: Broker, tenant: str) -> Stats:
    """What a tenant has in a broker."""
    mine = broker.tenant(tenant)
    queues = list(mine.subscribers.values())
    with broker.store.reading() as connection:

        def count(table: str, also: str = "") -> int:
            found = connection.execute(f"SELECT count(*) FROM {table} WHERE tenant = ? {also}", (mine.number,))
            return int(found.fetchone()[0])

        ((pages,), (size,)) = (connection.execute(f"PRAGMA {p}").fetchone() for p in ("page_count", "page_size"))
        return Stats(
            count("log", "AND kind = 0"), broker.store.position, broker.worker.position, count("deliveries"),
            sum(map(len, queues)), len(queues), sum(len(q.subscriptions) for q in queues), count("dead_letters"),
            sum(q.dropped for q in queues), pages * size,
        )  # fmt: skip


def backup(data: Path, target: Path) -> int:
    """Copy the store of a folder, in use or not, into a new folder; the bytes copied.

    The copy is what was committed when it was finished. Windows saved beside the store are not needed: they
    are made again from the log where it still holds what they need, which the copy's own mark says.
    """
    if not (data / DATABASE).is_file():
        raise ArtefactMissing(f"there is no broker's store in {data}")
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
    import shutil

    saved = data / "windows" / name
    if saved.is_dir():
        shutil.copytree(saved, target / "windows" / name)


def verify_store(data: Path) -> dict[str, int]:
    """Check the database's structure and every row of every table; how many rows of each were read."""
    if not (data / DATABASE).is_file():
        raise ArtefactMissing(f"there is no broker's store in {data}")
    connection = connect(data, reading=True)
    try:
        check(connection, data, thoroughly=True)
        state_rows(connection)
        return {table: read_all(connection, table, columns, read) for table, (columns, read) in _TABLES.items()}
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise said(error, data) from error
    finally:
        connection.close()


def compact(data: Path) -> tuple[int, int]:
    """Give back the space of what was removed; the size before and after. The broker must be stopped."""
    from likewise.broker.store.files import FolderLock

    if not (data / DATABASE).is_file():
        raise ArtefactMissing(f"there is no broker's store in {data}")
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

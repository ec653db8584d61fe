"""Open the store's files: one process at a time, and never a damaged database."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from pathlib import Path
from typing import Final

from likewise.broker.log.rows import state_rows
from likewise.broker.log.schema import APPLICATION, OLDEST, SCHEMA, VERSION
from likewise.broker.log.tables import StoreTables
from likewise.defaults import STORE_CACHE_BYTES
from likewise.errors import ArtefactDamaged, ArtefactVersion, LikewiseError, StateError, Unavailable

DATABASE: Final = "broker.db"
_FULL: Final = ("database or disk is full", "disk I/O error")


class FolderLock:
    """An exclusive lock on the folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise StateError(f"another broker runs on {folder}; stop it first or name another folder") from None

    def release(self) -> None:
        """Let another process use the folder."""
        os.close(self._file)


class DatabaseFiles:
    """The identity of the database files, to notice that they were removed or replaced while in use.

    Whoever has a file open writes on into it, also when nobody can ever open it again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths = [str(folder / name) for name in (DATABASE, DATABASE + "-wal")]  # looked at before every commit
        self._identities = self._look()

    def _look(self) -> list[tuple[int, int] | None]:
        identities: list[tuple[int, int] | None] = []
        for path in self._paths:
            try:
                status = os.stat(path)
            except OSError:
                identities.append(None)
            else:
                identities.append((status.st_dev, status.st_ino))
        return identities

    def check(self) -> None:
        """Refuse to go on if the files are not there any more, or are others."""
        identities = self._look()
        if self._identities[1] is None:
            self._identities[1] = identities[1]  # the first commit makes it
        if identities != self._identities:
            raise Unavailable(
                f"the files of the store in {self._folder} were removed or replaced while the broker runs: nothing can "
                "be kept; put them back as they were, or stop the broker and restore a copy"
            )


def connect(folder: Path | None, *, reading: bool = False, cache: int = STORE_CACHE_BYTES) -> sqlite3.Connection:
    """Connect to the database of a folder, or to a new one in memory, with a page cache of so many bytes."""
    if folder is None:
        return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    path = folder / DATABASE
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    os.chmod(path, 0o600)
    try:
        connection.execute(f"PRAGMA cache_size = -{cache // 1024}")
        if reading:
            connection.execute("PRAGMA query_only = ON")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        connection.close()
        raise storage_error(error, folder) from error
    return connection


def open_tables(connection: sqlite3.Connection, folder: Path | None) -> dict[str, int]:
    """Make the tables, or check that they are ours, whole and of a version read here; the numbers of `state`."""
    try:
        connection.execute("PRAGMA cell_size_check = ON")
        if folder is not None:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_autocheckpoint = 4000")  # 16 MB: seldom enough, and quick to replay
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if not tables:
            connection.executescript(
                f"BEGIN; {SCHEMA}; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
            )
        elif application != APPLICATION:
            raise ArtefactDamaged(f"{folder} does not hold a broker's store; name another folder")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        check_version(version, folder)
        check(connection, folder)
        return state_rows(StoreTables(connection))
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise storage_error(error, folder) from error


def check_version(version: int, folder: Path | None) -> None:
    """Refuse tables of another version, saying what to do.

    >>> check_version(1_000, Path("data"))
    Traceback (most recent call last):
    likewise.errors.ArtefactVersion: data was written in version 1000 by a newer release; this one reads ...
    """
    if version > VERSION:
        raise ArtefactVersion(
            f"{folder} was written in version {version} by a newer release; this one reads {VERSION}: upgrade "
            "likewise, or restore a copy from before; a store is never taken back to an older version"
        )
    if version < OLDEST:
        raise ArtefactVersion(
            f"{folder} was written in version {version}; this one reads {VERSION} and migrates from {OLDEST} on: serve "
            "it with the release that wrote it, or name a new folder"
        )
    if version < VERSION:
        raise ArtefactVersion(
            f"{folder} was written in version {version}; this one reads {VERSION}: make a copy with "
            f"`likewise admin backup {folder} COPY`, then run `likewise admin migrate {folder}`"
        )


def check(connection: sqlite3.Connection, folder: Path | None, *, thoroughly: bool = False) -> None:
    """Refuse a database whose structure is damaged."""
    (result,) = connection.execute(f"PRAGMA {'integrity_check' if thoroughly else 'quick_check'}(1)").fetchone()
    if result != "ok":
        raise ArtefactDamaged(f"the store in {folder} is damaged: {result}; restore a copy")


def storage_error(error: BaseException, folder: Path | None) -> BaseException:
    """Return an SQLite error as a `LikewiseError`.

    >>> type(storage_error(sqlite3.OperationalError("database or disk is full"), None)).__name__
    'Unavailable'
    >>> type(storage_error(sqlite3.OperationalError("Could not decode to UTF-8 column 'id'"), None)).__name__
    'ArtefactDamaged'
    """
    if isinstance(error, LikewiseError) or not isinstance(error, sqlite3.Error | UnicodeDecodeError):
        return error
    text = str(error)
    if any(text.startswith(known) for known in _FULL):
        return Unavailable(f"nothing can be stored in {folder}: {text}; make room on the disk")
    if isinstance(error, sqlite3.OperationalError) and "malformed" not in text and "decode" not in text:
        return Unavailable(f"the store in {folder} cannot be used: {text}")
    return ArtefactDamaged(f"the store in {folder} is damaged: {text}; restore a copy")

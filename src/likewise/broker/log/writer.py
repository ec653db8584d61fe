"""The store: SQLite with a write-ahead log, synced at every commit, and one writer.

Everything that is written goes through the writer's inbox. The writer takes what is there, does it all in
one transaction and syncs once (group commit), so that many publishers share the price of one sync; what
comes meanwhile makes the next group. Nobody is told of success before the sync has returned.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar, cast

import structlog

from likewise.broker.locks import make_lock
from likewise.broker.log.commit_marker import CommitMarker
from likewise.broker.log.commits import (
    AppendEntries,
    Commit,
    Done,
    Follower,
    LogHead,
    PreCommitMatcher,
    Request,
    SourceNames,
    TableChange,
    wait_for,
)
from likewise.broker.log.edges.hops import LOCAL_ROUTE, hops_between
from likewise.broker.log.entries import Entry
from likewise.broker.log.files import DatabaseFiles, FolderLock, connect, open_tables, storage_error
from likewise.broker.log.log_entries import rows_between
from likewise.broker.log.mqtt.messages import messages_between
from likewise.broker.log.rows import entry_row, entry_rows
from likewise.broker.log.tables import StoreTables
from likewise.defaults import COMMIT_ENTRIES, SHARED_ENTRIES, STORE_CACHE_BYTES
from likewise.errors import Unavailable

_log = structlog.get_logger("likewise.store")

T = TypeVar("T")
_STATE: Final = """
UPDATE state SET value = CASE name WHEN 'commit' THEN ?1 WHEN 'position' THEN ?2 ELSE ?3 END,
    guard = ~CASE name WHEN 'commit' THEN ?1 WHEN 'position' THEN ?2 ELSE ?3 END
WHERE name IN ('commit', 'position', 'arrival')
"""


class Store:
    """The log and its tables in a folder, or in memory without one.

    >>> store = Store(None, clock=lambda: 0)
    >>> store.commit(lambda tables: tables.row("SELECT count(*) FROM log"))
    (0,)
    >>> store.close()
    """

    def __init__(self, folder: Path | None, *, clock: Callable[[], int], cache: int = STORE_CACHE_BYTES) -> None:
        self.folder = folder
        self._cache = cache  # bytes of pages that each connection may keep
        self.followers: list[Follower] = []
        self.foresight: PreCommitMatcher | None = None
        self.trouble: str | None = None  # why nothing can be stored now; gone with the next commit
        self._clock = clock
        self._lock = FolderLock(folder) if folder is not None else None
        self._local = threading.local()
        self._readers: list[StoreTables] = []
        self._readers_left = False
        self._shared = make_lock("store", again=True)  # in memory, readers use the writer's connection
        self._watermark: CommitMarker | None = None
        try:
            self._connection = connect(folder, cache=cache)
            state = open_tables(self._connection, folder)
            if folder is not None:
                self._watermark = CommitMarker(folder)
                self._watermark.check(state["commit"])
        except BaseException:
            self._release()
            raise
        self._place = DatabaseFiles(folder) if folder is not None else None
        self._commit, self._position = state["commit"], state["position"]
        self._head = LogHead(self._position, state["arrival"])
        self._inbox: queue.SimpleQueue[Commit | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="likewise-writer", daemon=True)
        self._thread.start()

    @property
    def position(self) -> int:
        """Return the position of the last entry on disk."""
        return self._position

    @property
    def arrival(self) -> int:
        """Return the time (µs) of the last commit; 0 before the first."""
        return self._head.arrival

    # -- writing --------------------------------------------------------------------------------

    def submit(self, commit: Commit) -> None:
        """Bring something to disk with the writer's next transaction."""
        if self._closed:
            commit.undo(Unavailable("the broker is stopping; publish to it when it runs again"))
        else:
            self._inbox.put(commit)

    def name_sources(self, tenant: int, names: SourceNames) -> None:
        """Know a tenant's sources by their names: what comes under one is stored under the source it stands for."""
        self._head.names[tenant] = names

    def append(self, entries: list[Entry], done: Done) -> None:
        """Append all of the entries or none; `done` is told the receipts, or the error, once that is on disk."""
        self.append_all([(entries, done)])

    def append_all(self, requests: list[Request]) -> None:
        """Append several requests, which share a transaction and fail each by itself."""
        self.submit(AppendEntries(requests, self._head, self.followers, self.foresight))

    def write(self, work: Callable[[StoreTables], object], done: Done) -> None:
        """Do some work in the writer's next transaction; `done` is told what it returned, or the error it met."""
        self.submit(TableChange(work, done))

    def commit(self, work: Callable[[StoreTables], T]) -> T:
        """Do `write`, and wait for it."""
        return cast("T", wait_for(lambda done: self.write(work, done)))

    def _run(self) -> None:
        last = False
        while not last and (commit := self._inbox.get()) is not None:
            group, appended = [commit], commit if isinstance(commit, AppendEntries) else None
            while appended is None or len(appended) < COMMIT_ENTRIES:
                try:
                    following = self._inbox.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    last = True
                    break
                if isinstance(following, AppendEntries):
                    if appended is not None:
                        appended.join(following)
                        continue
                    appended = following
                group.append(following)
            for part in _parts(group, appended):
                self._settle(part)

    def _settle(self, group: list[Commit]) -> None:
        """Do a group in one transaction; if that fails as a whole, each alone, so that one cannot fail the others."""
        try:
            self._do(group)
        except BaseException as error:
            alone = [
                each for commit in group for each in (commit.parts() if isinstance(commit, AppendEntries) else [commit])
            ]
            reason = storage_error(error, self.folder)
            if isinstance(reason, Unavailable):
                self.trouble = str(reason)
            for commit in group:
                commit.undo(None if len(alone) > 1 else reason)
            if len(alone) > 1:
                for commit in alone:
                    self._settle([commit])
            return
        self.trouble = None
        for step in ("show", "tell"):
            for commit in group:
                try:
                    commit.show() if step == "show" else commit.notify()
                except Exception:  # it is on disk, and the others have to be told, too
                    _log.exception("commit_notification_failed", step=step)

    def _do(self, group: list[Commit]) -> None:
        connection, head = self._connection, self._head
        position, arrival = head.position, head.arrival
        with self._shared:
            if self._place is not None:
                self._place.check()
            connection.execute("BEGIN IMMEDIATE")
            try:
                head.arrival = self._clock()
                tables = StoreTables(connection)
                for commit in group:
                    commit.write(tables)
                tables.change(_STATE, self._commit + 1, head.position, head.arrival)
                connection.execute("COMMIT")
            except BaseException:
                head.position, head.arrival = position, arrival
                with suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    connection.execute("ROLLBACK")
                raise
        self._commit += 1
        self._position = head.position
        if self._watermark is not None:
            try:
                self._watermark.write(self._commit)
            except OSError as error:  # what is committed stays so, and must not be done again
                _log.warning(
                    "commit_marker_failed",
                    commit=self._commit,
                    error=str(error),
                )

    # -- reading --------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[StoreTables]:
        """Open the tables as of the last commit, on a connection of the thread's own."""
        try:
            if self.folder is None:
                with self._shared:
                    yield StoreTables(self._connection)
                return
            tables: StoreTables | None = getattr(self._local, "tables", None)
            if tables is None:
                tables = self._local.tables = StoreTables(connect(self.folder, reading=True, cache=self._cache))
                self._readers.append(tables)
            yield tables
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise storage_error(error, self.folder) from error

    def entries(self, after: int, until: int, *, tenant: int | None = None, together: bool = False) -> Iterator[Entry]:
        """Yield the entries between two positions, in order; raise `ArtefactDamaged` for one that was altered.

        `together`: many events at once are read into columns, for whoever matches them so.
        """
        while after < until:
            with self.reading() as tables:
                rows = rows_between(tables, after, until, tenant)
                messages = messages_between(tables, after, rows[-1][0]) if rows else {}
                hops = hops_between(tables, after, rows[-1][0]) if rows else {}
            if not rows:
                return
            for entry in entry_rows(rows) if together else map(entry_row, rows):  # decoded as they are taken
                entry.message = messages.get(entry.position)
                route = hops.get(entry.position, LOCAL_ROUTE)
                entry.hops, entry.first_received = route.hops, route.received
                yield entry
            after = rows[-1][0]

    # -- ending ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Finish what was handed in, then let go of everything."""
        if not self._closed:
            self._closed = True
            self._inbox.put(None)
            self._thread.join()
            self._release()

    def leave_readers(self) -> None:
        """Close no connection that a thread may still be reading with; the end of the process does."""
        self._readers_left = True

    def _release(self) -> None:
        if not self._readers_left:
            for reader in self._readers:
                reader.close()
        if hasattr(self, "_connection") and not (self._readers_left and self.folder is None):
            self._connection.close()
        if self._watermark is not None:
            self._watermark.close()
        if self._lock is not None:
            self._lock.release()


def _parts(group: list[Commit], appended: AppendEntries | None) -> list[list[Commit]]:
    """Split a group of commits into transactions where that lets some finish earlier.

    What lets matching catch up with the log goes first where new events gain from it. Where somebody appends much, each
    tenant has a transaction of its own, the smallest first: so nobody's few entries wait for somebody's many.
    """
    first = [commit for commit in group if appended is not None and appended.gains_from(commit)]
    rest = [commit for commit in group if commit not in first]
    parts = [first] if first else []
    if appended is None or len(appended) <= SHARED_ENTRIES or len(by_tenant := appended.by_tenant()) == 1:
        return [*parts, rest]
    place = rest.index(appended)
    before, after = rest[:place], rest[place + 1 :]
    outcomes = [commit for commit in after if not isinstance(commit, TableChange)]  # of what was appended before
    # Changes of tables may be meant to come after the entries.
    last = [commit for commit in after if isinstance(commit, TableChange)]
    between: list[list[Commit]] = [[each] for each in by_tenant[1:-1]]
    return [*parts, [*before, *outcomes, by_tenant[0]], *between, [by_tenant[-1], *last]]

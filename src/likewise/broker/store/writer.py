"""The store: SQLite with a write-ahead log, synced at every commit, and one writer.

Everything that is written goes through the writer's inbox. The writer takes what is there, does it all in
one transaction and syncs once (group commit), so that many publishers share the price of one sync; what
comes meanwhile makes the next group. Nobody is told of success before the sync has returned.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeVar, cast

import structlog

from likewise.broker.store.checksums import entry_checksum
from likewise.broker.store.entries import Entry
from likewise.broker.store.event_log import Done, Receipts
from likewise.broker.store.files import FolderLock, connect, open_tables, said
from likewise.broker.store.rows import ENTRY, entry_row
from likewise.broker.store.watermark import Watermark
from likewise.defaults import COMMIT_ENTRIES
from likewise.errors import Conflict, LikewiseError, Unavailable
from likewise.formats.wire.events import Receipt

_log = structlog.get_logger("likewise.store")

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], object]
_STATE: Final = """
UPDATE state SET value = CASE name WHEN 'commit' THEN ?1 WHEN 'position' THEN ?2 ELSE ?3 END,
    guard = ~CASE name WHEN 'commit' THEN ?1 WHEN 'position' THEN ?2 ELSE ?3 END
WHERE name IN ('commit', 'position', 'arrival')
"""


class _Item(NamedTuple):
    entries: list[Entry] | None
    work: Work | None
    done: Done
    matched: int = 0  # the position matching has come to with this work


class Prepared(Protocol):
    """What new entries lead to, written in their transaction."""

    def store(self, connection: sqlite3.Connection) -> None:
        """Write it."""
        ...

    def fill(self) -> None:
        """It is on disk: whoever looks may see it."""
        ...

    def wake(self) -> None:
        """The publishers have been told: tell the subscribers."""
        ...

    def undone(self) -> None:
        """The commit failed."""
        ...


class Early(Protocol):
    """What is asked of new entries before they are committed; see `likewise.broker.delivering.match_before_commit`."""

    def serves(self, entries: Sequence[Entry]) -> bool:
        """Whether these could be prepared, were all before them stored."""
        ...

    def prepare(self, entries: list[Entry]) -> Prepared | None:
        """What they lead to; None if `on_append` has to be told after the commit."""
        ...


class Store:
    """The log and its tables in a folder, or in memory without one.

    >>> store = Store(None, clock=lambda: 0)
    >>> store.commit(lambda c: c.execute("SELECT count(*) FROM log").fetchone())
    (0,)
    >>> store.close()
    """

    def __init__(self, folder: Path | None, *, clock: Callable[[], int]) -> None:
        self.folder = folder
        self.on_append: Callable[[list[Entry]], None] = lambda entries: None
        self.early: Early | None = None
        self._clock = clock
        self._lock = FolderLock(folder) if folder is not None else None
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._shared = threading.RLock()  # in memory, readers use the writer's connection
        self._watermark: Watermark | None = None
        try:
            self._connection = connect(folder)
            state = open_tables(self._connection, folder)
            if folder is not None:
                self._watermark = Watermark(folder)
                self._watermark.check(state["commit"])
        except BaseException:
            self._release()
            raise
        self._commit, self.position, self._arrival = state["commit"], state["position"], state["arrival"]
        self._inbox: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="likewise-writer", daemon=True)
        self._thread.start()

    # -- writing --------------------------------------------------------------------------------

    def append(self, entries: list[Entry], done: Done) -> None:
        """Append all of the entries or none, then tell `on_append` the new ones and `done` the receipts."""
        self._put(_Item(entries, None, done))

    def write(self, work: Work, done: Done) -> None:
        """Do some work in the writer's next commit."""
        self._put(_Item(None, work, done))

    def commit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`write`, waiting for it."""
        future: Future[object] = Future()
        self.write(work, future.set_result)
        found = future.result()
        if isinstance(found, BaseException):
            raise found
        return cast("T", found)

    def catch_up(self, position: int, work: Work, shown: Callable[[], None]) -> None:
        """`commit` what matching up to a position led to; `shown` is called by the writer before it goes on."""
        future: Future[object] = Future()

        def done(result: object) -> None:
            try:
                if not isinstance(result, BaseException):
                    shown()
            except BaseException as error:
                result = error
            future.set_result(result)

        self._put(_Item(None, work, done, position))
        found = future.result()
        if isinstance(found, BaseException):
            raise found

    def _put(self, item: _Item) -> None:
        if self._closed:
            item.done(Unavailable("the broker is stopping; publish to it when it runs again"))
        else:
            self._inbox.put(item)

    def _run(self) -> None:
        while (item := self._inbox.get()) is not None:
            group, last, size = [item], False, len(item.entries or ())
            while size < COMMIT_ENTRIES:
                try:
                    following = self._inbox.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    last = True
                    break
                group.append(following)
                size += len(following.entries or ())
            for part in self._parts(group):
                self._settle(part)
            if last:
                break

    def _parts(self, group: list[_Item]) -> list[list[_Item]]:
        """A group, or two: what lets matching catch up with the log goes first where new events can then be early."""
        caught_up = [item for item in group if item.matched and item.matched == self.position]
        entries = [entry for item in group for entry in item.entries or ()]
        if not caught_up or not entries or self.early is None or not self.early.serves(entries):
            return [group]
        return [caught_up, [item for item in group if not item.matched or item.matched != self.position]]

    def _settle(self, group: list[_Item]) -> None:
        """Do a group in one commit; if that fails as a whole, each alone, so that one cannot fail the others."""
        try:
            results, new, prepared = self._do(group)
        except BaseException as error:
            if len(group) > 1:
                for item in group:
                    self._settle([item])
            else:
                group[0].done(said(error, self.folder))
            return
        if prepared is not None:
            prepared.fill()
        elif new:
            self.on_append(new)
        try:
            for item, result in zip(group, results, strict=True):
                item.done(result)
        finally:
            if prepared is not None:
                prepared.wake()

    def _do(self, group: list[_Item]) -> tuple[list[object], list[Entry], Prepared | None]:
        connection, position = self._connection, self.position
        results: list[object] = []
        new: list[Entry] = []
        prepared: Prepared | None = None
        arrival = max(self._clock(), self._arrival)
        with self._shared:
            connection.execute("BEGIN IMMEDIATE")
            try:
                for item in group:
                    if item.entries is not None:
                        results.append(self._add(item.entries, arrival, new))
                    else:
                        results.append(self._work(cast("Work", item.work)))
                if new and self.early is not None:
                    prepared = self.early.prepare(new)
                    if prepared is not None:
                        prepared.store(connection)
                connection.execute(_STATE, (self._commit + 1, self.position, arrival))
                connection.execute("COMMIT")
            except BaseException:
                self.position = position
                if prepared is not None:
                    prepared.undone()
                with suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    connection.execute("ROLLBACK")
                raise
        self._commit += 1
        self._arrival = arrival
        if self._watermark is not None:
            try:
                self._watermark.write(self._commit)
            except OSError as error:  # what is committed stays so, and must not be done again
                _log.warning("a commit could not be noted beside the store: losing its end would not be noticed",
                             commit=self._commit, error=str(error))  # fmt: skip
        return results, new, prepared

    def _work(self, work: Work) -> object:
        self._connection.execute("SAVEPOINT work")
        try:
            found = work(self._connection)
        except LikewiseError as error:
            self._connection.execute("ROLLBACK TO work")
            found = error
        self._connection.execute("RELEASE work")
        return found

    def _add(self, entries: list[Entry], arrival: int, new: list[Entry]) -> Receipts | Conflict:
        """Write rows for entries whose identity is new; the same content again is found where it was."""
        receipts: Receipts = []
        fresh: list[Entry] = []
        known: dict[tuple[int, str, str], tuple[int, bytes]] = {}
        position = self.position
        for entry in entries:
            if entry.own_id:
                identity = (entry.tenant, entry.id, entry.source)
                found = known.get(identity) or self._find(*identity)
                if found is not None:
                    if found[1] != entry.body:
                        return Conflict(entry.id, source=entry.source)
                    receipts.append(Receipt(entry.id, found[0], True))
                    continue
                known[identity] = (position + 1, entry.body)
            position += 1
            entry.position, entry.arrival = position, arrival
            fresh.append(entry)
            receipts.append(Receipt(entry.id, position))
        self._connection.executemany(
            "INSERT INTO log (position, tenant, kind, source, id, arrival, ends, checksum, body) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(e.position, e.tenant, e.kind, e.source, e.id, arrival, e.ends, _row_checksum(e), e.body) for e in fresh],
        )
        self.position = position
        new += fresh
        return receipts

    def _find(self, tenant: int, id: str, source: str) -> tuple[int, bytes] | None:
        row = self._connection.execute(
            f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ? AND id = ? AND source = ?", (tenant, id, source)
        ).fetchone()
        if row is None:
            return None
        found = entry_row(row)
        return found.position, found.body

    # -- reading --------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees what is committed; each thread has its own."""
        try:
            if self.folder is None:
                with self._shared:
                    yield self._connection
                return
            found: sqlite3.Connection | None = getattr(self._local, "connection", None)
            if found is None:
                found = self._local.connection = connect(self.folder, reading=True)
                self._readers.append(found)
            yield found
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise said(error, self.folder) from error

    def entries(self, after: int, until: int, *, tenant: int | None = None) -> Iterator[Entry]:
        """The entries between two positions, in order; one that was altered on disk raises `ArtefactDamaged`."""
        while after < until:
            with self.reading() as connection:
                rows = connection.execute(
                    f"SELECT {ENTRY} FROM log "
                    "WHERE position > ? AND position <= ? AND (?3 IS NULL OR tenant = ?3) ORDER BY position LIMIT 1000",
                    (after, until, tenant),
                ).fetchall()
            if not rows:
                return
            yield from map(entry_row, rows)
            after = rows[-1][0]

    # -- ending ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Finish what was handed in, then let go of everything."""
        if not self._closed:
            self._closed = True
            self._inbox.put(None)
            self._thread.join()
            self._release()

    def _release(self) -> None:
        for reader in self._readers:
            reader.close()
        if hasattr(self, "_connection"):
            self._connection.close()
        if self._watermark is not None:
            self._watermark.close()
        if self._lock is not None:
            self._lock.release()


def _row_checksum(entry: Entry) -> int:
    return entry_checksum(entry.position, entry.tenant, entry.kind, entry.arrival, entry.ends, entry.body)

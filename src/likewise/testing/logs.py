"""The broker's log in memory and without a thread: whoever hands it a commit has it committed when the call returns.

For tests of followers of the log, of commits of one's own, and of what happens when a transaction fails. It is the twin
of `likewise.broker.log.writer.Store`, which promises the same in a folder, for many threads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

from likewise.broker.log.commits import (
    AppendEntries,
    Commit,
    Done,
    Follower,
    LogHead,
    PreCommitMatcher,
    Request,
    TableChange,
    wait_for,
)
from likewise.broker.log.entries import Entry
from likewise.broker.log.files import connect, open_tables, storage_error
from likewise.broker.log.log_entries import rows_between
from likewise.broker.log.rows import entry_row
from likewise.broker.log.tables import StoreTables
from likewise.testing.clocks import ManualClock

T = TypeVar("T")


class MemoryLog:
    """An `EventLog` whose every commit is a transaction of its own, done at once.

    >>> from likewise.broker.log.entries import WithdrawCommand, command_entry
    >>> log, seen = MemoryLog(), []
    >>> class Seen:
    ...     def take(self, entries: list[Entry]) -> None:
    ...         seen.extend(entry.position for entry in entries)
    >>> log.followers.append(Seen())
    >>> log.append([command_entry(1, WithdrawCommand(7))], lambda receipts: print(receipts[0].position))
    1
    >>> seen, log.position
    ([1], 1)
    >>> log.fail_next(OSError("the disk is gone"))
    >>> log.append([command_entry(1, WithdrawCommand(8))], print)
    the disk is gone
    >>> log.position
    1
    """

    def __init__(self, clock: Callable[[], int] | None = None) -> None:
        self.followers: list[Follower] = []
        self.foresight: PreCommitMatcher | None = None
        self._clock = clock or ManualClock()
        self._connection = connect(None)
        open_tables(self._connection, None)
        self._head = LogHead(0, 0)
        self._fail: list[BaseException] = []

    @property
    def position(self) -> int:
        """The position of the last entry."""
        return self._head.position

    def fail_next(self, error: BaseException) -> None:
        """Let the next commit fail at its end, as on a full disk."""
        self._fail.append(error)

    def submit(self, commit: Commit) -> None:
        """Commit something, or undo it."""
        position = self._head.position
        self._connection.execute("BEGIN")
        try:
            self._head.arrival = max(self._head.arrival, self._clock())
            commit.write(StoreTables(self._connection))
            if self._fail:
                raise self._fail.pop()
            self._connection.execute("COMMIT")
        except BaseException as error:
            self._head.position = position
            self._connection.execute("ROLLBACK")
            commit.undo(storage_error(error, None))
            return
        commit.show()
        commit.notify()

    def append(self, entries: list[Entry], done: Done) -> None:
        """Append all of the entries or none; `done` is told the receipts, or the error."""
        self.append_all([(entries, done)])

    def append_all(self, requests: list[Request]) -> None:
        """Append several requests, each of which may fail by itself."""
        self.submit(AppendEntries(requests, self._head, self.followers, self.foresight))

    def write(self, work: Callable[[StoreTables], object], done: Done) -> None:
        """Do some work; `done` is told what it returned, or the error it met."""
        self.submit(TableChange(work, done))

    def commit(self, work: Callable[[StoreTables], T]) -> T:
        """Commit some work and return its result."""
        return cast("T", wait_for(lambda done: self.write(work, done)))

    @contextmanager
    def reading(self) -> Iterator[StoreTables]:
        """Yield the tables as the last commit left them."""
        try:
            yield StoreTables(self._connection)
        except sqlite3.Error as error:
            raise storage_error(error, None) from error

    def entries(self, after: int, until: int, *, tenant: int | None = None, together: bool = False) -> Iterator[Entry]:
        """Yield the entries between two positions, in order."""
        while after < until and (rows := rows_between(StoreTables(self._connection), after, until, tenant)):
            yield from map(entry_row, rows)
            after = rows[-1][0]

    def close(self) -> None:
        """Let go of everything."""
        self._connection.close()

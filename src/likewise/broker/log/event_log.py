"""The interface of the store: an append-only log with one writer, followers, and tables that share its commits.

`likewise.broker.log.writer.Store` keeps it in SQLite, in a folder or (for `--ephemeral` and for tests) in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from likewise.broker.log.commits import Commit, Done, Follower, PreCommitMatcher, Request
from likewise.broker.log.entries import Entry
from likewise.broker.log.tables import StoreTables

__all__ = ["Commit", "Done", "EventLog", "Follower", "PreCommitMatcher", "Request", "StoreTables"]

T = TypeVar("T")


class EventLog(Protocol):
    """The interface of the store."""

    followers: list[Follower]
    foresight: PreCommitMatcher | None

    @property
    def position(self) -> int:
        """Return the position of the last entry on disk."""
        ...

    def submit(self, commit: Commit) -> None:
        """Bring something to disk with the writer's next transaction."""
        ...

    def append(self, entries: list[Entry], done: Done) -> None:
        """Append all of the entries or none; `done` is told the receipts, or the error, once that is on disk."""
        ...

    def append_all(self, requests: list[Request]) -> None:
        """Append several requests, which share a transaction and fail each by itself."""
        ...

    def write(self, work: Callable[[StoreTables], object], done: Done) -> None:
        """Do some work in the writer's next transaction; `done` is told what it returned, or the error it met."""
        ...

    def commit(self, work: Callable[[StoreTables], T]) -> T:
        """Do `write`, and wait for it."""
        ...

    def reading(self) -> AbstractContextManager[StoreTables]:
        """Open the tables as of the last commit."""
        ...

    def entries(self, after: int, until: int, *, tenant: int | None = None, together: bool = False) -> Iterator[Entry]:
        """Yield the entries between two positions, in order; raise `ArtefactDamaged` for one that was altered.

        `together`: many events at once may be read into columns.
        """
        ...

    def close(self) -> None:
        """Finish what was handed in, then let go of everything."""
        ...

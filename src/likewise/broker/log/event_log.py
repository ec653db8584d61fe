"""The seam to what is kept: an append-only log with one writer, its followers, and the tables that share its commits.

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
    """What the broker needs of its store."""

    followers: list[Follower]
    foresight: PreCommitMatcher | None

    @property
    def position(self) -> int:
        """The position of the last entry on disk."""
        ...

    def submit(self, commit: Commit) -> None:
        """Bring something to disk with the writer's next transaction."""
        ...

    def append(self, entries: list[Entry], done: Done) -> None:
        """Append all of the entries or none; `done` is told the receipts, or the error, once that is on disk."""
        ...

    def append_all(self, requests: list[Request]) -> None:
        """`append` for several, which share a transaction and fail each by itself."""
        ...

    def write(self, work: Callable[[StoreTables], object], done: Done) -> None:
        """Do some work in the writer's next transaction; `done` is told what it returned, or the error it met."""
        ...

    def commit(self, work: Callable[[StoreTables], T]) -> T:
        """`write`, waiting for it."""
        ...

    def reading(self) -> AbstractContextManager[StoreTables]:
        """The tables as the last commit left them."""
        ...

    def entries(self, after: int, until: int, *, tenant: int | None = None, together: bool = False) -> Iterator[Entry]:
        """The entries between two positions, in order; one that was altered on disk raises `ArtefactDamaged`.

        `together`: many events at once may be read into columns.
        """
        ...

    def close(self) -> None:
        """Finish what was handed in, then let go of everything."""
        ...

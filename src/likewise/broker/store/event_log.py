"""The seam to what is kept: an append-only log with one writer, and work that shares its commits.

`likewise.broker.store.writer.Store` keeps it in SQLite, in a folder or (for `--ephemeral` and for tests) in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from likewise.broker.store.entries import Entry
from likewise.formats.wire.events import Receipt

T = TypeVar("T")


Receipts = list[Receipt]
Done = Callable[[object], None]


class EventLog(Protocol):
    """What the broker needs of its store. `done` is called with the result, or the error, once that is on disk."""

    on_append: Callable[[list[Entry]], None]

    def append(self, entries: list[Entry], done: Done) -> None:
        """Append all of the entries or none, then tell `on_append` the new ones and `done` the receipts."""
        ...

    def write(self, work: Callable[[sqlite3.Connection], object], done: Done) -> None:
        """Do some work in the writer's next commit."""
        ...

    def commit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """`write`, waiting for it."""
        ...

    def catch_up(self, position: int, work: Callable[[sqlite3.Connection], object], shown: Callable[[], None]) -> None:
        """`commit` what matching up to a position led to; `shown` is called by the writer before it goes on."""
        ...

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """A connection that sees what is committed."""
        ...

    def entries(self, after: int, until: int, *, tenant: int | None = None) -> Iterator[Entry]:
        """The entries between two positions, in order; one that was altered on disk raises `ArtefactDamaged`."""
        ...

    def close(self) -> None:
        """Finish what was handed in, then let go of everything."""
        ...

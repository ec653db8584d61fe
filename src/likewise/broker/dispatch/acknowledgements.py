"""Batch acknowledgements: the newest of each subscriber is written with the next commit."""

from __future__ import annotations

from typing import NamedTuple

from likewise.broker.locks import make_lock
from likewise.broker.log.event_log import Done, EventLog
from likewise.broker.log.registry_tables import settle_deliveries
from likewise.broker.log.tables import StoreTables


class Acknowledgements:
    """Gathers cursors for the writer. A lost one costs a repeat, which the cursor of a client shows."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._lock = make_lock("cursors")
        self._cursors: dict[int, int] = {}
        self._waiting: list[Done] = []
        self._flush_pending = False

    def note(self, subscriber: int, number: int, done: Done | None = None) -> None:
        """Keep that a subscriber settled everything up to a number; `done` is told when that is on disk."""
        with self._lock:
            self._cursors[subscriber] = max(number, self._cursors.get(subscriber, 0))
            if done is not None:
                self._waiting.append(done)
            if self._flush_pending:
                return
            self._flush_pending = True
        commit = _CursorCommit({}, [])
        self._log.write(lambda tables: self._flush(tables, commit), lambda result: self._notify(commit, result))

    def _flush(self, tables: StoreTables, commit: _CursorCommit) -> None:
        """Write what came so far; if the transaction is done again, that once more, and what came meanwhile."""
        with self._lock:
            cursors, self._cursors = self._cursors, {}
            commit.waiting.extend(self._waiting)
            self._waiting = []
            self._flush_pending = False
        commit.cursors.update(cursors)
        settle_deliveries(tables, [(number, 0, subscriber) for subscriber, number in commit.cursors.items()])

    def _notify(self, commit: _CursorCommit, result: object) -> None:
        if isinstance(result, BaseException):  # the next commit brings them to disk
            with self._lock:
                self._cursors = commit.cursors | self._cursors
        for done in commit.waiting:
            done(result)


class _CursorCommit(NamedTuple):
    """The cursors of one commit, and the callbacks that wait for it."""

    cursors: dict[int, int]
    waiting: list[Done]

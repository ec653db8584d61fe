"""Acknowledgements on their way to disk: the newest of each subscriber, together in the writer's next commit."""

from __future__ import annotations

from likewise.broker.locks import make_lock
from likewise.broker.store.event_log import Done, EventLog
from likewise.broker.store.holdings import settle_deliveries
from likewise.broker.store.tables import Tables


class Acknowledgements:
    """Gathers cursors until the writer takes them. A lost one costs a repeat, which the cursor of a client shows."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._lock = make_lock("cursors")
        self._cursors: dict[int, int] = {}
        self._waiting: list[Done] = []
        self._asked = False

    def note(self, subscriber: int, number: int, done: Done | None = None) -> None:
        """Keep that a subscriber settled everything up to a number; `done` is told when that is on disk."""
        with self._lock:
            self._cursors[subscriber] = max(number, self._cursors.get(subscriber, 0))
            if done is not None:
                self._waiting.append(done)
            if self._asked:
                return
            self._asked = True
        taken: list[Done] = []
        self._log.write(lambda tables: self._flush(tables, taken), lambda result: _tell(taken, result))

    def _flush(self, tables: Tables, taken: list[Done]) -> None:
        with self._lock:
            cursors, self._cursors = self._cursors, {}
            taken += self._waiting
            self._waiting = []
            self._asked = False
        settle_deliveries(tables, [(number, 0, subscriber) for subscriber, number in cursors.items()])


def _tell(waiting: list[Done], result: object) -> None:
    for done in waiting:
        done(result)

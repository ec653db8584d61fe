"""Commit the results of matching: store them with the new position, make them visible, notify."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.locks import Lock
from likewise.broker.log.commits import Done
from likewise.broker.log.entries import Entry
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant

Stored = Callable[[Iterable[SubscriberQueue], CommitBatch], None]  # told which queues have something new


class MatchingControl(Protocol):
    """Stops matching for good when something that is on disk cannot be made visible."""

    def fail(self, error: BaseException) -> None:
        """Stop matching: readiness says so, and whatever comes is refused."""
        ...


class BatchCommit:
    """Stores a batch. `done` is called when it is visible; the matchers of `foreseen` are locked until then.

    Those are released, and the numbers dealt out taken back, if it was matched before its events' own commit
    (`likewise.broker.dispatch.match_before_commit`) and that commit fails.
    """

    def __init__(
        self,
        outcome: CommitBatch,
        queues: Lock,
        stored: Stored,
        matching: MatchingControl,
        *,
        done: Done = lambda result: None,
        foreseen: dict[Tenant, int] | None = None,
    ) -> None:
        self.outcome = outcome
        self._queues = queues
        self._stored = stored
        self._matching = matching
        self._done = done
        self._foreseen = foreseen or {}  # the next number of each tenant as it was before
        self._filled: list[SubscriberQueue] = []

    def catches_up(self, tenant: Tenant) -> bool:
        """Return whether nothing of a tenant is left to match once this is stored."""
        return self.outcome.positions.get(tenant, 0) >= tenant.appended

    def write(self, tables: StoreTables) -> None:
        """Write it."""
        self.outcome.store(tables)

    def show(self) -> None:
        """Fill the queues."""
        try:
            with self._queues:
                self._filled = list(self.outcome.take_effect())
        except Exception as error:  # said by readiness, and to everyone who comes
            self._matching.fail(error)

    def notify(self) -> None:
        """Wake the streams, call back who waits for a command, and let matching go on."""
        try:
            self._stored(self._filled, self.outcome)
            for entry, result in self.outcome.results:
                notify_applied(entry, result)
        except Exception as error:
            self._matching.fail(error)
        finally:
            self._release_matchers()
            self._done(None)

    def undo(self, error: BaseException | None) -> None:
        """Roll back: the numbers of deliveries are free again."""
        for tenant, number in self._foreseen.items():
            tenant.next_number = number
        self._release_matchers()
        if error is not None:
            self._done(error)

    def _release_matchers(self) -> None:
        for tenant in self._foreseen:
            tenant.matchers.release()


def notify_applied(entry: Entry, result: object) -> None:
    """Tell who waits for a command what came of it, once."""
    applied, entry.applied = entry.applied, None
    if applied is not None:
        applied(result)

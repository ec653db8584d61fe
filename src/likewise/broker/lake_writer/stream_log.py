"""Copy the broker's subscriptions into change logs for streams on Spark: one folder for each tenant.

The log is a copy of what the store holds, looked at in one transaction: subscriptions by their numbers in the store,
feedback, annotations with corrections, and by what words are compared, with the checksums of space and inventory. What
is other than in the log makes its next version. So nothing has to be remembered: after a crash the next look finds what
is missing, and a version is there wholly or not at all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import quote

import msgspec

from likewise.broker.lake_writer.batch_rows import subscription_name
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.registry_tables import (
    count_judgements,
    live_subscriptions,
    read_subscribers,
    subscriptions_between,
)
from likewise.broker.log.tables import StoreTables
from likewise.broker.maintenance.scheduler import RetryingTasks
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import StateError
from likewise.lake.change_log import ChangeLog
from likewise.lake.storage import storage_path
from likewise.lake.subscription_snapshot import (
    Change,
    SnapshotKnowledge,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionSnapshot,
    TermMeaning,
)
from likewise.semantics.enrichment.rows import write_annotations

EVERY: Final = 0.5  # seconds between looks
COMPACTED: Final = 500  # versions after which a snapshot is written


class StreamLog:
    """Updates the change logs below a folder; `meaning` returns how terms are compared."""

    def __init__(
        self, log: EventLog, tenants: Mapping[int, Tenant], folder: str, meaning: Callable[[], TermMeaning]
    ) -> None:
        self._log = log
        self._tenants = tenants
        self._folder = storage_path(folder)
        self._meaning = meaning
        self._logs: dict[int, ChangeLog] = {}
        self.retries = RetryingTasks()
        self._ending = threading.Event()
        self._turn = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="likewise-stream-log", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look once more, and end."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join(20.0)

    def log_of(self, tenant: Tenant) -> ChangeLog:
        """Return the change log of a tenant."""
        name = quote(tenant.name, safe=" @+,")
        name = name if name.strip(".") else name.replace(".", "%2E")  # a folder of its own, not the one above
        return self._logs.setdefault(tenant.number, ChangeLog(self._folder / name))

    def bring_up_to_date(self) -> None:
        """Look at every tenant now."""
        with self._turn:
            for tenant in list(self._tenants.values()):
                name = f"writing the change log of {tenant.name!r}"
                self.retries.do(name, partial(self._copy, tenant))

    def _run(self) -> None:
        while not self._ending.wait(EVERY):
            self.bring_up_to_date()
        self.bring_up_to_date()

    def _copy(self, tenant: Tenant) -> None:
        log = self.log_of(tenant)
        before = log.newest()
        with self._log.reading() as tables:
            snapshot = log.change(lambda snapshot: self._changes(tables, tenant, snapshot))
        if snapshot.version > before and snapshot.version % COMPACTED == 0:
            log.compact()

    def _changes(self, tables: StoreTables, tenant: Tenant, snapshot: SubscriptionSnapshot) -> list[Change]:
        """Return the changes that make the change log equal to the store, as of this transaction."""
        live = live_subscriptions(tables, tenant.number)
        known = set(live)
        changes: list[Change] = [
            SubscriptionRemoved(number, each.subscription.id)
            for number, each in snapshot.subscriptions.items()
            if number not in known
        ]
        new = [number for number in live if number not in snapshot.subscriptions]
        if new:
            if new[0] < snapshot.next_number:
                raise StateError(
                    f"the change log in {self.log_of(tenant).folder} has numbers up to {snapshot.next_number - 1}, "
                    f"and the store's {new[0]} is not among them: the store is an older copy, or somebody else "
                    "writes there; choose another folder"
                )
            numbers = set(new)
            owners = {row.number: row.id for row in read_subscribers(tables, tenant.number)}
            for row in subscriptions_between(tables, tenant.number, new[0] - 1, new[-1]):
                if row.number in numbers:
                    name = subscription_name(owners.get(row.subscriber, ""), row.id)
                    changes.append(
                        SubscriptionAdded(row.number, msgspec.structs.replace(row.subscription, id=name), row.added)
                    )
        knowledge = self._knowledge_changes(tables, tenant, snapshot.known)
        return changes if knowledge is None else [*changes, knowledge]

    def _knowledge_changes(
        self, tables: StoreTables, tenant: Tenant, knowledge: SnapshotKnowledge
    ) -> SnapshotKnowledge | None:
        """Return the feedback, annotations and term meaning that differ from the change log's."""
        by = tenant.stateless.interpretation
        feedback = tuple(by.feedback)[: count_judgements(tables, tenant.number)]  # what is on disk
        annotations = write_annotations(table) if len(table := by.annotations.current()) else ""
        now = SnapshotKnowledge(feedback, annotations, self._meaning())
        changed = {
            name: getattr(now, name)
            for name in SnapshotKnowledge.__struct_fields__
            if getattr(now, name) != getattr(knowledge, name)
        }
        return SnapshotKnowledge(**changed) if changed else None

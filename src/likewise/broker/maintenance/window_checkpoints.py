"""Save windows on a thread beside the matching loop, so that no other tenant waits for the disk.

Matching is at rest between two rounds: what a tenant's windows hold is what the log was matched to. From then on until
they are saved the tenant's entries wait (`Tenant.saving`), as they do while a question uses its matchers; the others
have their turns.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from likewise.broker.log.event_log import EventLog
from likewise.broker.log.log_entries import count_between, expired
from likewise.broker.log.registry_tables import replay_windows_from
from likewise.broker.maintenance.retention import unneeded
from likewise.broker.maintenance.scheduler import RetryingTasks
from likewise.broker.maintenance.window_snapshots import remove_older, save_windows
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import CHECKPOINT_ENTRIES, SAVE_SECONDS


class WindowCheckpoints:
    """Saves the windows of tenants, one after the other; `start` and `save` are called between rounds of matching."""

    def __init__(
        self, log: EventLog, data: Path | None, clock: Callable[[], int], tasks: RetryingTasks, *, concurrent: bool
    ) -> None:
        self._log = log
        self._data = data
        self._clock = clock
        self._tasks = tasks
        self._concurrent = concurrent  # on a thread of its own
        self._checked_at: dict[int, float] = {}  # when it was last asked whether a tenant's windows should be saved
        self._saved_at: dict[int, int] = {}  # what was taken of a tenant's entries when its windows were last saved
        self._loaded = False  # whether what saving needs is
        self._thread: threading.Thread | None = None

    def start(self, tenant: Tenant) -> None:
        """Save a tenant's windows if that is due, unless another's are being saved: then soon."""
        if tenant.saving or (self._thread is not None and self._thread.is_alive()):
            return
        if not self._concurrent:
            self._do(tenant, CHECKPOINT_ENTRIES)
        elif self._due(tenant, CHECKPOINT_ENTRIES):
            tenant.saving = self._loaded
            work = self._save_on_thread if self._loaded else self._load
            self._thread = threading.Thread(target=work, args=(tenant,), name="likewise-saving", daemon=True)
            self._thread.start()

    def save(self, tenant: Tenant) -> None:
        """Save a tenant's windows now, if anything is new."""
        if self._thread is not None:
            self._thread.join()
        if self._due(tenant, 1):
            self._save(tenant)

    def _load(self, tenant: Tenant) -> None:
        """Save nothing, so that the libraries that saving needs are loaded while nobody waits for it."""

        def work() -> None:
            with tempfile.TemporaryDirectory() as folder:
                tenant.windows.alike().save(Path(folder) / "nothing")

        self._tasks.do("loading what saves windows", work)
        self._checked_at.pop(tenant.number, None)
        self._loaded = True

    def _save_on_thread(self, tenant: Tenant) -> None:
        try:
            self._do(tenant, 1)
        finally:
            tenant.saving = False

    def _do(self, tenant: Tenant, entries: int) -> None:
        def work() -> None:
            if self._due(tenant, entries):
                self._save(tenant)

        self._tasks.do(f"saving the windows of {tenant.name!r}", work)

    def _due(self, tenant: Tenant, entries: int) -> bool:
        if self._data is None or tenant.windows_from is None:
            return False
        if tenant.unsaved or tenant.matched < tenant.windows_from:
            return tenant.unsaved
        return self._new(tenant) >= entries or self._awaited(tenant)

    def _new(self, tenant: Tenant) -> int:
        """Return roughly how many entries a replay of a tenant's windows would go through, and no fewer."""
        if tenant.number not in self._saved_at:
            with self._log.reading() as tables:
                before = count_between(tables, tenant.number, (tenant.windows_from or 1) - 1, tenant.matched)
            self._saved_at[tenant.number] = tenant.dequeued - before
        return tenant.dequeued - self._saved_at[tenant.number]

    def _save(self, tenant: Tenant) -> None:
        assert self._data is not None
        position, dequeued = tenant.matched, tenant.dequeued
        replay_from: int | None = position + 1
        if tenant.stateful:
            with tenant.matchers:
                save_windows(self._data, tenant, position)
        else:
            replay_from = None
        self._log.commit(lambda tables: replay_windows_from(tables, tenant.number, tenant.name, replay_from))
        tenant.windows_from, tenant.unsaved, self._saved_at[tenant.number] = replay_from, False, dequeued
        remove_older(self._data, tenant.number, position)

    def _awaited(self, tenant: Tenant) -> bool:
        """Return whether something is retained only for a replay of windows; checked rarely."""
        seldom = time.monotonic()
        if seldom - self._checked_at.get(tenant.number, 0.0) < SAVE_SECONDS:
            return False
        self._checked_at[tenant.number] = seldom
        now, start = self._clock(), tenant.windows_from or 0
        if any((tenant.subscriptions[number].ended or 0) >= start for number in list(tenant.ended)):
            return True
        with self._log.reading() as tables:
            positions = expired(tables, unneeded(tenant, now, replayed=False), now)
        return any(position >= start for position in positions)

"""The log follower that writes the lake: a thread of its own, one batch at a time for each tenant.

A batch is planned in the store, written as parts, committed to the lake by (query, batch), and then counts in the
store. Whatever dies in between is repeated as it was planned, and the lake knows what counts already: each reading is
there once. What goes wrong, as on a full disk or where the folder is gone, is said in readiness and tried again;
meanwhile the log keeps what the lake has not taken.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec
import structlog

from likewise.broker.config import LakeSettings
from likewise.broker.lake_writer.batch_rows import batch_rows
from likewise.broker.lake_writer.progress import LakeOffsets, LakeProgress, read_progress, write_progress
from likewise.broker.log.deliveries import first_event_after
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.tables import StoreTables
from likewise.broker.maintenance.scheduler import RetryingTasks
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import ArtefactMissing, StateError
from likewise.extras import require
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.format_marker import is_marked, mark_lake
from likewise.lake.parts import TABLES, day_text, write_part
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.storage import storage_path
from likewise.model.time import duration

_log = structlog.get_logger("likewise.lake")
MOST: Final = 20_000  # deliveries, or entries, of one batch
FINISHING: Final = 20.0  # seconds in which what is left is written when the broker stops


class LakeFollower:
    """Writes the lake of some settings."""

    def __init__(self, log: EventLog, tenants: Mapping[int, Tenant], settings: LakeSettings) -> None:
        require("match", "a lake")
        assert settings.folder is not None
        self._log = log
        self._tenants = tenants
        self._settings = settings
        folder = storage_path(settings.folder)
        self._lake = DeltaCommits(folder) if settings.format == "delta" else PlainCommits(folder)
        self.retries = RetryingTasks()
        self.batches = 0  # that were committed since the start
        with log.reading() as tables:
            self._progress = read_progress(tables, settings.name)
        self._wake = threading.Event()
        self._ending = threading.Event()
        self._every = duration(settings.every) / 1_000_000
        self._thread = threading.Thread(target=self._run, name="likewise-lake", daemon=True)

        for tenant in tenants.values():
            tenant.lake_position = self._of(tenant).done.told

    def start(self) -> None:
        """Begin, with what the log holds."""
        self._thread.start()

    def stop(self) -> None:
        """Write what is left, for a while, and end."""
        self._ending.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(FINISHING)
            if self._thread.is_alive():
                _log.warning("stop_during_lake_write")

    def behind(self, tenant: Tenant) -> int:
        """Return how many deliveries of a tenant are not in the lake."""
        return max(0, tenant.stored_number - self._of(tenant).done.deliveries)

    def needed_from(self, tables: StoreTables, tenant: Tenant) -> int | None:
        """Return the first entry of a tenant that the lake still needs; None if it needs none."""
        progress = self._of(tenant)
        needed = [first_event_after(tables, tenant.number, progress.done.deliveries)]
        if self._settings.keep == "all":
            needed.append(progress.done.entries + 1)
        return min((each for each in needed if each is not None), default=None)

    def wait_until_written(self, timeout: float = 60.0) -> None:
        """Wait until everything that is matched by now is in the lake; for tests."""
        target = {tenant: (tenant.stored_number, tenant.matched) for tenant in self._tenants.values()}
        deadline = time.monotonic() + timeout
        while any(not self._reached(tenant, *to) for tenant, to in target.items()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the lake is behind: {[*self.retries]}")
            self._wake.set()
            time.sleep(0.01)

    def _reached(self, tenant: Tenant, deliveries: int, entries: int) -> bool:
        done = self._of(tenant).done
        return done.deliveries >= deliveries and (self._settings.keep != "all" or done.entries >= entries)

    # -- its thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._ending.is_set():
            self._wake.wait(self._every)
            self._wake.clear()
            self._round()
        self._round()

    def _round(self) -> None:
        """Write batch after batch of each tenant until nothing is left, or it does not work."""
        for tenant in list(self._tenants.values()):
            before = -1
            while self._of(tenant).batches > before:
                before = self._of(tenant).batches
                self.retries.do(f"keeping what is wanted of {tenant.name!r}", partial(self._write_batch, tenant))

    def _of(self, tenant: Tenant) -> LakeProgress:
        return self._progress.get(tenant.number, LakeProgress())

    def _write_batch(self, tenant: Tenant) -> None:
        """Write the batch that is planned, or plan the next one and write it, if there is anything to write."""
        query = f"{self._settings.name}-{tenant.number}"
        progress = self._of(tenant)
        if progress.planned is None:
            planned = self._plan(tenant, progress)
            if planned is None:
                return
            if not progress.batches:
                mark_lake(self._lake.folder, self._settings.format)
            self._check_marker()
            if self._lake.tables_with(query, progress.batches):
                raise StateError(
                    f"the lake in {self._lake.folder} has batch {progress.batches} of {query!r} already: this store is "
                    "an older copy, or another broker writes there by the same name; say another [lake] name"
                )
            progress = planned
            self._write(tenant, progress)
        reach = progress.planned
        assert reach is not None
        self._check_marker()
        there = self._lake.tables_with(query, progress.batches)
        parts = []
        name = f"{query}-{progress.batches:010d}"
        missing = [table for table in TABLES if table not in there]
        for table, day, rows in batch_rows(self._log, tenant, progress, reach, missing, self._settings.keep, query):
            whose = (tenant.name, day_text(day)) if day is not None else ("", "")
            parts.append(write_part(self._lake.folder, table, rows, f"{name}-00000", *whose))
        self._lake.commit(query, progress.batches, parts)
        self._write(tenant, LakeProgress(progress.batches + 1, reach, None, progress.every_event_from))
        self.batches += 1

    def _check_marker(self) -> None:
        """Refuse to write where the lake is gone: a disk that is not mounted is an empty folder."""
        if not is_marked(self._lake.folder):
            raise ArtefactMissing(
                f"the lake in {self._lake.folder} is gone: bring it back, or mount its disk; to begin another one, say "
                "another [lake] name"
            )

    def _plan(self, tenant: Tenant, progress: LakeProgress) -> LakeProgress | None:
        """Plan the next batch; None if there is nothing to write."""
        matched, stored, done = tenant.matched, tenant.stored_number, progress.done
        every, since = self._settings.keep == "all", progress.every_event_from
        entries = done.entries
        if every:
            if since < 0:  # all events from now on; where nothing was kept yet, all there are
                since = entries = matched if progress.batches else 0
            entries = min(matched, entries + MOST)
        reach = LakeOffsets(min(stored, done.deliveries + MOST), entries, max(done.told, matched))
        if (
            reach.deliveries == done.deliveries
            and reach.entries == done.entries
            and not self._has_new_subscriptions(tenant, done)
        ):
            return None
        begun = msgspec.structs.replace(done, entries=max(done.entries, since)) if every else done
        return LakeProgress(progress.batches, begun, reach, since)

    def _has_new_subscriptions(self, tenant: Tenant, done: LakeOffsets) -> bool:
        return any(number > done.told for number in list(tenant.subscriptions))

    def _write(self, tenant: Tenant, progress: LakeProgress) -> None:
        self._log.commit(lambda tables: write_progress(tables, self._settings.name, tenant.number, progress))
        self._progress[tenant.number] = progress
        tenant.lake_position = progress.done.told

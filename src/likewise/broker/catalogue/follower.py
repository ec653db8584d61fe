"""Follow the log and learn the profiles of its sources, on a thread of its own, once a second.

It is handed what is on disk and costs the writer one append to a list. Of very many events a second it looks at a
part, at least at the first of each source; ranges and counts of readings are then those of the events it looked at.
Sources, when they were seen, and how often, come from the same part. A restart goes on from what was saved.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from likewise.broker.catalogue.source_profiles import SourceProfiles, load_profiles, profile_path, save_profiles
from likewise.broker.cpu_gate import cpu_slot
from likewise.broker.log.entries import EVENT, BatchedEvent, Entry, by_tenant
from likewise.broker.log.event_log import EventLog
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import CATALOGUE_SAVE_SECONDS, CATALOGUE_SECONDS, CATALOGUE_WAITING
from likewise.errors import LikewiseError
from likewise.formats.arrow.columns import EventColumns, columns_of, join_columns
from likewise.model import Event
from likewise.model.announcements.announcement import SPEAKER

_log = structlog.get_logger("likewise.catalogue")
EVENTS_PER_LOOK: Final = 2_000  # events of one look
LEARN_BATCH: Final = 50  # of these that are learnt at once: who publishes waits so long for the interpreter
REST_FACTOR: Final = 4  # times as long as it learnt, others have the interpreter
RELEARN_ENTRIES: Final = 100_000  # newest entries that are looked at again after a restart without what was saved
OnEntries = Callable[[Tenant, Sequence[Entry]], None]


class ProfileFollower:
    """Keeps the profiles of each tenant up to date if it `learns`; calls `on_entries` on its thread."""

    def __init__(
        self,
        log: EventLog,
        tenants: Mapping[int, Tenant],
        *,
        data: Path | None,
        learns: bool = True,
        on_entries: OnEntries = lambda tenant, entries: None,
        on_turn: Callable[[], None] = lambda: None,
    ) -> None:
        self.learnt: dict[int, SourceProfiles] = {}
        self.passed_over = 0  # events that were not looked at, since the start
        self.lock = threading.Lock()  # of what was learnt; nothing else is called with it held
        self._log = log
        self._tenants = tenants
        self._data = data if learns else None
        self._learns = learns
        self._trouble: dict[str, str] = {}  # what does not work now, and why
        self._on_entries = on_entries
        self._on_turn = on_turn
        self._positions: dict[int, int] = {}
        self._saved: dict[int, int] = {}
        self._waiting: list[list[Entry]] = []
        self._count = 0
        self._received_position = 0  # the last position that was handed over
        self._looked_position = 0  # ... and that was looked at
        self._learnt_position = 0  # ... and what follows from it is done
        self._wake = threading.Event()
        self._ending = threading.Event()
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._run, name="likewise-catalogue", daemon=True)
        self._next_save = time.monotonic() + CATALOGUE_SAVE_SECONDS

    def start(self) -> None:
        """Take up what was saved, and what came since."""
        for number in list(self._tenants):
            saved = None if self._data is None else load_profiles(profile_path(self._data, number))
            learnt, after = saved or (SourceProfiles(), 0)
            self.learnt[number] = learnt
            self._positions[number] = self._saved[number] = after
        self._received_position = self._looked_position = self._learnt_position = self._log.position
        self._thread.start()

    def take(self, entries: list[Entry]) -> None:
        """Take in new entries that are on disk. Called on the writer's thread, so it only appends to a list."""
        if self._count < CATALOGUE_WAITING:
            self._waiting.append(entries)
            self._count += len(entries)
        else:
            self.passed_over += len(entries)
        self._received_position = entries[-1].position
        self._wake.set()

    def wait_until_learnt(self, timeout: float = 60.0) -> None:
        """Wait until everything handed over so far was looked at; for tests, and for those who want to see it now."""
        target, deadline = self._received_position, time.monotonic() + timeout
        while self._learnt_position < target and self._thread.is_alive() and time.monotonic() < deadline:
            self._hurry.set()
            self._wake.set()
            time.sleep(0.002)

    def stop(self) -> None:
        """Look at what is there, save it, and end."""
        self._ending.set()
        self._hurry.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(10.0)

    # -- its thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        self._run_guarded("learning what came before", self._catch_up)
        while not self._ending.is_set():
            if self._wake.wait(CATALOGUE_SECONDS) and not self._hurry.is_set():
                self._hurry.wait(CATALOGUE_SECONDS)  # so that a look is at many
            self._hurry.clear()
            self._wake.clear()
            self._run_guarded("learning from events", self._learn_pending)
            looked = self._looked_position
            self._run_guarded("what follows from what was learnt", self._on_turn)
            self._learnt_position = looked
            if time.monotonic() >= self._next_save:
                self._run_guarded("saving what was learnt", self._save)
        self._run_guarded("learning from events", self._learn_pending)
        self._run_guarded("saving what was learnt", self._save)

    def _run_guarded(self, what: str, work: Callable[[], None]) -> None:
        """Do something that must not end the thread: what goes wrong is said, and learning goes on."""
        try:
            work()
            self._trouble.pop(what, None)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            if self._trouble.get(what) != reason and not (self._ending.is_set() and isinstance(error, LikewiseError)):
                _log.error("catalogue_task_failed", work=what, exc_info=error)
            self._trouble[what] = reason

    def _learn_pending(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._count = 0
        end = waiting[-1][-1].position if waiting else self._received_position
        for number, tenant_entries in by_tenant([entry for entries in waiting for entry in entries]).items():
            self._learn_entries(number, tenant_entries)
        self._looked_position = max(self._looked_position, end)

    def _learn_entries(self, number: int, entries: Sequence[Entry]) -> None:
        tenant = self._tenants.get(number)
        if tenant is None:
            return
        events = [e for e in entries if e.kind == EVENT and e.source != SPEAKER]
        sampled = _part(events)
        self.passed_over += len(events) - len(sampled)
        if self._learns:
            for first in range(0, len(sampled), LEARN_BATCH):
                begun = time.thread_time()
                self.learn(number, sampled[first : first + LEARN_BATCH])
                self._ending.wait(REST_FACTOR * (time.thread_time() - begun))  # others first
        self._positions[number] = entries[-1].position
        self._on_entries(tenant, entries)

    def learn(self, number: int, entries: Sequence[Entry]) -> None:
        """Look at events of a tenant, in turn with other long work."""
        with cpu_slot():
            columns = join_columns([_columns(list(some)) for _, some in groupby(entries, lambda each: id(each.batch))])
            sources, at = [entry.source for entry in entries], [entry.arrival for entry in entries]
            with self.lock:
                self.learnt.setdefault(number, SourceProfiles()).add(columns, sources, at)

    def _catch_up(self) -> None:
        """Look at what the log holds after what was saved, the newest of it."""
        end = self._learnt_position
        for number, after in list(self._positions.items()) if self._learns else ():
            page: list[Entry] = []
            for entry in self._log.entries(max(after, end - RELEARN_ENTRIES), end, tenant=number):
                if self._ending.is_set():
                    return
                if entry.kind == EVENT and entry.source != SPEAKER:
                    page.append(entry)
                if len(page) >= EVENTS_PER_LOOK // 4:
                    self.learn(number, page)
                    page = []
                    time.sleep(0.001)  # others first
            if page:
                self.learn(number, page)
            self._positions[number] = max(after, end)

    def _save(self) -> None:
        begun = time.monotonic()
        self._next_save = begun + CATALOGUE_SAVE_SECONDS
        if self._data is not None:
            for number, position in list(self._positions.items()):
                if position > self._saved.get(number, 0):
                    save_profiles(
                        profile_path(self._data, number), self.learnt.setdefault(number, SourceProfiles()), position
                    )
                    self._saved[number] = position
        took = time.monotonic() - begun
        self._next_save = time.monotonic() + max(CATALOGUE_SAVE_SECONDS, 200 * took)


def _columns(entries: Sequence[Entry]) -> EventColumns:
    """Return the columns of events: those of their batch, or new ones."""
    batch = entries[0].batch
    if batch is None:
        return columns_of([value for entry in entries if isinstance(value := entry.value, Event)])
    places = np.array([entry.content.place for entry in entries if isinstance(entry.content, BatchedEvent)], np.int64)
    return batch.columns() if len(places) == len(batch) else batch.take(places).columns()


def _part(events: list[Entry]) -> list[Entry]:
    """Return the events to learn from: all, or the first of each source and a sample of the others."""
    if len(events) <= EVENTS_PER_LOOK:
        return events
    every = -(-len(events) // EVENTS_PER_LOOK)
    sources: set[str] = set()
    chosen = []
    for place, entry in enumerate(events):
        if place % every == 0 or entry.source not in sources:
            sources.add(entry.source)
            chosen.append(entry)
    return chosen

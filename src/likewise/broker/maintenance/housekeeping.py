"""Housekeeping between batches of matching: advance time, save windows, remove what expired.

`UptimeRecorder` keeps an outage of the broker from counting as silence of sources: `absent for` counts time in which
something could have been heard. While there are alerts the time is recorded every second. After a crash, or when the
machine slept, the gap goes to every tenant's alerts through the log, so that a replay does the same.
"""

from __future__ import annotations

import heapq
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from likewise.broker.clock import PLAUSIBLE_STEP_US, BelievedClock
from likewise.broker.dispatch.acknowledgements import Acknowledgements
from likewise.broker.dispatch.commit_batch import MATCHING
from likewise.broker.locks import Lock
from likewise.broker.log.deliveries import first_event_after
from likewise.broker.log.entries import (
    Command,
    RemovedEvent,
    ResumeCommand,
    TickCommand,
    UnsubscribeCommand,
    WithdrawCommand,
    command_entry,
)
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.integrity import count_rows
from likewise.broker.log.log_entries import (
    RemovalLimits,
    SweepResult,
    any_ending,
    count_between,
    count_delayed,
    expired,
    sweep,
)
from likewise.broker.log.mqtt.messages import forget_retained
from likewise.broker.log.positions import advance
from likewise.broker.log.registry_tables import remove_subscriptions, replay_windows_from
from likewise.broker.log.tables import StoreTables
from likewise.broker.maintenance.retention import WindowExpiry, unneeded
from likewise.broker.maintenance.scheduler import RetryingTasks
from likewise.broker.maintenance.window_snapshots import remove_older, save_windows
from likewise.broker.retention_clock import DelayedRange, RetentionClock, RetentionTimes
from likewise.broker.tenants.tenant import Tenant
from likewise.broker.tenants.visibility import SourceVisibility
from likewise.defaults import (
    CHECKPOINT_ENTRIES,
    EXPIRED_RETENTION,
    IDLE_ENTRIES,
    SAVE_SECONDS,
    SWEEP_SECONDS,
    TICK_SECONDS,
)

FILE: Final = "up"
TICK: Final = round(TICK_SECONDS * 1_000_000)
PAUSE: Final = 10 * TICK  # µs without a turn that are an outage; less is a busy machine


class UptimeRecorder:
    """Persists the last time the broker was up, and reports gaps to alerts as outages."""

    def __init__(self, data: Path | None, append: Callable[[Tenant, Command], None]) -> None:
        self._path = None if data is None else data / FILE
        self._append = append
        self._last = self._read()
        self._started: int | None = None

    def tick(self, tenants: Iterable[Tenant], now: int) -> None:
        """Persist the time; report a gap since the last call as an outage."""
        watching = [tenant for tenant in tenants if len(tenant.alerts)]
        first, self._started = self._started is None, now if self._started is None else self._started
        if not watching:
            self._last = now
            return
        if self._last is not None and now - self._last > (TICK if first else PAUSE):  # a start is no busy machine
            self._append_outage(watching, now - self._last)
        self._last = now
        if self._path is not None and self._path.parent.is_dir():
            building = self._path.with_suffix(".new")
            building.write_text(str(now), encoding="ascii")
            os.replace(building, self._path)

    def mark_listening(self, tenants: Iterable[Tenant], now: int) -> None:
        """Report the time from the start until now as an outage: events can arrive only from now on."""
        if self._started is not None and now - self._started > TICK:
            self._append_outage([tenant for tenant in tenants if len(tenant.alerts)], now - self._started)

    def _append_outage(self, watching: Iterable[Tenant], outage: int) -> None:
        for tenant in watching:
            self._append(tenant, ResumeCommand(outage))

    def _read(self) -> int | None:
        if self._path is None or not self._path.is_file():
            return None
        text = self._path.read_text(encoding="ascii", errors="replace")
        return int(text) if text.isdecimal() else None


FORGETTING: Final = "forgetting what is over"
FORGET_SECONDS: Final = 60.0  # between two looks whether an epoch of the clock has anything left
NeededFrom = Callable[[StoreTables, Tenant], int | None]


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


class Housekeeping:
    """The broker's periodic tasks; `on_expired` is called with the removed events.

    `beside` says that windows may be saved beside the thread that matches.
    """

    def __init__(
        self,
        log: EventLog,
        tenants: Mapping[int, Tenant],
        acknowledgements: Acknowledgements,
        *,
        data: Path | None,
        clock: BelievedClock,
        retention: RetentionClock,
        lock: Lock,
        on_expired: Callable[[list[RemovedEvent]], None] = lambda events: None,
        needed_from: Iterable[NeededFrom] = (),
        resting: Callable[[Tenant], set[str]] = lambda tenant: set(),
        concurrent: bool = True,
    ) -> None:
        self._log = log
        self._tenants = tenants
        self._acknowledgements = acknowledgements
        self._data = data
        self._clock = clock
        self._retention = retention
        self._epochs_checked_at = 0.0  # when epochs were looked at that may be forgotten
        self._lock = lock  # of the queues
        self._on_expired = on_expired
        self._needed_from = needed_from  # each the first entry of a tenant that somebody else still needs
        self._window_ends = WindowExpiry(log, self._take_out)
        self.tasks = RetryingTasks()
        self._saving = WindowCheckpoints(log, data, clock, self.tasks, concurrent=concurrent)
        self._checked = self._swept = time.monotonic()
        self._stopped = False
        self._uptime = UptimeRecorder(data, self._append)
        self.reach = SourceVisibility(self._append, resting)

    def stop(self) -> None:
        """Let further turns do nothing: the broker is stopping."""
        self._stopped = self.tasks.stopping = True

    def turn(self) -> None:
        """Run the tasks that are due, on the matching thread: advance time, save windows, remove what expired.

        What fails of it, as on a full disk, is tried again; matching goes on (`upkeep.chores`).
        """
        if self._stopped:
            return
        now = time.monotonic()
        if now - self._checked >= TICK_SECONDS:
            self._checked = now
            self.tasks.do("noting that the broker is up", self.note_up)
            self.tasks.do("noting the time", self._retention.note)
            for tenant in list(self._tenants.values()):
                self.tasks.do(
                    f"looking who can be heard in {tenant.name!r}", partial(self.reach.update_absence, tenant)
                )
                self.tasks.do(f"moving the time of {tenant.name!r}", partial(self._move_time, tenant))
                self._saving.start(tenant)
        if now - self._swept >= (TICK_SECONDS if FORGETTING in self.tasks.troubles else SWEEP_SECONDS):
            self._swept = now
            self.tasks.do(FORGETTING, self.sweep)

    @property
    def tick_lag_s(self) -> float:
        """Return the seconds since the last tick, which moves the time of alerts and windows; about one is normal."""
        last = self._checked  # read first: a tick meanwhile would make it negative
        return time.monotonic() - last

    def note_up(self) -> None:
        """Write down that the broker is up; where it was not for a while, alerts are told."""
        self._uptime.tick(list(self._tenants.values()), self._clock())

    def note_listening(self) -> None:
        """Record that events can arrive from now on, and report the time since the start as an outage."""
        self._uptime.mark_listening(list(self._tenants.values()), self._clock())

    def _move_time(self, tenant: Tenant) -> None:
        """Let time pass for windows that follow the arrival of events, while they can hold any.

        Where events carry their own time, that alone moves the windows.
        """
        now, ended = self._clock(), self._retention()
        if self._needs_tick(tenant, now):
            self._append(tenant, TickCommand())  # before validity ends: what was due until then is sent
        for stored in list(tenant.ending.values()):
            if stored.ends is not None and stored.ends <= ended:
                subscriber = tenant.by_number[stored.subscriber].id
                self._append(tenant, UnsubscribeCommand(subscriber, stored.id))

    def _needs_tick(self, tenant: Tenant, now: int) -> bool:
        """Return whether time moves something; windows are moved once after the last event that they can hold is over.

        After the clock was set back, time would stand still until something comes: a tick sets back what alerts and
        windows wait for, too (`Tenant.window_time`). A step in doubt may be taken back, so it is no reason for one.
        """
        went_back = now < tenant.newest_arrival - PLAUSIBLE_STEP_US and self._clock.doubt is None
        if len(tenant.alerts) and (due := tenant.alerts.next_due()) is not None and (went_back or due <= now):
            return True
        if tenant.windows_from is None or not tenant.follows_arrival:
            return False
        over = tenant.last_arrival + tenant.window_length
        if tenant.window_length and (went_back or tenant.ticked <= over):
            tenant.ticked = now
            return True
        return False

    def _append(self, tenant: Tenant, command: Command) -> None:
        """Append a command of our own; one that comes too late for this run of the broker is made again by the next."""
        self._log.append([command_entry(tenant.number, command)], lambda result: None)

    def _take_out(self, tenant: Tenant, position: int) -> None:
        """Withdraw an event that is over; if that cannot be written, as on a full disk, it is tried again."""

        def written(result: object) -> None:
            if isinstance(result, BaseException):
                self._window_ends.look_again(tenant)

        self._log.append([command_entry(tenant.number, WithdrawCommand(position))], written)

    def save_windows(self) -> None:
        """Save every tenant's windows as they are."""
        for tenant in list(self._tenants.values()):
            self._saving.save(tenant)

    def sweep(self) -> SweepResult:
        """Forget what is over now."""
        tenants, times = [each for each in self._tenants.values() if not each.saving], self._retention.times()
        self._review(times)
        for tenant in tenants:
            self._window_ends.look(tenant, times)
        chosen = [self._choose(tenant, times) for tenant in tenants]
        swept = self._log.commit(lambda tables: self._sweep(tables, tenants, chosen, times))
        expired: dict[int, list[int]] = {}
        for number, delivery, _ in swept.deliveries:
            expired.setdefault(number, []).append(delivery)
        with self._lock:
            for number, delivery, recipients in swept.deliveries:
                tenant = self._tenants[number]
                tenant.evict_delivery(delivery)
                for recipient in recipients:
                    if (queue := tenant.by_number.get(recipient)) is not None:
                        queue.pending.discard(delivery)
            for number, deliveries in expired.items():
                self._tenants[number].sinks.expire(deliveries)
            for event in swept.events:
                self._tenants[event.tenant].withdrawn.discard(event.position)
                self._tenants[event.tenant].retained.forget(event.position)
            for tenant in tenants:
                tenant.retained.end(times.oldest)
            idle = [
                (t.stored_number, queue.number)
                for t in tenants
                for queue in t.subscribers.values()
                if not queue.pending and queue.acknowledged < t.stored_number and queue.acknowledge(t.stored_number)
            ]
            ended = [self._forget_ended(t) for t in tenants]
        self._on_expired(swept.events)
        forgotten = [number for numbers in ended for number in numbers]
        if forgotten:
            self._log.commit(lambda tables: remove_subscriptions(tables, forgotten))
        for stored, subscriber in idle:  # so that a restart need not look at what is long settled
            self._acknowledgements.note(subscriber, stored)
        return swept

    def clock_changed(self) -> None:
        """Look at all that is over once more: the clock stepped, or was accepted. From any thread."""
        for tenant in list(self._tenants.values()):
            self._window_ends.look_again(tenant)

    def _review(self, times: RetentionTimes) -> None:
        """Count what the clock would remove that was stored before its last steps, and decide whether all of it stays.

        It stays, read or not, for an hour if that is more than half of a tenant's events.
        """
        spans, retention = times.spans(), self._retention
        if not retention.has_epochs:
            retention.delayed_events = 0
            return
        delayed, doubtful, undecided = 0, False, retention.doubtful is None
        with self._log.reading() as tables:
            for tenant in list(self._tenants.values()):
                count = count_delayed(tables, tenant.number, times.now, spans)
                delayed += count
                if count and undecided:
                    doubtful = doubtful or 2 * count > count_rows(tables, "log", tenant.number, events=True)
            retention.delayed_events = delayed
            if undecided:  # once for each step: if it is less, what everybody has read may go
                retention.doubtful = doubtful
            if time.monotonic() - self._epochs_checked_at > FORGET_SECONDS:
                self._epochs_checked_at = time.monotonic()
                retention.forget(lambda span: not any_ending(tables, span.after, span.upto))

    def _first_unread(self, tables: StoreTables, tenant: Tenant) -> int | None:
        """Return the first position among the events of deliveries that a subscriber has not acknowledged."""
        with self._lock:
            pending = [queue.pending for queue in tenant.subscribers.values()]
            pending += [feed.pending for feed in tenant.sinks]
            numbers = [each.min() for each in pending if each]
        return first_event_after(tables, tenant.number, min(numbers) - 1) if numbers else None

    def _spans(self, tables: StoreTables, tenant: Tenant, times: RetentionTimes) -> list[DelayedRange]:
        """Return the ranges with delayed expiry: all from before a step, or those from the first unread event on."""
        if not (spans := times.spans()) or self._retention.removes_nothing:
            return spans
        first = self._first_unread(tables, tenant)
        return [] if first is None else times.spans(first)

    def _choose(self, tenant: Tenant, times: RetentionTimes) -> tuple[RemovalLimits, list[int]]:
        """Return the removable events of a tenant: unneeded and expired.

        What is over and stands in a window that time does not take it out of is withdrawn from it first
        (`upkeep.window_ends`), by the log, so that a replay does the same; a later turn removes it.
        """
        now = times.now
        limits = unneeded(tenant, now, replayed=self._data is not None)
        with self._log.reading() as tables:
            needed = [first for each in self._needed_from if (first := each(tables, tenant)) is not None]
            limits = limits._replace(before=min(limits.before, *needed) if needed else limits.before)
            positions = expired(tables, limits, now, self._spans(tables, tenant, times))
        if not positions or not tenant.stateful:
            return limits, positions
        with tenant.matchers:
            in_use = tenant.windows.needed(positions) | tenant.alerts.needed(positions)
        return limits, [position for position in positions if position not in in_use]

    def _sweep(
        self,
        tables: StoreTables,
        tenants: list[Tenant],
        chosen: list[tuple[RemovalLimits, list[int]]],
        times: RetentionTimes,
    ) -> SweepResult:
        """Remove the chosen events; advance tenants that have nothing to match. On the writer's thread."""
        end = self._log.position
        idle = [t for t in tenants if t.caught_up and end - t.matched >= IDLE_ENTRIES]
        for tenant in idle:  # so that a restart need not look for what they have after their last entry
            tenant.matched = end
        advance(tables, MATCHING, {tenant.number: end for tenant in idle})
        if any(tenant.retained for tenant in tenants):
            forget_retained(tables, times.oldest)
        return sweep(tables, chosen, times.now)

    def _forget_ended(self, tenant: Tenant) -> list[int]:
        """Let go of ended subscriptions that no delivery under way, no replay and no feedback can name any more.

        The newest stay, so that one can see what was asked for when an event came (`asking.traces`).
        """
        judged = len(tenant.stateless.interpretation.feedback) > 0
        replayed_from = tenant.matched + 1
        if self._data is not None and tenant.windows_from is not None:  # what is in memory alone is never replayed
            replayed_from = tenant.windows_from
        forgotten = []
        named = [number for number in tenant.ended if tenant.subscriptions[number].subscriber in tenant.by_number]
        newest = heapq.nlargest(EXPIRED_RETENTION, named, key=lambda number: tenant.subscriptions[number].ended or 0)
        for number in tenant.ended.difference(newest):
            stored = tenant.subscriptions[number]
            queue = tenant.by_number.get(stored.subscriber)
            unregistered = queue is None or queue.unregistered
            if tenant.sinks.wait_for(number) or (tenant.lake_position is not None and number > tenant.lake_position):
                continue
            if (stored.ended or 0) < replayed_from and (
                unregistered or (not judged and queue is not None and not queue.pending)
            ):
                forgotten.append(number)
                tenant.ended.discard(number)
                tenant.selecting.discard(number)
                del tenant.subscriptions[number]
                tenant.sinks.forget(number)
        return forgotten

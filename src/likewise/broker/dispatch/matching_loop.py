"""The matching loop: the first follower of the log. It stores matches and wakes the streams.

It goes round the tenants that have something to match, by deficit of processor time (`delivering.turns`), so that one's
backlog does not hold up another's. Within a tenant everything happens in the order of its log. What a round led to is
stored together with the positions it has come to, in one commit: a crash before it repeats the round, after it nothing.
Where a tenant has nothing waiting, the writer matches simple events itself (`delivering.match_before_commit`).
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count as count_from

import structlog

from likewise.backoff import backoff_s
from likewise.broker.cpu_gate import cpu_slot
from likewise.broker.dispatch.commands import CommandExecutor
from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.dispatch.commit_writer import BatchCommit, Stored, notify_applied
from likewise.broker.dispatch.initial_matches import FOLLOWER, InitialMatches
from likewise.broker.dispatch.match_events import match_events
from likewise.broker.dispatch.tenant_queue import TenantQueue
from likewise.broker.locks import Lock
from likewise.broker.log.commits import wait_for
from likewise.broker.log.deliveries import matched_subscriptions, recipients_of
from likewise.broker.log.entries import (
    EVENT,
    Entry,
    JudgeCommand,
    RemoteDecision,
    SubscribeCommand,
    SubscribeTopicCommand,
    UnregisterCommand,
)
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.log_entries import count_between, find_identity
from likewise.broker.log.positions import read_every_position
from likewise.broker.log.registry_tables import read_judgements
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.defaults import (
    BATCH_STOP_SECONDS,
    FINISHING_SECONDS,
    MATCH_ENTRIES,
    QUANTUM_SECONDS,
    RELAXED_EVENTS_PER_CHECK,
    ROUND_SECONDS,
    SAVING_SECONDS,
)
from likewise.errors import Unavailable

_log = structlog.get_logger("likewise.matching")
TAKEN_TOGETHER = (SubscribeCommand, RemoteDecision)  # commands of which neighbours are applied together
BUSY_SECONDS = 0.0005  # before matchers that a question uses are looked at again
# Pauses between attempts to store deliveries: the first and the longest.
STORE_RETRY_SECONDS = (
    0.05,
    2.0,
)


class MatchingLoop:
    """Follows the log from each tenant's `matched` position.

    `on_stored` is told which queues have something new; `on_quiet` is called between rounds, `on_end` after the last
    one, both on the worker's thread.
    """

    def __init__(
        self,
        log: EventLog,
        tenants: Mapping[int, Tenant],
        *,
        clock: Callable[[], int],
        lock: Lock,
        on_stored: Stored,
        on_quiet: Callable[[], None] = lambda: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.failure: BaseException | None = None
        self.hurried = threading.Event()  # set: the turn under way is the last one
        self._log = log
        self._tenants = tenants
        self._clock = clock
        self._lock = lock  # of the queues, which streams and acknowledgements use too
        self._on_stored = on_stored
        self._on_quiet = on_quiet
        self._on_end = on_end
        self._commands = CommandExecutor(self._find, self._recipients_of, self._feedback_of, self._find_matched)
        self._at_hand: dict[int, Entry] = {}
        self._queue = TenantQueue(log)
        self._earlier: dict[int, InitialMatches] = {}  # of tenants whose new subscriptions are not held yet
        self._passes: tuple[InitialMatches, ...] = ()  # for subscriptions that are held, beside what comes
        self._under_way: list[Entry] = []
        self._inbox: queue.SimpleQueue[list[Entry] | None] = queue.SimpleQueue()
        self._stopping = False
        self._ending = threading.Event()  # set: nothing is matched any more
        self._abandoned = False  # nobody waits for the thread any more
        self._thread = threading.Thread(target=self._run, name="likewise-matching", daemon=True)

    @property
    def position(self) -> int:
        """Return the position up to which everything is matched and stored, passes over stored events included."""
        end = self._log.position  # read first: what comes meanwhile counts as waiting
        unfinished = [t.matched for t in list(self._tenants.values()) if not t.caught_up]
        return min(unfinished + [each.first - 1 for each in self._passes], default=end)

    def start(self) -> None:
        """Begin, with what the log holds."""
        for tenant in self._tenants.values():
            if not tenant.caught_up:
                self._queue.begin(tenant)
                with self._log.reading() as tables:
                    tenant.enqueued = count_between(tables, tenant.number, tenant.matched, tenant.appended)
        with self._log.reading() as tables:
            unfinished = [each for each in read_every_position(tables) if each[0].startswith(FOLLOWER)]
        for follower, number, position in unfinished:
            tenant = self._tenants[number]
            self._passes += (InitialMatches.resume(self._log, tenant, follower, position),)
            tenant.initial_passes += 1
        self._thread.start()

    def take(self, entries: list[Entry]) -> None:
        """Take in new entries that are on disk; skip those matched with their commit. On the writer's thread."""
        left = []
        for entry in entries:
            tenant = self._tenants[entry.tenant]
            tenant.appended = entry.position
            if entry.position > tenant.matched:
                left.append(entry)
                tenant.enqueued += 1
        if left:
            self._inbox.put(left)

    def stop(self) -> bool:
        """Finish what was handed in for a while, else the turn under way; whether the thread has ended.

        Once matching is at its end, there is time for `on_end`.
        """
        self._inbox.put(None)
        self._thread.join(FINISHING_SECONDS)
        if self._thread.is_alive():
            self.hurried.set()
            self._thread.join(BATCH_STOP_SECONDS)
        if self._ending.is_set():
            self._thread.join(SAVING_SECONDS)
        self._abandoned = self._thread.is_alive()
        return not self._abandoned

    # -- following ------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._begin()
            while not self.hurried.is_set() and self._receive_pending():
                if self._busy():
                    self._round()
                if self._passes:
                    self._advance_pass()
                self._idle()
            whole = self._finish()
        except BaseException as error:  # said by readiness, and to everyone who waits
            if self._abandoned:
                return  # the store is closed, and nobody waits
            if isinstance(error, Unavailable) and self.hurried.is_set():  # as on a full disk: nothing is wrong here
                self.failure = error
                _log.warning(
                    "deliveries_not_stored_at_stop",
                    reason=str(error),
                )
            else:
                self.fail(error)
            self._refuse_the_rest(error)
            return
        self._leave_the_rest()
        self._ending.set()
        try:
            if not self._abandoned and whole:
                self._on_end()
        except (Unavailable, OSError) as error:
            _log.warning("windows_not_saved", reason=str(error))
        except Exception:
            _log.exception("windows_not_saved")

    def _begin(self) -> None:
        """Prepare the thread before anything is matched."""

    def _busy(self) -> bool:
        """Return whether there is anything to do."""
        return bool(self._queue)

    def _idle(self) -> None:
        """Run housekeeping between two rounds."""
        self._on_quiet()

    def _finish(self) -> bool:
        """Finish after the last round; return whether windows are where the log was matched to."""
        return True

    def fail(self, error: BaseException) -> None:
        """Stop matching for good: readiness says so, and whatever comes is refused."""
        self.failure = error
        _log.error("matching_stopped", exc_info=error)

    def _receive_pending(self) -> bool:
        """Take in what was handed over, waiting for it if there is nothing to do; whether to go on."""
        if not (self._busy() or self._passes or self._stopping):
            with suppress(queue.Empty):
                self._receive(self._inbox.get(timeout=0.25))
        self._take_in()
        if self.failure is not None:
            raise self.failure  # of what was matched before its commit
        return self._busy() or not self._stopping

    def _take_in(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._receive(self._inbox.get_nowait())

    def _receive(self, entries: list[Entry] | None) -> None:
        if entries is None:
            self._stopping = True
        else:
            self._queue.push(entries)

    def _round(self) -> None:
        """Go round the tenants for `ROUND_SECONDS` or `MATCH_ENTRIES`, and store what that led to.

        It is stored sooner where a tenant has nothing left and all the others have had their turn: so nobody's few
        events wait for somebody's many.
        """
        outcome, count, end = CommitBatch(), 0, time.thread_time() + ROUND_SECONDS
        served: set[int] = set()
        while self._queue and count < MATCH_ENTRIES and time.thread_time() < end and not self.hurried.is_set():
            with self._queue.turn(MATCH_ENTRIES - count) as (number, entries, left):
                tenant = self._tenants[number]
                self._under_way += entries
                if not tenant.saving and tenant.matchers.acquire(blocking=False):
                    tenant.matchers.release()
                    outcome = self._match(tenant, entries, left, outcome)
                else:  # a question uses them, or they are saved: this tenant's own, and nobody else waits for it
                    left += entries
                    time.sleep(BUSY_SECONDS)
                del self._under_way[len(self._under_way) - len(left) :]
                tenant.dequeued += len(entries) - len(left)
            tenant.pace = self._queue.pace(number)
            count += len(entries) - len(left)
            served.add(number)
            self._take_in()
            if len(left) == len(entries) or self._queue.tenants() < served:
                break
        self._store(outcome)
        self._under_way = []

    def _match(self, tenant: Tenant, entries: list[Entry], left: list[Entry], outcome: CommitBatch) -> CommitBatch:
        """Match entries of a tenant, except those it leaves for a later turn; the outcome to go on with.

        New subscriptions come after a commit: what came before must be stored, so that they are not given what their
        subscriber has had. Their earlier events take as many turns as it needs; what comes after them waits so long.
        The end of a subscriber comes after a commit, too: all that it said is to be forgotten. So does a subscription
        to topics, which may look for retained messages, and what a broker above decided, which looks at what was
        delivered.
        """
        self._at_hand = {entry.position: entry for entry in entries if entry.kind == EVENT}
        passed = 0
        for run in _runs(entries):
            if isinstance(run[0].value, SubscribeCommand):
                if outcome.deliveries:
                    self._store(outcome)
                    outcome = CommitBatch()
                earlier = self._earlier.get(tenant.number) or InitialMatches.of(self._log, tenant, run)
                with cpu_slot():
                    over = earlier.advance(QUANTUM_SECONDS)
                if not over and earlier.alerts is None:
                    self._detach(tenant, run, earlier, outcome)
                    passed += len(run)
                    outcome.positions[tenant] = run[-1].position
                    continue
                if not over:
                    self._earlier[tenant.number] = earlier
                    left += entries[passed:]
                    return outcome
                self._earlier.pop(tenant.number, None)
                covered = [entry for entry in run if entry.position <= earlier.last]
                self._add_subscriptions(tenant, covered, earlier, outcome)
                if len(covered) < len(run):  # more came meanwhile, which the pass was not for
                    outcome.positions[tenant] = covered[-1].position
                    left += entries[passed + len(covered) :]
                    return outcome
            elif run[0].kind == EVENT:
                outcome.arrival = outcome.arrival or run[0].arrival
                done = self._match_events(tenant, run, outcome)
                if done < len(run):
                    outcome.positions[tenant] = run[done - 1].position
                    left += entries[passed + done :]
                    return outcome
            else:
                if outcome and isinstance(run[0].value, (UnregisterCommand, SubscribeTopicCommand, RemoteDecision)):
                    self._store(outcome)
                    outcome = CommitBatch()
                with tenant.matchers, cpu_slot():
                    self._apply(tenant, run, outcome)
            passed += len(run)
            outcome.positions[tenant] = run[-1].position
        return outcome

    def _match_events(self, tenant: Tenant, run: list[Entry], outcome: CommitBatch) -> int:
        """Match events until the turn is over, at least one; how many it were.

        What an exact subscription costs is known from the events before. New words cost a thousand times what known
        ones do, and nobody sees them coming: where words are asked for, few events are matched between two looks.
        """
        known = tenant.stateless.kinds <= {"exact"} and not tenant.stateful
        done, size, end = 0, len(run) if known else 1, time.thread_time() + QUANTUM_SECONDS
        while done < len(run) and (not done or time.thread_time() < end):
            begun, part = time.thread_time(), run[done : done + size]
            with tenant.matchers, cpu_slot():
                match_events(tenant, part, outcome, self._find)
            done += len(part)
            size = min(2 * size, RELAXED_EVENTS_PER_CHECK) if time.thread_time() - begun < QUANTUM_SECONDS / 4 else 1
        return done

    def _apply(self, tenant: Tenant, run: list[Entry], outcome: CommitBatch) -> list[object]:
        results = [self._commands.apply(tenant, entry, outcome) for entry in run]
        outcome.results += zip(run, results, strict=True)
        return results

    def _add_subscriptions(
        self, tenant: Tenant, run: list[Entry], earlier: InitialMatches, outcome: CommitBatch
    ) -> None:
        """Hold new subscriptions, and send what the pass over earlier events has found for them."""
        with tenant.matchers, cpu_slot():
            results = self._apply(tenant, run, outcome)
            added = {each.number for each in results if isinstance(each, StoredSubscription) and each.ended is None}
            outcome.absorb(earlier.without({entry.position for entry in run} - added))
            if earlier.alerts is not None:
                tenant.alerts.adopt(earlier.alerts)
                tenant.newest_arrival = max(tenant.newest_arrival, earlier.newest or 0)
                tenant.unsaved = True  # a replay might find fewer of these events

    def _detach(self, tenant: Tenant, run: list[Entry], earlier: InitialMatches, outcome: CommitBatch) -> None:
        """Hold new subscriptions, and let their pass over earlier events go on beside what comes."""
        before = len(outcome.results)
        with tenant.matchers, cpu_slot():
            self._apply(tenant, run, outcome)
        results = outcome.results[before:]
        held = {each.number for _, each in results if isinstance(each, StoredSubscription) and each.ended is None}
        earlier.waiting = [(entry, result) for entry, result in results if entry.position in held]
        outcome.results[before:] = [each for each in results if each[0].position not in held]
        earlier.detach(outcome, {entry.position for entry in run} - held)
        self._passes += (earlier,)

    def _advance_pass(self) -> None:
        """Go on with one of the passes over earlier events, for a moment, and store what that led to."""
        earlier = self._passes[0]
        self._passes = (*self._passes[1:], earlier)
        with cpu_slot():
            over = earlier.step(QUANTUM_SECONDS)
        self._store(earlier.outcome)
        if over:
            earlier.tenant.initial_passes -= 1
            self._passes = tuple(each for each in self._passes if each is not earlier)

    def _find(self, position: int) -> Entry | None:
        entry = self._at_hand.get(position)
        return entry if entry is not None else next(self._log.entries(position - 1, position), None)

    def _recipients_of(self, tenant: int, event: int) -> set[int]:
        with self._log.reading() as tables:
            return recipients_of(tables, tenant, event)

    def _find_matched(self, tenant: int, source: str, id: str) -> tuple[Entry, set[int]] | None:
        with self._log.reading() as tables:
            names = self._tenants[tenant].sources.identities.names_of(source)
            candidates = (
                find_identity(tables, tenant, id, name) for name in sorted(names, key=lambda name: name != source)
            )
            entry = next((each for each in candidates if each is not None), None)
            return None if entry is None else (entry, matched_subscriptions(tables, tenant, entry.position))

    def _feedback_of(self, tenant: int, subscriber: str) -> dict[int, JudgeCommand]:
        with self._log.reading() as tables:
            return {at: command for at, command in read_judgements(tables, tenant) if command.subscriber == subscriber}

    # -- storing --------------------------------------------------------------------------------

    def _store(self, outcome: CommitBatch) -> None:
        """Store an outcome, again and again while there is no room for it."""
        if not outcome:
            return
        outcome.apply_policies(self._clock())
        for failures in count_from(1):
            try:
                wait_for(
                    lambda done: self._log.submit(BatchCommit(outcome, self._lock, self._on_stored, self, done=done))
                )
                return
            except Unavailable:
                if self._abandoned or self.hurried.is_set():
                    raise
                _log.warning("deliveries_not_stored", tenants=len(outcome.positions))
                time.sleep(backoff_s(failures, *STORE_RETRY_SECONDS))

    def commit_of(self, outcome: CommitBatch, dealt: dict[Tenant, int]) -> BatchCommit:
        """Return the commit of entries that were matched before it; the matchers of those tenants are locked."""
        return BatchCommit(outcome, self._lock, self._on_stored, self, foreseen=dealt)

    # -- ending ---------------------------------------------------------------------------------

    def _refuse_the_rest(self, error: BaseException) -> None:
        """Tell everyone who waits, and everyone who comes, until the broker is closed."""
        refused = Unavailable(f"matching has stopped: {error}; look at the broker's log and restart it")
        self._refuse(refused)
        while not self._stopping:
            self._receive(self._inbox.get())
            self._refuse(refused)

    def _leave_the_rest(self) -> None:
        """Tell whoever waits for something that the next start does."""
        self._take_in()
        self._refuse(Unavailable("the broker is stopping; this is in the log, and the next start does it"))

    def _refuse(self, refused: Unavailable) -> None:
        for entry in self._under_way:
            notify_applied(entry, refused)
        self._under_way = []
        for earlier in self._passes:
            for entry, _ in earlier.waiting:
                notify_applied(entry, refused)
        self._queue.refuse(refused)


def _runs(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Split entries into runs that can be handled together: events, new subscriptions, or one other command."""
    run: list[Entry] = []
    for entry in entries:
        if run and not _together(run[-1], entry):
            yield run
            run = []
        run.append(entry)
    if run:
        yield run


def _together(a: Entry, b: Entry) -> bool:
    if a.kind != b.kind:
        return False
    return a.kind == EVENT or any(isinstance(a.value, kind) and isinstance(b.value, kind) for kind in TAKEN_TOGETHER)

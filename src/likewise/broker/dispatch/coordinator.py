"""Matching by workers: the matching thread cuts the log into stretches, sends them out, and stores what comes back.

A few stretches are under way at once, so that workers match while an outcome is being stored. Outcomes are taken in the
order in which their stretches were sent, so each tenant's is the order of its log, and are stored with how far matching
has come in the same commit. Commands wait until everything of their tenant before them is gathered: so subscriptions,
judgements and time change between two stretches, for all workers at once.

What a stretch of events came back with from the workers, made into deliveries as if it had been matched here.
"""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import structlog

from likewise.broker.clock import PLAUSIBLE_STEP_US
from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.dispatch.commit_writer import Stored
from likewise.broker.dispatch.match_events import FindEntry, add_dead_letter, send_notifications, send_promotions
from likewise.broker.dispatch.matching_loop import BUSY_SECONDS, MatchingLoop
from likewise.broker.dispatch.topic_deliveries import deliver_topics
from likewise.broker.locks import Lock
from likewise.broker.log.deliveries import ARRIVAL, Delivery
from likewise.broker.log.entries import EVENT, Entry
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.packed_sets import pack_scores
from likewise.broker.pool.autoscaling import Autoscaler
from likewise.broker.pool.batch_job import EventJob
from likewise.broker.pool.protocol import BatchMatches
from likewise.broker.pool.sharded_matcher import ShardedMatcher
from likewise.broker.pool.topology import FlatTopology
from likewise.broker.tenants.match_guarded import effective_time, event_time
from likewise.broker.tenants.matched_events import BatchMatchIndex
from likewise.broker.tenants.numbered_matcher import NumberedMatch
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import BATCH_STOP_SECONDS, MATCH_ENTRIES, TICK_SECONDS
from likewise.errors import StateError


def deliver_worker_results(stretch: EventJob, outcome: CommitBatch, find: FindEntry) -> None:
    """Send what a stretch led to, in the order of the log; whoever calls this holds the tenant's matchers."""
    tenant, entries = stretch.tenant, stretch.entries
    alone = None if len(tenant.windows) else stretch.sole_reply
    if alone is not None:
        stretch.failed.update(alone.failed)
        tenant.record_matches(len(entries), len(alone.numbers) // 8)
        _deliver_packed(tenant, entries, alone, outcome)
        plain = None
    elif (plain := stretch.matched()) is not None:
        tenant.record_matches(len(entries), len(plain.index))
    windows, alerts = stretch.state_changes()
    for place, why in sorted({**stretch.failed_moves, **stretch.failed}.items()):
        add_dead_letter(tenant, entries[place], StateError(why), outcome)
    if not len(tenant.windows):
        if plain is not None:
            outcome.deliver_all(tenant, entries, plain)
        for said in alerts:
            if said:
                send_notifications(tenant, said, outcome, find)
    else:
        for place, entry in enumerate(entries):
            _deliver_one(tenant, entry, place, plain, windows[place], outcome, find)
            if alerts[place]:
                send_notifications(tenant, alerts[place], outcome, find)
    if tenant.topics:
        deliver_topics(tenant, entries, outcome)
    tenant.last_arrival = entries[-1].arrival
    tenant.follows_arrival = event_time(entries[-1]) is None
    tenant.events += len(entries)


def _deliver_one(
    tenant: Tenant,
    entry: Entry,
    place: int,
    plain: BatchMatchIndex | None,
    found: list[NumberedMatch],
    outcome: CommitBatch,
    find: FindEntry,
) -> None:
    """One event for those whose windows it enters, and those it met otherwise; then what it promotes."""
    arrived = [(each.number, each.score) for each in found if not each.promoted]
    if plain is not None and place in plain:
        arrived += zip(*plain.listed(place), strict=True)
    if arrived and (entry.ends is None or entry.ends > entry.arrival):
        arrived.sort()
        numbers = np.array([number for number, _ in arrived], np.int64)
        scores = pack_scores(np.array([score for _, score in arrived], np.float32))
        outcome.deliver(tenant, entry.position, ARRIVAL, numbers, scores, entry)
    if promoted := [each for each in found if each.promoted]:
        send_promotions(tenant, promoted, outcome, find)


def _deliver_packed(tenant: Tenant, entries: Sequence[Entry], met: BatchMatches, outcome: CommitBatch) -> None:
    """Send what one worker found, as it packed it: nothing here grows with the matches."""
    given = np.frombuffer(met.given, "<i4").tolist()
    if not given:
        return
    starts = np.concatenate([[0], np.cumsum(np.frombuffer(met.counts, "<i4"))]).tolist()
    reach = np.concatenate([[0], np.cumsum(np.frombuffer(met.reach, "<i4"))]).tolist()
    numbers, recipients = np.frombuffer(met.numbers, "<i8"), np.frombuffer(met.recipients, "<i8")
    scores = np.frombuffer(met.scores, "<f4") if met.scores else None
    sent = np.zeros(len(entries), np.uint64)
    made = []
    for place, packed in zip(given, met.packed, strict=True):
        entry, a, b = entries[place], starts[place], starts[place + 1]
        sent[place] = tenant.next_number
        made.append(
            Delivery(
                tenant.next_number,
                entry.position,
                ARRIVAL,
                recipients[reach[place] : reach[place + 1]],
                numbers[a:b],
                b"" if scores is None else pack_scores(scores[a:b]),
                entry.body,
                entry.ends,
                message=entry.message,
                packed=packed,
            )
        )
        tenant.next_number += 1
    events = np.frombuffer(met.events, "<i4")
    offers: dict[int, array[int]] = {}
    for owner, a, b in zip(met.owners, met.cuts, met.cuts[1:], strict=False):
        offers[owner] = array("Q", sent[events[a:b]].tobytes())
    outcome.add_numbered(tenant, made, offers)


_log = structlog.get_logger("likewise.matching")
LONGEST: Final = 256  # events of a stretch
SHORTEST: Final = 16  # ... where there are more
AHEAD: Final = 3  # stretches under way for each worker


class BatchTiming(NamedTuple):
    """When a stretch was gathered, the seconds since the one before was, and since it was sent out itself."""

    at: float
    gap: float
    took: float


class PoolCoordinator(MatchingLoop):
    """A matching thread whose tenants' subscriptions stand at workers; `elastic` says how many of those there are."""

    def __init__(
        self,
        log: EventLog,
        tenants: Mapping[int, Tenant],
        staff: FlatTopology,
        elastic: Autoscaler,
        *,
        clock: Callable[[], int],
        lock: Lock,
        on_stored: Stored,
        on_quiet: Callable[[], None] = lambda: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(log, tenants, clock=clock, lock=lock, on_stored=on_stored, on_quiet=on_quiet, on_end=on_end)
        self._topology = staff
        self._pool = staff.pool
        self._elastic = elastic
        self._in_flight: deque[EventJob] = deque()
        self._last_idle = self._gathered = time.monotonic()
        self.batches = 0  # that were gathered
        self.gaps: deque[BatchTiming] = deque(maxlen=10_000)

    # -- following ------------------------------------------------------------------------------

    def _busy(self) -> bool:
        return bool(self._queue) or bool(self._in_flight)

    def _begin(self) -> None:
        import threading

        self._pool.owner_thread = threading.get_ident()

    def _idle(self) -> None:
        """Between rounds: what looks at windows as of a position does so when nothing is under way."""
        self._pool.supervise()
        if self._in_flight and time.monotonic() - self._last_idle < TICK_SECONDS:
            return
        self._drain()
        self._last_idle = time.monotonic()
        self._elastic.turn(list(self._tenants.values()))
        self._on_quiet()

    def _finish(self) -> bool:
        """Gather and store what is under way, for a while; whether windows are where the log was matched to."""
        end = time.monotonic() + BATCH_STOP_SECONDS
        while self._in_flight and not self._in_flight[0].poll() and time.monotonic() < end:
            self._pool.supervise()
            time.sleep(0.005)
        if self._in_flight and not self._in_flight[-1].poll():
            return False
        self._drain()
        return True

    def _round(self) -> None:
        """Send out what waits, as far as workers are free; then gather what is answered, at least one, and store it."""
        outcome = self._send_out(CommitBatch())
        gathered = 0
        while self._in_flight and (not gathered or (self._in_flight[0].poll() and gathered < MATCH_ENTRIES)):
            gathered += self._gather(outcome)
        self._store(outcome)
        self._under_way = []

    def _send_out(self, outcome: CommitBatch) -> CommitBatch:
        room = max(2, AHEAD * len(self._pool.workers))
        stuck: set[int] = set()
        while (
            self._queue
            and len(self._in_flight) < room
            and not self.hurried.is_set()
            and not self._queue.tenants() <= stuck
        ):
            with self._queue.turn(MATCH_ENTRIES) as (number, entries, left):
                tenant = self._tenants[number]
                taken, outcome = self._serve(tenant, entries, room, outcome)
                left += entries[taken:]
                if taken < len(entries):
                    stuck.add(number)
            self._take_in()
        return outcome

    def _serve(self, tenant: Tenant, entries: list[Entry], room: int, outcome: CommitBatch) -> tuple[int, CommitBatch]:
        """Send out a tenant's events, or do what its commands say; how many entries that were."""
        taken = 0
        while taken < len(entries) and entries[taken].kind == EVENT and len(self._in_flight) < room:
            size = self._cut(tenant, entries, taken, outcome)
            self._send(EventJob(self._pool, tenant, entries[taken : taken + size]))
            taken += size
        if taken or entries[0].kind == EVENT:
            return taken, outcome
        commands = next((n for n, entry in enumerate(entries) if entry.kind == EVENT), len(entries))
        self._gather_all(tenant, outcome)
        own, left = entries[:commands], list[Entry]()
        if tenant.matchers.acquire(blocking=False):
            tenant.matchers.release()
            self._under_way += own
            outcome = self._match(tenant, own, left, outcome)
            del self._under_way[len(self._under_way) - len(left) :]
        else:  # a question uses them
            left = own
            time.sleep(BUSY_SECONDS)
        tenant.dequeued += len(own) - len(left)
        return len(own) - len(left), outcome

    def _cut(self, tenant: Tenant, entries: list[Entry], first: int, outcome: CommitBatch) -> int:
        """How many of the next events go together.

        One that ends a validity, and one by which the clock was set, begins a stretch of its own: what they change
        holds for all workers at once.
        """
        waiting = next((n for n in range(first, len(entries)) if entries[n].kind != EVENT), len(entries)) - first
        workers = max(1, len(self._pool.workers))
        size = max(SHORTEST, min(LONGEST, tenant.batch_size(), -(-waiting // workers)))
        part = entries[first : first + min(size, waiting)]
        stateless, newest = tenant.stateless, tenant.newest_arrival
        end = stateless.first_end if isinstance(stateless, ShardedMatcher) else None
        if end is not None and effective_time(part[0]) >= end:
            self._gather_all(tenant, outcome)
            assert isinstance(stateless, ShardedMatcher)
            stateless.end_validity(effective_time(part[0]))
            end = stateless.first_end
        for place, entry in enumerate(part):
            newest = max(newest, entry.arrival)
            if place and (
                (end is not None and effective_time(entry) >= end) or entry.arrival < newest - PLAUSIBLE_STEP_US
            ):
                return place
        return len(part)

    def _send(self, stretch: EventJob) -> None:
        self._in_flight.append(stretch)

    # -- gathering ------------------------------------------------------------------------------

    def _gather(self, outcome: CommitBatch) -> int:
        """Take what the oldest stretch led to; how many events it had."""
        stretch = self._in_flight[0]
        stretch.wait()
        self._in_flight.popleft()
        for other in self._in_flight:
            other.poll()
        tenant, entries = stretch.tenant, stretch.entries
        at_hand = {entry.position: entry for entry in entries}
        with tenant.matchers:
            outcome.arrival = outcome.arrival or entries[0].arrival
            deliver_worker_results(stretch, outcome, lambda position: at_hand.get(position) or self._find(position))
        self._topology.sample(tenant.number, stretch.events)
        outcome.positions[tenant] = entries[-1].position
        tenant.dequeued += len(entries)
        tenant.pace = 0.5 * tenant.pace + 0.5 * stretch.seconds / len(entries)
        self.batches += 1
        now = time.monotonic()
        if self._in_flight:  # else there was nothing to wait for
            self.gaps.append(BatchTiming(now, now - self._gathered, now - stretch.sent))
        self._gathered = now
        return len(entries)

    def _gather_all(self, tenant: Tenant, outcome: CommitBatch) -> None:
        """Take what all stretches up to a tenant's last led to."""
        while any(stretch.tenant is tenant for stretch in self._in_flight):
            self._gather(outcome)

    def _drain(self) -> None:
        """Gather and store everything that is under way."""
        outcome = CommitBatch()
        while self._in_flight:
            self._gather(outcome)
        self._store(outcome)

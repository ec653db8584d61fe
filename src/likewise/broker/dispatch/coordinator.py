"""Coordinate the worker pool: cut the log into batches, send them to workers, store the results in order.

A few batches are in flight at once, so that workers match while results are being stored. Results are taken in the
order in which their batches were sent, so each tenant's are in the order of its log, and are stored with the new
position of matching in the same commit. Commands wait until every earlier batch of their tenant is gathered: so
subscriptions, feedback and time change between two batches, for all workers at once.
"""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

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


def deliver_worker_results(job: EventJob, outcome: CommitBatch, find: FindEntry) -> None:
    """Send what a stretch led to, in the order of the log; whoever calls this holds the tenant's matchers."""
    tenant, entries = job.tenant, job.entries
    alone = None if len(tenant.windows) else job.sole_reply
    if alone is not None:
        job.failed.update(alone.failed)
        tenant.record_matches(len(entries), len(alone.numbers) // 8)
        _deliver_packed(tenant, entries, alone, outcome)
        plain = None
    elif (plain := job.matched()) is not None:
        tenant.record_matches(len(entries), len(plain.index))
    windows, alerts = job.state_changes()
    for place, why in sorted({**job.failed_moves, **job.failed}.items()):
        add_dead_letter(tenant, entries[place], StateError(why), outcome)
    if not len(tenant.windows):
        if plain is not None:
            outcome.deliver_all(tenant, entries, plain)
        for notifications in alerts:
            if notifications:
                send_notifications(tenant, notifications, outcome, find)
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
    matches: list[NumberedMatch],
    outcome: CommitBatch,
    find: FindEntry,
) -> None:
    """Deliver an event for its windows and its other matches; then its promotions."""
    arrived = [(each.number, each.score) for each in matches if not each.promoted]
    if plain is not None and place in plain:
        arrived += zip(*plain.listed(place), strict=True)
    if arrived and (entry.ends is None or entry.ends > entry.arrival):
        arrived.sort()
        numbers = np.array([number for number, _ in arrived], np.int64)
        scores = pack_scores(np.array([score for _, score in arrived], np.float32))
        outcome.deliver(tenant, entry.position, ARRIVAL, numbers, scores, entry)
    if promoted := [each for each in matches if each.promoted]:
        send_promotions(tenant, promoted, outcome, find)


def _deliver_packed(tenant: Tenant, entries: Sequence[Entry], reply: BatchMatches, outcome: CommitBatch) -> None:
    """Send what one worker found, as it packed it: nothing here grows with the matches."""
    delivered = np.frombuffer(reply.given, "<i4").tolist()
    if not delivered:
        return
    starts = np.concatenate([[0], np.cumsum(np.frombuffer(reply.counts, "<i4"))]).tolist()
    reach = np.concatenate([[0], np.cumsum(np.frombuffer(reply.reach, "<i4"))]).tolist()
    numbers, recipients = np.frombuffer(reply.numbers, "<i8"), np.frombuffer(reply.recipients, "<i8")
    scores = np.frombuffer(reply.scores, "<f4") if reply.scores else None
    sent = np.zeros(len(entries), np.uint64)
    made = []
    for place, packed in zip(delivered, reply.packed, strict=True):
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
    events = np.frombuffer(reply.events, "<i4")
    offers: dict[int, array[int]] = {}
    for owner, a, b in zip(reply.owners, reply.cuts, reply.cuts[1:], strict=False):
        offers[owner] = array("Q", sent[events[a:b]].tobytes())
    outcome.add_numbered(tenant, made, offers)


LONGEST: Final = 256  # events of a stretch
SHORTEST: Final = 16  # ... where there are more
AHEAD: Final = 3  # stretches under way for each worker


class BatchTiming(NamedTuple):
    """Times of a batch: when it was gathered, the seconds since the one before, and since it was sent."""

    at: float
    gap: float
    took: float


class PoolCoordinator(MatchingLoop):
    """The matching loop of a broker with a worker pool; `elastic` splits and merges the workers."""

    def __init__(
        self,
        log: EventLog,
        tenants: Mapping[int, Tenant],
        topology: FlatTopology,
        elastic: Autoscaler,
        *,
        clock: Callable[[], int],
        lock: Lock,
        on_stored: Stored,
        on_quiet: Callable[[], None] = lambda: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(log, tenants, clock=clock, lock=lock, on_stored=on_stored, on_quiet=on_quiet, on_end=on_end)
        self._topology = topology
        self._pool = topology.pool
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
        """Run what needs windows as of one position, while no batch is in flight."""
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
                count, outcome = self._serve(tenant, entries, room, outcome)
                left += entries[count:]
                if count < len(entries):
                    stuck.add(number)
            self._take_in()
        return outcome

    def _serve(self, tenant: Tenant, entries: list[Entry], room: int, outcome: CommitBatch) -> tuple[int, CommitBatch]:
        """Send out a tenant's events, or do what its commands say; how many entries that were."""
        count = 0
        while count < len(entries) and entries[count].kind == EVENT and len(self._in_flight) < room:
            size = self._cut(tenant, entries, count, outcome)
            self._send(EventJob(self._pool, tenant, entries[count : count + size]))
            count += size
        if count or entries[0].kind == EVENT:
            return count, outcome
        commands = next((n for n, entry in enumerate(entries) if entry.kind == EVENT), len(entries))
        self._gather_all(tenant, outcome)
        commands_run, left = entries[:commands], list[Entry]()
        if tenant.matchers.acquire(blocking=False):
            tenant.matchers.release()
            self._under_way += commands_run
            outcome = self._match(tenant, commands_run, left, outcome)
            del self._under_way[len(self._under_way) - len(left) :]
        else:  # a question uses them
            left = commands_run
            time.sleep(BUSY_SECONDS)
        tenant.dequeued += len(commands_run) - len(left)
        return len(commands_run) - len(left), outcome

    def _cut(self, tenant: Tenant, entries: list[Entry], first: int, outcome: CommitBatch) -> int:
        """Return how many of the next events make one batch.

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

    def _send(self, job: EventJob) -> None:
        self._in_flight.append(job)

    # -- gathering ------------------------------------------------------------------------------

    def _gather(self, outcome: CommitBatch) -> int:
        """Take what the oldest stretch led to; how many events it had."""
        job = self._in_flight[0]
        job.wait()
        self._in_flight.popleft()
        for other in self._in_flight:
            other.poll()
        tenant, entries = job.tenant, job.entries
        at_hand = {entry.position: entry for entry in entries}
        with tenant.matchers:
            outcome.arrival = outcome.arrival or entries[0].arrival
            deliver_worker_results(job, outcome, lambda position: at_hand.get(position) or self._find(position))
        self._topology.sample(tenant.number, job.events)
        outcome.positions[tenant] = entries[-1].position
        tenant.dequeued += len(entries)
        tenant.pace = 0.5 * tenant.pace + 0.5 * job.seconds / len(entries)
        self.batches += 1
        now = time.monotonic()
        if self._in_flight:  # else there was nothing to wait for
            self.gaps.append(BatchTiming(now, now - self._gathered, now - job.sent))
        self._gathered = now
        return len(entries)

    def _gather_all(self, tenant: Tenant, outcome: CommitBatch) -> None:
        """Take what all stretches up to a tenant's last led to."""
        while any(job.tenant is tenant for job in self._in_flight):
            self._gather(outcome)

    def _drain(self) -> None:
        """Gather and store everything that is under way."""
        outcome = CommitBatch()
        while self._in_flight:
            self._gather(outcome)
        self._store(outcome)

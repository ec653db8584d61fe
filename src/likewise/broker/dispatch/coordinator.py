"""Matching by workers: the matching thread cuts the log into stretches, sends them out, and stores what comes back.

A few stretches are under way at once, so that workers match while an outcome is being stored. Outcomes are taken in the
order in which their stretches were sent, so each tenant's is the order of its log, and are stored with how far matching
has come in the same commit. Commands wait until everything of their tenant before them is gathered: so subscriptions,
judgements and time change between two stretches, for all workers at once.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import structlog

from likewise.broker.clock import PLAUSIBLE
from likewise.broker.dispatch.commit_batch import Outcome
from likewise.broker.dispatch.commit_writer import Stored
from likewise.broker.dispatch.matching_loop import BUSY_SECONDS, MatchingWorker
from likewise.broker.dispatch.worker_results import deliver_found
from likewise.broker.locks import Lock
from likewise.broker.log.entries import EVENT, Entry
from likewise.broker.log.event_log import EventLog
from likewise.broker.pool.autoscaler import FlatStaff
from likewise.broker.pool.batch_job import Stretch
from likewise.broker.pool.scaling_policy import Elastic
from likewise.broker.pool.sharded_matcher import SpreadMatcher
from likewise.broker.tenants.match_guarded import moment
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MATCH_ENTRIES, STRETCH_SECONDS, TICK_SECONDS

_log = structlog.get_logger("likewise.matching")
LONGEST: Final = 256  # events of a stretch
SHORTEST: Final = 16  # ... where there are more
AHEAD: Final = 3  # stretches under way for each worker


class Gathered(NamedTuple):
    """When a stretch was gathered, the seconds since the one before was, and since it was sent out itself."""

    at: float
    gap: float
    took: float


class Coordinator(MatchingWorker):
    """A matching thread whose tenants' subscriptions stand at workers; `elastic` says how many of those there are."""

    def __init__(
        self,
        log: EventLog,
        tenants: Mapping[int, Tenant],
        staff: FlatStaff,
        elastic: Elastic,
        *,
        clock: Callable[[], int],
        lock: Lock,
        on_stored: Stored,
        on_quiet: Callable[[], None] = lambda: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(log, tenants, clock=clock, lock=lock, on_stored=on_stored, on_quiet=on_quiet, on_end=on_end)
        self._staff = staff
        self._crew = staff.crew
        self._elastic = elastic
        self._flying: deque[Stretch] = deque()
        self._rested = self._gathered = time.monotonic()
        self.stretches = 0  # that were gathered
        self.gaps: deque[Gathered] = deque(maxlen=10_000)

    # -- following ------------------------------------------------------------------------------

    def _busy(self) -> bool:
        return bool(self._line) or bool(self._flying)

    def _begin(self) -> None:
        import threading

        self._crew.owner = threading.get_ident()

    def _quiet(self) -> None:
        """Between rounds: what looks at windows as of a position does so when nothing is under way."""
        self._crew.look_after()
        if self._flying and time.monotonic() - self._rested < TICK_SECONDS:
            return
        self._drain()
        self._rested = time.monotonic()
        self._elastic.turn(list(self._tenants.values()))
        self._on_quiet()

    def _finish(self) -> bool:
        """Gather and store what is under way, for a while; whether windows are where the log was matched to."""
        end = time.monotonic() + STRETCH_SECONDS
        while self._flying and not self._flying[0].go_on() and time.monotonic() < end:
            self._crew.look_after()
            time.sleep(0.005)
        if self._flying and not self._flying[-1].go_on():
            return False
        self._drain()
        return True

    def _round(self) -> None:
        """Send out what waits, as far as workers are free; then gather what is answered, at least one, and store it."""
        outcome = self._send_out(Outcome())
        gathered = 0
        while self._flying and (not gathered or (self._flying[0].go_on() and gathered < MATCH_ENTRIES)):
            gathered += self._gather(outcome)
        self._store(outcome)
        self._under_way = []

    def _send_out(self, outcome: Outcome) -> Outcome:
        room = max(2, AHEAD * len(self._crew.workers))
        stuck: set[int] = set()
        while (
            self._line and len(self._flying) < room and not self.hurried.is_set() and not self._line.tenants() <= stuck
        ):
            with self._line.turn(MATCH_ENTRIES) as (number, entries, left):
                tenant = self._tenants[number]
                taken, outcome = self._serve(tenant, entries, room, outcome)
                left += entries[taken:]
                if taken < len(entries):
                    stuck.add(number)
            self._take_in()
        return outcome

    def _serve(self, tenant: Tenant, entries: list[Entry], room: int, outcome: Outcome) -> tuple[int, Outcome]:
        """Send out a tenant's events, or do what its commands say; how many entries that were."""
        taken = 0
        while taken < len(entries) and entries[taken].kind == EVENT and len(self._flying) < room:
            size = self._cut(tenant, entries, taken, outcome)
            self._fly(Stretch(self._crew, tenant, entries[taken : taken + size]))
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
        tenant.taken += len(own) - len(left)
        return len(own) - len(left), outcome

    def _cut(self, tenant: Tenant, entries: list[Entry], first: int, outcome: Outcome) -> int:
        """How many of the next events go together.

        One that ends a validity, and one by which the clock was set, begins a stretch of its own: what they change
        holds for all workers at once.
        """
        waiting = next((n for n in range(first, len(entries)) if entries[n].kind != EVENT), len(entries)) - first
        workers = max(1, len(self._crew.workers))
        size = max(SHORTEST, min(LONGEST, tenant.together(), -(-waiting // workers)))
        part = entries[first : first + min(size, waiting)]
        stateless, newest = tenant.stateless, tenant.newest_arrival
        end = stateless.first_end if isinstance(stateless, SpreadMatcher) else None
        if end is not None and moment(part[0]) >= end:
            self._gather_all(tenant, outcome)
            assert isinstance(stateless, SpreadMatcher)
            stateless.end_validity(moment(part[0]))
            end = stateless.first_end
        for place, entry in enumerate(part):
            newest = max(newest, entry.arrival)
            if place and ((end is not None and moment(entry) >= end) or entry.arrival < newest - PLAUSIBLE):
                return place
        return len(part)

    def _fly(self, stretch: Stretch) -> None:
        self._flying.append(stretch)

    # -- gathering ------------------------------------------------------------------------------

    def _gather(self, outcome: Outcome) -> int:
        """Take what the oldest stretch led to; how many events it had."""
        stretch = self._flying[0]
        stretch.wait()
        self._flying.popleft()
        for other in self._flying:
            other.go_on()
        tenant, entries = stretch.tenant, stretch.entries
        at_hand = {entry.position: entry for entry in entries}
        with tenant.matchers:
            outcome.arrival = outcome.arrival or entries[0].arrival
            deliver_found(stretch, outcome, lambda position: at_hand.get(position) or self._find(position))
        self._staff.saw(tenant.number, stretch.events)
        outcome.positions[tenant] = entries[-1].position
        tenant.taken += len(entries)
        tenant.pace = 0.5 * tenant.pace + 0.5 * stretch.seconds / len(entries)
        self.stretches += 1
        now = time.monotonic()
        if self._flying:  # else there was nothing to wait for
            self.gaps.append(Gathered(now, now - self._gathered, now - stretch.sent))
        self._gathered = now
        return len(entries)

    def _gather_all(self, tenant: Tenant, outcome: Outcome) -> None:
        """Take what all stretches up to a tenant's last led to."""
        while any(stretch.tenant is tenant for stretch in self._flying):
            self._gather(outcome)

    def _drain(self) -> None:
        """Gather and store everything that is under way."""
        outcome = Outcome()
        while self._flying:
            self._gather(outcome)
        self._store(outcome)

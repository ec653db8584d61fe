"""The workers as they grow and shrink: what splits, what merges, and what of it is under way."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import structlog

from likewise.broker.pool.co_location import upper_half
from likewise.broker.pool.messages import EventSent
from likewise.broker.pool.migration import Halve, Join, Move, Step
from likewise.broker.pool.pool import Crew
from likewise.broker.pool.processes.process import WorkerProcess
from likewise.broker.pool.rebalance import Architecture, hand_over
from likewise.broker.pool.scaling_policy import Measured
from likewise.broker.pool.shard import Share
from likewise.broker.pool.sharded_matcher import SpreadMatcher
from likewise.broker.pool.warm_up import SAMPLE
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import TICK_SECONDS

_log = structlog.get_logger("likewise.workers")


class _Look(NamedTuple):
    """The seconds that each worker had been busy by a moment."""

    at: float
    busy: dict[int, float]


class FlatStaff:
    """Workers beside each other: replicated, where each holds everything without state, or partitioned."""

    def __init__(self, crew: Crew, tenants: Mapping[int, Tenant], architecture: Architecture) -> None:
        self.crew = crew
        self.architecture = architecture
        self.splits = 0
        self.merges = 0
        self._tenants = tenants
        self._steps: list[Step] = []
        self._leaving: WorkerProcess | None = None
        self._first = self._last = _Look(time.monotonic(), {})
        self._asked = float("-inf")  # when workers were last asked what they use
        self.cuts: deque[tuple[float, float]] = deque(maxlen=1_000)  # when it was cut over, and the seconds that took

    def take(self, tenant: Tenant) -> None:
        """Hand a tenant over to the workers."""
        hand_over(self.crew, tenant, self.architecture)

    def saw(self, tenant: int, events: Sequence[EventSent]) -> None:
        """Keep a few of the events that were matched last."""
        self.crew.samples.setdefault(tenant, deque(maxlen=SAMPLE)).extend(events[-SAMPLE:])

    def measured(self, since: float) -> list[Measured]:
        """What is known of each worker: the µs of its last events, and how busy it was from the first look since."""
        workers, found = list(self.crew.workers.values()), list[Measured]()
        look = _Look(time.monotonic(), {worker.number: worker.busy for worker in workers})
        if self._first.at < since:
            self._first = self._last if self._last.at >= since else look
        self._last = look
        passed = max(1e-3, look.at - self._first.at)
        for worker in workers:
            times = [1e6 * seconds / events for seconds, events in list(worker.times) for _ in range(events)]
            busy = look.busy[worker.number] - self._first.busy.get(worker.number, 0.0)
            found.append(Measured(worker.number, times, busy / passed))
        if look.at - self._asked >= TICK_SECONDS:
            self._asked = look.at
            self.crew.usage()
        return found

    def memory(self) -> int:
        """The bytes that all workers take together, what they share counted once."""
        used = [worker.used for worker in self.crew.processes()]
        return sum(each.resident - each.shared for each in used) + max((each.shared for each in used), default=0)

    # -- splitting and merging ------------------------------------------------------------------

    def split(self, number: int) -> bool:
        """Let a worker share what it holds with a new one."""
        old, new = self.crew.workers[number], self.crew.start()
        self.splits += 1
        _log.info("a worker splits", worker=number, new=new.number, architecture=self.architecture)
        for spread in self._spreads():
            if not spread.remembers and self.architecture == "replicated":
                self._steps += [Join(self.crew, share, new) for share in spread.shares]
                continue
            own = [share for share in spread.shares if old in share.hosts]
            if len(own) > 1:
                self._steps += [Move(self.crew, share, new) for share in own[len(own) // 2 :]]
            elif own and (half := upper_half(list(own[0].held.values()))):
                self._steps.append(Halve(self.crew, spread, own[0], new, half))
        return True

    def merge(self, number: int) -> bool:
        """Let the others take over what a worker holds, and let it end."""
        old = self.crew.workers[number]
        if len(self.crew.workers) < 2:
            return False
        self.merges += 1
        self._leaving = old
        _log.info("a worker merges", worker=number, architecture=self.architecture)
        self._move_away(old)
        return True

    def _move_away(self, old: WorkerProcess) -> bool:
        """Begin to move what stands at a worker; whether anything has to."""
        others = [each for each in self.crew.workers.values() if each is not old]
        for share in self._standing(old):
            if len(share.hosts) > 1:
                share.hosts.remove(old)
            else:
                least = min(others, key=lambda each: sum(len(s.held) for s in self._standing(each)))
                self._steps.append(Move(self.crew, share, least))
        return bool(self._steps)

    def go_on(self, tenants: Sequence[Tenant]) -> bool:
        """Go on with what is under way, and cut over once all of it is ready; whether nothing is."""
        if not self._steps and self._leaving is None:
            return True
        self.crew.look_after()
        ready = [step.ready() for step in self._steps]  # each goes on, whatever the others say
        if not all(ready):
            return False
        begun = time.perf_counter()
        for step in self._steps:
            step.cut_over()
        self.cuts.append((time.monotonic(), time.perf_counter() - begun))
        self._steps = []
        if self._leaving is not None:
            self._leaving = self.crew.workers[self._leaving.number]
            if self._move_away(self._leaving):  # tenants that came meanwhile
                return False
            self.crew.end(self._leaving)
            self._left(self._leaving.number)
            self._leaving = None
        self._done()
        return True

    def _done(self) -> None:
        """A split or merge is over."""

    def _left(self, number: int) -> None:
        """A worker is gone."""

    @property
    def under_way(self) -> bool:
        """Whether a split or merge is under way."""
        return bool(self._steps) or self._leaving is not None

    def _spreads(self) -> Iterator[SpreadMatcher]:
        for tenant in list(self._tenants.values()):
            for matcher in (tenant.stateless, tenant.windows, tenant.alerts):
                if isinstance(matcher, SpreadMatcher):
                    yield matcher

    def _standing(self, worker: WorkerProcess) -> list[Share]:
        return [share for share in self.crew.shares.values() if worker in share.hosts]

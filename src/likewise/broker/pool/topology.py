"""Flat and hierarchical pools: carry out splits and merges, and start the pool of a configuration.

A flat pool replicates stateless shards or partitions them. In a tree (CUPUS, sections 4.1.2 and 4.2) a worker that
splits gives the heaviest part of its subscriptions to a new child, and keeps a proxy: the roots that cover all of it.
An event that matches none of them is never sent there. Every message goes through the coordinator, as in the paper;
`TreeMessage` records them under the paper's names. Only a leaf merges, into its parent.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Literal, NamedTuple

import structlog

from likewise.broker.config import Config
from likewise.broker.pool.autoscaling import MAX_WORKERS, Autoscaler, ScalingSettings, WorkerLoad, free_cores
from likewise.broker.pool.listener import WorkerListener
from likewise.broker.pool.migration import AddReplica, Architecture, MigrationStep, MoveShard, SplitShard, distribute
from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.process import PendingRequest, Worker
from likewise.broker.pool.protocol import EventSent, InterpretationSettings, PlanSplit, RemoveSubscriptions, SplitPlan
from likewise.broker.pool.shard import Shard, upper_half
from likewise.broker.pool.sharded_matcher import ShardedMatcher
from likewise.broker.pool.standby import SAMPLE_EVENTS
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import TICK_SECONDS
from likewise.errors import InputError
from likewise.model.time import duration


class _BusySample(NamedTuple):
    """The busy seconds of each worker at a time."""

    at: float
    busy: dict[int, float]


class FlatTopology:
    """Workers side by side: replicated, where each holds all stateless subscriptions, or partitioned."""

    def __init__(self, pool: WorkerPool, tenants: Mapping[int, Tenant], architecture: Architecture) -> None:
        self.pool = pool
        self.architecture = architecture
        self.splits = 0
        self.merges = 0
        self._tenants = tenants
        self._steps: list[MigrationStep] = []
        self._draining: Worker | None = None
        self._first = self._last = _BusySample(time.monotonic(), {})
        self._usage_requested_at = float("-inf")  # when workers were last asked what they use
        self.cut_overs: deque[tuple[float, float]] = deque(
            maxlen=1_000
        )  # when it was cut over, and the seconds that took

    def adopt(self, tenant: Tenant) -> None:
        """Hand a tenant over to the workers."""
        distribute(self.pool, tenant, self.architecture)

    def sample(self, tenant: int, events: Sequence[EventSent]) -> None:
        """Keep a few of the events that were matched last."""
        self.pool.samples.setdefault(tenant, deque(maxlen=SAMPLE_EVENTS)).extend(events[-SAMPLE_EVENTS:])

    def load(self, since: float) -> list[WorkerLoad]:
        """Return the load of each worker: µs of its last events, and how busy it was."""
        workers, loads = list(self.pool.workers.values()), list[WorkerLoad]()
        look = _BusySample(time.monotonic(), {worker.number: worker.busy for worker in workers})
        if self._first.at < since:
            self._first = self._last if self._last.at >= since else look
        self._last = look
        passed = max(1e-3, look.at - self._first.at)
        for worker in workers:
            times = [1e6 * seconds / events for seconds, events in list(worker.times) for _ in range(events)]
            busy = look.busy[worker.number] - self._first.busy.get(worker.number, 0.0)
            loads.append(WorkerLoad(worker.number, times, busy / passed))
        if look.at - self._usage_requested_at >= TICK_SECONDS:
            self._usage_requested_at = look.at
            self.pool.usage()
        return loads

    def memory(self) -> int:
        """Return the bytes of all workers, shared memory counted once."""
        used = [worker.used for worker in self.pool.processes()]
        return sum(each.resident - each.shared for each in used) + max((each.shared for each in used), default=0)

    # -- splitting and merging ------------------------------------------------------------------

    def split(self, number: int) -> bool:
        """Let a worker share what it holds with a new one."""
        old, new = self.pool.workers[number], self.pool.start()
        self.splits += 1
        _log.info("worker_split_started", worker=number, new=new.number, architecture=self.architecture)
        for spread in self._sharded_matchers():
            if not spread.stateful and self.architecture == "replicated":
                self._steps += [AddReplica(self.pool, share, new) for share in spread.shards]
                continue
            worker_shards = [share for share in spread.shards if old in share.hosts]
            if len(worker_shards) > 1:
                self._steps += [MoveShard(self.pool, share, new) for share in worker_shards[len(worker_shards) // 2 :]]
            elif worker_shards and (half := upper_half(list(worker_shards[0].subscriptions.values()))):
                self._steps.append(SplitShard(self.pool, spread, worker_shards[0], new, half))
        return True

    def merge(self, number: int) -> bool:
        """Let the others take over what a worker holds, and let it end."""
        old = self.pool.workers[number]
        if len(self.pool.workers) < 2:
            return False
        self.merges += 1
        self._draining = old
        _log.info("worker_merge_started", worker=number, architecture=self.architecture)
        self._move_away(old)
        return True

    def _move_away(self, old: Worker) -> bool:
        """Begin to move what stands at a worker; whether anything has to."""
        others = [each for each in self.pool.workers.values() if each is not old]
        for share in self._shards_at(old):
            if len(share.hosts) > 1:
                share.hosts.remove(old)
            else:
                least = min(others, key=lambda each: sum(len(s.subscriptions) for s in self._shards_at(each)))
                self._steps.append(MoveShard(self.pool, share, least))
        return bool(self._steps)

    def advance(self, tenants: Sequence[Tenant]) -> bool:
        """Go on with what is under way, and cut over once all of it is ready; whether nothing is."""
        if not self._steps and self._draining is None:
            return True
        self.pool.supervise()
        ready = [step.ready() for step in self._steps]  # each goes on, whatever the others say
        if not all(ready):
            return False
        begun = time.perf_counter()
        for step in self._steps:
            step.cut_over()
        self.cut_overs.append((time.monotonic(), time.perf_counter() - begun))
        self._steps = []
        if self._draining is not None:
            self._draining = self.pool.workers[self._draining.number]
            if self._move_away(self._draining):  # tenants that came meanwhile
                return False
            self.pool.end(self._draining)
            self._worker_removed(self._draining.number)
            self._draining = None
        self._step_finished()
        return True

    def _step_finished(self) -> None:
        """Finish a split or a merge."""

    def _worker_removed(self, number: int) -> None:
        """Record that a worker ended."""

    @property
    def under_way(self) -> bool:
        """Return whether a split or merge is in progress."""
        return bool(self._steps) or self._draining is not None

    def _sharded_matchers(self) -> Iterator[ShardedMatcher]:
        for tenant in list(self._tenants.values()):
            for matcher in (tenant.stateless, tenant.windows, tenant.alerts):
                if isinstance(matcher, ShardedMatcher):
                    yield matcher

    def _shards_at(self, worker: Worker) -> list[Shard]:
        return [share for share in self.pool.shares.values() if worker in share.hosts]


_log = structlog.get_logger("likewise.workers")


class TreeMessage(NamedTuple):
    """A message of the paper, from one worker to another (0 is the coordinator)."""

    message: Literal["LeafMatcher", "MatcherMerging", "MatcherRemoved"]
    by: int
    to: int
    leaf: bool | None = None


class SplitToChild:
    """Move the heaviest part of a shard to a child, behind a proxy.

    The child is told everything and finds the part itself, while its parent serves; then it lets go of the rest.
    """

    def __init__(
        self, pool: WorkerPool, spread: ShardedMatcher, share: Shard, child: Worker, sample: list[EventSent]
    ) -> None:
        self._pool = pool
        self._matcher = spread
        self._share = share
        self._part = part = Shard(share.tenant)
        part.subscriptions = {
            number: each for number, each in share.subscriptions.items() if each.subscription.kind == "exact"
        }
        part.known = share.known
        share.mirrors.append(part)
        pool.place(part, [child])
        self._plan = pool.ask(part, PlanSplit(sample))
        self._last: list[PendingRequest] | None = None

    def ready(self) -> bool:
        """Return whether the child holds its part alone."""
        if self._last is None:
            if not self._plan.answered:
                return False
            reply, part = self._plan.reply, self._part
            numbers = set(reply.numbers) if isinstance(reply, SplitPlan) else set()
            others = [number for number in part.subscriptions if number not in numbers]
            for number in others:
                del part.subscriptions[number]
            self._last = self._pool.change(part, RemoveSubscriptions(others))
        return all(ticket.answered for ticket in self._last)

    def cut_over(self) -> None:
        """Let the child serve its part from here on, behind the parent's proxy."""
        share, part, reply = self._share, self._part, self._plan.reply
        share.mirrors.remove(part)
        if not part.subscriptions or not isinstance(reply, SplitPlan):
            self._pool.forget(part)
            return
        part.parent = share
        numbers = list(part.subscriptions)
        self._matcher.replace_with(part)
        share.roots[part.number] = list(reply.roots)
        self._pool.change(share, share.proxies())
        self._pool.remove_subscriptions(share, numbers, slowly=True)


class TreeTopology(FlatTopology):
    """Workers in a tree; the first one is the root and stays."""

    def __init__(self, pool: WorkerPool, tenants: Mapping[int, Tenant]) -> None:
        super().__init__(pool, tenants, "hierarchical")
        self.parents: dict[int, int] = {}  # of every worker but the root
        self.messages: deque[TreeMessage] = deque(maxlen=1_000)
        self._pending_messages: list[TreeMessage] = []

    @property
    def root(self) -> int:
        """Return the number of the root matcher."""
        return next(number for number in self.pool.workers if number not in self.parents)

    def is_leaf(self, number: int) -> bool:
        """Return whether a worker has no children."""
        return number not in self.parents.values()

    def load(self, since: float) -> list[WorkerLoad]:
        """Return the load of each worker; only leaves below the root may merge."""
        return [
            WorkerLoad(each.number, each.times, each.busy, each.number in self.parents and self.is_leaf(each.number))
            for each in super().load(since)
        ]

    def split(self, number: int) -> bool:
        """Let a worker give the heaviest part of what it holds to a new child."""
        old, new = self.pool.workers[number], self.pool.start()
        self.splits += 1
        _log.info("worker_split_started", worker=number, child=new.number)
        if self.is_leaf(number):  # it stops being one, and its parent is told once it has
            self._pending_messages.append(TreeMessage("LeafMatcher", number, self.parents.get(number, 0), leaf=False))
        self.parents[new.number] = number
        for spread in self._sharded_matchers():
            worker_shards = [share for share in spread.shards if old in share.hosts]
            if spread.stateful:
                self._share_states(spread, worker_shards, new)
                continue
            merged = [share for share in worker_shards if share.parent is not None and old in share.parent.hosts]
            if merged:  # what merged into it before goes out again, behind the same proxy
                self._steps.append(MoveShard(self.pool, max(merged, key=lambda share: len(share.subscriptions)), new))
            elif worker_shards:
                heaviest = max(worker_shards, key=lambda share: len(share.subscriptions))
                if sum(each.subscription.kind == "exact" for each in heaviest.subscriptions.values()) > 1:
                    sample = list(self.pool.samples.get(heaviest.tenant, ()))
                    self._steps.append(SplitToChild(self.pool, spread, heaviest, new, sample))
        return True

    def _share_states(self, spread: ShardedMatcher, worker_shards: list[Shard], new: Worker) -> None:
        """Move stateful shards side by side, whatever the tree."""
        if len(worker_shards) > 1:
            self._steps += [MoveShard(self.pool, share, new) for share in worker_shards[len(worker_shards) // 2 :]]
        elif worker_shards and (half := upper_half(list(worker_shards[0].subscriptions.values()))):
            self._steps.append(SplitShard(self.pool, spread, worker_shards[0], new, half))

    def merge(self, number: int) -> bool:
        """Let a leaf merge into its parent, which answers for it from then on."""
        if number not in self.parents or not self.is_leaf(number):
            return False
        old, parent = self.pool.workers[number], self.parents[number]
        self.merges += 1
        self._draining = old
        _log.info("worker_merge_started", worker=number, parent=parent)
        self.messages.append(TreeMessage("MatcherMerging", number, parent))
        self._move_away(old)
        return True

    def _move_away(self, old: Worker) -> bool:
        """Begin to move what a leaf holds to its parent; whether it holds anything."""
        parent = self.pool.workers[self.parents[old.number]]
        self._steps += [MoveShard(self.pool, share, parent) for share in self._shards_at(old)]
        return bool(self._steps)

    def _step_finished(self) -> None:
        """Finish a split or a merge, and report it upwards."""
        self.messages.extend(self._pending_messages)
        self._pending_messages = []

    def _worker_removed(self, number: int) -> None:
        """Report upwards that a worker ended, and whether its parent is a leaf again."""
        parent = self.parents.pop(number)
        above = self.parents.get(parent, 0)
        self.messages.append(TreeMessage("MatcherRemoved", parent, above))
        if self.is_leaf(parent):
            self.messages.append(TreeMessage("LeafMatcher", parent, above, leaf=True))


def usable_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scaling_settings(config: Config) -> ScalingSettings:
    """Return the scaling settings of a configuration.

    >>> from likewise.broker.config import MatchingSettings
    >>> scaling_settings(Config(matching=MatchingSettings(workers=3))).maximum
    3
    """
    matching, limits = config.matching, config.workers
    if matching.workers == "auto":
        available = usable_cores() - 1 if limits.listen is None else MAX_WORKERS
        most = limits.maximum if limits.maximum is not None else max(limits.minimum, available, 1)
        return _settings(config, matching.policy, limits.minimum, most)
    if limits.maximum is not None and matching.workers > limits.maximum:
        raise InputError(f"[matching] workers is {matching.workers}, more than [workers] maximum, {limits.maximum}")
    return _settings(config, "none", matching.workers, matching.workers)


def _settings(config: Config, policy: str, minimum: int, maximum: int) -> ScalingSettings:
    limits = config.workers
    return ScalingSettings(
        policy,  # type: ignore[arg-type]
        minimum,
        maximum,
        limits.memory,
        limits.split_us,
        limits.merge_us,
        limits.last,
        limits.split_busy,
        limits.merge_busy,
        limits.span,
        limits.pause,
    )


def start_pool(
    config: Config, tenants: Mapping[int, Tenant], data: Path | None = None
) -> tuple[FlatTopology, Autoscaler]:
    """Start the first workers, and hand the tenants over to them; `data` is the broker's folder, if it has one."""
    matching, alerts = config.matching, config.alerts
    pool = WorkerPool(
        InterpretationSettings(
            matching.space,
            matching.measure,
            matching.threshold,
            matching.profile,
            matching.types,
            matching.cache_bytes,
            duration(alerts.forget),
            duration(alerts.lateness),
            duration(alerts.stale),
            matching.engines,
        ),
        data,
        None
        if config.workers.listen is None
        else WorkerListener(config.workers, config.server, _space(matching.space)),
    )
    settings = scaling_settings(config)
    try:
        tree = matching.architecture == "hierarchical"
        for _ in range(1 if tree else settings.minimum):
            pool.reserve()
        topology = TreeTopology(pool, tenants) if tree else FlatTopology(pool, tenants, matching.architecture)
        for tenant in tenants.values():
            topology.adopt(tenant)
    except BaseException:
        pool.close()
        raise
    return topology, Autoscaler(topology, settings, free=lambda: inf if pool.has_idle() else free_cores())


def _space(name: str | None) -> tuple[str | None, str]:
    """Return a space with its checksum; the one of the package is the same wherever the version is."""
    if name is None:
        return None, ""
    from likewise.semantics.library import load_space

    return name, load_space(name).checksum

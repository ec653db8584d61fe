"""Splitting and merging: how a share, or a half of one, comes to stand elsewhere while it goes on being used.

Each step begins while the old place serves everything: the new one is told what it is to hold, with the saved state and
what moved it since. Whatever happens meanwhile is said to both. When the new place has caught up, it takes over between
two stretches: everything before was answered by the old one, everything after is by the new one.

A tenant's matchers handed over to the workers, and back into this process when windows were saved in shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, Protocol, TypeVar

from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.process import LocalHost, PendingRequest, ShardHost, WorkerProcess
from likewise.broker.pool.protocol import (
    AddSubscriptions,
    DropShard,
    InterpretationSettings,
    NewSubscription,
    Operation,
    SaveShard,
)
from likewise.broker.pool.shard import Shard, ShardSnapshot, partition_co_located
from likewise.broker.pool.shard_server import ShardServer
from likewise.broker.pool.sharded_matcher import SHARDS_FOLDER, ShardedMatcher
from likewise.broker.pool.standby import ShardWarmUp
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.matcher import Matcher

T = TypeVar("T")
Architecture = Literal["replicated", "partitioned", "hierarchical"]
MAPPED_SUBSCRIPTIONS: Final = (
    500  # subscriptions from which on a replicated share is saved with its index, and mapped by all
)


def distribute(crew: WorkerPool, tenant: Tenant, architecture: Architecture) -> None:
    """Let the workers hold a tenant's subscriptions from here on."""
    workers = list(crew.workers.values())
    tenant.stateless = _stateless(crew, tenant, workers, architecture)
    tenant.windows = _remembering(crew, tenant, tenant.windows, workers)
    tenant.alerts = _remembering(crew, tenant, tenant.alerts, workers)


def partition(new: Sequence[T], count: int) -> list[list[T]]:
    """Subscriptions in so many parts, each of neighbours, as even as can be.

    >>> [len(part) for part in deal(list(range(7)), 3)]
    [3, 2, 2]
    """
    cuts = [-(-len(new) * place // count) for place in range(count + 1)]
    return [list(new[a:b]) for a, b in pairwise(cuts)]


def _new(tenant: Tenant, matcher: NumberedMatcher) -> list[NewSubscription]:
    held = tenant.subscriptions
    return [
        NewSubscription(number, held[number].subscriber, held[number].added, subscription)
        for number, subscription in matcher.subscriptions()
    ]


def _stateless(
    crew: WorkerPool, tenant: Tenant, workers: Sequence[WorkerProcess], architecture: Architecture
) -> ShardedMatcher:
    before = tenant.stateless
    spread = ShardedMatcher(before.matcher.alike(), tenant.number, crew, stateful=False)
    spread.send_knowledge()
    new = _new(tenant, before)
    if architecture == "partitioned":
        for part, worker in zip(partition(new, len(workers)), workers, strict=True):
            _place(crew, spread, tenant, part, [worker])
        return spread
    saved = None
    if len(new) >= MAPPED_SUBSCRIPTIONS and architecture == "replicated":
        folder = crew.folders.new(f"tenant-{tenant.number}")
        before.save(folder)
        saved = ShardSnapshot(folder, frozenset(each.number for each in new))
    hosts = workers if architecture == "replicated" else workers[:1]
    _place(crew, spread, tenant, new, hosts, saved=saved)
    return spread


def _place(
    crew: WorkerPool,
    spread: ShardedMatcher,
    tenant: Tenant,
    new: Sequence[NewSubscription],
    hosts: Sequence[WorkerProcess],
    *,
    saved: ShardSnapshot | None = None,
    remembers: bool = False,
) -> Shard:
    share = Shard(tenant.number, stateful=remembers)
    share.subscriptions = {each.number: each for each in new}
    share.known, share.saved = spread.knowledge, saved
    crew.place(share, hosts)
    spread.add_shard(share)
    return share


def _remembering(
    crew: WorkerPool, tenant: Tenant, before: NumberedMatcher, workers: Sequence[WorkerProcess]
) -> ShardedMatcher:
    """Windows or alerts: a share at each worker, with the state of what it holds."""
    spread = ShardedMatcher(before.matcher.alike(), tenant.number, crew, stateful=True)
    spread.send_knowledge()
    if isinstance(before, ShardedMatcher):
        parts: list[tuple[list[NewSubscription], ShardSnapshot | None]] = []
        for share in before.shards:
            folder = crew.folders.new(f"tenant-{tenant.number}")
            before.pool.wait_all([before.pool.ask(share, SaveShard(str(folder)))])
            parts.append((list(share.subscriptions.values()), ShardSnapshot(folder, frozenset(share.subscriptions))))
        while len(parts) < len(workers):
            parts.append(([], None))
        for place, (new, saved) in enumerate(parts):
            _place(crew, spread, tenant, new, [workers[place % len(workers)]], saved=saved, remembers=True)
        _go_on_from(spread, before)
        return spread
    new = _new(tenant, before)
    folder = crew.folders.new(f"tenant-{tenant.number}")
    if new:
        before.save(folder)
    for own, worker in zip(partition_co_located(new, len(workers)), workers, strict=True):
        state = ShardSnapshot(folder, frozenset(each.number for each in own), others=True) if own else None
        _place(crew, spread, tenant, own, [worker], saved=state, remembers=True)
    _go_on_from(spread, before)
    return spread


def _go_on_from(spread: ShardedMatcher, before: NumberedMatcher) -> None:
    """Know what holds for all shares, those that hold nothing yet, too."""
    spread.set_reached(before.reached)
    for why in spread.absence_suspensions:
        spread.absence_suspensions[why] = before.absence_suspended(why)


def saved_shards(folder: Path) -> list[Path]:
    """The folders in which the shares of windows were saved; none if they were saved as one."""
    return (
        sorted((folder / SHARDS_FOLDER).iterdir(), key=lambda path: int(path.name))
        if (folder / SHARDS_FOLDER).is_dir()
        else []
    )


def load_shards(empty: Matcher, tenant: int, folders: Sequence[Path]) -> ShardedMatcher:
    """Windows that were saved in shares, here in this process; owners are not needed for what remembers."""
    crew = WorkerPool(InterpretationSettings(None, None, None, "full", None, 0, 0, 0))
    host = LocalHost(lambda: ShardServer(NumberedMatcher(empty.alike())))
    spread = ShardedMatcher(empty, tenant, crew, stateful=True)
    for folder in folders:
        share = Shard(tenant, stateful=True)
        matcher = NumberedMatcher(empty.alike_from(folder))
        host.servers[tenant, share.number] = ShardServer(matcher)
        share.subscriptions = {number: NewSubscription(number, 0, 0, each) for number, each in matcher.subscriptions()}
        share.hosts = [host]
        crew.shares[share.number] = share
        share.ever_used = True
        spread.add_shard(share)
        spread.set_reached(matcher.reached)
        for why in spread.absence_suspensions:
            spread.absence_suspensions[why] |= matcher.absence_suspended(why)
    return spread


class MigrationStep(Protocol):
    """A part of a split or a merge."""

    def ready(self) -> bool:
        """Go on; whether the new place has caught up."""
        ...

    def cut_over(self) -> None:
        """Let the new place serve from here on. Nothing is under way then."""
        ...


class _StateSaving:
    """Sees to it that a share with state is saved, newly, before it moves."""

    def __init__(self, crew: WorkerPool, share: Shard) -> None:
        self._pool = crew
        self._share = share
        self._before = share.saved

    def done(self) -> bool:
        """Whether there is a saved state from which, and from its journal, the share can be made."""
        share = self._share
        if not share.stateful or not (share.subscriptions or share.journal):
            return True
        if share.saving is not None:
            return False
        if share.saved is not self._before:
            return True
        self._pool.checkpoint(share)  # again, if the worker died over it
        return False


class AddReplica:
    """A further host of a share without state: it is told everything, then asked, too."""

    def __init__(self, crew: WorkerPool, share: Shard, host: ShardHost) -> None:
        self._share = share
        share.joining.append(host)
        self._warm_up = crew.warm_up(share, host)
        self._number = host.number

    def ready(self) -> bool:
        """Whether it knows everything."""
        return self._warm_up.done()

    def cut_over(self) -> None:
        """Let it be asked."""
        host = next(each for each in self._share.joining if each.number == self._number)
        self._share.joining.remove(host)
        self._share.hosts.append(host)


class MoveShard:
    """A share goes from the host it stands at to another."""

    def __init__(self, crew: WorkerPool, share: Shard, host: ShardHost) -> None:
        self._pool = crew
        self._share = share
        self._number = host.number
        self._saving = _StateSaving(crew, share)
        self._warm_up: ShardWarmUp | None = None

    def ready(self) -> bool:
        """Whether the other host has caught up."""
        if self._warm_up is None:
            if not self._saving.done():
                return False
            host = self._pool.workers[self._number]
            self._share.joining.append(host)
            self._warm_up = self._pool.warm_up(self._share, host)
        return self._warm_up.done()

    def cut_over(self) -> None:
        """Let the other host serve it, and the old one forget it."""
        share = self._share
        new = next(each for each in share.joining if each.number == self._number)
        share.joining.remove(new)
        for host in share.hosts:
            if host is not new:
                host.submit(PendingRequest(share.tenant, share.number, DropShard()))
        share.hosts = [new]


class SplitShard:
    """The upper half of a share becomes a share of its own at another host."""

    def __init__(
        self, crew: WorkerPool, spread: ShardedMatcher, share: Shard, host: ShardHost, numbers: list[int]
    ) -> None:
        self._pool = crew
        self._matcher = spread
        self._share = share
        self._number = host.number
        self._numbers = numbers
        self._saving = _StateSaving(crew, share)
        self._half: Shard | None = None
        self._warm_up: ShardWarmUp | None = None

    def ready(self) -> bool:
        """Whether the new share has caught up."""
        if self._half is None:
            if not self._saving.done():
                return False
            self._begin()
        assert self._warm_up is not None
        return self._warm_up.done()

    def _begin(self) -> None:
        share, half = self._share, Shard(self._share.tenant, stateful=self._share.stateful)
        half.subscriptions = {
            number: share.subscriptions[number] for number in self._numbers if number in share.subscriptions
        }
        half.known = share.known
        if share.stateful and share.saved is not None:
            share.saved = share.saved._replace(others=True)
            half.saved = ShardSnapshot(
                share.saved.folder, frozenset(half.subscriptions) & share.saved.numbers, others=True
            )
        if share.stateful:
            half.journal = [
                PendingRequest(half.tenant, half.number, _half_of(ticket.operation, half)) for ticket in share.journal
            ]
            half.journal_events = share.journal_events
        share.mirrors.append(half)
        host = self._pool.workers[self._number]
        self._pool.assign(half, [host])
        self._warm_up = self._pool.warm_up(half, host)
        self._half = half

    def cut_over(self) -> None:
        """Let the new share serve its half, and the old one let go of it."""
        assert self._half is not None
        share, half = self._share, self._half
        share.mirrors.remove(half)
        numbers = list(half.subscriptions)
        self._matcher.replace_with(half)
        self._pool.remove_subscriptions(share, numbers, slowly=True)


def _half_of(wanted: Operation, half: Shard) -> Operation:
    """What a share did, as far as it concerns a half of it."""
    return (
        AddSubscriptions([each for each in wanted.held if each.number in half.subscriptions])
        if isinstance(wanted, AddSubscriptions)
        else wanted
    )

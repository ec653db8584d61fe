"""Move shards between hosts while they are in use: distribute, replicate, move, split.

Each step begins while the old host serves everything: the new one is sent the subscriptions, with the saved state and
the journal since. Operations meanwhile go to both. When the new host has caught up, it takes over between two batches:
the old one has answered everything before, the new one answers everything after.

`distribute` hands a tenant's matchers to the workers; `load_shards` loads windows that were saved as shards back into
this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, Protocol, TypeVar

from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.process import LocalHost, PendingRequest, ShardHost, Worker
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


def distribute(pool: WorkerPool, tenant: Tenant, architecture: Architecture) -> None:
    """Let the workers hold a tenant's subscriptions from here on."""
    workers = list(pool.workers.values())
    tenant.stateless = _stateless(pool, tenant, workers, architecture)
    tenant.windows = _remembering(pool, tenant, tenant.windows, workers)
    tenant.alerts = _remembering(pool, tenant, tenant.alerts, workers)


def partition(new: Sequence[T], count: int) -> list[list[T]]:
    """Partition subscriptions into runs of neighbours, as evenly as possible.

    >>> [len(part) for part in partition(list(range(7)), 3)]
    [3, 2, 2]
    """
    cuts = [-(-len(new) * place // count) for place in range(count + 1)]
    return [list(new[a:b]) for a, b in pairwise(cuts)]


def _new(tenant: Tenant, matcher: NumberedMatcher) -> list[NewSubscription]:
    stored = tenant.subscriptions
    return [
        NewSubscription(number, stored[number].subscriber, stored[number].added, subscription)
        for number, subscription in matcher.subscriptions()
    ]


def _stateless(
    pool: WorkerPool, tenant: Tenant, workers: Sequence[Worker], architecture: Architecture
) -> ShardedMatcher:
    before = tenant.stateless
    spread = ShardedMatcher(before.matcher.alike(), tenant.number, pool, stateful=False)
    spread.send_knowledge()
    new = _new(tenant, before)
    if architecture == "partitioned":
        for part, worker in zip(partition(new, len(workers)), workers, strict=True):
            _place(pool, spread, tenant, part, [worker])
        return spread
    saved = None
    if len(new) >= MAPPED_SUBSCRIPTIONS and architecture == "replicated":
        folder = pool.folders.new(f"tenant-{tenant.number}")
        before.save(folder)
        saved = ShardSnapshot(folder, frozenset(each.number for each in new))
    hosts = workers if architecture == "replicated" else workers[:1]
    _place(pool, spread, tenant, new, hosts, saved=saved)
    return spread


def _place(
    pool: WorkerPool,
    spread: ShardedMatcher,
    tenant: Tenant,
    new: Sequence[NewSubscription],
    hosts: Sequence[Worker],
    *,
    saved: ShardSnapshot | None = None,
    remembers: bool = False,
) -> Shard:
    share = Shard(tenant.number, stateful=remembers)
    share.subscriptions = {each.number: each for each in new}
    share.known, share.saved = spread.knowledge, saved
    pool.place(share, hosts)
    spread.add_shard(share)
    return share


def _remembering(
    pool: WorkerPool, tenant: Tenant, before: NumberedMatcher, workers: Sequence[Worker]
) -> ShardedMatcher:
    """Distribute windows or alerts: a shard at each worker, with its state."""
    spread = ShardedMatcher(before.matcher.alike(), tenant.number, pool, stateful=True)
    spread.send_knowledge()
    if isinstance(before, ShardedMatcher):
        parts: list[tuple[list[NewSubscription], ShardSnapshot | None]] = []
        for share in before.shards:
            folder = pool.folders.new(f"tenant-{tenant.number}")
            before.pool.wait_all([before.pool.ask(share, SaveShard(str(folder)))])
            parts.append((list(share.subscriptions.values()), ShardSnapshot(folder, frozenset(share.subscriptions))))
        while len(parts) < len(workers):
            parts.append(([], None))
        for place, (new, saved) in enumerate(parts):
            _place(pool, spread, tenant, new, [workers[place % len(workers)]], saved=saved, remembers=True)
        _go_on_from(spread, before)
        return spread
    new = _new(tenant, before)
    folder = pool.folders.new(f"tenant-{tenant.number}")
    if new:
        before.save(folder)
    for group, worker in zip(partition_co_located(new, len(workers)), workers, strict=True):
        state = ShardSnapshot(folder, frozenset(each.number for each in group), others=True) if group else None
        _place(pool, spread, tenant, group, [worker], saved=state, remembers=True)
    _go_on_from(spread, before)
    return spread


def _go_on_from(spread: ShardedMatcher, before: NumberedMatcher) -> None:
    """Know what holds for all shares, those that hold nothing yet, too."""
    spread.set_reached(before.reached)
    for why in spread.absence_suspensions:
        spread.absence_suspensions[why] = before.absence_suspended(why)


def saved_shards(folder: Path) -> list[Path]:
    """Return the folders of windows that were saved as shards; none if they were saved as one."""
    return (
        sorted((folder / SHARDS_FOLDER).iterdir(), key=lambda path: int(path.name))
        if (folder / SHARDS_FOLDER).is_dir()
        else []
    )


def load_shards(empty: Matcher, tenant: int, folders: Sequence[Path]) -> ShardedMatcher:
    """Load windows that were saved as shards into this process, without owners."""
    pool = WorkerPool(InterpretationSettings(None, None, None, "full", None, 0, 0, 0))
    host = LocalHost(lambda: ShardServer(NumberedMatcher(empty.alike())))
    spread = ShardedMatcher(empty, tenant, pool, stateful=True)
    for folder in folders:
        share = Shard(tenant, stateful=True)
        matcher = NumberedMatcher(empty.alike(folder))
        host.servers[tenant, share.number] = ShardServer(matcher)
        share.subscriptions = {number: NewSubscription(number, 0, 0, each) for number, each in matcher.subscriptions()}
        share.hosts = [host]
        pool.shares[share.number] = share
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
    """Saves a stateful shard anew before it moves."""

    def __init__(self, pool: WorkerPool, share: Shard) -> None:
        self._pool = pool
        self._share = share
        self._before = share.saved

    def done(self) -> bool:
        """Return whether there is a saved state from which, with the journal, the shard can be rebuilt."""
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
    """Add a host to a stateless shard: it warms up, then gets requests, too."""

    def __init__(self, pool: WorkerPool, share: Shard, host: ShardHost) -> None:
        self._share = share
        share.joining.append(host)
        self._warm_up = pool.warm_up(share, host)
        self._number = host.number

    def ready(self) -> bool:
        """Return whether the host is warmed up."""
        return self._warm_up.done()

    def cut_over(self) -> None:
        """Let it be asked."""
        host = next(each for each in self._share.joining if each.number == self._number)
        self._share.joining.remove(host)
        self._share.hosts.append(host)


class MoveShard:
    """Move a shard from its host to another."""

    def __init__(self, pool: WorkerPool, share: Shard, host: ShardHost) -> None:
        self._pool = pool
        self._share = share
        self._number = host.number
        self._saving = _StateSaving(pool, share)
        self._warm_up: ShardWarmUp | None = None

    def ready(self) -> bool:
        """Return whether the new host has caught up."""
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
    """Split the upper half of a shard off to another host."""

    def __init__(
        self, pool: WorkerPool, spread: ShardedMatcher, share: Shard, host: ShardHost, numbers: list[int]
    ) -> None:
        self._pool = pool
        self._matcher = spread
        self._share = share
        self._number = host.number
        self._numbers = numbers
        self._saving = _StateSaving(pool, share)
        self._half: Shard | None = None
        self._warm_up: ShardWarmUp | None = None

    def ready(self) -> bool:
        """Return whether the new shard has caught up."""
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


def _half_of(operation: Operation, half: Shard) -> Operation:
    """Return the part of an operation that concerns one half of a shard."""
    return (
        AddSubscriptions([each for each in operation.held if each.number in half.subscriptions])
        if isinstance(operation, AddSubscriptions)
        else operation
    )

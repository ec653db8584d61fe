"""A tenant's matchers handed over to the workers, and back into this process when windows were saved in shares."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal, TypeVar

from likewise.broker.pool.co_location import deal_together
from likewise.broker.pool.messages import NewSubscription, Save, Told
from likewise.broker.pool.pool import Crew
from likewise.broker.pool.processes.process import LocalHost, WorkerProcess
from likewise.broker.pool.shard import Saved, Share
from likewise.broker.pool.shard_server import Portion
from likewise.broker.pool.sharded_matcher import SHARES, SpreadMatcher
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.matcher import Matcher

T = TypeVar("T")
Architecture = Literal["replicated", "partitioned", "hierarchical"]
MAPPED: Final = 500  # subscriptions from which on a replicated share is saved with its index, and mapped by all


def hand_over(crew: Crew, tenant: Tenant, architecture: Architecture) -> None:
    """Let the workers hold a tenant's subscriptions from here on."""
    workers = list(crew.workers.values())
    tenant.stateless = _stateless(crew, tenant, workers, architecture)
    tenant.windows = _remembering(crew, tenant, tenant.windows, workers)
    tenant.alerts = _remembering(crew, tenant, tenant.alerts, workers)


def deal(new: Sequence[T], count: int) -> list[list[T]]:
    """Subscriptions in so many parts, each of neighbours, as even as can be.

    >>> [len(part) for part in deal(list(range(7)), 3)]
    [3, 2, 2]
    """
    cuts = [-(-len(new) * place // count) for place in range(count + 1)]
    return [list(new[a:b]) for a, b in pairwise(cuts)]


def _new(tenant: Tenant, matcher: NumberedMatcher) -> list[NewSubscription]:
    held = tenant.held
    return [
        NewSubscription(number, held[number].subscriber, held[number].added, subscription)
        for number, subscription in matcher.subscriptions()
    ]


def _stateless(
    crew: Crew, tenant: Tenant, workers: Sequence[WorkerProcess], architecture: Architecture
) -> SpreadMatcher:
    before = tenant.stateless
    spread = SpreadMatcher(before.matcher.alike(), tenant.number, crew, remembers=False)
    spread.know()
    new = _new(tenant, before)
    if architecture == "partitioned":
        for part, worker in zip(deal(new, len(workers)), workers, strict=True):
            _place(crew, spread, tenant, part, [worker])
        return spread
    saved = None
    if len(new) >= MAPPED and architecture == "replicated":
        folder = crew.folders.new(f"tenant-{tenant.number}")
        before.save(folder)
        saved = Saved(folder, frozenset(each.number for each in new))
    hosts = workers if architecture == "replicated" else workers[:1]
    _place(crew, spread, tenant, new, hosts, saved=saved)
    return spread


def _place(
    crew: Crew,
    spread: SpreadMatcher,
    tenant: Tenant,
    new: Sequence[NewSubscription],
    hosts: Sequence[WorkerProcess],
    *,
    saved: Saved | None = None,
    remembers: bool = False,
) -> Share:
    share = Share(tenant.number, remembers=remembers)
    share.held = {each.number: each for each in new}
    share.known, share.saved = spread.known, saved
    crew.place(share, hosts)
    spread.join(share)
    return share


def _remembering(
    crew: Crew, tenant: Tenant, before: NumberedMatcher, workers: Sequence[WorkerProcess]
) -> SpreadMatcher:
    """Windows or alerts: a share at each worker, with the state of what it holds."""
    spread = SpreadMatcher(before.matcher.alike(), tenant.number, crew, remembers=True)
    spread.know()
    if isinstance(before, SpreadMatcher):
        parts: list[tuple[list[NewSubscription], Saved | None]] = []
        for share in before.shares:
            folder = crew.folders.new(f"tenant-{tenant.number}")
            before.crew.wait_all([before.crew.ask(share, Save(str(folder)))])
            parts.append((list(share.held.values()), Saved(folder, frozenset(share.held))))
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
    for own, worker in zip(deal_together(new, len(workers)), workers, strict=True):
        state = Saved(folder, frozenset(each.number for each in own), others=True) if own else None
        _place(crew, spread, tenant, own, [worker], saved=state, remembers=True)
    _go_on_from(spread, before)
    return spread


def _go_on_from(spread: SpreadMatcher, before: NumberedMatcher) -> None:
    """Know what holds for all shares, those that hold nothing yet, too."""
    spread.reach(before.reached)
    for why in spread.excuses:
        spread.excuses[why] = before.excused(why)


def saved_shares(folder: Path) -> list[Path]:
    """The folders in which the shares of windows were saved; none if they were saved as one."""
    return sorted((folder / SHARES).iterdir(), key=lambda path: int(path.name)) if (folder / SHARES).is_dir() else []


def load_shares(empty: Matcher, tenant: int, folders: Sequence[Path]) -> SpreadMatcher:
    """Windows that were saved in shares, here in this process; owners are not needed for what remembers."""
    crew = Crew(Told(None, None, None, "full", None, 0, 0, 0))
    host = LocalHost(lambda: Portion(NumberedMatcher(empty.alike())))
    spread = SpreadMatcher(empty, tenant, crew, remembers=True)
    for folder in folders:
        share = Share(tenant, remembers=True)
        matcher = NumberedMatcher(empty.alike_from(folder))
        host.portions[tenant, share.number] = Portion(matcher)
        share.held = {number: NewSubscription(number, 0, 0, each) for number, each in matcher.subscriptions()}
        share.hosts = [host]
        crew.shares[share.number] = share
        share.begun = True
        spread.join(share)
        spread.reach(matcher.reached)
        for why in spread.excuses:
            spread.excuses[why] |= matcher.excused(why)
    return spread

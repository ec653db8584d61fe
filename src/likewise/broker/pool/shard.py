"""A shard: a part of a tenant's subscriptions on one or several hosts, how to rebuild it, and what must share it.

Co-location: alerts about the same condition, with the same re-arm condition and key, must share a shard. How far each
source is, which decides whether an event is late, is known once for all of them, and a new alert starts from what the
others observed. So they are dealt, split and added together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from likewise.broker.pool.process import PendingRequest, ShardHost
from likewise.broker.pool.protocol import (
    AddSubscriptions,
    LoadShard,
    NewSubscription,
    Operation,
    SetProxies,
    UpdateKnowledge,
)
from likewise.matching.reference.alerts.transitions import alert_conditions
from likewise.model import Subscription

CoLocationKey = tuple[Subscription, Subscription | None, tuple[str, ...]]


def co_location_key(subscription: Subscription) -> CoLocationKey | None:
    """Return the key by which alerts are co-located; None for a subscription that stands alone.

    >>> from likewise.language import parse
    >>> high, low = parse("{t > 30} per room once until false"), parse("{t < 5} per room for 9 s")
    >>> co_location_key(high) == co_location_key(low)
    True
    >>> co_location_key(high) == co_location_key(parse("{t > 30} once until false"))
    False
    """
    if subscription.alert is None:
        return None
    parts = alert_conditions(subscription)
    return parts.about or parts.condition, parts.until, subscription.alert.per


def must_co_locate(subscriptions: Iterable[NewSubscription], new: NewSubscription) -> bool:
    """Return whether a new subscription must be co-located with any of some subscriptions."""
    same = co_location_key(new.subscription)
    return same is not None and any(co_location_key(each.subscription) == same for each in subscriptions)


def partition_co_located(new: Sequence[NewSubscription], count: int) -> list[list[NewSubscription]]:
    """Partition subscriptions about evenly, keeping co-located alerts together.

    >>> from likewise.language import parse
    >>> alerts = [parse("{t > 1} once until false"), parse("{x > 1}"), parse("{t > 2} once until false")]
    >>> [[each.number for each in part] for part in partition_co_located([NewSubscription(*n) for n in
    ...     zip(range(3), range(3), range(3), alerts)], 2)]
    [[0, 2], [1]]
    """
    groups: dict[object, list[NewSubscription]] = {}
    for each in new:
        groups.setdefault(co_location_key(each.subscription) or each.number, []).append(each)
    parts: list[list[NewSubscription]] = [[] for _ in range(count)]
    place, done = 0, 0
    for group in groups.values():
        if place + 1 < count and done >= len(new) * (place + 1) / count:
            place += 1
        parts[place] += group
        done += len(group)
    return parts


def upper_half(subscriptions: Sequence[NewSubscription]) -> list[int]:
    """Return the numbers of the upper half of a shard's subscriptions; none if all must stay together."""
    return sorted(
        each.number for each in partition_co_located(sorted(subscriptions, key=lambda each: each.number), 2)[1]
    )


SUBSCRIPTION_BATCH: Final = 2_000  # subscriptions said at once
_SHARES: Final = itertools.count(1)


class ShardSnapshot(NamedTuple):
    """A saved shard: its folder, and its subscriptions then; the folder may hold those of `others`, too."""

    folder: Path
    numbers: frozenset[int]
    others: bool = False


class Shard:
    """A part of a tenant's subscriptions, on one host or replicated on several."""

    def __init__(self, tenant: int, *, stateful: bool = False) -> None:
        self.number = next(_SHARES)
        self.tenant = tenant
        self.stateful = stateful
        self.hosts: list[ShardHost] = []
        self.joining: list[ShardHost] = []  # are told of every change, and asked nothing yet
        self.learning: list[ShardHost] = []  # ... of which these come to new subscriptions by themselves
        self.mirrors: list[Shard] = []  # shares that take a part of it over, and live through what it does
        self.subscriptions: dict[int, NewSubscription] = {}
        self.ever_used = False  # whether it ever held anything: from then on it has to see every event
        self.known = UpdateKnowledge("", [])
        self.saved: ShardSnapshot | None = None  # with an index to be mapped, or a state
        self.journal: list[PendingRequest] = []
        self.journal_events = 0  # events in the journal
        self.saving: tuple[PendingRequest, int, Path] | None = None
        self.parent: Shard | None = None  # in front of whose proxy it stands behind
        self.roots: dict[int, list[Subscription]] = {}  # in front of each share behind a proxy, by its number

    @property
    def owners(self) -> dict[int, int]:
        """Return the owner of each subscription."""
        return {number: each.owner for number, each in self.subscriptions.items()}

    def proxies(self) -> SetProxies:
        """Return the proxies of shards elsewhere."""
        return SetProxies([(number, root) for number, roots in self.roots.items() for root in roots])

    def replay_operations(self) -> Iterator[Operation]:
        """Yield the operations that rebuild this shard from an empty one, without its journal."""
        there: frozenset[int] = frozenset()
        if self.saved is not None and not (self.stateful or self.saved.folder.exists()):
            self.saved = None  # somebody removed it; subscriptions are known here, too
        if self.saved is not None:
            there, numbers = self.saved.numbers, None
            if self.saved.others or not (self.stateful or there <= self.subscriptions.keys()):
                numbers = sorted(there if self.stateful else there & self.subscriptions.keys())
            yield LoadShard(str(self.saved.folder), self.owners, numbers)
        yield self.known
        if self.stateful:
            return
        new = [each for number, each in self.subscriptions.items() if number not in there]
        for first in range(0, len(new), SUBSCRIPTION_BATCH):
            yield AddSubscriptions(new[first : first + SUBSCRIPTION_BATCH])

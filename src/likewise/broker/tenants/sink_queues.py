"""The queues of targets: for each the matching deliveries that were not accepted yet.

A target has a queue of its own beside its subscriber's, without a limit of its own: it holds numbers alone (a Roaring
bitmap), and a delivery is kept as long as its event, whether anybody waits for it or not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from pyroaring import BitMap64

from likewise.broker.log.deliveries import Delivery
from likewise.broker.log.packed_sets import Numbers
from likewise.broker.log.sink_rows import StoredTarget, TargetRow


class SinkQueue:
    """The queue of one target, its cursor and its state."""

    def __init__(self, row: TargetRow) -> None:
        self.number = row.number
        self.subscriber = row.subscriber
        self.subscription = row.subscription
        self.id = row.id
        self.setting: StoredTarget = row.setting
        self.acknowledged = row.acknowledged
        self.succeeded = row.succeeded
        self.first_attempt = row.setting.tried  # the delivery that is tried again, and since when
        self.pending = BitMap64()
        self.redo: deque[int] = deque()  # dead letters that are to be tried again
        self.wake: Callable[[], None] | None = None  # set by what sends
        self.removed = False
        self.sent = self.failed = self.expired = 0
        self.last_error = ""
        self.last_error_at: int | None = None
        self.trying_again_at: int | None = None

    def row(self) -> TargetRow:
        """Return the target as it is stored."""
        return TargetRow(
            self.number, self.subscriber, self.subscription, self.id, self.setting, self.acknowledged, self.succeeded
        )

    def notify(self) -> None:
        """Wake the sender, if there is one."""
        if self.wake is not None:
            self.wake()

    def pass_over(self, number: int) -> None:
        """Settle everything up to a delivery."""
        self.acknowledged = max(self.acknowledged, number)
        if self.pending:
            self.pending.remove_range(0, number + 1)


class SinkQueues:
    """The targets of a tenant, found by their subscriptions; guarded by the lock of the queues.

    >>> from likewise.api.sinks import WebhookSettings
    >>> feeds = SinkQueues()
    >>> hook = SinkQueue(TargetRow(1, 7, "warm", "hook", StoredTarget("u", 0, WebhookSettings("https://example.org"))))
    >>> feeds.add(hook, [12])
    >>> seven, met = np.array([7]), np.array([9, 12])
    >>> feeds.offer([Delivery(3, 1, 0, seven, met), Delivery(4, 2, 0, seven, met[:1])]) == [hook], list(hook.pending)
    (True, [3])
    """

    def __init__(self) -> None:
        self._all: dict[int, SinkQueue] = {}
        self._of: dict[tuple[int, str], list[SinkQueue]] = {}  # by subscriber and subscription
        self._by_subscription: dict[
            int, list[SinkQueue]
        ] = {}  # by the numbers of subscriptions, ended ones too: the same lists

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[SinkQueue]:
        return iter(list(self._all.values()))

    def get(self, number: int) -> SinkQueue | None:
        """Return the target with a number."""
        return self._all.get(number)

    def of(self, subscriber: int, subscription: str) -> list[SinkQueue]:
        """Return the targets of a subscription."""
        return list(self._of.get((subscriber, subscription), ()))

    def add(self, feed: SinkQueue, numbers: Iterable[int]) -> None:
        """Take a target in; `numbers` are those its subscription has or had."""
        sinks = self._of.setdefault((feed.subscriber, feed.subscription), [])
        sinks.append(feed)
        self._all[feed.number] = feed
        for number in numbers:
            self._by_subscription[number] = sinks

    def remove(self, feed: SinkQueue) -> None:
        """Let a target go."""
        feed.removed = True
        self._all.pop(feed.number, None)
        sinks = self._of.get((feed.subscriber, feed.subscription), [])
        if feed in sinks:
            sinks.remove(feed)
        if not sinks:
            self._of.pop((feed.subscriber, feed.subscription), None)
            for number in [number for number, each in list(self._by_subscription.items()) if each is sinks]:
                del self._by_subscription[number]
        feed.notify()

    def index_subscription(self, subscriber: int, subscription: str, number: int) -> None:
        """Register the number of a subscription."""
        sinks = self._of.get((subscriber, subscription))
        if sinks is not None:
            self._by_subscription[number] = sinks

    def forget(self, number: int) -> None:
        """Forget a subscription number that no delivery can name any more."""
        self._by_subscription.pop(number, None)

    def wait_for(self, number: int) -> bool:
        """Return whether a match of a subscription number may still wait for a target."""
        return any(feed.pending for feed in self._by_subscription.get(number, ()))

    def expire(self, deliveries: Iterable[int]) -> None:
        """Remove expired deliveries from all queues, and count them."""
        if not self._all:
            return
        over = BitMap64(deliveries)
        for feed in self._all.values():
            feed.expired += feed.pending.intersection_cardinality(over)
            feed.pending.difference_update(over)

    def offer(self, deliveries: Iterable[Delivery]) -> list[SinkQueue]:
        """Add deliveries that are on disk to what waits; the targets that have something new."""
        if not self._by_subscription:
            return []
        numbers: Numbers | None = None
        updated: dict[int, SinkQueue] = {}
        for delivery in deliveries:
            if len(delivery.matched) <= len(self._by_subscription):  # of the two, the fewer are looked up
                shared = [number for number in delivery.matched.tolist() if number in self._by_subscription]
            else:
                numbers = np.array(sorted(self._by_subscription), np.int64) if numbers is None else numbers
                shared = _shared(numbers, delivery.matched)
            for number in shared:
                for feed in self._by_subscription.get(number, ()):
                    if delivery.number > feed.acknowledged:
                        feed.pending.add(delivery.number)
                        updated[feed.number] = feed
        return list(updated.values())


def _shared(few: Numbers, matched: Numbers) -> list[int]:
    """Return the numbers that two ascending arrays share.

    >>> _shared(np.array([3, 9, 12]), np.array([9, 10, 12, 40])), _shared(np.array([3]), np.array([1]))
    ([9, 12], [])
    """
    if not len(matched):
        return []
    places = np.minimum(np.searchsorted(matched, few), len(matched) - 1)
    shared: list[int] = few[matched[places] == few].tolist()
    return shared

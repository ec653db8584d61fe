"""Subscriber queues: the unacknowledged sequence numbers, and the policy when a queue is full.

What is queued is a set of numbers; the deliveries themselves stand in the store once for all recipients. An
acknowledgement is cumulative: everything up to a sequence number is settled.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Final, NamedTuple

from pyroaring import BitMap64

from likewise.api.subscribers import QueuePolicy
from likewise.broker.log.rows import SubscriberRow

_FEW: Final = 100  # numbers that are put in one by one: a set of their own takes longer to make and to join
EDGE: Final = "edge:"  # what the subscriber that a broker at the edge is begins with


class QueueAdmission(NamedTuple):
    """The policy's decision on offered numbers: how many are accepted, and up to where old ones are dropped."""

    accepted: int
    dropped: int = 0
    acknowledged: int = 0


class SubscriberQueue:
    """A registered subscriber and its queue.

    >>> queue = SubscriberQueue(1, "ann", "drop-oldest", limit=2)
    >>> queue.admit([4, 6, 9])
    QueueAdmission(accepted=3, dropped=1, acknowledged=4)
    """

    def __init__(
        self, number: int, id: str, policy: QueuePolicy, limit: int, acknowledged: int = 0, dropped: int = 0
    ) -> None:
        self.number = number
        self.id = id
        self.policy: QueuePolicy = policy
        self.limit = limit
        self.acknowledged = acknowledged
        self.dropped = dropped
        self.pending = BitMap64()
        self.subscriptions: dict[str, int] = {}  # id -> number
        self.wake: Callable[[], None] | None = None  # set by the stream that serves this subscriber
        self.served_by: object | None = None  # that stream; a newer one takes its place
        self.unregistered = False
        self._newest = 0  # that was settled out of order

    def __len__(self) -> int:
        return len(self.pending)

    def row(self) -> SubscriberRow:
        """Return the subscriber as it is stored."""
        return SubscriberRow(self.number, self.id, self.policy, self.limit, self.acknowledged, self.dropped)

    @property
    def is_edge(self) -> bool:
        """Return whether the subscriber is an edge, which has subscribers of its own."""
        return self.id.startswith(EDGE)

    @property
    def full(self) -> bool:
        """Return whether the queue has reached its limit."""
        return len(self.pending) >= self.limit

    def admit(self, offered: Sequence[int]) -> QueueAdmission:
        """Return what would happen to offered numbers, in ascending order, without any effect."""
        pending = len(self.pending)
        excess = pending + len(offered) - self.limit
        if excess <= 0 or self.policy == "block":
            return QueueAdmission(len(offered))
        if self.policy == "dead-letter":
            return QueueAdmission(max(0, self.limit - pending))
        last = self.pending[excess - 1] if excess <= pending else offered[excess - pending - 1]
        return QueueAdmission(len(offered), excess, last)

    def put(self, numbers: array[int]) -> None:
        """Let ascending numbers wait."""
        if numbers and numbers[-1] - numbers[0] == len(numbers) - 1:
            self.pending.add_range(numbers[0], numbers[-1] + 1)
        elif len(numbers) <= _FEW:
            self.pending.update(numbers)
        else:
            self.pending |= BitMap64(numbers)

    def acknowledge(self, number: int) -> bool:
        """Settle everything up to a sequence number; whether anything changed."""
        if number <= self.acknowledged:
            return False
        self.acknowledged = number
        if self.pending:
            self.pending.remove_range(0, number + 1)
        return True

    def acknowledge_each(self, numbers: Collection[int]) -> bool:
        """Settle some numbers, in whatever order; whether everything up to a higher one is settled by that.

        >>> queue = SubscriberQueue(1, "ann", "drop-oldest", limit=9)
        >>> queue.put(array("Q", (4, 6, 9)))
        >>> queue.acknowledge_each([6]), queue.acknowledged, queue.acknowledge_each([4]), queue.acknowledged
        (True, 3, True, 8)
        """
        self.pending.difference_update(BitMap64(numbers))
        self._newest = max(self._newest, *numbers)
        reached = self.pending.min() - 1 if self.pending else self._newest
        if reached <= self.acknowledged:
            return False
        self.acknowledged = reached
        return True

    def following(self, after: int, limit: int) -> list[int]:
        """Return the next numbers after one, in order."""
        return list(islice(self.pending.iter_equal_or_larger(after + 1), limit))

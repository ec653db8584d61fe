"""Topic subscriptions, found by the topic of a message, and retained messages, found by a filter."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from pyroaring import BitMap64

from likewise.broker.log.mqtt.messages import RetainedRow, StoredMessage, retained_bytes
from likewise.broker.log.mqtt.topic_subscriptions import TopicSubscription
from likewise.matching.topics.topic_tree import TopicTree
from likewise.matching.topics.topic_trie import TopicTrie


class TopicSubscriptions:
    """Acknowledged topic subscriptions. Many subscribers may have the same filter.

    >>> topics = TopicSubscriptions()
    >>> topics.put(TopicSubscription(7, 1, "a/+", 1))
    >>> topics.put(TopicSubscription(8, 2, "a/+", 1, no_local=True))
    >>> [held.number for held in topics.find("a/b")], [held.number for held in topics.find("a/b", by=2)]
    ([7, 8], [7])
    """

    def __init__(self) -> None:
        self.by_number: dict[int, TopicSubscription] = {}
        self._trie = TopicTrie()
        self._slots: dict[str, int] = {}  # where the subscriptions with a filter are
        self._at: dict[int, dict[int, TopicSubscription]] = {}  # ... by their subscribers
        self._next = 0

    def __len__(self) -> int:
        return len(self.by_number)

    def get(self, subscriber: int, text: str) -> TopicSubscription | None:
        """Return a subscriber's subscription with a filter."""
        slot = self._slots.get(text)
        return None if slot is None else self._at[slot].get(subscriber)

    def put(self, subscription: TopicSubscription) -> None:
        """Hold a subscription, in place of the subscriber's with the same filter."""
        slot = self._slots.get(subscription.filter)
        if slot is None:
            slot = self._slots[subscription.filter] = self._next
            self._next += 1
            self._at[slot] = {}
            self._trie.add(subscription.filter, slot)
        self._at[slot][subscription.subscriber] = subscription
        self.by_number[subscription.number] = subscription

    def remove(self, subscription: TopicSubscription) -> None:
        """Let a subscription go."""
        slot = self._slots[subscription.filter]
        del self._at[slot][subscription.subscriber], self.by_number[subscription.number]
        if not self._at[slot]:
            del self._at[slot], self._slots[subscription.filter]
            self._trie.remove(subscription.filter)

    def of(self, subscriber: int) -> list[TopicSubscription]:
        """Return the subscriptions of a subscriber."""
        return [subscription for subscription in self.by_number.values() if subscription.subscriber == subscriber]

    def find(self, topic: str, by: int | None = None) -> Iterator[TopicSubscription]:
        """Return the subscriptions that a topic matches; `by` is the publishing subscriber, if there is one."""
        for slot in self._trie.find(topic):
            for subscription in self._at[slot].values():
                if not subscription.no_local or subscription.subscriber != by:
                    yield subscription


class RetainedTopics:
    """The retained message of each topic, by its position in the log.

    >>> retained = RetainedTopics()
    >>> retained.take(StoredMessage("a/b", b"21.5", retain=True), 7)
    >>> [row.position for row in retained.find("a/#", now=0)], retained.bytes
    ([7], 7)
    >>> retained.take(StoredMessage("a/b", b"", retain=True), 9)
    >>> retained.find("a/#", now=0), retained.bytes
    ([], 0)
    """

    def __init__(self) -> None:
        self._tree = TopicTree()
        self._rows: dict[int, RetainedRow] = {}  # by position
        self._at: dict[str, int] = {}  # the position of a topic's
        self._ending: set[int] = set()
        self.bytes = 0  # of all of them
        self._lock = threading.RLock()  # messages come on the writer's thread, newcomers on others

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, row: RetainedRow) -> None:
        """Store a retained message in place of the topic's older one."""
        with self._lock:
            self._put(row)

    def _put(self, row: RetainedRow) -> None:
        older = self._at.get(row.topic)
        if older is not None:
            self.bytes -= self._rows.pop(older).size
            self._ending.discard(older)
        self._tree.put(row.topic, row.position)
        self._rows[row.position], self._at[row.topic] = row, row.position
        self.bytes += row.size
        if row.ends is not None:
            self._ending.add(row.position)

    def take(self, message: StoredMessage, position: int) -> None:
        """Take in a stored message with `retain` set; an empty one removes what was retained."""
        with self._lock:
            if message.payload:
                size = retained_bytes(message.topic, message.payload, message.properties)
                self._put(RetainedRow(message.topic, position, message.expires, message.qos, size))
            elif message.topic in self._at:
                self.forget(self._at[message.topic])

    def forget(self, position: int) -> None:
        """Remove the message at a position, if it is retained."""
        with self._lock:
            row = self._rows.pop(position, None)
            if row is not None:
                self.bytes -= row.size
                del self._at[row.topic]
                self._ending.discard(position)
                self._tree.remove(row.topic)

    def end(self, now: int) -> None:
        """Forget what is over."""
        with self._lock:
            for position in [each for each in self._ending if (self._rows[each].ends or 0) <= now]:
                self.forget(position)

    def with_message(self, topic: str, size: int) -> tuple[int, int]:
        """Return how many topics and bytes there would be with a message of a size in place of the topic's own."""
        with self._lock:
            known = self._at.get(topic)
            older = 0 if known is None else self._rows[known].size
            return len(self._rows) + (known is None), self.bytes + size - older

    def positions(self, text: str) -> BitMap64:
        """Return the positions of the messages whose topics meet a filter: a compact set, for reading page by page."""
        with self._lock:
            return BitMap64(self._tree.find(text))

    def get(self, position: int) -> RetainedRow | None:
        """Return the message at a position, if it is still the retained one of its topic."""
        with self._lock:
            return self._rows.get(position)

    def find(self, text: str, now: int) -> list[RetainedRow]:
        """Return the retained messages whose topics match a filter, in the order of the log."""
        with self._lock:
            rows = [self._rows[position] for position in sorted(self._tree.find(text))]
        return [row for row in rows if row.ends is None or row.ends > now]

"""A tenant: its subscribers, its subscriptions and its matchers. No tenant sees another's."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np
import structlog
from pyroaring import BitMap64

from likewise.api.subscriptions import EvaluatedAt
from likewise.broker.clock import PLAUSIBLE_STEP_US
from likewise.broker.locks import make_lock
from likewise.broker.log.deliveries import Delivery, OwnerIndex, SortedOwners
from likewise.broker.log.mqtt.messages import RetainedRow, StoredMessage, retained_bytes
from likewise.broker.log.mqtt.topic_subscriptions import TopicSubscription
from likewise.broker.log.packed_sets import NONE, Numbers
from likewise.broker.tenants.normalized_sources import NormalizedSources
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.sink_queues import SinkQueues
from likewise.broker.tenants.source_registry import SourceRegistry
from likewise.defaults import MATCH_ENTRIES, MATCHES_TOGETHER
from likewise.errors import UnknownId
from likewise.matching.matcher import Matcher
from likewise.matching.topics.topic_tree import TopicTree
from likewise.matching.topics.topic_trie import TopicTrie
from likewise.model import Kind, Subscription

LONGEST_PAUSE: Final = 86_400 * 1_000_000  # µs between two entries that count for the expiry of alerts' keys
_log = structlog.get_logger("likewise.tenants")
FEW_MATCHED: Final = 16  # subscriptions of a delivery that are looked through rather than sorted
RECENT_BYTES: Final = 32 * 2**20  # of deliveries kept in memory, so that streams that keep up need no reading


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


class StoredSubscription(msgspec.Struct):
    """A stored subscription; `number` is the position of its entry in the log."""

    number: int
    subscriber: int
    id: str
    subscription: Subscription
    added: int
    ended: int | None = None

    @property
    def ends(self) -> int | None:
        """Return when it expires."""
        valid_for = self.subscription.valid_for
        return None if valid_for is None else self.added + valid_for


class Tenant:
    """The state of one tenant in memory.

    Three matchers share one interpretation: `stateless` holds what needs no memory of past events, `windows` the top-k
    subscriptions, `alerts` those that go by when events come. So a dry run can ask `stateless` without changing
    anything, and only the other two are saved.
    """

    def __init__(
        self, number: int, name: str, windows: Matcher, windows_from: int | None = None, alerts: Matcher | None = None
    ) -> None:
        self.number = number
        self.name = name
        self.windows = NumberedMatcher(windows)
        self.stateless = self.windows.alike()
        self.alerts = self.windows.alike() if alerts is None else NumberedMatcher(alerts)
        self.windows_from = windows_from
        self.rebuilt = False  # whether its windows had to be made again from the log at the start
        self.unsaved = False  # ... and are not saved since
        self.saving = False  # whether they are being saved: so long nothing of it is matched
        self.matchers = make_lock("matchers")  # held by whoever uses the matchers or deals out numbers
        self.appended = 0  # the last position of its entries in the log; the writer's to change, as is `matched`
        self.matched = 0  # up to where they are matched and that is stored
        self.initial_passes = 0  # over stored events, for subscriptions that are held, which go on beside what comes
        self.enqueued = 0  # entries that came to be matched in turns; the writer's to change
        self.dequeued = 0  # of those, what is matched; the matching thread's to change, as is `pace`
        self.pace = 0.0  # seconds of the processor that one took lately
        self._matches = 0.0  # that an event led to lately
        self.subscriptions: dict[int, StoredSubscription] = {}
        self._named: Numbers = NONE  # subscriptions whose owners were asked for last
        self._owned = OwnerIndex.of([])
        self.lake_position: int | None = (
            None  # up to which subscription a lake knows what numbers stand for; None without one
        )
        self.upstream_kinds: frozenset[Kind] = frozenset()  # kinds that a broker above decides
        self.upstream_subscriptions: set[int] | None = (
            None  # numbers of those that the broker above holds; None without one
        )
        self.scored: frozenset[int] = frozenset()  # numbers of those that are decided here by scores from above
        self.selecting: set[int] = set()  # numbers of those that name what their deliveries carry
        self.ended: set[int] = set()  # numbers of those that hold no longer
        self.ending: dict[int, StoredSubscription] = {}  # those with a validity of their own
        self.subscribers: dict[str, SubscriberQueue] = {}
        self.by_number: dict[int, SubscriberQueue] = {}
        self.sources = SourceRegistry(self.stateless.interpretation.annotations)
        self.normalized: NormalizedSources | None = None  # what a normaliser remembers of them; None without one
        self.sinks = SinkQueues()  # what waits for targets
        self.topics = TopicSubscriptions()  # subscriptions to topics that are acknowledged; guarded by `matchers`
        self.retained = RetainedTopics()
        self.next_number = 1  # of the next delivery
        self.stored_number = 0  # of the last delivery on disk
        self.recent: OrderedDict[int, Delivery] = OrderedDict()
        self._recent_bytes = 0
        self.recent_limit = RECENT_BYTES
        self.blocking: set[SubscriberQueue] = set()  # those whose full queue holds publishers up
        self.withdrawn: set[int] = set()
        self.events = 0  # stored ones, roughly: 0 means none
        self.last_arrival = 0
        self.newest_arrival = 0  # that its windows have seen; they never see time go back
        self.follows_arrival = False  # whether the newest event had no time of its own
        self.ticked = 0

    def subscriber(self, id: str) -> SubscriberQueue:
        """Return the queue of the subscriber with this id."""
        queue = self.subscribers.get(id)
        if queue is None:
            raise UnknownId(id, remedy="a subscriber is registered first: PUT /v1/subscribers/{id}")
        return queue

    def subscription(self, subscriber: str, id: str) -> StoredSubscription:
        """Return the subscription of a subscriber with this id."""
        known = self.subscriber(subscriber).subscriptions
        number = known.get(id)
        if number is None:
            raise UnknownId(id, known=known)
        return self.subscriptions[number]

    def live(self) -> Iterator[StoredSubscription]:
        """Return the active subscriptions, in the order of addition."""
        return (stored for stored in list(self.subscriptions.values()) if stored.ended is None)

    def matcher_of(self, stored: StoredSubscription) -> NumberedMatcher:
        """Return the matcher that holds a subscription."""
        if stored.subscription.alert is not None:
            return self.alerts
        return self.windows if stored.subscription.top is not None else self.stateless

    @property
    def stateful(self) -> bool:
        """Return whether any subscription depends on past events."""
        return bool(len(self.windows) or len(self.alerts))

    def decides(self, subscription: Subscription) -> bool:
        """Return whether a subscription is decided here, and not by the broker above."""
        return subscription.kind not in self.upstream_kinds

    def decided(self, stored: StoredSubscription) -> EvaluatedAt:
        """Return where a subscription is decided, at a broker at the edge; empty at any other."""
        if self.upstream_subscriptions is None:
            return ""
        if self.decides(stored.subscription) or stored.number in self.scored:
            return "edge"
        return "above" if stored.number in self.upstream_subscriptions else "waiting"

    def add_subscription(self, stored: StoredSubscription) -> None:
        """Take a subscription into its matcher and among its subscriber's own."""
        if self.decides(stored.subscription):
            self.matcher_of(stored).add(stored.number, stored.subscription, at=stored.added, owner=stored.subscriber)
        self.index_subscription(stored)
        ids = self.by_number[stored.subscriber].subscriptions
        ids.pop(stored.id, None)  # what takes the place of another stands last
        ids[stored.id] = stored.number

    def index_subscription(self, stored: StoredSubscription) -> None:
        """Note a subscription by its number."""
        self.subscriptions[stored.number] = stored
        self.sinks.index_subscription(stored.subscriber, stored.id, stored.number)
        if stored.subscription.select:
            self.selecting.add(stored.number)
        if stored.ended is not None:
            self.ended.add(stored.number)
        elif stored.ends is not None:
            self.ending[stored.number] = stored

    def remove_subscription(self, stored: StoredSubscription, position: int) -> None:
        """Take a subscription out; it stays known by name for deliveries under way."""
        stored.ended = position
        self.ended.add(stored.number)
        self.ending.pop(stored.number, None)
        matcher = self.matcher_of(stored)
        if stored.number in matcher:  # its validity may have ended it
            matcher.remove(stored.number)
        queue = self.by_number[stored.subscriber]
        if queue.subscriptions.get(stored.id) == stored.number:
            del queue.subscriptions[stored.id]

    def batch_size(self) -> int:
        """Return how many events to match at once, so that their matches use little memory."""
        return max(1, min(MATCH_ENTRIES, int(MATCHES_TOGETHER / max(1.0, self._matches))))

    @property
    def matches(self) -> float:
        """Return how many subscriptions an event matched lately."""
        return self._matches

    def record_matches(self, events: int, matches: int) -> None:
        """Update the average number of matches of an event."""
        self._matches = max(matches / events, 0.5 * self._matches + 0.5 * matches / events)

    def owners_of(self, named: Numbers) -> OwnerIndex:
        """Return the owners of subscriptions, cached as long as the same array names them."""
        if named is not self._named:
            self._named, self._owned = (
                named,
                OwnerIndex.of([self.subscriptions[number].subscriber for number in named.tolist()]),
            )
        return self._owned

    def recipient_subscriptions(self, delivery: Delivery, subscriber: int) -> list[tuple[int, str]]:
        """Return index and id of a delivery's subscriptions that belong to one subscriber.

        Many are sorted by their owners once, so that n recipients cost n look-ups, not n passes over all of them.
        """
        subscriptions, matched = self.subscriptions, delivery.matched
        if len(matched) <= FEW_MATCHED:
            known = ((place, subscriptions.get(number)) for place, number in enumerate(matched.tolist()))
            return [(place, each.id) for place, each in known if each is not None and each.subscriber == subscriber]
        if delivery.owners is None:
            if delivery.owner_index is not None:
                owners = delivery.owner_index.owners[delivery.owner_index.place]
            else:
                of = (
                    -1 if (each := subscriptions.get(number)) is None else each.subscriber
                    for number in matched.tolist()
                )
                owners = np.fromiter(of, np.int64, len(matched))
            place = np.argsort(owners, kind="stable")
            delivery.owners = SortedOwners(owners[place], place)
        first, last = np.searchsorted(delivery.owners.owner, (subscriber, subscriber + 1))
        places = delivery.owners.place[first:last]
        pairs = zip(places.tolist(), matched[places].tolist(), strict=True)
        return [(place, each.id) for place, number in pairs if (each := subscriptions.get(number)) is not None]

    def cache_deliveries(self, deliveries: list[Delivery]) -> None:
        """Keep the newest deliveries in memory; one without its event (a retained message) is read when it is sent."""
        for delivery in deliveries:
            if not delivery.body:
                continue
            self.recent[delivery.number] = delivery
            self._recent_bytes += delivery.size
        while self._recent_bytes > self.recent_limit:
            self._recent_bytes -= self.recent.popitem(last=False)[1].size

    def evict_delivery(self, number: int) -> None:
        """Keep a delivery in memory no longer: its event is gone."""
        if (delivery := self.recent.pop(number, None)) is not None:
            self._recent_bytes -= delivery.size

    def window_time(self, arrival: int) -> int:
        """Return the window time of an arrival: it stands still while the clock goes back a little.

        Where it goes back further, it was set, and what the windows hold goes back with it, as old as it was. All of
        that follows from the log alone, so a replay does the same.

        Where nothing came for over `LONGEST_PAUSE`, the broker was off or the clock stepped, and nobody can tell which:
        that time brings no key of an alert nearer to being forgotten.
        """
        if arrival < self.newest_arrival - PLAUSIBLE_STEP_US:
            _log.warning("arrivals_went_back", tenant=self.name, by=self.newest_arrival - arrival)
            self.windows.shift(arrival - self.newest_arrival)
            self.alerts.shift(arrival - self.newest_arrival)
            self.newest_arrival = self.last_arrival = arrival
        if self.newest_arrival and arrival > self.newest_arrival + LONGEST_PAUSE:
            self.alerts.postpone_expiry(arrival - self.newest_arrival)
        self.newest_arrival = max(self.newest_arrival, arrival)
        return self.newest_arrival

    @property
    def caught_up(self) -> bool:
        """Return whether everything in the log is matched and stored. For the writer's thread."""
        return self.matched >= self.appended

    @property
    def waiting(self) -> int:
        """Return how many entries wait to be matched."""
        return max(0, self.enqueued - self.dequeued)

    @property
    def refused_late(self) -> int:
        """Return how many events were too late for windows or alerts."""
        return self.windows.refused_late + self.alerts.refused_late

    @property
    def window_length(self) -> int:
        """Return the longest window of time of the top-k subscriptions, in µs; 0 if there is none."""
        return max((s.top.duration or 0 for _, s in self.windows.subscriptions() if s.top is not None), default=0)

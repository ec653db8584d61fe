"""The outbox: a follower of the log that keeps what the broker above asks for until that has it.

It is handed what is on disk, decides on its own thread, and writes what waits together with how far it has come: a
crash repeats what was not written, and nothing else. What is asked for anew is looked for among earlier events, too.

What is decided here about relaxed subscriptions, as commands of the log, behind the event that it is about.

A decision is appended before it is noted that the event was looked at: after a crash it is said again, and what was
delivered for a subscription is not delivered for it again. So it makes no difference who said it first, this edge or
the broker above, which may have been sent the event for others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, Literal

import msgspec
import structlog

from likewise.api.edge_frames import DemandFrame, VocabularyFrame
from likewise.broker.broker import Broker
from likewise.broker.dispatch.initial_matches import valid_events
from likewise.broker.edge_hub.demands import Key
from likewise.broker.log.commits import wait_for
from likewise.broker.log.edges.hops import ABOVE
from likewise.broker.log.edges.outbox import (
    OutboxEvent,
    WithdrawnItem,
    forget,
    is_in_outbox,
    last_dealt,
    load,
    outgoing,
    put,
    source_of,
    waiting,
)
from likewise.broker.log.edges.uplink import read_uplink, store_uplink
from likewise.broker.log.entries import (
    COMMAND,
    EVENT,
    AnnounceCommand,
    Entry,
    RemoteDecision,
    RenameSourceCommand,
    RevokeCommand,
    SubscribeCommand,
    UnregisterCommand,
    UnsubscribeCommand,
    WithdrawCommand,
    command_entry,
)
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.positions import advance, read_positions, start_at
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import EDGE_TEXTS, INITIAL_EVENTS, MAX_ANNOUNCED_ATTRIBUTES
from likewise.edge.bounds import Bounds, drop_expired, drop_over_limit
from likewise.edge.demand import ActiveDemand, StoredDemand, SubscriptionNotApplied
from likewise.errors import LikewiseError
from likewise.matching.demand.demand_filter import DemandFilter
from likewise.model import Event, Subscription
from likewise.model.announcements.announcement import SPEAKER, AnnouncedAttribute, AnnouncedKind
from likewise.model.event import EventTuple
from likewise.model.text import attribute_names, fold
from likewise.model.time import duration

CAUSES: tuple[Literal["arrival", "initial"], ...] = ("arrival", "initial")


SOURCES = 100_000  # of which words are kept


class VocabularyTracker:
    """The vocabulary of events here, by source and themes."""

    def __init__(self) -> None:
        self._known: dict[Key, dict[tuple[str, str, str], AnnouncedAttribute]] = {}
        self._texts: dict[Key, dict[str, set[str]]] = {}
        self._pending: dict[Key, tuple[dict[tuple[str, str, str], AnnouncedAttribute], dict[str, list[str]]]] = {}

    def observe(self, event: Event, demand: ActiveDemand) -> None:
        """Record the vocabulary of an event that the hub has not scored yet."""
        key: Key = (event.source or "", event.themes)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= SOURCES:
                return
            known = self._known[key] = {}
        text_names = demand.text_attributes(key)
        for item in event.tuples:
            kind: AnnouncedKind = (
                "boolean" if isinstance(item.value, bool) else "text" if isinstance(item.value, str) else "number"
            )
            name = (fold(item.attribute), item.unit, kind)
            if name not in known and len(known) < MAX_ANNOUNCED_ATTRIBUTES:
                try:
                    made = AnnouncedAttribute(item.attribute, item.unit, kind)
                except LikewiseError:
                    continue  # it cannot be told, so it is never judged
                known[name] = made
                self._pending.setdefault(key, ({}, {}))[0][name] = made
            if name[0] in text_names and isinstance(item.value, str):
                texts = self._texts.setdefault(key, {}).setdefault(name[0], set())
                if item.value not in texts and len(texts) < EDGE_TEXTS:
                    texts.add(item.value)
                    self._pending.setdefault(key, ({}, {}))[1].setdefault(item.attribute, []).append(item.value)

    def restore(self, demand: ActiveDemand) -> None:
        """Restore the known vocabulary from a demand: after a restart nothing else is left of it."""
        for sent in demand.groups.values():
            for source, themes in sent.sources:
                known = self._known.setdefault((source, themes), {})
                for term in sent.terms:
                    with suppress(LikewiseError):
                        made = AnnouncedAttribute(term.text, term.unit, term.kind)  # type: ignore[arg-type]
                        known.setdefault((fold(term.text), term.unit, term.kind), made)
                for name, texts in sent.texts.items():
                    self._texts.setdefault((source, themes), {}).setdefault(name, set()).update(texts)

    def take_pending(self) -> list[VocabularyFrame]:
        """Return the vocabulary that was not reported yet, and mark it as reported."""
        news, self._pending = self._pending, {}
        return [_vocabulary_frame(key, list(names.values()), texts) for key, (names, texts) in news.items()]

    def snapshot(self) -> list[VocabularyFrame]:
        """Return the whole vocabulary, for a hub that may know none of it."""
        self._pending = {}
        return [
            _vocabulary_frame(
                key, list(names.values()), {name: sorted(texts) for name, texts in self._texts.get(key, {}).items()}
            )
            for key, names in self._known.items()
        ]

    def __bool__(self) -> bool:
        return bool(self._pending)


def _vocabulary_frame(key: Key, names: list[AnnouncedAttribute], texts: dict[str, list[str]]) -> VocabularyFrame:
    return VocabularyFrame(
        source=key[0], themes=key[1], attributes=tuple(names), texts={n: tuple(each) for n, each in texts.items()}
    )


class LocalDecisions:
    """Decisions of one tenant that wait to be appended."""

    def __init__(self, log: EventLog, tenant: Tenant) -> None:
        self._log = log
        self._tenant = tenant
        self._waiting: list[Entry] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def subscription(self, number: int) -> Subscription | None:
        """Return a local subscription by its number; None if it was removed."""
        applied = self._tenant.matched  # before it is looked at
        stored = self._tenant.subscriptions.get(number)
        if stored is None and number > applied:
            raise SubscriptionNotApplied(number)
        return None if stored is None or stored.ended is not None else stored.subscription

    def add(self, entry: Entry, matches: Iterable[tuple[int, float]]) -> None:
        """Add the subscriptions that an event matches, with their scores."""
        self._waiting += self._entries_for(entry, list(matches))

    def _entries_for(self, entry: Entry, matches: list[tuple[int, float]]) -> Iterator[Entry]:
        for cause in CAUSES:
            decided = tuple(pair for pair in matches if (pair[0] < entry.position) == (cause == "arrival"))
            if decided:
                yield command_entry(self._tenant.number, RemoteDecision(entry.source, entry.id, cause, decided))

    def append(self) -> None:
        """Bring them to disk; they stay if that fails."""
        made = self._waiting
        if made:
            wait_for(lambda done: self._log.append(made, done))
            self._waiting = []

    def clear(self) -> None:
        """Forget those that are not on disk: they are made again."""
        self._waiting = []


FOLLOWER: Final = "outbox"
DEMAND, COUNTS = "demand", "counts"  # rows of what is remembered
PAUSE: Final = 0.02  # seconds between two commits of what waits
MAX_QUEUED_ENTRIES: Final = 20_000  # entries that are held in memory; what is beyond is read from the log
WITHDRAWAL_BYTES: Final = 200  # that a withdrawal is counted as
AGE_SECONDS: Final = 60.0
# An item: the position of an entry, its size in bytes (about), and the event that it withdraws.
Item = tuple[int, int, WithdrawnItem | None]
_log = structlog.get_logger("likewise.edge")


class OutboxCounters(msgspec.Struct):
    """Counters of the outbox: items acknowledged by the hub, dropped by the limits, not needed by the hub."""

    acknowledged: int = 0
    dropped: int = 0
    forwarded: int = 0
    passed_over: int = 0


class Outbox:
    """Items that wait for the hub. `on_change` is called on the outbox's thread when there is a new one."""

    def __init__(self, broker: Broker, tenant: Tenant, bounds: Bounds, on_change: Callable[[], None]) -> None:
        self.vocabulary = VocabularyTracker()
        self.readings: dict[str, int] = {}  # when each source was last read, since that was last told
        self.sources_changed = threading.Event()
        self.subscriptions_changed = threading.Event()
        self._broker = broker
        self._store = broker.store
        self._tenant = tenant
        self._bounds = bounds
        self._on_change = on_change
        self._batches: list[list[Entry]] = []
        self._count = 0
        self._missed = False  # some were not kept in memory
        self._changes: list[Callable[[], None]] = []
        self._wake = threading.Event()
        self._stopping = threading.Event()
        with self._store.reading() as tables:
            positions = read_positions(tables, FOLLOWER)
            stored_demand = read_uplink(tables, tenant.number, DEMAND, StoredDemand)
            self.counts = read_uplink(tables, tenant.number, COUNTS, OutboxCounters) or OutboxCounters()
        if tenant.number not in positions:
            self._store.commit(lambda tables: start_at(tables, FOLLOWER, tenant.number))
        self._position = positions.get(tenant.number, 0)
        self.last_command = self._position  # up to where what sources and subscribers say was seen, written or not
        self._decisions = LocalDecisions(self._store, tenant)
        self.demand = ActiveDemand.restored(stored_demand, broker.types, self._decisions.subscription)
        tenant.scored = self.demand.local_ids
        self.vocabulary.restore(self.demand)
        self.waiting, self.bytes = self._load()
        self._aged = 0.0
        self._thread = threading.Thread(target=self._run, name="likewise-outbox", daemon=True)

    def start(self) -> None:
        """Follow the log from where it stopped."""
        self._missed = True
        self._store.followers.append(self)
        self._wake.set()
        self._thread.start()

    def stop(self) -> None:
        """Write what was decided, and end."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(10.0)
        if self in self._store.followers:
            self._store.followers.remove(self)

    def take(self, entries: list[Entry]) -> None:
        """New entries are on disk. On the writer's thread: as little as can be."""
        if self._count < MAX_QUEUED_ENTRIES:
            self._batches.append(entries)
            self._count += len(entries)
        else:
            self._missed = True
        self._wake.set()

    @property
    def position(self) -> int:
        """Return the position up to which the log is processed, on disk."""
        return self._position

    # -- sending ----------------------------------------------------------------------------------

    def page(self, after: int, items: int) -> list[OutboxEvent]:
        """Return the next items after a sequence, with their contents."""
        with self._store.reading() as tables:
            items_waiting = waiting(tables, self._tenant.number, after, items)
            return outgoing(tables, items_waiting, self._broker.clock())

    def last_sequence(self) -> int:
        """Return the last sequence that was ever assigned."""
        with self._store.reading() as tables:
            return last_dealt(tables)

    def acknowledge(self, sequence: int) -> None:
        """Record that the hub has stored everything up to a sequence."""
        if sequence <= self.counts.acknowledged:
            return
        tenant = self._tenant.number

        def work(tables: StoreTables) -> None:
            before, _ = load(tables, tenant, self.counts.acknowledged)
            self.counts.acknowledged = max(self.counts.acknowledged, sequence)
            self.waiting, self.bytes = load(tables, tenant, sequence)
            self.counts.forwarded += max(0, before - self.waiting)
            store_uplink(tables, tenant, COUNTS, self.counts)
            forget(tables, tenant, sequence)

        self._store.commit(work)

    def oldest(self) -> int:
        """Return when the oldest waiting item arrived; 0 if none waits."""
        with self._store.reading() as tables:
            items = waiting(tables, self._tenant.number, self.counts.acknowledged, 1)
            return source_of(tables, items[0].position)[1] if items else 0

    def _load(self) -> tuple[int, int]:
        with self._store.reading() as tables:
            return load(tables, self._tenant.number, self.counts.acknowledged)

    # -- what is asked for ------------------------------------------------------------------------

    def change_demand(self, frame: DemandFrame) -> bool:
        """Go by another demand from now on, and look for it among earlier events; whether it could be made.

        Returns when both are on disk.
        """
        done = threading.Event()
        made: list[bool] = []

        def change() -> None:
            try:
                made.append(self._change_demand(frame))
            finally:
                done.set()

        self._changes.append(change)
        self._wake.set()
        while not done.wait(0.5):
            if not self._thread.is_alive():
                return False
        return bool(made and made[0])

    def _change_demand(self, frame: DemandFrame) -> bool:
        after = self.demand.apply(frame)
        if after is None:
            return False
        gained = after.added_since(self.demand)
        items = list(self._find_earlier(gained, after)) if frame.since and gained else []
        self._decisions.append()
        stored, tenant = after.to_stored(), self._tenant.number
        self.demand = after
        self._tenant.scored = after.local_ids

        def work(tables: StoreTables) -> None:
            store_uplink(tables, tenant, DEMAND, stored)
            self._enqueue(tables, items)

        self._store.commit(work)
        if items:
            self._on_change()
        return True

    def _find_earlier(self, gained: dict[Key, list[DemandFilter] | None], after: ActiveDemand) -> Iterable[Item]:
        """Earlier events that are valid and wanted by what is asked anew; what is decided here anew is decided."""
        new = after.local_ids - self.demand.local_ids
        now = self._broker.clock()
        for entry in valid_events(self._store, self._tenant, self._position + 1, now, INITIAL_EVENTS):
            event = entry.value
            assert isinstance(event, Event)
            key = (event.source or "", event.themes)
            if key not in gained or not self._is_forwardable(entry):
                continue
            filters = gained[key]
            by_name: dict[str, list[EventTuple]] = {}
            for item in event.tuples:
                for name in attribute_names(item.attribute):
                    by_name.setdefault(name, []).append(item)
            decision = after.evaluate(event)
            if decision.unjudged:
                self.vocabulary.observe(event, after)
            self._decisions.add(entry, [pair for pair in decision.matched if pair[0] in new])
            if (
                decision.unjudged
                or filters is None
                or any(each.matches(by_name, self._broker.types) for each in filters)
            ):
                yield entry.position, len(entry.body), None

    # -- its thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait(1.0)
            self._wake.clear()
            try:
                self._process_pending()
                self._drop_expired()
            except Exception as error:
                self._missed = True
                self._decisions.clear()
                if not self._stopping.is_set():
                    _log.error("edge_outbox_failed", exc_info=error)
                    self._stopping.wait(1.0)
                    self._wake.set()
            self._stopping.wait(PAUSE)

    def _process_pending(self) -> None:
        changes, self._changes = self._changes, []
        if self._missed:
            self._missed = False
            self._batches, self._count = [], 0
            self._follow(self._store.entries(self._position, self._store.position, tenant=self._tenant.number))
        handed, self._batches = self._batches, []
        self._count = 0
        self._follow(entry for entries in handed for entry in entries)
        for change in changes:  # after what came before them
            change()

    def _follow(self, entries: Iterable[Entry]) -> None:
        items: list[Item] = []
        position = self._position
        for entry in entries:
            if entry.position <= position or entry.tenant != self._tenant.number:
                continue
            position = entry.position
            item = self._process_entry(entry, items)
            if item is not None:
                items.append(item)
            if len(items) + len(self._decisions) >= 1_000:
                self._write(items, position)
                items = []
        if position > self._position:
            self._write(items, position)

    def _process_entry(self, entry: Entry, before: Sequence[Item]) -> Item | None:
        if entry.kind == COMMAND:
            return self._process_command(entry, before)
        if not self._is_forwardable(entry):
            return None
        event = entry.value
        assert isinstance(event, Event)
        self.readings[entry.source] = entry.arrival
        decision = self.demand.evaluate(event)
        if decision.unjudged:
            self.vocabulary.observe(event, self.demand)
        self._decisions.add(entry, decision.matched)
        if decision.forward or 0 < self.demand.until < entry.arrival:
            return entry.position, len(entry.body), None
        self.counts.passed_over += 1
        return None

    def _process_command(self, entry: Entry, before: Sequence[Item]) -> Item | None:
        match entry.value:
            case WithdrawCommand(event=position):
                with self._store.reading() as tables:
                    queued = is_in_outbox(tables, self._tenant.number, position)
                if queued or self.counts.dropped or any(item[0] == position for item in before):
                    # Dropped items may have reached the broker above, too.
                    withdrawn = next(self._store.entries(position - 1, position), None)
                    if withdrawn is not None and self._is_forwardable(withdrawn):
                        return entry.position, WITHDRAWAL_BYTES, WithdrawnItem(withdrawn.source, withdrawn.id)
            case AnnounceCommand() | RevokeCommand() | RenameSourceCommand():
                self.last_command = entry.position  # before it is said: whoever looks must know how far to wait
                self.sources_changed.set()
                self._on_change()
            case SubscribeCommand() | UnsubscribeCommand() | UnregisterCommand():
                self.last_command = entry.position
                self.subscriptions_changed.set()
                self._on_change()
        return None

    def _is_forwardable(self, entry: Entry) -> bool:
        """Return whether an event may go up: not if it came from the hub or is the broker's own announcement."""
        return entry.kind == EVENT and entry.source != SPEAKER and entry.hops[-1:] != (ABOVE,)

    def _write(self, items: list[Item], position: int) -> None:
        self._decisions.append()

        def work(tables: StoreTables) -> None:
            self._enqueue(tables, items)
            advance(tables, FOLLOWER, {self._tenant.number: position})

        self._store.commit(work)
        self._position = position
        if items or self.vocabulary:
            self._on_change()

    def _enqueue(self, tables: StoreTables, items: list[Item]) -> None:
        """Let items wait, within the bounds."""
        tenant = self._tenant.number
        count, size = put(tables, tenant, items)
        self.waiting += count
        self.bytes += size
        if self.bytes > self._bounds.bytes:
            self.waiting, self.bytes = load(tables, tenant, self.counts.acknowledged)
            dropped = drop_over_limit(tables, tenant, self.counts.acknowledged, self.bytes, self._bounds)
            self._record_dropped(tables, dropped)

    def _record_dropped(self, tables: StoreTables, dropped: int) -> None:
        if dropped:
            self.waiting, self.bytes = load(tables, self._tenant.number, self.counts.acknowledged)
            self.counts.dropped += dropped
            store_uplink(tables, self._tenant.number, COUNTS, self.counts)
            _log.warning("edge_outbox_dropped", dropped=dropped, policy=self._bounds.policy)

    def _drop_expired(self) -> None:
        """Let go of what waits for too long, from time to time; a step of the clock makes nothing older."""
        now = self._broker.retention.times().oldest
        if abs(now - self._aged) < AGE_SECONDS * 1e6 or not self.waiting:
            return
        self._aged = now
        arrived, tenant = now - duration(self._bounds.keep), self._tenant.number
        self._store.commit(
            lambda tables: self._record_dropped(tables, drop_expired(tables, tenant, self.counts.acknowledged, arrived))
        )

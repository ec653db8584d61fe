"""The broker: publish, subscribe, deliver, acknowledge. Every connector calls `Broker`.

docs/life-of-an-event.md follows one event through these functions.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Final, cast

import structlog

from likewise.api.events import Receipt
from likewise.api.sources import SensingCommand
from likewise.api.subscribers import QueuePolicy
from likewise.broker.catalogue.absence_watch import AbsenceWatch
from likewise.broker.catalogue.activation import SourceActivation
from likewise.broker.catalogue.announcements import SourceCommands
from likewise.broker.catalogue.demand_index import SourceDemand
from likewise.broker.catalogue.follower import ProfileFollower
from likewise.broker.catalogue.observations import ObservedAttribute
from likewise.broker.catalogue.renamed_attributes import renamed_attributes
from likewise.broker.catalogue.sensing_commands import SENSE, decode_sense_message
from likewise.broker.catalogue.unit_decisions import UnitDecisions
from likewise.broker.catalogue.views import Catalogue
from likewise.broker.clock import BelievedClock, steady_clock
from likewise.broker.config import Config
from likewise.broker.dispatch.acknowledgements import Acknowledgements
from likewise.broker.dispatch.commit_batch import MATCHING, CommitBatch
from likewise.broker.dispatch.match_before_commit import MatchBeforeCommit
from likewise.broker.dispatch.matching_loop import MatchingLoop
from likewise.broker.dispatch.pending_deliveries import pending_deliveries, read_pending
from likewise.broker.dispatch.pending_kernels import PendingKernels
from likewise.broker.edge_hub.connections import EdgeConnections
from likewise.broker.lake_writer.follower import LakeFollower
from likewise.broker.lake_writer.stream_log import StreamLog
from likewise.broker.locks import make_lock
from likewise.broker.log import dead_letters
from likewise.broker.log.commits import wait_for
from likewise.broker.log.deliveries import Delivery
from likewise.broker.log.entries import (
    EVENT,
    Command,
    CorrectCommand,
    Entry,
    RemoveCorrectionCommand,
    SubscribeCommand,
    UnregisterCommand,
    UnsubscribeCommand,
    WithdrawCommand,
    command_entry,
    event_entries,
)
from likewise.broker.log.event_log import Done, Request
from likewise.broker.log.log_entries import SweepResult, find_events
from likewise.broker.log.mqtt.messages import read_messages
from likewise.broker.log.positions import start_at
from likewise.broker.log.registry_tables import add_tenant
from likewise.broker.log.tables import StoreTables
from likewise.broker.log.writer import Store
from likewise.broker.maintenance.housekeeping import Housekeeping, NeededFrom
from likewise.broker.maintenance.recovery import recover
from likewise.broker.pool.autoscaling import Autoscaler
from likewise.broker.pool.topology import FlatTopology
from likewise.broker.retention_clock import RetentionClock, boot_id
from likewise.broker.sinks.registry import SinkRegistry
from likewise.broker.telemetry.event_trace import EventTrace
from likewise.broker.telemetry.metrics import Metrics
from likewise.broker.telemetry.workers import WorkerMetrics
from likewise.broker.tenants.backpressure import is_blocked
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.quotas import allowed_queue, check_subscriptions
from likewise.broker.tenants.tenant import StoredSubscription, Tenant
from likewise.defaults import BATCH_STOP_SECONDS, FINISHING_SECONDS, SEND_PAGE, STORE_CACHE_BYTES
from likewise.errors import InputError, LikewiseError, LimitExceeded, StateError, Unavailable, UnknownId
from likewise.lake.subscription_snapshot import TermMeaning
from likewise.matching.coercion import as_types
from likewise.matching.matcher import Matcher, system_clock
from likewise.matching.registry import EngineSelection
from likewise.model import Event, Kind, Subscription
from likewise.model.announcements.announcement import SPEAKER
from likewise.model.time import duration
from likewise.semantics.enrichment.corrections import CorrectedAnnotations
from likewise.semantics.enrichment.table import NO_ANNOTATIONS
from likewise.semantics.enrichment.watched_file import AnnotationFile
from likewise.semantics.interpretation import Interpretation

_log = structlog.get_logger("likewise.broker")
SOURCES_A_TURN: Final = 200  # that the catalogue looks at for units and renamed attributes in one turn
IsVisible = Callable[[int, str], bool]  # by an event's position and source: whether who asks may know of it


def _any_event(position: int, source: str) -> bool:
    return True


class Broker:
    """A broker on a folder, or in memory without one. Its methods may be called from any thread.

    >>> import likewise as lw
    >>> with Broker(None) as broker:
    ...     tenant = broker.tenant("default")
    ...     _ = broker.register(tenant, "ann")
    ...     _ = broker.subscribe(tenant, "ann", [lw.parse("{no2 > 40}", id="bad air")])
    ...     _ = broker.publish(tenant, [lw.event({"no2": 45}, id="e1")])
    ...     broker.wait_until_matched()
    ...     [number for number, _ in broker.page(tenant, tenant.subscriber("ann"), after=0)]
    [1]
    """

    def __init__(
        self,
        data: Path | None,
        config: Config | None = None,
        *,
        clock: Callable[[], int] = system_clock,
        steady: Callable[[], float] | None = None,
        boot: str | None = None,
        trace: EventTrace | None = None,
        elsewhere: frozenset[Kind] = frozenset(),
        store_cache: int = STORE_CACHE_BYTES,
        needed_from: NeededFrom | None = None,
    ) -> None:
        self.elsewhere = elsewhere  # the kinds of subscriptions that a broker above decides
        self.pending_kernels = PendingKernels()  # who compiles beside the broker sets another
        self._needed_from = [] if needed_from is None else [needed_from]  # what others still need of the log
        self.trace = trace or EventTrace()  # what is said of single events in the log
        self.config = config or Config()
        matching = self.config.matching  # what is not installed, or no engine's name, is refused at once
        self.engines = EngineSelection(matching.profile, matching.engines).names()
        annotation_file = self.config.annotations.file
        self.annotations = (
            NO_ANNOTATIONS if annotation_file is None else AnnotationFile(annotation_file, on_change=_log_annotations)
        )
        self.types = as_types(self.config.matching.types)
        self.data = data
        if steady is None and clock is system_clock:
            steady = steady_clock
        # A clock of one's own is believed at once, but what it removes is not: it may say itself how time passes.
        elapsed = getattr(clock, "steady", steady_clock)
        self.clock = clock = BelievedClock(clock, steady, elapsed=elapsed)
        self.metrics = Metrics()
        self.lock = make_lock("queues", again=True)
        self._making = make_lock("making")
        self.store = store = Store(data, clock=clock, cache=store_cache)
        boot = boot_id() if boot is None else boot
        self.retention = RetentionClock(clock, lambda: store.position, data, boot)
        self._closed = False
        self._term_meaning: TermMeaning | None = None
        self.ended = False  # whether every thread has, once it is closed
        self._readers_left = False
        self.topology: FlatTopology | None = None  # those who match in processes of their own
        self.autoscaler: Autoscaler | None = None
        try:
            self._begin()
        except BaseException:
            self._stop_pool()
            self.store.close()
            raise

    def _begin(self) -> None:
        """Read what is kept, and go on from there."""
        store, clock = self.store, self.clock
        self.retention.start(store.arrival)
        self.tenants = tenants = recover(store, self.data, self.make_matcher, self.elsewhere)
        self._names = {tenant.name: tenant for tenant in tenants.values()}
        for tenant in tenants.values():
            store.name_sources(tenant.number, tenant.sources.identities)
        self._acknowledgements = Acknowledgements(store)
        self.targets = SinkRegistry(store, self.lock, clock, self.retention)
        self.lake = self._open_lake()
        if self.lake is not None:
            self._needed_from.append(self.lake.needed_from)
        stream_log_folder = self.config.lake.stream_log
        self.stream_log = (
            None if stream_log_folder is None else StreamLog(store, tenants, stream_log_folder, self._meaning)
        )
        self._housekeeping = Housekeeping(
            store,
            tenants,
            self._acknowledgements,
            data=self.data,
            clock=clock,
            retention=self.retention,
            lock=self.lock,
            on_expired=lambda events: self.trace.expired(tenants, events),
            needed_from=self._needed_from,
            resting=lambda tenant: self.activation.at_rest(tenant),
            concurrent=not self.config.matching.workers,
        )
        self.retention.changed = self._housekeeping.clock_changed
        self.visibility = self._housekeeping.reach
        self.worker = worker = self._make_worker()
        store.followers.append(worker)
        if self.topology is None:
            store.foresight = MatchBeforeCommit(tenants, clock, worker.commit_of, lambda: worker.failure is None)
        self.announcements = SourceCommands(store, clock, self.retention, self.expires_at)
        self.learning = ProfileFollower(
            store,
            tenants,
            data=self.data,
            learns=self.config.catalogue.learn,
            on_entries=self._observe,
            on_turn=self._update_sources,
        )
        self.source_demand = SourceDemand(self.config.matching.profile, self._texts, self._observed_attributes)
        self.activation = SourceActivation(
            self.source_demand, clock, self.announcements.publish, self._retained_commands, self._topics_of
        )
        self.activation.other_demand.append(self._lake_demand)
        self.absence_watch = AbsenceWatch(self.source_demand, self._append)
        self._seen_sources: dict[int, dict[str, None]] = {}  # by tenant: sources that the catalogue is to look at
        self._units = UnitDecisions(
            lambda tenant, each: self._append(tenant, CorrectCommand(each)),
            lambda tenant, number: self._append(tenant, RemoveCorrectionCommand(number)),
            self.announcements.publish,
            clock,
        )
        self.catalogue = Catalogue(
            self.learning,
            clock,
            self.activation.resting,
            self.source_demand.count,
            self.config.matching.profile == "full",
        )
        store.followers.append(self.learning)
        self.edges = EdgeConnections(
            store, clock, self.config.matching.profile, self._texts, self.visibility, list(tenants.values())
        )
        store.followers.append(self.edges)
        self.metrics.watch(tenants, lambda: store.position, lambda: worker.position)
        self.metrics.watch_upkeep(self.troubles, lambda: self._housekeeping.tasks.failed, lambda: self.clock.steps)
        self.metrics.watch_clock(self.retention)
        self._housekeeping.note_up()  # before anything is heard again
        worker.start()
        self.learning.start()
        if self.lake is not None:
            self.metrics.watch_lake(self.lake.behind, lambda: lake.batches if (lake := self.lake) else 0)
            self.lake.start()
        if self.stream_log is not None:
            self.stream_log.start()

    def keep_log_for(self, needed_from: NeededFrom) -> None:
        """Let retention keep the entries that a follower still needs, by its first one of each tenant."""
        self._needed_from.append(needed_from)

    def _meaning(self) -> TermMeaning:
        """Return space, measure and threshold by which terms are compared, for streams on Spark."""
        settings = self.config.matching
        if settings.profile == "small":
            return TermMeaning(threshold=settings.threshold)
        if self._term_meaning is None:
            from likewise.semantics.concepts.library import inventory_checksum  # which a small profile does without

            by = self.make_matcher().interpretation
            self._term_meaning = TermMeaning(
                settings.space, settings.measure, settings.threshold, by.space.checksum, inventory_checksum()
            )
        return self._term_meaning

    def _open_lake(self) -> LakeFollower | None:
        if self.config.lake.folder is None:
            return None
        if self.data is None:
            raise InputError("a lake goes on from what the store keeps; say --data, or leave [lake] out")
        return LakeFollower(self.store, self.tenants, self.config.lake)

    def _make_worker(self) -> MatchingLoop:
        """Return the matching loop, or with a worker pool the coordinator of its processes."""
        keeping = self._housekeeping
        if not self.config.matching.workers:
            return MatchingLoop(
                self.store,
                self.tenants,
                clock=self.clock,
                lock=self.lock,
                on_stored=self._stored,
                on_quiet=keeping.turn,
                on_end=keeping.save_windows,
            )
        from likewise.broker.dispatch.coordinator import PoolCoordinator
        from likewise.broker.pool.topology import start_pool

        self.topology, self.autoscaler = start_pool(self.config, self.tenants, self.data)
        self.metrics.registry.register(WorkerMetrics(self.topology))
        return PoolCoordinator(
            self.store,
            self.tenants,
            self.topology,
            self.autoscaler,
            clock=self.clock,
            lock=self.lock,
            on_stored=self._stored,
            on_quiet=keeping.turn,
            on_end=keeping.save_windows,
        )

    def _observe(self, tenant: Tenant, entries: Sequence[Entry]) -> None:
        self.source_demand.observe(tenant, entries)
        self.activation.observe(tenant, entries)
        seen = self._seen_sources.setdefault(tenant.number, {})
        seen.update(dict.fromkeys(e.source for e in entries if e.kind == EVENT and e.source != SPEAKER))

    def _texts(self, tenant: Tenant, name: str) -> Iterable[str]:
        return self.catalogue.texts(tenant, name)

    def _lake_demand(self, tenant: Tenant, source: str) -> str:
        return "the lake keeps everything" if self.lake is not None and self.config.lake.keep == "all" else ""

    def _observed_attributes(self, tenant: Tenant, source: str) -> tuple[ObservedAttribute, ...]:
        return self.catalogue.observed(tenant, source)

    def _topics_of(self, tenant: Tenant, source: str) -> list[str]:
        """Return the topics that a source was observed to publish to; a topic without a topic map is its own source."""
        topics = [
            each.text for each in self.catalogue.observed(tenant, source) if each.attribute == "topic" and each.text
        ]
        return [source, *topics]

    def _retained_commands(self, tenant: Tenant) -> list[SensingCommand]:
        """Return the sensing commands from before a restart, which are retained messages."""
        rows = tenant.retained.find(f"{SENSE}#", self.clock())
        with self.store.reading() as tables:
            messages = read_messages(tables, [row.position for row in rows])
        return [command for command in map(decode_sense_message, messages.values()) if command is not None]

    def _update_sources(self) -> None:
        for tenant in list(self.tenants.values()):
            self.announcements.end_leases(tenant)
            self.activation.update(tenant)
            self.absence_watch.update(tenant)
            self._look_at_sources(tenant)

    def _look_at_sources(self, tenant: Tenant) -> None:
        """Decide units and notice renamed attributes of sources that were seen, once anything is asked by meaning."""
        seen = self._seen_sources.get(tenant.number, {})
        opened = tenant.stateless.interpretation.opened() is not None
        if not seen or not opened or not self.config.units.learn or not self.config.catalogue.learn:
            seen.clear()
            return
        names = list(seen)[:SOURCES_A_TURN]
        for name in names:
            del seen[name]
        with self.learning.lock:
            learnt = self.catalogue.learnt(tenant)
            sources = [each for name in names if (each := learnt.source(name)) is not None]
        self._units.update(tenant, sources)
        for event in renamed_attributes(tenant, sources):
            self.announcements.publish(tenant, event)

    def _append(self, tenant: Tenant, command: Command) -> None:
        """Append a command of our own that nobody waits for."""
        self.store.append([command_entry(tenant.number, command)], lambda result: None)

    def make_matcher(self, saved: Path | None = None) -> Matcher:
        """Return a matcher as configured, empty or loaded from a folder."""
        matching, clock = self.config.matching, self.clock
        alerts = self.config.alerts
        interpretation = Interpretation(
            space=matching.space,
            measure=matching.measure,
            threshold=matching.threshold,
            cache_bytes=matching.cache_bytes,
            types=self.types,
            annotations=CorrectedAnnotations(self.annotations),
            forget=duration(alerts.forget),
            alert_lateness=duration(alerts.lateness),
            stale=duration(alerts.stale),
        )
        empty = Matcher(interpretation=interpretation, clock=clock, profile=matching.profile, engines=matching.engines)
        if saved is None:
            return empty
        return Matcher.load(
            saved,
            clock=clock,
            interpretation=empty.interpretation,
            profile=matching.profile,
            engines=matching.engines,
        )

    # -- tenants --------------------------------------------------------------------------------

    def tenant(self, name: str) -> Tenant:
        """Return the tenant with this name; create it if it is new."""
        known = self._names.get(name)
        if known is not None:
            return known
        with self._making:  # not `lock`, which the writer takes when it has committed
            if name not in self._names:
                number = self.store.commit(lambda tables: _add_tenant(tables, name))
                tenant = Tenant(number, name, self.make_matcher())
                tenant.lake_position = None if self.lake is None else 0
                tenant.upstream_kinds = self.elsewhere
                if self.topology is not None:
                    self.topology.adopt(tenant)
                self.store.name_sources(number, tenant.sources.identities)
                self.tenants[tenant.number] = self._names[name] = tenant
            return self._names[name]

    def _stored(self, filled: Iterable[SubscriberQueue], outcome: CommitBatch) -> None:
        for queue in filled:
            if queue.wake is not None:
                queue.wake()
        for feed in outcome.updated_sinks:
            feed.notify()
        self.metrics.stored(outcome, self.clock())
        self.trace.stored(outcome)

    # -- subscribers ----------------------------------------------------------------------------

    def register(
        self, tenant: Tenant, id: str, policy: QueuePolicy | None = None, limit: int | None = None
    ) -> SubscriberQueue:
        """Register a subscriber, or change its queue; what waits for it stays."""
        return cast("SubscriberQueue", wait_for(lambda done: self.start_register(tenant, id, policy, limit, done)))

    def start_register(
        self,
        tenant: Tenant,
        id: str,
        policy: QueuePolicy | None,
        limit: int | None,
        done: Done,
        also: Sequence[Command] = (),
    ) -> None:
        """Do `register`, and call `done` when it is on disk; other commands may follow it at once."""
        command = allowed_queue(tenant, id, policy, limit, self.config.queues, self.config.limits)

        def applied(results: list[object]) -> None:
            result = _first_error(results)
            done(results[0] if result is results else result)

        self.commands(tenant, [command, *also], applied)

    def unregister(self, tenant: Tenant, id: str) -> None:
        """Forget a subscriber, its subscriptions and what waits for it."""
        wait_for(lambda done: self.start_unregister(tenant, id, done))

    def start_unregister(self, tenant: Tenant, id: str, done: Done) -> None:
        """Start the request; call `done` when it is on disk."""
        tenant.subscriber(id)
        self.commands(tenant, [UnregisterCommand(id)], lambda results: done(_only(results)))

    # -- subscriptions --------------------------------------------------------------------------

    def subscribe(
        self, tenant: Tenant, subscriber: str, subscriptions: Sequence[Subscription], *, replace: bool = False
    ) -> list[StoredSubscription]:
        """Hold subscriptions of a subscriber, all or none; valid earlier events it has not had are delivered first."""
        stored = wait_for(lambda done: self.start_subscribe(tenant, subscriber, subscriptions, replace, done))
        return cast("list[StoredSubscription]", stored)

    def start_subscribe(
        self, tenant: Tenant, subscriber: str, subscriptions: Sequence[Subscription], replace: bool, done: Done
    ) -> None:
        """Do `subscribe`, and call `done` with the stored subscriptions, or the first error."""
        check_subscriptions(tenant, subscriber, subscriptions, replace, self.config.limits)
        commands = [SubscribeCommand(subscriber, each, replace, part) for part, each in enumerate(subscriptions, 1)]

        def append() -> None:
            try:
                self.commands(tenant, commands, lambda results: done(_first_error(results)))
            except LikewiseError as error:  # it may stop meanwhile
                done(error)

        self.pending_kernels.run({each.kind for each in subscriptions}, append)

    def unsubscribe(self, tenant: Tenant, subscriber: str, id: str) -> None:
        """End a subscription."""
        wait_for(lambda done: self.start_unsubscribe(tenant, subscriber, id, done))

    def start_unsubscribe(self, tenant: Tenant, subscriber: str, id: str, done: Done) -> None:
        """Start the request; call `done` when it is on disk."""
        tenant.subscription(subscriber, id)
        self.commands(tenant, [UnsubscribeCommand(subscriber, id)], lambda results: done(_only(results)))

    def commands(self, tenant: Tenant, commands: Sequence[Command], done: Callable[[list[object]], None]) -> None:
        """Append commands to the log; `done` gets what came of each once that is on disk."""
        results: list[object] = []

        def applied(result: object) -> None:
            results.append(result)
            if len(results) == len(commands):
                done(results)

        def appended(result: object) -> None:
            if isinstance(result, BaseException):
                done([result])

        if not commands:
            done([])
            return
        self._refuse_if_failed()
        self.store.append([command_entry(tenant.number, command, applied) for command in commands], appended)

    def command(self, tenant: Tenant, command: Command, done: Done) -> None:
        """Append one command; `done` gets what came of it."""
        self.commands(tenant, [command], lambda results: done(_only(results)))

    def _refuse_if_failed(self) -> None:
        if self._closed:
            raise Unavailable("the broker is stopping; try again when it runs")
        if self.worker.failure is not None:
            raise Unavailable(f"matching has stopped: {self.worker.failure}; look at the broker's log and restart it")

    # -- events ---------------------------------------------------------------------------------

    def publish(self, tenant: Tenant, events: Sequence[Event]) -> list[Receipt]:
        """Append events, all or none; returns when they are on disk."""
        while is_blocked(tenant):
            time.sleep(0.005)
        return cast("list[Receipt]", wait_for(lambda done: self.start_publish(tenant, events, done)))

    def start_publish(self, tenant: Tenant, events: Sequence[Event], done: Done) -> None:
        """Do `publish`, and call `done` with the receipts; the caller has waited while the tenant was blocked."""
        self.store.append(*self.request(tenant, events, self.expires_at(), done))

    def request(self, tenant: Tenant, events: Sequence[Event], expires_at: int | None, done: Done) -> Request:
        """Return the request of `start_publish`, for callers that append several together."""
        return self.received(tenant, self.entries(tenant, events, expires_at), done)

    def entries(self, tenant: Tenant, events: Sequence[Event], expires_at: int | None) -> list[Entry]:
        """Return the entries of events that expire at `kept` at the latest."""
        if len(events) > self.config.limits.batch:
            raise LimitExceeded("events of one request", allowed=self.config.limits.batch, found=len(events))
        self._refuse_if_failed()
        return event_entries(tenant.number, events, expires_at)

    def received(self, tenant: Tenant, entries: list[Entry], done: Done) -> Request:
        """Return the append request for entries of a tenant that arrive now."""
        self.metrics.received(tenant.name, len(entries))
        return entries, self.trace.received(tenant.name, entries, done)

    def expires_at(self) -> int | None:
        """Return the expiry of an event that is published now; None for ever."""
        keep = self.config.store.retention
        return None if keep is None else self.clock.latest() + keep

    def find_event(self, tenant: Tenant, id: str, source: str | None = None, sees: IsVisible = _any_event) -> int:
        """Return the position of an event by its id, and its source where several share the id.

        `sees` says by its position and source whether who asks may know of one; the others are not there for them.
        """
        with self.store.reading() as tables:
            names = None if source is None else tenant.sources.identities.names_of(source)
            known = find_events(tables, tenant.number, id, names)
        known = [each for each in known if each[1] == source] or known  # a name of before is asked for last
        positions = [position for position, by in known if sees(position, by)]
        if not positions:
            raise UnknownId(id)
        if len(positions) > 1:
            raise StateError(f"several sources published the id {id!r}; say which source is meant")
        return positions[0]

    def stored_event(self, tenant: Tenant, id: str, source: str | None = None, sees: IsVisible = _any_event) -> Entry:
        """Return an event of the log, found as by `find_event`."""
        position = self.find_event(tenant, id, source, sees)
        entry = next(self.store.entries(position - 1, position), None)
        if entry is None:
            raise UnknownId(id)
        return entry

    def withdraw(self, tenant: Tenant, id: str, source: str | None = None) -> None:
        """Take an event back: it is given to nobody any more, and leaves the windows."""
        wait_for(lambda done: self.start_withdraw(tenant, id, source, done))

    def start_withdraw(self, tenant: Tenant, id: str, source: str | None, done: Done) -> None:
        """Start the request; call `done` when it is on disk."""
        done = self.trace.withdrawn(tenant.name, id, source, done)
        self.command(tenant, WithdrawCommand(self.find_event(tenant, id, source)), done)

    # -- deliveries -----------------------------------------------------------------------------

    def page(
        self,
        tenant: Tenant,
        queue: SubscriberQueue,
        *,
        after: int,
        limit: int = SEND_PAGE,
        most_bytes: int | None = None,
    ) -> list[tuple[int, bytes]]:
        """Return the next unacknowledged deliveries after a sequence number, as JSON.

        What has expired or was withdrawn leaves the queue here. With `most_bytes` a page ends with the delivery that
        reaches so many: whoever is sent it may not read it.
        """
        return read_pending(self.store, self.lock, tenant, queue, after, limit, self.retention.times(), most_bytes)

    def acknowledge(self, tenant: Tenant, subscriber: str, number: int, done: Done | None = None) -> None:
        """Settle everything up to a sequence number."""
        queue = tenant.subscriber(subscriber)
        if number > tenant.stored_number:
            raise StateError(
                f"sequence number {number} was never delivered; the newest is {tenant.stored_number}: acknowledge that"
            )
        with self.lock:
            changed = queue.acknowledge(number)
        self.trace.acknowledged(tenant.name, queue.id, number)
        if changed or done is not None:
            self._acknowledgements.note(queue.number, queue.acknowledged, done)

    def deliveries(
        self,
        tenant: Tenant,
        queue: SubscriberQueue,
        *,
        after: int,
        limit: int,
        messages: bool = False,
        most_bytes: int | None = None,
    ) -> list[Delivery]:
        """Return the same as `Delivery` values; with `messages` including the messages of devices."""
        deliveries = pending_deliveries(
            self.store, self.lock, tenant, queue, after, limit, self.retention.times(), most_bytes
        )
        if not messages or all(each.message is not None and not each.message.part for each in deliveries):
            return deliveries
        size = 0
        with self.store.reading() as tables:
            for place, each in enumerate(deliveries):
                if each.message is None or each.message.part:
                    each.message = read_messages(tables, (each.event,)).get(each.event)
                size += each.size
                if most_bytes is not None and size >= most_bytes:
                    return deliveries[: place + 1]
        return deliveries

    def acknowledge_each(self, tenant: Tenant, queue: SubscriberQueue, numbers: Collection[int]) -> None:
        """Settle deliveries by their sequence numbers, in whatever order."""
        with self.lock:
            changed = queue.acknowledge_each(numbers)
        if changed:
            self._acknowledgements.note(queue.number, queue.acknowledged)

    def sent(self, tenant: Tenant, queue: SubscriberQueue, page: Sequence[tuple[int, bytes]]) -> None:
        """Record that deliveries went out to a stream."""
        self.metrics.sent(tenant.name, len(page))
        self.trace.sent(tenant.name, queue.id, page)

    def add_dead_letter(
        self, tenant: Tenant, error: LikewiseError, part: bytes, done: Done, media_type: str = ""
    ) -> None:
        """Keep what could not be read as a dead letter, so that it can be looked at and tried again."""
        self.trace.refused(tenant.name, error)
        letter = dead_letters.NewLetter(
            tenant.number, self.clock(), "unreadable", str(error)[:2000], body=part, media_type=media_type
        )
        self.metrics.dead_letters(tenant.name, 1)
        self.store.write(lambda tables: dead_letters.insert(tables, [letter]), done)

    # -- maintenance ----------------------------------------------------------------------------

    def troubles(self) -> list[str]:
        """Return what fails now and is retried: storing, background tasks, workers, the lake, the uplink."""
        workers = [] if self.topology is None else list(self.topology.pool.failover.troubles.values())
        if self.autoscaler is not None and self.autoscaler.trouble:
            workers.append(self.autoscaler.trouble)
        line = None if self.edges.above is None else self.edges.above.trouble()
        known = (
            self.store.trouble,
            self.clock.doubt,
            self.retention.trouble(),
            line,
            *self._housekeeping.tasks,
            *workers,
        )
        background = [each.retries for each in (self.lake, self.stream_log) if each is not None]
        return [each for each in known if each is not None] + [each for tasks in background for each in tasks]

    @property
    def tick_lag_s(self) -> float:
        """Return the seconds since housekeeping last moved the time of alerts and windows."""
        return self._housekeeping.tick_lag_s

    def sweep(self) -> SweepResult:
        """Forget what is over now."""
        return self._housekeeping.sweep()

    def note_listening(self) -> None:
        """Record that events can arrive from now on; the time until here is an outage, not silence of sources."""
        self._housekeeping.note_listening()

    def wait_until_matched(self, timeout: float = 60.0) -> None:
        """Wait until everything appended so far is matched and stored; for tests and for stopping."""
        target, deadline = self.store.position, time.monotonic() + timeout
        while self.worker.position < target:
            if self.worker.failure is not None:
                raise self.worker.failure
            if time.monotonic() > deadline:
                raise Unavailable(f"matching has come to {self.worker.position} of {target}; it goes on")
            time.sleep(0.002)

    def close(self) -> None:
        """Match what was acknowledged, save the windows, and let go of the folder.

        That may take `FINISHING_SECONDS`, then `BATCH_STOP_SECONDS`, and the time it takes to save windows. What is not
        matched by then, or whose windows are not saved, follows at the next start: the log has it.
        """
        if self._closed:
            return
        self._closed = True
        self._housekeeping.stop()
        self._save_clock()
        self.learning.stop()
        if self.lake is not None:
            self.lake.stop()
        if self.stream_log is not None:
            self.stream_log.stop()
        handed_over = threading.Event()  # once it is set, whatever was handed in is with the worker
        self.store.write(lambda tables: None, lambda result: handed_over.set())
        if not handed_over.wait(FINISHING_SECONDS + BATCH_STOP_SECONDS):
            _log.warning("stop_during_commit")
            self._stop_pool()
            return
        matched = self.worker.stop()
        self.ended = matched and not self._readers_left
        if not matched:
            _log.warning("stop_during_matching")
        self._stop_pool()
        self.store.close()

    def leave_readers(self) -> None:
        """Let threads that still read the store keep their connections when it is closed; then `ended` stays False.

        To close a connection of SQLite while another thread uses it is not safe, and to wait for it may take as long as
        a disk that does not answer. Whoever started the process ends it without those threads.
        """
        self._readers_left = True
        self.store.leave_readers()

    def _save_clock(self) -> None:
        """Note when the broker ended; without it the next start counts from the note before, seconds ago."""
        try:
            self.retention.save()
        except OSError as error:
            _log.warning("stop_time_not_saved", error=str(error))

    def _stop_pool(self) -> None:
        if self.topology is not None:
            self.topology.pool.close()

    def __enter__(self) -> Broker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _add_tenant(tables: StoreTables, name: str) -> int:
    """Keep a new tenant, whose entries are matched from the first on."""
    number = add_tenant(tables, name)
    start_at(tables, MATCHING, number)
    return number


def _log_annotations(file: AnnotationFile) -> None:
    """Say in the log that other annotations hold, or why those in the file do not."""
    if file.problem:
        _log.error("annotations_invalid", file=str(file.path), problem=file.problem)
    else:
        rows = file.table
        _log.info("annotations_loaded", file=str(file.path), rows=len(rows), version=rows.version)


def _only(results: list[object]) -> object:
    """Return the result of a single command."""
    return results[0]


def _first_error(results: list[object]) -> object:
    """Return the first error among the results, else all of them."""
    return next((result for result in results if isinstance(result, BaseException)), results)

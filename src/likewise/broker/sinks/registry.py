"""The registry of targets: settings, pending matches, cursors and dead letters of each.

A target reads what waits for it and says what was accepted. How far it has come is written a moment later, many targets
at once: after a crash what was not written is sent again, with the same ids. What the outside refuses for good becomes
a dead letter in the same commit that passes it over, so it is never neither.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Final

import msgspec

from likewise.api.sinks import TargetSettings, TargetStatus
from likewise.broker.locks import Lock, make_lock
from likewise.broker.log import dead_letters
from likewise.broker.log.dead_letters import NewLetter
from likewise.broker.log.event_log import Done, EventLog
from likewise.broker.log.packed_sets import pack
from likewise.broker.log.sink_rows import (
    StoredTarget,
    TargetRow,
    add_target,
    change_target,
    count_dead,
    dead_letter_type,
    dead_of,
    note_targets,
    note_tried,
    remove_target,
    target_of_type,
)
from likewise.broker.log.tables import StoreTables
from likewise.broker.retention_clock import RetentionClock
from likewise.broker.sinks.retry_queue import SinkDelivery, read_again, read_waiting
from likewise.broker.tenants.sink_queues import SinkQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_TARGETS, MAX_TARGETS_EACH, MAX_TERM_LENGTH, TARGET_PAGE
from likewise.errors import InputError, LimitExceeded, UnknownId

ORPHAN_AFTER: Final = 600 * 1_000_000  # µs that a target waits for the subscription it was set for


class SinkRegistry:
    """The targets of all tenants. Its methods may be called from any thread, with no lock held."""

    def __init__(self, log: EventLog, queues: Lock, clock: Callable[[], int], retention: RetentionClock) -> None:
        self._log = log
        self._queues = queues
        self._clock = clock
        self._retention = retention
        self._lock = make_lock("cursors")
        self._moved: dict[int, SinkQueue] = {}  # whose cursor is not written yet
        self.changed: Callable[[], None] = lambda: None  # told when there are other targets, or something to write

    # -- setting --------------------------------------------------------------------------------

    def find(self, tenant: Tenant, subscriber: str, subscription: str, id: str) -> SinkQueue:
        """Return a target by its names."""
        queue = tenant.subscriber(subscriber)
        sinks = tenant.sinks.of(queue.number, subscription)
        sink = next((f for f in sinks if f.id == id), None)
        if sink is None:
            if not sinks:
                tenant.subscription(subscriber, subscription)
            remedy = "list the targets there are: GET /v1/targets, or `likewise targets list`"
            raise UnknownId(id, remedy=remedy, known=[f.id for f in sinks])
        return sink

    def start_set(
        self, tenant: Tenant, subscriber: str, subscription: str, id: str, target: TargetSettings, done: Done
    ) -> None:
        """Set a target, or change it; `done` is told the feed when that is on disk.

        A subscription that is not there yet may follow: the target gets its first deliveries, too. Of one that is
        there it gets what comes from now on. How far a target has come stays when it is changed.
        """
        queue = tenant.subscriber(subscriber)
        for name, what in ((subscription, "subscription"), (id, "target")):
            if not name or len(name) > MAX_TERM_LENGTH:
                raise InputError(f"the id of a {what} has 1 to {MAX_TERM_LENGTH} characters; found {len(name)}")
        existing = tenant.sinks.of(queue.number, subscription)
        known = next((feed for feed in existing if feed.id == id), None)
        if known is not None:
            setting = msgspec.structs.replace(known.setting, wanted=target, tried=known.first_attempt)
            row = msgspec.structs.replace(known.row(), setting=setting)
            self._log.write(
                lambda tables: change_target(tables, tenant.number, row),
                lambda result: self._changed_to(known, setting, result, done),
            )
            return
        if len(tenant.sinks) >= MAX_TARGETS:
            raise LimitExceeded("targets of a tenant", allowed=MAX_TARGETS)
        if len(existing) >= MAX_TARGETS_EACH:
            raise LimitExceeded("targets of a subscription", allowed=MAX_TARGETS_EACH)
        setting = StoredTarget(secrets.token_hex(16), self._clock(), target)
        row = TargetRow(0, queue.number, subscription, id, setting, tenant.stored_number)
        self._log.write(
            lambda tables: add_target(tables, tenant.number, row),
            lambda result: self._added(tenant, row, result, done),
        )

    def _changed_to(self, feed: SinkQueue, setting: StoredTarget, result: object, done: Done) -> None:
        if isinstance(result, BaseException):
            done(result)
            return
        feed.setting = setting
        feed.trying_again_at = None
        feed.notify()
        done(feed)

    def _added(self, tenant: Tenant, row: TargetRow, result: object, done: Done) -> None:
        """Add a stored target, so that what is stored from now on is offered to it. On the writer's thread."""
        if isinstance(result, BaseException):
            done(result)
            return
        assert isinstance(result, int)
        feed = SinkQueue(msgspec.structs.replace(row, number=result))
        with self._queues:
            queue = tenant.by_number.get(row.subscriber)
            live = None if queue is None else queue.subscriptions.get(row.subscription)
            tenant.sinks.add(feed, () if live is None else (live,))
            missed = [d for number, d in tenant.recent.items() if number > feed.acknowledged]
            tenant.sinks.offer(missed)  # stored since it was asked for
        self.changed()
        done(feed)

    def start_remove(self, tenant: Tenant, feed: SinkQueue, done: Done) -> None:
        """Forget a target and its dead letters."""

        def removed(result: object) -> None:
            if not isinstance(result, BaseException):
                with self._queues:
                    tenant.sinks.remove(feed)
                self.changed()
            done(result)

        self._log.write(lambda tables: remove_target(tables, tenant.number, feed.number), removed)

    # -- sending --------------------------------------------------------------------------------

    def waiting(self, tenant: Tenant, feed: SinkQueue, limit: int = TARGET_PAGE) -> list[SinkDelivery]:
        """Return the next matches that wait for a target."""
        return read_waiting(self._log, self._queues, tenant, feed, limit, self._retention.times())

    def expire_if_over(self, tenant: Tenant, feed: SinkQueue, match: SinkDelivery) -> bool:
        """Return whether a match that was read a while ago expired; then it is counted and removed."""
        over = match.ends is not None and match.ends <= self._retention.times()(match.position)
        with self._queues:
            waits = match.sequence in feed.pending  # what was swept away does not
            if waits and not over and (match.alert or match.position not in tenant.withdrawn):
                return False
            feed.expired += waits
            feed.pass_over(match.sequence)
        return True

    def accepted(self, feed: SinkQueue, sequence: int) -> None:
        """Settle everything up to a match that the receiver accepted."""
        with self._queues:
            feed.pass_over(sequence)
        feed.sent += 1
        feed.succeeded = self._clock() // 1_000_000
        with self._lock:
            first = not self._moved
            self._moved[feed.number] = feed
        if first:
            self.changed()

    def tried_since(self, feed: SinkQueue, sequence: int) -> int:
        """Return when a match was first attempted, also before a restart; now if it was not."""
        now = self._clock()
        return (
            min(now, feed.first_attempt[1])
            if feed.first_attempt is not None and feed.first_attempt[0] == sequence
            else now
        )

    def note_tried(self, feed: SinkQueue, sequence: int, since: int) -> None:
        """Persist when a failed match was first attempted, once for each match."""
        if feed.first_attempt is not None and feed.first_attempt[0] == sequence:
            return
        feed.first_attempt = tried = (sequence, since)

        def written(result: object) -> None:
            if isinstance(result, BaseException) and feed.first_attempt == tried:
                feed.first_attempt = None  # a full disk: after the next attempt

        self._log.write(lambda tables: note_tried(tables, feed.number, tried), written)

    def add_dead_letter(self, tenant: Tenant, feed: SinkQueue, match: SinkDelivery, why: str, done: Done) -> None:
        """Make a dead letter of a match, and pass it over."""
        detail = f"the target {feed.id!r} of {feed.subscription!r}: {why}"[:2000]
        body = msgspec.json.encode({"target": feed.id, "sequence": match.sequence})
        letter = NewLetter(
            tenant.number,
            self._clock(),
            "undelivered",
            detail,
            feed.subscriber,
            match.position,
            pack([match.number]),
            body,
            dead_letter_type(feed.number),
        )

        def write(tables: StoreTables) -> None:
            dead_letters.insert(tables, [letter])
            note_targets(tables, [(feed.number, match.sequence, feed.succeeded)])

        def kept(result: object) -> None:
            if not isinstance(result, BaseException):
                with self._queues:
                    feed.pass_over(match.sequence)
            done(result)

        self._log.write(write, kept)

    def flush(self, done: Done = lambda result: None) -> bool:
        """Write how far targets have come since the last time; whether there was anything to write."""
        with self._lock:
            moved, self._moved = self._moved, {}
        if not moved:
            done(None)
            return False

        def written(result: object) -> None:
            if isinstance(result, BaseException):  # a full disk: the next time
                with self._lock:
                    self._moved = moved | self._moved
            done(result)

        rows = [(feed.number, feed.acknowledged, feed.succeeded) for feed in moved.values()]
        self._log.write(lambda tables: note_targets(tables, rows), written)
        return True

    def rest(self, tenant: Tenant) -> list[SinkQueue]:
        """Move the cursors of targets for which nothing waits, so that a restart need not look at what is settled.

        Gives those whose subscription never came.
        """
        moved, orphans = [], []
        now = self._retention()
        with self._queues:
            for feed in tenant.sinks:
                if not feed.pending and feed.acknowledged < tenant.stored_number:
                    feed.acknowledged = tenant.stored_number
                    moved.append(feed)
                queue = tenant.by_number.get(feed.subscriber)
                subscribed = queue is not None and feed.subscription in queue.subscriptions
                if not subscribed and feed.setting.made + ORPHAN_AFTER < now and tenant.matched >= tenant.appended:
                    orphans.append(feed)
        with self._lock:
            self._moved.update((feed.number, feed) for feed in moved)
        return orphans

    # -- dead letters ---------------------------------------------------------------------------

    def retry_all(self, tenant: Tenant, feed: SinkQueue) -> int:
        """Dead-letter retry: queue every dead letter of a target again, oldest first; return how many there are."""
        with self._log.reading() as tables:
            numbers = dead_of(tables, tenant.number, feed.number)
        self.retry(feed, numbers)
        return len(numbers)

    def retry(self, feed: SinkQueue, numbers: list[int]) -> None:
        """Let some dead letters be tried again. What is not accepted stays one."""
        known = set(feed.redo)
        feed.redo.extend(letter for letter in numbers if letter not in known)
        feed.notify()

    def owner(self, tenant: Tenant, media_type: str) -> SinkQueue | None:
        """Return the target of a dead letter."""
        number = target_of_type(media_type)
        return None if number is None else tenant.sinks.get(number)

    def letter(self, tenant: Tenant, feed: SinkQueue, number: int) -> SinkDelivery | None:
        """Return the match of a dead letter; None if it expired, or the letter is gone."""
        try:
            with self._log.reading() as tables:
                letter = dead_letters.one(tables, tenant.number, number)
        except UnknownId:
            return None
        identity: dict[str, Any] = msgspec.json.decode(letter.body)
        return read_again(self._log, tenant, feed, int(identity["sequence"]), self._retention.times())

    def start_forget(self, tenant: Tenant, letter: int, done: Done) -> None:
        """Forget a dead letter: it was accepted, or is over."""
        self._log.write(lambda tables: dead_letters.remove(tables, tenant.number, letter), done)

    # -- looking --------------------------------------------------------------------------------

    def states(self, tenant: Tenant) -> dict[int, TargetStatus]:
        """Return the state of each target of a tenant, by its number."""
        with self._log.reading() as tables:
            dead = count_dead(tables, tenant.number)
        states = {}
        with self._queues:
            for feed in tenant.sinks:
                states[feed.number] = TargetStatus(
                    len(feed.pending),
                    dead.get(dead_letter_type(feed.number), 0),
                    feed.sent,
                    feed.failed,
                    feed.expired,
                    feed.succeeded * 1_000_000 or None,
                    feed.last_error,
                    feed.last_error_at,
                    feed.trying_again_at,
                )
        return states

"""Every target of a broker: set, changed and removed; what waits, how far each has come, and dead letters.

A target reads what waits for it and says what was accepted. How far it has come is written a moment later, many
targets at once: after a crash what was not written is sent again, with the same ids. What the outside refuses for good
becomes a dead letter in the same commit that passes it over, so it is never neither.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Final

import msgspec

from likewise.api.sinks import TargetState, TargetWanted
from likewise.broker.locks import Lock, make_lock
from likewise.broker.log import dead_letters
from likewise.broker.log.dead_letters import NewLetter
from likewise.broker.log.event_log import Done, EventLog
from likewise.broker.log.packed_sets import pack
from likewise.broker.log.sinks.rows import (
    Setting,
    TargetRow,
    add_target,
    change_target,
    count_dead,
    dead_of,
    letter_mark,
    marked,
    note_targets,
    note_tried,
    remove_target,
)
from likewise.broker.log.tables import Tables
from likewise.broker.retention_policy import Retention
from likewise.broker.sinks.retry_queue import Outgoing, read_again, read_waiting
from likewise.broker.tenants.sink_queues import TargetFeed
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MAX_TARGETS, MAX_TARGETS_EACH, MAX_TERM_LENGTH, TARGET_PAGE
from likewise.errors import InputError, LimitExceeded, UnknownId

ORPHAN_AFTER: Final = 600 * 1_000_000  # µs that a target waits for the subscription it was set for


class Targets:
    """The targets of all tenants. Its methods may be called from any thread, with no lock held."""

    def __init__(self, log: EventLog, queues: Lock, clock: Callable[[], int], retention: Retention) -> None:
        self._log = log
        self._queues = queues
        self._clock = clock
        self._retention = retention
        self._lock = make_lock("cursors")
        self._moved: dict[int, TargetFeed] = {}  # whose cursor is not written yet
        self.changed: Callable[[], None] = lambda: None  # told when there are other targets, or something to write

    # -- setting --------------------------------------------------------------------------------

    def find(self, tenant: Tenant, subscriber: str, subscription: str, id: str) -> TargetFeed:
        """A target by its names."""
        queue = tenant.subscriber(subscriber)
        found = next((f for f in tenant.feeds.of(queue.number, subscription) if f.id == id), None)
        if found is None:
            raise UnknownId(id, remedy="list the targets there are: GET /v1/targets, or `likewise targets`")
        return found

    def start_set(
        self, tenant: Tenant, subscriber: str, subscription: str, id: str, wanted: TargetWanted, done: Done
    ) -> None:
        """Set a target, or change it; `done` is told the feed when that is on disk.

        A subscription that is not there yet may follow: the target gets its first deliveries, too. Of one that is
        there it gets what comes from now on. How far a target has come stays when it is changed.
        """
        queue = tenant.subscriber(subscriber)
        for name, what in ((subscription, "subscription"), (id, "target")):
            if not name or len(name) > MAX_TERM_LENGTH:
                raise InputError(f"the id of a {what} has 1 to {MAX_TERM_LENGTH} characters; found {len(name)}")
        own = tenant.feeds.of(queue.number, subscription)
        known = next((feed for feed in own if feed.id == id), None)
        if known is not None:
            setting = msgspec.structs.replace(known.setting, wanted=wanted, tried=known.tried)
            row = msgspec.structs.replace(known.row(), setting=setting)
            self._log.write(
                lambda tables: change_target(tables, tenant.number, row),
                lambda result: self._changed_to(known, setting, result, done),
            )
            return
        if len(tenant.feeds) >= MAX_TARGETS:
            raise LimitExceeded("targets of a tenant", allowed=MAX_TARGETS)
        if len(own) >= MAX_TARGETS_EACH:
            raise LimitExceeded("targets of a subscription", allowed=MAX_TARGETS_EACH)
        setting = Setting(secrets.token_hex(16), self._clock(), wanted)
        row = TargetRow(0, queue.number, subscription, id, setting, tenant.stored_number)
        self._log.write(
            lambda tables: add_target(tables, tenant.number, row),
            lambda result: self._added(tenant, row, result, done),
        )

    def _changed_to(self, feed: TargetFeed, setting: Setting, result: object, done: Done) -> None:
        if isinstance(result, BaseException):
            done(result)
            return
        feed.setting = setting
        feed.trying_again_at = None
        feed.tell()
        done(feed)

    def _added(self, tenant: Tenant, row: TargetRow, result: object, done: Done) -> None:
        """On the writer's thread, between commits: what is stored from now on is offered to it."""
        if isinstance(result, BaseException):
            done(result)
            return
        assert isinstance(result, int)
        feed = TargetFeed(msgspec.structs.replace(row, number=result))
        with self._queues:
            queue = tenant.by_number.get(row.subscriber)
            live = None if queue is None else queue.subscriptions.get(row.subscription)
            tenant.feeds.add(feed, () if live is None else (live,))
            missed = [d for number, d in tenant.recent.items() if number > feed.acknowledged]
            tenant.feeds.offer(missed)  # stored since it was asked for
        self.changed()
        done(feed)

    def start_remove(self, tenant: Tenant, feed: TargetFeed, done: Done) -> None:
        """Forget a target and its dead letters."""

        def removed(result: object) -> None:
            if not isinstance(result, BaseException):
                with self._queues:
                    tenant.feeds.remove(feed)
                self.changed()
            done(result)

        self._log.write(lambda tables: remove_target(tables, tenant.number, feed.number), removed)

    # -- sending --------------------------------------------------------------------------------

    def waiting(self, tenant: Tenant, feed: TargetFeed, limit: int = TARGET_PAGE) -> list[Outgoing]:
        """The next matches that wait for a target."""
        return read_waiting(self._log, self._queues, tenant, feed, limit, self._retention.times())

    def let_go_if_over(self, tenant: Tenant, feed: TargetFeed, match: Outgoing) -> bool:
        """Whether a match that was read a while ago is over by now; then it is counted, and waits no more."""
        over = match.ends is not None and match.ends <= self._retention.times()(match.position)
        with self._queues:
            waits = match.sequence in feed.pending  # what was swept away does not
            if waits and not over and (match.alert or match.position not in tenant.withdrawn):
                return False
            feed.expired += waits
            feed.pass_over(match.sequence)
        return True

    def accepted(self, feed: TargetFeed, sequence: int) -> None:
        """The outside has a match; so everything up to it is settled."""
        with self._queues:
            feed.pass_over(sequence)
        feed.sent += 1
        feed.succeeded = self._clock() // 1_000_000
        with self._lock:
            first = not self._moved
            self._moved[feed.number] = feed
        if first:
            self.changed()

    def tried_since(self, feed: TargetFeed, sequence: int) -> int:
        """When a match was tried first, before this start of the broker too; now if it was not."""
        now = self._clock()
        return min(now, feed.tried[1]) if feed.tried is not None and feed.tried[0] == sequence else now

    def note_tried(self, feed: TargetFeed, sequence: int, since: int) -> None:
        """A match was not taken: keep since when it is tried, once for each."""
        if feed.tried is not None and feed.tried[0] == sequence:
            return
        feed.tried = tried = (sequence, since)

        def written(result: object) -> None:
            if isinstance(result, BaseException) and feed.tried == tried:
                feed.tried = None  # a full disk: after the next attempt

        self._log.write(lambda tables: note_tried(tables, feed.number, tried), written)

    def set_aside(self, tenant: Tenant, feed: TargetFeed, match: Outgoing, why: str, done: Done) -> None:
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
            letter_mark(feed.number),
        )

        def write(tables: Tables) -> None:
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

    def rest(self, tenant: Tenant) -> list[TargetFeed]:
        """Move the cursors of targets for which nothing waits, so that a restart need not look at what is settled.

        Gives those whose subscription never came.
        """
        moved, orphans = [], []
        now = self._retention()
        with self._queues:
            for feed in tenant.feeds:
                if not feed.pending and feed.acknowledged < tenant.stored_number:
                    feed.acknowledged = tenant.stored_number
                    moved.append(feed)
                queue = tenant.by_number.get(feed.subscriber)
                held = queue is not None and feed.subscription in queue.subscriptions
                if not held and feed.setting.made + ORPHAN_AFTER < now and tenant.matched >= tenant.appended:
                    orphans.append(feed)
        with self._lock:
            self._moved.update((feed.number, feed) for feed in moved)
        return orphans

    # -- dead letters ---------------------------------------------------------------------------

    def retry_all(self, tenant: Tenant, feed: TargetFeed) -> int:
        """Let every dead letter of a target be tried again, oldest first; how many there are."""
        with self._log.reading() as tables:
            letters = dead_of(tables, tenant.number, feed.number)
        self.retry(feed, letters)
        return len(letters)

    def retry(self, feed: TargetFeed, letters: list[int]) -> None:
        """Let some dead letters be tried again. What is not accepted stays one."""
        known = set(feed.redo)
        feed.redo.extend(letter for letter in letters if letter not in known)
        feed.tell()

    def owner(self, tenant: Tenant, media_type: str) -> TargetFeed | None:
        """The target that a dead letter is of."""
        number = marked(media_type)
        return None if number is None else tenant.feeds.get(number)

    def letter(self, tenant: Tenant, feed: TargetFeed, number: int) -> Outgoing | None:
        """What a dead letter is about; None if it is over, or is no letter any more."""
        try:
            with self._log.reading() as tables:
                letter = dead_letters.one(tables, tenant.number, number)
        except UnknownId:
            return None
        said: dict[str, Any] = msgspec.json.decode(letter.body)
        return read_again(self._log, tenant, feed, int(said["sequence"]), self._retention.times())

    def start_forget(self, tenant: Tenant, letter: int, done: Done) -> None:
        """Forget a dead letter: it was accepted, or is over."""
        self._log.write(lambda tables: dead_letters.remove(tables, tenant.number, letter), done)

    # -- looking --------------------------------------------------------------------------------

    def states(self, tenant: Tenant) -> dict[int, TargetState]:
        """How each target of a tenant fares, by its number."""
        with self._log.reading() as tables:
            dead = count_dead(tables, tenant.number)
        found = {}
        with self._queues:
            for feed in tenant.feeds:
                found[feed.number] = TargetState(
                    len(feed.pending),
                    dead.get(letter_mark(feed.number), 0),
                    feed.sent,
                    feed.failed,
                    feed.expired,
                    feed.succeeded * 1_000_000 or None,
                    feed.last_error,
                    feed.last_error_at,
                    feed.trying_again_at,
                )
        return found

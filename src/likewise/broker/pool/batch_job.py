"""Match a batch of events in the shards of a tenant, and merge their results.

Shares without state are asked together and each event's answers are put together by number; what stands behind a proxy
is asked about the events that met the proxy's root. Shares with state get every event, in the order of the log.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.broker.log.entries import BatchedEvent, Entry
from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.process import PendingRequest
from likewise.broker.pool.protocol import (
    BatchMatches,
    EventSent,
    MatchEvents,
    MatchStateful,
    OperationFailed,
    StateChanges,
)
from likewise.broker.pool.shard import Shard
from likewise.broker.pool.sharded_matcher import ShardedMatcher
from likewise.broker.tenants.match_guarded import effective_time, event_time
from likewise.broker.tenants.matched_events import BatchMatchIndex
from likewise.broker.tenants.numbered_matcher import NumberedMatch
from likewise.broker.tenants.tenant import Tenant
from likewise.model import Event

Places = NDArray[np.int32]


class _ShardPart:
    """A request to one shard about some events, by their indexes in the batch; None means all of them."""

    __slots__ = ("passed", "places", "share", "ticket")

    def __init__(self, share: Shard, ticket: PendingRequest, places: Places | None) -> None:
        self.share = share
        self.ticket = ticket
        self.places = places
        self.passed = False


class EventJob:
    """A batch of one tenant's events, sent to its shards; `wait` waits for the results."""

    def __init__(self, pool: WorkerPool, tenant: Tenant, entries: Sequence[Entry]) -> None:
        self.tenant = tenant
        self.entries = entries
        self.sent = time.monotonic()
        self.failed: dict[int, str] = {}  # by place: why an event cannot be matched
        self.failed_moves: dict[int, str] = {}  # ... by windows or alerts
        self.seconds = 0.0  # of the slowest share
        self._pool = pool
        self._parts: list[_ShardPart] = []
        self._windows: list[tuple[Shard, PendingRequest]] = []
        self._alerts: list[tuple[Shard, PendingRequest]] = []
        self.events: list[EventSent] = []
        stateless, windows, alerts = tenant.stateless, tenant.windows, tenant.alerts
        if isinstance(stateless, ShardedMatcher) and len(stateless):
            stateless.send_knowledge()
            self.events = [_stateless_event(entry) for entry in entries]
            for share in stateless.shards:
                if share.subscriptions and share.parent is None:
                    self._ask(share, None)
        moved: list[EventSent] = []
        alert_events: list[EventSent] = []
        for entry in entries if len(windows) or len(alerts) else ():
            stated = event_time(entry)
            if len(windows):
                moved.append(
                    _stateful_event(
                        entry, stated if stated is not None else tenant.window_time(entry.arrival), stated is None
                    )
                )
            if len(alerts):
                alert_events.append(_stateful_event(entry, tenant.window_time(entry.arrival), True))
        for matcher, events, requests in ((windows, moved, self._windows), (alerts, alert_events, self._alerts)):
            if isinstance(matcher, ShardedMatcher) and events:
                matcher.send_knowledge()
                matcher.set_reached(max(each.at for each in events))
                requests += [
                    (share, pool.ask(share, MatchStateful(events))) for share in matcher.shards if share.ever_used
                ]

    def _ask(self, share: Shard, places: Places | None) -> None:
        events = self.events if places is None else [self.events[place] for place in places.tolist()]
        self._parts.append(_ShardPart(share, self._pool.ask(share, MatchEvents(events)), places))

    def poll(self) -> bool:
        """Ask what stands behind proxies as soon as it is known; whether everything is answered."""
        waits = False
        for part in self._parts:  # which may grow
            if part.passed:
                continue
            if not part.ticket.answered:
                waits = True
                continue
            part.passed = True
            reply = part.ticket.reply
            if isinstance(reply, BatchMatches):
                for number, raw in reply.behind.items():
                    places = np.frombuffer(raw, "<i4")
                    share = self._pool.shares.get(number)
                    if len(places) and share is not None and share.subscriptions:
                        self._ask(share, places if part.places is None else part.places[places])
                        waits = True
            elif isinstance(reply, OperationFailed):
                waits |= self._one_by_one(part, reply)
        if waits:
            return False
        return all(ticket.answered for _, ticket in (*self._windows, *self._alerts))

    def _one_by_one(self, part: _ShardPart, reply: OperationFailed) -> bool:
        """Match the events of a failed request one by one, to find the one that cannot be matched."""
        places = np.arange(len(self.events), dtype=np.int32) if part.places is None else part.places
        self._parts.remove(part)
        if len(places) == 1:
            self.failed[int(places[0])] = f"{reply.kind}: {reply.error}"
            return False
        for place in places.tolist():
            self._ask(part.share, np.array([place], np.int32))
        return True

    def wait(self) -> None:
        """Wait until everything is answered."""
        while not self.poll():
            waiting = [part.ticket for part in self._parts if not part.ticket.answered]
            waiting += [ticket for _, ticket in (*self._windows, *self._alerts) if not ticket.answered]
            if waiting:
                self._pool.wait(waiting[0])
        times = [part.ticket.seconds for part in self._parts]
        times += [ticket.seconds for _, ticket in (*self._windows, *self._alerts)]
        self.seconds = max(times, default=0.0)

    # -- what came of it ------------------------------------------------------------------------

    @property
    def sole_reply(self) -> BatchMatches | None:
        """Return the reply of the only shard, if there is one shard and it matched all events."""
        if (
            len(self._parts) == 1
            and self._parts[0].places is None
            and isinstance(self._parts[0].ticket.reply, BatchMatches)
        ):
            return self._parts[0].ticket.reply
        return None

    def matched(self) -> BatchMatchIndex | None:
        """Merge the matches in stateless shards; None if there are none."""
        stateless = self.tenant.stateless
        for part in self._parts:
            if isinstance(part.ticket.reply, BatchMatches):
                own = part.places
                for place, why in part.ticket.reply.failed:
                    self.failed[place if own is None else int(own[place])] = why
        if not self._parts or not isinstance(stateless, ShardedMatcher):
            return None
        keys, scores, scored = [], [], False
        for part in self._parts:
            said = part.ticket.reply
            assert isinstance(said, BatchMatches)
            counts, numbers = np.frombuffer(said.counts, "<i4"), np.frombuffer(said.numbers, "<i8")
            places = np.arange(len(counts), dtype=np.int64) if part.places is None else part.places.astype(np.int64)
            keys.append((np.repeat(places, counts) << 32) | stateless.indexes_of(numbers))
            scored |= bool(said.scores)
            scores.append(np.frombuffer(said.scores, "<f4") if said.scores else np.ones(len(numbers), np.float32))
        key, score = np.concatenate(keys), None
        if len(keys) > 1:
            if scored:
                order = np.argsort(key, kind="stable")
                key, score = key[order], np.concatenate(scores)[order]
            else:
                key = np.sort(key, kind="stable")  # runs that ascend already
        elif scored:
            score = scores[0]
        starts = np.searchsorted(key, np.arange(len(self.entries) + 1, dtype=np.int64) << 32)
        return BatchMatchIndex(stateless.numbers(), (key & 0xFFFFFFFF).astype(np.int32), starts, score)

    def state_changes(self) -> tuple[list[list[NumberedMatch]], list[list[NumberedMatch]]]:
        """Return the changes that each event caused in windows, and in alerts."""
        return self._moves(self._windows), self._moves(self._alerts)

    def _moves(self, requests: list[tuple[Shard, PendingRequest]]) -> list[list[NumberedMatch]]:
        changes: list[list[NumberedMatch]] = [[] for _ in self.entries]
        for _, ticket in requests:
            reply = ticket.reply
            if isinstance(reply, OperationFailed):
                self.failed_moves.update(dict.fromkeys(range(len(changes)), f"{reply.kind}: {reply.error}"))
                continue
            assert isinstance(reply, StateChanges)
            self.failed_moves.update(reply.failed)
            for matches, more in zip(changes, reply.found, strict=True):
                matches.extend(more)
        if len(requests) > 1:
            for matches in changes:
                matches.sort(key=lambda each: each.order)
        return changes


def _stateless_event(entry: Entry) -> EventSent:
    over = entry.ends is not None and entry.ends <= entry.arrival
    return EventSent(entry.position, effective_time(entry), entry.body, over)


def _stateful_event(entry: Entry, at: int, arrives: bool) -> EventSent:
    """Return an event for windows or alerts; one that is valid on arrival stays valid while they wait."""
    lasting = False
    if arrives:
        expires = _expires(entry)
        lasting = expires is not None and entry.arrival < expires <= at
    return EventSent(entry.position, at, entry.body, False, lasting, entry.first_received)


def _expires(entry: Entry) -> int | None:
    if isinstance(entry.content, BatchedEvent):
        return entry.content.batch.envelope_fields(entry.content.place).expires
    return entry.content.expires if isinstance(entry.content, Event) else None

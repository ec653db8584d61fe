"""The first deliveries of a new subscription: earlier events that are still valid and match it (sources.md C).

Subscriptions that come together are served together, in one pass over the stored events. That pass may be long, and
other tenants wait for the thread, so it is made in slices; nothing of the tenant changes before the last one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
import structlog

from likewise.broker.clock import PLAUSIBLE_STEP_US
from likewise.broker.dispatch.commit_batch import CommitBatch
from likewise.broker.dispatch.match_events import add_dead_letter, received_event
from likewise.broker.log.dead_letters import about
from likewise.broker.log.deliveries import INITIAL, Delivery, recipients_of
from likewise.broker.log.entries import EVENT, Entry, SubscribeCommand
from likewise.broker.log.event_log import EventLog
from likewise.broker.log.log_entries import first_of_newest
from likewise.broker.log.packed_sets import NONE, pack_scores, unpack_scores
from likewise.broker.tenants.match_guarded import match_guarded
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.broker.tenants.tenant import LONGEST_PAUSE, Tenant
from likewise.defaults import INITIAL_EVENTS, QUANTUM_SECONDS, RELAXED_EVENTS_PER_CHECK
from likewise.errors import LikewiseError

PAGE = 1_000
SLICE = 16  # events of the first slice; the next ones as many as fit into a turn
_log = structlog.get_logger("likewise.matching")


class InitialMatches:
    """The pass over stored events for new subscriptions, and its results so far.

    The subscriptions are matched before they are held: so whatever stops the pass, nothing has to be taken back.
    """

    def __init__(self, log: EventLog, tenant: Tenant, commands: Sequence[Entry]) -> None:
        self.last = commands[-1].position  # of the commands it is for
        self.outcome = CommitBatch()
        self.alerts: NumberedMatcher | None = None  # new ones, with what earlier events tell them
        self._tenant = tenant
        self._first_number = tenant.next_number
        self.newest: int | None = None  # arrival that was looked at, as `Tenant.window_time` counts it
        self._slices = self._pass(log, commands)

    def advance(self, seconds: float) -> bool:
        """Look at events for so long, by the processor's time; whether all have been looked at."""
        end = time.thread_time() + seconds
        return all(time.thread_time() < end for _ in self._slices)

    def without(self, refused: set[int]) -> CommitBatch:
        """Return the results without those of subscriptions that were refused."""
        if not refused or not self.outcome.deliveries:
            return self.outcome
        remaining, self._tenant.next_number = CommitBatch(), self._first_number
        remaining.dead_letters = self.outcome.dead_letters
        for delivery in self.outcome.deliveries[self._tenant]:
            scores = unpack_scores(delivery.scores, len(delivery.matched))
            pairs = [(n, s) for n, s in zip(delivery.matched.tolist(), scores, strict=True) if n not in refused]
            if pairs:
                _send(remaining, self._tenant, self._owners, pairs, delivery)
        return remaining

    def _pass(self, log: EventLog, commands: Sequence[Entry]) -> Iterator[None]:
        """Send each new subscription's subscriber the valid events before it that it has not had, in log order.

        At most the newest `INITIAL_EVENTS` are looked at. A slice has as many of them as a turn's time allows, and few
        where words are asked for: new ones cost a thousand times what known ones do, and nobody sees them coming.
        """
        tenant, now = self._tenant, commands[-1].arrival
        matcher = tenant.stateless.alike()
        self._owners: dict[int, int] = {}
        for entry in commands:
            assert isinstance(entry.value, SubscribeCommand)
            queue, subscription = tenant.subscribers.get(entry.value.subscriber), entry.value.subscription
            if queue is None or subscription.top is not None or not tenant.decides(subscription):
                continue
            try:
                if subscription.alert is not None:
                    self.alerts = self.alerts or tenant.alerts.alike()
                    self.alerts.add(entry.position, msgspec.structs.replace(subscription, valid_for=None), at=now)
                    continue
                matcher.add(entry.position, msgspec.structs.replace(subscription, valid_for=None), at=now)
            except LikewiseError:  # who subscribes is told when it is to be held
                continue
            except Exception as error:
                _log.error("initial_match_failed", subscription=subscription.id, exc_info=error)
                continue
            self._owners[entry.position] = queue.number
        if not (self._owners or self.alerts is not None) or not tenant.events:
            return
        page: list[Entry] = []
        known = self.alerts is None and matcher.kinds <= {"exact"}  # what an event costs, from those before
        size, most = (SLICE, PAGE) if known else (1, RELAXED_EVENTS_PER_CHECK)
        for entry in valid_events(log, tenant, commands[0].position, now, INITIAL_EVENTS):
            page.append(entry)
            if len(page) >= size:
                begun = time.thread_time()
                self._match_page(log, matcher, page)
                page, used = [], time.thread_time() - begun
                size = min(most, 2 * size) if used < QUANTUM_SECONDS / 2 else max(1, size // 2)
                yield
        if page:
            self._match_page(log, matcher, page)
        if self.alerts is not None:
            self.alerts.advance(now)  # what is due by now is not said: it came before

    def _match_page(self, log: EventLog, matcher: NumberedMatcher, page: list[Entry]) -> None:
        """Match a page, and let it tell new alerts how things stand."""
        if self._owners:
            _match(log, self._tenant, matcher, page, self.outcome, self._owners)
        for entry in page if self.alerts is not None else ():
            try:
                assert self.alerts is not None
                self.alerts.match(entry.position, received_event(entry), self._window_time(entry.arrival))
            except Exception as error:  # what cannot be matched was set aside when it came
                _log.warning("initial_event_failed", event_id=entry.id, error=str(error))

    def _window_time(self, arrival: int) -> int:
        """Return the window time of an arrival for new alerts; a clock that was set back shifts their state."""
        assert self.alerts is not None
        newest = arrival if self.newest is None else self.newest
        if arrival < newest - PLAUSIBLE_STEP_US:
            self.alerts.shift(arrival - newest)
            newest = arrival
        elif arrival > newest + LONGEST_PAUSE:
            self.alerts.postpone_expiry(arrival - newest)
        self.newest = max(newest, arrival)
        return self.newest


def _match(
    log: EventLog,
    tenant: Tenant,
    matcher: NumberedMatcher,
    page: list[Entry],
    outcome: CommitBatch,
    owners: Mapping[int, int],
) -> None:
    """Match a page; an event that cannot be matched becomes a dead letter, unless it is one already."""

    def aside(entry: Entry, error: Exception) -> None:
        with log.reading() as tables:
            known = about(tables, tenant.number, entry.position)
        if not known:
            add_dead_letter(tenant, entry, error, outcome)

    matches = match_guarded(matcher, page, aside)
    for index in matches:
        entry = page[index]
        with log.reading() as tables:
            had = recipients_of(tables, tenant.number, entry.position)
        pairs = [
            (number, score)
            for number, score in zip(*matches.listed(index), strict=True)
            if owners[number] not in had or tenant.by_number[owners[number]].is_edge  # that has others to give it to
        ]
        if pairs:
            sent = Delivery(0, entry.position, INITIAL, NONE, NONE, b"", entry.body, entry.ends)
            _send(outcome, tenant, owners, pairs, sent)


def _send(
    outcome: CommitBatch, tenant: Tenant, owners: Mapping[int, int], pairs: list[tuple[int, float]], sent: Delivery
) -> None:
    """Send what met some subscriptions to their owners."""
    numbers = [number for number, _ in pairs]
    scores = pack_scores(np.array([score for _, score in pairs], np.float32))
    to = sorted({owners[number] for number in numbers})
    recipients, matched = np.array(to, np.int64), np.array(numbers, np.int64)
    outcome.send(tenant, Delivery(0, sent.event, sent.cause, recipients, matched, scores, sent.body, sent.ends))


def valid_events(log: EventLog, tenant: Tenant, before: int, now: int, limit: int) -> Iterator[Entry]:
    """Return the newest valid events of a tenant before a position, withdrawn ones left out, in log order."""
    with log.reading() as tables:
        first = first_of_newest(tables, tenant.number, before, limit)
    if first is None:
        return
    for entry in log.entries(first - 1, before - 1, tenant=tenant.number):
        over = entry.ends is not None and entry.ends <= now
        if entry.kind == EVENT and not over and entry.position not in tenant.withdrawn:
            yield entry

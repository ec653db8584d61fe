"""The first deliveries of a new subscription: earlier events that are still valid and match it (sources.md C).

Subscriptions that come together are served together, in one pass over the stored events. That pass may be long, and
others wait for the thread, so it is made in slices. A short one is over before the subscriptions are held. A longer one
goes on beside what comes: the subscriptions are held from then on, and each slice is stored with how far it has come,
so that the next start goes on from there. Alerts are held only when their pass is over: earlier events come first.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

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
from likewise.broker.log.positions import put_positions, remove_follower
from likewise.broker.tenants.match_guarded import match_guarded
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.broker.tenants.tenant import LONGEST_PAUSE, Tenant
from likewise.defaults import INITIAL_EVENTS, QUANTUM_SECONDS, RELAXED_EVENTS_PER_CHECK
from likewise.errors import LikewiseError
from likewise.model import Event, Subscription

FOLLOWER: Final = "initial "  # and the numbers of the subscriptions that a stored position is for
PAGE = 1_000
SLICE = 16  # events of the first slice; the next ones as many as fit into a turn
MOST_TERMS: Final = 100_000  # that a pass remembers
_WITHOUT_DIGITS: Final = str.maketrans("", "", "0123456789.,+-")
_log = structlog.get_logger("likewise.matching")


class KnownTerms:
    """Tells which events have attributes, units or words that none before had.

    Texts that differ in digits alone count as one. An event with a graph or a vector always has something new.

    >>> import likewise as lw
    >>> known = KnownTerms()
    >>> [known.add(lw.event({"t": text})) for text in ("21 °C", "-3.5 °C", "70 °F", "70 °F")]
    [True, False, True, False]
    """

    def __init__(self) -> None:
        self._terms: set[tuple[str, str, str]] = set()

    def add(self, event: Event) -> bool:
        """Add an event; return whether it has something new."""
        terms = {(each.attribute, each.unit, _pattern(each.value)) for each in event.tuples}
        terms.update(("", "", theme) for theme in event.themes)
        new = terms - self._terms
        if new and len(self._terms) < MOST_TERMS:
            self._terms |= new
        return bool(new or event.graph or event.vector)


def _pattern(value: object) -> str:
    return value.translate(_WITHOUT_DIGITS) if isinstance(value, str) else ""


class InitialMatches:
    """The pass over stored events for new subscriptions, and its results so far.

    Args:
        log: where the events are.
        tenant: whose they are.
        first: the position of the first subscription's command; events before it are looked at.
        last: that of the last one.
        now: when it came.
        requested: each subscription with its number and its subscriber's.
        after: the position up to which events were looked at before.
    """

    def __init__(
        self,
        log: EventLog,
        tenant: Tenant,
        first: int,
        last: int,
        now: int,
        requested: Iterable[tuple[int, Subscription, int]],
        after: int = 0,
    ) -> None:
        self.first, self.last, self._now = first, last, now
        self.outcome = CommitBatch()
        self.alerts: NumberedMatcher | None = None  # new ones, with what earlier events tell them
        self.waiting: list[tuple[Entry, object]] = []  # who waits for the pass, and what they are told
        self.tenant = self._tenant = tenant
        self._first_number = tenant.next_number
        self.newest: int | None = None  # arrival that was looked at, as `Tenant.window_time` counts it
        self._owners: dict[int, int] = {}
        self._position = after
        self._slices = self._pass(log, tenant.stateless.alike(), requested)

    @classmethod
    def of(cls, log: EventLog, tenant: Tenant, commands: Sequence[Entry]) -> InitialMatches:
        """Return the pass for commands that come together."""
        requested = [
            (entry.position, entry.value.subscription, queue.number)
            for entry in commands
            if isinstance(entry.value, SubscribeCommand)
            and (queue := tenant.subscribers.get(entry.value.subscriber)) is not None
        ]
        return cls(log, tenant, commands[0].position, commands[-1].position, commands[-1].arrival, requested)

    @classmethod
    def resume(cls, log: EventLog, tenant: Tenant, follower: str, after: int) -> InitialMatches:
        """Return the rest of a pass that a stop or a crash has ended."""
        first, _, last = follower.removeprefix(FOLLOWER).partition("-")
        stored = [each for each in tenant.subscriptions.values() if int(first) <= each.number <= int(last)]
        requested = [(each.number, each.subscription, each.subscriber) for each in stored if each.ended is None]
        now = max((each.added for each in stored), default=0)
        return cls(log, tenant, int(first), int(last), now, requested, after)

    @property
    def follower(self) -> str:
        """Return the name under which it is stored how far the pass has come."""
        return f"{FOLLOWER}{self.first}-{self.last}"

    def detach(self, outcome: CommitBatch, refused: set[int]) -> None:
        """Go on beside what comes: the subscriptions are held, except refused ones."""
        outcome.absorb(self.without(refused))
        for number in refused:
            self._owners.pop(number, None)
        outcome.change(put_positions, self._tenant.number, {self.follower: self._position})
        self._tenant.initial_passes += 1

    def step(self, seconds: float) -> bool:
        """Look at events for so long, for subscriptions that are held; return whether all have been looked at."""
        tenant = self._tenant
        for number in list(self._owners):
            if (stored := tenant.subscriptions.get(number)) is None or stored.ended is not None:
                del self._owners[number]
        self.outcome = CommitBatch()
        over = self.advance(seconds)
        self.outcome.positions[tenant] = tenant.matched
        if over:
            self.outcome.results = self.waiting
            self.outcome.change(remove_follower, self.follower, tenant.number)
        else:
            self.outcome.change(put_positions, tenant.number, {self.follower: self._position})
        return over

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

    def _pass(
        self, log: EventLog, matcher: NumberedMatcher, requested: Iterable[tuple[int, Subscription, int]]
    ) -> Iterator[None]:
        """Send each new subscription's subscriber the valid events before it that it has not had, in log order.

        At most the newest `INITIAL_EVENTS` are looked at. A slice has as many of them as a turn's time allows, and few
        with new words where words are asked for: these cost a thousand times what known ones do.
        """
        tenant, now = self._tenant, self._now
        for number, subscription, owner in requested:
            if subscription.top is not None or not tenant.decides(subscription):
                continue
            try:
                if subscription.alert is not None:
                    self.alerts = self.alerts or tenant.alerts.alike()
                    self.alerts.add(number, msgspec.structs.replace(subscription, valid_for=None), at=now)
                    continue
                matcher.add(number, msgspec.structs.replace(subscription, valid_for=None), at=now)
            except LikewiseError:  # who subscribes is told when it is to be held
                continue
            except Exception as error:
                _log.error("initial_match_failed", subscription=subscription.id, exc_info=error)
                continue
            self._owners[number] = owner
        if not (self._owners or self.alerts is not None) or not tenant.events:
            return
        page: list[Entry] = []
        # What an exact event costs is known from those before; else new words cost, and are looked for.
        terms = None if self.alerts is None and matcher.kinds <= {"exact"} else KnownTerms()
        size, new = SLICE if terms is None else 1, 0
        for entry in valid_events(log, tenant, self.first, now, INITIAL_EVENTS, self._position):
            page.append(entry)
            new += terms is not None and isinstance(entry.value, Event) and terms.add(entry.value)
            if len(page) >= size or new >= RELAXED_EVENTS_PER_CHECK:
                begun = time.thread_time()
                self._match_page(log, matcher, page)
                self._position = entry.position
                page, new, used = [], 0, time.thread_time() - begun
                size = min(PAGE, 2 * size) if used < QUANTUM_SECONDS / 2 else max(1, size // 2)
                yield
                if not (self._owners or self.alerts is not None):  # all of them were ended meanwhile
                    return
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
            if (owner := owners.get(number)) is not None  # else it was ended meanwhile
            and (owner not in had or tenant.by_number[owner].is_edge)  # that has others to give it to
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


def valid_events(log: EventLog, tenant: Tenant, before: int, now: int, limit: int, after: int = 0) -> Iterator[Entry]:
    """Return the newest valid events of a tenant between two positions, withdrawn ones left out, in log order."""
    with log.reading() as tables:
        first = first_of_newest(tables, tenant.number, before, limit)
    if first is None:
        return
    for entry in log.entries(max(first - 1, after), before - 1, tenant=tenant.number):
        over = entry.ends is not None and entry.ends <= now
        if entry.kind == EVENT and not over and entry.position not in tenant.withdrawn:
            yield entry

"""Backtest a subscription on stored events: list what it would have sent, and when.

Time passes as it did for the broker: an alert counts by arrival, so `for` and `absent for` become due between two
events and after the last one, up to now. A clock that was set back between two events moves the state back with it
(`Tenant.window_time` does the same for live alerts).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec
import structlog

from likewise.api.queries import BacktestMatch, BacktestResult
from likewise.broker.clock import PLAUSIBLE_STEP_US
from likewise.broker.cpu_gate import CpuSlices
from likewise.broker.dispatch.initial_matches import valid_events
from likewise.broker.log.entries import EVENT, Entry, shown_event
from likewise.broker.log.event_log import EventLog
from likewise.broker.tenants.match_guarded import effective_time, event_time
from likewise.broker.tenants.numbered_matcher import NumberedMatch, NumberedMatcher
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import STORED_EVENTS
from likewise.model import Event, Subscription

NO_MATCH: Final = ("cleared", "returned")  # these notifications end an alarm
_log = structlog.get_logger("likewise.questions")


class _BacktestRun:
    """One subscription in a matcher of its own, through which stored events pass in order."""

    def __init__(self, matcher: NumberedMatcher, subscription: Subscription) -> None:
        self._matcher = matcher
        self._subscription = msgspec.structs.replace(subscription, valid_for=None)
        self._newest: int | None = None  # arrival; None before the first event
        self._arrival_alone = subscription.alert is not None
        self._follows_arrival = True

    def begin(self, entry: Entry) -> None:
        """Hold the subscription from the first event on."""
        self._matcher.add(0, self._subscription, at=entry.arrival if self._arrival_alone else effective_time(entry))

    def match(self, entry: Entry) -> Iterator[tuple[int, NumberedMatch]]:
        """Yield what an event leads to, each with its time; first what became due before the event came."""
        event, stated = entry.value, None if self._arrival_alone else event_time(entry)
        assert isinstance(event, Event)
        self._follows_arrival = stated is None
        at = self._arrived(entry.arrival) if stated is None else stated
        if stated is None and event.expires is not None and entry.arrival < event.expires <= at:
            event = msgspec.structs.replace(event, expires=None)  # it was valid when it came, by the clock of then
        yield from self._advance(at)
        yield from ((at, match) for match in self._matcher.match(entry.position, event, at))

    def end(self, now: int) -> Iterator[tuple[int, NumberedMatch]]:
        """Yield what becomes due after the last event, up to now.

        Where events carry their own time, that alone moves a window, as in the live broker.
        """
        if self._newest is not None and self._follows_arrival:
            yield from self._advance(self._arrived(now))

    def _advance(self, until: int) -> Iterator[tuple[int, NumberedMatch]]:
        """Let time pass step by step, so that each promotion has the time at which its window moved."""
        before: int | None = None
        while (due := self._matcher.next_move()) is not None and due <= until and due != before:
            yield from ((due, match) for match in self._matcher.advance(due))
            before = due
        yield from ((until, match) for match in self._matcher.advance(until))

    def _arrived(self, arrival: int) -> int:
        newest = arrival if self._newest is None else self._newest
        if arrival < newest - PLAUSIBLE_STEP_US:
            self._matcher.shift(arrival - newest)
            newest = arrival
        self._newest = max(newest, arrival)
        return self._newest


def backtest(
    log: EventLog, tenant: Tenant, subscription: Subscription, before: int, now: int, *, limit: int, shown: int
) -> BacktestResult:
    """Try a subscription on the newest valid events of a tenant; nothing changes.

    Args:
        log: where the events are stored.
        tenant: whose events.
        subscription: what is tried; its validity does not count.
        before: the position in the log before which events are tried.
        now: the end of the span (µs), to which time is advanced after the last event.
        limit: the number of events, at most `STORED_EVENTS`.
        shown: the number of matches that are listed, the last ones.

    Returns:
        Counts by cause, and the listed matches with cause, key and time.
    """
    trial = _BacktestRun(tenant.stateless.alike(), subscription)
    entries: dict[int, Entry] = {}
    sent: list[tuple[int, NumberedMatch]] = []
    with CpuSlices() as slices:
        for entry in valid_events(log, tenant, before, now, min(limit, STORED_EVENTS)):
            if not entries:
                trial.begin(entry)
            entries[entry.position] = entry
            try:
                sent += trial.match(entry)
            except Exception as error:  # one event that cannot be matched keeps no other from being looked at
                _log.error("backtest_event_failed", event_id=entry.id, tenant=tenant.name, exc_info=error)
            slices.yield_cpu()
        sent += trial.end(now)
    causes: Counter[str] = Counter(match.cause for _, match in sent)
    matched = sum(count for cause, count in causes.items() if cause not in NO_MATCH)
    listed = tuple(_listed(time, match, entries[match.event or 0]) for time, match in sent[max(0, len(sent) - shown) :])
    arrivals = [entry.arrival for entry in entries.values()]
    if not arrivals:
        return BacktestResult(0, 0, None, None, ())
    return BacktestResult(
        len(entries), matched, arrivals[0], arrivals[-1], listed, dict(causes), max(now, arrivals[-1])
    )


def _listed(time: int, match: NumberedMatch, entry: Entry) -> BacktestMatch:
    assert entry.kind == EVENT
    alert = match.notification
    sent = BacktestMatch(
        entry.id,
        entry.source,
        entry.arrival,
        round(match.score, 6),
        match.cause,
        time,
        entry.position,
        shown_event(entry),
        match.promoted,
        match.rank_value,
    )
    if alert is None:
        return sent
    return msgspec.structs.replace(
        sent, time=alert.moment, key=alert.key, since=alert.since, suppressed=alert.suppressed, total=alert.total
    )

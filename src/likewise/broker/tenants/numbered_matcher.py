"""A matcher whose subscriptions and events are named by their numbers in the log.

Ids are a subscriber's or a publisher's own and may repeat within a tenant; positions in the log do not. A `Matcher`
names things by text, so numbers become text here and text numbers again, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from likewise.broker.log.packed_sets import NONE, Numbers
from likewise.broker.tenants.matched_events import BatchMatchIndex
from likewise.matching.cache_use import CacheUse
from likewise.matching.matcher import Matcher
from likewise.model import Event, Explanation, Kind, Match, Subscription
from likewise.model.alerts.alert_state import AlertKeyState
from likewise.model.alerts.notification import AlertNotification, Key, Why
from likewise.model.match import Cause
from likewise.semantics.interpretation import Interpretation


class NumberedMatch(NamedTuple):
    """A match of a subscription, by its number; `event` is the event's position, None if it has none.

    Where several shares answer, `due` is the moment at which time alone brought it about.
    """

    number: int
    event: int | None
    score: float
    promoted: bool = False
    rank_value: float | None = None
    cause: Cause = "arrival"
    notification: AlertNotification | None = None
    due: int | None = None

    @property
    def order(self) -> tuple[float, int]:
        """Return the sort key among the matches of several shards: by due time, then by number."""
        return inf if self.due is None else self.due, self.number


class RankedEvent(NamedTuple):
    """A place of a top k: its rank, the event's position, and the ranked value in base units."""

    rank: int
    event: int
    value: float
    time: int


class NumberedMatcher:
    """A matcher of one tenant; the caller holds the tenant's lock.

    >>> from likewise.language import parse
    >>> from likewise.model import event
    >>> numbered = NumberedMatcher(Matcher())
    >>> numbered.add(7, parse("{no2 > 40}", id="bad air"), at=0)
    >>> numbered.match(9, event({"no2": 45}, id="e1"), at=0)
    [NumberedMatch(number=7, event=9, score=1.0, promoted=False, rank_value=None, ...)]
    >>> 7 in numbered, len(numbered)
    (True, 1)
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self._matcher_state = matcher.state
        self._ids: Sequence[str] = ()  # as the last batch named them, and their numbers
        self._named: Numbers = NONE

    def __len__(self) -> int:
        return len(self.matcher)

    def __contains__(self, number: int) -> bool:
        return str(number) in self.matcher

    @property
    def interpretation(self) -> Interpretation:
        """Return how relaxed terms are interpreted."""
        return self.matcher.interpretation

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return the kinds of the subscriptions."""
        return frozenset(self._matcher_state.engines)

    @property
    def refused_late(self) -> int:
        """Return how many events were too late for any window."""
        return self._matcher_state.refused_late

    @property
    def reached(self) -> int | None:
        """Return the time that windows or alerts have reached; None if there is none."""
        return self._matcher_state.reached

    @property
    def keyless(self) -> int:
        """Return how many events lacked an attribute of an alert's `per`."""
        return self._matcher_state.keyless

    @property
    def wrong_clocks(self) -> dict[str, tuple[int, int]]:
        """Return the sources whose clock fell back: the stated time of the last such event, and its arrival."""
        return self._matcher_state.wrong_clocks()

    def caches(self) -> dict[str, CacheUse]:
        """Return hits and misses of the caches."""
        return self._matcher_state.caches()

    def alike(self) -> NumberedMatcher:
        """Return an empty matcher with the same interpretation, engines and clock."""
        return NumberedMatcher(self.matcher.alike())

    def subscriptions(self) -> Iterator[tuple[int, Subscription]]:
        """Return the subscriptions with their numbers, in the order of addition."""
        return ((int(each.id), each) for each in self.matcher.subscriptions())

    def add(self, number: int, subscription: Subscription, at: int, owner: int = 0) -> None:
        """Hold a subscription under a number; whose it is matters only where matching goes up to who gets what."""
        self.matcher.add(msgspec.structs.replace(subscription, id=str(number)), at=at)

    def add_many(self, numbered: Sequence[tuple[int, Subscription, int]]) -> None:
        """Hold subscriptions under numbers, each from a moment on, or none of them if one is refused."""
        renamed = [msgspec.structs.replace(subscription, id=str(number)) for number, subscription, _ in numbered]
        self.matcher.add_many(renamed, at=[at for _, _, at in numbered])

    def remove(self, number: int) -> None:
        """Hold a subscription no longer."""
        self.matcher.remove(str(number))

    def match(self, position: int, event: Event, at: int) -> list[NumberedMatch]:
        """Match one event, and return its matches and promotions."""
        return _numbered(self.matcher.match(msgspec.structs.replace(event, id=str(position)), at))

    def match_batch(self, events: Sequence[Event], at: Sequence[int]) -> BatchMatchIndex:
        """Match a batch of events against subscriptions without windows.

        The numbers are the same array as long as subscriptions neither come nor go and the matcher names them all.
        """
        batch = self.matcher.match_batch(events, at)
        if batch.subscription_ids is not self._ids:
            self._ids = batch.subscription_ids
            self._named = np.array([int(id) for id in self._ids], np.int64)
        starts = np.searchsorted(batch.event_index, np.arange(len(events) + 1, dtype=batch.event_index.dtype))
        scores = batch.score
        all_one = not len(scores) or scores.strides == (0,)  # what engines without scores say of them
        return BatchMatchIndex(self._named, batch.subscription_index, starts, None if all_one else scores)

    def would_match(self, event: Event, at: int) -> list[NumberedMatch]:
        """Match an event without any effect."""
        return _numbered(self.matcher.would_match(msgspec.structs.replace(event, id=None), at))

    def explain(self, event: Event, number: int, at: int, position: int | None = None) -> Explanation:
        """Explain why an event, at a position if it is stored, matches a subscription, or why not."""
        known = msgspec.structs.replace(event, id=None if position is None else str(position))
        return self.matcher.explain(known, str(number), at)

    def board(self, number: int) -> list[RankedEvent]:
        """Return the top k of a window."""
        return [
            RankedEvent(rank, int(id or 0), value, time) for rank, id, value, time in self.matcher.board(str(number))
        ]

    def withdraw(self, position: int) -> list[NumberedMatch]:
        """Take an event out of the windows; what takes its place."""
        return _numbered(self.matcher.withdraw(str(position)))

    def advance(self, now: int) -> list[NumberedMatch]:
        """Let time pass; what is promoted by it."""
        return _numbered(self.matcher.advance(now))

    def shift(self, by: int) -> None:
        """Let everything in the windows count as so many µs later, earlier if negative."""
        self._matcher_state.shift(by)

    def outage(self, by: int, until: int | None = None) -> None:
        """Report an outage of so many µs, until a time."""
        self._matcher_state.outage(by, until)

    def unsend(self, number: int, key: Key, position: int) -> None:
        """Let the last alarm of a key, naming an event, be one that was never sent."""
        self._matcher_state.unsend(str(number), key, str(position))

    def postpone_expiry(self, by: int) -> None:
        """Let a time (µs) in which nothing came at all bring no key nearer to being forgotten."""
        self._matcher_state.postpone_expiry(by)

    def suspend_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """Suspend `absent for` for some sources."""
        self._matcher_state.suspend_absence(sources, why, at)

    def resume_absence(self, sources: Iterable[str], why: Why, at: int) -> None:
        """Resume `absent for` for some sources."""
        self._matcher_state.resume_absence(sources, why, at)

    def absence_suspended(self, why: Why) -> set[str]:
        """Return the sources for which `absent for` is suspended."""
        return self._matcher_state.suspended_sources(why)

    def expect(self, number: int, key: Key, source: str, position: int, at: int) -> None:
        """Watch a key of an alert that was announced by the event at a position."""
        self._matcher_state.expect(str(number), key, source, str(position), at)

    def unexpect(self, number: int, key: Key, position: int) -> None:
        """Watch the key no longer."""
        self._matcher_state.unexpect(str(number), key, str(position))

    def expects(self, number: int, key: Key) -> bool:
        """Return whether an alert knows a key."""
        return self._matcher_state.is_expected(str(number), key)

    def rename(self, before: int, after: int) -> None:
        """Replace the event of an announcement."""
        self._matcher_state.rename(str(before), str(after))

    def rename_source(self, before: str, after: str | None) -> None:
        """Let what alerts know of a source count for another, or for nobody."""
        self._matcher_state.rename_source(before, after)

    def next_due(self) -> int | None:
        """Return when time next moves an alert, or an earlier time."""
        return self._matcher_state.next_due()

    def next_move(self) -> int | None:
        """Return when time next moves an alert or a window, or an earlier time."""
        return self._matcher_state.next_move()

    def names(self, position: int) -> bool:
        """Return whether a coming notification may refer to an event."""
        return self._matcher_state.may_name(str(position))

    def adopt(self, other: NumberedMatcher) -> None:
        """Take over what another knows of the alerts that this one holds, too."""
        self._matcher_state.adopt(other._matcher_state)

    def standings(self, number: int, limit: int) -> list[AlertKeyState]:
        """Return the standings of an alert's keys, those with notifications first."""
        return self.matcher.standings(str(number), limit)

    def count_keys(self, number: int) -> int:
        """Count the keys of an alert that have a state."""
        return self._matcher_state.count_keys(str(number))

    def holds_for_long(self, position: int) -> bool:
        """Return whether an event is in a window that time alone never evicts it from."""
        return self._matcher_state.holds_for_long(str(position))

    def needed(self, positions: Sequence[int]) -> set[int]:
        """Return the events that unbounded windows or coming notifications still need."""
        return {position for position in positions if self.holds_for_long(position) or self.names(position)}

    def forget_relatedness(self, of: Callable[[str], bool]) -> None:
        """Drop what is kept about the seen texts that `of` names."""
        self._matcher_state.forget_relatedness(of)

    def save(self, folder: Path) -> None:
        """Save what it holds, windows with it."""
        self.matcher.save(folder)


def digest_positions(spoken: AlertNotification) -> dict[str, int]:
    """Return the positions of a digest's events, by their ids."""
    return {item.event_id: int(item.event_id) for item in spoken.items if item.event_id is not None}


def _numbered(matches: Iterable[Match]) -> list[NumberedMatch]:
    return [
        NumberedMatch(
            int(m.subscription_id),
            None if m.event_id is None else int(m.event_id),
            m.score,
            m.cause == "promoted",
            m.rank_value,
            m.cause,
            m.spoken,
        )
        for m in matches
    ]

"""The newest events and matches, read from the broker once for all viewers with the same token.

Each viewer's page looks at the feed; the feed alone asks the broker, once a second while somebody looks.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Final, NamedTuple

from likewise.api.live_views import Activity, Arrival, EventMatches
from likewise.api.subscriptions import SubscriptionDetails
from likewise.dashboard.broker_api import BrokerApi
from likewise.errors import AccessError, LikewiseError

MAX_REMEMBERED: Final = 300  # events and matches remembered
PAGE_SIZE: Final = 1_000  # events and matches of one question, so that busy seconds are counted whole
PAUSE: Final = 1.0  # seconds between two questions
SLOWEST: Final = 5.0  # the same while the broker does not answer
EXPLAINED: Final = 20  # matches a second for which the reading that met it is asked for, the newest first


class RateSample(NamedTuple):
    """Figures of one second: when, events and matches since the last one."""

    at: float
    events: int
    matches: int


class MatchKey(NamedTuple):
    """One subscription that one event met."""

    position: int
    subscriber: str
    subscription: str


class LiveFeed:
    """The newest events and matches of one tenant.

    `problem` is why nothing comes ('' while all is well), `locked` whether a token is needed, and `last_response` the
    time of the broker's last answer, None before the first. `matched_readings` has, for the newest matches, the indices
    of the readings that matched the subscription.
    """

    def __init__(self, api: BrokerApi) -> None:
        self.api = api
        self.events: deque[Arrival] = deque(maxlen=MAX_REMEMBERED)
        self.matches: deque[EventMatches] = deque(maxlen=MAX_REMEMBERED)
        self.by_position: dict[int, Arrival] = {}
        self.matched_readings: dict[MatchKey, tuple[int, ...]] = {}
        self.subscriptions: list[SubscriptionDetails] = []
        self.history: deque[RateSample] = deque(maxlen=120)
        self.problem = ""
        self.locked = False
        self.last_response: float | None = None
        self.version = 0
        self._position = self._sequence = 0
        self._viewers = 0
        self._task: asyncio.Task[None] | None = None

    def find(self, id: str, source: str | None = None) -> Arrival | None:
        """Find a remembered event by its id and, if given, its source; the newest of several."""
        newest_first = reversed(self.by_position.values())
        return next((e for e in newest_first if e.id == id and source in (None, e.source)), None)

    def matches_at(self, position: int) -> frozenset[tuple[str, str]]:
        """Return the subscriptions that a remembered event matched, as (subscriber, id)."""
        matches = (match.met for match in self.matches if match.position == position)
        return frozenset((each.subscriber, each.subscription) for matched in matches for each in matched)

    def join(self) -> None:
        """Count a viewer, and poll the broker while there is one."""
        self._viewers += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    def leave(self) -> None:
        """Remove a viewer; without viewers the broker is not polled."""
        self._viewers -= 1
        if self._viewers <= 0 and self._task is not None:
            self._task.cancel()
            self._task = None

    @property
    def watched(self) -> bool:
        """Return whether there is a viewer."""
        return self._viewers > 0

    async def _run(self) -> None:
        pause = PAUSE
        while True:
            answered = await self.refresh()
            pause = PAUSE if answered else min(SLOWEST, pause * 1.5)
            if answered:
                await self.explain_matches()
            await asyncio.sleep(pause)

    async def refresh(self) -> bool:
        """Ask once; whether the broker answered."""
        try:
            activity = await self.api.activity(self._position, self._sequence, PAGE_SIZE)
            self.subscriptions = await self.api.subscriptions()
        except LikewiseError as error:
            self.locked = isinstance(error, AccessError)
            if self.locked:  # what an earlier token opened is not for whoever comes with this one
                self._forget()
                self.subscriptions = []
                self.history.clear()
                self.last_response = None
            self.problem = str(error)
            self.version += 1
            return False
        if self._broker_restarted(activity):
            self._forget()
            return await self.refresh()
        self.take(activity)
        return True

    async def explain_matches(self) -> None:
        """Ask which readings met the newest matches, for as many as a second allows."""
        keys: list[MatchKey] = []
        for match in reversed(self.matches):
            keys += [MatchKey(match.position, each.subscriber, each.subscription) for each in match.met]
            if len(keys) >= MAX_REMEMBERED:
                break
        known = set(keys)
        self.matched_readings = {key: results for key, results in self.matched_readings.items() if key in known}
        unknown = [key for key in keys if key not in self.matched_readings and key.position in self.by_position][
            :EXPLAINED
        ]
        if unknown:
            results = await asyncio.gather(*map(self._answer, unknown))
            self.matched_readings.update(zip(unknown, results, strict=True))
            self.version += 1

    async def _answer(self, key: MatchKey) -> tuple[int, ...]:
        event = self.by_position[key.position].event
        try:
            explained = await self.api.explain_stored(event, key.subscriber, key.subscription)
        except LikewiseError:
            return ()  # the event or the subscription is gone: the row stays without a mark
        return tuple(p.tuple for p in explained.predicates if p.tuple is not None and not p.negated)

    def _broker_restarted(self, activity: Activity) -> bool:
        """Return whether a broker without its store (`--ephemeral`) counts from the start again, so its log is
        shorter.
        """
        if not self.problem or not self._position or activity.events:
            return False
        return bool(self.by_position)  # after a break with nothing new: look again from the start

    def _forget(self) -> None:
        self._position = self._sequence = 0
        self.problem = ""
        self.events.clear()
        self.matches.clear()
        self.by_position.clear()
        self.matched_readings.clear()

    def take(self, activity: Activity) -> None:
        """Append new events and matches."""
        first = not self._position
        self._position, self._sequence = activity.position, activity.sequence
        self.problem, self.locked = "", False
        self.last_response = time.time()
        for arrival in activity.events:
            self.events.append(arrival)
            self.by_position[arrival.position] = arrival
        self.matches.extend(activity.matches)
        needed = {e.position for e in self.events} | {m.position for m in self.matches}
        if len(self.by_position) > 4 * MAX_REMEMBERED:
            self.by_position = {p: e for p, e in self.by_position.items() if p in needed}
        if not first:
            self.history.append(RateSample(time.time(), len(activity.events), len(activity.matches)))
        self.version += 1


class FeedRegistry:
    """One feed for each token in use; `tiles` is where the map's ground comes from, if anywhere, `credit` its owner."""

    def __init__(self, url: str, ca: str | None = None, tiles: str = "", credit: str = "") -> None:
        self.url = url
        self.tiles, self.credit = tiles, credit
        self._ca = ca
        self._feeds: dict[str, LiveFeed] = {}
        self._closing: list[asyncio.Task[None]] = []

    def of(self, token: str) -> LiveFeed:
        """Return the feed of a token."""
        if token not in self._feeds:
            self._feeds[token] = LiveFeed(BrokerApi(self.url, token, ca=self._ca))
        return self._feeds[token]

    def leave(self, token: str) -> None:
        """Remove a viewer with this token; a feed without viewers is dropped."""
        feed = self._feeds[token]
        feed.leave()
        if not feed.watched:
            self._closing.append(asyncio.get_running_loop().create_task(feed.api.close()))
            self._closing = [task for task in self._closing if not task.done()]
            del self._feeds[token]

    async def close(self) -> None:
        """Let go of everything."""
        for feed in self._feeds.values():
            if feed._task is not None:
                feed._task.cancel()
            await feed.api.close()

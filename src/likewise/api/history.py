"""Responses about the past: counts, time series, stored events, and the trace of one event."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from likewise.api.deliveries import Cause
from likewise.api.live_views import Arrival, MatchedSubscription

# What became of an event for a subscription.
Outcome = Literal[
    "delivered",
    "not_met",
    "not_matched_yet",
    "before_it",
    "after_it",
    "unmatched",
    "withdrawn",
    "unknown_then",
]


class MinuteCount(msgspec.Struct, frozen=True):
    """Events and matches that came within a span that begins at `at` (µs)."""

    at: int
    events: int
    matches: int


class SubscriptionCount(msgspec.Struct, frozen=True, omit_defaults=True):
    """Number of matches of a subscription since counting began, and the time of the newest (µs)."""

    subscriber: str
    subscription: str
    matches: int = 0
    last: int | None = None
    event: str = ""
    source: str = ""


class EventCounts(msgspec.Struct, frozen=True):
    """Counts from `since` (µs; None if nothing came) up to position `position` of the log, which trails under load."""

    since: int | None
    position: int
    span: int  # µs that each of `minutes` lasts
    minutes: tuple[MinuteCount, ...]
    subscriptions: tuple[SubscriptionCount, ...]


class SeriesPoint(msgspec.Struct, frozen=True):
    """One value of a reading: when it came (µs), the number in the series' unit, and the event."""

    at: int
    value: float
    event: str


class SeriesMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that was said about an event of a series: when (µs), for which subscription, and why."""

    at: int
    subscriber: str
    subscription: str
    cause: Cause
    score: float
    event: str


class TimeSeries(msgspec.Struct, frozen=True):
    """A reading of one source over time, oldest first, with what its events met.

    `whole` says whether everything asked for was looked at; `left_out` counts values that are no numbers, or whose unit
    cannot be brought to `unit`. Where there were more than asked for, each point shown is the first of some.
    """

    source: str
    attribute: str
    unit: str
    points: tuple[SeriesPoint, ...]
    marks: tuple[SeriesMark, ...]
    whole: bool
    left_out: int = 0
    attributes: tuple[str, ...] = ()  # of the source that are numbers, to choose from


class StoredEvent(msgspec.Struct, frozen=True):
    """A stored event and what it met."""

    position: int
    arrival: int
    event: dict[str, Any]
    met: tuple[MatchedSubscription, ...] = ()

    @property
    def arrived(self) -> Arrival:
        """Return the event as it was received."""
        return Arrival(self.position, self.arrival, self.event)


class StoredEvents(msgspec.Struct, frozen=True):
    """Stored events, the newest first; ask with `before` for those that came earlier, None if there are none."""

    events: tuple[StoredEvent, ...]
    before: int | None


class TraceStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that happened: when (µs, where it is known), what in a word, and in a sentence."""

    step: str
    said: str
    at: int | None = None


class Trace(msgspec.Struct, frozen=True, omit_defaults=True):
    """The trace of an event for a subscription; `text` is the subscription as it was then."""

    event: str
    source: str
    arrival: int
    outcome: Outcome
    steps: tuple[TraceStep, ...]
    text: str = ""
    changed_since: bool = False

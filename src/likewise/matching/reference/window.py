"""The k best of a sliding window, recomputed at every step (sources.md C, "Top-k/w").

A window keeps every publication that passed the condition and may still count. What enters the k best
for the first time is delivered, once: on arrival, or promoted when a better one leaves.

Settled here: a publication that passes the condition takes a place among the last n even if it has no
rank value; so does one that was withdrawn. Among the last n the order is that of arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from likewise.model.mapping import Mapping
from likewise.model.subscription import Top

Trace = Callable[[], Mapping | None]


class Publication(msgspec.Struct):
    """One event that passed a subscription's condition.

    `rank_value` is None if it is no candidate (a scored attribute is missing). `sequence` numbers the
    engine's arrivals.
    """

    sequence: int
    time: int
    event_id: str | None
    rank_value: float | None
    score: float
    product: float
    delivered: bool = False
    withdrawn: bool = False


class ReferenceWindow:
    """The window of one top-k subscription.

    >>> from likewise.model import ValueOf
    >>> window = ReferenceWindow(Top(1, ValueOf("x"), duration=10))
    >>> window.insert(Publication(0, 0, "a", 1.0, 1.0, 1.0)), window.insert(Publication(1, 5, "b", 2.0, 1.0, 1.0))
    (None, None)
    >>> [p.event_id for p in window.deliver(5)], [p.event_id for p in window.deliver(10)]
    (['a'], ['b'])
    """

    def __init__(self, top: Top) -> None:
        self.top = top
        self.publications: list[Publication] = []
        self.traces: dict[int, Trace] = {}

    def insert(self, publication: Publication, trace: Trace | None = None) -> None:
        """Take in a publication that passed the condition; the last n stay if the window counts events."""
        self.publications.append(publication)
        if trace is not None:
            self.traces[publication.sequence] = trace
        if self.top.events is not None and len(self.publications) > self.top.events:
            self._forget(self.publications[: -self.top.events])

    def expiries(self, now: int) -> set[int]:
        """The moments up to `now` at which a publication leaves."""
        if self.top.duration is None:
            return set()
        ends = {p.time + self.top.duration for p in self.publications}
        return {end for end in ends if end <= now}

    def candidates(self, now: int) -> list[Publication]:
        """Everything in the window that can be ranked, the best first; ties go to the more recent."""
        duration = self.top.duration
        inside = [
            p
            for p in self.publications
            if p.rank_value is not None and not p.withdrawn and (duration is None or now - p.time < duration)
        ]
        return sorted(inside, key=self._order)

    def _order(self, publication: Publication) -> tuple[float, int, int]:
        value = publication.rank_value
        assert value is not None
        return (-value if self.top.highest else value, -publication.time, -publication.sequence)

    def deliver(self, now: int) -> list[Publication]:
        """The publications that are among the k best for the first time, best first; they count as delivered."""
        fresh = [p for p in self.candidates(now)[: self.top.k] if not p.delivered]
        for publication in fresh:
            publication.delivered = True
        if self.top.duration is not None:  # time never runs back, so what is over stays over
            self._forget([p for p in self.publications if now - p.time >= self.top.duration])
        return fresh

    def withdraw(self, event_id: str) -> bool:
        """Take an event back; whether it was there."""
        withdrawn = [p for p in self.publications if p.event_id == event_id and not p.withdrawn]
        for publication in withdrawn:
            publication.withdrawn = True
        return bool(withdrawn)

    def _forget(self, removed: list[Publication]) -> None:
        numbers = {p.sequence for p in removed}
        self.publications = [p for p in self.publications if p.sequence not in numbers]
        for number in numbers:
            self.traces.pop(number, None)

    def position(self, publication: Publication, now: int) -> WindowPosition:
        """Where a publication stands in the window, or would stand if it arrived now; changes nothing."""
        if self.top.duration is not None and now - publication.time >= self.top.duration:
            return WindowPosition(None, None, expired=True)
        others = [p for p in self.candidates(now) if p.sequence != publication.sequence]
        others.append(publication)
        others.sort(key=self._order)
        limit = others[self.top.k - 1].rank_value if len(others) >= self.top.k else None
        return WindowPosition(others.index(publication) + 1, limit, expired=False)


class WindowPosition(NamedTuple):
    """A publication's place in a window (1 is the best), the k-th value, or that its time is over."""

    place: int | None
    kth: float | None
    expired: bool

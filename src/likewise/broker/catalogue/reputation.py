"""Rate sources that offer the same: by battery, reputation, and how fresh their readings are.

Reputation is an exponential mean over its events: whether they hold to the range it announced, come on time, and agree
with the median of its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Final

from likewise.broker.log.entries import EVENT, Entry
from likewise.matching.reference.operators import meets
from likewise.model import Event
from likewise.model.announcements.announcement import Announcement

SLOWLY: Final = 0.95  # how much what was before counts beside a new event
AT_FIRST: Final = 0.5  # of a source that nothing is known about
LATE: Final = 1.5  # intervals after which an event is late
FAR: Final = 0.25  # of the median: a reading further from it does not agree
WEIGHTS: Final = (0.4, 0.4, 0.2)  # of battery, reputation and freshness


class SourceReputation:
    """The reputations of a tenant's announced sources, and their last readings.

    >>> from likewise.model.announcements.announcement import AnnouncedAttribute
    >>> SourceReputation().of(Announcement("s", (AnnouncedAttribute("t"),), reputation=0.9))
    0.9
    """

    def __init__(self) -> None:
        self._mean: dict[str, float] = {}
        self._last: dict[str, int] = {}
        self._readings: dict[str, dict[str, float]] = {}  # by attribute, then by source

    def observe(self, announced: dict[str, Announcement], entries: Iterable[Entry]) -> None:
        """Take in events of announced sources."""
        for entry in entries:
            announcement = announced.get(entry.source) if entry.kind == EVENT else None
            if announcement is None or not isinstance(entry.value, Event):
                continue
            marks = [self._on_time(announcement, entry.arrival)]
            for each in announcement.attributes:
                items = [item for item in entry.value.tuples if item.attribute == each.name]
                if items:
                    marks.append(float(all(meets(each.predicate(), item) for item in items)))
                    reading = items[0].reading()
                    if reading is not None:
                        marks += self._agrees(each.name, entry.source, reading[0])
            mark = sum(marks) / len(marks)
            before = self._mean.get(
                entry.source, AT_FIRST if announcement.reputation is None else announcement.reputation
            )
            self._mean[entry.source] = SLOWLY * before + (1 - SLOWLY) * mark

    def _on_time(self, announcement: Announcement, arrival: int) -> float:
        before, self._last[announcement.source] = self._last.get(announcement.source), arrival
        if before is None or announcement.interval is None:
            return 1.0
        return float(arrival - before <= LATE * announcement.interval * 1e6)

    def _agrees(self, name: str, source: str, number: float) -> list[float]:
        known = self._readings.setdefault(name, {})
        known[source] = number
        if len(known) < 3:
            return []
        middle = median(known.values())
        return [float(abs(number - middle) <= FAR * max(1.0, abs(middle)))]

    def last_observed(self, source: str) -> int | None:
        """Return when a source last sent an event (µs); None if it did not."""
        return self._last.get(source)

    def forget(self, source: str) -> None:
        """Forget a source that announces nothing any more."""
        self._mean.pop(source, None)
        self._last.pop(source, None)
        for known in self._readings.values():
            known.pop(source, None)

    def of(self, announcement: Announcement) -> float:
        """Return a source's reputation, from 0 to 1."""
        return self._mean.get(
            announcement.source, AT_FIRST if announcement.reputation is None else announcement.reputation
        )

    def worth(self, announcement: Announcement, now: int) -> float:
        """Return the weighted sum of battery, reputation and freshness."""
        last = self._last.get(announcement.source)
        interval = 60.0 if announcement.interval is None else announcement.interval
        fresh = AT_FIRST if last is None else 1.0 / (1.0 + max(0.0, (now - last) / 1e6 / interval - 1.0))
        battery = 1.0 if announcement.battery is None else announcement.battery
        return sum(w * x for w, x in zip(WEIGHTS, (battery, self.of(announcement), fresh), strict=True))

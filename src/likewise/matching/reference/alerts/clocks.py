"""Wrong clocks and uploads of history: events that are far behind the newest of their source.

Such an event is suspicious. Several of one source within a minute, with different own times, are an upload, whatever
they are about. One that is of no upload has a wrong clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from likewise.defaults import CLOCK_BEHIND, UPLOAD_SLACK, UPLOAD_SPAN
from likewise.matching.reference.alerts.state import Observation
from likewise.model.event import Event

MOST: Final = 1_000  # sources that are named, the newest
MAX_SUSPICIOUS_EVENTS: Final = 64  # of one source, the newest: more within a minute are no wrong clock
WrongClocks = dict[str, tuple[int, int]]  # by source: the time that the last such event states, and when it came
NewestTimes = dict[str, int]  # by source: the newest own time of all its events, whatever they are about


class SuspiciousEvent(NamedTuple):
    """An event whose clock may be wrong: its arrival at the first broker, its own time, whether it was of an upload."""

    arrival: int
    stated: int
    upload: bool = False

    def is_same_upload(self, other: SuspiciousEvent) -> bool:
        """Return whether a later event of the source and this one are of one upload.

        >>> first = SuspiciousEvent(1_000_000, -86_400_000_000)
        >>> first.is_same_upload(SuspiciousEvent(1_000_000, -86_300_000_000))
        True
        >>> first.is_same_upload(SuspiciousEvent(61_000_001, -86_300_000_000))
        False
        """
        passed = abs(other.arrival - self.arrival)
        gap = abs(other.stated - self.stated)
        return passed <= UPLOAD_SPAN and (self.upload or gap > passed + UPLOAD_SLACK)


SuspiciousEvents = dict[str, list[SuspiciousEvent]]  # by source, in the order of arrival


def note_suspicious(suspicious: SuspiciousEvents, source: str, arrival: int, stated: int) -> bool:
    """Note a suspicious event of a source; return whether it is of an upload."""
    event = SuspiciousEvent(arrival, stated)
    recent = [each for each in suspicious.pop(source, ()) if arrival - each.arrival <= UPLOAD_SPAN]
    upload = any(each.is_same_upload(event) for each in recent)
    suspicious[source] = [*recent[1 - MAX_SUSPICIOUS_EVENTS :], event._replace(upload=upload)]
    if len(suspicious) > MOST:
        for name in [name for name, events in suspicious.items() if arrival - events[-1].arrival > UPLOAD_SPAN]:
            del suspicious[name]
    return upload


def shifted(suspicious: SuspiciousEvents, by: int) -> SuspiciousEvents:
    """Return the same events, all of them so much later."""
    return {
        source: [each._replace(arrival=each.arrival + by, stated=each.stated + by) for each in events]
        for source, events in suspicious.items()
    }


def is_doubted(newest: NewestTimes, source: str, time: int, now: int, lateness: int, forget: int) -> bool:
    """Return whether an event's own time is so far behind its source's newest that its clock may be wrong.

    Args:
        newest: The newest own time of each source.
        source: The event's source.
        time: The event's own time, at most `now`.
        now: When the event came.
        lateness: How long events wait for others that were sent before them.
        forget: A newest time that is older than this does not count any more.

    >>> day = 24 * 3_600 * 1_000_000
    >>> is_doubted({"s": 3 * day}, "s", day, 3 * day, 0, 30 * day), is_doubted({"s": 2 * day}, "s", day, 2 * day, 0, 9)
    (True, False)
    """
    last = newest.get(source, time)
    return last - time > CLOCK_BEHIND and time < now - lateness and now - forget < last


def note_newest(newest: NewestTimes, source: str, time: int) -> bool:
    """Note an event's own time; return whether it is the newest of its source."""
    is_newest = newest.get(source, time) <= time
    if is_newest:
        newest[source] = time
    return is_newest


def first_arrival(event: Event, now: int) -> int:
    """When an event came to the first broker."""
    return now if event.received is None else min(now, event.received)


def first_doubted(doubted: Iterable[Observation]) -> Observation:
    """Return the event that has waited longest."""
    return min(doubted, key=lambda each: (each.arrival, each.sequence))


def note_clock(clocks: WrongClocks, observation: Observation) -> None:
    """Note that the clock of an event's source is wrong; the oldest are let go where there are many."""
    assert observation.stated is not None
    clocks.pop(observation.source, None)
    clocks[observation.source] = (observation.stated, observation.time)
    while len(clocks) > MOST:
        del clocks[next(iter(clocks))]


def rename_clock(
    clocks: WrongClocks, newest: NewestTimes, suspicious: SuspiciousEvents, before: str, after: str | None
) -> None:
    """Move what is known of a source's clock to its new name; without one, drop it."""
    clock, time, events = clocks.pop(before, None), newest.pop(before, None), suspicious.pop(before, [])
    if after is None:
        return
    if clock is not None:
        clocks[after] = clock
    if time is not None:
        note_newest(newest, after, time)
    merge_suspicious(suspicious, {after: events} if events else {})


def merge_suspicious(suspicious: SuspiciousEvents, others: SuspiciousEvents) -> None:
    """Add suspicious events that were noted elsewhere."""
    for source, events in others.items():
        suspicious[source] = sorted({*suspicious.get(source, ()), *events})[-MAX_SUSPICIOUS_EVENTS:]

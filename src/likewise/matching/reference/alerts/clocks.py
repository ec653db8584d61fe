"""Clock skew and uploads of history: events that are far behind the newest of their source.

Such an event is suspicious. Several of one source within a minute, whose own times do not run like a clock, are an
upload, whatever they are about. One that is of no upload has a wrong clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from likewise.defaults import CLOCK_BEHIND, UPLOAD_SLACK, UPLOAD_SPAN
from likewise.matching.reference.alerts.state import Observation
from likewise.matching.reference.lateness import is_late
from likewise.model.event import Event

MOST: Final = 1_000  # sources that are named, the newest
MAX_SUSPICIOUS_EVENTS: Final = 64  # of one source: the oldest of the last minute and the newest
WrongClocks = dict[str, tuple[int, int]]  # by source: the time that the last such event states, and when it came
NewestTimes = dict[str, int]  # by source: the newest own time of all its events, whatever they are about


class SuspiciousEvent(NamedTuple):
    """An event whose clock may be wrong.

    `arrival` is that at the first broker, `stated` its own time. `uploading` is the arrival of the last event of its
    upload whose own time did not run like a clock; None if it is of no upload.
    """

    arrival: int
    stated: int
    uploading: int | None = None

    def runs_like_a_clock(self, later: SuspiciousEvent) -> bool:
        """Return whether the own times of this event and a later one lie as far apart as their arrivals.

        >>> first = SuspiciousEvent(1_000_000, -86_400_000_000)
        >>> first.runs_like_a_clock(SuspiciousEvent(31_000_000, -86_370_000_000))
        True
        >>> first.runs_like_a_clock(SuspiciousEvent(1_000_000, -86_300_000_000))
        False
        """
        return abs(later.stated - self.stated) <= abs(later.arrival - self.arrival) + UPLOAD_SLACK


SuspiciousEvents = dict[str, list[SuspiciousEvent]]  # by source, in the order of arrival


def note_suspicious(suspicious: SuspiciousEvents, source: str, arrival: int, stated: int) -> bool:
    """Note a suspicious event of a source; return whether it is of an upload.

    An upload lasts until a minute after the last event of it that did not run like a clock: one message that was
    delayed on its way does not silence a device whose clock is wrong for as long as it goes on sending.

    >>> day, noted = 24 * 3_600_000_000, {}
    >>> [note_suspicious(noted, "s", at * 1_000_000, own * 1_000_000 - day) for at, own in ((0, 0), (10, 10))]
    [False, False]
    >>> [note_suspicious(noted, "s", at * 1_000_000, own * 1_000_000 - day) for at, own in ((30, 20), (31, 31))]
    [False, True]
    >>> [note_suspicious(noted, "s", at * 1_000_000, at * 1_000_000 - day) for at in range(41, 161, 10)][-2:]
    [True, False]
    """
    event = SuspiciousEvent(arrival, stated)
    recent = [each for each in suspicious.pop(source, ()) if arrival - each.arrival <= UPLOAD_SPAN]
    if all(each.runs_like_a_clock(event) for each in recent):
        last = max((each.uploading for each in recent if each.uploading is not None), default=None)
        uploading = last if last is not None and arrival - last <= UPLOAD_SPAN else None
    else:
        uploading = arrival
    # The oldest stays: the own times of a fast upload run away from the arrivals only after many events.
    suspicious[source] = [*recent[:1], *recent[1:][2 - MAX_SUSPICIOUS_EVENTS :], event._replace(uploading=uploading)]
    if len(suspicious) > MOST:
        for name in [name for name, events in suspicious.items() if arrival - events[-1].arrival > UPLOAD_SPAN]:
            del suspicious[name]
    return uploading is not None


def shifted(suspicious: SuspiciousEvents, by: int) -> SuspiciousEvents:
    """Return the same events, all of them so much later."""
    return {
        source: [
            SuspiciousEvent(
                each.arrival + by, each.stated + by, None if each.uploading is None else each.uploading + by
            )
            for each in events
        ]
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
    return last - time > CLOCK_BEHIND and is_late(time, now, lateness) and now - forget < last


def note_newest(newest: NewestTimes, source: str, time: int) -> bool:
    """Note an event's own time; return whether it is the newest of its source."""
    is_newest = newest.get(source, time) <= time
    if is_newest:
        newest[source] = time
    return is_newest


def first_arrival(event: Event, now: int) -> int:
    """Return when an event came to the first broker."""
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
        merged = {*suspicious.get(source, ()), *events}
        suspicious[source] = sorted(merged, key=lambda each: each[:2])[-MAX_SUSPICIOUS_EVENTS:]

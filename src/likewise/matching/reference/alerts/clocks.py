"""Sources whose clock is wrong: an event was far behind the newest of its source, and of no upload."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from likewise.matching.reference.alerts.state import Observation, has_effect
from likewise.model.event import Event

MOST: Final = 1_000  # sources that are named, the newest
WrongClocks = dict[str, tuple[int, int]]  # by source: the time that the last such event states, and when it came


def first_arrival(event: Event, now: int) -> int:
    """When an event came to the first broker."""
    return now if event.received is None else min(now, event.received)


def wrong_clock(doubted: Iterable[Observation]) -> Observation | None:
    """The event whose minute is over, if its clock is wrong; None if it was of an upload."""
    first = min(doubted, key=lambda each: (each.arrival, each.sequence))
    return first if has_effect(first) else None


def note_clock(clocks: WrongClocks, observation: Observation) -> None:
    """Note that the clock of an event's source is wrong; the oldest are let go where there are many."""
    assert observation.stated is not None
    clocks.pop(observation.source, None)
    clocks[observation.source] = (observation.stated, observation.time)
    while len(clocks) > MOST:
        del clocks[next(iter(clocks))]


def rename_clock(clocks: WrongClocks, before: str, after: str | None) -> None:
    """Let a source that is named have another name; without one, it is named no more."""
    clock = clocks.pop(before, None)
    if clock is not None and after is not None:
        clocks[after] = clock

"""Match events so that one that cannot be matched does not fail the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from likewise.broker.log.entries import BatchedEvent, Entry
from likewise.broker.tenants.matched_events import BatchMatchIndex, NumbersAndScores
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.model import Event

OnUnmatchable = Callable[[Entry, Exception], None]


def event_time(entry: Entry) -> int | None:
    """Return an event's stated time; None if it states none or a later one than its arrival."""
    time = entry.time
    return None if time is None or time > entry.arrival else time


def effective_time(entry: Entry) -> int:
    """Return the time at which an event counts: its own time, else its arrival in the log."""
    time = event_time(entry)
    return entry.arrival if time is None else time


def effective_times(entries: Sequence[Entry]) -> list[int]:
    """Return the `moment` of each entry, fast for a batch without stated times."""
    batch = entries[0].batch
    if batch is not None and entries[-1].batch is batch and not batch.has_times:
        return [entry.arrival for entry in entries]
    return [effective_time(entry) for entry in entries]


def events_of(entries: Sequence[Entry]) -> Sequence[Event]:
    """Return the events of entries, as columns where they were decoded together."""
    first, last = entries[0].content, entries[-1].content
    if isinstance(first, BatchedEvent) and isinstance(last, BatchedEvent) and first.batch is last.batch:
        places = [entry.content.place for entry in entries if isinstance(entry.content, BatchedEvent)]
        if len(places) == len(entries) == last.place - first.place + 1:
            return cast("Sequence[Event]", first.batch[first.place : last.place + 1])
    return [entry.value for entry in entries if isinstance(entry.value, Event)]


def match_guarded(
    matcher: NumberedMatcher, entries: Sequence[Entry], on_unmatchable: OnUnmatchable, at: Sequence[int] | None = None
) -> BatchMatchIndex:
    """Match events; call `aside` with each event that cannot be matched, and its error."""
    moments = effective_times(entries) if at is None else at
    try:
        return matcher.match_batch(events_of(entries), moments)
    except Exception:  # of some event: one by one, so that it cannot fail the others
        matched: dict[int, NumbersAndScores] = {}
    for index, entry in enumerate(entries):
        try:
            assert isinstance(entry.value, Event)
            matches = matcher.match(entry.position, entry.value, moments[index])
        except Exception as error:
            on_unmatchable(entry, error)
            continue
        if matches:
            matched[index] = ([each.number for each in matches], [each.score for each in matches])
    return BatchMatchIndex.of(matched, len(entries))

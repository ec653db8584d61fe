"""Matching events so that one that cannot be matched fails no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from likewise.broker.log.entries import BatchedEvent, Entry
from likewise.broker.tenants.matched_events import BatchMatchIndex, NumbersAndScores
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.model import Event

OnUnmatchable = Callable[[Entry, Exception], None]


def event_time(entry: Entry) -> int | None:
    """The time an event says it is of; None if it says none, or one after it came: a clock may be years ahead."""
    time = entry.time
    return None if time is None or time > entry.arrival else time


def effective_time(entry: Entry) -> int:
    """When an event counts: by its own time, else by its arrival in the log."""
    time = event_time(entry)
    return entry.arrival if time is None else time


def effective_times(entries: Sequence[Entry]) -> list[int]:
    """`moment` of each; few say a time of their own, and of those read together that is known at once."""
    batch = entries[0].batch
    if batch is not None and entries[-1].batch is batch and not batch.has_times:
        return [entry.arrival for entry in entries]
    return [effective_time(entry) for entry in entries]


def events_of(entries: Sequence[Entry]) -> Sequence[Event]:
    """The events of entries: as columns where they were read together."""
    first, last = entries[0].content, entries[-1].content
    if isinstance(first, BatchedEvent) and isinstance(last, BatchedEvent) and first.batch is last.batch:
        places = [entry.content.place for entry in entries if isinstance(entry.content, BatchedEvent)]
        if len(places) == len(entries) == last.place - first.place + 1:
            return cast("Sequence[Event]", first.batch[first.place : last.place + 1])
    return [entry.value for entry in entries if isinstance(entry.value, Event)]


def match_guarded(
    matcher: NumberedMatcher, entries: Sequence[Entry], aside: OnUnmatchable, at: Sequence[int] | None = None
) -> BatchMatchIndex:
    """What events meet; `aside` is told of an event that cannot be matched, and its error."""
    moments = effective_times(entries) if at is None else at
    try:
        return matcher.match_batch(events_of(entries), moments)
    except Exception:  # of some event: one by one, so that it cannot fail the others
        met: dict[int, NumbersAndScores] = {}
    for index, entry in enumerate(entries):
        try:
            assert isinstance(entry.value, Event)
            matches = matcher.match(entry.position, entry.value, moments[index])
        except Exception as error:
            aside(entry, error)
            continue
        if matches:
            met[index] = ([each.number for each in matches], [each.score for each in matches])
    return BatchMatchIndex.of(met, len(entries))

"""What only waits in a digest was not said: the key can be told again from before it, without a withdrawn event.

With the first saying of a key that a digest gathers, its story from before is kept, and the events that follow, the
newest of them one by one. When the digest is sent, all of it is said, and nothing has to be kept any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from likewise.defaults import MAX_TAKEN_BACK
from likewise.matching.reference.alerts.state import Heard, Say, Story, Told, due, hear, take_back, tick
from likewise.model.alerts.clauses import Alert


class Unsaid(NamedTuple):
    """A key's story before what was not said yet, the events since, and how many sayings are older than those."""

    story: Story
    heard: tuple[Heard, ...] = ()
    settled: int = 0


def retells(alert: Alert) -> bool:
    """Whether what a digest gathers moves the key's state, so that it must be told again."""
    moves = (alert.held_for, alert.once_until, alert.at_most_every, alert.absent_for)
    return alert.digest_every is not None and any(each is not None for each in moves)


def heard_more(alert: Alert, unsaid: Unsaid, heard: Heard, lateness: int) -> Unsaid:
    """One more event of the key; the oldest is let go where there are many."""
    unsaid = unsaid._replace(heard=(*unsaid.heard, heard))
    if len(unsaid.heard) > MAX_TAKEN_BACK:
        story, says = _told(alert, unsaid.story, unsaid.heard[:1], lateness)
        unsaid = Unsaid(story, unsaid.heard[1:], unsaid.settled + len(says))
    return unsaid


def names(story: Story, heard: Sequence[Heard], event_id: str) -> bool:
    """Whether an event is among those that are remembered one by one."""
    events = (*story.trail, *story.waiting, *story.deferred, *story.doubted, *heard)
    return event_id in story.held_back or any(each.event_id == event_id for each in events)


def told_again(
    alert: Alert, unsaid: Unsaid, event_id: str, now: int, lateness: int
) -> tuple[Unsaid, Story, list[Say]] | None:
    """A key without an event: its story, and what a digest gathers; None if what was said before is over by it."""
    story, says = take_back(alert, unsaid.story, event_id, now)
    if says:
        return None
    left = tuple(each for each in unsaid.heard if each.event_id != event_id)
    return unsaid._replace(story=story, heard=left), *_told(alert, story, left, lateness)


def _told(alert: Alert, story: Story, events: tuple[Heard, ...], lateness: int) -> Told:
    says: list[Say] = []
    for heard in events:
        while (next_one := due(alert, story, lateness)) is not None and next_one[0] <= heard.arrival:
            story, said = tick(alert, story, *next_one[:2], lateness)
            says += said
        story, said = hear(alert, story, heard, lateness)
        says += said
    return story, says

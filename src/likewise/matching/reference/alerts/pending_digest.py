"""What only waits in a digest was not said: the key can be told again from before it, without a withdrawn event.

With the first saying of a key that a digest gathers, its story from before is kept, and the events that follow, the
newest of them one by one. When the digest is sent, all of it is said, and nothing has to be kept any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from likewise.defaults import MAX_RETRACTABLE_EVENTS
from likewise.matching.reference.alerts.state import (
    AlertState,
    DueNotification,
    Observation,
    Told,
    due,
    observe,
    take_back,
    tick,
)
from likewise.model.alerts.clauses import Alert


class PendingDigest(NamedTuple):
    """A key's story before what was not said yet, the events since, and how many sayings are older than those."""

    state: AlertState
    observations: tuple[Observation, ...] = ()
    settled: int = 0


def needs_replay(alert: Alert) -> bool:
    """Whether what a digest gathers moves the key's state, so that it must be told again."""
    moves = (alert.held_for, alert.once_until, alert.at_most_every, alert.absent_for)
    return alert.digest_every is not None and any(each is not None for each in moves)


def observe_pending(alert: Alert, unsaid: PendingDigest, heard: Observation, lateness: int) -> PendingDigest:
    """One more event of the key; the oldest is let go where there are many."""
    unsaid = unsaid._replace(observations=(*unsaid.observations, heard))
    if len(unsaid.observations) > MAX_RETRACTABLE_EVENTS:
        story, says = _replay(alert, unsaid.state, unsaid.observations[:1], lateness)
        unsaid = PendingDigest(story, unsaid.observations[1:], unsaid.settled + len(says))
    return unsaid


def may_name(story: AlertState, heard: Sequence[Observation], event_id: str) -> bool:
    """Whether an event is among those that are remembered one by one."""
    events = (*story.trail, *story.waiting, *story.deferred, *story.doubted, *heard)
    return event_id in story.held_back or any(each.event_id == event_id for each in events)


def replay_without(
    alert: Alert, unsaid: PendingDigest, event_id: str, now: int, lateness: int
) -> tuple[PendingDigest, AlertState, list[DueNotification]] | None:
    """A key without an event: its story, and what a digest gathers; None if what was said before is over by it."""
    story, says = take_back(alert, unsaid.state, event_id, now)
    if says:
        return None
    left = tuple(each for each in unsaid.observations if each.event_id != event_id)
    return unsaid._replace(state=story, observations=left), *_replay(alert, story, left, lateness)


def _replay(alert: Alert, story: AlertState, events: tuple[Observation, ...], lateness: int) -> Told:
    says: list[DueNotification] = []
    for heard in events:
        while (next_one := due(alert, story, lateness)) is not None and next_one[0] <= heard.arrival:
            story, said = tick(alert, story, *next_one[:2], lateness)
            says += said
        story, said = observe(alert, story, heard, lateness)
        says += said
    return story, says

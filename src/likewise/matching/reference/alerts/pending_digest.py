"""Pending digests: a notification that waits was not sent, so its key can be replayed without a withdrawn event.

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
    """Return whether what a digest gathers moves the key's state, so that it must be told again."""
    moves = (alert.held_for, alert.once_until, alert.at_most_every, alert.absent_for)
    return alert.digest_every is not None and any(each is not None for each in moves)


def observe_pending(alert: Alert, pending: PendingDigest, observation: Observation, lateness: int) -> PendingDigest:
    """One more event of the key; the oldest is let go where there are many."""
    pending = pending._replace(observations=(*pending.observations, observation))
    if len(pending.observations) > MAX_RETRACTABLE_EVENTS:
        state, notifications = _replay(alert, pending.state, pending.observations[:1], lateness)
        pending = PendingDigest(state, pending.observations[1:], pending.settled + len(notifications))
    return pending


def may_name(state: AlertState, observations: Sequence[Observation], event_id: str) -> bool:
    """Return whether an event is among those that are remembered one by one."""
    events = (*state.trail, *state.waiting, *state.deferred, *state.doubted, *observations)
    return event_id in state.held_back or any(each.event_id == event_id for each in events)


def replay_without(
    alert: Alert, pending: PendingDigest, event_id: str, now: int, lateness: int
) -> tuple[PendingDigest, AlertState, list[DueNotification]] | None:
    """A key without an event: its story, and what a digest gathers; None if what was said before is over by it."""
    state, notifications = take_back(alert, pending.state, event_id, now)
    if notifications:
        return None
    left = tuple(each for each in pending.observations if each.event_id != event_id)
    return pending._replace(state=state, observations=left), *_replay(alert, state, left, lateness)


def _replay(alert: Alert, state: AlertState, events: tuple[Observation, ...], lateness: int) -> Told:
    notifications: list[DueNotification] = []
    for observation in events:
        while (next_one := due(alert, state, lateness)) is not None and next_one[0] <= observation.arrival:
            state, sent = tick(alert, state, *next_one[:2], lateness)
            notifications += sent
        state, sent = observe(alert, state, observation, lateness)
        notifications += sent
    return state, notifications

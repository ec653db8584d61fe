"""The pending digest of a key, replayed without a withdrawn event, as in `matching.reference.alerts`."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from likewise.defaults import MAX_RETRACTABLE_EVENTS
from likewise.matching.alerts.key_state import KeyState
from likewise.matching.reference.alerts.state import DueNotification, Observation
from likewise.model.alerts.clauses import Alert


class DigestCheckpoint(msgspec.Struct):
    """A key's state before what was not said yet, the events since, and how many sayings are older than those."""

    state: KeyState
    observations: list[Observation] = msgspec.field(default_factory=list)
    settled: int = 0

    def observe(self, alert: Alert, observation: Observation, lateness: int) -> None:
        """One more event of the key; the oldest is let go where there are many."""
        self.observations.append(observation)
        if len(self.observations) > MAX_RETRACTABLE_EVENTS:
            self.settled += len(_replay(alert, self.state, [self.observations.pop(0)], lateness))

    def may_name(self, event_id: str) -> bool:
        """Return whether an event is among those that are remembered one by one."""
        state = self.state
        events = (*state.trail, *state.waiting, *state.deferred, *state.doubted, *self.observations)
        return event_id in state.held_back or any(each.event_id == event_id for each in events)

    def replay_without(
        self, alert: Alert, event_id: str, now: int, lateness: int
    ) -> tuple[KeyState, list[DueNotification]] | None:
        """The key without an event, and what a digest gathers of it; None if what was said before is over by it."""
        if self.state.withdraw(alert, event_id, now):
            return None
        self.observations = [each for each in self.observations if each.event_id != event_id]
        state = self.state.copy()
        return state, _replay(alert, state, self.observations, lateness)


def _replay(alert: Alert, state: KeyState, events: Iterable[Observation], lateness: int) -> list[DueNotification]:
    notifications: list[DueNotification] = []
    for observation in events:
        while (due := state.due(alert, lateness)) is not None and due[0] <= observation.arrival:
            notifications += state.tick(alert, due[0], due[1], lateness)
        notifications += state.observe(alert, observation, lateness)
    return notifications

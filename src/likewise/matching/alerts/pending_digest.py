"""What only waits in a digest: the key can be told again without a withdrawn event; see `plain.alerts.unsaid`."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from likewise.defaults import MAX_TAKEN_BACK
from likewise.matching.alerts.key_state import KeyState
from likewise.matching.reference.alerts.state import Heard, Say
from likewise.model.alerts.clauses import Alert


class Unsaid(msgspec.Struct):
    """A key's state before what was not said yet, the events since, and how many sayings are older than those."""

    state: KeyState
    heard: list[Heard] = msgspec.field(default_factory=list)
    settled: int = 0

    def hear(self, alert: Alert, heard: Heard, lateness: int) -> None:
        """One more event of the key; the oldest is let go where there are many."""
        self.heard.append(heard)
        if len(self.heard) > MAX_TAKEN_BACK:
            self.settled += len(_tell(alert, self.state, [self.heard.pop(0)], lateness))

    def names(self, event_id: str) -> bool:
        """Whether an event is among those that are remembered one by one."""
        state = self.state
        events = (*state.trail, *state.waiting, *state.deferred, *state.doubted, *self.heard)
        return event_id in state.held_back or any(each.event_id == event_id for each in events)

    def tell_again(self, alert: Alert, event_id: str, now: int, lateness: int) -> tuple[KeyState, list[Say]] | None:
        """The key without an event, and what a digest gathers of it; None if what was said before is over by it."""
        if self.state.take_back(alert, event_id, now):
            return None
        self.heard = [each for each in self.heard if each.event_id != event_id]
        state = self.state.copy()
        return state, _tell(alert, state, self.heard, lateness)


def _tell(alert: Alert, state: KeyState, events: Iterable[Heard], lateness: int) -> list[Say]:
    says: list[Say] = []
    for heard in events:
        while (due := state.due(alert, lateness)) is not None and due[0] <= heard.arrival:
            says += state.tick(alert, due[0], due[1], lateness)
        says += state.hear(alert, heard, lateness)
    return says

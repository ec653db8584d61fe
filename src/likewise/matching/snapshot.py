"""An unchanging view of a matcher's subscriptions, for threads that do not own the matcher."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import Final

from likewise.matching.matcher_state import MatcherState
from likewise.model import Event, Explanation, Match


class Snapshot:
    """The subscriptions as they were, without their windows; safe to share between threads.

    Engines are built when something is first matched, so that taking a snapshot copies what is held and no more.
    """

    def __init__(self, state: MatcherState) -> None:
        self.subscriptions: Final = tuple(state.held.values())
        self._ends = dict(state.ends)
        self._ordinals = tuple(state.held)
        self._interpretation, self._choice = state.interpretation, state.choice
        self._lock = Lock()

    @cached_property
    def _state(self) -> MatcherState:
        state = MatcherState(self._interpretation, self._choice)
        for ordinal, subscription in zip(self._ordinals, self.subscriptions, strict=True):
            if not subscription.remembers:
                state.add(ordinal, subscription, 0, self._ends.get(ordinal))
        return state

    def match(self, event: Event, at: int = 0) -> list[Match]:
        """The matches of one event among the subscriptions without windows that are valid at the moment `at`."""
        if event.expires is not None and event.expires <= at:
            return []
        with self._lock:
            matches = self._state.match(event, at)
        return [match for ordinal, match in matches if self._ends.get(ordinal, at + 1) > at]

    def explain(self, event: Event, id: str, at: int = 0) -> Explanation:
        """Why the event does or does not meet a subscription."""
        with self._lock:
            return self._state.explain(event, id, at)

"""An unchanging view of a matcher's subscriptions, for threads that do not own the matcher."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from likewise.errors import UnknownId
from likewise.matching.routing import Meaning
from likewise.model import Event, Explanation, Match, Subscription

if TYPE_CHECKING:
    from likewise.matching.matcher import Matcher


class Snapshot:
    """The subscriptions as they were, without their windows; safe to share between threads.

    Engines are built when something is first matched, so that taking a snapshot costs one tuple.
    """

    def __init__(self, subscriptions: tuple[Subscription, ...], meaning: Meaning) -> None:
        self.subscriptions = subscriptions
        self._meaning = meaning
        self._lock = Lock()

    @cached_property
    def _matcher(self) -> Matcher:
        from likewise.matching.matcher import Matcher

        matcher = Matcher()
        matcher.meaning = self._meaning
        for subscription in self.subscriptions:
            if subscription.kind != "top":
                matcher.add(subscription, at=0)
        return matcher

    def match(self, event: Event, at: int = 0) -> list[Match]:
        """The matches of one event among the subscriptions without windows."""
        with self._lock:
            return self._matcher.match(event, at)

    def explain(self, event: Event, id: str, at: int = 0) -> Explanation:
        """Why the event does or does not meet a subscription."""
        with self._lock:
            if id not in self._matcher:
                raise UnknownId(id)
            return self._matcher.explain(event, id, at)

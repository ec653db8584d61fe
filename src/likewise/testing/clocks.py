"""A clock that stands still until it is told to move, for tests."""

from __future__ import annotations

from datetime import datetime

from likewise.model.time import microseconds


class ManualClock:
    """Gives the moment it was set to, in microseconds UTC; pass it as `clock`.

    >>> clock = ManualClock(1_000)
    >>> clock.advance(500)
    1500
    >>> clock()
    1500
    """

    def __init__(self, now: int | datetime | str = 0) -> None:
        self.now = microseconds(now)

    def __call__(self) -> int:
        """The moment it was set to."""
        return self.now

    def advance(self, duration: int) -> int:
        """Let `duration` microseconds pass; the new moment. A negative duration turns the clock back."""
        self.now += duration
        return self.now

    def set(self, now: int | datetime | str) -> None:
        """Jump to a moment."""
        self.now = microseconds(now)

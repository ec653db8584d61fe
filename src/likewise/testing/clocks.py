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
        self._passed = 0  # µs

    def __call__(self) -> int:
        """Return the current time."""
        return self.now

    def advance(self, duration: int) -> int:
        """Let `duration` microseconds pass; the new moment. A negative duration turns the clock back."""
        self._passed += max(0, duration)
        self.now += duration
        return self.now

    def set(self, now: int | datetime | str) -> None:
        """Let time pass up to a moment, or turn the clock back to it."""
        self.advance(microseconds(now) - self.now)

    def step(self, by: int) -> int:
        """Set the clock wrong by so many microseconds, while no time passes; the new moment."""
        self.now += by
        return self.now

    def steady(self) -> float:
        """Return the seconds that passed, whatever the clock was set to; a broker compares the clock with them.

        >>> clock = ManualClock()
        >>> clock.advance(2_000_000), clock.step(9), clock.steady()
        (2000000, 2000009, 2.0)
        """
        return self._passed / 1e6

"""How fast a tenant may publish: a bucket that fills with time."""

from __future__ import annotations

from collections.abc import Callable

from likewise.errors import RateExceeded


class TokenBucket:
    """At most `rate` events a second on average, and at most a second's worth (or one request) at once.

    >>> now = [0.0]
    >>> rate = Rate(10, lambda: now[0])
    >>> rate.take(10)
    >>> rate.take(1)
    Traceback (most recent call last):
    likewise.errors.RateExceeded: at most 10 events a second are allowed; come again in 0.1 s
    >>> now[0] = 0.2
    >>> rate.take(1)
    """

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._clock = clock
        self._level = rate
        self._at = clock()

    def take(self, count: int) -> None:
        """Use up some of it; a request larger than a second's worth is let through by a full bucket alone."""
        now = self._clock()
        self._level = min(self._rate, self._level + (now - self._at) * self._rate)
        self._at = now
        wanted = min(count, self._rate)
        if self._level < wanted:
            raise RateExceeded(allowed=self._rate, retry_after=(wanted - self._level) / self._rate)
        self._level -= count

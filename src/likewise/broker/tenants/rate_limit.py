"""Rate limit for publishers: a token bucket."""

from __future__ import annotations

from collections.abc import Callable

from likewise.errors import RateExceeded


class TokenBucket:
    """At most `rate` events a second on average, with bursts of one second's worth or one request.

    >>> now = [0.0]
    >>> rate = TokenBucket(10, lambda: now[0])
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
        tokens = min(count, self._rate)
        if self._level < tokens:
            raise RateExceeded(allowed=self._rate, retry_after=(tokens - self._level) / self._rate)
        self._level -= count

"""Failed logins: answered later and later for one address, and logged now and then.

A token cannot be guessed, so a delay protects no secret: it keeps a client that tries again at once, for ever, from
taking the loop and filling the log. It delays refusals alone. A good token is let in at once, whatever its address did
before: behind one address there may be a whole town.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

from likewise.defaults import (
    LOGIN_ADDRESSES,
    LOGIN_DELAY_SECONDS,
    LOGIN_FORGET_SECONDS,
    LOGIN_FREE,
    LOGIN_LOG_SECONDS,
)


class _Failures(NamedTuple):
    """The failed logins of one address: how many, when the last was, when one was logged."""

    failed: int
    newest: float
    logged: float


_NONE: Final = _Failures(0, float("-inf"), float("-inf"))


class FailedLogins:
    """Remembers failed logins of a bounded number of addresses. Times are seconds of the loop's clock.

    >>> logins = FailedLogins()
    >>> [logins.add("10.0.0.7", float(n)) for n in range(8)]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 2.0]
    >>> logins.add("10.0.0.7", 1_000.0), logins.add("10.0.0.8", 7.0)
    (0.0, 0.0)
    """

    def __init__(self) -> None:
        self._by: OrderedDict[str, _Failures] = OrderedDict()
        self._logged = float("-inf")
        self._suppressed = 0

    def __len__(self) -> int:
        return len(self._by)

    def add(self, address: str, now: float) -> float:
        """Count a failed login; return for how many seconds its answer is to be delayed."""
        count, newest, logged = self._by.pop(address, _NONE)
        count = 1 if now - newest > LOGIN_FORGET_SECONDS else count + 1
        self._by[address] = _Failures(count, now, logged)
        while len(self._by) > LOGIN_ADDRESSES:
            self._by.popitem(last=False)
        first, longest = LOGIN_DELAY_SECONDS
        return 0.0 if count <= LOGIN_FREE else min(longest, first * 2.0 ** min(30, count - LOGIN_FREE - 1))

    def suppressed(self, address: str, now: float) -> int | None:
        """Return how many log lines were left out before this one; None if this one is left out, too.

        >>> logins = FailedLogins()
        >>> _ = logins.add("a", 0.0), logins.add("b", 0.1)
        >>> logins.suppressed("a", 0.0), logins.suppressed("b", 0.1), logins.suppressed("a", 2.0)
        (0, None, None)
        >>> logins.suppressed("b", 2.0)
        2
        """
        known = self._by.get(address)
        due = known is None or now - known.logged >= LOGIN_LOG_SECONDS
        if not due or now - self._logged < 1.0:
            self._suppressed += 1
            return None
        if known is not None:
            self._by[address] = known._replace(logged=now)
        self._logged = now
        left_out, self._suppressed = self._suppressed, 0
        return left_out

"""Exponential backoff: pauses between attempts that double up to a limit."""

from __future__ import annotations

_MAX_DOUBLINGS = 30  # keeps the power small; every limit is reached long before


def backoff_s(failures: int, first: float, longest: float) -> float:
    """Return the seconds to wait after a number of consecutive failures, before the next attempt.

    Args:
        failures: How many attempts have failed in a row, from 1.
        first: Pause after the first failure; each further one doubles it.
        longest: Pause that is never exceeded.

    >>> [backoff_s(failures, 0.5, 3.0) for failures in (1, 2, 3, 4, 1_000)]
    [0.5, 1.0, 2.0, 3.0, 3.0]
    """
    return min(longest, first * 2.0 ** min(failures - 1, _MAX_DOUBLINGS))

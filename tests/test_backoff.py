"""Pauses between attempts."""

from __future__ import annotations

import pytest

from likewise.backoff import backoff_s


@pytest.mark.parametrize(("failures", "pause"), [(1, 1.0), (2, 2.0), (5, 16.0), (6, 20.0), (10**9, 20.0)])
def test_pauses_double_up_to_the_longest(failures: int, pause: float) -> None:
    """However long something fails."""
    assert backoff_s(failures, 1.0, 20.0) == pause

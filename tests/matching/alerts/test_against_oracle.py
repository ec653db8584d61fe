"""Alerts equal the oracle over generated steps: late events, unrelated messages, withdrawals, restarts, ticks, ties."""

from __future__ import annotations

import pytest

from tests.matching.alerts.against_oracle import compare_alerts


@pytest.mark.parametrize("lateness", [0, 3])
@pytest.mark.parametrize("seed", range(8))
def test_alerts_say_what_the_oracle_says(seed: int, lateness: int) -> None:
    assert compare_alerts(seed=1_000 + seed, steps=60, lateness=lateness) == 60

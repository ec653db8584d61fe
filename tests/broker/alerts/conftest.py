"""What the tests of alerts share: a broker whose own chores stand still, and a clock that is set."""

from __future__ import annotations

import pytest

from likewise.broker.maintenance import housekeeping
from likewise.broker.maintenance import housekeeping as being_up
from likewise.testing.clocks import ManualClock

SECOND = 1_000_000


@pytest.fixture
def no_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 1e9)
    monkeypatch.setattr(being_up, "PAUSE", 600 * SECOND)
    monkeypatch.setattr(being_up, "TICK", 600 * SECOND)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2024-05-01T12:00:00Z")

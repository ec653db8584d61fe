"""Deliveries in memory: as many as have room, counted rightly, also when what they were of is gone."""

from __future__ import annotations

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, StoreSettings
from likewise.broker.maintenance import retention as sweeping
from likewise.testing.clocks import ManualClock


def test_what_is_forgotten_makes_room_for_what_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much was forgotten before, the newest deliveries stay at hand, and nothing else."""
    monkeypatch.setattr(sweeping, "DEDUPLICATION_SPAN", 0)
    clock = ManualClock(0)
    with Broker(None, Config(store=StoreSettings("1 min")), clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="all")])
        tenant.recent_limit = 50_000
        for turn in range(20):
            broker.publish(tenant, [lw.event({"x": n}, id=f"{turn} {n}") for n in range(10)])
            broker.wait_until_matched()
            assert len(tenant.recent) == 10, f"what came in turn {turn} is not at hand"
            clock.advance(61_000_000)
            broker.sweep()
            assert (len(tenant.recent), tenant._recent_bytes) == (0, 0)

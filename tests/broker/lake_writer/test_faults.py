"""Faults of the lake's disk and of the broker's process: nothing is lost or doubled, and matching goes on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import likewise as lw
from tests.broker.lake_writer import kills
from tests.broker.lake_writer.kept import event_ids, opened
from tests.broker.served import Disk

pytestmark = pytest.mark.timeout(900)


def test_figure_11_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """Two here; `make lake` does more."""
    found = kills.run(2, "parquet", "all", tmp_path, seed=3, longest=0.8)
    assert found["matches"] > 0


@pytest.mark.parametrize("kind", ["parquet", "delta"])
def test_figure_11_a_full_disk_of_the_lake_never_ends_matching(kind: str, tmp_path: Path) -> None:
    """It is said and tried again; with room again everything is there, once."""
    if kind == "delta":
        pytest.importorskip("deltalake")
    disk = Disk(tmp_path, megabytes=16)
    if not disk.can_fill:
        pytest.skip("this process may not mount a disk")
    try:
        with opened(tmp_path / "data", disk.path / "lake", format=kind) as broker:
            assert broker.lake is not None
            tenant = broker.tenant("default")
            broker.register(tenant, "ann")
            broker.subscribe(tenant, "ann", [lw.parse("{t > 10}", id="warm")])
            broker.publish(tenant, [lw.event({"t": 20}, id="before")])
            broker.wait_until_matched()
            broker.lake.wait_until_written()
            disk.fill()
            for number in range(20):
                events = [lw.event({"t": 20, "text": "x" * 500}, id=f"{number}-{n}") for n in range(50)]
                broker.publish(tenant, events)
            broker.wait_until_matched()
            deadline = time.monotonic() + 120
            while not broker.troubles():
                assert time.monotonic() < deadline, "a full disk should have been said"
                time.sleep(0.05)
            assert broker.worker.failure is None
            assert tenant.stored_number == 1_001
            disk.make_room()
            broker.lake.wait_until_written(120)
            assert broker.troubles() == []
        found = event_ids(disk.path / "lake")
        assert set(found.values()) == {1}
        assert len(found) == 1_001
    finally:
        disk.close()

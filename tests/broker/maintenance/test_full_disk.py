"""A full disk: publishers are refused, nothing acknowledged is lost, and everything goes on when there is room."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.log import log_entries
from likewise.broker.log.tables import StoreTables
from likewise.broker.maintenance import housekeeping
from likewise.broker.maintenance import scheduler as chores
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import Unavailable

WINDOW = "{x exists} top 2 within 3 events by value(x)"


def waited(reached: Callable[[], object], seconds: float = 120.0) -> bool:
    """Whether something came to be, within a generous time."""
    deadline = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a small file system cannot be mounted here: that needs root and `mount`")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=False)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 0.02)
    monkeypatch.setattr(housekeeping, "CHECKPOINT_ENTRIES", 5)
    monkeypatch.setattr(chores, "RETRY_SECONDS", (0.02, 0.1))


def subscribed(broker: Broker) -> Tenant:
    tenant = broker.tenant("default")
    if not tenant.subscribers:
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x >= 0}", id="s"), lw.parse(WINDOW, id="w")])
    return tenant


def fill(disk: Path) -> Path:
    """Take every byte that is left."""
    balloon = disk / "balloon"
    for size in (65536, 4096, 1):
        try:
            with balloon.open("ab", buffering=0) as out:
                while out.write(b"f" * size) == size:
                    pass
        except OSError:
            continue
    return balloon


def publish_until_refused(broker: Broker, tenant: Tenant, first: int, size: int = 1000) -> list[str]:
    acknowledged: list[str] = []
    for x in range(first, first + 100_000):
        try:
            broker.publish(tenant, [lw.event({"x": x, "filler": "f" * size}, id=f"e{x}")])
        except Unavailable:
            return acknowledged
        acknowledged.append(f"e{x}")
    raise AssertionError("the disk was never full")


@pytest.mark.timeout(600)
def test_a_full_disk_ends_nothing_and_everything_goes_on_when_there_is_room(small_disk: Path) -> None:
    """Not the sweep, not saving windows, not a stop: what fails is tried again, said, and gone when there is room."""
    data = small_disk / "data"
    acknowledged: list[str] = []
    with Broker(data) as broker:
        tenant = subscribed(broker)
        for turn in range(2):
            balloon = fill(small_disk)
            acknowledged += publish_until_refused(broker, tenant, 10_000 * turn)
            acknowledged += publish_until_refused(broker, tenant, 10_000 * turn + 5_000, size=1)
            assert waited(lambda: housekeeping.FORGETTING in broker._housekeeping.tasks.troubles)
            assert waited(lambda: any("make room on the disk" in said for said in broker.troubles()))
            assert waited(lambda: broker.metrics.registry.get_sample_value("likewise_troubles"))
            assert broker.worker.failure is None
            balloon.unlink()
            assert waited(lambda: not broker.troubles())
            broker.publish(tenant, [lw.event({"x": 1}, id=f"room{turn}")])
            acknowledged.append(f"room{turn}")
            broker.wait_until_matched(300)
        fill(small_disk)
    (small_disk / "balloon").unlink()
    with Broker(data) as broker:
        tenant = subscribed(broker)
        broker.wait_until_matched(300)
        arrived = {id for id in acknowledged if broker.find_event(tenant, id)}
        assert len(arrived) == len(acknowledged)
        assert len(tenant.subscriber("ann")) >= len(acknowledged)


def test_a_chore_that_fails_is_said_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its error: events are matched meanwhile, and the trouble is gone when it works."""
    failing = [True]

    def sweep(tables: StoreTables, *rest: object) -> object:
        if failing[0]:
            raise ZeroDivisionError("a chore broke")
        return real(tables, *rest)  # type: ignore[arg-type]

    real = log_entries.sweep
    monkeypatch.setattr(housekeeping, "sweep", sweep)
    with Broker(None) as broker:
        tenant = subscribed(broker)
        assert waited(lambda: "forgetting what is over: ZeroDivisionError: a chore broke" in broker.troubles())
        broker.publish(tenant, [lw.event({"x": 1}, id="e1")])
        broker.wait_until_matched(300)
        assert len(tenant.subscriber("ann")) == 1
        failing[0] = False
        assert waited(lambda: not broker.troubles())


def test_an_acknowledgement_that_shares_a_failed_commit_is_kept(tmp_path: Path) -> None:
    """Its commit is done again by itself, and then it is on disk when its sender is told so."""
    with Broker(tmp_path / "data") as broker:
        tenant = subscribed(broker)
        broker.publish(tenant, [lw.event({"x": x}) for x in range(5)])
        broker.wait_until_matched(300)
        told: list[object] = []

        def broken(tables: StoreTables) -> None:
            raise ZeroDivisionError("not an error of the tree, so the whole transaction fails")

        with broker.store._shared:  # so that both wait for the writer and share its transaction
            broker.store.write(lambda tables: None, told.append)
            broker.acknowledge(tenant, "ann", 3, told.append)
            broker.store.write(broken, told.append)
        assert waited(lambda: len(told) == 3)
    with Broker(tmp_path / "data") as broker:
        assert broker.tenant("default").subscriber("ann").acknowledged == 3

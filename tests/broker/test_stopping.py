"""Stopping: everything acknowledged is kept, windows are saved, nothing is an error, and nobody waits long."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

import likewise as lw
from likewise.broker import broker as broker_module
from likewise.broker.broker import Broker
from likewise.broker.dispatch import matching_loop as matching_worker
from likewise.broker.maintenance import housekeeping
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import Unavailable

WINDOW = "{no2 exists} top 1 within 1 h by value(no2)"


def following(data: Path, text: str) -> tuple[Broker, Tenant]:
    broker = Broker(data)
    tenant = broker.tenant("default")
    if "ann" not in tenant.subscribers:
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse(text, id="s")])
    return broker, tenant


@contextmanager
def stuck(owner: object, name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A method that does not return before the end of the block, as while kernels compile; set once it is called."""
    original: Callable[..., object] = getattr(owner, name)
    reached, free = threading.Event(), threading.Event()

    def wait(*arguments: object) -> object:
        reached.set()
        free.wait()
        return original(*arguments)

    monkeypatch.setattr(owner, name, wait)
    try:
        yield reached
    finally:
        free.set()


def test_time_that_passes_while_the_broker_stops_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Housekeeping that is due at every turn does not get in the way; the windows are saved where the log ends."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 0.0)
    with capture_logs() as said:
        for turn in range(5):
            broker, tenant = following(tmp_path, WINDOW)
            broker.publish(tenant, [lw.event({"no2": turn})])
            broker.close()
            assert broker.worker.failure is None
            assert tenant.windows_from == broker.worker.position + 1
            assert (tmp_path / "windows" / f"{tenant.number}-{broker.worker.position}").is_dir()
    assert [line for line in said if line["log_level"] in ("warning", "error")] == []


def test_a_stop_does_not_wait_for_matching_that_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As while kernels compile: it says so in words, and the next start matches what was left."""
    monkeypatch.setattr(matching_worker, "FINISHING_SECONDS", 0.05)
    monkeypatch.setattr(matching_worker, "BATCH_STOP_SECONDS", 0.05)
    broker, tenant = following(tmp_path, WINDOW)
    with capture_logs() as said, stuck(tenant.windows, "match", monkeypatch) as reached:
        broker.publish(tenant, [lw.event({"no2": 1}, id="e1")])
        assert reached.wait(10)
        broker.close()
        assert [line["event"] for line in said if line["log_level"] == "warning"] == ["stop_during_matching"]
    monkeypatch.undo()
    broker, tenant = following(tmp_path, WINDOW)
    with broker:
        broker.wait_until_matched()
        assert len(tenant.subscriber("ann")) == 1


def test_a_stop_on_a_full_disk_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a traceback: nothing is lost by it, and the next start delivers what could not be stored."""
    monkeypatch.setattr(matching_worker, "FINISHING_SECONDS", 0.05)
    broker, tenant = following(tmp_path, WINDOW)
    full = threading.Event()

    def refuse(start: object) -> None:
        full.set()
        raise Unavailable("the disk is full")

    with capture_logs() as said:
        monkeypatch.setattr(matching_worker, "wait_for", refuse)
        broker.publish(tenant, [lw.event({"no2": 1}, id="e1")])
        assert full.wait(60)
        broker.close()
    assert [line for line in said if line["log_level"] == "error" or "exc_info" in line] == []
    [stopped] = [line for line in said if line["event"] == "deliveries_not_stored_at_stop"]
    assert stopped["reason"] == "the disk is full"
    monkeypatch.undo()
    broker, tenant = following(tmp_path, WINDOW)
    with broker:
        broker.wait_until_matched()
        assert len(tenant.subscriber("ann")) == 1


def test_a_stop_does_not_wait_for_matching_before_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the writer had not committed was acknowledged to nobody."""
    monkeypatch.setattr(broker_module, "FINISHING_SECONDS", 0.05)
    broker, tenant = following(tmp_path, "{no2 exists}")
    told: list[object] = []
    with capture_logs() as said, stuck(tenant.stateless, "match_batch", monkeypatch) as reached:
        broker.start_publish(tenant, [lw.event({"no2": 1}, id="e1")], told.append)
        assert reached.wait(10)
        broker.close()
        assert not told
        assert [line["event"] for line in said if line["log_level"] == "warning"] == ["stop_during_commit"]
    broker.store.close()


def test_a_backlog_that_takes_long_is_left_for_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was handed in is finished for a while; after that the stretch under way is, and the windows are saved."""
    monkeypatch.setattr(matching_worker, "FINISHING_SECONDS", 0.0)
    broker, tenant = following(tmp_path, WINDOW)
    results: list[object] = []
    with stuck(tenant.windows, "match", monkeypatch) as reached:
        broker.publish(tenant, [lw.event({"no2": 1}, id="e1")])
        assert reached.wait(60)
        broker.publish(tenant, [lw.event({"no2": 2}, id="e2")])
        broker.start_register(tenant, "bob", None, None, results.append)
        broker.store.commit(lambda tables: None)
        closing = threading.Thread(target=broker.close)
        closing.start()
        broker.worker.hurried.wait(60)
    closing.join()
    assert isinstance(results[0], Unavailable)
    assert "next start" in str(results[0])
    assert (tmp_path / "windows" / f"{tenant.number}-{broker.worker.position}").is_dir()
    monkeypatch.undo()
    broker, tenant = following(tmp_path, WINDOW)
    with broker:
        broker.wait_until_matched()
        assert set(tenant.subscribers) == {"ann", "bob"}
        assert tenant.events > 0


@pytest.mark.timeout(600)
def test_a_served_broker_stops_without_an_error(tmp_path: Path) -> None:
    """Under load, and while it starts; `make stops` does a hundred."""
    from tests.broker import stops

    for number, kind in enumerate(("load", "starting")):
        found = stops.one_stop(tmp_path, number, kind, random.Random(number))  # type: ignore[arg-type]
        assert found.broken == []

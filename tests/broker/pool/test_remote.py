"""Workers of other machines: over TLS, with a token, over lines that are cut; deliveries are those of one process."""

from __future__ import annotations

import os
import random
import signal
import tarfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, ServerSettings, WorkerSettings
from likewise.broker.maintenance import housekeeping
from likewise.broker.pool import tcp_frames
from likewise.broker.pool.tcp_frames import unpack_files
from likewise.broker.telemetry.workers import pool_status
from likewise.errors import InputError
from likewise.language import parse
from likewise.model import event
from tests.broker.pool.interleavings import (
    ARCHITECTURES,
    Architecture,
    Teller,
    compare,
    kill_one,
    settle,
    want_workers,
)
from tests.broker.pool.machines import CutLine, kill_remote, listener_of, listening, machine


def wait_until(true: Callable[[], bool], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def _time_passes_by_the_story_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 1e9)


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("_time_passes_by_the_story_alone")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_cut_lines_and_killed_workers_of_other_machines_lose_and_double_nothing(
    architecture: Architecture, tmp_path: Path
) -> None:
    """All kinds, two tenants, subscriptions coming and going; lines cut, workers killed, splits and merges."""
    steps, cuts, teller_seen = 0, 0, list[Teller]()
    started = list[object]()
    line: CutLine | None = None

    def disturb(dice: random.Random, teller: Teller) -> None:
        nonlocal steps, cuts, line
        if line is None:
            line = CutLine(listener_of(teller).address[1])
            offered = machine(tmp_path, line.port, processes=3)
            started.append((offered, offered.__enter__()))
            teller_seen.append(teller)
        steps += 1
        if steps % 50 == 20:
            cuts += line.cut()
        elif steps % 50 == 40:
            kill_one(dice, teller)
        elif steps % 50 == 10:
            want_workers(teller, 3 if steps % 100 == 10 else 1)
            settle(teller)

    try:  # the story's brokers are closed before the machine goes
        events, differ = compare(11, 150, listening(tmp_path, architecture), disturb=disturb)
        pool = teller_seen[0].broker.topology
        assert pool is not None
        assert not differ
        assert events >= 100
        assert cuts
        assert pool.pool.failover.deaths >= 2
        assert pool.splits
    finally:
        for offered, _ in started:  # type: ignore[misc]
            offered.__exit__(None, None, None)  # type: ignore[has-type]
        if line is not None:
            line.close()


@pytest.mark.timeout(300)
def test_what_waits_for_a_worker_of_another_machine_is_matched_once_it_comes(tmp_path: Path) -> None:
    with Broker(tmp_path / "data", listening(tmp_path, workers=1)) as broker:
        tenant, topology = broker.tenant("default"), broker.topology
        assert topology is not None
        broker.register(tenant, "ann")
        with capture_logs() as logs:
            broker.publish(tenant, [event({"x": 2})])
            wait_until(lambda: any("no machine has connected" in each for each in broker.troubles()))
        assert not [each for each in logs if each["log_level"] == "error"], "a machine may connect later"
        (tmp_path / "wrong").write_text("another token that is long")
        port = topology.pool._listener.address[1]  # type: ignore[union-attr]
        with machine(tmp_path, port, token="wrong"):
            wait_until(lambda: "the token is not the one" in (tmp_path / "machine.log").read_text())
        assert topology.pool.failover.deaths == 0
        with machine(tmp_path, port):
            broker.subscribe(tenant, "ann", [parse("{x > 1}", id="s"), parse("{x > 1} once until false", id="once")])
            broker.publish(tenant, [event({"x": 3})])
            broker.wait_until_matched(120.0)
            wait_until(lambda: not broker.troubles())
            shown = pool_status(topology, broker.autoscaler).processes[1]
            assert (shown.subscriptions, shown.remembering, bool(shown.host)) == (2, 1, True)
            assert tenant.stored_number >= 2
            broker.close()  # while a worker can still save what it remembers


@pytest.mark.timeout(300)
def test_a_worker_of_another_machine_that_is_stopped_is_replaced(tmp_path: Path) -> None:
    teller = Teller(listening(tmp_path, workers=1))
    broker = teller.broker
    with machine(tmp_path, listener_of(teller).address[1]), broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [parse("{x > 1} once until false", id="once")])
        broker.publish(tenant, [event({"x": 0})])
        broker.wait_until_matched(120.0)
        kill_remote(teller, 1, signal.SIGSTOP)
        broker.publish(tenant, [event({"x": 2})])
        broker.wait_until_matched(120.0)
        assert broker.topology is not None
        assert broker.topology.pool.failover.deaths == 1
        assert tenant.stored_number == 1


@pytest.mark.timeout(300)
def test_a_line_on_which_nothing_comes_through_is_let_go_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_frames, "SILENCE_S", 3.0)
    teller = Teller(listening(tmp_path, workers=1))
    broker, line = teller.broker, CutLine(listener_of(teller).address[1])
    with machine(tmp_path, line.port), broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [parse("{x > 1}", id="s")])
        broker.publish(tenant, [event({"x": 2})])
        broker.wait_until_matched(120.0)
        line.silent = True
        broker.publish(tenant, [event({"x": 3})])
        assert broker.topology is not None
        pool = broker.topology.pool
        wait_until(lambda: pool.failover.deaths == 1)
        line.cut()
        line.silent = False
        broker.wait_until_matched(120.0)
        assert tenant.stored_number == 2
    line.close()


@pytest.mark.timeout(300)
def test_a_request_is_blamed_for_the_end_of_a_process_and_not_for_a_line_that_was_cut(tmp_path: Path) -> None:
    teller = Teller(listening(tmp_path, workers=1))
    broker, line = teller.broker, CutLine(listener_of(teller).address[1])
    with machine(tmp_path, line.port), broker:
        assert broker.topology is not None
        pool = broker.topology.pool
        wait_until(lambda: pool.workers[1].alive)
        first = pool.workers[1]
        line.cut()
        wait_until(lambda: pool.workers[1] is not first and pool.workers[1].alive)
        second = pool.workers[1]
        os.kill(second.pid, signal.SIGKILL)
        wait_until(lambda: pool.workers[1] is not second and pool.workers[1].alive)
        assert [each.killed_by_request for each in (first, second)] == [False, True]
        assert [each.end_reason for each in (first, second)] == ["the connection broke", "its process ended"]
        assert pool.failover.deaths == 2
    line.close()


def test_workers_of_other_machines_need_tls_and_a_token(tmp_path: Path) -> None:
    (tmp_path / "short").write_text("short")
    config = listening(tmp_path)
    with pytest.raises(InputError, match="needs TLS"):
        Broker(None, msgspec.structs.replace(config, server=ServerSettings()))
    short = msgspec.structs.replace(config.workers, token_file=str(tmp_path / "short"))
    with pytest.raises(InputError, match="is short"):
        Broker(None, msgspec.structs.replace(config, workers=short))
    with pytest.raises(InputError, match="both"):
        WorkerSettings(listen="0.0.0.0:8790")
    with pytest.raises(InputError, match="HOST:PORT"):
        WorkerSettings(listen="8790", token_file="token")
    with pytest.raises(InputError, match="workers"):
        Config(matching=MatchingSettings(workers=0), workers=config.workers)


def test_an_archive_cannot_write_beside_its_folder(tmp_path: Path) -> None:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../beside"))
    with pytest.raises(tarfile.OutsideDestinationError):
        unpack_files(buffer.getvalue(), tmp_path / "folder")
    assert not (tmp_path / "beside").exists()

"""Workers as processes: pipes that are full, workers that die, and coordinators that are gone."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from likewise.api.workers import PoolSettings
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings
from likewise.broker.pool import process as watching
from likewise.broker.pool import standby as spare
from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.process import (
    LOCK,
    MAX_DEATHS,
    PREFIX,
    PendingRequest,
    WorkerProcess,
    count_death,
    remove_stale_folders,
)
from likewise.broker.pool.protocol import (
    BatchMatches,
    EventSent,
    InterpretationSettings,
    MatchEvents,
    MatchStateful,
    NewSubscription,
    OperationFailed,
    StateChanges,
)
from likewise.broker.pool.shard import Shard
from likewise.broker.telemetry.workers import pool_status, update_pool
from likewise.broker.tenants.numbered_matcher import NumberedMatch
from likewise.errors import StateError
from likewise.language import parse
from likewise.model import event

TOLD = InterpretationSettings(None, None, None, "full", None, 2**20, 0, 0)


@pytest.fixture
def crew() -> Iterator[WorkerPool]:
    made = WorkerPool(TOLD)
    yield made
    made.close()


def wait_until(true: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.timeout(300)
def test_requests_and_answers_larger_than_any_pipe_do_not_hold_each_other_up(crew: WorkerPool) -> None:
    """Everything is sent before anything is waited for; each answer is larger than a socket's buffer."""
    worker = crew.start()
    share = Shard(1)
    share.subscriptions = {n: NewSubscription(n, n, 0, parse(f"{{x > {n % 7}}}", id=f"s{n}")) for n in range(1, 1_001)}
    crew.place(share, [worker])
    text = "y" * 1_000
    events = [EventSent(n, 0, b'{"v":1,"payload":{"x":9,"t":"%s"}}' % text.encode()) for n in range(1, 101)]
    tickets = [crew.ask(share, MatchEvents(events)) for _ in range(12)]
    for said in crew.wait_all(tickets):
        assert isinstance(said, BatchMatches)
        assert len(said.numbers) == 8 * 100 * 1_000


@pytest.mark.timeout(300)
def test_deliveries_go_on_after_a_worker_is_killed_and_nobody_is_left_when_the_broker_closes() -> None:
    with Broker(None, Config(matching=MatchingSettings(workers=2))) as broker:
        tenant, staff = broker.tenant("default"), broker.topology
        assert staff is not None
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [parse("{x > 1}", id="s")])
        broker.publish(tenant, [event({"x": 2})])
        broker.wait_until_matched(120.0)
        os.kill(staff.pool.workers[1].pid, signal.SIGKILL)
        broker.publish(tenant, [event({"x": n}) for n in range(50)])
        broker.wait_until_matched(120.0)
        assert tenant.stored_number == 49
        wait_until(lambda: staff.pool.failover.deaths == 1)
        shown = pool_status(staff, broker.autoscaler)
        assert [each.role for each in shown.processes][1:] == ["Matcher", "Matcher"]
        assert [each.subscriptions for each in shown.processes][1:] == [1, 1]
        assert b"likewise_workers 2.0" in broker.metrics.page()
        wait_until(lambda: pool_status(staff, broker.autoscaler).ready is not None)
        assert b"likewise_workers_ready 1.0" in broker.metrics.page()
        update_pool(broker.autoscaler, PoolSettings(minimum=1, maximum=1))
        wait_until(lambda: len(staff.pool.workers) == 1)
        workers = list(staff.pool.workers.values())
    assert all(isinstance(each, WorkerProcess) and each.process.poll() is not None for each in workers)


@pytest.mark.timeout(300)
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a process that hangs is seen in /proc")
@pytest.mark.timeout(120)
def test_one_that_runs_without_end_is_seen_by_what_it_ran_and_not_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that lets a worker wait for minutes does not make it a dead one."""
    monkeypatch.setattr(watching, "REPLY_TIMEOUT_S", 0.5)
    monkeypatch.setattr(watching, "CHECK_INTERVAL_S", 0.02)
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        answering, silent, now = watching.Watchdog(process.pid), watching.Watchdog(process.pid), 0.0
        while not silent.hangs(now, 0.0, requested=True):
            assert not answering.hangs(now, now, requested=True)  # it answered just now
            assert not watching.Watchdog(process.pid).hangs(
                now + 1e6, 0.0, requested=True
            )  # so long, by the clock alone
            now += 0.05
            time.sleep(0.05)
        ran = watching._process_state(Path(f"/proc/{process.pid}/stat"))
        assert ran is not None
        assert ran[1] > 0.5 * watching.TICKS
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a process that hangs is seen in /proc")
def test_a_worker_that_is_stopped_is_killed_and_its_work_done_by_another() -> None:
    with Broker(None, Config(matching=MatchingSettings(workers=2))) as broker:
        tenant, staff = broker.tenant("default"), broker.topology
        assert staff is not None
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [parse("{x > 1}", id="s"), parse("{x > 1} once until false", id="once")])
        broker.publish(tenant, [event({"x": 0})])
        broker.wait_until_matched(120.0)
        os.kill(staff.pool.workers[1].pid, signal.SIGSTOP)
        for n in range(4):  # each is asked the other, too
            broker.publish(tenant, [event({"x": 2 + n})])
        broker.wait_until_matched(120.0)
        assert staff.pool.failover.deaths == 1
        assert tenant.stored_number == 5


@pytest.mark.timeout(300)
def test_a_worker_that_cannot_be_started_is_tried_again_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever sweeps temporary files takes no share along, and no socket's folder is missed."""
    monkeypatch.setattr(spare, "START_DELAY_S", float("inf"))  # none is kept ready that could take its place
    with Broker(tmp_path, Config(matching=MatchingSettings(workers=2, architecture="partitioned"))) as broker:
        tenant, staff = broker.tenant("default"), broker.topology
        assert staff is not None
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [parse(f"{{x > {n}}} once until false", id=f"s{n}") for n in range(2)])
        broker.publish(tenant, [event({"x": 1})])
        broker.wait_until_matched(120.0)
        folders = staff.pool.folders
        shutil.rmtree(folders.for_socket())
        with monkeypatch.context() as without:
            without.setattr(folders, "for_socket", _no_room)
            os.kill(staff.pool.workers[1].pid, signal.SIGKILL)
            wait_until(lambda: any("no room" in each for each in broker.troubles()))
        broker.publish(tenant, [event({"x": 1}), event({"x": 9})])
        broker.wait_until_matched(120.0)
        assert (tenant.stored_number, broker.troubles()) == (2, [])


def _no_room() -> Path:
    raise OSError("no room")


def test_what_a_killed_broker_left_is_swept_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}left").mkdir()
    (tmp_path / f"{PREFIX}left" / LOCK).touch()
    (tmp_path / f"{PREFIX}used").mkdir()
    with (tmp_path / f"{PREFIX}used" / LOCK).open("w") as used:
        fcntl.flock(used, fcntl.LOCK_EX)
        assert remove_stale_folders(tmp_path) == 1
    assert [each.name for each in tmp_path.iterdir()] == [f"{PREFIX}used"]


@pytest.mark.timeout(120)
def test_a_worker_whose_coordinator_is_gone_ends(tmp_path: Path) -> None:
    import socket
    import sys

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(tmp_path / "s"))
        door.listen(1)
        command = [sys.executable, "-m", "likewise", "worker", "--socket", str(tmp_path / "s")]
        process = subprocess.Popen(command)
        stream, _ = door.accept()
        stream.close()
    assert process.wait(60.0) == 0


def test_events_that_workers_die_of_are_tried_one_by_one() -> None:
    """All others of their stretch are matched; the one itself is said to be what workers die of."""
    together = PendingRequest(1, 1, MatchStateful([EventSent(n, 0, b"") for n in (7, 8)]))
    assert [count_death(together) for _ in range(MAX_DEATHS)] == [False] * (MAX_DEATHS - 1) + [True]
    assert not together.answered
    well, ill = together.split()
    well.answer(StateChanges([[NumberedMatch(3, 7, 1.0)]]))
    assert not together.answered
    assert [count_death(ill) for _ in range(MAX_DEATHS)][-1]
    assert together.answered
    assert isinstance(ill.reply, OperationFailed)
    assert together.reply == StateChanges(
        [[NumberedMatch(3, 7, 1.0)], []], [(1, f"WorkerDied: {MAX_DEATHS} workers died of it")]
    )


def test_settings_of_a_broker_without_workers_cannot_be_changed() -> None:
    with pytest.raises(StateError):
        update_pool(None, PoolSettings(minimum=2))

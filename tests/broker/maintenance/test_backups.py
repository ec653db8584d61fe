"""Copies of a store in use: one moment, windows with it; restored, served and compared with what went on."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.admin import backup, keep_copying, verify_store
from likewise.broker.broker import Broker
from likewise.broker.log.deliveries import read_between
from likewise.broker.maintenance import housekeeping
from likewise.broker.maintenance.backups import BackupCopy, copies_in
from likewise.errors import ArtefactMissing, InputError, StateError
from likewise.model import Event

START = 1_714_564_800_000_000
TEXTS = {
    "all": "{x >= 0}",
    "near": "{temperature~ > 3}",
    "last": "{x exists} top 2 within 5 events by value(x)",
    "minute": "{x exists} top 2 within 1 min by value(x)",
}


def made(number: int) -> Event:
    """An event with a time of its own, so that windows depend on nothing else."""
    x = number * 7919 % 101
    return lw.event({"x": x, "temperature": x}, id=f"e{number}", time=START + number * 7_000_000)


def delivered(broker: Broker) -> list[tuple[object, ...]]:
    """Every delivery there ever was, with its scores."""
    with broker.store.reading() as tables:
        found = read_between(tables, 1, 0, 2**60, 10**6)
        ids: dict[int, str] = dict(tables.rows("SELECT position, id FROM log WHERE kind = 0"))
    return [(d.number, ids[d.event], d.cause, d.recipients.tolist(), d.matched.tolist(), d.scores) for d in found]


@pytest.mark.timeout(600)
def test_copies_made_under_load_are_whole_and_go_on_as_the_original_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows are saved anew all the time meanwhile. A copy that gets the events it lacks gives the same deliveries."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 0.0)
    monkeypatch.setattr(housekeeping, "CHECKPOINT_ENTRIES", 7)
    data, over = tmp_path / "data", threading.Event()
    published = [0]
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse(text, id=id) for id, text in TEXTS.items()])

        def publish() -> None:
            while not over.is_set():
                broker.publish(tenant, [made(published[0])])
                published[0] += 1

        publisher = threading.Thread(target=publish)
        publisher.start()
        try:
            for number in range(4):
                seen = published[0]
                backup(data, tmp_path / f"copy{number}")
                while published[0] < seen + 15:
                    threading.Event().wait(0.01)
        finally:
            over.set()
            publisher.join()
        broker.wait_until_matched(300)
        expected = delivered(broker)
    had: list[int] = []
    for number in range(4):
        copy = tmp_path / f"copy{number}"
        assert verify_store(copy)["subscriptions"] == 4
        with Broker(copy) as broker:
            tenant = broker.tenant("default")
            assert not tenant.rebuilt
            broker.wait_until_matched(300)
            with broker.store.reading() as tables:
                [(first,)] = tables.rows("SELECT count(*) FROM log WHERE kind = 0")
            had.append(first)
            for missing in range(first, published[0]):
                broker.publish(tenant, [made(missing)])
            broker.wait_until_matched(300)
            assert delivered(broker) == expected
    assert had == sorted(had)
    assert had[-1] > had[0]


def test_a_copy_appears_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails leaves nothing behind, a folder in use is not written over, and a store must be there."""
    with Broker(tmp_path / "data") as broker:
        broker.publish(broker.tenant("default"), [made(1)])
        with monkeypatch.context() as broken:
            broken.setattr("likewise.broker.maintenance.backups._sync", lambda folder: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                backup(tmp_path / "data", tmp_path / "copy")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]
        backup(tmp_path / "data", tmp_path / "copy")
        with pytest.raises(StateError, match="not empty"):
            backup(tmp_path / "data", tmp_path / "copy")
    with pytest.raises(ArtefactMissing):
        backup(tmp_path / "nothing", tmp_path / "other")


def test_windows_that_are_gone_are_said_by_a_copy(tmp_path: Path) -> None:
    """A copy without them would be another store; a start makes them again, and then it is copied."""
    data = tmp_path / "data"
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse(TEXTS["last"], id="last")])
        broker.publish(tenant, [made(1)])
        broker.wait_until_matched(300)
    shutil.rmtree(data / "windows")
    with pytest.raises(ArtefactMissing, match="start the broker again"):
        backup(data, tmp_path / "copy")
    with Broker(data):
        pass
    backup(data, tmp_path / "copy")
    assert verify_store(tmp_path / "copy")["windows"] == 1


def test_copies_are_made_again_and_again_and_the_newest_stay(tmp_path: Path) -> None:
    """One that fails is told of and leaves the older ones; what else is in the folder is left alone."""
    with Broker(tmp_path / "data") as broker:
        broker.publish(broker.tenant("default"), [made(1)])
    copies, now, waits = tmp_path / "copies", [START], []
    copies.mkdir()
    (copies / "mine").mkdir()

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        now[0] += int(seconds * 1e6)
        if len(waits) == 3:
            shutil.move(tmp_path / "data", tmp_path / "away")
        if len(waits) == 4:
            shutil.move(tmp_path / "away", tmp_path / "data")
        return len(waits) == 6

    made_copies = list(keep_copying(tmp_path / "data", copies, every=300.0, keep=3, clock=lambda: now[0], wait=wait))
    assert [isinstance(each, BackupCopy) for each in made_copies] == [True, True, True, False, True, True]
    names = [path.name for path in copies_in(copies)]
    assert names == ["20240501T121000Z", "20240501T122000Z", "20240501T122500Z"]
    assert (copies / "mine").is_dir()
    assert waits == [300.0] * 6
    for name in names:
        assert verify_store(copies / name)["log"] == 1
    with pytest.raises(InputError):
        list(keep_copying(tmp_path / "data", copies, every=1.0, keep=0, clock=lambda: 0, wait=lambda _: True))


@pytest.mark.timeout(300)
def test_the_command_copies_until_it_is_stopped(tmp_path: Path) -> None:
    """It says each copy, keeps as many as asked for, and ends well when it is told to."""
    with Broker(tmp_path / "data") as broker:
        broker.publish(broker.tenant("default"), [made(1)])
        wanted = ["backup", str(tmp_path / "data"), str(tmp_path / "copies"), "--every", "1 s", "--keep", "2"]
        running = subprocess.Popen(
            [sys.executable, "-m", "likewise", "admin", *wanted, "--json"], stdout=subprocess.PIPE
        )
        assert running.stdout is not None
        lines = [msgspec.json.decode(running.stdout.readline()) for _ in range(4)]
        running.send_signal(signal.SIGTERM)
        running.stdout.close()
        assert running.wait(120) == 0
    assert all(line["bytes"] > 0 for line in lines)
    assert len(copies_in(tmp_path / "copies")) == 2

"""Saved windows that are lost or damaged: said, and made again from the log; never silently empty or wrong."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

import likewise as lw
from likewise.broker.admin import verify_store
from likewise.broker.broker import Broker
from likewise.broker.maintenance import housekeeping
from likewise.errors import ArtefactDamaged, ArtefactMissing, LikewiseError
from likewise.testing.clocks import ManualClock

SECOND = 1_000_000
TEXTS = {
    "minute": "{x exists} top 2 within 1 min by value(x)",
    "last": "{x exists} top 2 within 4 events by value(x)",
    "ever": "{x exists, city = Zagreb} top 1 by value(x)",
}
SAID = "windows_rebuilt_from_log"


@pytest.fixture(autouse=True)
def no_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 1e9)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2024-05-01T12:00:00Z")


@pytest.fixture
def stopped(tmp_path: Path, clock: ManualClock) -> Path:
    """A store whose windows hold something, saved by a stop; its commands were swept since."""
    data = tmp_path / "data"
    chance = random.Random(1)
    with Broker(data, clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse(text, id=id) for id, text in TEXTS.items()])
        broker.subscribe(tenant, "ann", [lw.parse("{x exists} top 1 within 9 events by value(x)", id="ended")])
        for number in range(30):
            clock.advance(5 * SECOND)
            broker.publish(tenant, [lw.event({"x": chance.randrange(20), "city": "Zagreb"}, id=f"e{number}")])
        broker.unsubscribe(tenant, "ann", "ended")
        broker.wait_until_matched(300)
    with Broker(data, clock=clock) as broker:
        broker.sweep()
    return data


def goes_on(data: Path, clock: ManualClock) -> list[tuple[str, str, list[str]]]:
    """What comes of the same further events on a folder."""
    later = ManualClock(clock())
    with Broker(data, clock=later) as broker:
        tenant = broker.tenant("default")
        before = tenant.stored_number
        for number, x in enumerate((7, 15, 3, 19, 19, 19, 19, 12)):
            later.advance(20 * SECOND)
            broker.publish(tenant, [lw.event({"x": x}, id=f"f{number}")])
        broker.wait_until_matched(300)
        frames = broker.page(tenant, tenant.subscriber("ann"), after=before, limit=1000)
        said = [msgspec.json.decode(frame) for _, frame in frames]
        return [(s["event"]["id"], s["cause"], [each["id"] for each in s["subscriptions"]]) for s in said]


def folder_in(data: Path) -> Path:
    [found] = (data / "windows").iterdir()
    return found


def copied(data: Path, target: Path) -> Path:
    shutil.copytree(data, target)
    return target


@pytest.fixture
def expected(stopped: Path, tmp_path: Path, clock: ManualClock) -> list[tuple[str, str, list[str]]]:
    found = goes_on(copied(stopped, tmp_path / "whole"), clock)
    assert {cause for _, cause, _ in found} == {"arrival", "promoted"}
    return found


def test_windows_that_are_gone_are_made_again_from_the_log(
    stopped: Path, tmp_path: Path, clock: ManualClock, expected: list[tuple[str, str, list[str]]]
) -> None:
    """Subscriptions, windows and what was delivered of them are as before, and it is said; verifying says it first."""
    for name, path in (("all", "windows"), ("one", f"windows/{folder_in(stopped).name}")):
        data = copied(stopped, tmp_path / name)
        shutil.rmtree(data / path)
        with pytest.raises(ArtefactMissing, match="makes them again"):
            verify_store(data)
        with capture_logs() as said:
            assert goes_on(data, clock) == expected
        assert any(line["event"].startswith(SAID) and line["log_level"] == "error" for line in said)
        assert verify_store(data)["windows"] == 1


@pytest.mark.timeout(600)
def test_a_flipped_bit_in_saved_windows_is_found_wherever_it_is(
    stopped: Path, tmp_path: Path, clock: ManualClock, expected: list[tuple[str, str, list[str]]]
) -> None:
    """In every file of them, the one with the checksums among them: found by verifying, and mended by a start."""
    files = sorted(path.relative_to(stopped) for path in folder_in(stopped).rglob("*") if path.is_file())
    assert len(files) >= 5
    chance = random.Random(2)
    for number, name in enumerate(files * 2):
        data = copied(stopped, tmp_path / f"d{number}")
        raw = bytearray((data / name).read_bytes())
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        (data / name).write_bytes(raw)
        with pytest.raises(ArtefactDamaged):
            verify_store(data)
        if number < len(files):
            with capture_logs() as said:
                assert goes_on(data, clock) == expected
            assert any(line["event"].startswith(SAID) for line in said)
        shutil.rmtree(data)


def test_a_file_too_many_or_too_few_is_found(stopped: Path, tmp_path: Path) -> None:
    """Shortened, too."""
    for number, change in enumerate(("more", "less", "shorter")):
        data = copied(stopped, tmp_path / f"d{number}")
        file = folder_in(data) / "engines" / "top" / "members.arrow"
        if change == "more":
            (file.parent / "another").write_bytes(b"x")
        elif change == "less":
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:-9])
        with pytest.raises(LikewiseError):
            verify_store(data)


def test_windows_that_never_were_saved_need_nothing(tmp_path: Path, clock: ManualClock) -> None:
    """Before the first save the log has everything: that is no damage."""
    with Broker(tmp_path / "data", clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse(text, id=id) for id, text in TEXTS.items()])
        broker.publish(tenant, [lw.event({"x": 5, "city": "Zagreb"}, id="e1")])
        broker.wait_until_matched(300)
        assert verify_store(tmp_path / "data")["windows"] == 0
        with broker.store._shared:
            shutil.copytree(tmp_path / "data", tmp_path / "crashed")
    with capture_logs() as said, Broker(tmp_path / "crashed", clock=clock) as broker:
        assert len(broker.tenant("default").windows) == 3
        assert not broker.tenant("default").rebuilt
    assert [line for line in said if line["log_level"] == "error"] == []


def test_what_was_withdrawn_is_not_in_windows_made_again(tmp_path: Path, clock: ManualClock) -> None:
    """Nothing of it comes, and nothing comes twice."""
    data = tmp_path / "data"
    with Broker(data, clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x exists} top 1 within 1 h by value(x)", id="low")])
        broker.publish(tenant, [lw.event({"x": x}, id=f"e{x}") for x in (1, 2, 3)])
        broker.withdraw(tenant, "e1")
        broker.withdraw(tenant, "e2")
    with Broker(data, clock=clock) as broker:
        broker.sweep()
    shutil.rmtree(data / "windows")
    with Broker(data, clock=clock) as broker:
        tenant = broker.tenant("default")
        before = tenant.stored_number
        broker.publish(tenant, [lw.event({"x": 9}, id="e9")])
        broker.withdraw(tenant, "e3")
        broker.wait_until_matched(300)
        frames = broker.page(tenant, tenant.subscriber("ann"), after=before)
        assert [msgspec.json.decode(frame)["event"]["id"] for _, frame in frames] == ["e9"]

"""`keep` and `expires` hold, whatever windows live; spans of time are readable, and the default has an end."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.config import Config, StoreSettings, read_config
from likewise.broker.log.entries import Entry, WithdrawCommand
from likewise.broker.log.event_log import Done
from likewise.broker.log.integrity import count_rows
from likewise.broker.maintenance import housekeeping, retention
from likewise.broker.queries.dry_run import board, places
from likewise.errors import FormatError, InputError, Unavailable
from likewise.testing.clocks import ManualClock

HOUR = 3_600 * 1_000_000
DAY = 24 * HOUR


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock("2024-05-01T12:00:00Z")


def stored(broker: Broker) -> int:
    with broker.store.reading() as tables:
        return count_rows(tables, "log", 1, events=True)


def swept(broker: Broker, left: int) -> bool:
    """Whether so many events are left, once windows were saved and what is over was swept."""
    deadline = time.monotonic() + 120
    while stored(broker) != left and time.monotonic() < deadline:
        time.sleep(0.02)
    return stored(broker) == left


def got(broker: Broker) -> list[tuple[str, str]]:
    broker.wait_until_matched(300)
    tenant = broker.tenant("default")
    said = [msgspec.json.decode(frame) for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)]
    return [(each["event"]["id"], each["cause"]) for each in said]


@pytest.mark.parametrize("window", ["within 100 events", "", "within 2 h"])
@pytest.mark.parametrize("on_disk", [True, False])
@pytest.mark.timeout(600)
def test_what_is_over_is_removed_although_a_window_lives(
    window: str, on_disk: bool, tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `keep` and by `expires`, also while the window is not full; a restart loses and doubles nothing."""
    for name in ("TICK_SECONDS", "SWEEP_SECONDS"):
        monkeypatch.setattr(housekeeping, name, 0.02)
    monkeypatch.setattr(housekeeping, "SAVE_SECONDS", 0.02)
    data = tmp_path / "data" if on_disk else None
    config = Config(store=StoreSettings("1 day"))
    with Broker(data, config, clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse(f"{{x exists}} top 1 {window} by value(x)", id="low")])
        for x in (1, 2, 3):
            broker.publish(tenant, [lw.event({"x": x}, id=f"kept{x}")])
        broker.publish(tenant, [lw.event({"x": 4}, id="short", expires=clock() + 2 * HOUR)])
        broker.publish(tenant, [lw.event({"x": 9}, id="long", expires=clock() + 90 * DAY)])
        broker.wait_until_matched(300)
        assert stored(broker) == 5
        clock.advance(3 * HOUR)
        assert swept(broker, 4)
        clock.advance(22 * HOUR)
        broker.publish(tenant, [lw.event({"x": 10}, id="new")])
        assert swept(broker, 1)
        if window != "within 2 h":
            assert got(broker)[-1] == ("new", "promoted")
        before = got(broker)
        broker.publish(tenant, [lw.event({"x": 5}, id="better")])
        assert got(broker) == [*before, ("better", "arrival")]
    if data is not None:
        with Broker(data, config, clock=clock) as broker:
            broker.publish(broker.tenant("default"), [lw.event({"x": 6}, id="worse")])
            assert got(broker) == [*before, ("better", "arrival")]


def best(broker: Broker) -> list[str]:
    """The board of a subscriber's only window."""
    tenant = broker.tenant("default")
    held = tenant.subscription("ann", "high")
    return [place.event for place in places(broker.store, held, board(tenant, held))]


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)


@pytest.mark.parametrize("window", ["within 100 events", ""])
@pytest.mark.timeout(600)
def test_a_window_lets_go_of_what_is_over_before_its_hour_is(
    window: str, tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is next moves up within seconds; a restart has the same board, from saved windows and from the log."""
    for name in ("TICK_SECONDS", "SWEEP_SECONDS"):
        monkeypatch.setattr(housekeeping, name, 0.02)
    second = 1_000_000
    with Broker(tmp_path, clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        text = f"{{a exists}} top 2 {window} by value(a) highest"
        broker.subscribe(tenant, "ann", [lw.parse(text, id="high")])
        broker.publish(tenant, [lw.event({"a": 100}, id="x1", expires=clock() + 8 * second)])
        broker.publish(tenant, [lw.event({"a": 90}, id="x2"), lw.event({"a": 80}, id="x3")])
        broker.wait_until_matched(300)
        assert best(broker) == ["x1", "x2"]
        clock.advance(9 * second)
        until(lambda: best(broker) == ["x2", "x3"])
        broker.publish(tenant, [lw.event({"a": 95}, id="late", expires=clock() - second)])  # over when it comes
        until(lambda: "late" not in best(broker))
        before = got(broker)
        assert ("x3", "promoted") in before
        assert stored(broker) == 4  # each is known for an hour
    with Broker(tmp_path, clock=clock) as broker:
        assert (best(broker), got(broker)) == (["x2", "x3"], before)
    shutil.rmtree(tmp_path / "windows")
    with Broker(tmp_path, clock=clock) as broker:
        assert (best(broker), got(broker)) == (["x2", "x3"], before)
        broker.publish(broker.tenant("default"), [lw.event({"a": 85}, id="x4")])
        assert (got(broker), best(broker)) == ([*before, ("x4", "arrival")], ["x2", "x4"])


def test_very_many_ends_and_a_failed_write_leave_nothing_over_in_a_window(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ends are looked at a page at a time, also those of one moment; what could not be written is tried again."""
    for name in ("TICK_SECONDS", "SWEEP_SECONDS"):
        monkeypatch.setattr(housekeeping, name, 0.02)
    monkeypatch.setattr(retention, "PAGE", 2)
    monkeypatch.setattr(retention, "PAGES", 1)
    second = 1_000_000
    with Broker(None, clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{a exists} top 3 by value(a) highest", id="high")])
        ends = [9, 2, 2, 2, 2, 2, 1, 5]
        short = [lw.event({"a": 50 + n}, id=f"s{n}", expires=clock() + e * second) for n, e in enumerate(ends)]
        broker.publish(tenant, [*short, *(lw.event({"a": n}, id=f"l{n}") for n in range(3))])
        broker.wait_until_matched(300)
        assert best(broker) == ["s7", "s6", "s5"]
        append = broker.store.append
        failed: list[WithdrawCommand] = []

        def failing(entries: list[Entry], done: Done) -> None:
            if not failed and isinstance(entries[0].value, WithdrawCommand):
                failed.append(entries[0].value)
                done(Unavailable("the disk is full"))
            else:
                append(entries, done)

        monkeypatch.setattr(broker.store, "append", failing)
        clock.advance(3 * second)
        until(lambda: best(broker) == ["s7", "s0", "l2"])
        assert len(failed) == 1
        clock.advance(-2 * second)  # a clock that goes back does not make it miss what ends then
        broker.publish(tenant, [lw.event({"a": 99}, id="s8", expires=clock() + second)])
        until(lambda: best(broker)[0] == "s8")
        clock.advance(20 * second)
        until(lambda: best(broker) == ["l2", "l1", "l0"])


def test_who_is_unregistered_is_forgotten_on_disk_while_windows_live(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of its subscriptions is in no table any more; the windows of others are what they were."""
    for name in ("TICK_SECONDS", "SWEEP_SECONDS"):
        monkeypatch.setattr(housekeeping, name, 0.02)
    monkeypatch.setattr(housekeeping, "SAVE_SECONDS", 0.02)
    with Broker(tmp_path, clock=clock) as broker:
        tenant = broker.tenant("default")
        for name in ("ann", "bob"):
            broker.register(tenant, name)
        broker.subscribe(tenant, "ann", [lw.parse("{a exists} top 1 by value(a) highest", id="high")])
        broker.subscribe(tenant, "bob", [lw.parse("{my_secret_word exists}", id="s")])
        broker.subscribe(tenant, "bob", [lw.parse("{my_secret_word exists} top 1 within 9 events by value(a)", id="t")])
        broker.publish(tenant, [lw.event({"a": 1}, id="e1")])
        broker.unregister(tenant, "bob")
        for table, column in (("subscriptions", "*"), ("log", "body")):

            def gone(table: str = table, column: str = column) -> bool:
                with broker.store.reading() as tables:
                    return "my_secret_word" not in repr(tables.rows(f"SELECT {column} FROM {table}"))

            until(gone)
        assert best(broker) == ["e1"]
    with Broker(tmp_path, clock=clock) as broker:
        assert best(broker) == ["e1"]


def test_keep_is_said_in_words_and_has_an_end_by_default(tmp_path: Path) -> None:
    """In the file, in the environment and on the command line; what cannot be read is refused with words."""
    assert Config().store.retention == 7 * DAY
    file = tmp_path / "broker.toml"
    for said, span in (('"36 h"', 36 * HOUR), ('"2 weeks"', 14 * DAY), ("604800000000", 7 * DAY), ('"forever"', None)):
        file.write_text(f"[store]\nkeep = {said}\n")
        assert read_config(file, {}).store.retention == span
    assert read_config(environment={"LIKEWISE_STORE_KEEP": "30 days"}).store.retention == 30 * DAY
    assert read_config(environment={"LIKEWISE_STORE_KEEP": "3600000000"}).store.retention == HOUR
    for wrong in ("soon", "-1 d", "0 s"):
        with pytest.raises((FormatError, InputError), match=r"span"):
            read_config(environment={"LIKEWISE_STORE_KEEP": wrong})


def test_events_are_kept_for_a_week_by_default(clock: ManualClock) -> None:
    """Who was away longer does not get them."""
    with Broker(None, clock=clock) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [lw.parse("{x exists}", id="s")])
        broker.publish(tenant, [lw.event({"x": 1}, id="e1")])
        clock.advance(6 * DAY)
        assert [id for id, _ in got(broker)] == ["e1"]
        clock.advance(1 * DAY)
        assert got(broker) == []
        broker.sweep()
        assert stored(broker) == 0

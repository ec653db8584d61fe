"""The machine's clock is set wrong, steps by years, or drifts: what is acknowledged is delivered, and windows go on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import likewise as lw
from likewise.broker.broker import Broker
from likewise.broker.clock import BELIEVE_AFTER_S, PLAUSIBLE_STEP_US, BelievedClock
from likewise.broker.config import Config, MatchingSettings, StoreSettings
from likewise.broker.maintenance import housekeeping
from likewise.broker.tenants.tenant import Tenant
from likewise.testing.clocks import ManualClock

SECOND = 1_000_000
HOUR = 3_600 * SECOND
YEARS = 10 * 365 * 24 * HOUR
KEPT = Config(store=StoreSettings(keep=24 * HOUR))


class Machine:
    """A machine's two clocks: one on the wall, which can be set, and one that nobody can set."""

    def __init__(self) -> None:
        self.wall = ManualClock("2024-05-01T12:00:00Z")
        self.seconds = 0.0

    def steady(self) -> float:
        return self.seconds

    def live(self, seconds: float, *, rate: float = 1.0) -> None:
        """Time passes; the clock on the wall may go too fast or too slowly."""
        self.seconds += seconds
        self.wall.advance(int(seconds * rate * SECOND))

    def broker(self, data: Path | None = None, config: Config = KEPT) -> Broker:
        return Broker(data, config, clock=self.wall, steady=self.steady)


@pytest.fixture(autouse=True)
def no_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests sweep and tick themselves."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 1e9)


def subscribed(broker: Broker, **texts: str) -> Tenant:
    tenant = broker.tenant("default")
    broker.register(tenant, "ann")
    broker.subscribe(tenant, "ann", [lw.parse(text, id=id) for id, text in texts.items()])
    return tenant


def published(broker: Broker, id: str, x: float = 1, **said: object) -> None:
    broker.publish(broker.tenant("default"), [lw.event({"x": x}, id=id, **said)])  # type: ignore[arg-type]
    broker.wait_until_matched(300)


def got(broker: Broker) -> list[tuple[str, str]]:
    tenant = broker.tenant("default")
    said = [msgspec.json.decode(frame) for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)]
    return [(each["event"]["id"], each["cause"]) for each in said]


def stand(machine: Machine, look: Callable[[], object]) -> None:
    """Let so much time pass that a step is believed."""
    for _ in range(3):
        look()
        machine.live(BELIEVE_AFTER_S / 2)
    look()


@pytest.mark.parametrize("step", [YEARS, -YEARS, 2 * PLAUSIBLE_STEP_US, -2 * PLAUSIBLE_STEP_US])
def test_a_step_is_believed_when_it_has_stood_and_not_before(step: int) -> None:
    """While it is in doubt, things are over by the earlier clock and begin by the later one."""
    machine = Machine()
    judged = BelievedClock(machine.wall, machine.steady)
    before = machine.wall()
    machine.wall.advance(step)
    machine.live(1)
    assert judged() == min(before, before + step) + SECOND
    assert judged.latest() == max(before, before + step) + SECOND
    assert judged.doubt is not None
    stand(machine, judged)
    assert judged() == judged.latest() == machine.wall()
    assert judged.steps == 1


def test_a_clock_that_is_set_back_soon_was_never_believed() -> None:
    """However often it happens."""
    machine = Machine()
    judged = BelievedClock(machine.wall, machine.steady)
    for step in (YEARS, -YEARS, HOUR):
        before = machine.wall()
        machine.wall.advance(step)
        assert judged() == min(before, before + step)
        machine.wall.advance(-step)
        machine.live(BELIEVE_AFTER_S * 2)
        assert judged() == judged.latest() == machine.wall()
    assert (judged.steps, judged.doubt) == (3, None)


@pytest.mark.parametrize("rate", [0.9, 0.99, 1.01, 1.1])
def test_a_clock_that_drifts_is_followed(rate: float) -> None:
    """A clock that is kept right little by little is no step."""
    machine = Machine()
    judged = BelievedClock(machine.wall, machine.steady)
    for _ in range(5_000):
        machine.live(5, rate=rate)
        assert judged() == judged.latest() == machine.wall()
    assert judged.steps == 0


@pytest.mark.parametrize("step", [YEARS, -YEARS, HOUR, -HOUR])
@pytest.mark.parametrize("stands", [False, True])
def test_what_is_published_around_a_step_is_delivered(step: int, stands: bool, tmp_path: Path) -> None:
    """With `keep`, with `expires`, and with both; before the step, after it, after it was put right, and restarted."""
    machine = Machine()
    valid = 2 * YEARS if step > 0 else HOUR  # what expires is over when a believed clock says so
    with machine.broker(tmp_path / "data") as broker:
        subscribed(broker, s="{x exists}")
        published(broker, "before")
        published(broker, "before, expires", expires=machine.wall() + valid)
        machine.wall.advance(step)
        published(broker, "stepped", expires=machine.wall() + HOUR)
        if stands:
            stand(machine, broker.clock)
            published(broker, "believed", expires=machine.wall() + HOUR)
        published(broker, "kept")
        if not stands:
            broker.sweep()
            assert len(got(broker)) == 4
        machine.wall.advance(-step)
        published(broker, "right", expires=machine.wall() + HOUR)
        stand(machine, broker.clock)
        published(broker, "right and believed", expires=machine.wall() + HOUR)
        published(broker, "right and kept")
        broker.sweep()
        late = ["right", "right and believed", "right and kept"]
        assert [id for id, _ in got(broker)][-3:] == late
    with machine.broker(tmp_path / "data") as broker:
        published(broker, "restarted", expires=machine.wall() + HOUR)
        assert [id for id, _ in got(broker)][-4:] == [*late, "restarted"]


@pytest.mark.parametrize("step", [YEARS, -YEARS])
def test_a_start_with_another_clock_delivers_what_comes(step: int, tmp_path: Path) -> None:
    """As when a machine wakes with the wrong year, and when it was put right while the broker was stopped."""
    machine = Machine()
    with machine.broker(tmp_path / "data") as broker:
        subscribed(broker, s="{x exists}", w="{x exists} top 1 within 1 min by value(x)")
        published(broker, "first", x=5)
    for turn, by in enumerate((step, -step)):
        machine.wall.advance(by)
        with machine.broker(tmp_path / "data") as broker:
            published(broker, f"kept {turn}", x=4 - turn)
            published(broker, f"expires {turn}", x=9, expires=machine.wall() + HOUR)
            assert [id for id, _ in got(broker)][-2:] == [f"kept {turn}", f"expires {turn}"]


def windows(broker: Broker) -> None:
    subscribed(broker, w="{x exists} top 1 within 1 min by value(x)")


@pytest.mark.parametrize("step", [-YEARS, -HOUR])
def test_time_windows_go_on_when_the_clock_goes_back(step: int, tmp_path: Path) -> None:
    """What they hold stays as old as it was, leaves in its time, and what is next moves up; also after a crash."""
    machine = Machine()
    with machine.broker(tmp_path / "data") as broker:
        windows(broker)
        published(broker, "best", x=1)
        machine.live(20)
        machine.wall.advance(step)
        stand(machine, broker.clock)
        published(broker, "second", x=2)
        machine.live(20)
        published(broker, "third", x=3)
        assert got(broker) == [("best", "arrival")]
    with machine.broker(tmp_path / "data") as broker:
        machine.live(50)
        published(broker, "fourth", x=9)
        assert got(broker) == [("best", "arrival"), ("third", "promoted")]  # the second came with the step, and left
        machine.live(61)
        published(broker, "fifth", x=9)
        assert set(got(broker)[-2:]) == {("fourth", "promoted"), ("fifth", "arrival")}


def test_time_windows_go_on_when_the_clock_goes_ahead_and_is_put_right(tmp_path: Path) -> None:
    """A step ahead that is believed empties them, as if that time had passed; afterwards they fill and move as ever."""
    machine = Machine()
    with machine.broker(tmp_path / "data") as broker:
        windows(broker)
        published(broker, "best", x=1)
        machine.wall.advance(YEARS)
        published(broker, "doubted", x=2)  # it came at once, so the best is still there
        assert got(broker) == [("best", "arrival")]
        stand(machine, broker.clock)
        published(broker, "believed", x=3)
        assert got(broker)[-1] == ("believed", "arrival")
        machine.wall.advance(-YEARS)
        stand(machine, broker.clock)
        published(broker, "right", x=4)  # no better than what they hold
        machine.live(61)
        published(broker, "later", x=5)
        assert [id for id, _ in got(broker)][-2:] == ["believed", "later"]


def test_windows_wait_while_the_clock_goes_back_a_little() -> None:
    """A few seconds are no step: time stands still for the windows, and an event that is soon over is delivered."""
    machine = Machine()
    with machine.broker() as broker:
        windows(broker)
        published(broker, "first", x=2)
        machine.wall.advance(-30 * SECOND)
        published(broker, "better", x=1, expires=machine.wall() + SECOND)
        assert got(broker) == [("first", "arrival"), ("better", "arrival")]


@pytest.mark.parametrize("rate", [0.9, 1.1])
def test_time_windows_go_on_while_the_clock_drifts(rate: float) -> None:
    """An event a minute, each alone in its window of a minute: every one is delivered on arrival."""
    machine = Machine()
    with machine.broker() as broker:
        subscribed(broker, w="{x exists} top 1 within 30 s by value(x)")
        for turn in range(100):
            published(broker, f"e{turn}", x=turn)
            machine.live(60, rate=rate)
        assert got(broker) == [(f"e{turn}", "arrival") for turn in range(100)]
        assert broker.clock.steps == 0


@pytest.mark.parametrize("workers", [0, 1])
def test_a_device_whose_clock_is_years_ahead_ends_no_validity_and_no_window(workers: int) -> None:
    """An event counts at its own time, but never later than it came."""
    machine = Machine()
    with machine.broker(config=Config(matching=MatchingSettings(workers=workers))) as broker:
        subscribed(broker, valid="{x exists} valid for 1 h", best="{x exists} top 1 within 1 min by value(x) highest")
        published(broker, "ahead", x=1, time=machine.wall() + YEARS, expires=machine.wall() + HOUR)
        machine.live(90)
        published(broker, "on time", x=0.5, time=machine.wall())
        machine.live(1)
        published(broker, "silent", x=0.7)
        tenant = broker.tenant("default")
        said = [msgspec.json.decode(frame) for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)]
        found = [(each["event"]["id"], sorted(met["id"] for met in each["subscriptions"])) for each in said]
        both = ["best", "valid"]
        assert found == [("ahead", both), ("on time", both), ("silent", both)]

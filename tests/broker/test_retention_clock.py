"""A clock that is wrong for long, or at the start, removes nothing that is unread, and nothing at all for an hour."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

import likewise as lw
from likewise.api.sinks import WebhookSettings
from likewise.broker.broker import Broker
from likewise.broker.clock import BELIEVE_AFTER_S
from likewise.broker.config import Config, StoreSettings
from likewise.broker.log.commits import wait_for
from likewise.broker.log.integrity import count_rows
from likewise.broker.maintenance import housekeeping
from likewise.broker.maintenance.backups import backup
from likewise.broker.retention_clock import FILE, MOST_EPOCHS, REVIEW_PERIOD_S
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.matcher import system_clock
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.testing.clocks import ManualClock

SECOND = 1_000_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR
YEARS = 3_652 * DAY
CONFIG = Config(store=StoreSettings(keep=7 * DAY))


@pytest.fixture(autouse=True)
def no_chores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests sweep and tick themselves."""
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 1e9)


class Machine:
    """A machine with a clock that can be set and one that cannot, which is switched off and on."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.wall = ManualClock("2026-05-01T12:00:00Z")
        self.seconds = 1_000.0
        self.boots = 1

    def broker(self) -> Broker:
        return Broker(self.data, CONFIG, clock=self.wall, steady=lambda: self.seconds, boot=f"boot {self.boots}")

    def live(self, seconds: float, broker: Broker | None = None) -> None:
        """Let time pass; a broker that runs looks at its clock from time to time, and sweeps."""
        steps = 1 if broker is None else 12
        for _ in range(steps):
            self.seconds += seconds / steps
            self.wall.advance(int(seconds / steps * SECOND))
            if broker is not None:
                broker.clock()
                broker.retention.note()
        if broker is not None:
            broker.sweep()

    def off(self, seconds: float) -> None:
        """Switch the machine off for so long, and on again."""
        self.wall.advance(int(seconds * SECOND))
        self.seconds, self.boots = 20.0, self.boots + 1


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "data")


def fill(broker: Broker, count: int = 20, prefix: str = "e", *readers: str) -> Tenant:
    """Publish events that ann does not read, and that others read at once."""
    tenant = broker.tenant("default")
    for name in ("ann", *readers):
        if name not in tenant.subscribers:
            broker.register(tenant, name)
            broker.subscribe(tenant, name, [lw.parse("{x exists}", id="all")])
    broker.publish(tenant, [lw.event({"x": n}, id=f"{prefix}{n}") for n in range(count)])
    broker.wait_until_matched()
    for name in readers:
        broker.acknowledge(tenant, name, tenant.stored_number)
    return tenant


def read_all(broker: Broker) -> None:
    tenant = broker.tenant("default")
    broker.acknowledge(tenant, "ann", tenant.stored_number)


def unread(broker: Broker) -> list[str]:
    tenant = broker.tenant("default")
    page = broker.page(tenant, tenant.subscriber("ann"), after=0, limit=10_000)
    return [msgspec.json.decode(frame)["event"]["id"] for _, frame in page]


def stored(broker: Broker) -> int:
    with broker.store.reading() as tables:
        return count_rows(tables, "log", 1, events=True)


def ids(count: int = 20, prefix: str = "e") -> list[str]:
    return [f"{prefix}{n}" for n in range(count)]


def test_ten_years_ahead_for_85_seconds_remove_nothing(machine: Machine) -> None:
    """Read and unread stay, it is reported, and nothing is left of it when the clock is right again."""
    with machine.broker() as broker:
        fill(broker, 1_000)
        read_all(broker)
        fill(broker, 1_000, "unread ")
        machine.wall.step(YEARS)
        machine.live(85, broker)
        assert broker.clock() == machine.wall()  # it is believed
        assert stored(broker) == 2_000
        assert unread(broker) == ids(1_000, "unread ")
        [trouble] = broker.troubles()
        assert "likewise admin clock accept" in trouble
        assert "2000 events from before" in trouble
        machine.wall.step(-YEARS)
        machine.live(85, broker)
        assert broker.troubles() == []
        assert unread(broker) == ids(1_000, "unread ")
        machine.live(8 * 24 * 3600, broker)
        assert (stored(broker), unread(broker)) == (0, [])


@pytest.mark.parametrize("rebooted", [False, True])
def test_a_clock_that_is_wrong_at_the_start_removes_nothing(machine: Machine, rebooted: bool) -> None:
    """In the same run of the machine, and after a restart of it; put right, everything goes on."""
    with machine.broker() as broker:
        fill(broker)
    machine.wall.step(YEARS)
    if rebooted:
        machine.off(60)
    for _ in range(2):
        with machine.broker() as broker:
            machine.live(600, broker)
            assert stored(broker) == 20
            assert unread(broker) == ids()
            assert broker.retention.status().holds_everything
    machine.wall.step(-YEARS)
    with machine.broker() as broker:
        machine.live(600, broker)
        assert broker.troubles() == []
        assert unread(broker) == ids()
        machine.live(8 * 24 * 3600, broker)
        assert stored(broker) == 0


@pytest.mark.parametrize("at_start", [False, True])
def test_a_clock_that_is_ten_years_behind_is_reported_until_it_is_right_or_accepted(
    machine: Machine, at_start: bool
) -> None:
    """In health, in the metrics and in the log, as one that is ahead; also after a restart."""
    with machine.broker() as broker:
        fill(broker)
        if not at_start:
            machine.wall.step(-YEARS)
            machine.live(85, broker)
    if at_start:
        machine.wall.step(-YEARS)
    with capture_logs() as lines, machine.broker() as broker:
        machine.live(85, broker)
        (trouble,) = broker.troubles()
        assert "3652 days, 0:00:00 behind" in trouble
        assert "likewise admin clock accept" in trouble
        assert broker.retention.status().behind_s == -YEARS / 1e6
        assert f"likewise_clock_behind_seconds {-YEARS / 1e6}" in broker.metrics.page(None).decode()
        assert unread(broker) == ids()
    reported = [line["event"] for line in lines]
    assert ("clock_behind_stored_events" in reported) == at_start
    with machine.broker() as broker:
        machine.live(2 * 3600, broker)
        assert len(broker.troubles()) == 1
        if at_start:
            machine.wall.step(YEARS)
            machine.live(85, broker)
        else:
            assert broker.retention.accept()
        assert broker.troubles() == []
        assert unread(broker) == ids()


@pytest.mark.parametrize("at_start", [False, True])
def test_what_is_published_while_the_clock_is_ten_years_behind_is_not_over_when_it_is_right(
    machine: Machine, at_start: bool
) -> None:
    """Neither that, nor what was there before."""
    with machine.broker() as broker:
        fill(broker)
        if not at_start:
            machine.wall.step(-YEARS)
            machine.live(85, broker)
            fill(broker, 20, "behind ")
            machine.wall.step(YEARS)
            machine.live(85, broker)
            assert unread(broker) == [*ids(), *ids(20, "behind ")]
    if at_start:
        machine.wall.step(-YEARS)
        with machine.broker() as broker:
            machine.live(85, broker)
            fill(broker, 20, "behind ")
            machine.live(85, broker)
        machine.wall.step(YEARS)
    with machine.broker() as broker:
        machine.live(85, broker)
        assert unread(broker) == [*ids(), *ids(20, "behind ")]
        machine.live(8 * 24 * 3600, broker)
        assert (stored(broker), unread(broker)) == (0, [])


def test_after_three_months_off_what_was_read_goes_after_an_hour_and_the_unread_ages_while_the_broker_runs(
    machine: Machine,
) -> None:
    """The clock is right; nobody says so."""
    with machine.broker() as broker:
        fill(broker, 20, "read ", "bob")
        read_all(broker)
        fill(broker)
        machine.live(24 * 3600, broker)
    machine.off(90 * 24 * 3600)
    with machine.broker() as broker:
        machine.live(REVIEW_PERIOD_S - 60, broker)
        assert stored(broker) == 40
        machine.live(120, broker)
        assert stored(broker) == 20
        assert unread(broker) == ids()
        assert "what is unread stays" in str(broker.troubles())
        fill(broker, 20, "new ")
        machine.live(5.9 * 24 * 3600, broker)
        assert unread(broker) == [*ids(), *ids(20, "new ")]
        machine.live(0.2 * 24 * 3600, broker)
        assert unread(broker) == ids(20, "new ")
        assert broker.troubles() == []
        machine.live(24 * 3600, broker)
        assert (stored(broker), unread(broker)) == (0, [])


def test_accepting_the_clock_removes_what_is_over_at_once_and_lasts(machine: Machine) -> None:
    """Twice is as good as once; a restart remembers it."""
    with machine.broker() as broker:
        fill(broker)
    machine.off(90 * 24 * 3600)
    with machine.broker() as broker:
        machine.live(60, broker)
        assert unread(broker) == ids()
        assert broker.retention.accept() is True
        assert broker.retention.accept() is False
    with machine.broker() as broker:
        assert broker.troubles() == []
        assert broker.retention.behind == 0
        machine.live(60, broker)
        assert (stored(broker), unread(broker)) == (0, [])


def test_a_step_in_doubt_can_be_accepted(machine: Machine) -> None:
    with machine.broker() as broker:
        fill(broker)
        machine.wall.step(30 * DAY)
        broker.clock()
        assert broker.clock.doubt is not None
        assert broker.retention.accept() is True
        assert broker.clock() == machine.wall()
        machine.live(1, broker)
        assert (stored(broker), broker.troubles()) == (0, [])


def test_the_hour_goes_on_where_it_was_after_a_restart(machine: Machine) -> None:
    """A broker that is restarted every ten minutes expires what was read after six times."""
    with machine.broker() as broker:
        fill(broker, 20)
        read_all(broker)
        machine.wall.step(YEARS)
        machine.live(85, broker)
    for _ in range(5):
        machine.live(5)
        with machine.broker() as broker:
            machine.live(600, broker)
            assert stored(broker) == 20
    with machine.broker() as broker:
        machine.live(600, broker)
        assert stored(broker) == 0


def test_time_that_passed_while_only_the_broker_was_off_counts(machine: Machine) -> None:
    """The machine ran on: its steady clock says how long."""
    with machine.broker() as broker:
        fill(broker)
    machine.live(90 * 24 * 3600)
    with machine.broker() as broker:
        machine.live(1, broker)
        assert (stored(broker), unread(broker), broker.troubles()) == (0, [], [])


def test_where_less_than_half_would_go_what_was_read_goes_at_once_and_the_unread_stays(machine: Machine) -> None:
    with machine.broker() as broker:
        fill(broker, 4, "old ")
        read_all(broker)
        machine.live(6 * 24 * 3600, broker)
        fill(broker, 2)
        machine.live(12 * 3600, broker)
        fill(broker, 20, "new ")
        machine.wall.step(6 * DAY)
        machine.live(85, broker)
        machine.live(5, broker)
        assert stored(broker) == 22
        assert unread(broker) == [*ids(2), *ids(20, "new ")]
        assert not broker.retention.status().holds_everything


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_clock_of_ones_own_removes_nothing_unread_when_it_steps(tmp_path: Path, on_disk: bool) -> None:
    """`Broker(clock=...)` without a steady clock: it is believed at once, but not for removing."""
    offset = [0]
    wall = lambda: system_clock() + offset[0]  # noqa: E731
    with Broker(tmp_path / "data" if on_disk else None, CONFIG, clock=wall) as broker:
        fill(broker, 1_000)
        offset[0] = YEARS
        for _ in range(3):
            broker.sweep()
        assert unread(broker) == ids(1_000)
        assert stored(broker) == 1_000
        assert broker.clock.steps == 1
        offset[0] = 0
        broker.sweep()
        assert unread(broker) == ids(1_000)
        assert broker.troubles() == []


def test_other_things_that_end_wait_for_an_hour(machine: Machine) -> None:
    """Leases of sources, the validity of subscriptions, events in windows of the last n."""
    with machine.broker() as broker:
        tenant = fill(broker, 3)
        broker.subscribe(
            tenant,
            "ann",
            [
                lw.parse("{y exists} valid for 2 days", id="short"),
                lw.parse("{x exists} top 2 within 100 events by value(x) highest", id="best"),
            ],
        )
        fill(broker, 3, "f")
        broker.announcements.announce(tenant, Announcement("roof", (AnnouncedAttribute("z"),), lease=86_400))
        machine.wall.step(30 * DAY)
        machine.live(85, broker)

        def tick() -> None:
            broker.announcements.end_leases(tenant)
            broker._housekeeping._move_time(tenant)
            broker.sweep()
            broker.store.commit(lambda tables: None)
            broker.wait_until_matched()

        tick()
        assert "roof" in tenant.sources.announcements
        assert "short" in tenant.subscriber("ann").subscriptions
        assert tenant.withdrawn == set()
        machine.live(REVIEW_PERIOD_S, broker)
        tick()
        assert "roof" not in tenant.sources.announcements
        assert "short" not in tenant.subscriber("ann").subscriptions
        assert len(tenant.withdrawn) == 1  # the announcement: what windows hold is unread, too
        broker.retention.accept()
        tick()
        tick()
        assert len(tenant.withdrawn) == 4  # and the three events that the window held


def test_what_waits_for_a_target_outlives_a_step(machine: Machine) -> None:
    """So does what was read for it and is about to be sent."""
    with machine.broker() as broker:
        tenant = fill(broker, 1)
        hook = WebhookSettings("https://example.org/", "sixteen letters!")
        wait_for(lambda done: broker.targets.start_set(tenant, "ann", "all", "hook", hook, done))
        fill(broker, 5, "t")
        read_all(broker)
        [feed] = tenant.sinks
        machine.wall.step(YEARS)
        machine.live(85, broker)
        machine.live(2 * REVIEW_PERIOD_S, broker)
        waiting = broker.targets.waiting(tenant, feed)
        assert len(waiting) == 5
        assert not any(broker.targets.expire_if_over(tenant, feed, each) for each in waiting)
        broker.retention.accept()
        assert broker.targets.waiting(tenant, feed) == []


def test_steps_are_written_to_the_log_and_the_metrics(machine: Machine) -> None:
    with machine.broker() as broker:
        fill(broker)
        with capture_logs() as lines:
            machine.wall.step(YEARS)
            machine.live(85, broker)
        assert "removal_delayed_by_clock_step" in [line["event"] for line in lines]
        page = broker.metrics.page(None).decode()
        assert "likewise_clock_held_back 20.0" in page
        assert "likewise_clock_behind_seconds 3.155328e+08" in page
        assert "likewise_clock_hold_seconds 3" in page


@pytest.mark.parametrize("content", [b"", b"{", b'{"boot": 3}', b"[]"])
def test_a_damaged_record_of_the_clock_is_no_reason_to_remove_anything(machine: Machine, content: bytes) -> None:
    """The time of the last commit counts then."""
    with machine.broker() as broker:
        fill(broker)
    (machine.data / FILE).write_bytes(content)
    machine.wall.step(YEARS)
    with machine.broker() as broker:
        machine.live(85, broker)
        assert unread(broker) == ids()


class Story:
    """A broker whose clock steps again and again, beside a list of what must be there: by running time alone."""

    def __init__(self, machine: Machine, chance: random.Random) -> None:
        self.machine, self.chance = machine, chance
        self.ran = 0.0  # seconds of running time
        self.published: dict[str, float] = {}  # by when
        self.broker = machine.broker()
        fill(self.broker, 0)

    def steps(self, count: int) -> Iterator[str]:
        for number in range(count):
            what = self.chance.choice(("step", "publish", "publish", "live", "restart", "off"))
            getattr(self, what)(number)
            yield what

    def step(self, number: int) -> None:
        self.machine.wall.step(self.chance.choice((-1, 1)) * self.chance.choice((2 * HOUR, 30 * DAY, YEARS)))

    def publish(self, number: int) -> None:
        fill(self.broker, 3, f"{number} ")
        self.published |= dict.fromkeys(ids(3, f"{number} "), self.ran)

    def live(self, number: int) -> None:
        seconds = self.chance.choice((5.0, 85.0, 3_600.0, 86_400.0))
        self.machine.live(seconds, self.broker)
        self.ran += seconds

    def restart(self, number: int) -> None:
        self.broker.close()
        self.broker = self.machine.broker()

    def off(self, number: int) -> None:
        self.broker.close()
        self.machine.off(self.chance.choice((30.0, 3_600.0, 1e7)))
        self.broker = self.machine.broker()


@pytest.mark.parametrize("seed", range(12))
def test_however_the_clock_steps_what_is_unread_stays_for_its_retention_of_running_time(
    machine: Machine, seed: int
) -> None:
    """Steps, restarts, machines switched off; when the clock is accepted, everything still expires."""
    story = Story(machine, random.Random(seed))
    for _ in story.steps(60):
        there = set(unread(story.broker))
        due = {id for id, at in story.published.items() if story.ran - at < 7 * 86_400 - 120}
        assert due <= there
    assert len(story.broker.retention._epochs) <= MOST_EPOCHS
    machine.live(BELIEVE_AFTER_S * 2, story.broker)
    story.broker.close()


@pytest.mark.parametrize("again", [False, True])
def test_a_backup_made_while_the_clock_was_wrong_keeps_what_is_unread(
    machine: Machine, tmp_path: Path, again: bool
) -> None:
    """Served by the same wrong clock, or by one that is wrong by as much again."""
    with machine.broker() as broker:
        fill(broker)
    machine.wall.step(YEARS)
    machine.off(60)
    with machine.broker() as broker:
        fill(broker, 5, "late")
        machine.live(600, broker)
        backup(machine.data, tmp_path / "copy")
    machine.data = tmp_path / "copy"
    machine.wall.step(YEARS if again else 0)
    machine.off(60)
    with machine.broker() as broker:
        machine.live(2 * 3_600, broker)
        assert unread(broker) == ids() + ids(5, "late")
        assert broker.troubles()


@pytest.mark.parametrize("by", [-30 * DAY, 30 * DAY])
def test_a_kill_right_after_a_step_is_believed_loses_nothing(machine: Machine, tmp_path: Path, by: int) -> None:
    """The step is on disk before an event arrives by it, not only with the next note of the time."""
    with machine.broker() as broker:
        fill(broker)
        machine.live(10, broker)
        machine.wall.step(by)
        broker.clock()
        machine.seconds += BELIEVE_AFTER_S + 1
        machine.wall.advance(int(BELIEVE_AFTER_S + 1) * SECOND)
        assert broker.clock() == machine.wall()  # it is believed, and the time was not noted since
        fill(broker, 20, "later ")
        shutil.copytree(machine.data, tmp_path / "killed")
    machine.data = tmp_path / "killed"
    with machine.broker() as broker:
        machine.wall.step(-by)
        machine.live(85, broker)
        assert unread(broker) == [*ids(), *ids(20, "later ")]

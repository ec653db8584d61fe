"""When workers split and merge."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import inf, nan
from typing import Any

import pytest

from likewise.api.workers import PoolSettings
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, WorkerSettings
from likewise.broker.pool.autoscaling import (
    Autoscaler,
    ScalingSettings,
    WorkerLoad,
    decide_paper,
    decide_utilisation,
)
from likewise.broker.pool.topology import FlatTopology, scaling_settings
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import InputError
from likewise.language import parse
from likewise.model import event


class FakeStaff:
    """Workers that say what they are told to, and whose changes take two turns."""

    def __init__(self, busy: list[float]) -> None:
        self.busy = busy
        self.done: list[tuple[str, int]] = []
        self.rests = 0
        self.bytes = 0
        self.full = False

    def load(self, since: float) -> list[WorkerLoad]:
        return [WorkerLoad(number, [], busy) for number, busy in enumerate(self.busy)]

    def split(self, number: int) -> bool:
        if self.full:
            raise OSError("no processes left")
        self.done.append(("split", number))
        self.busy = [*self.busy, 0.5]
        self.rests = 2
        return True

    def merge(self, number: int) -> bool:
        self.done.append(("merge", number))
        del self.busy[number]
        return True

    def advance(self, tenants: Sequence[Tenant]) -> bool:
        self.rests = max(0, self.rests - 1)
        return not self.rests

    def memory(self) -> int:
        return self.bytes


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_quick_publication_keeps_a_matcher_from_splitting_by_the_papers_rule() -> None:
    rule = ScalingSettings("paper", 1, 4, last=5, split_us=100, merge_us=10)
    assert decide_paper(rule, [WorkerLoad(1, [500, 500, 99, 500, 500], 1)]) == (None, 0)
    assert decide_paper(rule, [WorkerLoad(1, [99, 500, 500, 500, 500, 500], 1)]) == ("split", 1)


def test_one_slow_publication_keeps_a_matcher_from_merging_by_the_papers_rule() -> None:
    rule = ScalingSettings("paper", 1, 4, last=3, split_us=100, merge_us=10)
    two = [WorkerLoad(1, [50, 50, 50], 1), WorkerLoad(2, [1, 11, 1], 1)]
    assert decide_paper(rule, two) == (None, 0)
    assert decide_paper(rule, [two[0], WorkerLoad(2, [1, 9, 1], 1)]) == ("merge", 2)
    assert decide_paper(rule, [two[0], WorkerLoad(2, [1, 9, 1], 1, merges=False)]) == (None, 0)


def test_workers_split_only_where_a_core_is_free() -> None:
    rule = ScalingSettings("utilisation", 1, 8)
    assert decide_utilisation(rule, [WorkerLoad(1, [], 0.99)], free=0.4) == (None, 0)
    assert decide_utilisation(rule, [WorkerLoad(1, [], 0.99)], free=0.6) == ("split", 1)


def test_between_both_thresholds_nothing_changes() -> None:
    rule = ScalingSettings("utilisation", 1, 8, split_busy=0.8, merge_busy=0.2)
    assert decide_utilisation(rule, [WorkerLoad(1, [], 0.79), WorkerLoad(2, [], 0.21)], free=8) == (None, 0)


def test_after_a_change_there_is_a_pause() -> None:
    staff, clock = FakeStaff([0.9]), Clock()
    elastic = Autoscaler(staff, ScalingSettings("utilisation", 1, 8, span=1, pause=10), clock, free=lambda: 8.0)
    seen = []
    for _ in range(40):
        clock.now += 1
        staff.busy = [0.9] * len(staff.busy)
        elastic.turn([])
        seen.append(len(staff.busy))
    assert [seen.count(n) for n in sorted(set(seen))][1:-1] == [10, 10, 10]


def test_bounds_hold_whatever_the_policy_says_and_change_while_it_runs() -> None:
    staff, clock = FakeStaff([0.99, 0.99]), Clock()
    elastic = Autoscaler(staff, ScalingSettings("utilisation", 1, 2, span=1, pause=0), clock, free=lambda: 8.0)
    for _ in range(5):
        clock.now += 2
        elastic.turn([])
    assert not staff.done
    elastic.settings = ScalingSettings("none", 4, 4)
    for _ in range(8):
        elastic.turn([])
    assert len(staff.busy) == 4
    elastic.settings = ScalingSettings("none", 1, 1)
    for _ in range(8):
        elastic.turn([])
    assert len(staff.busy) == 1


def test_no_worker_comes_for_which_there_is_no_memory() -> None:
    staff, clock = FakeStaff([0.99, 0.99]), Clock()
    staff.bytes = 200
    elastic = Autoscaler(
        staff, ScalingSettings("utilisation", 1, 8, span=1, pause=0, memory=299), clock, free=lambda: 8.0
    )
    clock.now += 5
    elastic.turn([])
    assert not staff.done
    elastic.settings = ScalingSettings("utilisation", 1, 8, span=1, pause=0, memory=300)
    clock.now += 5
    elastic.turn([])
    assert staff.done == [("split", 0)]


def test_a_worker_that_cannot_be_started_is_said_and_tried_again_later() -> None:
    staff, clock = FakeStaff([0.99]), Clock()
    staff.full = True
    elastic = Autoscaler(staff, ScalingSettings("none", 2, 2), clock, free=lambda: 8.0)
    elastic.turn([])
    assert elastic.trouble == "no further worker can be started: no processes left"
    staff.full = False
    elastic.turn([])
    assert not staff.done
    clock.now += 11
    elastic.turn([])
    assert (staff.done, elastic.trouble) == ([("split", 0)], "")


@pytest.mark.parametrize(
    "wrong",
    [
        {"minimum": 3, "maximum": 2},
        {"split_us": 1.0, "merge_us": 2.0},
        {"last": 0},
        {"maximum": 1_000},
        {"split_us": nan},
        {"merge_us": nan},
        {"split_us": inf},
        {"span": inf},
        {"last": 10**12},
        {"split_busy": 7.0},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ScalingSettings("paper", **wrong)


def test_more_workers_than_the_maximum_are_refused() -> None:
    with pytest.raises(InputError):
        scaling_settings(Config(matching=MatchingSettings(workers=2), workers=WorkerSettings(maximum=1)))


class FakeWorker:
    """A worker that was busy for so long."""

    number = 1
    busy = 0.0
    times = ()


class FakeCrew:
    def __init__(self) -> None:
        self.workers = {1: FakeWorker()}
        self.asked = 0

    def usage(self) -> None:
        self.asked += 1


def test_how_busy_a_worker_was_does_not_depend_on_how_often_it_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of ten seconds is a half, though somebody looked a thousand times meanwhile; then a new span begins."""
    clock, crew = Clock(), FakeCrew()
    monkeypatch.setattr("likewise.broker.pool.topology.time.monotonic", clock)
    staff = FlatTopology(crew, {}, "replicated")  # type: ignore[arg-type]
    staff.load(since=0.0)
    for share in (0.5, 0.1):
        since = clock.now
        for _ in range(1_000):
            clock.now += 0.01
            crew.workers[1].busy += 0.01 * share
            (found,) = staff.load(since)
            assert found.busy == pytest.approx(share)
    assert crew.asked == pytest.approx(20, abs=1)


@pytest.mark.timeout(300)
def test_workers_of_a_broker_split_under_load_and_merge_without() -> None:
    """By utilisation, as `auto` says, with workers that are looked at between any two stretches."""
    limits = WorkerSettings(minimum=1, maximum=2, split_busy=0.02, merge_busy=0.01, span=1.0, pause=0.5)
    with Broker(None, Config(matching=MatchingSettings(workers="auto"), workers=limits)) as broker:
        assert broker.autoscaler is not None
        assert broker.topology is not None
        broker.autoscaler._free = lambda: 1.0
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", [parse(f"{{x > {n}, y < {n}}}", id=f"s{n}") for n in range(300)])
        events = [event({"x": n, "y": n}) for n in range(250)]
        while not broker.topology.splits:
            broker.publish(tenant, events)
            broker.wait_until_matched(120)
        while not broker.topology.merges:
            time.sleep(0.05)
        assert [what for _, what, _ in broker.autoscaler.changes][:2] == ["split", "merge"]


@pytest.mark.parametrize("wrong", [{"span": nan}, {"split_us": inf}, {"pause": -inf}])
def test_what_is_no_number_is_refused_before_json_says_it_as_nothing(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="is a number"):
        PoolSettings(**wrong)  # type: ignore[arg-type]

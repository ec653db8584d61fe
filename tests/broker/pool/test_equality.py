"""What workers deliver is what one process delivers, whatever happens to them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from likewise.broker.config import Config, MatchingSettings
from likewise.broker.log.commits import wait_for
from likewise.broker.log.entries import TickCommand
from likewise.broker.maintenance import housekeeping
from likewise.language import parse
from likewise.model import event
from tests.broker.pool.interleavings import (
    ARCHITECTURES,
    Architecture,
    Teller,
    compare,
    differences,
    kill_one,
    settle,
    want_workers,
)
from tests.broker.pool.stories import story


@pytest.fixture(autouse=True)
def time_passes_by_the_story_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "TICK_SECONDS", 1e9)
    monkeypatch.setattr(housekeeping, "SWEEP_SECONDS", 1e9)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_splits_merges_kills_and_changes_lose_and_double_nothing(architecture: Architecture) -> None:
    """All kinds, two tenants, subscriptions coming and going, a clock that is set; workers killed at any moment."""
    steps = 0

    def disturb(dice: random.Random, teller: Teller) -> None:
        nonlocal steps
        steps += 1
        if steps % 40 == 20:
            kill_one(dice, teller)
        elif steps % 40 == 35:
            want_workers(teller, 3 if steps % 80 == 35 else 1)
            settle(teller)

    teller_seen: list[Teller] = []

    def seen(dice: random.Random, teller: Teller) -> None:
        teller_seen[:] = [teller]
        disturb(dice, teller)

    events, differ = compare(11, 150, MatchingSettings(workers=2, architecture=architecture), disturb=seen)
    staff = teller_seen[0].broker.topology
    assert staff is not None
    assert not differ
    assert events >= 100
    assert staff.pool.failover.deaths
    assert staff.splits


@pytest.mark.timeout(600)
def test_a_coordinator_that_is_restarted_goes_on_where_it_was(tmp_path: Path) -> None:
    """Windows and alerts were saved in shares; other workers, and then none at all, go on from them."""
    one = Teller(Config(), tmp_path / "one")
    other = Teller(Config(matching=MatchingSettings(workers=2, architecture="partitioned")), tmp_path / "other")
    try:
        for count, step in enumerate(story(5, 150)):
            one.tell(step)
            other.tell(step)
            if count == 40:
                one.restart()
                other.config = Config(matching=MatchingSettings(workers=3, architecture="replicated"))
                other.restart()
            if count == 80:
                one.restart()
                other.config = Config()
                other.restart()
        assert not differences(one, other)
    finally:
        one.broker.close()
        other.broker.close()


@pytest.mark.timeout(300)
def test_what_time_brings_about_stands_in_the_order_of_its_moments_whichever_worker_says_it() -> None:
    """Silence, what lasted and what moved up, due in one move of time, by subscriptions that stand at two workers."""
    wishes = ("absent for 6 s", "for 5 s", "top 1 within 4 s by value(x) highest", "absent for 3 s", "for 2 s")
    found = []
    for config in (Config(), Config(matching=MatchingSettings(workers=2, architecture="partitioned"))):
        teller = Teller(config)
        with teller.broker as broker:
            tenant = broker.tenant("a")
            broker.register(tenant, "ann")
            for n in range(10):
                broker.subscribe(tenant, "ann", [parse(f"{{x > {n // 5}}} {wishes[n % 5]}", id=f"s{n}")])
            for n in range(12):
                teller.clock.advance(300_000)
                broker.publish(tenant, [event({"x": 9 - n % 7}, id=f"e{n}", source=f"d{n % 4}")])
            teller.clock.advance(30_000_000)
            wait_for(lambda done: broker.command(tenant, TickCommand(), done))  # noqa: B023
            broker.wait_until_matched(120)
            found.append([json.loads(frame) for _, frame in broker.page(tenant, tenant.subscriber("ann"), after=0)])
    one, two = ([(d["event"]["id"], d["cause"], d["subscriptions"], d.get("alert")) for d in each] for each in found)
    assert {cause for _, cause, _, _ in one} == {"arrival", "promoted", "held", "absent"}
    assert one == two

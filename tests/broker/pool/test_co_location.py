"""Alerts about the same stand in one share, whatever comes, goes and splits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.process import LocalHost
from likewise.broker.pool.protocol import InterpretationSettings, NewSubscription
from likewise.broker.pool.shard import Shard, upper_half
from likewise.broker.pool.shard_server import ShardServer
from likewise.broker.pool.sharded_matcher import ShardedMatcher
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.language import parse
from likewise.matching.matcher import Matcher
from likewise.model import event

SECOND = 1_000_000


def spread_over(count: int) -> ShardedMatcher:
    crew, empty = WorkerPool(InterpretationSettings(None, None, None, "full", None, 0, 0, 0)), Matcher()
    made = ShardedMatcher(empty, 1, crew, stateful=True)
    for _ in range(count):
        share = Shard(1, stateful=True)
        crew.place(share, [LocalHost(lambda: ShardServer(NumberedMatcher(empty.alike())))])
        made.add_shard(share)
    return made


@pytest.mark.parametrize("make", [lambda: spread_over(3), lambda: NumberedMatcher(Matcher())])
def test_a_new_alert_knows_how_far_sources_are_from_its_kin(make: Callable[[], NumberedMatcher]) -> None:
    """An event that comes too late for the one is too late for the other, in one process and in several."""
    matcher = make()
    matcher.add(1, parse("{t > 30} once until false", id="a"), at=0)
    matcher.add(2, parse("{x > 30} once until false", id="b"), at=0)
    matcher.match(10, event({"t": 1}, source="s", time=9 * SECOND), at=9 * SECOND)
    matcher.add(3, parse("{t > 20} once until false", id="c"), at=9 * SECOND)
    assert not matcher.match(11, event({"t": 99}, source="s", time=5 * SECOND), at=10 * SECOND)
    found = matcher.match(12, event({"t": 99}, source="s", time=11 * SECOND), at=11 * SECOND)
    assert {each.number for each in found} == {1, 3}


def test_kin_stay_together_when_a_share_is_halved_and_goes_when_the_last_of_them_does() -> None:
    spread = spread_over(2)
    spread.add(1, parse("{t > 30} once until false", id="a"), at=0)
    spread.add(2, parse("{x > 30} once until false", id="b"), at=0)
    spread.add(3, parse("{t > 20} for 2 s", id="c"), at=0)
    assert spread.shard_of(3) is spread.shard_of(1)
    assert spread.shard_of(2) is not spread.shard_of(1)
    held = [NewSubscription(n, 0, 0, parse(f"{{{'tx'[n % 2]} > {n}}} once until false")) for n in range(6)]
    assert upper_half(held) == [1, 3, 5]
    assert not upper_half(held[::2])
    for number in (1, 3):
        spread.remove(number)
    spread.add(4, parse("{t > 9} once until false", id="d"), at=0)
    spread.add(5, parse("{t > 8} once until false", id="e"), at=0)
    assert spread.shard_of(4) is spread.shard_of(5)

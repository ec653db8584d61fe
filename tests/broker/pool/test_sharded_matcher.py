"""A matcher in shares answers as one matcher does."""

from __future__ import annotations

from pathlib import Path

from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.process import LocalHost
from likewise.broker.pool.protocol import InterpretationSettings, SaveShard
from likewise.broker.pool.shard import Shard, ShardSnapshot
from likewise.broker.pool.shard_server import ShardServer
from likewise.broker.pool.sharded_matcher import ShardedMatcher
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.language import parse
from likewise.matching.matcher import Matcher
from likewise.model import event

LOW = parse("{x > 1} top 1 within 9 s by value(x)", id="low")


def test_a_share_that_was_empty_when_it_moved_is_at_no_earlier_moment_than_the_others(tmp_path: Path) -> None:
    """Its first subscription afterwards does not take events that are too late elsewhere."""
    crew, empty = WorkerPool(InterpretationSettings(None, None, None, "full", None, 0, 0, 0)), Matcher()
    host = LocalHost(
        lambda: ShardServer(NumberedMatcher(empty.alike()), lambda folder: NumberedMatcher(empty.alike(folder)))
    )
    spread, shares = ShardedMatcher(empty, 1, crew, stateful=True), [Shard(1, stateful=True) for _ in range(2)]
    for share in shares:
        crew.place(share, [host])
        spread.add_shard(share)
    spread.add(5, LOW, at=0)
    spread.add(6, LOW, at=0)
    assert {each.number for each in spread.match(7, event({"x": 2}), at=50_000_000)} == {5, 6}
    moved = spread.shard_of(5)
    spread.remove(5)
    crew.wait_all([crew.ask(moved, SaveShard(str(tmp_path / "moved")))])
    moved.saved = ShardSnapshot(tmp_path / "moved", frozenset())
    moved.journal.clear()
    crew.transfer(moved, host)
    spread.add(8, LOW, at=50_000_000)
    assert spread.shard_of(8) is moved
    assert not spread.match(9, event({"x": 1.5}, time=10_000_000), at=10_000_000)
    assert {each.number for each in spread.match(10, event({"x": 1.2}), at=51_000_000)} == {6, 8}

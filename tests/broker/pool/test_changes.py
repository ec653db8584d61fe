"""What a split or merge asks of a share that goes on answering: it lets go and is told a little at a time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from likewise.broker.pool import standby as spare
from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.protocol import (
    AddSubscriptions,
    BatchMatches,
    EventSent,
    InterpretationSettings,
    MatchEvents,
    NewSubscription,
    RemoveSubscriptions,
)
from likewise.broker.pool.shard import Shard
from likewise.broker.pool.shard_server import DRAIN_BATCH, ShardServer
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.language import parse
from likewise.matching.matcher import Matcher

TOLD = InterpretationSettings(None, None, None, "full", None, 2**20, 0, 0)
EVENT = EventSent(1, 0, b'{"v":1,"payload":{"x":9}}')


def held(numbers: range) -> list[NewSubscription]:
    return [NewSubscription(n, n % 3, 0, parse(f"{{x > {n % 7}}}", id=f"s{n}")) for n in numbers]


def met(portion: ShardServer) -> list[int]:
    said = portion.perform(MatchEvents([EVENT]))
    assert isinstance(said, BatchMatches)
    return sorted(np.frombuffer(said.numbers, "<i8").tolist())


def test_a_share_says_nothing_of_what_it_lets_go_of_slowly() -> None:
    portion = ShardServer(NumberedMatcher(Matcher()))
    portion.perform(AddSubscriptions(held(range(1, 401))))
    portion.perform(RemoveSubscriptions(list(range(201, 401)), slowly=True))
    assert len(portion.matcher) == 400
    while len(portion.matcher) > 200:
        before = len(portion.matcher)
        assert met(portion) == list(range(1, 201))
        portion.drain()
        assert before - len(portion.matcher) <= DRAIN_BATCH
    assert met(portion) == list(range(1, 201))


def test_what_comes_back_while_it_is_let_go_of_slowly_is_there() -> None:
    portion = ShardServer(NumberedMatcher(Matcher()))
    portion.perform(AddSubscriptions(held(range(1, 401))))
    portion.perform(RemoveSubscriptions(list(range(201, 401)), slowly=True))
    portion.perform(AddSubscriptions(held(range(401, 411))))
    assert met(portion) == [*range(1, 201), *range(401, 411)]
    portion.perform(AddSubscriptions(held(range(300, 310))))
    assert met(portion) == [*range(1, 201), *range(300, 310), *range(401, 411)]
    portion.perform(RemoveSubscriptions([5]))
    assert met(portion) == [*range(1, 5), *range(6, 201), *range(300, 310), *range(401, 411)]


@pytest.fixture
def crew() -> Iterator[WorkerPool]:
    made = WorkerPool(TOLD)
    yield made
    made.close()


def look_until(crew: WorkerPool, true: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        crew.supervise()
        time.sleep(0.01)


@pytest.mark.timeout(300)
def test_a_share_that_moves_to_a_busy_worker_holds_what_came_and_not_what_went_meanwhile(crew: WorkerPool) -> None:
    old, busy = crew.start(), crew.start()
    share, other = Shard(1), Shard(1)
    share.subscriptions = {each.number: each for each in held(range(1, 501))}
    other.subscriptions = {each.number: each for each in held(range(1_001, 1_011))}
    crew.place(share, [old])
    crew.place(other, [busy])
    share.joining.append(busy)
    told = crew.warm_up(share, busy)
    asked, n = [crew.ask(other, MatchEvents([EVENT]))], 0
    while not told.done():
        crew.wait(asked[-1])
        n += 1
        if n <= 60:  # which it may have been told already, or not
            crew.remove_subscriptions(share, [500 - n])
            crew.add_subscriptions(share, held(range(2_000 + n, 2_001 + n)))
        asked.append(crew.ask(other, MatchEvents([EVENT])))
    share.joining.remove(busy)
    share.hosts = [busy]
    [said] = crew.wait_all([crew.ask(share, MatchEvents([EVENT]))])
    assert isinstance(said, BatchMatches)
    assert np.frombuffer(said.numbers, "<i8").tolist() == sorted(share.subscriptions)


@pytest.mark.timeout(300)
def test_a_process_kept_ready_takes_the_place_of_a_worker_that_died(
    crew: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare, "START_DELAY_S", 0.0)
    worker, share = crew.start(), Shard(1)
    share.subscriptions = {each.number: each for each in held(range(1, 11))}
    crew.place(share, [worker])
    look_until(crew, lambda: crew.standby.process is not None)
    ready = crew.standby.process
    assert ready is not None
    os.kill(worker.pid, signal.SIGKILL)
    [said] = crew.wait_all([crew.ask(share, MatchEvents([EVENT]))])
    assert isinstance(said, BatchMatches)
    assert np.frombuffer(said.numbers, "<i8").tolist() == list(range(1, 11))
    assert crew.workers == {1: ready}
    look_until(crew, lambda: crew.standby.process not in (None, ready))


@pytest.mark.timeout(300)
def test_a_process_kept_ready_that_died_is_no_worker(crew: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spare, "START_DELAY_S", 0.0)
    crew.start()
    look_until(crew, lambda: crew.standby.process is not None)
    ready = crew.standby.process
    assert ready is not None
    os.kill(ready.pid, signal.SIGKILL)
    look_until(crew, lambda: crew.standby.process is not ready)
    assert crew.start() is not ready
    assert crew.failover.deaths == 0

"""What a split or merge asks of a share that goes on answering: it lets go and is told a little at a time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from likewise.broker.pool import standby as spare
from likewise.broker.pool.drain import PIECE
from likewise.broker.pool.messages import EventSent, Hold, LetGo, Match, Matched, NewSubscription, Told
from likewise.broker.pool.pool import Crew
from likewise.broker.pool.shard import Share
from likewise.broker.pool.shard_server import Portion
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.language import parse
from likewise.matching.matcher import Matcher

TOLD = Told(None, None, None, "full", None, 2**20, 0, 0)
EVENT = EventSent(1, 0, b'{"v":1,"payload":{"x":9}}')


def held(numbers: range) -> list[NewSubscription]:
    return [NewSubscription(n, n % 3, 0, parse(f"{{x > {n % 7}}}", id=f"s{n}")) for n in numbers]


def met(portion: Portion) -> list[int]:
    said = portion.perform(Match([EVENT]))
    assert isinstance(said, Matched)
    return sorted(np.frombuffer(said.numbers, "<i8").tolist())


def test_a_share_says_nothing_of_what_it_lets_go_of_slowly() -> None:
    portion = Portion(NumberedMatcher(Matcher()))
    portion.perform(Hold(held(range(1, 401))))
    portion.perform(LetGo(list(range(201, 401)), slowly=True))
    assert len(portion.matcher) == 400
    while len(portion.matcher) > 200:
        before = len(portion.matcher)
        assert met(portion) == list(range(1, 201))
        portion.tidy()
        assert before - len(portion.matcher) <= PIECE
    assert met(portion) == list(range(1, 201))


def test_what_comes_back_while_it_is_let_go_of_slowly_is_there() -> None:
    portion = Portion(NumberedMatcher(Matcher()))
    portion.perform(Hold(held(range(1, 401))))
    portion.perform(LetGo(list(range(201, 401)), slowly=True))
    portion.perform(Hold(held(range(401, 411))))
    assert met(portion) == [*range(1, 201), *range(401, 411)]
    portion.perform(Hold(held(range(300, 310))))
    assert met(portion) == [*range(1, 201), *range(300, 310), *range(401, 411)]
    portion.perform(LetGo([5]))
    assert met(portion) == [*range(1, 5), *range(6, 201), *range(300, 310), *range(401, 411)]


@pytest.fixture
def crew() -> Iterator[Crew]:
    made = Crew(TOLD)
    yield made
    made.close()


def look_until(crew: Crew, true: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        crew.look_after()
        time.sleep(0.01)


@pytest.mark.timeout(300)
def test_a_share_that_moves_to_a_busy_worker_holds_what_came_and_not_what_went_meanwhile(crew: Crew) -> None:
    old, busy = crew.start(), crew.start()
    share, other = Share(1), Share(1)
    share.held = {each.number: each for each in held(range(1, 501))}
    other.held = {each.number: each for each in held(range(1_001, 1_011))}
    crew.place(share, [old])
    crew.place(other, [busy])
    share.joining.append(busy)
    told = crew.introduce(share, busy)
    asked, n = [crew.ask(other, Match([EVENT]))], 0
    while not told.done():
        crew.wait(asked[-1])
        n += 1
        if n <= 60:  # which it may have been told already, or not
            crew.let_go(share, [500 - n])
            crew.hold(share, held(range(2_000 + n, 2_001 + n)))
        asked.append(crew.ask(other, Match([EVENT])))
    share.joining.remove(busy)
    share.hosts = [busy]
    [said] = crew.wait_all([crew.ask(share, Match([EVENT]))])
    assert isinstance(said, Matched)
    assert np.frombuffer(said.numbers, "<i8").tolist() == sorted(share.held)


@pytest.mark.timeout(300)
def test_a_process_kept_ready_takes_the_place_of_a_worker_that_died(
    crew: Crew, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare, "QUIET", 0.0)
    worker, share = crew.start(), Share(1)
    share.held = {each.number: each for each in held(range(1, 11))}
    crew.place(share, [worker])
    look_until(crew, lambda: crew.spare.process is not None)
    ready = crew.spare.process
    assert ready is not None
    os.kill(worker.process.pid, signal.SIGKILL)
    [said] = crew.wait_all([crew.ask(share, Match([EVENT]))])
    assert isinstance(said, Matched)
    assert np.frombuffer(said.numbers, "<i8").tolist() == list(range(1, 11))
    assert crew.workers == {1: ready}
    look_until(crew, lambda: crew.spare.process not in (None, ready))


@pytest.mark.timeout(300)
def test_a_process_kept_ready_that_died_is_no_worker(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spare, "QUIET", 0.0)
    crew.start()
    look_until(crew, lambda: crew.spare.process is not None)
    ready = crew.spare.process
    assert ready is not None
    os.kill(ready.process.pid, signal.SIGKILL)
    look_until(crew, lambda: crew.spare.process is not ready)
    assert crew.start() is not ready
    assert crew.reviving.deaths == 0

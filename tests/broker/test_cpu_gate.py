"""Long work goes one after the other, and nothing waits for long for a turn that does not end."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from likewise.broker import cpu_gate as long_work
from likewise.broker.cpu_gate import CpuSlices, FairLock, run_exclusive


def waiting(turn: FairLock, count: int) -> None:
    deadline = time.monotonic() + 30
    while len(turn._waiters) < count:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_turn_is_handed_on_in_the_order_in_which_it_was_asked_for() -> None:
    """However they wake up; at the end it is free."""
    turn, had = FairLock(), list[int]()
    assert turn.acquire(0)

    def one(number: int) -> None:
        assert turn.acquire(30)
        had.append(number)
        turn.release()

    threads = []
    for number in range(5):
        threads.append(threading.Thread(target=one, args=(number,)))
        threads[-1].start()
        waiting(turn, number + 1)
    turn.release()
    for thread in threads:
        thread.join(30)
    assert had == [0, 1, 2, 3, 4]
    assert turn.acquire(0)


def test_who_was_patient_goes_on_and_nobody_waits_again_until_the_turn_is_over() -> None:
    """One that cannot look up delays the others once, not at each of their slices."""
    turn = FairLock()
    assert turn.acquire(0)
    assert not turn.acquire(0.001)
    assert not turn.acquire(3_600)  # at once
    turn.release()
    assert turn.acquire(0)
    assert not turn.acquire(0)
    assert not turn._waiters


def test_slices_give_the_turn_away_and_take_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While they rest others work; at the end it is free."""
    turn = FairLock()
    monkeypatch.setattr(long_work, "_GATE", turn)
    monkeypatch.setattr(long_work, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(long_work, "CPU_GATE_TIMEOUT", 30.0)
    had: list[str] = []
    with CpuSlices() as slices:
        other = threading.Thread(target=lambda: had.append(run_exclusive(lambda: "other")))
        other.start()
        waiting(turn, 1)
        slices.yield_cpu()
        other.join(30)
        assert had == ["other"]
    assert turn.acquire(0)


def test_threads_take_turns_quickly_only_while_somebody_is_at_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """While slices rest, too: then nobody is at it. However many come and go, the usual pace is back at the end."""
    monkeypatch.setattr(long_work, "SLICE_SECONDS", 0.0)
    usual = sys.getswitchinterval()
    paces: list[float] = []
    monkeypatch.setattr("time.sleep", lambda _: paces.append(sys.getswitchinterval()))
    with CpuSlices() as slices:
        assert sys.getswitchinterval() < usual / 10
        slices.yield_cpu()
        assert sys.getswitchinterval() < usual / 10
    assert paces == [usual]

    def work() -> None:
        for _ in range(200):
            run_exclusive(lambda: sum(range(100)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sys.getswitchinterval() == usual

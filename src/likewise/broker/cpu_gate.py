"""Run CPU-bound work one at a time, so that request threads meet at most one busy thread.

Threads share one interpreter. A thread that answers a request needs it a few dozen times on its way, each time for
moments, and waits each time for as many turns as there are busy threads. So those who are busy for long wait for each
other here, in the order in which they came, where nobody waits for them: however many there are, a request meets one.

Each goes on for a slice and lets the next one in. One that cannot look up, as while something is loaded, is not waited
for: whoever has been patient for `CPU_GATE_TIMEOUT` goes on beside it, and so does everyone until its turn is over. So
nothing depends on a turn ever ending.

While somebody is at long work, the interpreter's threads take turns quickly, so that a request does not wait for 5 ms
each time. At other times they do not: threads that are soon done are done sooner if nobody interrupts them.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from likewise.defaults import CPU_GATE_TIMEOUT, SLICE_SECONDS


class FairLock:
    """A fair lock with a timeout: handed on in the order in which threads came.

    >>> turn = FairLock()
    >>> turn.acquire(1.0), turn.acquire(0.0)
    (True, False)
    >>> turn.release()
    >>> turn.acquire(0.0)
    True
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locked = False
        self._overdue = False  # whether somebody had no more patience with who has it
        self._waiters: deque[threading.Lock] = deque()

    def acquire(self, timeout: float) -> bool:
        """Wait for it, at most so many seconds; whether it came."""
        with self._guard:
            if not self._locked:
                self._locked = True
                return True
            if self._overdue:
                return False
            waiter = threading.Lock()
            waiter.acquire()
            self._waiters.append(waiter)
        if waiter.acquire(timeout=timeout):
            return True
        with self._guard:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
                self._overdue = True
                return False
        return True  # it came in the last moment

    def release(self) -> None:
        """Hand it to whoever waits longest."""
        with self._guard:
            self._overdue = False
            if self._waiters:
                self._waiters.popleft().release()
            else:
                self._locked = False


class ShortSwitchInterval:
    """Shortens the interpreter's switch interval while any thread is within.

    >>> usual = sys.getswitchinterval()
    >>> with ShortSwitchInterval() as hurry, hurry:
    ...     sys.getswitchinterval() < usual
    True
    >>> sys.getswitchinterval() == usual
    True
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._within = 0
        self._usual = 0.0

    def __enter__(self) -> ShortSwitchInterval:
        with self._guard:
            if not self._within:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(SWITCH_INTERVAL_S)
            self._within += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self._within -= 1
            if not self._within:
                sys.setswitchinterval(self._usual)


T = TypeVar("T")
SWITCH_INTERVAL_S: Final = (
    0.0001  # seconds a thread that works may go on while others wait; the interpreter's default is 5 ms
)
SHORT_SWITCH_INTERVAL: Final = ShortSwitchInterval()
_GATE: Final = FairLock()


@contextmanager
def cpu_slot() -> Iterator[None]:
    """Hold the CPU gate for a slice of long work."""
    acquired = _GATE.acquire(CPU_GATE_TIMEOUT)
    try:
        with SHORT_SWITCH_INTERVAL:
            yield
    finally:
        if acquired:
            _GATE.release()


def run_exclusive(work: Callable[[], T]) -> T:
    """Run a function that is one slice of long work, and return its result."""
    with cpu_slot():
        return work()


class CpuSlices:
    """Long work that yields the processor from time to time, for as long as it had it."""

    _acquired = False
    _begun = 0.0

    def __enter__(self) -> CpuSlices:
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        SHORT_SWITCH_INTERVAL.__exit__()
        if self._acquired:
            _GATE.release()
            self._acquired = False

    def _begin(self) -> None:
        self._acquired = _GATE.acquire(CPU_GATE_TIMEOUT)
        SHORT_SWITCH_INTERVAL.__enter__()
        self._begun = time.thread_time()

    def yield_cpu(self) -> None:
        """Look up."""
        if time.thread_time() - self._begun >= SLICE_SECONDS:
            self.__exit__()
            time.sleep(SLICE_SECONDS)
            self._begin()

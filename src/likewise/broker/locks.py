"""The locks of the broker, in the order in which they are taken (docs/contributing/locks.md).

A thread that holds one of them waits only for those further down, and never for a commit. What is tried, not waited
for, may be taken against the order. The tests of the broker run with `CHECKED`: who breaks a rule is refused there.
"""

from __future__ import annotations

import threading
from typing import Final, Protocol, cast

ORDER: Final = (
    "making",  # tenants being made; the one lock held while a commit is waited for, which the writer never takes
    "matchers",  # of one tenant: who uses its matchers and deals out its numbers
    "store",  # the connection of a store in memory, and the transaction under way
    "queues",  # what waits for subscribers and for targets
    "cursors",  # acknowledgements, and cursors of targets, on their way to disk
)
CHECKED = False  # whether locks made from now on keep the rules


class Lock(Protocol):
    """The interface of a lock."""

    def acquire(self, blocking: bool = True) -> bool:
        """Take it, waiting for it or not."""
        ...

    def release(self) -> None:
        """Let it go."""
        ...

    def __enter__(self) -> bool: ...

    def __exit__(self, *_: object) -> None: ...


def make_lock(name: str, *, again: bool = False) -> Lock:
    """Make a lock with its rank in the order; with `again` its holder may acquire it again."""
    lock = cast("Lock", threading.RLock() if again else threading.Lock())
    return _Checked(ORDER.index(name), lock) if CHECKED else lock


class OutOfOrder(AssertionError):
    """A thread waited for a lock against the order, or for a commit with a lock held."""


_held = threading.local()


def _ranks() -> list[tuple[int, object]]:
    if not hasattr(_held, "ranks"):
        _held.ranks = []
    ranks: list[tuple[int, object]] = _held.ranks
    return ranks


def may_wait() -> None:
    """Refuse to wait for a commit with a lock held that the writer may need."""
    names = [ORDER[rank] for rank, _ in _ranks() if rank]
    if names:
        raise OutOfOrder(f"a commit is waited for with {', '.join(names)} held; see docs/contributing/locks.md")


class _Checked:
    """A lock that raises `OutOfOrder` when a thread waits for it out of order."""

    def __init__(self, rank: int, lock: Lock) -> None:
        self._rank = rank
        self._lock = lock

    def acquire(self, blocking: bool = True) -> bool:
        """Take it, waiting for it or not."""
        ranks = _ranks()
        if blocking and any(rank >= self._rank and lock is not self for rank, lock in ranks):
            names = ", ".join(ORDER[rank] for rank, _ in ranks)
            raise OutOfOrder(f"{ORDER[self._rank]} is waited for with {names} held; see docs/contributing/locks.md")
        acquired = self._lock.acquire(blocking)
        if acquired:
            ranks.append((self._rank, self))
        return acquired

    def release(self) -> None:
        """Let it go."""
        _ranks().remove((self._rank, self))
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

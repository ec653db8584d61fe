"""Deficit round robin: share a thread's time evenly between keys.

Deficit round robin (Shreedhar and Varghese, "Efficient Fair Queuing Using Deficit Round Robin", IEEE/ACM Transactions
on Networking 4(3), 1996) with seconds of the processor in place of bytes: at each visit somebody is owed a quantum
more, may use what it is owed, and goes to the end of the line. Who has nothing left to do is owed nothing. Who comes
new is served before those whose work goes on, once, as in FQ-CoDel (RFC 8290, section 4.2): little work is soon done.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

K = TypeVar("K")


class DeficitRoundRobin(Generic[K]):
    """The keys that wait for a turn, in order.

    >>> turns = DeficitRoundRobin[str](quantum=1.0)
    >>> turns.enqueue("big"), turns.next()
    (None, ('big', 1.0))
    >>> turns.charge("big", 3.0, more=True)
    >>> turns.enqueue("small"), turns.next()
    (None, ('small', 1.0))
    >>> turns.charge("small", 0.5, more=True)
    >>> turns.next()  # the big one used more than it was owed
    ('small', 1.5)
    """

    def __init__(self, quantum: float) -> None:
        self._quantum = quantum
        self._new: deque[K] = deque()
        self._active: deque[K] = deque()
        self._deficit: dict[K, float] = {}

    def __len__(self) -> int:
        return len(self._deficit)

    def __contains__(self, key: object) -> bool:
        return key in self._deficit

    def waiting(self) -> set[K]:
        """Return all keys that wait."""
        return set(self._deficit)

    def enqueue(self, key: K) -> None:
        """Wait for a turn, if it does not already."""
        if key not in self._deficit:
            self._deficit[key] = 0.0
            self._new.append(key)

    def next(self) -> tuple[K, float]:
        """Return the key whose turn it is, and how much it may use."""
        while True:
            key = (self._new or self._active)[0]
            if len(self._deficit) == 1:
                self._deficit[key] = 0.0  # whatever it used, nobody else waited
            self._deficit[key] += self._quantum
            if self._deficit[key] > 0:
                return key, self._deficit[key]
            self._active.rotate(-1)

    def charge(self, key: K, amount: float, *, more: bool) -> None:
        """Charge the key whose turn it was; with `more` to do it goes to the end of the queue."""
        served = (self._new if self._new and self._new[0] == key else self._active).popleft()
        assert served == key
        if more:
            self._deficit[key] -= amount
            self._active.append(key)
        else:
            del self._deficit[key]

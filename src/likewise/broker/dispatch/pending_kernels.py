"""Subscriptions that wait for the kernels of their kind, which are compiled beside a running broker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final

from likewise.model import Kind

# The kinds whose kernels a broker compiles after it listens: rankings, and what matches RDF and interests.
LATER_KINDS: Final[frozenset[Kind]] = frozenset(("interest", "near", "pattern", "statements", "top"))


class PendingKernels:
    """The requests that wait until the kernels of some kinds are compiled; the others go on meanwhile.

    Matching would compile a missing kernel itself, and for seconds every event of the tenant would wait for that.

    >>> pending = PendingKernels({"top"})
    >>> pending.run({"exact"}, lambda: print("exact")); pending.run({"top"}, lambda: print("top"))
    exact
    >>> pending.finish(); pending.run({"top"}, lambda: print("another"))
    top
    another
    """

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self._lock = threading.Lock()
        self._kinds = frozenset(kinds)
        self._requests: list[Callable[[], None]] = []

    def run(self, kinds: Iterable[Kind], request: Callable[[], None]) -> None:
        """Run a request now, or once the kernels of these kinds are compiled, in the thread that calls `finish`."""
        with self._lock:
            if not self._kinds.isdisjoint(kinds):
                self._requests.append(request)
                return
        request()

    def finish(self) -> None:
        """Let every request go on: the kernels are compiled, or are left to whatever matches first."""
        with self._lock:
            self._kinds = frozenset()
            requests, self._requests = self._requests, []
        for request in requests:
            request()

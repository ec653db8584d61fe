"""Bytes that clients have not read yet, counted per connection and in total.

A client that subscribes and does not read costs memory: its messages wait in the socket's buffer. Each connection has a
bound of its own (`MQTT_BUFFER_BYTES`), and all of them together have one. Past the latter, a connection gets a message
only while it has none that waits: so a client that reads is served, whatever the others do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

RECOUNT_SECONDS: Final = 0.05  # between two counts of all connections while there are too many bytes


class Buffered(Protocol):
    """A connection as its bytes are counted."""

    @property
    def unsent(self) -> int:
        """Return how many bytes it has been given that the other side has not taken."""


class SendBuffers:
    """Counts unread bytes. A count is taken when a connection writes; it only falls until the connection writes again.

    Args:
        allowed: bytes of all connections together.
        clock: seconds, ascending.
    """

    def __init__(self, allowed: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.allowed = allowed
        self.total = 0
        self._clock = clock
        self._by: dict[Buffered, int] = {}
        self._counted = float("-inf")
        self.was_full = False  # since somebody looked: connections may wait without a buffer that drains

    def note(self, connection: Buffered) -> None:
        """Count what a connection has not sent."""
        size = connection.unsent
        self.total += size - self._by.get(connection, 0)
        if size:
            self._by[connection] = size
        else:
            self._by.pop(connection, None)

    def forget(self, connection: Buffered) -> None:
        """Remove a connection."""
        self.total -= self._by.pop(connection, 0)

    def recount(self) -> None:
        """Count all connections anew: what was written may have been read since."""
        self._counted = self._clock()
        for connection in list(self._by):
            self.note(connection)

    @property
    def full(self) -> bool:
        """Return whether there are too many bytes in total."""
        if self.total < self.allowed:
            return False
        if self._clock() - self._counted > RECOUNT_SECONDS:
            self.recount()
        self.was_full = self.was_full or self.total >= self.allowed
        return self.total >= self.allowed

"""Connections that have not logged in: how many, and how many bytes of them, in total and of one address.

Nobody is known yet who could be held to account, so there are few bytes and little time. When there are too many, the
oldest is closed, not the newest refused: who means well has logged in within milliseconds, and who holds connections
open to keep others out loses them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from likewise.defaults import PENDING_SHARE
from likewise.server.mqtt.broker.connection import Connection


class PendingConnections:
    """Bounds them. For the event loop's thread.

    Args:
        allowed: connections in total; one address may have the fourth part.
        allowed_bytes: bytes buffered in total; one address may have the fourth part.
        key_of: what an address is counted by, None where no bound for one address applies.
    """

    def __init__(self, allowed: int, allowed_bytes: int, key_of: Callable[[str], str | None]) -> None:
        self.allowed, self.allowed_bytes = allowed, allowed_bytes
        self.bytes = 0
        self.evicted = 0
        self._key_of = key_of
        self._all: dict[Connection, int] = {}  # the bytes that are buffered of each, oldest first
        self._by: dict[str, dict[Connection, None]] = {}  # the same connections by address
        self._bytes_by: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._all)

    def add(self, connection: Connection) -> None:
        """Count a new connection; the oldest one goes if there are too many."""
        self._all[connection] = 0
        key = self._key_of(connection.address)
        if key is not None:
            own = self._by.setdefault(key, {})
            own[connection] = None
            if len(own) > max(1, self.allowed // PENDING_SHARE):
                self._evict(next(iter(own)))
        if len(self._all) > self.allowed:
            self._evict(next(iter(self._all)))

    def note(self, connection: Connection, size: int) -> None:
        """Count what is buffered of a connection; the oldest with a part of a packet goes if it is too much."""
        if connection not in self._all:
            return
        grown = size - self._all[connection]
        self._all[connection] = size
        self.bytes += grown
        key = self._key_of(connection.address)
        if key is not None:
            self._bytes_by[key] += grown
            while self._bytes_by[key] > max(1, self.allowed_bytes // PENDING_SHARE):
                self._evict(next(each for each in self._by[key] if self._all[each]))
        while self.bytes > self.allowed_bytes:
            self._evict(next(each for each, held in self._all.items() if held))

    def remove(self, connection: Connection) -> None:
        """A connection has logged in, or is over."""
        size = self._all.pop(connection, None)
        if size is None:
            return
        self.bytes -= size
        key = self._key_of(connection.address)
        if key is not None:
            own = self._by[key]
            own.pop(connection, None)
            self._bytes_by[key] -= size
            if not own:
                del self._by[key], self._bytes_by[key]

    def _evict(self, connection: Connection) -> None:
        self.evicted += 1
        self.remove(connection)
        connection.cut()

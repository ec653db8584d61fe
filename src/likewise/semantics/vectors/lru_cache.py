"""Thread-safe LRU cache bounded in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_ENTRY: int = 200  # bytes an entry costs beside its value


class LruCache(Generic[Key, Value]):
    """Values by key, at most `capacity` bytes of them.

    >>> kept = LruCache[str, bytes](capacity=1_000, size=len)
    >>> kept.put("a", b"x" * 500); kept.put("b", b"y" * 500)
    >>> kept.get("a") is None, len(kept)
    (True, 1)
    """

    def __init__(self, capacity: int, size: Callable[[Value], int]) -> None:
        self._capacity, self._size = capacity, size
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """Return the value of a key and mark it as the most recently used, or None."""
        with self._lock:
            value = self._entries.get(key)
            if value is not None:
                self._entries.move_to_end(key)
            return value

    def put(self, key: Key, value: Value) -> None:
        """Store a value and evict the least recently used ones that no longer fit; the newest always stays."""
        with self._lock:
            before = self._entries.pop(key, None)
            if before is not None:
                self.bytes -= self._size(before) + _ENTRY
            self._entries[key] = value
            self.bytes += self._size(value) + _ENTRY
            while self.bytes > self._capacity and len(self._entries) > 1:
                _, forgotten = self._entries.popitem(last=False)
                self.bytes -= self._size(forgotten) + _ENTRY

"""Identifiers that sort by the time they were made: UUID version 7 (RFC 9562, section 5.7)."""

from __future__ import annotations

import os
import threading
import time

_lock = threading.Lock()
_last = 0


def uuid7() -> str:
    """A new UUIDv7; those of one process ascend strictly.

    The 12 bits after the milliseconds hold the fraction of a millisecond (method 3 of section 6.2), moved on
    by one where the clock has not moved.

    >>> a, b = uuid7(), uuid7()
    >>> a < b, a[14], len(a)
    (True, '7', 36)
    """
    global _last
    with _lock:
        milliseconds, rest = divmod(time.time_ns(), 1_000_000)
        stamp = max(milliseconds << 12 | rest * 4096 // 1_000_000, _last + 1)
        _last = stamp
    tail = int.from_bytes(os.urandom(8), "big") & 0x3FFFFFFFFFFFFFFF | 0x8000000000000000
    digits = f"{stamp >> 12:012x}7{stamp & 0xFFF:03x}{tail:016x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

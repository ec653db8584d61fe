"""Identifiers that sort by the time they were made: UUID version 7 (RFC 9562, section 5.7)."""

from __future__ import annotations

import os
import threading
import time
from typing import Final

_VARIANT: Final = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))  # two bits of it say the kind of UUID
_DRAWN: Final = 4096  # bytes of chance asked of the system at once: a call costs more than they do
_lock = threading.Lock()
_last = 0
_chance = ""  # hexadecimal digits that nobody has had


def _forget_chance() -> None:
    """A process that is forked off draws its own."""
    global _chance
    _chance = ""


os.register_at_fork(after_in_child=_forget_chance)


def uuid7() -> str:
    """A new UUIDv7; those of one process ascend strictly.

    >>> a, b = uuid7(), uuid7()
    >>> a < b, a[14], len(a)
    (True, '7', 36)
    """
    return uuid7s(1)[0]


def uuid7s(count: int) -> list[str]:
    """So many new ones, ascending.

    The 12 bits after the milliseconds hold the fraction of a millisecond (method 3 of section 6.2), moved on
    by one where the clock has not moved.

    >>> len(set(uuid7s(1000)))
    1000
    """
    global _last, _chance
    with _lock:
        milliseconds, rest = divmod(time.time_ns(), 1_000_000)
        first = max(milliseconds << 12 | rest * 4096 // 1_000_000, _last + 1)
        _last = first + count - 1
        if len(_chance) < 16 * count:
            _chance = os.urandom(max(_DRAWN, 8 * count)).hex()
        chance, _chance = _chance[: 16 * count], _chance[16 * count :]
    found = []
    known, begin = -1, ""
    for n in range(count):
        stamp, tail = first + n, chance[16 * n : 16 * n + 16]
        if stamp >> 12 != known:  # most of a batch share their millisecond
            known = stamp >> 12
            begin = f"{known >> 16:08x}-{known & 0xFFFF:04x}-7"
        found.append(f"{begin}{stamp & 0xFFF:03x}-{_VARIANT[tail[0]]}{tail[1:4]}-{tail[4:]}")
    return found

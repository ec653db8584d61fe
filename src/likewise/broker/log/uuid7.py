"""UUIDs of version 7, which sort by the time they were made (RFC 9562, section 5.7)."""

from __future__ import annotations

import os
import threading
import time
from typing import Final

import numpy as np

_VARIANT: Final = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))  # two bits of it say the kind of UUID
_DRAWN: Final = 4096  # bytes of chance asked of the system at once: a call costs more than they do
_MANY: Final = 16  # ids from which on they are written as one array of characters
_DIGITS: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_SHIFTS: Final = np.arange(56, -4, -4, dtype=np.uint64)  # of the 15 digits of a stamp
_VARIANTS: Final = np.array([ord(_VARIANT.get(chr(code), "8")) for code in range(128)], np.uint8)
_lock = threading.Lock()
_last = 0
_chance = ""  # hexadecimal digits that nobody has had


def _forget_chance() -> None:
    """Draw new random bits in a forked process."""
    global _chance
    _chance = ""


os.register_at_fork(after_in_child=_forget_chance)


def uuid7() -> str:
    """Return a new UUIDv7; those of one process strictly ascend.

    >>> a, b = uuid7(), uuid7()
    >>> a < b, a[14], len(a)
    (True, '7', 36)
    """
    return uuid7s(1)[0]


def uuid7s(count: int) -> list[str]:
    """Return new UUIDv7s, ascending.

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
    if count >= _MANY:
        return _written(first, chance, count)
    ids = []
    known, begin = -1, ""
    for n in range(count):
        stamp, tail = first + n, chance[16 * n : 16 * n + 16]
        if stamp >> 12 != known:  # most of a batch share their millisecond
            known = stamp >> 12
            begin = f"{known >> 16:08x}-{known & 0xFFFF:04x}-7"
        ids.append(f"{begin}{stamp & 0xFFF:03x}-{_VARIANT[tail[0]]}{tail[1:4]}-{tail[4:]}")
    return ids


def _written(first: int, chance: str, count: int) -> list[str]:
    """Format many at once: a row of characters each."""
    stamps = np.arange(first, first + count, dtype=np.uint64)
    digits = _DIGITS[(stamps[:, None] >> _SHIFTS) & np.uint64(15)]
    drawn = np.frombuffer(chance.encode(), np.uint8).reshape(count, 16)
    made = np.full((count, 36), ord("-"), np.uint8)
    made[:, :8], made[:, 9:13], made[:, 15:18] = digits[:, :8], digits[:, 8:12], digits[:, 12:]
    made[:, 14] = ord("7")
    made[:, 19], made[:, 20:23], made[:, 24:] = _VARIANTS[drawn[:, 0]], drawn[:, 1:4], drawn[:, 4:]
    text = made.tobytes().decode("ascii")
    return [text[n : n + 36] for n in range(0, len(text), 36)]

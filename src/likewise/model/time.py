"""Time: int64 microseconds since 1970 in UTC, and durations in microseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from likewise.errors import InputError, InvalidEvent

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LIMIT: Final = 2**63

SECOND: Final = 1_000_000
DURATIONS: Final = {
    "us": 1,
    "ms": 1_000,
    "s": SECOND,
    "min": 60 * SECOND,
    "h": 3_600 * SECOND,
    "d": 86_400 * SECOND,
    "wk": 604_800 * SECOND,
}


_WORDS: Final = {"second": "s", "minute": "min", "hour": "h", "day": "d", "week": "wk"}
_DURATION: Final = re.compile(rf"(\d{{1,9}}(?:\.\d{{1,6}})?)\s*(?:({'|'.join(DURATIONS)})|({'|'.join(_WORDS)})s?)")


def duration(text: str) -> int:
    """Parse a span of time into microseconds, in the language's notation or in words.

    >>> duration("30 d"), duration("1.5h"), duration("7 days")
    (2592000000000, 5400000000, 604800000000)
    >>> duration("soon")
    Traceback (most recent call last):
    likewise.errors.InputError: 'soon' is no span of time; write it like `90 d` or `1.5 h` (us, ms, s, min, h, d, wk)
    """
    hit = _DURATION.fullmatch(text.strip())
    if hit is None:
        raise InputError(f"{text[:40]!r} is no span of time; write it like `90 d` or `1.5 h` ({', '.join(DURATIONS)})")
    return round(float(hit[1]) * DURATIONS[hit[2] or _WORDS[hit[3]]])


def duration_text(span: int) -> str:
    """Format a span of time, to the second.

    >>> duration_text(90_061_000_000), duration_text(7 * 86_400_000_000), duration_text(400)
    ('1 day 1 h 1 min 1 s', '7 days', '0 s')
    """
    seconds = span // SECOND
    days, rest = divmod(seconds, 86_400)
    parts = [(f"{days} day{'s' if days > 1 else ''}", days)] if days else []
    parts += [(f"{rest // 3_600} h", rest // 3_600), (f"{rest // 60 % 60} min", rest // 60 % 60)]
    parts += [(f"{rest % 60} s", rest % 60)]
    return " ".join(text for text, count in parts if count) or "0 s"


def microseconds(when: int | datetime | str) -> int:
    """Return a time as microseconds. A naive datetime, or text without an offset, is refused.

    >>> microseconds("1970-01-01T00:00:01Z")
    1000000
    """
    if isinstance(when, str):
        shown = when[:40]
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            raise InvalidEvent(f"{shown!r} is not a time; write it like 2024-05-01T12:00:00Z") from None
    if isinstance(when, datetime):
        if when.tzinfo is None:
            raise InvalidEvent("the time has no time zone; add one (Z for UTC), so that it means one moment")
        return (when - _EPOCH) // timedelta(microseconds=1)
    if isinstance(when, bool) or not isinstance(when, int) or not -_LIMIT < when < _LIMIT:
        raise InvalidEvent(f"{when!r} is not a time; give whole microseconds since 1970 in UTC, or an ISO 8601 text")
    return when

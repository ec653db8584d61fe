"""Timestamps as values: ISO 8601 text that compares as time, in whole microseconds since 1970 in UTC.

A date without a time is the whole UTC day. A time without a zone is UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from likewise.errors import InvalidSubscription

MOMENT: Final = "moment"  # what stands for a unit where moments are asked for
MOMENT_UNITS: Final = frozenset(("s", "ms", "us"))  # a number in one of these is a moment, counted from 1970
_DAY: Final = 86_400_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY: Final = date(1970, 1, 1)
_ISO: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)\s?(Z|[+-]\d\d(?::?\d\d)?)?)?", re.IGNORECASE | re.ASCII
)


class TimeRange(NamedTuple):
    """First and last microsecond of a timestamp; `zoned` tells whether its text names a zone (a day needs none)."""

    first: int
    last: int
    zoned: bool


@lru_cache(maxsize=65_536)
def parse_timestamp(text: str) -> TimeRange | None:
    """Parse a text that is wholly an ISO 8601 date, with or without a time of day; None for other text.

    >>> parse_timestamp("1970-01-02"), parse_timestamp("1970-01-01 01:00+01:00").first
    (TimeRange(first=86400000000, last=172799999999, zoned=True), 0)
    >>> parse_timestamp("1970-01-01T00:00:01.5Z")
    TimeRange(first=1500000, last=1500000, zoned=True)
    >>> parse_timestamp("20240501"), parse_timestamp("2024-13-01"), parse_timestamp("1970-01-01T00:00").zoned
    (None, None, False)
    """
    hit = _ISO.fullmatch(text.strip())
    if hit is None:
        return None
    day, clock, zone = hit.groups()
    try:
        begin = date.fromisoformat(day)
        if clock is None:
            first = (begin - _FIRST_DAY).days * _DAY
            return TimeRange(first, first + _DAY - 1, True)
        whole, _, fraction = clock.replace(",", ".").partition(".")
        named = (zone or "Z").upper()
        moment = datetime.fromisoformat(f"{day}T{whole}{'+00:00' if named == 'Z' else named}")
    except ValueError:
        return None
    at = (moment - _EPOCH) // timedelta(microseconds=1) + int(fraction[:6].ljust(6, "0") if fraction else 0)
    return TimeRange(at, at, zone is not None)


def timestamp_text(at: int, *, last: bool = False) -> str:
    """Format a microsecond: as a date if it is the first (or, with `last`, the last) of a day.

    >>> timestamp_text(0), timestamp_text(86_399_999_999, last=True), timestamp_text(1_500_000)
    ('1970-01-01', '1970-01-01', '1970-01-01T00:00:01.500000Z')
    """
    if (at + 1 if last else at) % _DAY == 0:
        return (_FIRST_DAY + timedelta(days=at // _DAY)).isoformat()
    text = (_EPOCH + timedelta(microseconds=at)).isoformat()
    return text.replace("+00:00", "Z")


class TimestampValue(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, tag="moment", tag_field="kind"):
    """A date or time in a subscription, as written.

    >>> TimestampValue("2024-05-01").span.last - TimestampValue("2024-05-01").span.first
    86399999999
    """

    text: str

    def __post_init__(self) -> None:
        if parse_timestamp(self.text) is None:
            raise InvalidSubscription(
                f"{self.text[:40]!r} is no time; write it like 2024-05-01 or 2024-05-01T12:00:00Z"
            )

    @property
    def span(self) -> TimeRange:
        """First and last microsecond."""
        parsed = parse_timestamp(self.text)
        assert parsed is not None  # checked when it was made
        return parsed

"""Notification of an alert: its key, its times, and what it suppressed or collected."""

from __future__ import annotations

from typing import Literal

import msgspec

Why = Literal["unreachable", "resting"]  # a source's silence is excused: what brings it is down, or it was told to rest
Key = tuple[str, ...]  # the values of `per`, or the source alone; a source that is not stated is ''


class DigestItem(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One notification inside a digest."""

    moment: int
    cause: str
    key: Key
    event_id: str | None = None
    score: float = 1.0
    suppressed: int = 0
    stale: tuple[str, ...] = ()


class AlertNotification(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Facts of one notification: its key, when it was due (µs), since when it holds or is silent.

    `suppressed` is how many alarms before it were not sent, `stale` names sources of the key that are still active and
    have been silent for long. A digest has the newest of what it gathered, how many there were in all, and of each key
    (of the first 1,000).
    """

    key: Key
    moment: int
    since: int | None = None
    suppressed: int = 0
    items: tuple[DigestItem, ...] = ()
    total: int = 0
    counts: tuple[tuple[Key, int], ...] = ()
    stale: tuple[str, ...] = ()

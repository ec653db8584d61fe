"""Digests (`digest every`): notifications of all keys until the end of a period, counted from 1970."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.defaults import MAX_DIGEST_ITEMS, MAX_DIGEST_KEYS
from likewise.matching.reference.alerts.state import DueNotification
from likewise.model.alerts.notification import AlertNotification, DigestItem, Key


def end_of_period(moment: int, every: int) -> int:
    """The end of the period that a moment lies in.

    >>> end_of_period(3_700, 3_600), end_of_period(3_600, 3_600)
    (7200, 7200)
    """
    return (moment // every + 1) * every


def item_of(notification: DueNotification, key: Key) -> DigestItem:
    """A saying as a digest keeps it."""
    return DigestItem(
        notification.moment,
        notification.cause,
        key,
        notification.about.event_id,
        notification.about.score,
        notification.suppressed,
        notification.stale,
    )


def with_items(
    items: Sequence[DigestItem], key: Key, settled: int, event_id: str, notifications: Sequence[DueNotification]
) -> tuple[list[DigestItem], int]:
    """A digest after a key was told again without an event: of its items the first, which stay, and those said now.

    Says how many of those that stay are left.
    """
    of_key = [item for item in items if item.key == key]
    first = [item for item in of_key[:settled] if item.event_id != event_id]
    others = [item for item in items if item.key != key]
    merged = [*others, *first, *(item_of(notification, key) for notification in notifications)]
    return sorted(merged, key=lambda item: item.moment), len(first)


def gathered(items: Sequence[DigestItem], end: int) -> AlertNotification:
    """Return what a digest says of what it gathered.

    >>> gathered([DigestItem(1, "arrival", ("a",)), DigestItem(2, "held", ("a",))], 10).counts
    ((('a',), 2),)
    """
    counts: dict[Key, int] = {}
    for item in items:
        counts[item.key] = counts.get(item.key, 0) + 1
    shown = tuple(list(counts.items())[:MAX_DIGEST_KEYS])
    suppressed = sum(item.suppressed for item in items)
    return AlertNotification((), end, items[0].moment, suppressed, tuple(items[-MAX_DIGEST_ITEMS:]), len(items), shown)

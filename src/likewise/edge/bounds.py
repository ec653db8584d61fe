"""Limits of the outbox: bytes, age, and the policy by which items beyond them are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from likewise.broker.log.edges.outbox import OutboxItem, source_of, take_out, waiting
from likewise.broker.log.tables import StoreTables
from likewise.defaults import OUTBOX_BYTES, OUTBOX_KEEP, OUTBOX_POLICY
from likewise.errors import InputError
from likewise.model.time import duration

Policy = Literal["drop-oldest", "drop-newest", "thin"]
PAGE = 20_000  # items that are looked at together
ROOM = 0.9  # of the bound that is left full


class Bounds(msgspec.Struct, frozen=True):
    """Limits of the outbox: bytes, age, and what is dropped beyond them.

    `thin` lets every second event of each source go, the oldest first; withdrawals stay.

    >>> Bounds(policy="some")
    Traceback (most recent call last):
    likewise.errors.InputError: there is no policy 'some'; there are drop-oldest, drop-newest, thin
    """

    bytes: int = OUTBOX_BYTES
    keep: str = OUTBOX_KEEP
    policy: str = OUTBOX_POLICY

    def __post_init__(self) -> None:
        if self.policy not in get_args(Policy):
            raise InputError(f"there is no policy {self.policy[:40]!r}; there are {', '.join(get_args(Policy))}")
        if self.bytes < 1:
            raise InputError(f"the outbox holds {self.bytes} bytes; let it hold some")
        duration(self.keep)


def drop_over_limit(tables: StoreTables, tenant: int, after: int, size: int, bounds: Bounds) -> int:
    """Drop items beyond the limit, of `size` bytes that wait after a sequence; return how many."""
    dropped = 0
    while size > bounds.bytes:
        excess = size - int(ROOM * bounds.bytes)
        items = waiting(tables, tenant, after, PAGE, newest=bounds.policy == "drop-newest")
        removed = _every_second(tables, items, excess) if bounds.policy == "thin" else _oldest_items(items, excess)
        if not removed:
            removed = _oldest_items(items, excess)
        if not removed:
            return dropped
        take_out(tables, [item.sequence for item in removed])
        dropped += len(removed)
        size -= sum(item.bytes for item in removed)
    return dropped


def drop_expired(tables: StoreTables, tenant: int, after: int, arrived: int) -> int:
    """Drop items that arrived before a time; return how many."""
    dropped = 0
    while items := waiting(tables, tenant, after, 1_000):
        expired = [item for item in items if 0 < source_of(tables, item.position)[1] < arrived]
        take_out(tables, [item.sequence for item in expired])
        dropped += len(expired)
        if len(expired) < len(items):
            break
    return dropped


def _oldest_items(items: Sequence[OutboxItem], excess: int) -> list[OutboxItem]:
    dropped: list[OutboxItem] = []
    for item in items:
        if excess <= 0:
            break
        dropped.append(item)
        excess -= item.bytes
    return dropped


def _every_second(tables: StoreTables, items: Sequence[OutboxItem], excess: int) -> list[OutboxItem]:
    """Return every second event of each source, the oldest first; the newest of each stays."""
    stays: dict[str, bool] = {}
    seconds: list[OutboxItem] = []
    for item in reversed(items):
        if item.withdrawn is None:
            source, _ = source_of(tables, item.position)
            stays[source] = not stays.get(source, False)
            if not stays[source]:
                seconds.append(item)
    return _oldest_items(seconds[::-1], excess)

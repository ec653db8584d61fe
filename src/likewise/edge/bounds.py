"""How much may wait at an edge, for how long, and what goes when it is too much: declared, counted and told."""

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
    """What may wait: so many bytes, for so long; and what goes beyond that.

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
    """Let go of what is beyond the bound, of `size` bytes that wait after a sequence; how many items it were."""
    dropped = 0
    while size > bounds.bytes:
        excess = size - int(ROOM * bounds.bytes)
        items = waiting(tables, tenant, after, PAGE, newest=bounds.policy == "drop-newest")
        gone = _every_second(tables, items, excess) if bounds.policy == "thin" else _oldest_items(items, excess)
        if not gone:
            gone = _oldest_items(items, excess)
        if not gone:
            return dropped
        take_out(tables, [item.sequence for item in gone])
        dropped += len(gone)
        size -= sum(item.bytes for item in gone)
    return dropped


def drop_expired(tables: StoreTables, tenant: int, after: int, arrived: int) -> int:
    """Let go of what arrived before a moment; how many items it were."""
    dropped = 0
    while items := waiting(tables, tenant, after, 1_000):
        gone = [item for item in items if 0 < source_of(tables, item.position)[1] < arrived]
        take_out(tables, [item.sequence for item in gone])
        dropped += len(gone)
        if len(gone) < len(items):
            break
    return dropped


def _oldest_items(items: Sequence[OutboxItem], excess: int) -> list[OutboxItem]:
    gone: list[OutboxItem] = []
    for item in items:
        if excess <= 0:
            break
        gone.append(item)
        excess -= item.bytes
    return gone


def _every_second(tables: StoreTables, items: Sequence[OutboxItem], excess: int) -> list[OutboxItem]:
    """Every second event of each source, the oldest first; the newest of each stays."""
    stays: dict[str, bool] = {}
    seconds: list[OutboxItem] = []
    for item in reversed(items):
        if item.withdrawn is None:
            source, _ = source_of(tables, item.position)
            stays[source] = not stays.get(source, False)
            if not stays[source]:
                seconds.append(item)
    return _oldest_items(seconds[::-1], excess)

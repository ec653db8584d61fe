"""The table `hops`: over which brokers an event came here, the last one first hand.

An event of somebody here has none. `ABOVE` stands for the broker that this one dials.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from likewise.broker.store.checksums import altered, checksum, refuse
from likewise.broker.store.tables import Row, Tables

HOPS: Final = "position, tenant, checksum, body"
ABOVE: Final = "^"  # no edge is called so
Hops = tuple[str, ...]
_DECODE: Final = msgspec.json.Decoder(Hops).decode


def add_hops(tables: Tables, hops: Iterable[tuple[int, int, Hops]]) -> None:
    """Write the hops of events, by their positions and tenants."""
    rows = []
    for position, tenant, said in hops:
        body = msgspec.json.encode(said)
        rows.append((position, tenant, checksum(body, position, tenant), body))
    tables.change_all("INSERT INTO hops VALUES (?, ?, ?, ?)", rows)


def hops_row(row: Row) -> tuple[int, Hops]:
    """An event's position and its hops, checked."""
    position, tenant, check, body = row
    if altered(check, (body,), position, tenant):
        raise refuse(f"over which brokers entry {position} of the log came")
    return position, _DECODE(body)


def hops_between(tables: Tables, after: int, until: int) -> dict[int, Hops]:
    """The hops of the events between two positions, of those that have any."""
    return dict(map(hops_row, tables.each(f"SELECT {HOPS} FROM hops WHERE position > ? AND position <= ?",
                                          after, until)))  # fmt: skip


def hops_of(tables: Tables, position: int) -> Hops:
    """The hops of one event."""
    row = tables.row(f"SELECT {HOPS} FROM hops WHERE position = ?", position)
    return () if row is None else hops_row(row)[1]


def remove_hops(tables: Tables, positions: Iterable[int]) -> None:
    """Forget the hops of events that are forgotten."""
    tables.change_all("DELETE FROM hops WHERE position = ?", [(position,) for position in positions])

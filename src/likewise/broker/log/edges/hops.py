"""The table `hops`: over which brokers an event came here, the last one first hand.

An event of somebody here has none. `ABOVE` stands for the broker that this one dials. Beside them stands when the first
of them got the event, where its clock may be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from likewise.broker.log.checksums import altered, checksum, refuse
from likewise.broker.log.tables import Row, StoreTables

HOPS: Final = "position, tenant, checksum, body"
ABOVE: Final = "^"  # no edge is called so
Hops = tuple[str, ...]


class EventRoute(msgspec.Struct, frozen=True, gc=False):
    """Over which brokers an event came, and when the first of them got it (µs; None: it was not said)."""

    hops: Hops = ()
    received: int | None = None


LOCAL_ROUTE: Final = EventRoute()
_DECODE: Final = msgspec.json.Decoder(Hops | EventRoute).decode


def add_hops(tables: StoreTables, hops: Iterable[tuple[int, int, EventRoute]]) -> None:
    """Write how events came, by their positions and tenants."""
    rows = []
    for position, tenant, came in hops:
        body = msgspec.json.encode(came.hops if came.received is None else came)
        rows.append((position, tenant, checksum(body, position, tenant), body))
    tables.change_all("INSERT INTO hops VALUES (?, ?, ?, ?)", rows)


def hops_row(row: Row) -> tuple[int, EventRoute]:
    """An event's position and how it came, checked."""
    position, tenant, check, body = row
    if altered(check, (body,), position, tenant):
        raise refuse(f"over which brokers entry {position} of the log came")
    found = _DECODE(body)
    return position, found if isinstance(found, EventRoute) else EventRoute(found)


def hops_between(tables: StoreTables, after: int, until: int) -> dict[int, EventRoute]:
    """How the events between two positions came, of those that came over others."""
    return dict(
        map(hops_row, tables.each(f"SELECT {HOPS} FROM hops WHERE position > ? AND position <= ?", after, until))
    )


def event_route(tables: StoreTables, position: int) -> EventRoute:
    """How one event came."""
    row = tables.row(f"SELECT {HOPS} FROM hops WHERE position = ?", position)
    return LOCAL_ROUTE if row is None else hops_row(row)[1]


def remove_hops(tables: StoreTables, positions: Iterable[int]) -> None:
    """Forget the hops of events that are forgotten."""
    tables.change_all("DELETE FROM hops WHERE position = ?", [(position,) for position in positions])

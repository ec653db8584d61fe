"""The table `hops`: the brokers over which an event came, the last one first hand.

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
    """The brokers over which an event came, and when the first of them received it (µs; None if not stated)."""

    hops: Hops = ()
    received: int | None = None


LOCAL_ROUTE: Final = EventRoute()
_DECODE: Final = msgspec.json.Decoder(Hops | EventRoute).decode


def add_hops(tables: StoreTables, hops: Iterable[tuple[int, int, EventRoute]]) -> None:
    """Write how events came, by their positions and tenants."""
    rows = []
    for position, tenant, route in hops:
        body = msgspec.json.encode(route.hops if route.received is None else route)
        rows.append((position, tenant, checksum(body, position, tenant), body))
    tables.change_all("INSERT INTO hops VALUES (?, ?, ?, ?)", rows)


def hops_row(row: Row) -> tuple[int, EventRoute]:
    """Decode and verify an event's position and route."""
    position, tenant, check, body = row
    if altered(check, (body,), position, tenant):
        raise refuse(f"over which brokers entry {position} of the log came")
    decoded = _DECODE(body)
    return position, decoded if isinstance(decoded, EventRoute) else EventRoute(decoded)


def hops_between(tables: StoreTables, after: int, until: int) -> dict[int, EventRoute]:
    """Return the routes of the events between two positions that came over other brokers."""
    return dict(
        map(hops_row, tables.each(f"SELECT {HOPS} FROM hops WHERE position > ? AND position <= ?", after, until))
    )


def event_route(tables: StoreTables, position: int) -> EventRoute:
    """Return the route of one event."""
    row = tables.row(f"SELECT {HOPS} FROM hops WHERE position = ?", position)
    return LOCAL_ROUTE if row is None else hops_row(row)[1]


def remove_hops(tables: StoreTables, positions: Iterable[int]) -> None:
    """Forget the hops of events that are forgotten."""
    tables.change_all("DELETE FROM hops WHERE position = ?", [(position,) for position in positions])

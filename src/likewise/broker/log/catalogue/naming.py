"""Read and write how a store's sources are named, for the upgrade of their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from likewise.broker.log.tables import StoreTables

BY_LAST_LEVEL, BY_PREFIX = 1, 2  # of a topic: `naming` of the table `state`


class _Tuple(msgspec.Struct):
    """An attribute of an event; other fields are ignored."""

    attribute: str
    value: Any = None


class _Body(msgspec.Struct):
    """The fields of an event's envelope that contain its topic."""

    tuples: list[_Tuple] = []
    payload: Any = None

    def topic(self) -> str:
        """Return the topic it came from; '' if it came another way."""
        for each in self.tuples:
            if each.attribute == "topic" and isinstance(each.value, str):
                return each.value
        topic = self.payload.get("topic") if isinstance(self.payload, dict) else None
        return topic if isinstance(topic, str) else ""


_DECODE: Final = msgspec.json.Decoder(_Body).decode


def naming(tables: StoreTables) -> int:
    """Return how the sources of MQTT are named: `BY_LAST_LEVEL` before an upgrade, else `BY_PREFIX`."""
    (mode,) = tables.one("SELECT value FROM state WHERE name = 'naming'")
    return int(mode)


def name_by(tables: StoreTables, how: int) -> None:
    """Note how the sources of MQTT are named from now on."""
    tables.change("UPDATE state SET value = ?1, guard = ~?1 WHERE name = 'naming'", how)


def sources_and_topics(tables: StoreTables, tenant: int) -> Iterator[tuple[str, str]]:
    """Return source and topic of each event of a tenant; '' if it has none, or an edge named its source."""
    sql = (
        "SELECT source, body, EXISTS (SELECT 1 FROM hops WHERE hops.position = log.position) "
        "FROM log WHERE kind = 0 AND tenant = ? AND source <> ''"
    )
    rows = tables.each(sql, tenant)
    for source, body, over_an_edge in rows:
        try:
            topic = "" if over_an_edge else _DECODE(body).topic()
        except msgspec.MsgspecError:
            topic = ""  # it is no envelope as we write it: its source stays
        yield source, topic

"""Persistent MQTT sessions, and the packets in flight to them, which keep their packet ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from likewise.broker.log.checksums import altered, checksum, number_or_none, refuse, text_checksum
from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.log.tables import Row, StoreTables

SESSION: Final = "number, tenant, client, ends, checksum, body"
IN_FLIGHT: Final = "subscriber, sequence, part, tenant, session, packet, state, checksum"


class FilterOptions(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The options of a session's topic filter; `identifiers` are MQTT 5's subscription identifiers, at most one."""

    qos: int = 0
    no_local: bool = False
    retain_as_published: bool = False
    identifiers: tuple[int, ...] = ()
    explain: bool = False
    own: str = ""  # the text of a subscription by meaning


class SessionState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The persistent part of a session: expiry, filters, owner and will."""

    expiry: int = 0
    options: dict[str, FilterOptions] = {}
    owner: str = ""
    will: StoredMessage | None = None  # published when the connection breaks, `will_delay` seconds later
    will_delay: int = 0


class SessionRow(NamedTuple):
    """A session as it is stored; `ends` is its expiry (µs), None while it is connected or for ever."""

    number: int
    tenant: int
    client: str
    ends: int | None
    lasting: SessionState


class InFlightRow(NamedTuple):
    """A packet in flight, by queue and sequence number; `part` is a subscription by meaning.

    `state` says what is awaited; one that awaits nothing was settled before those in front of it.
    """

    subscriber: int
    sequence: int
    part: int
    tenant: int
    session: int
    packet: int
    state: int


_LASTING: Final = msgspec.json.Decoder(SessionState)
_ENCODE: Final = msgspec.json.Encoder().encode


def add_session(tables: StoreTables, tenant: int, client: str, lasting: SessionState) -> int:
    """Keep a new session; its number."""
    number = tables.add(
        "INSERT INTO sessions (tenant, client, checksum, body) VALUES (?, ?, 0, ?)", tenant, client, b""
    )
    put_session(tables, SessionRow(number, tenant, client, None, lasting))
    return number


def put_session(tables: StoreTables, row: SessionRow) -> None:
    """Keep a session as it is now."""
    body = _ENCODE(row.lasting)
    check = checksum(body + row.client.encode(), row.number, row.tenant, number_or_none(row.ends))
    tables.change(
        "UPDATE sessions SET ends = ?, checksum = ?, body = ? WHERE number = ?", row.ends, check, body, row.number
    )


def session_row(row: Row) -> SessionRow:
    """Decode and verify a session."""
    number, tenant, client, ends, check, body = row
    if not isinstance(client, str) or altered(check, (body, client.encode()), number, tenant, number_or_none(ends)):
        raise refuse(f"the session {number}")
    return SessionRow(number, tenant, client, ends, _LASTING.decode(body))


def read_sessions(tables: StoreTables) -> list[SessionRow]:
    """Return every session."""
    return [session_row(row) for row in tables.each(f"SELECT {SESSION} FROM sessions ORDER BY number")]


def remove_session(tables: StoreTables, number: int) -> None:
    """Forget a session, what is in flight to it and the packet ids it took."""
    tables.change("DELETE FROM sessions WHERE number = ?", number)
    tables.change("DELETE FROM received WHERE session = ?", number)
    tables.change("DELETE FROM in_flight WHERE session = ?", number)


# -- in flight -------------------------------------------------------------------------------------


def change_in_flight(tables: StoreTables, put: Iterable[InFlightRow], dropped: Iterable[tuple[int, int, int]]) -> None:
    """Keep packets as they are, and forget others by queue, sequence number and part."""
    tables.change_all("DELETE FROM in_flight WHERE subscriber = ? AND sequence = ? AND part = ?", dropped)
    tables.change_all(
        "INSERT OR REPLACE INTO in_flight VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(*row, text_checksum((), *row)) for row in put],
    )


def in_flight_row(row: Row) -> InFlightRow:
    """Decode and verify a packet in flight."""
    *values, check = row
    if check != text_checksum((), *values):
        raise refuse(f"a packet in flight of the session {values[4]}")
    return InFlightRow(*values)


def read_in_flight(tables: StoreTables) -> list[InFlightRow]:
    """Return every packet in flight, by sequence number."""
    rows = tables.each(f"SELECT {IN_FLIGHT} FROM in_flight ORDER BY subscriber, sequence, part")
    return [in_flight_row(row) for row in rows]

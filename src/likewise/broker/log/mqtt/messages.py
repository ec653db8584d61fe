"""Messages as devices published them: topic, payload and properties, beside the decoded event.

They share the event's commit, and so does what else a message changes: the retained message of its topic, and the
packet id of QoS 2 that is taken until the client releases it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from likewise.broker.log.checksums import altered, checksum, number_or_none, refuse, text_checksum
from likewise.broker.log.tables import Row, StoreTables

MESSAGE: Final = "position, tenant, checksum, body"
RETAINED: Final = "tenant, topic, position, ends, checksum"
RECEIVED: Final = "session, packet, tenant, checksum"


class StoredMessage(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A published message: `properties` as in MQTT 5 without the expiry, which is `expires` (µs since 1970).

    A message may say several events: the first one's row has it, the row of another says how far back that is (`part`).
    `client` is who published it, for those who do not want their own messages.
    """

    topic: str
    payload: bytes = b""
    qos: int = 0
    retain: bool = False
    properties: bytes = b""
    expires: int | None = None
    client: str = ""
    part: int = 0


# What is written with an event: its position, tenant and message, and the session and packet id of QoS 2 it came with.
MessageWrite = tuple[int, int, StoredMessage, tuple[int, int] | None]


class RetainedRow(NamedTuple):
    """The retained message of a topic: its position in the log, and when it expires.

    `qos` and `size` (`retained_bytes`) are those of the message, so that it need not be read to decide about it.
    """

    topic: str
    position: int
    ends: int | None
    qos: int = 0
    size: int = 0


def retained_bytes(topic: str, payload: bytes, properties: bytes) -> int:
    """Return how many bytes a retained message counts as."""
    return len(topic) + len(payload) + len(properties)


_ENCODE: Final = msgspec.msgpack.Encoder().encode
_DECODE: Final = msgspec.msgpack.Decoder(StoredMessage).decode


def add_messages(tables: StoreTables, writes: Iterable[MessageWrite]) -> None:
    """Write messages, in their order, and what they change."""
    rows = []
    for position, tenant, message, received in writes:
        body = _ENCODE(message)
        rows.append((position, tenant, checksum(body, position, tenant), body))
        if received is not None:
            sql = "INSERT OR REPLACE INTO received VALUES (?, ?, ?, ?)"
            tables.change(sql, *received, tenant, text_checksum((), *received, tenant))
        if message.retain and not message.part:
            _retain(tables, tenant, message, position)
    tables.change_all("INSERT INTO messages VALUES (?, ?, ?, ?)", rows)


def _retain(tables: StoreTables, tenant: int, message: StoredMessage, position: int) -> None:
    if not message.payload:
        tables.change("DELETE FROM retained WHERE tenant = ? AND topic = ?", tenant, message.topic)
        return
    check = text_checksum((message.topic,), tenant, position, number_or_none(message.expires))
    sql = "INSERT OR REPLACE INTO retained VALUES (?, ?, ?, ?, ?)"
    tables.change(sql, tenant, message.topic, position, message.expires, check)


def message_row(row: Row) -> tuple[int, StoredMessage]:
    """Decode and verify a message with its position."""
    position, tenant, check, body = row
    if altered(check, (body,), position, tenant):
        raise refuse(f"the message of entry {position} of the log")
    return position, _DECODE(body)


def messages_between(tables: StoreTables, after: int, until: int) -> dict[int, StoredMessage]:
    """Return the messages of the events between two positions."""
    rows = tables.rows(f"SELECT {MESSAGE} FROM messages WHERE position > ? AND position <= ?", after, until)
    return dict(map(message_row, rows))


def read_messages(tables: StoreTables, positions: Iterable[int]) -> dict[int, StoredMessage]:
    """Return the messages of some events; several events may share one message."""
    messages: dict[int, StoredMessage] = {}
    for position in positions:
        row = tables.row(f"SELECT {MESSAGE} FROM messages WHERE position = ?", position)
        if row is None:
            continue
        message = message_row(row)[1]
        if message.part:
            row = tables.row(f"SELECT {MESSAGE} FROM messages WHERE position = ?", position - message.part)
            if row is None:
                continue
            message = message_row(row)[1]
        messages[position] = message
    return messages


def remove_messages(tables: StoreTables, positions: Sequence[int]) -> None:
    """Forget the messages of events that are forgotten, and that they were retained."""
    rows = [(position,) for position in positions]
    tables.change_all("DELETE FROM messages WHERE position = ?", rows)
    tables.change_all("DELETE FROM retained WHERE position = ?", rows)


# -- retained --------------------------------------------------------------------------------------


def retained_row(row: Row) -> RetainedRow:
    """Decode and verify a retained message."""
    tenant, topic, position, ends, check = row
    if check != text_checksum((topic,), tenant, position, number_or_none(ends)):
        raise refuse(f"the retained message of {topic!r}")
    return RetainedRow(topic, position, ends)


_WITH_MESSAGE: Final = (
    f"SELECT {', '.join(f'r.{name}' for name in RETAINED.split(', '))}, "
    f"{', '.join(f'm.{name}' for name in MESSAGE.split(', '))} "
    "FROM retained r LEFT JOIN messages m ON m.position = r.position WHERE r.tenant = ?"
)


def read_retained(tables: StoreTables, tenant: int) -> Iterator[RetainedRow]:
    """Read the retained messages of a tenant, each with the QoS and size of its message."""
    for row in tables.each(_WITH_MESSAGE, tenant):
        retained = retained_row(row[:5])
        if row[8] is not None:
            _, message = message_row(row[5:])
            size = retained_bytes(message.topic, message.payload, message.properties)
            retained = retained._replace(qos=message.qos, size=size)
        yield retained


def forget_retained(tables: StoreTables, now: int) -> None:
    """Forget retained messages that are over."""
    tables.change("DELETE FROM retained WHERE ends IS NOT NULL AND ends <= ?", now)


# -- received --------------------------------------------------------------------------------------


def received_row(row: Row) -> tuple[int, int]:
    """Decode and verify a packet id of QoS 2 that is in use, with its session."""
    session, packet, tenant, check = row
    if check != text_checksum((), session, packet, tenant):
        raise refuse(f"a packet id of the session {session}")
    return session, packet


def read_received(tables: StoreTables) -> list[tuple[int, int]]:
    """Return every packet id of QoS 2 that is in use, with its session."""
    return [received_row(row) for row in tables.each(f"SELECT {RECEIVED} FROM received")]


def release(tables: StoreTables, released: Iterable[tuple[int, int]]) -> None:
    """Free packet ids of sessions."""
    tables.change_all("DELETE FROM received WHERE session = ? AND packet = ?", released)

"""The rows of the store: each is verified when it is read, and a corrupt one is refused.

Every table has its columns, as they are selected, and what reads one row of them. What opens a store, what
answers from it and what verifies it all read rows here, so that none of them takes an altered one for good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import msgspec

from likewise.api.subscribers import QueuePolicy
from likewise.broker.log.checksums import (
    altered,
    check_entry,
    guarded,
    refuse,
    subscriber_checksum,
    subscriber_guard,
    tenant_checksum,
    text_checksum,
)
from likewise.broker.log.entries import EVENT, BatchedEvent, Entry, JudgeCommand, is_written, read_command, read_event
from likewise.broker.log.tables import Row, StoreTables
from likewise.errors import LikewiseError
from likewise.formats.json.batches import decode_each
from likewise.model import Event, Subscription

TENANT: Final = "number, name, windows_from, last_delivery, guard, checksum"
ENTRY: Final = "position, tenant, kind, source, id, arrival, ends, checksum - withdrawn, body"
SUBSCRIBER: Final = "number, id, policy, queue_limit, acknowledged, dropped, guard, checksum, tenant"
SUBSCRIPTION: Final = "number, tenant, subscriber, id, added, ended, checksum - coalesce(ended + 1, 0), body"
JUDGEMENT: Final = "position, tenant, checksum, body"
TOKEN: Final = "digest, name, tenant, scopes, expires, made, checksum"
FOLLOWER: Final = "follower, tenant, position, guard, checksum"
TOGETHER: Final = 200  # entries that are read at once; each holds what was read with it in memory
STATE: Final = frozenset({"commit", "position", "arrival", "naming"})
_OWNED: Final = (
    "subscribers",
    "subscriptions",
    "deliveries",
    "judgements",
    "dead_letters",
    "followers",
    "targets",
    "messages",
    "retained",
    "topics",
    "sessions",
    "in_flight",
    "received",
    "catalogue",
    "hops",
    "edges",
    "outbox",
    "uplink",
)
_SUBSCRIPTIONS: Final = msgspec.json.Decoder(Subscription)


class TenantRow(NamedTuple):
    """A tenant as it is stored."""

    number: int
    name: str
    windows_from: int | None
    last_delivery: int


class SubscriberRow(NamedTuple):
    """A subscriber as it is stored."""

    number: int
    id: str
    policy: QueuePolicy
    limit: int
    acknowledged: int
    dropped: int


class SubscriptionRow(NamedTuple):
    """A subscription as it is stored: number, subscriber, id, itself, when it was added and where it ended."""

    number: int
    subscriber: int
    id: str
    subscription: Subscription
    added: int
    ended: int | None = None


class TokenRow(NamedTuple):
    """A token as it is stored: its hash, name, tenant, scopes, and expiry (µs; None for ever)."""

    digest: str
    name: str
    tenant: str
    scopes: str
    expires: int | None = None


def tenant_row(row: Row) -> TenantRow:
    """Decode and verify a tenant."""
    number, name, windows_from, last, guard, check = row
    if not guarded(last, guard) or check != tenant_checksum(number, name, windows_from):
        raise refuse(f"tenant {number} ({name!r})")
    return TenantRow(number, name, windows_from, last)


def entry_row(row: Row) -> Entry:
    """Decode and verify an entry of the log."""
    position, owner, kind, source, id, arrival, ends, check, body = row
    check_entry(position, owner, kind, arrival, ends, check, body)
    value = read_event(body, position) if kind == EVENT else read_command(body)
    identity = (value.source or "", value.id) if isinstance(value, Event) else ("", "")
    if identity != (source, id):
        raise refuse(f"the identity of entry {position} of the log")
    return Entry(owner, kind, value, body, source, id, ends, position, arrival)


def entry_rows(rows: Sequence[Row]) -> Iterator[Entry]:
    """Decode and verify entries; events with their original payload are decoded in columns, `TOGETHER` at a time."""
    for columnar, some in groupby(rows, _is_payload_envelope):
        alike = list(some)
        for first in range(0, len(alike), TOGETHER):
            part = alike[first : first + TOGETHER]
            yield from (_columnar_entries(part) if columnar else None) or map(entry_row, part)


def _is_payload_envelope(row: Row) -> bool:
    kind, body = row[2], row[-1]
    return kind == EVENT and isinstance(body, bytes) and not is_written(body)


def _columnar_entries(rows: Sequence[Row]) -> list[Entry] | None:
    """Decode the entries of events in columns; return None if one cannot be, so that its own decoder reports it."""
    try:
        for position, owner, kind, _, _, arrival, ends, check, body in rows:
            check_entry(position, owner, kind, arrival, ends, check, body)
        batch = decode_each([row[-1] for row in rows])
    except LikewiseError:
        return None
    if not batch.columnar:
        return None
    entries = []
    for place, (position, owner, kind, source, id, arrival, ends, _, body) in enumerate(rows):
        envelope = batch.envelope_fields(place)
        if envelope.bare or (envelope.source or "", envelope.id) != (source, id):
            return None
        entries.append(Entry(owner, kind, BatchedEvent(batch, place), body, source, id, ends, position, arrival))
    return entries


def subscriber_row(row: Row) -> SubscriberRow:
    """Decode and verify a subscriber."""
    subscriber, (guard, check, tenant) = SubscriberRow(*row[:6]), row[6:]
    whole = type(subscriber.acknowledged) is int and type(subscriber.dropped) is int
    if (
        not whole
        or guard != subscriber_guard(subscriber.acknowledged, subscriber.dropped)
        or check != subscriber_checksum(subscriber.number, tenant, subscriber.id, subscriber.policy, subscriber.limit)
    ):
        raise refuse(f"the subscriber {subscriber.id!r}")
    return subscriber


def subscription_row(row: Row) -> SubscriptionRow:
    """Decode and verify a subscription."""
    number, tenant, subscriber, id, added, ended, check, body = row
    if altered(check, (body,), number, tenant, subscriber, added):
        raise refuse(f"subscription {id!r} (number {number})")
    subscription = _SUBSCRIPTIONS.decode(body)
    if subscription.id != id:
        raise refuse(f"the id of subscription {number}")
    return SubscriptionRow(number, subscriber, id, subscription, added, ended)


def judgement_row(row: Row) -> tuple[int, JudgeCommand]:
    """Decode and verify feedback, with its position."""
    position, tenant, check, body = row
    if altered(check, (body,), position, tenant):
        raise refuse(f"the feedback at {position}")
    command = read_command(body)
    if not isinstance(command, JudgeCommand):
        raise refuse(f"the feedback at {position}")
    return position, command


def token_row(row: Row) -> TokenRow:
    """Decode and verify a token."""
    token, (made, check) = TokenRow(*row[:5]), row[5:]
    if check != text_checksum(tuple(token), made):
        raise refuse(f"the token {token.name!r}")
    return token


def follower_row(row: Row) -> tuple[str, int, int]:
    """Decode and verify a follower's name, tenant and position."""
    follower, tenant, position, guard, check = row
    if not guarded(position, guard) or check != text_checksum((follower,), tenant):
        raise refuse(f"how far {follower!r} has come")
    return follower, tenant, position


def state_rows(tables: StoreTables) -> dict[str, int]:
    """Decode and verify the counters of the store."""
    rows = tables.rows("SELECT name, value, guard FROM state")
    if {name for name, _, _ in rows} != STATE or not all(guarded(value, guard) for _, value, guard in rows):
        raise refuse("a number the store goes on from")
    return {name: value for name, value, _ in rows}


def check_owners(tables: StoreTables, tenants: int) -> None:
    """Refuse rows of a tenant that does not exist: reading tenant by tenant would pass over them.

    Tenants are numbered from 1 on and stay; entries of the log are read by position.
    """
    for table in _OWNED:
        if tables.row(f"SELECT tenant FROM {table} WHERE tenant < 1 OR tenant > ? LIMIT 1", tenants) is not None:
            raise refuse(f"the tenant of a row of {table}")


def read_all(tables: StoreTables, table: str, columns: str, read: Callable[[Row], object]) -> int:
    """Read every row of a table; how many there are."""
    return sum(1 for row in tables.each(f"SELECT {columns} FROM {table}") if read(row) is not None)

"""What a broker goes on from: tenants, subscribers, subscriptions, windows and queues, read from the store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from likewise.broker.store.deliveries import verify
from likewise.broker.store.event_log import EventLog
from likewise.broker.store.packed_sets import unpack
from likewise.broker.store.rows import (
    ENTRY,
    JUDGEMENT,
    SUBSCRIBER,
    SUBSCRIPTION,
    TENANT,
    check_owners,
    entry_row,
    judgement_row,
    subscriber_row,
    subscription_row,
    tenant_row,
)
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Held, Tenant
from likewise.broker.upkeep.saved_windows import MakeMatcher, bring_up_to_date, load_windows, rejudge
from likewise.model import Event


def recover(log: EventLog, data: Path | None, make: MakeMatcher) -> tuple[dict[int, Tenant], int]:
    """The tenants as they were when matching had come to the position returned."""
    tenants: dict[int, Tenant] = {}
    with log.reading() as connection:
        ((matched,),) = connection.execute("SELECT value FROM state WHERE name = 'matched'").fetchall()
        rows = connection.execute(f"SELECT {TENANT} FROM tenants ORDER BY number").fetchall()
        check_owners(connection, len(rows))
        for number, name, windows_from, last in map(tenant_row, rows):
            windows = load_windows(data, number, windows_from, make)
            tenants[number] = tenant = Tenant(number, name, windows, windows_from)
            tenant.stored_number, tenant.next_number = last, last + 1
            _read_subscribers(connection, tenant)
            everything = _read_subscriptions(connection, tenant)
            _take_up(log, connection, tenant, everything, matched)
            _read_queues(connection, tenant)
    return tenants, matched


def _read_subscribers(connection: sqlite3.Connection, tenant: Tenant) -> None:
    rows = connection.execute(f"SELECT {SUBSCRIBER} FROM subscribers WHERE tenant = ?", (tenant.number,))
    for row in map(subscriber_row, rows):
        queue = SubscriberQueue(*row)
        tenant.subscribers[queue.id] = tenant.by_number[queue.number] = queue
        if queue.policy == "block":
            tenant.blocking.add(queue)


def _read_subscriptions(connection: sqlite3.Connection, tenant: Tenant) -> dict[int, Held]:
    rows = connection.execute(
        f"SELECT {SUBSCRIPTION} FROM subscriptions WHERE tenant = ? ORDER BY number", (tenant.number,)
    )
    return {row[0]: Held(*row) for row in map(subscription_row, rows)}


def _take_up(
    log: EventLog, connection: sqlite3.Connection, tenant: Tenant, everything: dict[int, Held], matched: int
) -> None:
    """Fill both matchers: feedback and windows in the order of the log, the rest as it stands."""
    start = matched + 1 if tenant.windows_from is None else tenant.windows_from
    rows = connection.execute(
        f"SELECT {JUDGEMENT} FROM judgements WHERE tenant = ? ORDER BY position", (tenant.number,)
    ).fetchall()
    judged = [judgement_row(row) for row in rows]
    if not len(tenant.stateless.interpretation.feedback):
        for position, judgement in judged:
            if position < start:
                rejudge(tenant, judgement, position, everything)
    if tenant.windows_from is not None:
        bring_up_to_date(tenant, log.entries(start - 1, matched, tenant=tenant.number), everything)
    for held in everything.values():
        tenant.know(held)
        if held.ended is None:
            tenant.by_number[held.subscriber].subscriptions[held.id] = held.number
            if held.subscription.kind != "top":
                tenant.stateless.add(msgspec.structs.replace(held.subscription, id=str(held.number)), at=held.added)
    newest = connection.execute(
        f"SELECT {ENTRY} FROM log WHERE kind = 0 AND tenant = ? AND position <= ? ORDER BY position DESC LIMIT 1",
        (tenant.number, matched),
    ).fetchone()
    if newest is not None:
        entry = entry_row(newest)
        tenant.events, tenant.last_arrival = 1, entry.arrival
        tenant.follows_arrival = isinstance(entry.value, Event) and entry.value.time is None
    tenant.withdrawn = {
        position
        for (position,) in connection.execute(
            "SELECT position FROM log WHERE kind = 0 AND withdrawn = 1 AND tenant = ?", (tenant.number,)
        )
    }


def _read_queues(connection: sqlite3.Connection, tenant: Tenant) -> None:
    """Fill the queues with what was stored for their subscribers and not acknowledged."""
    waiting = tenant.by_number
    first = min((queue.acknowledged for queue in waiting.values()), default=tenant.stored_number)
    pending: dict[int, list[int]] = {number: [] for number in waiting}
    rows = connection.execute(
        "SELECT number, event, cause, checksum, recipients, matched, scores FROM deliveries "
        "WHERE tenant = ? AND number > ? ORDER BY number",
        (tenant.number, first),
    )
    for number, event, cause, check, recipients, matched, scores in rows:
        verify(tenant.number, number, event, cause, check, recipients, matched, scores)
        for subscriber in unpack(recipients):
            own = pending.get(subscriber)
            if own is not None:
                own.append(number)
    for number, numbers in pending.items():
        queue = waiting[number]
        queue.pending.update(numbers)
        if queue.acknowledged:
            queue.pending.remove_range(0, queue.acknowledged + 1)

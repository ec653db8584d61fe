"""The tables of tenants, subscribers, subscriptions and feedback."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from likewise.broker.log.checksums import GUARD, checksum, subscriber_checksum, subscriber_guard, tenant_checksum
from likewise.broker.log.entries import JudgeCommand
from likewise.broker.log.rows import (
    JUDGEMENT,
    SUBSCRIBER,
    SUBSCRIPTION,
    TENANT,
    SubscriberRow,
    SubscriptionRow,
    TenantRow,
    judgement_row,
    subscriber_row,
    subscription_row,
    tenant_row,
)
from likewise.broker.log.tables import StoreTables

# -- tenants ---------------------------------------------------------------------------------------


def add_tenant(tables: StoreTables, name: str) -> int:
    """Keep a new tenant; its number."""
    number = tables.add("INSERT INTO tenants (name) VALUES (?)", name)
    tables.change("UPDATE tenants SET checksum = ? WHERE number = ?", tenant_checksum(number, name, None), number)
    return number


def read_tenants(tables: StoreTables) -> list[TenantRow]:
    """Return every tenant."""
    return [tenant_row(row) for row in tables.rows(f"SELECT {TENANT} FROM tenants ORDER BY number")]


def replay_windows_from(tables: StoreTables, number: int, name: str, start: int | None) -> None:
    """Write down from where a tenant's windows are replayed."""
    check = tenant_checksum(number, name, start)
    tables.change("UPDATE tenants SET windows_from = ?, checksum = ? WHERE number = ?", start, check, number)


def number_deliveries(tables: StoreTables, tenant: int, last: int) -> None:
    """Write down the number of a tenant's last delivery."""
    tables.change("UPDATE tenants SET last_delivery = ?1, guard = ~?1 WHERE number = ?2", last, tenant)


# -- subscribers -----------------------------------------------------------------------------------


def add_subscriber(tables: StoreTables, tenant: int, row: SubscriberRow) -> None:
    """Keep a new subscriber."""
    tables.change(
        "INSERT INTO subscribers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        row.number,
        tenant,
        row.id,
        row.policy,
        row.limit,
        row.acknowledged,
        row.dropped,
        subscriber_guard(row.acknowledged, row.dropped),
        subscriber_checksum(row.number, tenant, row.id, row.policy, row.limit),
    )


def change_queue(tables: StoreTables, tenant: int, row: SubscriberRow) -> None:
    """Keep another policy and limit of a subscriber's queue."""
    check = subscriber_checksum(row.number, tenant, row.id, row.policy, row.limit)
    sql = "UPDATE subscribers SET policy = ?, queue_limit = ?, checksum = ? WHERE number = ?"
    tables.change(sql, row.policy, row.limit, check, row.number)


def remove_subscriber(tables: StoreTables, number: int) -> None:
    """Forget a subscriber."""
    tables.change("DELETE FROM subscribers WHERE number = ?", number)


def settle_deliveries(tables: StoreTables, settled: Iterable[tuple[int, int, int]]) -> None:
    """Advance subscribers' cursors, given as (position, dropped, subscriber)."""
    sql = (
        f"UPDATE subscribers SET acknowledged = max(acknowledged, ?1), guard = {GUARD}, dropped = dropped + ?2 "
        "WHERE number = ?3"
    )
    tables.change_all(sql, settled)


def read_subscribers(tables: StoreTables, tenant: int) -> list[SubscriberRow]:
    """Return the subscribers of a tenant."""
    return [
        subscriber_row(row) for row in tables.each(f"SELECT {SUBSCRIBER} FROM subscribers WHERE tenant = ?", tenant)
    ]


# -- subscriptions ---------------------------------------------------------------------------------


def add_subscription(tables: StoreTables, tenant: int, row: SubscriptionRow) -> None:
    """Keep a new subscription."""
    body = msgspec.json.encode(row.subscription)
    tables.change(
        "INSERT INTO subscriptions VALUES (?, ?, ?, ?, ?, NULL, ?, ?)",
        row.number,
        tenant,
        row.subscriber,
        row.id,
        row.added,
        checksum(body, row.number, tenant, row.subscriber, row.added),
        body,
    )


def end_subscription(tables: StoreTables, number: int, position: int) -> None:
    """Write down that a subscription ended at a position."""
    sql = "UPDATE subscriptions SET ended = ?1, checksum = checksum - coalesce(ended + 1, 0) + ?1 + 1 WHERE number = ?2"
    tables.change(sql, position, number)


def remove_subscriptions(tables: StoreTables, numbers: Iterable[int]) -> None:
    """Forget subscriptions that ended."""
    tables.change_all("DELETE FROM subscriptions WHERE number = ?", [(number,) for number in numbers])


def read_subscriptions(tables: StoreTables, tenant: int) -> list[SubscriptionRow]:
    """Return the subscriptions of a tenant, ended ones included, in the order of addition."""
    rows = tables.each(f"SELECT {SUBSCRIPTION} FROM subscriptions WHERE tenant = ? ORDER BY number", tenant)
    return [subscription_row(row) for row in rows]


def subscriptions_between(tables: StoreTables, tenant: int, after: int, until: int) -> list[SubscriptionRow]:
    """Return the subscriptions of a tenant with numbers in a range, ended ones included."""
    sql = f"SELECT {SUBSCRIPTION} FROM subscriptions WHERE tenant = ? AND number > ? AND number <= ? ORDER BY number"
    rows = tables.each(sql, tenant, after, until)
    return [subscription_row(row) for row in rows]


def live_subscriptions(tables: StoreTables, tenant: int) -> list[int]:
    """Return the numbers of a tenant's active subscriptions, ascending."""
    rows = tables.rows("SELECT number FROM subscriptions WHERE tenant = ? AND ended IS NULL ORDER BY number", tenant)
    return [number for (number,) in rows]


# -- feedback --------------------------------------------------------------------------------------


def add_judgement(tables: StoreTables, tenant: int, position: int, body: bytes) -> None:
    """Keep feedback."""
    check = checksum(body, position, tenant)
    tables.change("INSERT INTO judgements VALUES (?, ?, ?, ?)", position, tenant, check, body)


def count_judgements(tables: StoreTables, tenant: int) -> int:
    """Count a tenant's feedback."""
    return int(tables.one("SELECT count(*) FROM judgements WHERE tenant = ?", tenant)[0])


def remove_judgements(tables: StoreTables, positions: Iterable[int]) -> None:
    """Forget feedback."""
    tables.change_all("DELETE FROM judgements WHERE position = ?", [(position,) for position in positions])


def read_judgements(tables: StoreTables, tenant: int) -> list[tuple[int, JudgeCommand]]:
    """Return the feedback of a tenant with its positions, in order."""
    rows = tables.rows(f"SELECT {JUDGEMENT} FROM judgements WHERE tenant = ? ORDER BY position", tenant)
    return [judgement_row(row) for row in rows]

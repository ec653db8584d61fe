"""Looking after a broker: its figures; and its store, whose care is listed here for whoever administers it."""

from __future__ import annotations

from likewise.broker.broker import Broker
from likewise.broker.store.care import backup, compact, count_rows, size_of, verify_store
from likewise.broker.store.migrations import Migrated, migrate
from likewise.formats.wire.operations import Stats

__all__ = ["Migrated", "Stats", "backup", "compact", "migrate", "stats", "verify_store"]


def stats(broker: Broker, tenant: str) -> Stats:
    """What a tenant has in a broker."""
    mine = broker.tenant(tenant)
    queues = list(mine.subscribers.values())
    with broker.store.reading() as tables:
        return Stats(
            count_rows(tables, "log", mine.number, events=True), broker.store.position, broker.worker.position,
            count_rows(tables, "deliveries", mine.number), sum(map(len, queues)), len(queues),
            sum(len(q.subscriptions) for q in queues), count_rows(tables, "dead_letters", mine.number),
            sum(q.dropped for q in queues), size_of(tables),
        )  # fmt: skip

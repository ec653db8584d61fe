"""Statistics of a running broker, and verification of its store, for administrators."""

from __future__ import annotations

from pathlib import Path

from likewise.api.operations import TenantStats
from likewise.broker.broker import Broker
from likewise.broker.log.integrity import compact, count_rows, events_size, reading_store, verify_tables
from likewise.broker.log.migrations import Migrated, migrate
from likewise.broker.maintenance.backups import backup, keep_copying
from likewise.broker.maintenance.window_snapshots import verify_windows

__all__ = ["Migrated", "TenantStats", "backup", "compact", "keep_copying", "migrate", "stats", "verify_store"]


def verify_store(data: Path) -> dict[str, int]:
    """Check the structure, every row of every table and every saved window; how many of each there are."""
    counts = verify_tables(data)
    with reading_store(data) as tables:
        return counts | {"windows": verify_windows(tables, data)}


def stats(broker: Broker, tenant: str) -> TenantStats:
    """Return a tenant's statistics: its numbers of subscribers, subscriptions, events and deliveries."""
    mine = broker.tenant(tenant)
    queues = list(mine.subscribers.values())
    with broker.store.reading() as tables:
        events = count_rows(tables, "log", mine.number, events=True)
        return TenantStats(
            events,
            mine.appended,
            min(mine.matched, mine.appended),
            count_rows(tables, "deliveries", mine.number),
            sum(map(len, queues)),
            len(queues),
            sum(len(q.subscriptions) for q in queues),
            count_rows(tables, "dead_letters", mine.number),
            sum(q.dropped for q in queues),
            events_size(tables, mine.number, events),
            broker.metrics.refusals(tenant),
            broker.engines,
        )

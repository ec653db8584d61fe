"""Parts of the lake's tables: Parquet files by tenant and day, under the same name whenever a batch is repeated.

events/tenant=plant/day=2024-05-01/<query>-<batch>-<task>.parquet   EventBatch's schema
matches/tenant=plant/day=2024-05-01/<query>-<batch>-<task>.parquet  one row an event that met something
subscriptions/<query>-<batch>-<task>.parquet                        what the numbers stand for
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.formats.arrow.schema import batch_schema
from likewise.lake.held_set import LoggedSubscription
from likewise.lake.once import beside

if TYPE_CHECKING:
    import pyarrow as pa

MATCHES: Final = "matches"
EVENTS: Final = "events"
SUBSCRIPTIONS: Final = "subscriptions"
TABLES: Final = (MATCHES, EVENTS, SUBSCRIPTIONS)
DAY: Final = 86_400_000_000  # µs
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of a table: its path below the lake's folder, its rows and bytes, and whose and which day's it is."""

    table: str
    path: str
    rows: int
    bytes: int
    tenant: str = ""
    day: str = ""


def lake_schema(table: str) -> pa.Schema:
    """The schema of a table's files; `tenant` and `day` stand in their paths.

    >>> lake_schema("matches").names
    ['query', 'batch', 'inlet', 'partition', 'offset', 'event_id', 'source', 'time', 'subscriptions', 'scores']
    """
    import pyarrow as pa

    text, moment = pa.string(), pa.timestamp("us", tz="UTC")
    if table == EVENTS:
        return batch_schema().remove_metadata()
    if table == SUBSCRIPTIONS:
        told: dict[str, pa.DataType] = {"number": pa.int64(), "id": text, "kind": text, "text": text}
        return pa.schema(told | {"version": pa.int64()})
    found: dict[str, pa.DataType] = {
        "query": text,
        "batch": pa.int64(),
        "inlet": text,
        "partition": pa.int32(),
        "offset": pa.int64(),
        "event_id": text,
        "source": text,
        "time": moment,
        "subscriptions": pa.list_(pa.int64()),
        "scores": pa.list_(pa.float32()),
    }
    return pa.schema(found)


def day_text(day: int) -> str:
    """A day, counted from 1970, as it stands in paths; beyond the calendar the nearest day in it.

    >>> day_text(0), day_text(19844), day_text(-(10**9))
    ('1970-01-01', '2024-05-01', '0001-01-01')
    """
    try:
        return f"{_EPOCH + timedelta(days=day):%Y-%m-%d}".rjust(10, "0")
    except OverflowError:
        return "0001-01-01" if day < 0 else "9999-12-31"


def part_path(table: str, name: str, tenant: str = "", day: str = "") -> str:
    """Where a part lies below the lake's folder."""
    return f"{table}/tenant={tenant}/day={day}/{name}.parquet" if day else f"{table}/{name}.parquet"


def write_part(folder: Path, table: str, rows: pa.Table, name: str, tenant: str = "", day: str = "") -> Part:
    """Write a part, whole, in place of one with the same name."""
    from pyarrow import parquet

    place = part_path(table, name, tenant, day)
    path = folder / place
    with beside(path) as temporary:
        parquet.write_table(rows, temporary, compression="zstd")
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        size = temporary.stat().st_size
        temporary.replace(path)
    return Part(table, place, rows.num_rows, size, tenant, day)


def subscription_rows(subscriptions: Iterable[LoggedSubscription], version: int) -> pa.Table:
    """What numbers stand for, as rows of the table `subscriptions`."""
    import pyarrow as pa

    from likewise.language import subscription_text

    rows = [
        {"number": each.number, "id": each.subscription.id, "kind": each.subscription.kind,
         "text": subscription_text(each.subscription), "version": version}
        for each in subscriptions
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=lake_schema(SUBSCRIPTIONS))

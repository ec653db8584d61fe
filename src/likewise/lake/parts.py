"""Parts of the lake's tables: Parquet files by tenant and day, with the same name when a batch is repeated.

events/tenant=plant/day=2024-05-01/<query>-<batch>-<task>.parquet   EventBatch's schema
matches/tenant=plant/day=2024-05-01/<query>-<batch>-<task>.parquet  one row an event that met something
selected/tenant=plant/day=2024-05-01/<query>-<batch>-<task>.parquet what `select` names of a match, a row each
said/tenant=plant/day=2024-05-01/<query>-<batch>-<shard>.parquet    what rankings and alerts said, a row each
subscriptions/<query>-<batch>-<task>.parquet                        what the numbers stand for
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from likewise.formats.arrow.schema import batch_schema
from likewise.lake.atomic_create import temporary_path
from likewise.lake.storage import ObjectStorePath, StoragePath
from likewise.lake.subscription_snapshot import LoggedSubscription

if TYPE_CHECKING:
    import pyarrow as pa

MATCHES: Final = "matches"
EVENTS: Final = "events"
NOTIFICATIONS: Final = "said"
SELECTED: Final = "selected"
SUBSCRIPTIONS: Final = "subscriptions"
TABLES: Final = (MATCHES, EVENTS, SELECTED, NOTIFICATIONS, SUBSCRIPTIONS)
BY_DAY: Final = (MATCHES, EVENTS, SELECTED, NOTIFICATIONS)
DAY: Final = 86_400_000_000  # µs
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class LakePart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of a table: its path below the lake's folder, rows and bytes, tenant and day."""

    table: str
    path: str
    rows: int
    bytes: int
    tenant: str = ""
    day: str = ""


def lake_schema(table: str) -> pa.Schema:
    """Return the schema of a table's files; `tenant` and `day` are in their paths.

    >>> lake_schema("matches").names
    ['query', 'batch', 'inlet', 'partition', 'offset', 'event_id', 'source', 'time', 'subscriptions', 'scores']
    """
    import pyarrow as pa

    text, moment = pa.string(), pa.timestamp("us", tz="UTC")
    if table == EVENTS:
        return batch_schema().remove_metadata()
    if table == SUBSCRIPTIONS:
        subscriptions: dict[str, pa.DataType] = {"number": pa.int64(), "id": text, "kind": text, "text": text}
        return pa.schema(subscriptions | {"version": pa.int64()})
    batch: dict[str, pa.DataType] = {"query": text, "batch": pa.int64()}
    if table == NOTIFICATIONS:
        whose: dict[str, pa.DataType] = {"shard": text, "place": pa.int64(), "subscription": pa.int64(), "cause": text}
        about: dict[str, pa.DataType] = {"event_id": text, "score": pa.float32(), "rank_value": pa.float64()}
        spoken: dict[str, pa.DataType] = {"key": pa.list_(text), "moment": moment, "since": moment}
        return pa.schema(batch | whose | about | spoken | {"suppressed": pa.int64(), "digest": text})
    columns: dict[str, pa.DataType] = batch | {
        "inlet": text,
        "partition": pa.int32(),
        "offset": pa.int64(),
        "event_id": text,
        "source": text,
        "time": moment,
    }
    if table == SELECTED:  # values, notes and units by the names that `select` gives, each a JSON object
        one: dict[str, pa.DataType] = {"subscription": pa.int64(), "score": pa.float32()}
        return pa.schema(columns | one | {"selected": text, "notes": text, "units": text})
    matches: dict[str, pa.DataType] = {
        "subscriptions": pa.list_(pa.int64()),
        "scores": pa.list_(pa.float32()),
    }
    return pa.schema(columns | matches)


def day_text(day: int) -> str:
    """Return the text of a day, counted from 1970, in paths; beyond the calendar the nearest day in it.

    >>> day_text(0), day_text(19844), day_text(-(10**9))
    ('1970-01-01', '2024-05-01', '0001-01-01')
    """
    try:
        return f"{_EPOCH + timedelta(days=day):%Y-%m-%d}".rjust(10, "0")
    except OverflowError:
        return "0001-01-01" if day < 0 else "9999-12-31"


def part_path(table: str, name: str, tenant: str = "", day: str = "") -> str:
    """Return the path of a part below the lake's folder."""
    owner = quote(tenant, safe=" @+,")  # what is no letter or digit is written as readers of such paths expect it
    return f"{table}/tenant={owner}/day={day}/{name}.parquet" if day else f"{table}/{name}.parquet"


def _written_as(table: str) -> dict[str, Any]:
    """Return the Parquet options of a table: the numbers of `matches` ascend within an event.

    Half the CPU of what Parquet does by itself where an event meets a hundred subscriptions, in fewer bytes.
    """
    if table != MATCHES:
        return {"compression": "zstd"}
    return {
        "compression": "zstd",
        "use_dictionary": ["query", "batch", "inlet", "partition", "source"],
        "column_encoding": {"subscriptions.list.element": "DELTA_BINARY_PACKED"},
        "write_statistics": ["batch", "partition", "offset", "event_id", "time"],
    }


def write_part(folder: StoragePath, table: str, rows: pa.Table, name: str, tenant: str = "", day: str = "") -> LakePart:
    """Write a part, whole, in place of one with the same name."""
    from pyarrow import parquet

    place = part_path(table, name, tenant, day)
    path = folder / place
    if isinstance(path, ObjectStorePath):
        import pyarrow as pa

        written = pa.BufferOutputStream()
        parquet.write_table(rows, written, **_written_as(table))
        data = written.getvalue().to_pybytes()
        path.put(data)
        return LakePart(table, place, rows.num_rows, len(data), tenant, day)
    with temporary_path(path) as temporary:
        parquet.write_table(rows, temporary, **_written_as(table))
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        size = temporary.stat().st_size
        temporary.replace(path)
    return LakePart(table, place, rows.num_rows, size, tenant, day)


def read_part(folder: StoragePath, part: LakePart) -> pa.Table:
    """Read the rows of a part."""
    import pyarrow as pa
    from pyarrow import parquet

    path = folder / part.path
    where = pa.BufferReader(path.read_bytes()) if isinstance(path, ObjectStorePath) else path
    return parquet.read_table(where, partitioning=None)


def subscription_rows(subscriptions: Iterable[LoggedSubscription], version: int) -> pa.Table:
    """Return subscriptions as rows of the table `subscriptions`."""
    import pyarrow as pa

    from likewise.language import subscription_text

    rows = [
        {
            "number": each.number,
            "id": each.subscription.id,
            "kind": each.subscription.kind,
            "text": subscription_text(each.subscription),
            "version": version,
        }
        for each in subscriptions
    ]
    return pa.Table.from_pylist(rows, schema=lake_schema(SUBSCRIPTIONS))

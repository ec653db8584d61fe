"""A backtest of many stored events on Spark: how long it takes, and what an event costs.

    python -m benchmarks.backtest --events 10000000 --folder build/backtest --json
    likewise bench backtest -- --events 1000000 --subscriptions 1000

Events of six numbers like W2's (`benchmarks.matcher`) are written as Parquet in EventBatch's schema, 250,000 a file,
unless the folder has them already; conditions like W2's, of which some differ between two versions. 20,000 events are
matched by a `Matcher` too, and must have as many matches as a backtest of them alone says.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.matcher import ATTRIBUTES, conditions
from likewise.formats.arrow.columns import NO_TIME, NUMBER, EventColumns
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.arrow.schema import REST, batch_schema
from likewise.lake.change_log import ChangeLog
from likewise.matching.matcher import Matcher
from likewise.spark.session import spark_session
from likewise.spark.streaming.backtest import backtest

A_FILE, A_GROUP, CHECKED = 250_000, 50_000, 20_000
CHANGED = 100  # subscriptions that the second version has otherwise


def events(first: int, count: int) -> EventBatch:
    """Some events, the same for the same places."""
    width, size = len(ATTRIBUTES), count * len(ATTRIBUTES)
    none, zero = np.full(size, -1, np.int32), np.zeros(size, np.int64)
    columns = EventColumns(
        np.arange(0, size + 1, width),
        np.tile(np.arange(width, dtype=np.int32), count),
        list(ATTRIBUTES),
        np.full(size, NUMBER, np.int8),
        np.random.default_rng([25, first]).uniform(0, 100, size),
        zero,
        none,
        [],
        np.full(size, NO_TIME),
        none,
        [],
        zero.astype(np.int32),
        np.arange(first, first + count) * 1_000,
        np.full(count, NO_TIME),
    )
    ids = pa.array(np.arange(first, first + count)).cast(pa.string())
    sources = pa.array(np.arange(first, first + count) % 1_000).cast(pa.string())
    schema = pa.schema([batch_schema().field(name) for name in REST])
    empty = [pa.array([[]] * count if pa.types.is_list(field.type) else [None] * count, field.type) for field in schema]
    given = {"id": ids, "source": sources}
    arrays = [given.get(field.name, nothing) for field, nothing in zip(schema, empty, strict=True)]
    return EventBatch(None, columns, pa.RecordBatch.from_arrays(arrays, schema=schema))


def prepare(folder: Path, count: int) -> Path:
    """The files of so many events."""
    place = folder / f"events-{count}"
    place.mkdir(parents=True, exist_ok=True)
    for first in range(0, count, A_FILE):
        path = place / f"{first // A_FILE:05}.parquet"
        if not path.exists():
            rows = events(first, min(A_FILE, count - first)).to_arrow(dictionary=False).replace_schema_metadata(None)
            table = pa.Table.from_batches([rows])
            pq.write_table(table, path.with_suffix(".part"), compression="zstd", row_group_size=A_GROUP)
            path.with_suffix(".part").rename(path)
    return place


def run(count: int, subscriptions: int, folder: Path, master: str) -> dict[str, Any]:
    """The figures."""
    load = os.getloadavg()[0]
    place = prepare(folder, count)
    size = sum(path.stat().st_size for path in place.iterdir())
    with tempfile.TemporaryDirectory(dir=folder) as made, spark_session(master) as spark:
        work = Path(made)
        log = ChangeLog(work / "log")
        wanted = conditions(subscriptions, 2)
        log.add(wanted, at=0)
        log.add(conditions(min(CHANGED, subscriptions), 7), at=0)  # under the ids of the first
        few = prepare(folder, CHECKED)
        matcher = Matcher()
        matcher.add_many([each.subscription for each in log.snapshot().subscriptions.values()])
        expected = len(matcher.match_batch(events(0, CHECKED)).event_index)
        warm = backtest(spark, few, log, work / "few")
        if warm.matches != expected:
            raise SystemExit(f"a backtest finds {warm.matches} matches, a Matcher {expected}")
        began = time.perf_counter()
        found = backtest(spark, place, log, work / "found", against=1)
        seconds = time.perf_counter() - began
    return {
        "events": found.events,
        "subscriptions": subscriptions,
        "seconds": round(seconds, 1),
        "events_a_second": round(found.events / seconds),
        "matches_an_event": round(found.matches / found.events, 1),
        "gained": found.gained,
        "lost": found.lost,
        "bytes_an_event": round(size / count, 1),
        "load": [round(load, 1), round(os.getloadavg()[0], 1)],
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {master}, Python {platform.python_version()}",
    }


def main() -> int:
    """Print how long it takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--subscriptions", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, default=Path("build/backtest"))
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", action="store_true")
    said = parser.parse_args()
    found = run(said.events, said.subscriptions, said.folder.absolute(), said.master)
    if said.json:
        print(json.dumps(found))
        return 0
    for name, value in found.items():
        print(f"{name:18} {value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

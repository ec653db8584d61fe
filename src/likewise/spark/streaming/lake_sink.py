"""Write the rows of a micro-batch to a lake in Spark's tasks: no row goes back to the JVM.

Files are named by query, batch and task, so that a batch that is repeated before it was committed replaces its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from likewise.errors import InputError
from likewise.formats.arrow.columns import NO_TIME
from likewise.lake.parts import DAY, NOTIFICATIONS, LakePart, day_text, lake_schema, write_part
from likewise.lake.storage import storage_path, use_store_settings
from likewise.spark.streaming.batch_pins import MicroBatch
from likewise.spark.streaming.checkpoint import BatchCounts
from likewise.spark.streaming.dataframes import FrameTask, read_rows, row_times, serve
from likewise.spark.streaming.sources.ranges import Records, TopicRange
from likewise.spark.streaming.task import MatchTask, MatchTaskResult, run_task
from likewise.spark.streaming.tasks import rebuild_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT: Final = ("matches", "wanted", "all")
_NOWHERE: Final = TopicRange("", 0, 0, 0)


class LakeTask(msgspec.Struct, frozen=True):
    """Settings of a worker: which batch of which query it writes where, and how rows are read and matched."""

    query: str
    batch: int
    folder: str
    tenant: str
    frame: FrameTask = FrameTask("", "", 0)
    keep: str = "matches"
    bad: str = ""
    objects: dict[str, str] = {}


def write_matches(rows: Iterator[pa.RecordBatch], task: LakeTask) -> Iterator[pa.RecordBatch]:
    """Match the events of rows and write what is found; yield what was written, as JSON."""
    frame = task.frame
    use_store_settings(task.objects)
    served = serve(frame, frame.at, MicroBatch(task.query, task.batch))
    order = MatchTask(
        task.query,
        task.batch,
        _partition(),
        _NOWHERE,
        "",
        served.at,
        task.keep,
        task.tenant,
        task.folder,
        task.bad,
        selecting=served.selecting,
    )
    done = run_task(order, _records(rows, frame, served.at), served.matcher)
    if done.code:
        raise rebuild_error(done.error, done.code)
    yield _answer(done)


def write_notifications(rows: Iterator[pa.RecordBatch], task: LakeTask) -> Iterator[pa.RecordBatch]:
    """Write rows of `likewise.spark.alerts` to the lake's table `said`; yield what was written, as JSON."""
    use_store_settings(task.objects)
    schema = lake_schema(NOTIFICATIONS)
    by_day: dict[int, list[pa.RecordBatch]] = {}
    said = 0
    for came in rows:
        batch = pa.RecordBatch.from_arrays(list(came.columns), names=list(task.frame.columns))
        size = batch.num_rows
        named: dict[str, Any] = {name: batch.column(name) for name in batch.schema.names}
        named |= {"query": pa.array([task.query] * size), "batch": pa.array([task.batch] * size, pa.int64())}
        named["shard"] = named["bucket"]
        made = pa.RecordBatch.from_arrays([named[field.name].cast(field.type) for field in schema], schema=schema)
        moments: Any = made.column("moment").cast(pa.int64())
        days: NDArray[np.int64] = moments.to_numpy() // DAY
        for day in np.unique(days).tolist():
            by_day.setdefault(day, []).append(made.take(np.flatnonzero(days == day)))
        said += size
    name = f"{task.query}-{task.batch:010d}-{_partition():05d}"
    parts: list[LakePart] = []
    for day, several in sorted(by_day.items()):
        table = pa.Table.from_batches(several, schema)
        parts.append(write_part(storage_path(task.folder), NOTIFICATIONS, table, name, task.tenant, day_text(day)))
    yield _answer(MatchTaskResult(tuple(parts), BatchCounts(said=said)))


def _answer(done: MatchTaskResult) -> pa.RecordBatch:
    found: list[Any] = [pa.array([msgspec.json.encode(done)], pa.binary())]
    return pa.RecordBatch.from_arrays(found, names=["done"])


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        raise InputError("rows are written by a task of Spark")
    return context.partitionId()


def _records(rows: Iterator[pa.RecordBatch], frame: FrameTask, at: int) -> Iterator[Records]:
    """Return the events of rows with where each stood: by Kafka's coordinates if there are any, else by row."""
    first = 0
    for came in rows:
        batch = pa.RecordBatch.from_arrays(list(came.columns), names=list(frame.columns))
        names = set(batch.schema.names)
        if {"topic", "partition", "offset"} <= names:
            for topic, partition, places in _coordinates(batch):
                some = batch.take(places)
                offsets: Any = some.column("offset").cast(pa.int64())
                yield _record(some, frame, at, topic, partition, offsets.to_numpy())
        elif batch.num_rows:
            yield _record(batch, frame, at, "", _partition(), np.arange(first, first + batch.num_rows))
        first += batch.num_rows


def _coordinates(batch: pa.RecordBatch) -> list[tuple[str, int, Any]]:
    """Return the topics and partitions of rows, and the places of the rows of each."""
    topics, partitions = (batch.column(name).to_pylist() for name in ("topic", "partition"))
    places: dict[Any, list[int]] = {}
    for place, pair in enumerate(zip(topics, partitions, strict=True)):
        places.setdefault(pair, []).append(place)
    return [(topic, partition, np.array(places[topic, partition])) for topic, partition in sorted(places)]


def _record(
    batch: pa.RecordBatch, frame: FrameTask, at: int, inlet: str, partition: int, offsets: NDArray[np.int64]
) -> Records:
    given = row_times(batch, frame.time)
    read = read_rows(batch, frame, at, given)
    times = np.full(batch.num_rows, NO_TIME, np.int64) if given is None else given
    payloads: list[bytes | None] = []
    if read.bad and frame.payload in batch.schema.names and not pa.types.is_struct(batch[frame.payload].type):
        column: Any = batch.column(frame.payload).cast(pa.binary())
        payloads = column.to_pylist()
    return Records(inlet, partition, offsets, times, read, payloads)

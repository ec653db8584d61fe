"""The events of a DataFrame's rows with where each stood, whether rows hold payloads or say what a task is to read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from likewise.formats.arrow.columns import NO_TIME
from likewise.lake.storage import storage_path
from likewise.spark.streaming.dataframes import FrameTask, read_rows, row_times
from likewise.spark.streaming.sources.ranges import Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

COORDINATES = ("topic", "partition", "offset")  # columns of Spark's connector to Kafka


def records_of(batch: pa.RecordBatch, frame: FrameTask, at: int, first: int) -> Iterator[Records]:
    """Yield the events of rows: of their ranges, or by Kafka's coordinates if there are any, else by task and row.

    Args:
        batch: rows, with the names of their columns.
        frame: how they are read.
        at: moment of events without a time.
        first: how many rows the task had before.
    """
    if frame.ranges is not None:
        yield from _read_ranges(batch, frame, at)
    elif set(COORDINATES) <= set(batch.schema.names):
        for topic, partition, places in _by_partition(batch):
            some = batch.take(places)
            offsets: Any = some.column("offset").cast(pa.int64())
            yield _record(some, frame, at, topic, partition, offsets.to_numpy())
    elif batch.num_rows:
        yield _record(batch, frame, at, "", partition_id(), np.arange(first, first + batch.num_rows))


def partition_id() -> int:
    """Return the number of the task that is running; 0 outside Spark."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _read_ranges(batch: pa.RecordBatch, frame: FrameTask, at: int) -> Iterator[Records]:
    source = frame.ranges
    assert source is not None
    if source.folder:
        from likewise.spark.streaming.sources import files

        skipped = _names(source.skip) if source.skip else frozenset()
        for file in files.ranges_of(batch):
            if file.path.removeprefix(f"{source.folder}/") not in skipped:
                yield from files.read_file(file, source.folder, frame.form, at)
        return
    from likewise.spark.streaming.sources import kafka

    for topic in kafka.ranges_of(batch):
        yield from kafka.read_topic(topic, source.kafka, frame.form, at)


@lru_cache(maxsize=4)
def _names(path: str) -> frozenset[str]:
    return frozenset(msgspec.json.decode(storage_path(path).read_bytes(), type=list[str]))


def _by_partition(batch: pa.RecordBatch) -> list[tuple[str, int, Any]]:
    """Return the topics and partitions of rows, and the places of the rows of each."""
    topics, partitions = (batch.column(name).to_pylist() for name in COORDINATES[:2])
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

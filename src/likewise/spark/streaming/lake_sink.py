"""Match the events of a micro-batch and write what is found in Spark's tasks: no row goes back to the JVM.

Files are named by query, batch and task, so that a batch that is repeated before it was committed replaces its own.
"""

from __future__ import annotations

import base64
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from likewise.formats.arrow.columns import NO_TIME
from likewise.lake.atomic_create import write_whole
from likewise.lake.parts import (
    DAY,
    EVENTS,
    MATCHES,
    NOTIFICATIONS,
    SELECTED,
    LakePart,
    day_text,
    lake_schema,
    write_part,
)
from likewise.lake.storage import storage_path, use_store_settings
from likewise.spark.streaming.batch_pins import MicroBatch
from likewise.spark.streaming.batch_report import BatchCounts
from likewise.spark.streaming.dataframes import FrameTask, Served, serve
from likewise.spark.streaming.matched_events import MatchedEvents, match_events
from likewise.spark.streaming.records import partition_id, records_of
from likewise.spark.streaming.sources.ranges import Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spark.streaming.state.fed_events import EventRouter

KEPT: Final = ("matches", "wanted", "all")
YOUNG: Final = 100_000  # new objects between two collections, about a chunk's; 700 would look at each again and again


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
    topic: str = ""  # to send what is found to, in place of the lake
    kafka: dict[str, str] = {}  # settings to send with
    buckets: int = 0  # if not 0, `wanted` counts what rankings and alerts ask for, too


class LakeTaskResult(msgspec.Struct, frozen=True):
    """What came of a task: the parts that it wrote, and counts."""

    parts: tuple[LakePart, ...] = ()
    counts: BatchCounts = BatchCounts()


class BadEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a file of bad events: where it stood, why it is none, and what it was."""

    inlet: str
    partition: int
    offset: int
    code: str
    reason: str
    payload: str | None = None
    base64: str | None = None  # of what is no text


@contextmanager
def _collected_seldom() -> Iterator[None]:
    """What is read of a chunk lives until it was matched: looking for garbage in it took a fifth of a task's CPU."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def write_matches(rows: Iterator[pa.RecordBatch], task: LakeTask) -> Iterator[pa.RecordBatch]:
    """Match the events of rows and write what is found; yield what was written, as JSON."""
    use_store_settings(task.objects)
    with _collected_seldom():
        served = serve(task.frame, task.frame.at, MicroBatch(task.query, task.batch))
        yield _answer(write_records(_all_records(rows, task.frame, served.at), task, served, _part_name(task)))


def write_records(came: Iterator[Records], task: LakeTask, served: Served, name: str) -> LakeTaskResult:
    """Match events and write what is found, in files of a name."""
    matches: dict[int, list[Any]] = {}
    events: dict[int, list[Any]] = {}
    selected: dict[int, list[Any]] = {}
    bad: list[BadEvent] = []
    counts = BatchCounts()
    router = _router(task, served.at) if task.buckets and task.keep == "wanted" else None
    for records in came:
        read = records.read
        times = records.times[read.places]
        stated = read.events.columns().time
        moments = np.where(stated != NO_TIME, stated, np.where(times != NO_TIME, times, served.at))
        found = match_events(served.matcher, read.events, moments, served.selecting)
        counts = counts.plus(BatchCounts(len(read.events), len(found.places), len(found.numbers), len(read.bad)))
        bad += _bad(records)
        days = moments // DAY
        met = _match_rows(task, records, found)
        if task.topic:
            met = met.append_column("selected", found.selected_lists())
        _collect(matches, days[found.places], met)
        if found.selected is not None:
            event, chosen = _selected_rows(met, found)
            _collect(selected, days[found.places[event]], chosen)
        if task.keep != "matches":
            places = np.arange(len(read.events)) if task.keep == "all" else found.places
            if router is not None:
                places = np.union1d(places, router.wanted(read.events, moments))
            kept = read.events.take(places).to_arrow(dictionary=False).replace_schema_metadata(None)
            _collect(events, days[places], kept)
    if task.topic:
        from likewise.spark.streaming.kafka_sink import send_matches

        send_matches((rows for _, several in sorted(matches.items()) for rows in several), task.topic, task.kafka)
        matches, selected = {}, {}
    parts: list[LakePart] = []
    for table, collected in ((MATCHES, matches), (EVENTS, events), (SELECTED, selected)):
        parts += _write_days(table, collected, task, name)
    if bad and task.bad:
        lines = b"".join(msgspec.json.encode(each) + b"\n" for each in bad)
        write_whole(storage_path(task.bad) / f"{name}.jsonl", lines)
    return LakeTaskResult(tuple(parts), counts)


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
        if task.topic:
            from likewise.spark.streaming.kafka_sink import send_notifications

            send_notifications(made, task.topic, task.kafka)
        else:
            moments: Any = made.column("moment").cast(pa.int64())
            _collect(by_day, moments.to_numpy() // DAY, made)
        said += size
    parts = tuple(_write_days(NOTIFICATIONS, by_day, task, _part_name(task)))
    yield _answer(LakeTaskResult(parts, BatchCounts(said=said)))


def _part_name(task: LakeTask) -> str:
    """Return what the files of the task that is running are called."""
    return f"{task.query}-{task.batch:010d}-{partition_id():05d}"


def _answer(done: LakeTaskResult) -> pa.RecordBatch:
    found: list[Any] = [pa.array([msgspec.json.encode(done)], pa.binary())]
    return pa.RecordBatch.from_arrays(found, names=["done"])


def _all_records(rows: Iterator[pa.RecordBatch], frame: FrameTask, at: int) -> Iterator[Records]:
    first = 0
    for came in rows:
        batch = pa.RecordBatch.from_arrays(list(came.columns), names=list(frame.columns))
        yield from records_of(batch, frame, at, first)
        first += came.num_rows


def _router(task: LakeTask, at: int) -> EventRouter | None:
    """Return what finds the events that rankings and alerts ask for; None if there are none."""
    from likewise.spark.streaming.state.bucketing import AlertTask, plan_batch
    from likewise.spark.streaming.state.fed_events import EventRouter

    planned = plan_batch(AlertTask(task.frame, task.buckets), at, MicroBatch(task.query, task.batch))
    return EventRouter(planned.plan, planned.matcher) if planned.plan.feeds else None


def _write_days(table: str, collected: dict[int, list[Any]], task: LakeTask, name: str) -> Iterator[LakePart]:
    """Write the rows of a table, a part for each day."""
    for day, rows in sorted(collected.items()):
        whole = pa.Table.from_batches(rows, lake_schema(table))
        yield write_part(storage_path(task.folder), table, whole, name, task.tenant, day_text(day))


def _match_rows(task: LakeTask, records: Records, found: MatchedEvents) -> pa.RecordBatch:
    """One row for each event that met something."""
    size = len(found.places)
    columns: list[Any] = [
        pa.repeat(pa.scalar(task.query, pa.string()), size),
        pa.repeat(pa.scalar(task.batch, pa.int64()), size),
        pa.repeat(pa.scalar(records.inlet, pa.string()), size),
        pa.repeat(pa.scalar(records.partition, pa.int32()), size),
        pa.array(records.offsets[records.read.places[found.places]], pa.int64()),
        *records.read.events.names(found.places),
        *found.lists(),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=lake_schema(MATCHES))


def _selected_rows(rows: pa.RecordBatch, found: MatchedEvents) -> tuple[NDArray[np.int64], pa.RecordBatch]:
    """One row for each match of which something is selected, and to which of the rows of matches it belongs."""
    assert found.selected is not None
    pairs = np.flatnonzero([text is not None for text in found.selected])
    event: NDArray[np.int64] = np.repeat(np.arange(len(found.places)), np.diff(found.offsets))[pairs]
    said = [msgspec.json.decode(text, type=dict[str, msgspec.Raw]) for text in found.selected[pairs]]
    schema = lake_schema(SELECTED)
    columns: list[Any] = [rows.column(name).take(event) for name in schema.names[:8]]
    columns += [pa.array(found.numbers[pairs], pa.int64()), pa.array(found.scores[pairs], pa.float32())]
    for name in ("values", "notes", "units"):
        columns.append(pa.array([bytes(each[name]).decode() if name in each else None for each in said], pa.string()))
    return event, pa.RecordBatch.from_arrays(columns, schema=schema)


def _collect(into: dict[int, list[Any]], days: Any, rows: pa.RecordBatch) -> None:
    """Put rows to those of their days."""
    present = np.unique(days).tolist()
    for day in present:
        of_day = rows if len(present) == 1 else rows.take(np.flatnonzero(days == day))
        into.setdefault(day, []).append(of_day)


def _bad(records: Records) -> Iterator[BadEvent]:
    for bad in records.read.bad:
        payload = records.payloads[bad.place] if records.payloads else None
        text, coded = None, None
        if payload is not None:
            try:
                text = payload.decode()
            except UnicodeDecodeError:
                coded = base64.b64encode(payload).decode()
        offset = int(records.offsets[bad.place])
        yield BadEvent(records.inlet, records.partition, offset, bad.code, bad.reason, text, coded)

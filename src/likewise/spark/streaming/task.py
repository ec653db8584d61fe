"""One task of a batch: read a range, match, write its parts, and say what came of it.

What a task writes has a name made of query, batch and task, so that the same task again, on another worker or after a
crash, puts equal rows in the same place.
"""

from __future__ import annotations

import base64
import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from likewise.errors import LikewiseError
from likewise.formats.arrow.columns import NO_TIME
from likewise.formats.arrow.event_batch import EventBatch
from likewise.lake.atomic_create import write_whole
from likewise.lake.parts import DAY, EVENTS, MATCHES, SELECTED, LakePart, day_text, lake_schema, write_part
from likewise.lake.storage import storage_path, use_store_settings
from likewise.spark.streaming.checkpoint import BatchCounts
from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
from likewise.spark.streaming.matched_events import MatchedEvents, match_events
from likewise.spark.streaming.matchers import open_matcher
from likewise.spark.streaming.payloads import AUTO
from likewise.spark.streaming.sources.files import read_file
from likewise.spark.streaming.sources.ranges import FileRange, Range, Records
from likewise.spark.streaming.state.fed_events import EventOrder, EventRouter, ShuffleFile, write_shuffle_files
from likewise.spark.streaming.state.shuffle import open_shuffle_plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher

YOUNG: Final = 100_000  # new objects between two collections, about a chunk's; 700 would look at each again and again


class MatchTask(msgspec.Struct, frozen=True):
    """What a task is told."""

    query: str
    batch: int
    task: int
    range: Range
    matcher: str
    at: int
    keep: str
    tenant: str
    folder: str = ""  # of the lake
    bad: str = ""  # folder for what is no event
    kafka: dict[str, str] = {}  # settings to read with
    topic: str = ""  # to send matches to, in place of the lake
    kafka_out: dict[str, str] = {}  # settings to send with
    form: PayloadFormat = AUTO  # of payloads
    objects: dict[str, str] = {}  # what the driver's environment says about object stores
    feeds: str = ""  # folder of what moves rankings and alerts, if there are any
    state: str = ""  # folder to leave events in for their shards
    selecting: frozenset[int] = frozenset()  # numbers of subscriptions with a `select`

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.query}-{self.batch:010d}-{self.task:05d}"


class MatchTaskResult(msgspec.Struct, frozen=True):
    """What came of a task: its parts and counts, or why it could not be done."""

    parts: tuple[LakePart, ...] = ()
    counts: BatchCounts = BatchCounts()
    fed: tuple[ShuffleFile, ...] = ()  # left for shards
    newest: int | None = None  # of the events' moments
    error: str = ""
    code: str = ""


class BadEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a file of bad events: where it stood, why it is none, and what it was."""

    inlet: str
    partition: int
    offset: int
    code: str
    reason: str
    payload: str | None = None
    base64: str | None = None  # of what is no text


def run_task(
    order: MatchTask, came: Iterator[Records] | None = None, matcher: Matcher | None = None
) -> MatchTaskResult:
    """Do what a task is told; an error comes back as words.

    Args:
        order: what to read, match and write.
        came: events that somebody else has read, in place of those of the order's range.
        matcher: what to match them with, in place of the order's.
    """
    use_store_settings(order.objects)
    try:
        with _collected_seldom():
            return _run(order, came, open_matcher(order.matcher) if matcher is None else matcher)
    except LikewiseError as error:
        return MatchTaskResult(error=str(error), code=error.code)


@contextmanager
def _collected_seldom() -> Iterator[None]:
    """What is read of a chunk lives until it was matched: looking for garbage in it took a fifth of a task's CPU."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _run(order: MatchTask, came: Iterator[Records] | None, matcher: Matcher) -> MatchTaskResult:
    matches: dict[int, list[Any]] = {}
    events: dict[int, list[Any]] = {}
    selected: dict[int, list[Any]] = {}
    bad: list[BadEvent] = []
    counts = BatchCounts()
    router = EventRouter(open_shuffle_plan(order.feeds), open_matcher(order.feeds)) if order.feeds else None
    newest: list[int] = []
    for records in read_range(order.range, order.kafka, order.form, order.at) if came is None else came:
        read = records.read
        times = records.times[read.places]
        stated = read.events.columns().time
        moments = np.where(stated != NO_TIME, stated, np.where(times != NO_TIME, times, order.at))
        found = match_events(matcher, read.events, moments, order.selecting)
        counts = counts.plus(BatchCounts(len(read.events), len(found.places), len(found.numbers), len(read.bad)))
        bad += _bad(records)
        days = moments // DAY
        newest += _newest(read.events, moments)
        asked_for = found.places
        if router is not None:
            asked_for = np.union1d(asked_for, router.feed(read.events, moments, EventOrder.of(records)))
        met = _match_rows(order, records, found)
        if order.topic:
            met = met.append_column("selected", found.selected_lists())
        _collect(matches, days[found.places], met)
        if found.selected is not None:
            event, chosen = _selected_rows(met, found)
            _collect(selected, days[found.places[event]], chosen)
        if order.keep != "matches":
            places = asked_for if order.keep == "wanted" else np.arange(len(read.events))
            kept = read.events.take(places).to_arrow(dictionary=False).replace_schema_metadata(None)
            _collect(events, days[places], kept)
    parts = []
    if order.topic:
        from likewise.spark.streaming.kafka_sink import send_matches

        send_matches((rows for _, several in sorted(matches.items()) for rows in several), order.topic, order.kafka_out)
        matches, selected = {}, {}
    for table, collected in ((MATCHES, matches), (EVENTS, events), (SELECTED, selected)):
        for day, rows in sorted(collected.items()):
            whole = pa.Table.from_batches(rows, lake_schema(table))
            parts.append(write_part(storage_path(order.folder), table, whole, order.name, order.tenant, day_text(day)))
    if bad and order.bad:
        lines = b"".join(msgspec.json.encode(each) + b"\n" for each in bad)
        write_whole(storage_path(order.bad) / f"{order.name}.jsonl", lines)
    fed = () if router is None else write_shuffle_files(router, Path(order.state), order.batch, order.task)
    return MatchTaskResult(tuple(parts), counts, fed, max(newest, default=None))


def _newest(events: EventBatch, moments: NDArray[np.int64]) -> list[int]:
    """The latest moment of events that are not past their validity by then, if there is any."""
    ends = events.columns().expires
    valid = moments[(ends == NO_TIME) | (ends > moments)]
    return [int(valid.max())] if len(valid) else []


def read_range(range: Range, kafka: Mapping[str, str], form: PayloadFormat = AUTO, at: int = 0) -> Iterator[Records]:
    """What a range holds, read as payloads of a form at a moment."""
    if isinstance(range, FileRange):
        return read_file(range, form, at)
    from likewise.spark.streaming.sources.kafka import read_topic

    return read_topic(range, kafka, form, at)


def _match_rows(order: MatchTask, records: Records, found: MatchedEvents) -> pa.RecordBatch:
    """One row for each event that met something."""
    size = len(found.places)
    columns: list[Any] = [
        pa.repeat(pa.scalar(order.query, pa.string()), size),
        pa.repeat(pa.scalar(order.batch, pa.int64()), size),
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

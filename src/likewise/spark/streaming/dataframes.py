"""What a worker does with the rows of a DataFrame: read their payloads, match, and give rows back.

Spark pickles what it runs by value; this is imported by the workers, so that what they keep stays with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pyarrow as pa

from likewise.formats.arrow.schema import FIELDS, batch_schema
from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
from likewise.spark.streaming.deserialisers.documents import headers_of
from likewise.spark.streaming.matched_events import MatchedEvents, match_events
from likewise.spark.streaming.matchers import MeaningChoice, make_matcher, open_matcher
from likewise.spark.streaming.payloads import (
    AUTO,
    DecodedBatch,
    PayloadContext,
    decode_payloads,
    decode_structs,
    decode_table,
)

KEPT: Final = ("matches", "wanted", "all")
_EVENT: Final = ("event_id", "event_source", "event_time")
_FOUND: Final = ("subscriptions", "scores", "selected")


class FrameTask(msgspec.Struct, frozen=True):
    """What workers are told: the matcher's folder, or the subscriptions themselves, and what to give back."""

    payload: str
    keep: str
    at: int
    folder: str = ""
    subscriptions: bytes = b""
    choice: MeaningChoice = MeaningChoice()
    form: PayloadFormat = AUTO
    selecting: frozenset[int] = frozenset()  # numbers of those with a `select`
    columns: tuple[str, ...] = ()  # what the columns are called, which come and go by `column_aliases`


def run(rows: Iterator[pa.RecordBatch], task: FrameTask) -> Iterator[pa.RecordBatch]:
    """The rows that `likewise.spark.match` promises, batch by batch."""
    matcher = open_matcher(task.folder) if task.folder else make_matcher(task.subscriptions, task.choice)
    for came in rows:
        batch = came.rename_columns(list(task.columns))
        read = _read(batch, task)
        found = match_events(matcher, read.events, task.at, task.selecting)
        if task.keep == "wanted":
            given = read.events.take(found.places).to_arrow(dictionary=False).replace_schema_metadata(None)
        elif task.keep == "all":
            given = _all(batch, read, found)
        else:
            given = _matches(batch, read, found, task.payload)
        yield given.rename_columns(column_aliases(given.num_columns))


def column_aliases(size: int) -> list[str]:
    """What so many columns are called on their way: names that Spark can look up, whatever the caller's are."""
    return [f"c{number}" for number in range(size)]


def _read(batch: pa.RecordBatch, task: FrameTask) -> DecodedBatch:
    payload = task.payload
    if payload not in batch.schema.names:
        names = [name for name in FIELDS if name in batch.schema.names]
        return decode_table(batch.select(names))
    column = batch.column(payload)
    if pa.types.is_struct(column.type):
        return decode_structs(column.to_pylist())
    return decode_payloads(column.to_pylist(), PayloadContext(task.form, _headers(batch), now=task.at))


def _headers(batch: pa.RecordBatch) -> list[dict[str, bytes] | None] | None:
    """The headers of messages, where Spark's own connector has brought them along."""
    if "headers" not in batch.schema.names or not pa.types.is_list(batch.schema.field("headers").type):
        return None
    rows = batch.column("headers").to_pylist()
    return [headers_of((each["key"], each["value"]) for each in row or ()) for row in rows]


def _matches(batch: pa.RecordBatch, read: DecodedBatch, found: MatchedEvents, payload: str) -> pa.RecordBatch:
    """The rows of events that met something: the other columns as they came, then what is known of the event."""
    rows = batch.take(read.places[found.places])
    kept = [n for n, name in enumerate(batch.schema.names) if name != payload]
    others = [batch.schema.names[n] for n in kept]
    columns: list[Any] = [rows.column(n) for n in kept]
    columns += [*read.events.names(found.places), *found.lists(), found.selected_lists()]
    return pa.RecordBatch.from_arrays(columns, names=[*others, *_EVENT, *_FOUND])


def _all(batch: pa.RecordBatch, read: DecodedBatch, found: MatchedEvents) -> pa.RecordBatch:
    """Every row as it came, with what it met, or why it is no event."""
    size = batch.num_rows
    whole = found.by_payload(read.places).of_all(size)
    reasons: list[str | None] = [None] * size
    for bad in read.bad:
        reasons[bad.place] = bad.reason
    columns: list[Any] = [*batch.columns, *whole.lists(), whole.selected_lists(), pa.array(reasons, pa.string())]
    return pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, *_FOUND, "error"])


def added_columns(keep: str) -> dict[str, pa.DataType]:
    """The columns that come after those of the DataFrame, and their types; for `wanted` all there are."""
    if keep == "wanted":
        return {field.name: field.type for field in batch_schema()}
    found: dict[str, pa.DataType] = {"subscriptions": pa.list_(pa.int64()), "scores": pa.list_(pa.float32())}
    found["selected"] = pa.list_(pa.string())
    if keep == "all":
        return found | {"error": pa.string()}
    kinds: list[pa.DataType] = [pa.string(), pa.string(), pa.timestamp("us", tz="UTC")]
    return dict(zip(_EVENT, kinds, strict=True)) | found

"""Match the rows of a DataFrame in a worker: decode their payloads, match the events, and return rows.

Spark pickles what it runs by value; this is imported by the workers, so that matchers stay open in them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import ArtefactMissing, FormatError
from likewise.formats.arrow.columns import NO_TIME
from likewise.formats.arrow.schema import FIELDS, batch_schema
from likewise.lake.change_log import MATCHERS
from likewise.lake.storage import storage_path, use_store_settings
from likewise.lake.subscription_snapshot import SubscriptionSnapshot
from likewise.spark.streaming.batch_pins import (
    BatchPin,
    MicroBatch,
    current_micro_batch,
    followed_log,
    pin_batch,
    pinned_snapshot,
)
from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
from likewise.spark.streaming.deserialisers.documents import headers_of
from likewise.spark.streaming.matched_events import MatchedEvents, match_events
from likewise.spark.streaming.matchers import (
    STATEFUL,
    MeaningChoice,
    active_at,
    make_matcher,
    numbers_with_select,
    open_matcher,
    refuse_stateful,
    save_matcher,
)
from likewise.spark.streaming.payloads import (
    AUTO,
    DecodedBatch,
    PayloadContext,
    decode_payloads,
    decode_structs,
    decode_table,
    source_of,
)
from likewise.spark.streaming.sources.ranges import RangeSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher

KEPT: Final = ("matches", "wanted", "all")
MODES: Final = ("drop", "fail", "column")
_EVENT: Final = ("event_id", "event_source", "event_time")
_MATCHES: Final = ("subscriptions", "scores", "selected")
_MATCH: Final = ("subscription", "score", "selected")
_PROPOSALS: Final = 8  # pins that a worker proposed last, one for each query and choice
_proposed: OrderedDict[tuple[str, str, str], tuple[BatchPin, int | None]] = OrderedDict()


class FrameTask(msgspec.Struct, frozen=True):
    """Settings of a worker: the subscriptions, or where they are, how to read rows, and which rows to return."""

    payload: str
    keep: str
    at: int
    folder: str = ""
    subscriptions: bytes = b""
    choice: MeaningChoice = MeaningChoice()
    form: PayloadFormat = AUTO
    selecting: frozenset[int] = frozenset()  # numbers of those with a `select`
    columns: tuple[str, ...] = ()  # names of the columns, which come and go by `column_aliases`
    log: str = ""  # change log that a stream follows
    skip_stateful: bool = False
    time: str = ""  # column with the times of events that state none
    ids: bool = False
    explode: bool = False
    mode: str = "drop"
    errors: bool = False  # whether rows that are no events are returned, with `error` as the last column
    stamped: bool = False  # whether a column with the moment of the micro-batch comes after all others
    objects: dict[str, str] = {}  # settings of object stores in the driver's environment
    ranges: RangeSource | None = None  # where rows say what to read, in place of holding payloads


class Served(NamedTuple):
    """A matcher with the moment of events that have no time, and the numbers of subscriptions with a `select`."""

    matcher: Matcher
    at: int
    selecting: frozenset[int]


def run(rows: Iterator[pa.RecordBatch], task: FrameTask) -> Iterator[pa.RecordBatch]:
    """Yield the rows that `likewise.spark.match` promises, batch by batch."""
    use_store_settings(task.objects)
    served: Served | None = None
    for came in rows:
        if came.num_rows == 0:
            continue
        moment = came.column(came.num_columns - 1)[0].value if task.stamped else task.at
        if served is None:
            served = serve(task, moment, current_micro_batch())
        width = len(task.columns)
        columns = [came.column(place) for place in range(width)]
        batch = pa.RecordBatch.from_arrays(columns, names=list(task.columns))
        times = row_times(batch, task.time)
        read = read_rows(batch, task, served.at, times)
        if read.bad and task.mode == "fail":
            raise FormatError(f"{read.bad[0].reason} (a row of the column {task.payload!r}; mode='drop' leaves it out)")
        given = np.full(len(read.events), NO_TIME, np.int64) if times is None else times[read.places]
        found = match_events(
            served.matcher, read.events, np.where(given == NO_TIME, served.at, given), served.selecting
        )
        if task.keep == "wanted":
            made = _wanted(read, found, given)
        elif task.keep == "all":
            made = _all(batch, read, found, task, served.matcher)
        else:
            made = _matches(batch, read, found, given, task, served.matcher)
        if task.errors and task.keep != "all":
            made = _with_errors(made, batch, read, task)
        yield made.rename_columns(column_aliases(made.num_columns))


def match_lists(payloads: pa.Array[Any], moments: pa.Array[Any], task: FrameTask) -> pa.Array[Any]:
    """Return for each payload the list of its matches, as `likewise.spark.matches` promises."""
    use_store_settings(task.objects)
    if len(payloads) == 0:
        return pa.array([], pa.list_(pa.struct([("number", pa.int64()), ("score", pa.float32())])))
    served = serve(task, moments[0].value, current_micro_batch())
    decoded = decode_payloads(payloads.to_pylist(), PayloadContext(task.form, now=served.at))
    found = match_events(served.matcher, decoded.events, served.at).by_payload(decoded.places).of_all(len(payloads))
    columns: list[Any] = [pa.array(found.numbers, pa.int64()), pa.array(found.scores, pa.float32())]
    pairs = pa.StructArray.from_arrays(columns, names=["number", "score"])
    return pa.ListArray.from_arrays(pa.array(found.offsets, pa.int32()), pairs)


def column_aliases(size: int) -> list[str]:
    """Return names that Spark can look up for so many columns, whatever the caller's names are."""
    return [f"c{number}" for number in range(size)]


def pin_choice(task: FrameTask) -> str:
    """Return the name under which a task's batches are pinned."""
    return f"{task.choice.digest()}{'-skip' if task.skip_stateful else ''}"


def serve(task: FrameTask, moment: int, micro: MicroBatch | None) -> Served:
    """Return the matcher of a micro-batch; outside a stream the one of when the task was made.

    Args:
        task: settings of the worker.
        moment: moment of the micro-batch, where it was not pinned before.
        micro: the micro-batch; None outside a stream.
    """
    if not task.log:
        if task.folder:
            return Served(open_matcher(task.folder), task.at, task.selecting)
        return Served(make_matcher(task.subscriptions, task.choice, moment), moment, task.selecting)
    if micro is None:
        return Served(open_matcher(task.folder), task.at, task.selecting)
    log = followed_log(task.log, micro.query)
    choice = pin_choice(task)

    def propose() -> BatchPin:
        key = (task.log, micro.query, choice)
        former, ends = _proposed.get(key, (None, None))
        if former is not None and former.version == log.newest() and (ends is None or moment < ends):
            return msgspec.structs.replace(former, at=max(moment, former.at))
        snapshot = log.snapshot()
        active = active_at(snapshot, moment)
        if not task.skip_stateful:
            refuse_stateful(active)
        pin = BatchPin(
            snapshot.version,
            snapshot.digest,
            moment,
            _saved(task, snapshot, moment),
            tuple(sorted(numbers_with_select(each for each in active if each.subscription.kind not in STATEFUL))),
            snapshot.next_number,
        )
        _proposed[key] = (pin, min((each.end for each in active if each.end is not None), default=None))
        while len(_proposed) > _PROPOSALS:
            _proposed.popitem(last=False)
        return pin

    pin = pin_batch(log, choice, micro, propose)
    try:
        matcher = open_matcher(pin.folder)
    except ArtefactMissing:  # a compaction of the log removed it
        matcher = open_matcher(_saved(task, pinned_snapshot(log, pin), pin.at))
    return Served(matcher, pin.at, frozenset(pin.selecting))


def _saved(task: FrameTask, snapshot: SubscriptionSnapshot, at: int) -> str:
    return save_matcher(snapshot, at, task.choice.as_logged(snapshot.known), storage_path(task.log) / MATCHERS)


def row_times(batch: pa.RecordBatch, column: str) -> NDArray[np.int64] | None:
    """Return the times (µs) that a column states for rows, `NO_TIME` where it states none; None without a column."""
    if not column:
        return None
    moments: Any = batch.column(column).cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
    times: NDArray[np.int64] = pc.fill_null(moments, NO_TIME).to_numpy(zero_copy_only=False)
    return times


def read_rows(batch: pa.RecordBatch, task: FrameTask, at: int, times: NDArray[np.int64] | None) -> DecodedBatch:
    """Decode the rows of a batch into events; `at` and `times` are the moments of those that state none."""
    payload = task.payload
    if payload not in batch.schema.names:
        names = [name for name in FIELDS if name in batch.schema.names]
        return decode_table(batch.select(names))
    column = batch.column(payload)
    if pa.types.is_struct(column.type):
        return decode_structs(column.to_pylist())
    now = at if times is None else np.where(times == NO_TIME, at, times).tolist()
    return decode_payloads(column.to_pylist(), PayloadContext(task.form, _headers(batch), _sources(batch), now))


def _sources(batch: pa.RecordBatch) -> list[str] | None:
    """Return who sent messages that do not say so, where they come from Spark's own connector."""
    if not set(batch.schema.names) >= {"key", "topic", "partition"}:
        return None
    keys, topics, partitions = (batch.column(name).to_pylist() for name in ("key", "topic", "partition"))
    rows: Any = zip(keys, topics, partitions, strict=True)
    return [source_of(key, f"{topic}/{partition}") for key, topic, partition in rows]


def _headers(batch: pa.RecordBatch) -> list[dict[str, bytes] | None] | None:
    """Return the headers of messages, where Spark's own connector has brought them along."""
    if "headers" not in batch.schema.names or not pa.types.is_list(batch.schema.field("headers").type):
        return None
    rows = batch.column("headers").to_pylist()
    return [headers_of((each["key"], each["value"]) for each in row or ()) for row in rows]


def _matches(
    batch: pa.RecordBatch,
    read: DecodedBatch,
    found: MatchedEvents,
    given: NDArray[np.int64],
    task: FrameTask,
    matcher: Matcher,
) -> pa.RecordBatch:
    """Return a row for each event that met something, or for each match: the other columns, then the event's."""
    events = found.places
    if task.explode:
        events = np.repeat(events, np.diff(found.offsets))
    others = [n for n, name in enumerate(batch.schema.names) if name != task.payload]
    rows: Any = pa.array(read.places[events], pa.int64())
    columns: list[Any] = [batch.column(n).take(rows) for n in others]
    ids, sources, _ = read.events.names(events)
    columns += [ids, sources, _times(read, events, given)]
    if task.explode:
        columns += [pa.array(found.numbers, pa.int64()), pa.array(found.scores, pa.float32()), found.selected_texts()]
    else:
        columns += [*found.lists(), found.selected_lists()]
    if task.ids:
        texts = _ids(found, matcher)
        columns.append(texts if task.explode else pa.ListArray.from_arrays(pa.array(found.offsets, pa.int32()), texts))
    names = [batch.schema.names[n] for n in others]
    added = list(added_columns("matches", ids=task.ids, explode=task.explode))
    return pa.RecordBatch.from_arrays(columns, names=[*names, *added])


def _all(
    batch: pa.RecordBatch, read: DecodedBatch, found: MatchedEvents, task: FrameTask, matcher: Matcher
) -> pa.RecordBatch:
    """Return every row as it came, with what it met, or why it is no event."""
    size = batch.num_rows
    whole = found.by_payload(read.places).of_all(size)
    reasons: list[str | None] = [None] * size
    for bad in read.bad:
        reasons[bad.place] = bad.reason
    columns: list[Any] = [*batch.columns, *whole.lists(), whole.selected_lists()]
    if task.ids:
        columns.append(pa.ListArray.from_arrays(pa.array(whole.offsets, pa.int32()), _ids(whole, matcher)))
    columns.append(pa.array(reasons, pa.string()))
    return pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, *added_columns("all", ids=task.ids)])


def _wanted(read: DecodedBatch, found: MatchedEvents, given: NDArray[np.int64]) -> pa.RecordBatch:
    """Return the events that met something, as EventBatch's columns."""
    rows = read.events.take(found.places).to_arrow(dictionary=False).replace_schema_metadata(None)
    place = rows.schema.get_field_index("time")
    return rows.set_column(place, rows.schema.field(place), _times(read, found.places, given))


def _with_errors(made: pa.RecordBatch, batch: pa.RecordBatch, read: DecodedBatch, task: FrameTask) -> pa.RecordBatch:
    """Return the rows, then one for each row that is no event: its other columns, nothing found, and the reason."""
    good = made.append_column("error", pa.nulls(made.num_rows, pa.string()))
    if not read.bad:
        return good
    came = batch.take(pa.array([bad.place for bad in read.bad], pa.int64()))
    columns: list[Any] = []
    for place, field in enumerate(good.schema):
        if task.keep == "matches" and place < len(task.columns) - (task.payload in task.columns):
            name = [n for n, each in enumerate(task.columns) if each != task.payload][place]
            columns.append(came.column(name))
        else:
            columns.append(pa.nulls(len(read.bad), field.type))
    columns[-1] = pa.array([bad.reason for bad in read.bad], pa.string())
    fields = [field.with_nullable(True) for field in good.schema]
    bad_rows = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
    both = pa.Table.from_batches([good.cast(pa.schema(fields)), bad_rows])
    return both.combine_chunks().to_batches()[0]


def _times(read: DecodedBatch, places: NDArray[np.int64], given: NDArray[np.int64]) -> Any:
    """Return the times of events, stated or given by a column, null where there is neither."""
    stated = read.events.columns().time[places]
    times = np.where(stated == NO_TIME, given[places], stated)
    moments: Any = pa.array(times, pa.int64(), mask=times == NO_TIME)
    return moments.cast(pa.timestamp("us", tz="UTC"))


def _ids(found: MatchedEvents, matcher: Matcher) -> Any:
    """Return the id of the subscription of each match."""
    known = matcher.state.numbers()
    numbers, which = np.unique(found.numbers, return_inverse=True)
    ids: Any = pa.array([known[number] for number in numbers.tolist()], pa.string())
    return ids.take(pa.array(which, pa.int64()))


def added_columns(
    keep: str, *, ids: bool = False, explode: bool = False, errors: bool = False
) -> dict[str, pa.DataType]:
    """Return the columns that come after those of the DataFrame, and their types; for `wanted` all there are."""
    if keep == "wanted":
        added = {field.name: field.type for field in batch_schema()}
        return added | ({"error": pa.string()} if errors else {})
    types: list[pa.DataType] = [pa.int64(), pa.float32(), pa.string()]
    names = dict(zip(_MATCH if explode else _MATCHES, types if explode else map(pa.list_, types), strict=True))
    if ids:
        names |= {"subscription_id": pa.string()} if explode else {"subscription_ids": pa.list_(pa.string())}
    if keep == "all":
        return names | {"error": pa.string()}
    kinds: list[pa.DataType] = [pa.string(), pa.string(), pa.timestamp("us", tz="UTC")]
    return dict(zip(_EVENT, kinds, strict=True)) | names | ({"error": pa.string()} if errors else {})

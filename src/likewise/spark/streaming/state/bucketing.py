"""Send the events of a DataFrame to the buckets whose state they move: the first stage of rankings and alerts on Spark.

A task returns one row for each bucket, with the events that move it and how far time is, so that time moves every
bucket in the batch itself, and a bucket that nothing moves costs one row.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import ArtefactMissing, FormatError
from likewise.formats.arrow.columns import NO_TIME
from likewise.lake.change_log import MATCHERS
from likewise.lake.storage import storage_path, use_store_settings
from likewise.lake.subscription_snapshot import LoggedSubscription, SubscriptionSnapshot
from likewise.spark.streaming.batch_pins import (
    BatchPin,
    MicroBatch,
    current_micro_batch,
    followed_log,
    pin_batch,
    pinned_before,
    pinned_snapshot,
)
from likewise.spark.streaming.dataframes import FrameTask, row_times
from likewise.spark.streaming.matchers import open_matcher
from likewise.spark.streaming.records import COORDINATES, partition_id, records_of
from likewise.spark.streaming.state.fed_events import EventOrder, EventRouter, as_stream
from likewise.spark.streaming.state.shuffle import (
    ShufflePlan,
    open_shuffle_plan,
    save_plan_of,
    shards_of,
    shuffle_plan,
    stateful_subscriptions,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher

COUNTS: Final = ""  # bucket of the row that counts what a task read
_MOST: Final = 100_000  # events that a task collects before it returns rows
_OPEN: Final = 4  # plans of subscriptions without a log that a worker keeps
_made: OrderedDict[str, tuple[ShufflePlan, Matcher]] = OrderedDict()

_TYPES: Final[dict[str, pa.DataType]] = {
    "bucket": pa.string(),
    "plan": pa.string(),  # folder of the plan; empty where subscriptions have no log
    "at": pa.int64(),  # moment of the micro-batch (µs)
    "clock": pa.int64(),  # how far time is by what the task read
    "events": pa.binary(),  # Arrow stream of the events that move the bucket
    "withdrawn": pa.binary(),  # `WithdrawnEvent`s, as MessagePack
    "returned": pa.int64(),
    "malformed": pa.int64(),
}
SCHEMA: Final = pa.schema(_TYPES)


class AlertTask(msgspec.Struct, frozen=True):
    """Settings of a worker: how rows are read, where subscriptions are, and how many buckets each sort has."""

    frame: FrameTask
    buckets: int
    withdrawn: str = ""  # column with the ids of events that are withdrawn


class WithdrawnEvent(NamedTuple):
    """An event that is taken back: when, where the row that says so stands, and its id."""

    moment: int
    inlet: str
    partition: int
    offset: int
    id: str


class PlannedBatch(NamedTuple):
    """What a batch sees: the plan, its matcher and folder, its moment, and the sorts of buckets that time moves."""

    plan: ShufflePlan
    matcher: Matcher
    folder: str
    at: int
    sorts: tuple[str, ...]


class _Tally:
    """What a task has read so far: how far time is, what was withdrawn, and how many events there were."""

    def __init__(self) -> None:
        self.clock: int | None = None
        self.withdrawn: list[WithdrawnEvent] = []
        self.returned = self.malformed = 0

    def move(self, moments: NDArray[np.int64]) -> None:
        """Let time be at least as late as the latest of some moments."""
        if len(moments):
            latest = int(moments.max())
            self.clock = latest if self.clock is None else max(self.clock, latest)


def route(rows: Iterator[pa.RecordBatch], task: AlertTask) -> Iterator[pa.RecordBatch]:
    """Yield a row for each bucket that events or time may move, and one that counts what was read."""
    frame = task.frame
    use_store_settings(frame.objects)
    planned: PlannedBatch | None = None
    tally, first = _Tally(), 0
    for came in rows:
        if came.num_rows == 0:
            continue
        moment = came.column(came.num_columns - 1)[0].value if frame.stamped else frame.at
        if planned is None:
            planned = plan_batch(task, moment, current_micro_batch())
            router = EventRouter(planned.plan, planned.matcher)
        columns = [came.column(place) for place in range(len(frame.columns))]
        batch = pa.RecordBatch.from_arrays(columns, names=list(frame.columns))
        _read(batch, task, planned, router, tally, first)
        first += came.num_rows
        if router.rows > _MOST:
            yield _bucket_rows(planned, _streams(router), None, tally)
    if planned is None:
        return
    events = _streams(router)
    everywhere = shards_of(planned.sorts, task.buckets)
    streams: dict[str, bytes | None] = {bucket: events.get(bucket) for bucket in (COUNTS, *everywhere)}
    yield _bucket_rows(planned, streams | events, tally.withdrawn, tally)


def _streams(router: EventRouter) -> dict[str, bytes]:
    return {bucket: as_stream(table) for bucket, table in router.take().items()}


def _read(
    batch: pa.RecordBatch, task: AlertTask, planned: PlannedBatch, router: EventRouter, tally: _Tally, first: int
) -> None:
    """Route the events of some rows; `first` is how many rows the task read before them."""
    frame, at = task.frame, planned.at
    if task.withdrawn:
        batch = _withdraw(batch, task, at, tally, first)
    for records in records_of(batch, frame, at, first):
        read = records.read
        if read.bad and frame.mode == "fail":
            reason = read.bad[0].reason
            raise FormatError(f"{reason} (a row of the column {frame.payload!r}; mode='drop' leaves it out)")
        tally.returned += len(read.events)
        tally.malformed += len(read.bad)
        # An event counts at its own time, but not later than it came, else one clock ahead makes all others late.
        arrival = records.times[read.places]
        arrival = np.where(arrival == NO_TIME, at, arrival)
        stated = read.events.columns().time
        moments = np.where(stated == NO_TIME, arrival, np.minimum(stated, arrival))
        ends = read.events.columns().expires
        tally.move(moments[(ends == NO_TIME) | (ends > moments)])
        router.feed(read.events, moments, EventOrder.of(records))


def _withdraw(batch: pa.RecordBatch, task: AlertTask, at: int, tally: _Tally, first: int) -> pa.RecordBatch:
    """Note the events that rows take back, and return the other rows."""
    column: Any = batch.column(task.withdrawn)
    going = pc.is_valid(column)
    gone = batch.filter(going)
    times = row_times(gone, task.frame.time)
    moments = np.full(gone.num_rows, at) if times is None else np.where(times == NO_TIME, at, times)
    moments = np.minimum(moments, at)
    if set(COORDINATES) <= set(batch.schema.names):
        stood = [gone.column(name).to_pylist() for name in COORDINATES]
    else:
        rows: Any = first + np.flatnonzero(going.to_numpy(zero_copy_only=False))
        stood = [[""] * gone.num_rows, [partition_id()] * gone.num_rows, rows.tolist()]
    columns: Any = zip(moments.tolist(), *stood, gone.column(task.withdrawn).to_pylist(), strict=True)
    tally.withdrawn += map(WithdrawnEvent._make, columns)
    tally.move(moments)
    return batch.filter(pc.invert(going))


def _bucket_rows(
    planned: PlannedBatch, events: dict[str, Any], withdrawn: list[WithdrawnEvent] | None, tally: _Tally
) -> pa.RecordBatch:
    """Return a row for each bucket; what was read is counted by the last rows of a task alone."""
    size = len(events)
    ids = msgspec.msgpack.encode(withdrawn) if withdrawn else None
    counts = [(bucket == COUNTS and withdrawn is not None) for bucket in events]
    columns: list[Any] = [
        pa.array(list(events), pa.string()),
        pa.array([planned.folder] * size, pa.string()),
        pa.array([planned.at] * size, pa.int64()),
        pa.array([tally.clock] * size, pa.int64()),
        pa.array(list(events.values()), pa.binary()),
        pa.array([ids] * size, pa.binary()),
        pa.array([tally.returned if each else 0 for each in counts], pa.int64()),
        pa.array([tally.malformed if each else 0 for each in counts], pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def plan_batch(task: AlertTask, moment: int, micro: MicroBatch | None) -> PlannedBatch:
    """Return what a micro-batch sees; outside a stream what was there when the task was made."""
    frame = task.frame
    if micro is None or not frame.log:
        at = frame.at if frame.folder else moment
        plan, matcher = open_plan(task, frame.folder, at)
        return PlannedBatch(plan, matcher, frame.folder, at, plan.sorts)
    log = followed_log(frame.log, micro.query)
    name = f"{frame.choice.digest()}-states"
    before = pinned_before(log, name, micro)

    def propose() -> BatchPin:
        snapshot = log.snapshot()
        folder = _saved(task, snapshot, moment)
        sorts = set(open_shuffle_plan(folder).sorts) | set(() if before is None else before.sorts)
        at = moment if before is None else max(moment, before.at)
        return BatchPin(snapshot.version, snapshot.digest, at, folder, sorts=tuple(sorted(sorts)))

    pin = pin_batch(log, name, micro, propose)
    try:
        plan, matcher = open_plan(task, pin.folder, pin.at)
    except ArtefactMissing:  # a compaction of the log removed it
        _saved(task, pinned_snapshot(log, pin), pin.at)
        plan, matcher = open_plan(task, pin.folder, pin.at)
    return PlannedBatch(plan, matcher, pin.folder, pin.at, pin.sorts)


def open_plan(task: AlertTask, folder: str, at: int) -> tuple[ShufflePlan, Matcher]:
    """Return the plan of a folder, or of subscriptions without a log at a moment, with its matcher."""
    if folder:
        return open_shuffle_plan(folder), open_matcher(folder)
    frame = task.frame
    given = msgspec.json.decode(frame.subscriptions, type=list[LoggedSubscription])
    stateful = stateful_subscriptions(SubscriptionSnapshot(1, len(given), given), at)
    numbers = ",".join(str(each.number) for each in stateful)
    settings = msgspec.json.encode((numbers, task.buckets, frame.choice))
    key = hashlib.sha256(frame.subscriptions + settings).hexdigest()
    made = _made.get(key)
    if made is None:
        made = _made[key] = shuffle_plan(stateful, task.buckets, frame.choice)
        while len(_made) > _OPEN:
            _made.popitem(last=False)
    _made.move_to_end(key)
    return made


def _saved(task: AlertTask, snapshot: SubscriptionSnapshot, at: int) -> str:
    frame = task.frame
    folder = storage_path(frame.log) / MATCHERS
    return save_plan_of(snapshot, at, frame.choice.as_logged(snapshot.known), task.buckets, folder)

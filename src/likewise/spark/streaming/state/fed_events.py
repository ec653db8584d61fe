"""Events on their way to the buckets whose state they move: a stream of Arrow for each task and bucket."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import ArtefactDamaged
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.arrow.schema import FIELDS
from likewise.matching.reference.alerts.transitions import key_of
from likewise.spark.streaming.matched_events import match_events
from likewise.spark.streaming.sources.ranges import Records
from likewise.spark.streaming.state.paths import StatePlacement
from likewise.spark.streaming.state.shuffle import ShufflePlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher

_MOMENT, _INLET, _PARTITION, _OFFSET = "_moment", "_inlet", "_partition", "_offset"


class EventOrder(NamedTuple):
    """Where events of a batch stand beside their times: the name of what they came from, a partition, an offset."""

    inlet: Sequence[str]
    partition: NDArray[np.int64]
    offset: NDArray[np.int64]

    @classmethod
    def of(cls, records: Records) -> EventOrder:
        """Return the order of events that were read from one place."""
        size = len(records.read.events)
        partition = np.full(size, records.partition, np.int64)
        return cls([records.inlet] * size, partition, records.offsets[records.read.places])


class EventRouter:
    """Sends each event to the shards whose state it moves."""

    def __init__(self, plan: ShufflePlan, matcher: Matcher) -> None:
        self._plan = plan
        self._matcher = matcher
        self._batches: dict[str, list[pa.RecordBatch]] = {}
        self.rows = 0

    def wanted(self, events: EventBatch, moments: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of the events that meet what a ranking or an alert asks for, rising."""
        found = match_events(self._matcher, events, moments)
        own = [number for number, feed in enumerate(self._plan.feeds) if feed.own]
        return np.unique(np.repeat(found.places, np.diff(found.offsets))[np.isin(found.numbers, own)])

    def feed(self, events: EventBatch, moments: NDArray[np.int64], order: EventOrder) -> None:
        """Take some events in."""
        found = match_events(self._matcher, events, moments)
        event = np.repeat(found.places, np.diff(found.offsets))
        by_place: dict[StatePlacement, list[int]] = {}
        for number in np.unique(found.numbers).tolist():
            by_place.setdefault(self._plan.feeds[number].place, []).append(number)
        moving: dict[str, list[NDArray[np.int64]]] = {}
        for place, numbers in by_place.items():
            moved = np.unique(event[np.isin(found.numbers, numbers)])
            shards = np.array([name or "" for name in self._shards(place, events.take(moved))], object)
            for shard in sorted(set(shards.tolist()) - {""}):
                moving.setdefault(shard, []).append(moved[shards == shard])
        for shard, places in sorted(moving.items()):
            chosen = places[0] if len(places) == 1 else np.unique(np.concatenate(places))
            self._batches.setdefault(shard, []).append(_rows(events, chosen, moments, order))
            self.rows += len(chosen)

    def take(self) -> dict[str, pa.Table]:
        """Return what came for each shard, and begin anew."""
        batches, self._batches, self.rows = self._batches, {}, 0
        return {shard: pa.Table.from_batches(several) for shard, several in sorted(batches.items())}

    def _shards(self, place: StatePlacement, events: EventBatch) -> Sequence[str | None]:
        """The shard of each event; None where it lacks what tells keys apart, and so moves nothing."""
        count = self._plan.shards
        if place.shard is not None:
            return [place.of((), count)] * len(events)
        if not place.per:
            sources = events.to_arrow(dictionary=False).column("source").to_pylist()
            known = {source: place.of((source or "",), count) for source in set(sources)}
            return [known[source] for source in sources]
        keys = [key_of(self._matcher.annotated(event), place.per) for event in events]
        return [None if key is None else place.of(key, count) for key in keys]


def as_stream(table: pa.Table) -> bytes:
    """Return a table as a stream of Arrow."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


class OrderedEvents(NamedTuple):
    """Events in the order in which they move a state, and the moment of each."""

    events: EventBatch
    moments: list[int]


def in_order(streams: Iterable[bytes]) -> OrderedEvents:
    """Return the events of several streams of a router, by event time, partition and offset."""
    try:
        tables = [pa.ipc.open_stream(each).read_all() for each in streams]
    except pa.ArrowException as error:
        raise ArtefactDamaged(f"events on their way to a state cannot be read ({error})") from None
    if not tables:
        return OrderedEvents(EventBatch.from_events([]), [])
    table = pa.concat_tables(tables)
    columns = [table.column(name).to_numpy() for name in (_OFFSET, _PARTITION, _MOMENT)]
    _, inlet = np.unique(table.column(_INLET).to_numpy(zero_copy_only=False), return_inverse=True)
    table = table.take(np.lexsort((columns[0], columns[1], inlet, columns[2])))
    names = [name for name in FIELDS if name in table.schema.names]
    return OrderedEvents(EventBatch.from_arrow(table.select(names)), table.column(_MOMENT).to_numpy().tolist())


def _rows(
    events: EventBatch, places: NDArray[np.int64], moments: NDArray[np.int64], order: EventOrder
) -> pa.RecordBatch:
    """Return some of the events, with what says their order."""
    rows = events.take(places).to_arrow(dictionary=False).replace_schema_metadata(None)
    for name, values in (
        (_MOMENT, pa.array(moments[places], pa.int64())),
        (_INLET, pa.array([order.inlet[place] for place in places.tolist()], pa.string())),
        (_PARTITION, pa.array(order.partition[places], pa.int64())),
        (_OFFSET, pa.array(order.offset[places], pa.int64())),
    ):
        rows = rows.append_column(name, values)
    return rows

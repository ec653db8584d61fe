"""Events on their way to the shards whose state they move: Arrow streams below the batch, one a task and shard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from likewise.errors import ArtefactDamaged, ArtefactMissing
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.arrow.schema import FIELDS
from likewise.lake.atomic_create import write_whole
from likewise.matching.reference.alerts.transitions import key_of
from likewise.spark.streaming.matched_events import match_events
from likewise.spark.streaming.matchers import open_matcher
from likewise.spark.streaming.sources.ranges import Records
from likewise.spark.streaming.state.paths import StatePlacement
from likewise.spark.streaming.state.shuffle import ShufflePlan, open_shuffle_plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.matching.matcher import Matcher

_MOMENT, _INLET, _PARTITION, _OFFSET = "_moment", "_inlet", "_partition", "_offset"


class ShuffleFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a task left for a shard: a file below the state's folder, and how many events are in it."""

    shard: str
    path: str
    events: int


class ShuffleWriter:
    """What one task leaves for the shards."""

    def __init__(self, folder: str) -> None:
        self._feeds: ShufflePlan = open_shuffle_plan(folder)
        self._matcher: Matcher = open_matcher(f"{folder}/matcher")
        self._batches: dict[str, list[pa.RecordBatch]] = {}

    def feed(self, records: Records, moments: NDArray[np.int64]) -> NDArray[np.int64]:
        """Take some events in; the places of those that meet what a ranking or an alert asks for, rising."""
        events = records.read.events
        found = match_events(self._matcher, events, moments)
        event = np.repeat(found.places, np.diff(found.offsets))
        by_place: dict[StatePlacement, list[int]] = {}
        for number in np.unique(found.numbers).tolist():
            by_place.setdefault(self._feeds.feeds[number].place, []).append(number)
        for place, numbers in by_place.items():
            moved = np.unique(event[np.isin(found.numbers, numbers)])
            chosen = events.take(moved)
            shards = self._shards(place, chosen)
            for shard in sorted({name for name in shards if name is not None}):
                there = np.flatnonzero([name == shard for name in shards])
                rows = _rows(records, chosen.take(there), moved[there], moments)
                self._batches.setdefault(shard, []).append(rows)
        own = [number for number, feed in enumerate(self._feeds.feeds) if feed.own]
        return np.unique(event[np.isin(found.numbers, own)])

    def _shards(self, place: StatePlacement, events: EventBatch) -> Sequence[str | None]:
        """The shard of each event; None where it lacks what tells keys apart, and so moves nothing."""
        count = self._feeds.shards
        if place.shard is not None:
            return [place.of((), count)] * len(events)
        if not place.per:
            sources = events.to_arrow(dictionary=False).column("source").to_pylist()
            known = {source: place.of((source or "",), count) for source in set(sources)}
            return [known[source] for source in sources]
        keys = [key_of(self._matcher.annotated(event), place.per) for event in events]
        return [None if key is None else place.of(key, count) for key in keys]

    def write(self, folder: Path, batch: int, task: int) -> tuple[ShuffleFile, ...]:
        """Leave everything for the shards; the same names whenever the task is repeated."""
        found = []
        for shard, batches in sorted(self._batches.items()):
            path = f"{batch:010d}/events/{shard}/{task:05d}.arrow"
            table = pa.Table.from_batches(batches)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            write_whole(folder / path, sink.getvalue().to_pybytes())
            found.append(ShuffleFile(shard, path, table.num_rows))
        return tuple(found)


class OrderedEvents(NamedTuple):
    """Events in the order in which they move a state, and the moment of each."""

    events: EventBatch
    moments: list[int]


def read_shuffle_files(folder: Path, paths: Iterable[str]) -> OrderedEvents:
    """What the tasks of a batch left for a shard, by event time, partition and offset."""
    tables = []
    for path in paths:
        try:
            tables.append(pa.ipc.open_stream((folder / path).read_bytes()).read_all())
        except FileNotFoundError:
            raise ArtefactMissing(
                f"{folder / path}, which a task of this batch wrote, is not there; do all workers "
                "see the checkpoint's folder?"
            ) from None
        except pa.ArrowException as error:
            raise ArtefactDamaged(f"{folder / path} cannot be read ({error})") from None
    if not tables:
        return OrderedEvents(EventBatch.from_events([]), [])
    table = pa.concat_tables(tables)
    columns = [table.column(name).to_numpy() for name in (_OFFSET, _PARTITION, _MOMENT)]
    _, inlet = np.unique(table.column(_INLET).to_numpy(), return_inverse=True)
    table = table.take(np.lexsort((columns[0], columns[1], inlet, columns[2])))
    names = [name for name in FIELDS if name in table.schema.names]
    return OrderedEvents(EventBatch.from_arrow(table.select(names)), table.column(_MOMENT).to_numpy().tolist())


def _rows(
    records: Records, events: EventBatch, places: NDArray[np.int64], moments: NDArray[np.int64]
) -> pa.RecordBatch:
    """Events of one read, with what says their order; `paths` are among all that were read."""
    rows = events.to_arrow(dictionary=False).replace_schema_metadata(None)
    size = len(places)
    for name, values in (
        (_MOMENT, pa.array(moments[places], pa.int64())),
        (_INLET, pa.array([records.inlet] * size, pa.string())),
        (_PARTITION, pa.array(np.full(size, records.partition), pa.int64())),
        (_OFFSET, pa.array(records.offsets[records.read.places[places]], pa.int64())),
    ):
        rows = rows.append_column(name, values)
    return rows

"""EventBatch: many events as one table, shared by match_batch, Spark and processes (docs/formats.md).

It is a sequence of events, and a set of columns; whichever is asked for is made when it is first asked
for. The Arrow schema is published in `batch_schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from likewise.errors import ArtefactMissing, FormatError
from likewise.extras import require
from likewise.formats.arrow.columns import BOOLEAN, NO_TIME, NUMBER, WHOLE, EventColumns, columns_of
from likewise.formats.arrow.schema import METADATA, REST, TRIPLE_FIELDS, batch_schema
from likewise.model.event import Event, EventTuple
from likewise.model.rdf import Triple

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


class EventBatch(Sequence[Event]):
    """A sequence of events that is also a table. Immutable.

    >>> from likewise.model import event
    >>> batch = EventBatch.from_events([event({"t": 21}), event({"t": "warm"}, id="e2")])
    >>> len(batch), batch[1].id, batch.to_arrow().num_rows
    (2, 'e2', 2)
    >>> EventBatch.from_arrow(batch.to_arrow()) == batch
    True
    """

    __slots__ = ("_columns", "_events", "_rest")

    def __init__(
        self, events: tuple[Event, ...] | None, columns: EventColumns | None = None, rest: pa.RecordBatch | None = None
    ) -> None:
        """Use `from_events`, `from_arrow` or `from_ipc`."""
        self._events = events
        self._columns = columns
        self._rest = rest

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> EventBatch:
        """Create a batch from events.

        Args:
            events: Events, in any number.
        """
        return cls(tuple(events))

    @classmethod
    def from_arrow(cls, table: pa.Table | pa.RecordBatch) -> EventBatch:
        """Create a batch from a table of the published schema; strings may be dictionary-encoded or not.

        Everything is checked here, so that later uses do not fail. RDF terms are taken as they are.

        Args:
            table: Table or record batch of the published schema (docs/formats.md), of this version or the one before.

        Raises:
            FormatError: The schema differs, or a value breaks the limits of events.
        """
        from likewise.formats.arrow.decoder import decode_table

        columns, rest = decode_table(table)
        return cls(None, columns, rest)

    @classmethod
    def from_ipc(cls, data: bytes | Path) -> EventBatch:
        """Create a batch from an Arrow IPC stream, as bytes or as a file.

        Args:
            data: Bytes of the stream, or the path of a file with it.
        """
        require("match", "a batch in Arrow")
        import pyarrow as pa

        if isinstance(data, Path) and not data.is_file():
            raise ArtefactMissing(f"there is no file {data.name!r} with a batch of events")
        try:
            source: Any = pa.memory_map(str(data)) if isinstance(data, Path) else pa.BufferReader(data)
            with source, pa.ipc.open_stream(source) as reader:
                table = reader.read_all()
                return cls.from_arrow(table)
        except (pa.ArrowException, OSError) as error:
            raise FormatError(f"this is no Arrow stream with a batch of events: {str(error)[:200]}") from None

    def to_ipc(self, *, dictionary: bool = True) -> bytes:
        """Return the batch as an Arrow IPC stream.

        Args:
            dictionary: Whether attributes, texts and units are dictionary-encoded, which is smaller and faster to read.
        """
        require("match", "a batch in Arrow")
        import pyarrow as pa

        made = self.to_arrow(dictionary=dictionary)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, made.schema) as writer:
            writer.write_batch(made)
        return sink.getvalue().to_pybytes()

    def columns(self) -> EventColumns:
        """Return the tuples and times as flat arrays; see `EventColumns`."""
        if self._columns is None:
            assert self._events is not None  # one of both is always there
            self._columns = columns_of(self._events)
        return self._columns

    @property
    def columnar(self) -> bool:
        """Return whether columns exist already or cost nothing to make."""
        return self._columns is not None

    def themes(self) -> list[tuple[str, ...]]:
        """Return the theme tags of each event.

        >>> from likewise.model import event
        >>> EventBatch.from_events([event({"t": 21}, themes=["air"]), event({"t": 3})]).themes()
        [('air',), ()]
        """
        if self._rest is None:
            return [event.themes for event in self.to_events()]
        return [tuple(tags or ()) for tags in self._rest.column("themes").to_pylist()]

    def to_events(self) -> tuple[Event, ...]:
        """Return the events, equal to those from which the batch was made."""
        if self._events is None:
            assert self._columns is not None  # one of both is always there
            assert self._rest is not None
            self._events = tuple(_events(self._columns, self._rest))
        return self._events

    def to_arrow(self, *, dictionary: bool = True) -> pa.RecordBatch:
        """Return the batch as an Arrow record batch of the published schema.

        `dictionary` encodes attributes, texts and units, which repeat a lot; Spark wants plain strings.

        Args:
            dictionary: Whether attributes, texts and units are dictionary-encoded.
        """
        require("match", "a batch in Arrow")
        import pyarrow as pa

        try:
            rest = self._rest_of_events() if self._rest is None else self._rest
            return _record_batch(self.columns(), rest, dictionary=dictionary)
        except (pa.ArrowException, UnicodeEncodeError) as error:
            raise FormatError(f"the events do not fit into a batch: {str(error)[:200]}") from None

    def names(self, places: NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """Return ids, sources and times of the events at these indices as Arrow arrays, without decoding the rest.

        Args:
            places: Indices of the events.

        >>> from likewise.model import event
        >>> batch = EventBatch.from_events(event({"t": 1}, id=i) for i in "abc")
        >>> [array.to_pylist() for array in batch.names(np.array([2, 0]))]
        [['c', 'a'], [None, None], [None, None]]
        """
        rest = self._rest_of_events() if self._rest is None else self._rest
        return rest.column("id").take(places), rest.column("source").take(places), self._times(places)

    def _times(self, places: NDArray[np.int64]) -> Any:
        return _timestamps(self.columns().time[places])

    def _rest_of_events(self) -> pa.RecordBatch:
        import pyarrow as pa

        events = self.to_events()
        schema = pa.schema([batch_schema().field(name) for name in REST])
        graphs = [
            [{"subject": t.subject, "predicate": t.predicate, "object": t.object} for t in e.graph] for e in events
        ]
        lists: list[Any] = [
            [e.id for e in events],
            [e.source for e in events],
            [e.themes for e in events],
            graphs,
            [e.vector or None for e in events],
        ]
        arrays = [pa.array(values, field.type) for values, field in zip(lists, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def __len__(self) -> int:
        if self._events is not None:
            return len(self._events)
        assert self._columns is not None
        return len(self._columns.offsets) - 1

    def __iter__(self) -> Iterator[Event]:
        return iter(self.to_events())

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> EventBatch: ...
    def __getitem__(self, index: int | slice) -> Event | EventBatch:
        if isinstance(index, int):
            return self.to_events()[index]
        start, stop, step = index.indices(len(self))
        if step != 1:
            return EventBatch(self.to_events()[index])
        stop = max(start, stop)
        events = None if self._events is None else self._events[start:stop]
        columns = None if self._columns is None else self._columns.slice(start, stop)
        rest = None if self._rest is None else self._rest.slice(start, stop - start)
        return EventBatch(events, columns, rest)

    def take(self, places: NDArray[np.int64]) -> EventBatch:
        """Return the events at these indices, in this order.

        Args:
            places: Indices of the events.

        >>> from likewise.model import event
        >>> [e.id for e in EventBatch.from_events(event({"t": 1}, id=i) for i in "abc").take(np.array([2, 0]))]
        ['c', 'a']
        """
        events = None if self._events is None else tuple(self._events[place] for place in places.tolist())
        columns = None if self._columns is None else self._columns.take(places)
        rest = None if self._rest is None else self._rest.take(places)
        return EventBatch(events, columns, rest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EventBatch) and self.to_events() == other.to_events()

    def __hash__(self) -> int:
        return hash(self.to_events())

    def __repr__(self) -> str:
        return f"EventBatch({len(self)} events)"


def _events(columns: EventColumns, rest: pa.RecordBatch) -> Iterator[Event]:
    """Yield Event objects from columns."""
    attributes, texts, units = columns.attributes, columns.texts, columns.units
    tuples = []
    for attribute, kind, number, whole, text, unit, group in zip(
        columns.attribute.tolist(),
        columns.kind.tolist(),
        columns.number.tolist(),
        columns.whole.tolist(),
        columns.text.tolist(),
        columns.unit.tolist(),
        columns.group.tolist(),
        strict=True,
    ):
        value: str | int | float | bool
        if kind == NUMBER:
            value = number
        elif kind == WHOLE:
            value = whole
        elif kind == BOOLEAN:
            value = number == 1.0
        else:
            value = texts[text]
        tuples.append(EventTuple(attributes[attribute], value, "" if unit < 0 else units[unit], group))
    offsets = columns.offsets.tolist()
    plain = [rest.column(name).to_pylist() for name in REST]
    times = zip(columns.time.tolist(), columns.expires.tolist(), strict=True)
    for i, ((time, expires), id, source, themes, graph, vector) in enumerate(zip(times, *plain, strict=True)):
        yield Event(
            tuple(tuples[offsets[i] : offsets[i + 1]]),
            tuple(themes),
            id,
            source,
            None if time == NO_TIME else time,
            None if expires == NO_TIME else expires,
            tuple(Triple(*(t[name] for name in TRIPLE_FIELDS)) for t in graph),
            vector or "",
        )


def _record_batch(columns: EventColumns, rest: pa.RecordBatch, *, dictionary: bool) -> pa.RecordBatch:
    import pyarrow as pa

    schema = batch_schema(dictionary=dictionary)
    kind = columns.kind
    number = (kind == NUMBER) | (kind == WHOLE)
    one_tuple = schema.field("tuples").type.value_type
    parts = [
        _encoded(columns.attribute, columns.attributes, dictionary),
        _encoded(columns.text, columns.texts, dictionary),
        pa.array(columns.number, mask=~number),
        pa.array(columns.number == 1.0, mask=kind != BOOLEAN),
        _encoded(columns.unit, columns.units, dictionary),
        pa.array(columns.group, pa.int32()),
        pa.array(columns.whole, mask=kind != WHOLE),
        pa.array(columns.moment, mask=columns.moment == NO_TIME),
    ]
    tuples = pa.ListArray.from_arrays(
        pa.array(columns.offsets, pa.int32()),
        pa.StructArray.from_arrays(parts, fields=list(one_tuple)),
        type=schema.field("tuples").type,
    )
    ready = {
        "time": _timestamps(columns.time),
        "expires": _timestamps(columns.expires),
        "tuples": tuples,
    }
    arrays = [ready[name] if name in ready else rest.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=schema.with_metadata(METADATA))


def _encoded(codes: NDArray[np.int32], words: list[str], dictionary: bool) -> Any:
    import pyarrow as pa

    encoded: Any = pa.DictionaryArray.from_arrays(
        pa.array(codes, pa.int32(), mask=codes < 0), pa.array(words, pa.string())
    )
    return encoded if dictionary else encoded.dictionary_decode()


def _timestamps(moments: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    return pa.array(moments, pa.int64(), mask=moments == NO_TIME).cast(pa.timestamp("us", tz="UTC"))

"""EventBatch: the same events as a table, as arrays and as objects; wrong tables are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.defaults import MAX_TERM_LENGTH, MAX_THEMES, MAX_TOPIC_LENGTH, MAX_TUPLES
from likewise.errors import ArtefactMissing, FormatError, InvalidEvent, LikewiseError, LimitExceeded
from likewise.formats.arrow.columns import NO_TIME, EventColumns, columns_of, join_columns
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.arrow.schema import METADATA, batch_schema
from likewise.model import Event, EventTuple, event
from tests.formats.drawn import EVENTS, typed

BATCHES = st.lists(EVENTS, max_size=5)


def same(a: Any, b: Any) -> bool:
    return [typed(e) for e in a] == [typed(e) for e in b]


@given(BATCHES, st.booleans())
def test_a_table_gives_the_very_events_back(events: list[Event], dictionary: bool) -> None:
    """To the type and sign of every number, plain or dictionary-encoded, in memory and as a stream."""
    batch = EventBatch.from_events(events)
    table = batch.to_arrow(dictionary=dictionary)
    assert table.schema == batch_schema(dictionary=dictionary)
    assert table.schema.metadata == {str(k).encode(): str(v).encode() for k, v in METADATA.items()}
    table.validate(full=True)
    assert same(EventBatch.from_arrow(table), events)
    assert same(EventBatch.from_ipc(batch.to_ipc(dictionary=dictionary)), events)
    assert EventBatch.from_arrow(table) == batch
    assert hash(EventBatch.from_arrow(table)) == hash(batch)


def words(columns: EventColumns) -> list[tuple[object, ...]]:
    """The columns with codes looked up, so that numberings do not matter."""

    def look(codes: Any, names: list[str]) -> list[str | None]:
        return [None if code < 0 else names[code] for code in codes.tolist()]

    return list(
        zip(
            look(columns.attribute, columns.attributes),
            columns.kind.tolist(),
            map(repr, columns.number.tolist()),
            look(columns.text, columns.texts),
            columns.whole.tolist(),
            columns.moment.tolist(),
            look(columns.unit, columns.units),
            columns.group.tolist(),
            strict=True,
        )
    )


@given(st.lists(BATCHES, min_size=1, max_size=4))
def test_joined_columns_are_those_of_all_events(parts: list[list[Event]]) -> None:
    joined, whole = join_columns([columns_of(part) for part in parts]), columns_of([e for part in parts for e in part])
    assert words(joined) == words(whole)
    for name in ("offsets", "time", "expires"):
        assert getattr(joined, name).tolist() == getattr(whole, name).tolist()
    assert (joined.attributes, joined.texts, joined.units) == (whole.attributes, whole.texts, whole.units)


@given(BATCHES, st.booleans())
def test_columns_of_objects_and_of_a_table_are_the_same(events: list[Event], dictionary: bool) -> None:
    """Whichever way they came; words are distinct, so equal codes mean equal words."""
    plain = EventBatch.from_events(events).columns()
    read = EventBatch.from_arrow(EventBatch.from_events(events).to_arrow(dictionary=dictionary)).columns()
    assert words(plain) == words(read)
    for name in ("offsets", "time", "expires"):
        assert getattr(plain, name).tolist() == getattr(read, name).tolist()
    for columns in (plain, read):
        for listed in (columns.attributes, columns.texts, columns.units):
            assert len(set(listed)) == len(listed)
        dtypes = [
            columns.offsets.dtype,
            columns.attribute.dtype,
            columns.kind.dtype,
            columns.number.dtype,
            columns.text.dtype,
        ]
        assert dtypes == [np.int64, np.int32, np.int8, np.float64, np.int32]


@given(BATCHES, st.booleans(), st.data())
def test_a_slice_is_the_batch_of_those_events(events: list[Event], arrow: bool, data: st.DataObject) -> None:
    """Of objects and of tables, with columns that begin at zero."""
    batch = EventBatch.from_events(events)
    if arrow:
        batch = EventBatch.from_arrow(batch.to_arrow())
    batch.columns()
    start, stop = (data.draw(st.none() | st.integers(-6, 6)) for _ in range(2))
    part = batch[start:stop]
    assert len(part) == len(events[start:stop])
    assert words(part.columns()) == words(EventBatch.from_events(events[start:stop]).columns())
    assert part.columns().offsets[0] == 0
    assert same(part, events[start:stop])
    assert same(EventBatch.from_arrow(part.to_arrow()), events[start:stop])
    assert same(batch[::2], events[::2])


def test_columns_say_what_the_events_say() -> None:
    """A small batch, in full."""
    columns = EventBatch.from_events(
        [
            event({"t": {"value": 21.5, "unit": "C"}, "on": True}, time=7),
            event({"t": "warm", "r": [{"n": 3.0}]}, expires=9),
        ]
    ).columns()
    assert columns.offsets.tolist() == [0, 2, 4]
    assert words(columns) == [
        ("t", 1, "21.5", None, 0, NO_TIME, "C", 0),
        ("on", 2, "1.0", None, 0, NO_TIME, None, 0),
        ("t", 0, "nan", "warm", 0, NO_TIME, None, 0),
        ("r[].n", 1, "3.0", None, 0, NO_TIME, None, 1),
    ]
    assert columns.time.tolist() == [7, NO_TIME]
    assert columns.expires.tolist() == [NO_TIME, 9]


def test_a_batch_is_a_sequence() -> None:
    """Length, items from both ends, iteration."""
    events = [event({"a": i}) for i in range(3)]
    for batch in (
        EventBatch.from_events(iter(events)),
        EventBatch.from_arrow(EventBatch.from_events(events).to_arrow()),
    ):
        assert len(batch) == 3
        assert batch[-1] == events[2]
        assert list(batch) == events
        assert repr(batch) == "EventBatch(3 events)"
        with pytest.raises(IndexError):
            batch[3]
    assert len(EventBatch.from_events([])) == 0
    assert EventBatch.from_arrow(EventBatch.from_events([]).to_arrow()).columns().offsets.tolist() == [0]


def table_of(*tuples: dict[str, Any], kind: pa.DataType | None = None, **columns: Any) -> pa.Table:
    """A table of one event as somebody else may write it."""
    kind = kind or batch_schema().field("tuples").type
    made = {"tuples": pa.array([list(tuples)], kind), **columns}
    return pa.table(made)


def test_what_others_write_is_read() -> None:
    """Large strings and lists, string views, other integers, missing columns and metadata, seconds, chunks."""
    struct = pa.struct([("attribute", pa.large_string()), ("number", pa.int32()), ("unit", pa.string_view())])
    table = table_of(
        {"attribute": "t", "number": 5, "unit": "C"},
        {"attribute": "u", "number": 6, "unit": ""},
        kind=pa.large_list(struct),
        time=pa.array([3], pa.timestamp("s", tz="Europe/Zagreb")),
        id=pa.array(["e"]).dictionary_encode(),
        themes=pa.array([None], pa.null()),
    )
    assert list(EventBatch.from_arrow(table)) == [
        Event((EventTuple("t", 5, "C"), EventTuple("u", 6)), id="e", time=3_000_000)
    ]
    assert len(EventBatch.from_arrow(pa.concat_tables([table, table])).to_events()) == 2


def test_chunks_with_different_dictionaries_are_joined() -> None:
    """As a stream of batches from different writers has."""
    parts = [[event({"a": "x", "b": 1})], [event({"b": "y", "a": "x"}), event({"c": "z"})]]
    table = pa.Table.from_batches([EventBatch.from_events(part).to_arrow() for part in parts])
    batch = EventBatch.from_arrow(table)
    assert list(batch) == parts[0] + parts[1]
    assert sorted(batch.columns().attributes) == ["a", "b", "c"]


def test_a_dictionary_may_hold_a_word_twice_or_null() -> None:
    """Equal words still have equal codes."""
    attribute = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "a"]))
    text = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["x", None, "x"]))
    tuples = pa.StructArray.from_arrays([attribute, text, pa.array([None, 5.5, None])], ["attribute", "text", "number"])
    columns = EventBatch.from_arrow(pa.table({"tuples": pa.ListArray.from_arrays([0, 3], tuples)})).columns()
    assert columns.attribute[0] == columns.attribute[2] != columns.attribute[1]
    assert [row[:4] for row in words(columns)] == [("a", 0, "nan", "x"), ("b", 1, "5.5", None), ("a", 0, "nan", "x")]


def in_version(table: pa.Table, version: str) -> pa.Table:
    metadata: Any = {**METADATA, "v": version}
    return table.replace_schema_metadata(metadata)


OK = {"attribute": "a", "number": 1.0, "group": 0}
LONG = "x" * (MAX_TERM_LENGTH + 1)
BAD: list[tuple[str, Any, type[LikewiseError]]] = [
    ("no table", lambda: [1], FormatError),
    ("another schema", lambda: table_of(OK).replace_schema_metadata({"likewise.schema": "windows"}), FormatError),
    ("a newer version", lambda: in_version(table_of(OK), "3"), FormatError),
    ("no version", lambda: table_of(OK).replace_schema_metadata({"likewise.schema": "event-batch"}), FormatError),
    ("an unknown column", lambda: table_of(OK, extra=pa.array([1])), FormatError),
    ("no events", lambda: pa.table({"id": pa.array(["x"])}), FormatError),
    ("tuples that are no list", lambda: pa.table({"tuples": pa.array([1])}), FormatError),
    ("items that are no structs", lambda: pa.table({"tuples": pa.array([["x"]])}), FormatError),
    (
        "an unknown field",
        lambda: pa.table({"tuples": pa.array([[{"attribute": "a", "number": 1, "x": 1}]])}),
        FormatError,
    ),
    ("a null tuple", lambda: pa.table({"tuples": pa.array([[{"attribute": "a", "number": 1}, None]])}), FormatError),
    ("no attribute", lambda: pa.table({"tuples": pa.array([[{"attribute": None, "number": 1}]])}), InvalidEvent),
    (
        "an attribute of bytes",
        lambda: pa.table({"tuples": pa.array([[{"attribute": b"a", "number": 1}]])}),
        FormatError,
    ),
    ("a blank attribute", lambda: table_of({**OK, "attribute": " "}), InvalidEvent),
    ("a long attribute", lambda: table_of({**OK, "attribute": LONG}), LimitExceeded),
    ("a long text", lambda: table_of({"attribute": "a", "text": LONG, "group": 0}), LimitExceeded),
    (
        "a long text that is a topic elsewhere",
        lambda: table_of(*({"attribute": name, "text": LONG, "group": 0} for name in ("topic", "a"))),
        LimitExceeded,
    ),
    (
        "a topic longer than MQTT's",
        lambda: table_of({"attribute": "topic", "text": "x" * (MAX_TOPIC_LENGTH + 1), "group": 0}),
        LimitExceeded,
    ),
    ("no value", lambda: table_of({"attribute": "a", "group": 0}), InvalidEvent),
    ("two values", lambda: table_of({**OK, "boolean": True}), FormatError),
    (
        "a Boolean with text",
        lambda: table_of({"attribute": "a", "text": "x", "boolean": True, "group": 0}),
        FormatError,
    ),
    ("another spelling", lambda: table_of({**OK, "text": "2"}), FormatError),
    ("a spelling that is none", lambda: table_of({**OK, "text": "one"}), FormatError),
    ("NaN", lambda: table_of({**OK, "number": float("nan")}), InvalidEvent),
    ("infinity", lambda: table_of({**OK, "number": float("inf")}), InvalidEvent),
    ("a negative group", lambda: table_of({**OK, "group": -1}), FormatError),
    ("too many tuples", lambda: table_of(*[OK] * (MAX_TUPLES + 1)), LimitExceeded),
    ("an empty event", lambda: table_of(), InvalidEvent),
    ("a naive time", lambda: table_of(OK, time=pa.array([1], pa.timestamp("us"))), InvalidEvent),
    ("a time that is a number", lambda: table_of(OK, time=pa.array([1])), InvalidEvent),
    ("a vector of more", lambda: table_of(OK, vector=pa.array(["012"])), InvalidEvent),
    ("a vector of numbers", lambda: table_of(OK, vector=pa.array([1])), FormatError),
    ("too many themes", lambda: table_of(OK, themes=pa.array([["t"] * (MAX_THEMES + 1)])), LimitExceeded),
    ("a blank theme", lambda: table_of(OK, themes=pa.array([[" "]])), InvalidEvent),
    ("a null theme", lambda: table_of(OK, themes=pa.array([["a", None]])), FormatError),
    (
        "half a triple",
        lambda: table_of(OK, graph=pa.array([[{"subject": "<x:a>", "predicate": "<x:b>"}]])),
        FormatError,
    ),
    ("an id that is a number", lambda: table_of(OK, id=pa.array([5])), FormatError),
]


@pytest.mark.parametrize(("make", "error"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_wrong_table_is_refused(make: Any, error: type[LikewiseError]) -> None:
    """When it is handed over, not when an event is first looked at."""
    with pytest.raises(error):
        EventBatch.from_arrow(make())


def test_a_topic_as_long_as_mqtt_allows_comes_back() -> None:
    """As an event with one is taken, and kept."""
    made = [event({"topic": "x" * MAX_TOPIC_LENGTH, "t": 1}), event({"t": 2})]
    assert EventBatch.from_ipc(EventBatch.from_events(made).to_ipc()).to_events() == tuple(made)


def test_invalid_utf8_in_a_table_is_refused() -> None:
    """Arrow does not look by itself."""
    broken = pa.array([b"\xff"]).view(pa.string())
    tuples = pa.StructArray.from_arrays([broken, pa.array([1.0])], ["attribute", "number"])
    with pytest.raises(FormatError):
        EventBatch.from_arrow(pa.table({"tuples": pa.ListArray.from_arrays([0, 1], tuples)}))


def test_damaged_names_of_fields_are_refused() -> None:
    """Of columns and inside of them."""
    stream = EventBatch.from_events([event({"a": "x"})]).to_ipc()
    for name in (b"subject", b"expires"):
        assert name in stream
        with pytest.raises(FormatError):
            EventBatch.from_ipc(stream.replace(name, b"\x8d" * len(name)))


@given(BATCHES, st.data())
def test_a_damaged_stream_is_a_batch_or_an_error_of_the_tree(events: list[Event], data: st.DataObject) -> None:
    """Cut short or with bytes changed."""
    stream = bytearray(EventBatch.from_events(events).to_ipc())
    del stream[data.draw(st.integers(0, len(stream))) :]
    if stream:
        stream[data.draw(st.integers(0, len(stream) - 1))] ^= data.draw(st.integers(0, 255))
    try:
        list(EventBatch.from_ipc(bytes(stream)))
    except LikewiseError:
        return


def test_a_stream_is_read_from_a_file(tmp_path: Path) -> None:
    """A missing file, and one that is none, are said to be so."""
    events = [event({"a": "x"}), event({"a": 2})]
    path = tmp_path / "batch.arrow"
    path.write_bytes(EventBatch.from_events(events).to_ipc())
    assert list(EventBatch.from_ipc(path)) == events
    with pytest.raises(ArtefactMissing):
        EventBatch.from_ipc(tmp_path / "other.arrow")
    path.write_bytes(b"no arrow")
    with pytest.raises(FormatError):
        EventBatch.from_ipc(path)
    path.write_bytes(b"")
    with pytest.raises(FormatError):
        EventBatch.from_ipc(path)


def test_text_that_is_no_unicode_is_refused() -> None:
    """When the table is made."""
    with pytest.raises(FormatError):
        EventBatch.from_events([Event((EventTuple("a", "\ud800"),))]).to_arrow()


def test_importing_formats_loads_no_arrow_and_no_rdf_library() -> None:
    """They load on first use."""
    modules = ", ".join(
        f"likewise.formats.{name}" for name in ("json", "arrow.event_batch", "rdf.reader", "senml", "cloudevents")
    )
    unwanted = {"pyarrow", "pyoxigraph", "pint", "scipy", "numba"}
    code = f"import sys, {modules}; print(sorted({unwanted} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_whole_numbers_and_moments_come_back_to_the_last_digit() -> None:
    """64 bits, times to the microsecond, and larger numbers as they are written."""
    said: dict[str, object] = {"a": 2**63 - 1, "b": 2**53 + 1, "c": 27.0, "d": 27, "e": 2**70, "f": "2024-05-01"}
    events = [event({**said, "g": "2024-05-01T12:00:00.000001Z"})]
    table = EventBatch.from_events(events).to_arrow(dictionary=False)
    rows: Any = table.column("tuples").to_pylist()[0]
    assert [row["whole"] for row in rows] == [2**63 - 1, 2**53 + 1, None, 27, None, None, None]
    assert [row["moment"] for row in rows[5:]] == [1714521600000000, 1714564800000001]
    again = EventBatch.from_arrow(table).to_events()[0]
    assert [(type(t.value), t.value) for t in again.tuples] == [(type(t.value), t.value) for t in events[0].tuples]


def test_a_batch_of_version_1_is_read_as_it_was_written() -> None:
    """Whole numbers are doubles up to 2**53, or spelled by the text beside them."""
    parts = {
        "attribute": ["a"] * 5,
        "number": [27.0, 27.0, 2.0**53, 27.5, None],
        "group": [0] * 5,
        "text": [None, "27.0", "9007199254740993", None, "warm"],
    }
    tuples = pa.array([dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)])
    table = pa.table({"tuples": pa.ListArray.from_arrays([0, 5], tuples)})
    table = table.replace_schema_metadata({"likewise.schema": "event-batch", "v": "1"})
    values = [t.value for t in EventBatch.from_arrow(table).to_events()[0].tuples]
    assert [(type(v), v) for v in values] == [
        (int, 27),
        (float, 27.0),
        (int, 2**53 + 1),
        (float, 27.5),
        (str, "warm"),
    ]


def test_a_value_may_be_given_by_whole_or_moment_alone() -> None:
    """A moment alone is a time in UTC; one beside a text must be what the text says."""
    fields: dict[str, Any] = {"whole": pa.int64(), "moment": pa.int64(), "text": pa.string(), "attribute": pa.string()}
    kind = pa.struct(list(fields.items()))
    rows = [{"attribute": "a", "whole": 2**60 + 1}, {"attribute": "b", "moment": 0}]

    def table(rows: list[dict[str, object]]) -> pa.Table:
        return pa.table({"tuples": pa.ListArray.from_arrays([0, len(rows)], pa.array(rows, kind))})

    values = [t.value for t in EventBatch.from_arrow(table(rows)).to_events()[0].tuples]
    assert values == [2**60 + 1, "1970-01-01T00:00:00Z"]
    with pytest.raises(FormatError, match="another time"):
        EventBatch.from_arrow(table([{"attribute": "b", "moment": 5, "text": "1970-01-01"}]))

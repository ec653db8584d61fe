"""Promises of payloads on Spark: bad ones stop nothing, and events are what the plain reader makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import FormatError, LikewiseError
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.arrow.schema import METADATA
from likewise.formats.json.events import event_from_json
from likewise.model import Event, event
from likewise.spark.streaming.payloads import decode_payloads, decode_structs, decode_table

PAYLOADS = [
    b'{"t": 21}',
    b'{"t": 21.5, "city": "Galway"}',
    b'{"a": {"b": [1, 2]}}',
    b'{"t": {"value": 3, "unit": "C"}}',
    b'{"v": 1, "payload": {"t": 1}, "id": "e"}',
    b'{"v": 1, "payload": {"t": 1}, "id": "e", "source": "s", "time": 77, "themes": ["heat"]}',
    b"",
    b"{",
    b"[1]",
    b'{"t": 1, "t": 2}',
    b"{}",
    b'{"t": NaN}',
    b"\xff",
    b'{"v": 1, "payload": 3, "graph": 4}',
]


def plainly(payload: bytes) -> Event | None:
    try:
        return event_from_json(payload)
    except LikewiseError:
        return None


@given(st.lists(st.sampled_from(PAYLOADS), max_size=60))
def test_every_payload_is_an_event_as_the_plain_reader_makes_it_or_has_a_reason(payloads: list[bytes]) -> None:
    """In any mixture, few and many, and also as a table of those at some places."""
    read = decode_payloads(payloads)
    wanted = [plainly(each) for each in payloads]
    assert read.places.tolist() == [place for place, each in enumerate(wanted) if each is not None]
    assert [bad.place for bad in read.bad] == [place for place, each in enumerate(wanted) if each is None]
    assert all(bad.reason for bad in read.bad)
    good = [each for each in wanted if each is not None]
    assert list(read.events) == good
    chosen = np.arange(len(good))[::-2].copy()
    taken = EventBatch.from_arrow(decode_payloads(payloads).events.take(chosen).to_arrow())
    assert list(taken) == [good[place] for place in chosen.tolist()]


def test_a_missing_payload_is_bad_and_not_the_end() -> None:
    """Kafka's tombstones have none."""
    assert [bad.place for bad in decode_payloads([None, b'{"t": 1}']).bad] == [0]


def test_structs_are_read_without_their_empty_fields() -> None:
    """A row's null is no value."""
    read = decode_structs([{"t": 21, "where": {"room": None, "city": "Galway"}}, None, {"t": None}])
    assert [(t.attribute, t.value) for t in read.events[0].tuples] == [("t", 21), ("where.city", "Galway")]
    assert [bad.place for bad in read.bad] == [1, 2]


WRONG: list[dict[str, Any] | None] = [
    {"number": float("inf")},
    {"number": 3.0, "whole": 4},
    {"number": 3.0, "text": "4"},
    None,
    {"group": -1},
    {"attribute": ""},
    {"number": None},
    {"boolean": True},
    {"moment": 2**62, "number": None},
]


@pytest.mark.parametrize("stated", [True, False], ids=["of version 2", "of no version"])
@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_one_bad_event_of_a_table_leaves_the_others(wrong: dict[str, Any] | None, stated: bool) -> None:
    """Whatever is wrong with a tuple of it, it is told from its neighbours, which are read as without it."""
    events = [event({"t": 27.0 if n == 1 else n}, id=str(n)) for n in range(7)]
    table = EventBatch.from_events(events).to_arrow(dictionary=False)
    rows = table.to_pylist()
    rows[3]["tuples"] = [None if wrong is None else rows[1]["tuples"][0] | wrong]
    plain = [pa.field(field.name, _nullable(field.type)) for field in table.schema]
    changed = pa.RecordBatch.from_pylist(rows, schema=pa.schema(plain, METADATA if stated else None))
    read = decode_table(changed)
    assert [repr(each) for each in read.events] == [repr(each) for each in events if each.id != "3"]
    assert (read.places.tolist(), [bad.place for bad in read.bad]) == ([0, 1, 2, 4, 5, 6], [3])


def test_a_text_beside_a_number_is_read_by_the_version_of_all_rows() -> None:
    """No row would be bad alone, where no version is said."""
    table = EventBatch.from_events([event({"t": n}, id=str(n)) for n in range(3)]).to_arrow(dictionary=False)
    rows = table.to_pylist()
    rows[1]["tuples"][0] |= {"whole": None, "text": "1.0"}
    read = decode_table(pa.RecordBatch.from_pylist(rows, schema=table.schema.remove_metadata()))
    assert (read.places.tolist(), [bad.place for bad in read.bad]) == ([0, 2], [1])


def test_a_table_that_holds_no_events_is_refused_whole() -> None:
    """Its columns are wrong, not its rows."""
    with pytest.raises(FormatError, match="must be a list"):
        decode_table(pa.RecordBatch.from_pydict({"tuples": [1, 2]}))


def _nullable(kind: pa.DataType) -> pa.DataType:
    """The same type, of which everything may be null, as Spark writes it."""
    if pa.types.is_list(kind):
        return pa.list_(_nullable(kind.value_type))
    return pa.struct([(each.name, each.type) for each in kind]) if pa.types.is_struct(kind) else kind

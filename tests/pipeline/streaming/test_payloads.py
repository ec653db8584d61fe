"""Promises of payloads on Spark: bad ones stop nothing, and events are what the plain reader makes of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.json.events import event_from_json
from likewise.model import Event, event
from likewise.pipeline.streaming.payloads import read_payloads, read_structs, read_table

PAYLOADS = [
    b'{"t": 21}', b'{"t": 21.5, "city": "Galway"}', b'{"a": {"b": [1, 2]}}', b'{"t": {"value": 3, "unit": "C"}}',
    b'{"v": 1, "payload": {"t": 1}, "id": "e"}',
    b'{"v": 1, "payload": {"t": 1}, "id": "e", "source": "s", "time": 77, "themes": ["heat"]}',
    b"", b"{", b"[1]", b'{"t": 1, "t": 2}', b"{}", b'{"t": NaN}', b'\xff', b'{"v": 1, "payload": 3, "graph": 4}',
]  # fmt: skip


def plainly(payload: bytes) -> Event | None:
    try:
        return event_from_json(payload)
    except LikewiseError:
        return None


@given(st.lists(st.sampled_from(PAYLOADS), max_size=60))
def test_every_payload_is_an_event_as_the_plain_reader_makes_it_or_has_a_reason(payloads: list[bytes]) -> None:
    """In any mixture, few and many, and also as a table of those at some places."""
    read = read_payloads(payloads)
    wanted = [plainly(each) for each in payloads]
    assert read.places.tolist() == [place for place, each in enumerate(wanted) if each is not None]
    assert [bad.place for bad in read.bad] == [place for place, each in enumerate(wanted) if each is None]
    assert all(bad.reason for bad in read.bad)
    good = [each for each in wanted if each is not None]
    assert list(read.events) == good
    chosen = np.arange(len(good))[::-2].copy()
    taken = EventBatch.from_arrow(read_payloads(payloads).events.take(chosen).to_arrow())
    assert list(taken) == [good[place] for place in chosen.tolist()]


def test_a_missing_payload_is_bad_and_not_the_end() -> None:
    """Kafka's tombstones have none."""
    assert [bad.place for bad in read_payloads([None, b'{"t": 1}']).bad] == [0]


def test_structs_are_read_without_their_empty_fields() -> None:
    """A row's null is no value."""
    read = read_structs([{"t": 21, "where": {"room": None, "city": "Galway"}}, None, {"t": None}])
    assert [(t.attribute, t.value) for t in read.events[0].tuples] == [("t", 21), ("where.city", "Galway")]
    assert [bad.place for bad in read.bad] == [1, 2]


def test_one_bad_event_of_a_table_leaves_the_others() -> None:
    """A number that is none is told from its neighbours."""
    table = EventBatch.from_events([event({"t": float(n)}, id=str(n)) for n in range(5)]).to_arrow(dictionary=False)
    rows = table.to_pylist()
    rows[3]["tuples"][0]["number"] = float("inf")
    import pyarrow as pa

    read = read_table(pa.RecordBatch.from_pylist(rows, schema=table.schema))
    assert [e.id for e in read.events] == ["0", "1", "2", "4"]
    assert (read.places.tolist(), [bad.place for bad in read.bad]) == ([0, 1, 2, 4], [3])

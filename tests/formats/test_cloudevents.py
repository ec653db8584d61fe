"""CloudEvents: structured and batch mode to events and back."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given

from likewise.errors import FormatError, InvalidEvent, LikewiseError, LimitExceeded
from likewise.formats.cloudevents import (
    event_from_cloudevent,
    event_to_cloudevent,
    events_from_cloudevents,
    events_to_cloudevents,
)
from likewise.model import Event, EventTuple, event
from tests.formats.drawn import EVENTS, typed

MINIMAL: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/lab", "type": "reading"}
FULL: dict[str, Any] = {
    **MINIMAL,
    "time": "2024-05-01T12:00:00Z",
    "subject": "room 112",
    "dataschema": "https://example.org/s",
    "traceparent": "00-abc",
    "sampled": True,
    "sequence": 7,
    "data": {"temp": {"value": 21, "unit": "C"}, "tags": ["a", "b"], "r": [{"n": "x", "v": 1}]},
}


def test_a_cloudevent_is_an_event() -> None:
    """Its data are attributes; its context is kept beside them."""
    made = event_from_cloudevent(json.dumps(FULL))
    assert (made.id, made.source, made.time) == ("1", "/lab", 1_714_564_800_000_000)
    assert made.tuples[:2] == (EventTuple("temp", 21, "C"), EventTuple("tags[]", "a"))
    assert {t.attribute: t.value for t in made.tuples if t.attribute.startswith("ce-")} == {
        "ce-type": "reading",
        "ce-subject": "room 112",
        "ce-dataschema": "https://example.org/s",
        "ce-traceparent": "00-abc",
        "ce-sampled": True,
        "ce-sequence": 7,
    }


def test_a_cloudevent_comes_back_as_it_was() -> None:
    """Every attribute, extension and field."""
    assert json.loads(event_to_cloudevent(event_from_cloudevent(json.dumps(FULL)))) == FULL
    assert json.loads(event_to_cloudevent(event_from_cloudevent(json.dumps(MINIMAL)))) == MINIMAL


@given(EVENTS.filter(lambda e: all(m is None or abs(m) < 2**54 for m in (e.time, e.expires))))
def test_an_event_comes_back_as_it_was(made: Event) -> None:
    """Themes, validity, graph, vector, groups and numbers included."""
    if made.id is None:
        with pytest.raises(InvalidEvent, match="needs an id"):
            event_to_cloudevent(made)
        return
    again = event_from_cloudevent(event_to_cloudevent(made, source=made.source or "/x"))
    expected = Event(
        made.tuples, made.themes, made.id, made.source or "/x", made.time, made.expires, made.graph, made.vector
    )
    assert typed(again) == typed(expected)


def test_data_is_written_as_people_write_it_where_that_says_the_same() -> None:
    """Else as the envelope with exact tuples."""
    nested = event({"a": {"b": 1}, "r": [{"x": 1}, {"x": 2}]}, id="1")
    assert json.loads(event_to_cloudevent(nested))["data"] == {"a": {"b": 1}, "r": [{"x": 1}, {"x": 2}]}
    repeated = Event((EventTuple("a", 1), EventTuple("a", 2)), id="1")
    assert json.loads(event_to_cloudevent(repeated))["data"]["v"] == 1


def test_a_batch_is_a_list_of_cloudevents() -> None:
    """Possibly of none."""
    events = events_from_cloudevents(json.dumps([FULL, {**MINIMAL, "id": "2"}]))
    assert [e.id for e in events] == ["1", "2"]
    assert events_from_cloudevents(events_to_cloudevents(events)) == events
    assert events_from_cloudevents("[]") == ()


def test_data_may_be_of_any_kind() -> None:
    """Text, numbers and lists are the attribute `data`; base64 of JSON is JSON, of anything else it stays."""
    assert event_from_cloudevent(json.dumps({**MINIMAL, "data": "hi"})).tuples[0] == EventTuple("data", "hi")
    assert event_from_cloudevent(json.dumps({**MINIMAL, "data": [1, 2]})).tuples[1] == EventTuple("data[]", 2)
    assert event_from_cloudevent(json.dumps({**MINIMAL, "data": None})).tuples == (EventTuple("ce-type", "reading"),)
    packed = base64.b64encode(b'{"t": 1}').decode()
    as_json = {**MINIMAL, "datacontenttype": "application/json; charset=utf-8", "data_base64": packed}
    assert event_from_cloudevent(json.dumps(as_json)).tuples[0] == EventTuple("t", 1)
    other = {**MINIMAL, "datacontenttype": "image/png", "data_base64": packed}
    assert event_from_cloudevent(json.dumps(other)).tuples[0] == EventTuple("data_base64", packed)


@pytest.mark.parametrize(
    "change",
    [
        {"specversion": "0.3"},
        {"specversion": None},
        {"id": ""},
        {"id": 5},
        {"source": None},
        {"type": ""},
        {"time": "soon"},
        {"time": 5},
        {"time": "2024-05-01T12:00:00"},
        {"Bad-Name": "x"},
        {"ext": {"a": 1}},
        {"ext": 1.5},
        {"themes": "energy"},
        {"themes": 5},
        {"data": {}, "data_base64": ""},
        {"data_base64": "%%%"},
        {"data_base64": 5},
        {"data_base64": base64.b64encode(b"{").decode()},
        {"data": {"a": "x" * 2_000}},
        {"data": {"a": {"b": [[[]]]}}, "x_y": 1},
    ],
)
def test_what_is_no_cloudevent_is_refused(change: dict[str, Any]) -> None:
    """With an error of the tree."""
    with pytest.raises(LikewiseError):
        event_from_cloudevent(json.dumps({**MINIMAL, **change}))


def test_size_and_nesting_are_limited() -> None:
    """As those of events."""
    with pytest.raises(LimitExceeded):
        event_from_cloudevent(json.dumps({**MINIMAL, "data": "x" * 10_000_000}))
    with pytest.raises(LimitExceeded):
        event_from_cloudevent(json.dumps(MINIMAL)[:-1] + ', "data":' + '{"a":' * 10_000 + "1" + "}" * 10_000 + "}")
    with pytest.raises(FormatError, match="twice"):
        event_from_cloudevent(json.dumps(MINIMAL)[:-1] + ', "id": "2"}')
    with pytest.raises(FormatError, match="years 1 to 9999"):
        event_to_cloudevent(event({"a": 1}, id="1", time=2**62))

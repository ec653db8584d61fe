"""Events as JSON: both shapes, what is kept, what is refused, and how lines are read."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from likewise.defaults import MAX_EVENT_BYTES
from likewise.errors import FormatError, InvalidEvent, LikewiseError, LimitExceeded
from likewise.formats.json import event_from_json, event_to_json, read_events, schema
from likewise.formats.version import check_version
from likewise.model import Event, EventTuple, Triple, event
from tests.formats.drawn import EVENTS, typed

VALIDATOR = Draft202012Validator(schema("event"))


def attributes(made: Event) -> list[tuple[str, object]]:
    return [(t.attribute, t.value) for t in made.tuples]


@given(EVENTS)
def test_an_event_written_and_read_again_is_the_same(made: Event) -> None:
    """To the type of every number, also of whole numbers beyond 64 bits; and it follows its schema."""
    data = event_to_json(made)
    assert typed(event_from_json(data)) == typed(made)
    VALIDATOR.validate(json.loads(data))


def test_the_envelope_says_everything_about_an_event() -> None:
    """Times as text or microseconds, a graph, a vector, nested payload."""
    document = {
        "v": 1,
        "payload": {"room": {"temp": {"value": 21, "unit": "C"}}, "tags": ["a"]},
        "themes": ["energy"],
        "id": "e1",
        "source": "lab",
        "time": "1970-01-01T00:00:01Z",
        "expires": 5,
        "graph": [["<http://e.org/a>", "<http://e.org/p>", '"caf\\u00e9"@EN']],
        "vector": [0, 1],
    }
    VALIDATOR.validate(document)
    assert event_from_json(json.dumps(document)) == Event(
        (EventTuple("room.temp", 21, "C"), EventTuple("tags[]", "a")),
        ("energy",),
        "e1",
        "lab",
        1_000_000,
        5,
        (Triple("<http://e.org/a>", "<http://e.org/p>", '"café"@en'),),
        "01",
    )


def test_a_plain_object_is_the_payload() -> None:
    """Also if it happens to have a field `v`, `id` or `time`."""
    made = event_from_json('{"v": 3.3, "id": "x", "time": "now", "payload": "0a"}')
    assert made.id is None
    assert attributes(made) == [("v", 3.3), ("id", "x"), ("time", "now"), ("payload", "0a")]
    assert attributes(event_from_json('{"v": 1, "t": 2}')) == [("v", 1), ("t", 2)]


def test_the_shape_can_be_said() -> None:
    """A payload that looks like an envelope, and an envelope that must be one."""
    text = '{"v": 1, "payload": {"t": 2}}'
    assert attributes(event_from_json(text)) == [("t", 2)]
    assert attributes(event_from_json(text, bare=True)) == [("v", 1), ("payload.t", 2)]
    with pytest.raises(FormatError, match="v is None"):
        event_from_json('{"t": 2}', bare=False)


def test_unknown_fields_of_the_envelope_are_kept_as_tuples() -> None:
    """After the payload's; their list items get groups of their own."""
    made = event_from_json(
        '{"v": 1, "payload": {"r": [{"a": 1}]}, "priority": "high", "hops": [{"via": "x"}], "n": null}'
    )
    assert made.tuples == (
        EventTuple("r[].a", 1, "", 1),
        EventTuple("priority", "high"),
        EventTuple("hops[].via", "x", "", 2),
    )
    VALIDATOR.validate({"v": 1, "payload": {"a": 1}, "priority": "high"})


def test_versions_are_read_back_to_the_one_before() -> None:
    """The current and the previous one; nothing newer, older or else."""
    assert check_version(1, "event") == 1
    assert [check_version(v, "event", current=3) for v in (2, 3)] == [2, 3]
    for found, current in ((2, 1), (0, 1), (1, 3), (4, 3), ("1", 1), (True, 1), (None, 1), (1.0, 1)):
        with pytest.raises(FormatError, match="convert it or update"):
            check_version(found, "event", current=current)
    with pytest.raises(FormatError, match="v is 2"):
        event_from_json('{"v": 2, "payload": {"t": 1}}')


BAD: list[tuple[str, Any, type[LikewiseError]]] = [
    ("not JSON", "{", FormatError),
    ("empty", b"", FormatError),
    ("more after it", '{"a": 1} x', FormatError),
    ("an array", "[1]", FormatError),
    ("a number", "5", FormatError),
    ("NaN", '{"a": NaN}', FormatError),
    ("Infinity", '{"a": -Infinity}', FormatError),
    ("beyond floating point", '{"a": 1e999}', FormatError),
    ("a whole number of a thousand digits", '{"a": ' + "9" * 1100 + "}", LimitExceeded),
    ("a whole number of 5,000 digits", '{"a": ' + "9" * 5_000 + "}", FormatError),
    ("invalid UTF-8", b'{"a": "\xff"}', FormatError),
    ("invalid UTF-8 in a key", b'{"\xc3\x28": 1}', FormatError),
    ("half a surrogate pair, escaped", '{"a": "\\ud800"}', FormatError),
    ("half a surrogate pair, raw", '{"a": "\ud800"}', FormatError),
    ("a key twice", '{"a": 1, "a": 2}', FormatError),
    ("a key twice, deep", '{"x": [{"a": {"b": 1, "b": 1}}]}', FormatError),
    ("a key twice, once escaped", '{"a": 1, "\\u0061": 2}', FormatError),
    ("a key twice in the envelope", '{"v": 1, "payload": {"t": 1}, "id": "a", "id": "b"}', FormatError),
    ("a value of 10 MB", '{"a": "' + "x" * 10_000_000 + '"}', LimitExceeded),
    ("a value of 2,000 characters", '{"a": "' + "x" * 2_000 + '"}', LimitExceeded),
    ("nesting 10,000 deep", '{"a":' * 10_000 + "1" + "}" * 10_000, LimitExceeded),
    ("lists 10,000 deep", '{"a":' + "[" * 10_000 + "]" * 10_000 + "}", LimitExceeded),
    ("nesting 65 deep", '{"a":' * 65 + "1" + "}" * 65, LimitExceeded),
    ("nothing said", "{}", InvalidEvent),
    ("an empty payload", '{"v": 1, "payload": {}}', InvalidEvent),
    ("payload and tuples", '{"v": 1, "payload": {"a": 1}, "tuples": []}', FormatError),
    ("an id that is a number", '{"v": 1, "payload": {"a": 1}, "id": 5}', FormatError),
    ("themes that are text", '{"v": 1, "payload": {"a": 1}, "themes": "x"}', FormatError),
    ("a tuple without a value", '{"v": 1, "tuples": [{"attribute": "a"}]}', FormatError),
    ("a tuple with a list", '{"v": 1, "tuples": [{"attribute": "a", "value": [1]}]}', FormatError),
    ("a naive time", '{"v": 1, "payload": {"a": 1}, "time": "2024-01-01T00:00:00"}', InvalidEvent),
    ("a time beyond 64 bits", '{"v": 1, "payload": {"a": 1}, "time": 99999999999999999999}', InvalidEvent),
    ("a term that is none", '{"v": 1, "graph": [["a", "b", "c"]]}', FormatError),
    ("a literal as subject", '{"v": 1, "graph": [["\\"a\\"", "<x:b>", "<x:c>"]]}', FormatError),
    ("a triple of two", '{"v": 1, "graph": [["<x:a>", "<x:b>"]]}', FormatError),
    ("a vector of more", '{"v": 1, "vector": [0, 2]}', FormatError),
    ("no bytes at all", 5, FormatError),
]


@pytest.mark.parametrize(("data", "error"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_is_an_error_of_the_tree(data: Any, error: type[LikewiseError]) -> None:
    """With a stable code and a message of readable length."""
    with pytest.raises(error) as caught:
        event_from_json(data)
    assert caught.value.code == error.code
    assert len(str(caught.value)) < 1_000


def test_text_that_looks_like_keys_is_no_repeated_key() -> None:
    """Colons and quotes in values, blanks around colons, escapes."""
    for text in ('{"a": ":", "b": "\\":"}', '{"a" : {"b"\n:1}, "c"\t: ": : :"}', '{"a": "x\\\\", "b": {"a": 1}}'):
        assert event_from_json(text) == event(json.loads(text))


def test_the_largest_event_is_read_and_one_byte_more_is_not() -> None:
    """The limit counts bytes, before anything is decoded."""
    text = '{"a": 1' + " " * (MAX_EVENT_BYTES - 8) + "}"
    assert event_from_json(text).tuples
    with pytest.raises(LimitExceeded):
        event_from_json(text + " ")


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60), EVENTS.map(lambda e: str(e.tuples[0].value))))
def test_any_bytes_are_an_event_or_an_error_of_the_tree(data: bytes | str) -> None:
    """Never a traceback of another kind."""
    with suppress(LikewiseError):
        event_from_json(data)


@given(EVENTS, st.data())
def test_a_damaged_event_is_an_event_or_an_error_of_the_tree(made: Event, data: st.DataObject) -> None:
    """A byte changed, taken out or put in anywhere."""
    document = bytearray(event_to_json(made))
    place = data.draw(st.integers(0, len(document) - 1))
    document[place : place + data.draw(st.integers(0, 1))] = data.draw(st.binary(max_size=1))
    with suppress(LikewiseError):
        event_from_json(bytes(document))


def test_events_are_read_line_by_line() -> None:
    """Blank lines are left out, of text and of bytes; nothing is read ahead."""
    lines = ['{"a": 1}\n', "\n", "  \r\n", '{"v": 1, "payload": {"a": 2}}']
    assert [e.tuples[0].value for e in read_events(lines)] == [1, 2]
    assert [e.tuples[0].value for e in read_events(line.encode() for line in lines)] == [1, 2]
    reading = read_events(iter(['{"a": 1}', "{"]))
    assert next(reading).tuples[0].value == 1


def test_an_error_names_its_line() -> None:
    """Keeping its own type, code and facts."""
    with pytest.raises(FormatError, match=r"^line 3: ") as caught:
        list(read_events(['{"a": 1}', "", "{"]))
    assert caught.value.to_dict()["input_line"] == 3
    with pytest.raises(LimitExceeded, match=r"^line 1: ") as limited:
        list(read_events(['{"a": "' + "x" * 2_000 + '"}']))
    assert limited.value.to_dict()["allowed"] == 1_024


def test_bad_lines_can_be_put_aside() -> None:
    """Reading goes on with the next line."""
    aside: list[LikewiseError] = []
    assert [e.tuples[0].value for e in read_events(["{", '{"a": 2}', "[]"], on_error=aside.append)] == [2]
    assert [vars(error)["input_line"] for error in aside] == [1, 3]


def test_text_that_is_no_unicode_is_not_written() -> None:
    """An error of the tree, not of the codec."""
    with pytest.raises(FormatError, match="surrogate"):
        event_to_json(Event((EventTuple("a", "\ud800"),)))

"""JSON objects that are stored as they came say what the plain reader reads in them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import LikewiseError
from likewise.formats.json.batches import batch_of_documents, has_unique_keys
from likewise.formats.json.envelope_bytes import EnvelopeFields
from likewise.model import Event
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import load_maps

READER = MessageReader(load_maps())
NAMES = st.sampled_from(["temperature", "temp_unit", "value", "unit", "a", "grün", "b.c", "x[]", " "]) | st.text(
    max_size=5
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def both(topic: str, payload: bytes, copies: int = 20) -> tuple[list[Event], list[Event]] | None:
    """The same message, read plainly and as it came; None if it is not stored as it came."""
    plain, found = READER.envelope_template(topic), msgspec.json.decode(payload)
    if plain is None or not found or not plain.reserved.isdisjoint(found) or not has_unique_keys(payload, found):
        return None
    expected = READER.read(MqttPublication(topic, payload, client="dev"), 0)
    envelope = plain.envelope(payload, b'"dev"', None)
    assert msgspec.json.decode(envelope)["payload"] == {**found, **plain.names, "client": "dev"}
    whole = [{**found, **plain.names, "client": "dev"} for _ in range(copies)]
    batch = batch_of_documents(whole, [envelope] * copies, [EnvelopeFields(False, None, plain.source)] * copies)
    return expected, [batch[0], batch[copies - 1]]


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=5))
def test_an_object_says_the_same_both_ways(said: dict[str, object]) -> None:
    """Nested or flat, with units beside values, with names and numbers of any kind."""
    payload = msgspec.json.encode(said)
    try:
        found = both("home/attic/t", payload)
    except LikewiseError:
        return  # no event either way: it is kept as bytes
    if found is not None:
        expected, made = found
        assert len(expected) == 1
        if expected[0].tuples[0].attribute == "bytes":  # it says nothing: then neither do its bytes
            assert [item.attribute for item in made[0].tuples] == ["topic", "client"]
            return
        assert all((each.tuples, each.source) == (expected[0].tuples, expected[0].source) for each in made)


@pytest.mark.parametrize(
    "payload",
    [b'{"topic": "x"}', b'{"client": 1}', b'{"v": 1, "payload": {}}', b'{"a": 1, "a": 2}', b'{"specversion": "1.0"}'],
)
def test_what_says_more_is_taken_apart(payload: bytes) -> None:
    """Keys of our own, an envelope, a key that stands twice."""
    assert both("home/attic/t", payload) is None


def test_where_a_map_says_more_than_names_messages_are_taken_apart() -> None:
    """Units, readings within a field: the map is for them."""
    assert READER.envelope_template("tele/plug/SENSOR") is None
    named = READER.envelope_template("shellies/ht-1/sensor/humidity")
    assert named is None or named.names["device"] == "ht-1"

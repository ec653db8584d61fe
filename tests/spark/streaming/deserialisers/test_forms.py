"""Promises of payloads that are not plain JSON: the events they say, and a reason for each that says none."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import InputError, Unavailable
from likewise.spark.streaming.deserialisers import registry as asking
from likewise.spark.streaming.deserialisers.deserialiser import (
    FORMS,
    PayloadFormat,
    parse_payload_format,
    without_registry,
)
from likewise.spark.streaming.deserialisers.registry import RegistrySettings
from likewise.spark.streaming.payloads import DecodedBatch, PayloadContext, decode_payloads
from tests.spark.streaming.deserialisers.schema_registry import Registry, served_registry

fastavro = pytest.importorskip("fastavro")
pb = pytest.importorskip("google.protobuf.descriptor_pb2")

AVRO = {
    "type": "record",
    "name": "Reading",
    "fields": [
        {"name": "temperature", "type": "double"},
        {"name": "city", "type": ["null", "string"], "default": None},
        {"name": "when", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {
            "name": "parts",
            "type": {
                "type": "array",
                "items": {"type": "record", "name": "Part", "fields": [{"name": "no2", "type": "int"}]},
            },
        },
    ],
}
DATUM = {
    "temperature": 27.5,
    "city": None,
    "when": datetime(2024, 5, 1, tzinfo=UTC),
    "price": Decimal("3.50"),
    "parts": [{"no2": 45}],
}
SAID = {"temperature": 27.5, "when": "2024-05-01T00:00:00Z", "price": 3.5, "parts[].no2": 45}


def avro_bytes(schema: Any, datum: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), datum)
    return stream.getvalue()


def framed(number: int, data: bytes) -> bytes:
    return b"\x00" + number.to_bytes(4, "big") + data


def said(read: DecodedBatch) -> list[dict[str, Any]]:
    return [{each.attribute: each.value for each in event.tuples} for event in read.events]


def descriptors() -> Any:
    """A file as protoc describes it: `Reading` with a nested message, an enumeration, a map, a time and a default."""
    file = pb.FileDescriptorProto(name="reading.proto", package="plant", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    kind = pb.FieldDescriptorProto
    state = file.enum_type.add(name="State")
    for number, name in enumerate(["OFF", "ON"]):
        state.value.add(name=name, number=number)
    file.message_type.add(name="Other").field.add(name="x", number=1, type=kind.TYPE_INT32, label=1)
    reading = file.message_type.add(name="Reading")
    reading.field.add(name="temperature", number=1, type=kind.TYPE_DOUBLE, label=1)
    reading.field.add(name="count", number=2, type=kind.TYPE_INT64, label=1)
    reading.field.add(name="state", number=3, type=kind.TYPE_ENUM, type_name=".plant.State", label=1)
    reading.field.add(name="when", number=4, type=kind.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp", label=1)
    part = reading.nested_type.add(name="Part")
    part.field.add(name="no2", number=1, type=kind.TYPE_INT32, label=1)
    reading.field.add(name="parts", number=5, type=kind.TYPE_MESSAGE, type_name=".plant.Reading.Part", label=3)
    entry = reading.nested_type.add(name="TagsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=kind.TYPE_STRING, label=1)
    entry.field.add(name="value", number=2, type=kind.TYPE_STRING, label=1)
    reading.field.add(name="tags", number=6, type=kind.TYPE_MESSAGE, type_name=".plant.Reading.TagsEntry", label=3)
    return file


def descriptor_set() -> bytes:
    from google.protobuf import timestamp_pb2

    known = pb.FileDescriptorProto.FromString(timestamp_pb2.DESCRIPTOR.serialized_pb)
    found: bytes = pb.FileDescriptorSet(file=[known, descriptors()]).SerializeToString()
    return found


def protobuf_bytes() -> bytes:
    from likewise.spark.streaming.deserialisers.protobuf import message_class

    kind = message_class(descriptor_set(), "plant.Reading")
    message = kind(count=2**60, state=1, parts=[{"no2": 45}], tags={"city": "Galway"})
    message.when.FromJsonString("2024-05-01T00:00:00Z")
    data: bytes = message.SerializeToString()
    return data


PROTOBUF_SAID = {
    "temperature": 0.0,
    "count": 2**60,
    "state": "ON",
    "when": "2024-05-01T00:00:00Z",
    "parts[].no2": 45,
    "tags.city": "Galway",
}


@pytest.fixture
def registry() -> Iterator[Registry]:
    asking._known.clear()
    with served_registry() as found:
        yield found


def test_avro_is_read_by_the_schema_of_a_file(tmp_path: Path) -> None:
    """Absent values are left out; times, decimals and lists are what they are in JSON."""
    path = tmp_path / "reading.avsc"
    path.write_text(json.dumps(AVRO))
    form = parse_payload_format("avro", path, "", {})
    whole = avro_bytes(AVRO, DATUM)
    read = decode_payloads([whole, whole[:-3], whole + b"x", b"", None], PayloadContext(form))
    assert said(read) == [SAID]
    assert read.places.tolist() == [0]
    assert [bad.place for bad in read.bad] == [1, 2, 3, 4]
    assert all("Avro schema" in bad.reason for bad in read.bad[:3])
    assert "payload is null" in read.bad[3].reason
    path.write_text('{"type": "nothing"}')
    with pytest.raises(InputError, match="no Avro schema"):
        parse_payload_format("avro", path, "", {})


def test_protobuf_is_read_by_the_descriptors_of_a_file(tmp_path: Path) -> None:
    """A temperature of 0, which proto3 does not write, is a reading all the same; whole numbers stay whole."""
    path = tmp_path / "reading.pb"
    path.write_bytes(descriptor_set())
    form = parse_payload_format("protobuf", path, "plant.Reading", {})
    read = decode_payloads([protobuf_bytes(), b"\xff\xff", b""], PayloadContext(form))
    assert said(read)[0] == PROTOBUF_SAID
    assert [bad.place for bad in read.bad] == [1]
    with pytest.raises(InputError, match="say with --message"):
        parse_payload_format("protobuf", path, "", {})
    with pytest.raises(InputError, match=r"no message 'plant.Nobody'"):
        parse_payload_format("protobuf", path, "plant.Nobody", {})
    path.write_bytes(b"\xff\xff")
    with pytest.raises(InputError, match="protoc"):
        parse_payload_format("protobuf", path, "", {})


@pytest.mark.parametrize("name", ["auto", "avro", "protobuf"])
def test_a_registry_says_what_each_message_is(name: str, registry: Registry) -> None:
    """Avro, Protocol Buffers and JSON in one topic, by the number in front; each schema is asked for once."""
    part = {"type": "record", "name": "plant.Part", "fields": [{"name": "no2", "type": "int"}]}
    outer = {"type": "record", "name": "Outer", "fields": [{"name": "part", "type": "plant.Part"}]}
    registry.register(1, json.dumps(AVRO))
    registry.register(2, "syntax ...", "PROTOBUF", base64.b64encode(descriptors().SerializeToString()).decode())
    registry.register(3, "{}", "JSON")
    registry.register(4, json.dumps(part))
    registry.register(5, json.dumps(outer), references=[{"name": "plant.Part", "subject": "subject-4", "version": 1}])
    form = PayloadFormat(name, registry=RegistrySettings(registry.url))
    named: dict[str, Any] = {}
    inner = fastavro.parse_schema(part, named_schemas=named)
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(outer, named_schemas=named), {"part": {"no2": 7}})
    assert inner
    payloads = [
        framed(1, avro_bytes(AVRO, DATUM)),
        framed(2, b"\x02\x02" + protobuf_bytes()),
        framed(3, b'{"t": 1}'),
        framed(5, stream.getvalue()),
        framed(99, b"x"),
        framed(2, b"\x02\x12" + b"x"),
        framed(1, b"\x00"),
        framed(2, b""),
        framed(3, b"[1]"),
    ]
    read = decode_payloads(payloads * 2, PayloadContext(form))
    assert said(read) == [SAID, PROTOBUF_SAID, {"t": 1}, {"part.no2": 7}] * 2
    reasons = {bad.place: bad.reason for bad in read.bad}
    assert set(reasons) == {4, 5, 6, 7, 8, 13, 14, 15, 16, 17}
    assert reasons[4] == "the schema registry knows no schema 99"
    assert len(registry.asked) == len(set(registry.asked))


def test_without_a_number_in_front_a_registry_is_not_asked(registry: Registry) -> None:
    """Plain JSON stays JSON; where Avro was said, the reason says what is missing."""
    settings = RegistrySettings(registry.url)
    assert said(decode_payloads([b'{"t": 1}'], PayloadContext(PayloadFormat(registry=settings)))) == [{"t": 1}]
    (bad,) = decode_payloads([b'{"t": 1}'], PayloadContext(PayloadFormat("avro", registry=settings))).bad
    assert "does not begin with the number of a schema" in bad.reason
    assert registry.asked == []


def test_a_registry_that_does_not_answer_is_no_fault_of_the_payloads(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once or twice is tried again; else the batch ends with words, and is repeated later. So with a wrong password."""
    monkeypatch.setattr("likewise.spark.streaming.deserialisers.registry.time.sleep", lambda seconds: None)
    registry.register(1, json.dumps(AVRO))
    registry.failing = 2
    payload = framed(1, avro_bytes(AVRO, DATUM))
    form = PayloadFormat(registry=RegistrySettings(registry.url))
    assert said(decode_payloads([payload], PayloadContext(form))) == [SAID]
    asking._known.clear()
    registry.failing = 100
    with pytest.raises(Unavailable, match="it answers 503"):
        decode_payloads([payload], PayloadContext(form))
    registry.failing, registry.user_info = 0, "ann:secret"
    with pytest.raises(Unavailable, match="it answers 401"):
        decode_payloads([payload], PayloadContext(form))
    settings = {"schema.registry.url": registry.url, "schema.registry.basic.auth.user.info": "ann:secret"}
    assert said(decode_payloads([payload], PayloadContext(parse_payload_format("auto", None, "", settings)))) == [SAID]
    assert without_registry(settings | {"sasl.username": "ann"}) == {"sasl.username": "ann"}
    nobody = PayloadFormat(registry=RegistrySettings("http://127.0.0.1:9"))
    with pytest.raises(Unavailable, match="does not say schema 1"):
        decode_payloads([payload], PayloadContext(nobody))


def test_cloudevents_are_read_with_their_context_in_headers_or_in_the_document() -> None:
    """Binary as Kafka's binding has it, structured, and a batch; what is wrong is said."""
    context = {
        "ce_specversion": b"1.0",
        "ce_id": b"7",
        "ce_source": b"/lab",
        "ce_type": b"reading",
        "ce_time": b"2024-05-01T00:00:00Z",
    }
    document = {
        "specversion": "1.0",
        "id": "7",
        "source": "/lab",
        "type": "reading",
        "data": {"t": 1},
        "time": "2024-05-01T00:00:00Z",
    }
    whole = json.dumps(document).encode()
    structured = {"content-type": b"application/cloudevents+json; charset=UTF-8"}
    headers: list[Any] = [
        context | {"content-type": b"application/json"},
        context,
        structured,
        {"content-type": b"application/cloudevents-batch+json"},
        context,
        {"ce_specversion": b"1.0"},
        None,
    ]
    payloads = [
        b'{"t": 1}',
        b'{"t": 1}',
        whole,
        b"[" + whole + b"," + whole + b"]",
        b'{"t": 1',
        b'{"t": 1}',
        b'{"t": 2}',
    ]
    read = decode_payloads(payloads, PayloadContext(PayloadFormat(), headers, "somebody"))
    assert [event.id for event in read.events] == ["7"] * 5 + [None]
    assert {event.source for event in read.events} == {"/lab", "somebody"}
    assert len({(event.tuples, event.time) for event in list(read.events)[:5]}) == 1
    assert read.places.tolist() == [0, 1, 2, 3, 3, 6]
    assert [(bad.place, "no JSON" in bad.reason or "needs `id`" in bad.reason) for bad in read.bad] == [
        (4, True),
        (5, True),
    ]
    assert len(decode_payloads([whole], PayloadContext(PayloadFormat("cloudevents"))).events) == 1


def test_senml_and_rdf_are_read_and_one_payload_may_hold_several_events() -> None:
    """Relative times of SenML count from the message's own; statements and graph patterns see the triples."""
    pack = b'[{"bn": "urn:dev:1/", "n": "temp", "u": "Cel", "v": 21.5, "t": -10}, {"n": "temp", "v": 22, "u": "Cel"}]'
    read = decode_payloads([pack, b"{}"], PayloadContext(PayloadFormat("senml"), now=[50_000_000, 0]))
    assert [event.time for event in read.events] == [40_000_000, 50_000_000]
    assert read.places.tolist() == [0, 0]
    assert [bad.place for bad in read.bad] == [1]
    turtle = b"<http://x/e> <http://x/p> 1 . <http://x/f> <http://x/p> 2 ."
    for form, data in (("ttl", turtle), ("jsonld", b'{"@id": "http://x/e", "http://x/p": 1}')):
        read = decode_payloads([data, b"no <rdf"], PayloadContext(PayloadFormat(form)))
        assert len(read.events) == (2 if form == "ttl" else 1)
        assert all(event.graph for event in read.events)
        assert [bad.place for bad in read.bad] == [1]
    (auto,) = decode_payloads([turtle[:29]], PayloadContext(PayloadFormat(), [{"content-type": b"text/turtle"}])).events
    assert auto.graph


def test_a_form_that_is_none_or_lacks_its_schema_is_refused() -> None:
    """With words that say what to say."""
    with pytest.raises(InputError, match="payloads are one of auto, json"):
        PayloadFormat("xml")
    with pytest.raises(InputError, match="say --schema FILE"):
        PayloadFormat("avro")


BY_FORM = {
    **{name: PayloadFormat(name) for name in FORMS if name not in ("avro", "protobuf")},
    "avro": PayloadFormat("avro", json.dumps(AVRO)),
    "protobuf": PayloadFormat("protobuf", base64.b64encode(descriptor_set()).decode(), "plant.Reading"),
}
HEADERS = st.none() | st.dictionaries(
    st.sampled_from(["content-type", "ce_specversion", "ce_id", "ce_source", "ce_type", "ce_time"]),
    st.binary(max_size=12) | st.sampled_from([b"1.0", b"text/turtle", b"application/senml+json"]),
)


@given(
    name=st.sampled_from(sorted(BY_FORM)),
    payloads=st.lists(
        st.binary(max_size=40)
        | st.just(avro_bytes(AVRO, DATUM))
        | st.sampled_from([b"{}", b'{"t": 1}', b"[]", b'[{"n": 1}]']),
        max_size=6,
    ),
    headers=st.lists(HEADERS, min_size=6, max_size=6),
)
def test_whatever_strangers_send_is_an_event_or_has_a_reason(
    name: str, payloads: list[bytes], headers: list[Any]
) -> None:
    """Nothing else is raised, and nothing is lost."""
    read = decode_payloads(payloads, PayloadContext(BY_FORM[name], headers[: len(payloads)], "s"))
    assert len(read.events) == len(read.places)
    assert {*read.places.tolist(), *(bad.place for bad in read.bad)} == set(range(len(payloads)))
    assert all(event.source for event in read.events)

"""Payloads that Google's Protobuf wrote are read as it reads them; bytes that are none are refused in words."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import pytest

from likewise.errors import FormatError, LikewiseError, LimitExceeded
from likewise.server.media_types import UnreadableInput
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.sparkplug.payload import FieldBudget, Metric, UnsignedInteger, read_fields, read_payload
from likewise.server.mqtt.topic_maps import load_maps
from tests.server.mqtt.sparkplug.oracle import classes, payload

NOW = 1_700_000_000_000_000
VALUES = ("int_value", "long_value", "float_value", "double_value", "boolean_value", "string_value", "bytes_value")


def plain(metric: Metric) -> Any:
    return metric.value.value if isinstance(metric.value, UnsignedInteger) else metric.value


def test_a_known_payload_byte_for_byte() -> None:
    """Numbers of fields as the specification has them, written down by hand."""
    metric = b"\x0a\x04temp" + b"\x10\x03" + b"\x18\xe9\x07" + b"\x20\x0a" + b"\x69" + struct.pack("<d", 21.5)
    by_hand = b"\x08\xe8\x07" + b"\x12" + bytes([len(metric)]) + metric + b"\x18\x05"
    read = read_payload(by_hand)
    assert read.time == 1_000
    [made] = read.metrics
    assert (made.name, made.alias, made.time, made.datatype, made.value) == ("temp", 3, 1_001, 10, 21.5)


def generated(chance: random.Random) -> bytes:
    """A payload of any kinds of metrics."""
    metrics: list[dict[str, Any]] = []
    for number in range(chance.randrange(1, 8)):
        kind = chance.choice(VALUES)
        value: Any = {
            "int_value": chance.randrange(2**32),
            "long_value": chance.randrange(2**64),
            "float_value": chance.uniform(-1e3, 1e3),
            "double_value": chance.uniform(-1e9, 1e9),
            "boolean_value": chance.random() < 0.5,
            "string_value": chance.choice(("", "läuft", "x" * 300)),
            "bytes_value": chance.randbytes(chance.randrange(20)),
        }[kind]
        said = {kind: value, "timestamp": chance.randrange(2**41), "datatype": chance.randrange(20)}
        if chance.random() < 0.5:
            said |= {"alias": chance.randrange(2**20), "unit": chance.choice(("degC", "kPa"))}
        if chance.random() < 0.2:
            said |= {"is_historical": True}
        metrics.append(said | {"name": f"m{number}"})
    return payload(*metrics, seq=chance.randrange(256))


def test_what_the_oracle_wrote_is_read_as_the_oracle_reads_it() -> None:
    """Names, aliases, times, types, units and values of generated payloads."""
    for seed in range(300):
        body = generated(random.Random(seed))
        wanted, read = classes()["Payload"].FromString(body), read_payload(body)
        assert (read.time, len(read.metrics)) == (wanted.timestamp, len(wanted.metrics))
        for ours, theirs in zip(read.metrics, wanted.metrics, strict=True):
            assert (ours.name, ours.time, ours.datatype) == (theirs.name, theirs.timestamp, theirs.datatype)
            assert (ours.alias or 0, ours.historical) == (theirs.alias, theirs.is_historical)
            assert ours.unit == next((each.string_value for each in theirs.properties.values[1:]), "")
            value = getattr(theirs, theirs.WhichOneof("value"))
            if theirs.WhichOneof("value") == "float_value":
                assert struct.pack("<f", plain(ours)) == struct.pack("<f", value)
                assert len(repr(plain(ours))) <= len(repr(value))
            else:
                assert plain(ours) == value


def test_a_float_is_the_number_that_was_meant() -> None:
    """21.1 in four bytes is 21.1, and the largest, the smallest and those that are no numbers are themselves."""
    largest = struct.unpack("<f", bytes.fromhex("ffff7f7f"))[0]
    for value in (21.1, -0.3, 0.0, 1e-45, largest, -largest, 16_777_217.0):
        [metric] = read_payload(payload({"name": "t", "float_value": value})).metrics
        assert struct.pack("<f", plain(metric)) == struct.pack("<f", value)
    assert plain(read_payload(payload({"name": "t", "float_value": 21.1})).metrics[0]) == 21.1
    assert math.isnan(plain(read_payload(payload({"name": "t", "float_value": math.nan})).metrics[0]))


@pytest.mark.parametrize(
    ("datatype", "field", "sent", "meant"),
    [
        (1, "int_value", 0xFF, -1),
        (1, "int_value", 0xFFFFFFFF, -1),
        (1, "int_value", 0x80, -128),
        (1, "int_value", 127, 127),
        (2, "int_value", 0x8000, -32_768),
        (2, "int_value", 0xFFFFFFF6, -10),
        (3, "int_value", 0x80000000, -(2**31)),
        (3, "int_value", 5, 5),
        (4, "long_value", 2**64 - 7, -7),
        (4, "long_value", 2**63, -(2**63)),
        (3, "long_value", 2**64 - 7, -7),
        (5, "int_value", 255, 255),
        (7, "int_value", 2**32 - 1, 2**32 - 1),
        (8, "long_value", 2**64 - 1, 2**64 - 1),
        (0, "int_value", 255, 255),
    ],
)
def test_signed_numbers_have_their_sign(datatype: int, field: str, sent: int, meant: int) -> None:
    """Int8 to Int64 travel without a sign, some senders fill up 32 bits; the others are as they are."""
    [metric] = read_payload(payload({"name": "n", "datatype": datatype, field: sent})).metrics
    assert isinstance(metric.value, UnsignedInteger)
    assert metric.value.of(datatype) == meant


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"\x08", "cut short"),
        (b"\x08" + b"\xff" * 10 + b"\x01", "larger than 64 bits"),
        (b"\x12\x05ab", "5 bytes, and 2 are left"),
        (b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "are left"),
        (b"\x13", "wire type 3"),
        (b"\x0c", "wire type 4"),
        (b"\x00\x01", "no field 0"),
        (b"\x10\x01", "not bytes with their length"),
        (b"\x12\x03\x0a\x01\xff", "UTF-8"),
        (b"\x12\x03\x60\x01\x00", "not four bytes"),
        (b"\x12\x04\x4a\x02\x0a\x00", "1 keys and 0 values"),
        (b"\x22\x12SPBV1.0_COMPRESSED\x2a\x01x", "compressed"),
    ],
)
def test_what_is_malformed_is_refused_in_words(body: bytes, words: str) -> None:
    """Every length is checked before it is used."""
    with pytest.raises(FormatError, match=words):
        read_payload(body)


def test_limits_are_kept() -> None:
    """Fields of a payload, and templates within templates."""
    with pytest.raises(LimitExceeded, match="fields"):
        read_payload(b"\x18\x00" * 200_001)
    assert read_payload(b"\x18\x00" * 200_000).metrics == ()
    with pytest.raises(LimitExceeded, match="fields"):
        list(read_fields(b"\x18\x00" * 3, FieldBudget(2)))
    inner: dict[str, Any] = {"name": "v", "int_value": 1}
    for depth in range(1, 10):
        inner = {"name": "t", "template_value": {"metrics": [inner]}}
        if depth <= 8:
            read_payload(payload(inner))
    with pytest.raises(LimitExceeded, match="templates"):
        read_payload(payload(inner))


def test_mutated_payloads_are_read_or_refused_and_nothing_else_happens() -> None:
    """Thousands of them through a reader that keeps what it cannot read, and through the strict one.

    What is read although something was changed is what the oracle reads, where it reads it.
    """
    kept, strict = MessageReader(load_maps()), MessageReader(load_maps(), strict=True)
    seeds = [generated(random.Random(seed)) for seed in range(40)]
    rows = {
        "columns": ["a", "b"],
        "types": [1, 12],
        "rows": [{"elements": [{"int_value": 255}, {"string_value": "x"}]}],
    }
    seeds += [
        payload({"name": "d", "dataset_value": rows}, {"name": "t", "template_value": {"metrics": [{"name": "i"}]}})
    ]
    read = refused = 0
    causes: set[type[Exception]] = set()
    for number in range(4_000):
        chance = random.Random(f"mutated {number}")
        body = bytearray(chance.choice(seeds))
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            at = chance.randrange(len(body))
            match chance.choice((0, 0, 0, 1, 2, 3)):
                case 0:
                    body[at] = chance.randrange(256)
                case 1:
                    del body[at : at + chance.randrange(1, 6)]
                case 2:
                    body[at:at] = chance.choice((b"\xff" * 9, b"\x00", b"\x12\x02\x10\x07", chance.randbytes(3)))
                case _:
                    body = body[: at + 1]
            body = body or bytearray(b"\x00")
        kind = chance.choice(("NBIRTH", "NDATA", "NDEATH", "NCMD"))
        message = MqttPublication(f"spBv1.0/plant/{kind}/press", bytes(body))
        kept.read(message, NOW)
        try:
            strict.read(message, NOW)
            ours = read_payload(bytes(body))
        except UnreadableInput as error:
            causes.add(type(error.error))
            refused += 1
            continue
        try:
            theirs = classes()["Payload"].FromString(bytes(body))
        except classes()["DecodeError"]:  # in what is passed over here unread: metadata, other properties than the unit
            continue
        read += 1
        assert [each.name for each in ours.metrics] == [each.name for each in theirs.metrics]
        assert [each.alias or 0 for each in ours.metrics] == [each.alias for each in theirs.metrics]
    assert all(issubclass(each, LikewiseError) for each in causes)
    assert read > 300
    assert refused > 1_000

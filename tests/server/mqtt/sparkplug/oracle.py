"""Google's Protobuf as the oracle: its classes for our own `sparkplug_b.proto`, made without protoc."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from likewise.server.mqtt import sparkplug

PROTO = Path(sparkplug.__file__).parent / "sparkplug_b.proto"
_SCALARS = {"double": 1, "float": 2, "uint64": 4, "bool": 8, "string": 9, "bytes": 12, "uint32": 13}
_MESSAGE = re.compile(r"message (\w+) \{")
_FIELD = re.compile(r"(optional|repeated)?\s*(\w+) (\w+) = (\d+);")


@cache
def classes() -> dict[str, Any]:
    """The classes of the file's messages, by name."""
    pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory  # type: ignore[import-untyped, unused-ignore]

    file = descriptor_pb2.FileDescriptorProto(name="sparkplug_b.proto", package="likewise.sparkplug", syntax="proto2")
    open_: list[Any] = []
    within = False  # a oneof
    for line in PROTO.read_text(encoding="utf-8").splitlines():
        line = line.partition("//")[0].strip()
        if named := _MESSAGE.fullmatch(line):
            open_.append((open_[-1].nested_type if open_ else file.message_type).add(name=named[1]))
        elif line.startswith("oneof"):
            open_[-1].oneof_decl.add(name="value")
            within = True
        elif line == "}":
            if within:
                within = False
            else:
                open_.pop()
        elif found := _FIELD.fullmatch(line):
            field = open_[-1].field.add(name=found[3], number=int(found[4]), label=3 if found[1] == "repeated" else 1)
            if found[2] in _SCALARS:
                field.type = _SCALARS[found[2]]
            else:
                field.type, field.type_name = 11, found[2]
            if within:
                field.oneof_index = 0
        else:
            assert not line or line.startswith(("syntax", "package")), line
    assert not open_
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = ("Payload", "Metric", "DataSet", "Template", "PropertySet")
    return {"DecodeError": message.DecodeError} | {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"likewise.sparkplug.{name}"))
        for name in names
    }


def payload(*metrics: dict[str, Any], time: int | None = 1_700_000_000_000, **said: Any) -> bytes:
    """A payload in bytes; `unit` of a metric becomes its property `engUnit`."""
    made = classes()["Payload"](**({} if time is None else {"timestamp": time}), **said)
    for given in metrics:
        known = dict(given)
        unit = known.pop("unit", None)
        metric = made.metrics.add(**known)
        if unit is not None:
            metric.properties.keys.extend(["readOnly", "engUnit"])
            metric.properties.values.add(type=11, boolean_value=True)
            metric.properties.values.add(type=12, string_value=unit)
    return bytes(made.SerializeToString())

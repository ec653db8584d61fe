"""Payloads in Protocol Buffers: one message each, by descriptors of a file or of a registry, as objects.

A file is what `protoc --include_imports --descriptor_set_out=FILE` writes. A registry says descriptors itself
(`format=serialized`), so that no compiler is needed. Fields without presence are read with their default: a
temperature of 0 is not written by proto3, and is a reading all the same.
"""

from __future__ import annotations

import base64
from typing import Any

from likewise.errors import FormatError, InputError
from likewise.spark.streaming.deserialisers.avro import plain
from likewise.spark.streaming.deserialisers.registry import RegisteredSchema, RegistrySettings, fetch_reference


def message_class(descriptors: bytes, name: str) -> Any:
    """The class of a message in a set of descriptors; the only one if no name is said."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.message import DecodeError

    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(descriptors).file
    except DecodeError:
        raise InputError(
            "this is no set of descriptors; `protoc --include_imports --descriptor_set_out=FILE` writes one"
        ) from None
    pool = descriptor_pool.DescriptorPool()
    for file in files:
        _add(pool, file)
    names = [f"{file.package}.{each.name}".lstrip(".") for file in files for each in file.message_type]
    if not name and len(names) != 1:
        raise InputError(f"say with --message which it is: {', '.join(names[:20]) or 'there is none'}")
    try:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(name or names[0]))
    except KeyError:
        raise InputError(f"there is no message {name!r}; there are {', '.join(names[:20])}") from None


def _add(pool: Any, file: Any) -> None:
    try:
        pool.Add(file)
    except TypeError as error:
        raise InputError(f"the descriptors cannot be used: {error}") from None


def registered(settings: RegistrySettings, number: int, found: RegisteredSchema) -> Any:
    """The file of a registered schema, with those it refers to, as a descriptor."""
    from google.protobuf import descriptor_pb2, descriptor_pool

    pool = descriptor_pool.DescriptorPool()
    for known in _well_known():
        _add(pool, known)

    def learn(schema: RegisteredSchema, name: str) -> None:
        for each in schema.references:
            learn(fetch_reference(settings, each, serialized=True), each.name)
        file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(schema.schema))
        file.name = name
        _add(pool, file)

    learn(found, f"{number}.proto")
    return pool.FindFileByName(f"{number}.proto")


def _well_known() -> list[Any]:
    from google.protobuf import (
        any_pb2,
        descriptor_pb2,
        duration_pb2,
        empty_pb2,
        struct_pb2,
        timestamp_pb2,
        wrappers_pb2,
    )

    modules = (descriptor_pb2, any_pb2, duration_pb2, empty_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
    return [descriptor_pb2.FileDescriptorProto.FromString(each.DESCRIPTOR.serialized_pb) for each in modules]


def chosen(file: Any, data: bytes) -> tuple[Any, bytes]:
    """The class of the message that the indexes in front of the data name, and the data."""
    from google.protobuf import message_factory

    count, at = _varint(data, 0)
    indexes = [0]
    if count:
        indexes = []
        for _ in range(min(count, 100)):
            index, at = _varint(data, at)
            indexes.append(index)
    try:
        found = list(file.message_types_by_name.values())[indexes[0]]
        for index in indexes[1:]:
            found = found.nested_types[index]
    except IndexError:
        raise FormatError(f"the schema has no message at {indexes}") from None
    return message_factory.GetMessageClass(found), data[at:]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in zigzag form, and where the next byte stands."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 35:
            raise FormatError("the payload ends before its message begins")
        value |= (data[at] & 0x7F) << shift
        at, shift, more = at + 1, shift + 7, data[at] & 0x80
        if not more:
            return (value >> 1) ^ -(value & 1), at


def read_protobuf(data: bytes, kind: Any) -> dict[str, Any]:
    """The object that a message is."""
    from google.protobuf.message import DecodeError

    try:
        message = kind.FromString(data)
    except DecodeError as error:
        raise FormatError(f"the payload is no {kind.DESCRIPTOR.full_name}: {error}") from None
    return _object(message)


def _object(message: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.is_repeated:
            if not value:
                continue
            entry = field.message_type
            if entry is not None and entry.GetOptions().map_entry:
                inner = entry.fields_by_name["value"]
                found[field.name] = {str(name): _value(inner, value[name]) for name in value}
            else:
                found[field.name] = [_value(field, each) for each in value]
        elif not field.has_presence or message.HasField(field.name):
            found[field.name] = _value(field, value)
    return found


def _value(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known is not None else value
    if field.message_type is None:
        return plain(value)
    name = field.message_type.full_name
    if name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        return value.ToJsonString()
    if name.startswith("google.protobuf.") and name.endswith("Value") and name != "google.protobuf.Value":
        return plain(value.value)
    if name in ("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"):
        from google.protobuf.json_format import MessageToDict

        return MessageToDict(value)
    return _object(value)

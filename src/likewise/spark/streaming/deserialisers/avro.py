"""Payloads in Avro: one datum each, by a schema of a file or of a registry, as objects."""

from __future__ import annotations

import io
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

from likewise.errors import FormatError, InputError
from likewise.spark.streaming.deserialisers.registry import RegisteredSchema, RegistrySettings, fetch_reference


@lru_cache(maxsize=256)
def parsed(schema: str) -> Any:
    """A schema, ready to read with; one that is none is refused."""
    from fastavro import parse_schema
    from fastavro.schema import SchemaParseException

    try:
        return parse_schema(msgspec.json.decode(schema))
    except (msgspec.MsgspecError, SchemaParseException, KeyError, TypeError, ValueError) as error:
        raise InputError(f"this is no Avro schema: {type(error).__name__}: {error}") from None


def registered(settings: RegistrySettings, found: RegisteredSchema) -> Any:
    """The schema of a registry, with those that it refers to."""
    if not found.references:
        return parsed(found.schema)
    from fastavro import parse_schema

    named: dict[str, Any] = {}

    def learn(schema: RegisteredSchema) -> Any:
        for each in schema.references:
            learn(fetch_reference(settings, each))
        return parse_schema(msgspec.json.decode(schema.schema), named_schemas=named)

    return learn(found)


def read_avro(data: bytes, schema: Any) -> dict[str, Any]:
    """The object that a datum is.

    >>> schema = parsed('{"type": "record", "name": "R", "fields": [{"name": "t", "type": "double"}]}')
    >>> read_avro(bytes.fromhex("0000000000003b40"), schema)
    {'t': 27.0}
    """
    from fastavro import schemaless_reader

    stream = io.BytesIO(data)
    try:
        found = schemaless_reader(stream, schema, None)
    except Exception as error:  # whatever bytes of strangers lead to
        raise FormatError(f"the payload does not fit its Avro schema: {type(error).__name__}: {error}"[:300]) from None
    if stream.tell() != len(data):
        raise FormatError(f"the payload has {len(data) - stream.tell()} bytes more than its Avro schema describes")
    if not isinstance(found, dict):
        raise FormatError(f"an event is a record; the payload is {type(found).__name__}")
    return {name: plain(value) for name, value in found.items() if value is not None}


def plain(value: Any) -> Any:
    """A value as JSON has it: times and dates as ISO text, decimals as numbers, bytes as text or base64."""
    match value:
        case dict():
            return {str(name): plain(each) for name, each in value.items() if each is not None}
        case list() | tuple():
            return [plain(each) for each in value if each is not None]
        case datetime() | date() | clock_time():
            return value.isoformat().replace("+00:00", "Z")
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case UUID():
            return str(value)
        case bytes():
            import base64

            try:
                return value.decode()
            except UnicodeDecodeError:
                return base64.b64encode(value).decode()
        case float() if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        case _:
            return value

"""What the payloads of a stream are, and the reader of one that is not plain JSON."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from likewise.errors import FormatError, InputError
from likewise.extras import require
from likewise.model import Event
from likewise.spark.streaming.deserialisers import avro, protobuf
from likewise.spark.streaming.deserialisers.documents import NAMES, Headers, document_form, read_document
from likewise.spark.streaming.deserialisers.registry import RegistrySettings, fetch_schema, parse_frame

BY_SCHEMA: Final = ("avro", "protobuf")
FORMS: Final = ("auto", "json", *NAMES, *BY_SCHEMA)
_URL: Final = "schema.registry.url"
_USER: Final = "schema.registry.basic.auth.user.info"


class PayloadFormat(msgspec.Struct, frozen=True, omit_defaults=True):
    """The form of payloads; `auto` is what headers name, what a registry knows, else JSON.

    `schema` is an Avro schema, or a set of descriptors of Protocol Buffers in base64; `message` one of their messages.
    """

    name: str = "auto"
    schema: str = ""
    message: str = ""
    registry: RegistrySettings = RegistrySettings()

    def __post_init__(self) -> None:
        if self.name not in FORMS:
            raise InputError(f"payloads are one of {', '.join(FORMS)}, not {self.name!r}")
        if self.name in BY_SCHEMA and not (self.schema or self.registry.url):
            raise InputError(f"{self.name} is read by a schema: say --schema FILE, or {_URL} among --kafka's settings")
        if self.name in BY_SCHEMA or self.registry.url:
            require("avro", "payloads with a schema", or_else="JSON needs nothing more")

    @property
    def label(self) -> str:
        """A short name of it, another one for another schema: what a checkpoint remembers.

        >>> PayloadFormat().label, PayloadFormat("senml").label
        ('auto', 'senml')
        """
        said = self.schema + self.message + self.registry.url
        return f"{self.name} {hashlib.sha256(said.encode()).hexdigest()[:12]}" if said else self.name

    @property
    def plain(self) -> bool:
        """Whether everything is JSON."""
        return self.name == "json" and not self.registry.url


PLAIN: Final = PayloadFormat("json")


def parse_payload_format(name: str, schema: Path | None, message: str, settings: Mapping[str, str]) -> PayloadFormat:
    """The form that a command line names; the registry stands among the settings of Kafka."""
    said = ""
    if schema is not None:
        data = schema.read_bytes()
        said = base64.b64encode(data).decode() if name == "protobuf" else data.decode(errors="replace")
    form = PayloadFormat(name, said, message, RegistrySettings(settings.get(_URL, ""), settings.get(_USER, "")))
    if said:
        _by_schema(form)  # what cannot be used is said now
    return form


def without_registry(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that are librdkafka's own."""
    return {name: value for name, value in settings.items() if not name.startswith("schema.registry.")}


Special = Sequence[Event] | dict[str, Any]


def read_special(form: PayloadFormat, payload: bytes, headers: Headers, now: int) -> Special | None:
    """The events of a payload, or the object it is; None if it is plain JSON.

    >>> read_special(PayloadFormat(), b"{}", {}, 0) is None
    True
    """
    name = form.name
    if name == "auto":
        name = document_form(headers) or ("registry" if form.registry.url else "")
    if name in ("", "json") and not form.registry.url:
        return None
    if name in NAMES or name == "cloudevent":
        events = read_document(name, payload, headers, now)
        if not events:
            raise FormatError("the payload holds no event")
        return events
    found = parse_frame(payload) if form.registry.url else None
    if found is None:
        if name in ("registry", "json", ""):
            return None
        if not form.schema:
            raise FormatError("the payload does not begin with the number of a schema, and no --schema was said")
        return _read(name, payload, _by_schema(form))
    kind = fetch_schema(form.registry, found.schema).schema_type
    if kind == "JSON":
        return _json(found.data)
    if kind == "AVRO":
        return avro.read_avro(found.data, _registered_avro(form.registry, found.schema))
    if kind == "PROTOBUF":
        chosen, data = protobuf.chosen(_registered_protobuf(form.registry, found.schema), found.data)
        return protobuf.read_protobuf(data, chosen)
    raise FormatError(f"schema {found.schema} of the registry is {kind[:40]!r}; AVRO, PROTOBUF and JSON are read")


def _read(name: str, data: bytes, schema: Any) -> dict[str, Any]:
    return avro.read_avro(data, schema) if name == "avro" else protobuf.read_protobuf(data, schema)


def _json(data: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise FormatError(f"the payload is no JSON object: {error}") from None


@lru_cache(maxsize=8)
def _by_schema(form: PayloadFormat) -> Any:
    if form.name == "avro":
        return avro.parsed(form.schema)
    return protobuf.message_class(base64.b64decode(form.schema), form.message)


@lru_cache(maxsize=512)
def _registered_avro(settings: RegistrySettings, number: int) -> Any:
    return avro.registered(settings, fetch_schema(settings, number))


@lru_cache(maxsize=512)
def _registered_protobuf(settings: RegistrySettings, number: int) -> Any:
    return protobuf.registered(settings, number, fetch_schema(settings, number, serialized=True))

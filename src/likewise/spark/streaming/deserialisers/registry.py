"""A schema registry that speaks Confluent's interface: schemas by the number in front of each message.

A message is a zero byte, a schema's number in four bytes, and the data. A schema of a number never changes, so it is
asked for once by each process. A registry that does not answer ends the batch, which is repeated; a number that the
registry does not know is the message's own fault.
"""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

import msgspec

from likewise.errors import FormatError, Unavailable

MAGIC: Final = 0
HEAD: Final = 5  # bytes in front of the data
TRIES: Final = 4
TIMEOUT: Final = 20.0
_known: dict[tuple[str, str], RegisteredSchema | str] = {}


class Reference(msgspec.Struct, frozen=True):
    """Another schema that one needs: what it is called there, and where it is."""

    name: str
    subject: str
    version: int


class RegisteredSchema(msgspec.Struct, frozen=True, rename="camel"):
    """A schema as a registry says it."""

    schema: str
    schema_type: str = "AVRO"
    references: tuple[Reference, ...] = ()


class RegistrySettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a registry is, and who asks: `user:password`, or nothing."""

    url: str = ""
    user_info: str = ""


class SchemaFrame(NamedTuple):
    """The number of a schema, and the data behind it."""

    schema: int
    data: bytes


def parse_frame(payload: bytes) -> SchemaFrame | None:
    """The schema's number and the data of a message as Confluent's serializers write it; None if it is none.

    >>> parse_frame(b"\\x00\\x00\\x00\\x00\\x07abc"), parse_frame(b"{}")
    (SchemaFrame(schema=7, data=b'abc'), None)
    """
    if len(payload) < HEAD or payload[0] != MAGIC:
        return None
    return SchemaFrame(int.from_bytes(payload[1:HEAD], "big"), payload[HEAD:])


def fetch_schema(settings: RegistrySettings, number: int, *, serialized: bool = False) -> RegisteredSchema:
    """The schema of a number; with `serialized` one of Protocol Buffers comes as a descriptor in base64."""
    return _request_schema(
        settings, f"schemas/ids/{number}" + ("?format=serialized" if serialized else ""), f"schema {number}"
    )


def fetch_reference(settings: RegistrySettings, reference: Reference, *, serialized: bool = False) -> RegisteredSchema:
    """The schema that another one needs."""
    path = f"subjects/{reference.subject}/versions/{reference.version}"
    return _request_schema(settings, path + ("?format=serialized" if serialized else ""), reference.name)


def _request_schema(settings: RegistrySettings, path: str, what: str) -> RegisteredSchema:
    found = _known.get((settings.url, path))
    if found is None:
        found = _known[settings.url, path] = _fetched(settings, path, what)
    if isinstance(found, str):
        raise FormatError(found)
    return found


def _fetched(settings: RegistrySettings, path: str, what: str) -> RegisteredSchema | str:
    """What the registry answers; the reason, if it says that there is no such schema."""
    import httpx

    user, _, password = settings.user_info.partition(":")
    auth: Any = (user, password) if settings.user_info else None
    said = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(0.2 * 2**attempt)
        try:
            answer = httpx.get(f"{settings.url.rstrip('/')}/{path}", auth=auth, timeout=TIMEOUT)
        except httpx.HTTPError as error:
            said = f"{type(error).__name__}: {error}"
            continue
        if answer.status_code == 404:
            return f"the schema registry knows no {what}"
        if answer.status_code == 200:
            try:
                return msgspec.json.decode(answer.content, type=RegisteredSchema)
            except msgspec.MsgspecError as error:
                raise Unavailable(f"{settings.url} does not answer as a schema registry does: {error}") from None
        said = f"it answers {answer.status_code}"
        if answer.status_code < 500 and answer.status_code != 429:
            break
    raise Unavailable(f"the schema registry {settings.url} does not say {what}: {said}")

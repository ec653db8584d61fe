"""Arrow schema of an EventBatch, version 2, shared by match_batch, Spark and processes (docs/formats.md).

    id, source    string
    time, expires timestamp[us, UTC]
    themes        list<string>
    tuples        list<struct<attribute: string not null, text: string, number: double, boolean: bool,
                              unit: string, group: int32 not null, whole: int64, moment: int64>>
    graph         list<struct<subject: string, predicate: string, object: string>>
    vector        string

Any string may arrive dictionary-encoded. A tuple has one value: `boolean`, or `number`, or `text`.
`whole` beside a number is the whole number it is, to the last of 64 bits; `moment` beside a text is the (first)
microsecond since 1970 in UTC that the text says. A value may be given by `whole` or `moment` alone. The metadata says
`likewise.schema = event-batch` and `v = 2`.

Version 1, which is read as well, has neither. There a number is whole if it is one up to 2**53; where that alone would
not give back the very number (2**53 + 1, 27.0 rather than 27), `text` beside it spells it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from likewise.errors import FormatError
from likewise.formats.version import BATCH_VERSION, check_version

if TYPE_CHECKING:
    import pyarrow as pa

METADATA: Final[dict[bytes | str, bytes | str]] = {"likewise.schema": "event-batch", "v": str(BATCH_VERSION)}
TUPLE_FIELDS: Final = ("attribute", "text", "number", "boolean", "unit", "group", "whole", "moment")
TRIPLE_FIELDS: Final = ("subject", "predicate", "object")
REST: Final = ("id", "source", "themes", "graph", "vector")  # what is no array of numbers
FIELDS: Final = ("id", "source", "time", "expires", "themes", "tuples", "graph", "vector")


def batch_schema(*, dictionary: bool = False) -> pa.Schema:
    """Return the published schema; with `dictionary`, attributes, texts and units of tuples are encoded.

    >>> batch_schema().field("time").type
    TimestampType(timestamp[us, tz=UTC])
    """
    import pyarrow as pa

    moment, text = pa.timestamp("us", tz="UTC"), pa.string()
    word = pa.dictionary(pa.int32(), text) if dictionary else text
    one_tuple = pa.struct(
        [
            pa.field("attribute", word, nullable=False),
            pa.field("text", word),
            pa.field("number", pa.float64()),
            pa.field("boolean", pa.bool_()),
            pa.field("unit", word),
            pa.field("group", pa.int32(), nullable=False),
            pa.field("whole", pa.int64()),
            pa.field("moment", pa.int64()),
        ]
    )
    triple = pa.struct([pa.field(name, text, nullable=False) for name in TRIPLE_FIELDS])
    fields: list[pa.Field[Any]] = [
        pa.field("id", text),
        pa.field("source", text),
        pa.field("time", moment),
        pa.field("expires", moment),
        pa.field("themes", pa.list_(pa.field("item", text, nullable=False)), nullable=False),
        pa.field("tuples", pa.list_(pa.field("item", one_tuple, nullable=False)), nullable=False),
        pa.field("graph", pa.list_(pa.field("item", triple, nullable=False)), nullable=False),
        pa.field("vector", text),
    ]
    return pa.schema(fields, metadata=METADATA)


def check_schema(schema: pa.Schema) -> int | None:
    """Return the schema's version, None without metadata. Other versions and other tables are refused."""
    metadata = {k.decode(errors="replace"): v.decode(errors="replace") for k, v in (schema.metadata or {}).items()}
    stated = metadata.get("likewise.schema", METADATA["likewise.schema"])
    if stated != METADATA["likewise.schema"]:
        raise FormatError(f"this table says it is {stated!r}, not {METADATA['likewise.schema']!r}; it holds no events")
    checked_version = None
    if "likewise.schema" in metadata:
        version = metadata.get("v", "")
        checked_version = check_version(
            int(version) if version.isdecimal() else version, "EventBatch", current=BATCH_VERSION
        )
    unknown = [name for name in schema.names if name not in FIELDS]
    if unknown or len(set(schema.names)) < len(schema.names):
        extra = ", ".join(map(repr, unknown[:5])) or "a column twice"
        raise FormatError(f"the table has {extra}; an EventBatch has the columns {', '.join(FIELDS)}; select these")
    if not {"tuples", "graph", "vector"} & set(schema.names):
        raise FormatError("the table has no column `tuples`, `graph` or `vector`, so it holds no events")
    return checked_version

"""Decoder of Arrow tables to `EventColumns`, with checks, by Arrow and NumPy kernels: no Python loop over tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.defaults import (
    MAX_TERM_LENGTH,
    MAX_THEMES,
    MAX_TOPIC_LENGTH,
    MAX_TRIPLES,
    MAX_TUPLES,
    MAX_VECTOR,
)
from likewise.errors import FormatError, InvalidEvent, LimitExceeded
from likewise.formats.arrow.columns import (
    BOOLEAN,
    EXACT,
    NO_TIME,
    NUMBER,
    TEXT,
    WHOLE,
    EventColumns,
    parse_number,
    timestamps_of,
)
from likewise.formats.arrow.schema import REST, TRIPLE_FIELDS, TUPLE_FIELDS, batch_schema, check_schema
from likewise.model.timestamps import timestamp_text
from likewise.units import LARGEST_WHOLE

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Table = Any  # pyarrow.Table or pyarrow.RecordBatch
Array = Any  # pyarrow.Array: its kernels accept more types than its stubs say


def decode_table(table: Table) -> tuple[EventColumns, pa.RecordBatch]:
    """Return the tuples and times as columns, and the rest (id, source, themes, graph, vector) as Arrow arrays."""
    import pyarrow as pa

    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        raise FormatError(f"an EventBatch is made of a pyarrow Table or RecordBatch, not {type(table).__name__}")
    try:
        return _read(table, check_schema(table.schema))
    except (pa.ArrowException, UnicodeDecodeError) as error:  # names of fields may be damaged, too
        raise FormatError(f"the table is no EventBatch: {str(error)[:300]}") from None


def _read(table: Table, version: int | None) -> tuple[EventColumns, pa.RecordBatch]:
    import pyarrow as pa

    schema = batch_schema()
    columns: dict[str, Array] = {}
    for field in schema:
        columns[field.name] = _column(table, field)
    lengths, values = _list(columns["tuples"], "tuples", MAX_TUPLES)
    columns_read = _tuples(lengths, values, version, _moments(columns["time"]), _moments(columns["expires"]))
    themes, tags = _list(columns["themes"], "themes", MAX_THEMES)
    if tags.null_count:
        raise FormatError("a theme tag is null; leave it out")
    _check_words(_words(tags, "theme tag"), "a theme tag")
    triples, terms = _list(columns["graph"], "graph", MAX_TRIPLES)
    parts = [_text(part, "graph") for part in _struct(terms, TRIPLE_FIELDS, "graph")]
    if any(part.null_count for part in parts):
        raise FormatError("a triple lacks one of its parts; give subject, predicate and object")
    vectors = _text(columns["vector"], "vector")
    _check_vectors(vectors)
    has_vector = np.asarray(vectors.fill_null("")) != ""
    if not (has_vector | (lengths > 0) | (triples > 0)).all():
        raise InvalidEvent("an event of the batch is empty; give it at least one attribute with a value")
    fields = [schema.field(name) for name in REST]
    rest = pa.RecordBatch.from_arrays(
        [
            _text(columns["id"], "id"),
            _text(columns["source"], "source"),
            pa.ListArray.from_arrays(_offsets(themes), _text(tags, "themes"), type=fields[2].type),
            pa.ListArray.from_arrays(
                _offsets(triples),
                pa.StructArray.from_arrays(parts, fields=list(fields[3].type.value_type)),
                type=fields[3].type,
            ),
            vectors,
        ],
        schema=pa.schema(fields),
    )
    return columns_read, rest


def _column(table: Table, field: pa.Field[Any]) -> Array:
    """Return one column as one fully validated array; nulls if it is missing."""
    import pyarrow as pa

    if field.name not in table.schema.names:
        return pa.nulls(table.num_rows, field.type)
    column = table.column(field.name)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if isinstance(column, pa.ChunkedArray):
            raise LimitExceeded(f"bytes of the column {field.name!r}", allowed=2**31)
    column.validate(full=True)
    return pa.nulls(table.num_rows, field.type) if pa.types.is_null(column.type) else column


def _list(column: Array, name: str, limit: int) -> tuple[NDArray[np.int64], Array]:
    """Return the number of items of each event, and all items in one array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        raise FormatError(f"the column {name!r} is {kind}; it must be a list")
    lengths = np.asarray(pc.list_value_length(column).fill_null(0)).astype(np.int64)
    if len(lengths) and lengths.max() > limit:
        raise LimitExceeded(f"{name} of an event", allowed=limit, found=int(lengths.max()))
    return lengths, pc.list_flatten(column)


def _struct(values: Array, names: tuple[str, ...], what: str) -> list[Array]:
    """Return the named parts of structs, nulls where a part is missing; a null struct is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_struct(values.type):
        raise FormatError(f"the items of {what!r} are {values.type}; they must be structs with {', '.join(names)}")
    present = [values.type.field(i).name for i in range(values.type.num_fields)]
    unknown = [name for name in present if name not in names]
    if unknown:
        raise FormatError(f"the items of {what!r} have an unknown field {unknown[0]!r}; they have {', '.join(names)}")
    if values.null_count:
        raise FormatError(f"an item of {what!r} is null; leave it out")
    return [pc.struct_field(values, n) if n in present else pa.nulls(len(values)) for n in names]


def _tuples(
    lengths: NDArray[np.int64], values: Array, version: int | None, time: NDArray[np.int64], expires: NDArray[np.int64]
) -> EventColumns:
    import pyarrow as pa

    parts = dict(zip(TUPLE_FIELDS, _struct(values, TUPLE_FIELDS, "tuples"), strict=True))
    attribute, attributes = _words(parts["attribute"], "attribute")
    word, texts = _words(parts["text"], "text")
    unit, units = _words(parts["unit"], "unit")
    if (attribute < 0).any():
        raise InvalidEvent("a tuple has no attribute; give it a name")
    _check_words((attribute, attributes), "an attribute")
    topic = attribute == (attributes.index("topic") if "topic" in attributes else len(attributes))
    _check_words((np.where(topic, -1, word), texts), "a value", blank=True)
    _check_words((np.where(topic, word, -1), texts), "a value", blank=True, most=MAX_TOPIC_LENGTH)
    unit = _without_blank(unit, units)
    numbers = parts["number"].cast(pa.float64(), safe=False)
    booleans = parts["boolean"].cast(pa.bool_())
    wholes, moments = (parts[name].cast(pa.int64()) for name in ("whole", "moment"))
    is_number, is_boolean, is_whole, is_moment = (
        np.asarray(part.is_valid()) for part in (numbers, booleans, wholes, moments)
    )
    whole = np.asarray(wholes.fill_null(0))
    word, texts = _from_moments(word, texts, np.asarray(moments.fill_null(NO_TIME)), is_moment)
    former = version == 1 or (version is None and not (is_whole | is_moment).any())
    has_number = is_number | is_whole
    if (
        (has_number & is_boolean).any()
        or (is_boolean & (word >= 0)).any()
        or (not former and (has_number & (word >= 0)).any())
    ):
        raise FormatError("a tuple has two values; give text, a number or a Boolean")
    if not (has_number | is_boolean | (word >= 0)).all():
        raise InvalidEvent("a tuple has no value; give text, a number or a Boolean, or leave it out")
    double = np.where(is_number, np.asarray(numbers.fill_null(0.0)), whole.astype(np.float64))
    number = np.where(is_boolean, np.asarray(booleans.fill_null(False)), double)
    if not np.isfinite(number).all():
        raise InvalidEvent("a number of the batch is NaN or infinite; send a finite one or leave it out")
    if (is_whole & is_number & (whole.astype(np.float64) != number)).any():
        raise FormatError("`whole` and `number` of a tuple are different numbers; give one value, or the same in both")
    if former:
        whole, is_whole, word, texts = _upgrade_version_1(number, is_number, word, texts)
        has_number = is_number | is_whole
    is_text = ~has_number & ~is_boolean
    group = np.asarray(parts["group"].cast(pa.int32()).fill_null(0))
    if (group < 0).any():
        raise FormatError("a group is negative; groups count from 1, 0 is none")
    kind = np.where(is_whole, WHOLE, np.where(has_number, NUMBER, np.where(is_boolean, BOOLEAN, TEXT)))
    text = np.where(is_text, word, -1).astype(np.int32)
    return EventColumns(
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        attribute,
        attributes,
        kind.astype(np.int8),
        np.where(is_text, np.nan, number),
        np.where(is_whole, whole, 0).astype(np.int64),
        text,
        texts,
        timestamps_of(text, texts),
        unit,
        units,
        group,
        time,
        expires,
    )


def _from_moments(
    word: NDArray[np.int32], texts: list[str], moment: NDArray[np.int64], is_moment: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], list[str]]:
    """Return codes with texts for timestamps without one. A timestamp beside a text must equal it."""
    if not is_moment.any():
        return word, texts
    has_text = is_moment & (word >= 0)
    if (timestamps_of(word, texts)[has_text] != moment[has_text]).any():
        raise FormatError("the moment beside a text is another time than the text says; give one, or the same in both")
    alone = np.flatnonzero(is_moment & (word < 0))
    word, texts = word.copy(), list(texts)
    codes = {text: code for code, text in enumerate(texts)}
    for place, at in zip(alone.tolist(), moment[alone].tolist(), strict=True):
        try:
            spelling = timestamp_text(at)
        except OverflowError:
            raise FormatError(f"the moment {at} lies beyond the calendar; give microseconds since 1970") from None
        word[place] = codes.setdefault(spelling if "T" in spelling else f"{spelling}T00:00:00Z", len(codes))
    return word, list(codes)


def _upgrade_version_1(
    number: NDArray[np.float64], is_number: NDArray[np.bool_], word: NDArray[np.int32], texts: list[str]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int32], list[str]]:
    """Decode version 1: integers are doubles without a fraction up to 2**53, or spelled by the text beside them."""
    plain = is_number & (word < 0) & (np.abs(number) <= EXACT) & (number == np.floor(number))
    whole = np.where(plain, number, 0).astype(np.int64)
    is_whole = plain.copy()
    word, texts = word.copy(), list(texts)
    codes = {text: code for code, text in enumerate(texts)}
    for place in np.flatnonzero(is_number & (word >= 0)).tolist():
        try:
            value = parse_number(texts[word[place]])
        except ValueError:
            value = float("nan")
        if float(value) != number[place]:
            raise FormatError("the text beside a number spells another number; give one value, or the same in both")
        word[place] = -1
        if isinstance(value, int) and -LARGEST_WHOLE <= value <= LARGEST_WHOLE:
            whole[place], is_whole[place] = value, True
        elif isinstance(value, int):  # beyond 64 bits it compares as it is written
            word[place] = codes.setdefault(str(value), len(codes))
            is_number[place] = False
    return whole, is_whole, word, list(codes)


def _words(column: Array, what: str) -> tuple[NDArray[np.int32], list[str]]:
    """Return codes (-1 for null) and distinct words, whether or not the column is dictionary-encoded."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        distinct = _text(column.dictionary, what).dictionary_encode()
        codes = np.asarray(column.indices.cast(pa.int64()).fill_null(-1))
        # A dictionary may hold a word twice, or null: map its places to codes of distinct words.
        places = np.append(np.asarray(distinct.indices.cast(pa.int32()).fill_null(-1)), np.int32(-1))
        return places[codes].astype(np.int32), distinct.dictionary.to_pylist()
    encoded = _text(column, what).dictionary_encode()
    return np.asarray(encoded.indices.cast(pa.int32()).fill_null(-1)), encoded.dictionary.to_pylist()


def _text(column: Array, what: str) -> Array:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_view = getattr(pa.types, "is_string_view", lambda _: False)(kind)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind) or is_view):
        raise FormatError(f"a column of {what!r} is {column.type}; it must be text")
    return column.cast(pa.string())


def _check_words(
    words: tuple[NDArray[np.int32], list[str]], what: str, *, blank: bool = False, most: int = MAX_TERM_LENGTH
) -> None:
    """Refuse words in use that are too long or (unless allowed) blank."""
    codes, distinct = words
    used = np.zeros(len(distinct) + 1, bool)  # the last place is where -1 leads
    used[codes] = True
    for code in np.flatnonzero(used[:-1]).tolist():
        word = distinct[code]
        if len(word) > most:
            raise LimitExceeded(f"characters of {what}", allowed=most, found=len(word))
        if not blank and not word.strip():
            raise InvalidEvent(f"{what} is empty; give it some text")


def _without_blank(codes: NDArray[np.int32], distinct: list[str]) -> NDArray[np.int32]:
    """Remove empty units."""
    return np.where(codes == distinct.index(""), -1, codes).astype(np.int32) if "" in distinct else codes


def _moments(column: Array) -> NDArray[np.int64]:
    """Return microseconds in UTC, `NO_TIME` for null."""
    import pyarrow as pa

    if not pa.types.is_timestamp(column.type) or (column.type.tz is None and column.null_count < len(column)):
        raise InvalidEvent(f"a time column is {column.type}; it must be a timestamp with a time zone (UTC)")
    exact = column.cast(pa.timestamp("us", tz="UTC"), safe=False)
    return np.asarray(exact.cast(pa.int64()).fill_null(NO_TIME))


def _check_vectors(column: Array) -> None:
    for vector in column.unique().to_pylist():
        if vector and set(vector) - {"0", "1"}:
            raise InvalidEvent("an event's vector holds 0 and 1 only, as text: 0110")
        if vector and len(vector) > MAX_VECTOR:
            raise LimitExceeded("properties of an interest vector", allowed=MAX_VECTOR, found=len(vector))


def _offsets(lengths: NDArray[np.int64]) -> Array:
    import pyarrow as pa

    return pa.array(np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]), pa.int32())

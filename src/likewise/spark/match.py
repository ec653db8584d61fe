"""`likewise.spark.match`: a DataFrame of events, and which subscriptions each of them meets (docs/guides/spark.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from likewise.errors import InputError
from likewise.extras import require
from likewise.lake.change_log import MATCHERS, ChangeLog
from likewise.lake.storage import ObjectStorePath, StoragePath
from likewise.lake.subscription_snapshot import LoggedSubscription, SubscriptionSnapshot
from likewise.matching.coercion import GivenSubscription, as_subscription
from likewise.matching.matcher import system_clock

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

    from likewise.spark.streaming.dataframes import FrameTask
    from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat


def match(
    df: DataFrame,
    subscriptions: str | StoragePath | Iterable[GivenSubscription],
    payload: str = "value",
    keep: str = "matches",
    *,
    space: str | None = None,
    measure: str | None = None,
    threshold: float | None = None,
    annotations: str | Path | None = None,
    version: int | None = None,
    at: int | None = None,
    form: str | PayloadFormat = "auto",
) -> DataFrame:
    """Return a DataFrame, batch or streaming, with the numbers of the subscriptions each event matches, and the scores.

    `subscriptions` is the folder of a change log (`likewise stream subscriptions`), whose newest `version` counts, or
    those themselves, which are numbered from 0. `payload` names the column with the events: JSON as text or bytes, or
    a struct; without such a column the DataFrame's columns are an EventBatch's. `keep` says what is given back:

    - `matches`: a row for each event that met something: the other columns, `event_id`, `event_source`, `event_time`,
      `subscriptions`, `scores` and `selected`, JSON of what `Matcher.selected` says, null where nothing is selected
    - `wanted`: the same events, as an EventBatch's columns
    - `all`: every row as it came, with these three and, where the payload is no event, `error`

    A DataFrame that has a column of one of these names already is refused, since one of both would be lost.

    `form` says what payloads are: `auto` is JSON, or what the column `headers` of Spark's connector to Kafka names;
    else `cloudevents`, `senml`, a form of RDF (`ttl`, `nt`, `nq`, `trig`, `jsonld`), or a `PayloadFormat` with a schema
    or a registry (docs/guides/spark.md). A payload that holds several events has several rows, with `all` one.

    `space`, `measure` and `threshold` are the names a `Matcher` takes, `annotations` a CSV file that is read now. `at`
    is the moment (µs) of events that state none, the present one by default; subscriptions whose validity is over by
    then are left out. What was read when this was called holds for the whole DataFrame. The workers need Likewise, and
    to see the folder if one is given.
    """
    require("spark", "Spark")
    from likewise.spark.streaming.dataframes import KEPT, FrameTask, added_columns, column_aliases
    from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
    from likewise.spark.streaming.matchers import (
        MeaningChoice,
        active_at,
        numbers_with_select,
        refuse_stateful,
        save_matcher,
    )

    if keep not in KEPT:
        raise InputError(f"keep is one of {', '.join(KEPT)}, found {keep!r}")
    schema = _schema(df, added_columns(keep), payload, keep)
    read_as = PayloadFormat(form) if isinstance(form, str) else form
    now = system_clock() if at is None else at
    annotation_table = "" if annotations is None else Path(annotations).read_text(encoding="utf-8")
    choice = MeaningChoice(space, measure, threshold, annotation_table)
    if isinstance(subscriptions, (str, Path, ObjectStorePath)):
        log = ChangeLog.opened(subscriptions)
        logged = log.snapshot(version)
        active = active_at(logged, now)
        refuse_stateful(active)
        folder = save_matcher(logged, now, choice.as_logged(logged.known), log.folder / MATCHERS)
        task = FrameTask(
            payload,
            keep,
            now,
            folder=folder,
            form=read_as,
            selecting=numbers_with_select(active),
            columns=tuple(df.columns),
        )
    else:
        numbered = [LoggedSubscription(n, as_subscription(each), now) for n, each in enumerate(subscriptions)]
        active = active_at(SubscriptionSnapshot(1, len(numbered), numbered), now)
        refuse_stateful(active)
        choice.matcher().add_many([each.subscription for each in active])  # what cannot be held is said now
        encoded = msgspec.json.encode(active)
        task = FrameTask(
            payload, keep, now, "", encoded, choice, read_as, numbers_with_select(active), tuple(df.columns)
        )
    plain = df.toDF(*column_aliases(len(df.columns)))  # Spark looks columns up by their names, and some cannot be
    return plain.mapInArrow(_mapper(task), _with_column_aliases(schema)).toDF(*schema.names)


def _mapper(task: FrameTask) -> Any:
    def mapped(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.spark.streaming.dataframes import run

        return run(rows, task)

    return mapped


def _schema(df: DataFrame, added: dict[str, pa.DataType], payload: str, keep: str) -> StructType:
    """Return the columns of the result; refuse a DataFrame that cannot be read, or has some of them already."""
    from pyspark.sql.types import BinaryType, StringType, StructField, StructType

    fields = df.schema.fields
    payload_types = [field.dataType for field in fields if field.name == payload]
    if not payload_types and not {"tuples", "graph", "vector"} & set(df.columns):
        raise InputError(
            f"there is no column {payload!r}, and no column `tuples` of an EventBatch; name one of {df.columns}"
        )
    if len(payload_types) > 1:
        raise InputError(f"there are {len(payload_types)} columns {payload!r}; leave one, or call them otherwise")
    for kind in payload_types:
        if not isinstance(kind, (StringType, BinaryType, StructType)) or "variant" in kind.simpleString():
            raise InputError(
                f"the column {payload!r} holds {kind.simpleString()}; payloads are JSON as text or bytes, or structs "
                "(to_json makes text of what else there is)"
            )
    returned = [field for field in fields if keep == "all" or (keep == "matches" and field.name != payload)]
    for field in returned:
        if field.name.lower() in added:  # Spark does not tell them apart
            raise InputError(
                f"the DataFrame has a column {field.name!r} already, which is one of what is added "
                f"({', '.join(added)}); call yours otherwise (withColumnRenamed)"
            )
    return StructType([*returned, *(StructField(name, _type(kind)) for name, kind in added.items())])


def _with_column_aliases(schema: StructType) -> StructType:
    from pyspark.sql.types import StructField, StructType

    from likewise.spark.streaming.dataframes import column_aliases

    fields = zip(column_aliases(len(schema)), schema.fields, strict=True)
    return StructType([StructField(name, each.dataType, each.nullable, each.metadata) for name, each in fields])


def _type(kind: pa.DataType) -> DataType:
    """Return Spark's type for one of Arrow's types."""
    import pyarrow as pa
    from pyspark.sql import types

    if pa.types.is_list(kind):
        return types.ArrayType(_type(kind.value_type), kind.value_field.nullable)
    if pa.types.is_struct(kind):
        return types.StructType([types.StructField(f.name, _type(f.type), f.nullable) for f in kind])
    plain: dict[pa.DataType, DataType] = {
        pa.string(): types.StringType(),
        pa.float64(): types.DoubleType(),
        pa.float32(): types.FloatType(),
        pa.bool_(): types.BooleanType(),
        pa.int32(): types.IntegerType(),
        pa.int64(): types.LongType(),
    }
    return types.TimestampType() if pa.types.is_timestamp(kind) else plain[kind]

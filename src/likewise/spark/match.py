"""Match the events of a DataFrame against subscriptions (docs/guides/spark.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import msgspec

from likewise.errors import InputError
from likewise.extras import require
from likewise.lake.change_log import MATCHERS, ChangeLog
from likewise.lake.storage import ObjectStorePath, StoragePath, store_settings
from likewise.lake.subscription_snapshot import LoggedSubscription, SubscriptionSnapshot
from likewise.matching.coercion import GivenSubscription, as_subscription
from likewise.matching.matcher import system_clock

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Observation
    from pyspark.sql.types import DataType, StructType

    from likewise.spark.streaming.dataframes import FrameTask
    from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
    from likewise.spark.streaming.matchers import MeaningChoice

Mode = Literal["drop", "fail", "column"]
Stateful = Literal["fail", "skip"]
METRICS: Final = "likewise"
_KAFKA: Final = {"topic", "partition", "offset", "timestamp"}  # columns of Spark's connector


def match(
    df: DataFrame,
    subscriptions: str | StoragePath | DataFrame | Iterable[GivenSubscription],
    payload: str = "value",
    keep: str = "matches",
    *,
    time: str | None = None,
    ids: bool = False,
    explode: bool = False,
    mode: Mode = "drop",
    stateful: Stateful = "fail",
    observe: str | Observation | None = None,
    space: str | None = None,
    measure: str | None = None,
    threshold: float | None = None,
    annotations: str | Path | None = None,
    version: int | None = None,
    at: int | None = None,
    form: str | PayloadFormat = "auto",
) -> DataFrame:
    """Return a DataFrame, batch or streaming, with the numbers of the subscriptions each event matches, and the scores.

    In a stream the change log is followed: each micro-batch sees one version at one moment, which a file below the
    log pins, so that a batch that is repeated sees the same. Outside a stream the version of the call counts. A
    DataFrame that has a column already that is added is refused, since one of both would be lost.

    Args:
        df: Events, one or several a row.
        subscriptions: Folder or address of a change log (`likewise stream subscriptions`); or subscriptions, numbered
            from 0; or a DataFrame with the columns `id` and `text`, read now and numbered in the order of ids.
        payload: Column with the events: JSON as text or bytes, or a struct. Without such a column the columns of the
            DataFrame are an EventBatch's.
        keep: `matches`: a row for each event that met something, with the other columns, `event_id`, `event_source`,
            `event_time`, `subscriptions`, `scores` and `selected` (JSON of `Matcher.selected`, null where nothing is
            selected). `wanted`: the same events, as an EventBatch's columns. `all`: every row as it came, with
            `subscriptions`, `scores`, `selected` and, where the payload is no event, `error`.
        time: Column with the times of events that state none. Default: `timestamp` where the columns are those of
            Spark's connector to Kafka; else such events have the moment of the batch.
        ids: Whether `subscription_ids` stands beside `subscriptions`.
        explode: Whether each match has a row, with `subscription`, `score`, `selected` (and `subscription_id`).
        mode: Rows whose payload is no event are left out (`drop`), end the query (`fail`), or come with the reason in
            the column `error` (`column`).
        stateful: Rankings and alerts are refused (`fail`), or left out (`skip`).
        observe: Name of, or `Observation` for, the metrics `malformed` and `returned`, which `DataFrame.observe`
            counts. Default: `likewise` in a stream, none elsewhere.
        space: Name or folder of the space of meaning.
        measure: Name of the measure.
        threshold: Score a match needs.
        annotations: CSV file, read now.
        version: Version of the change log, in place of following it.
        at: Moment (µs) of events without a time outside a stream. Default: the present one. Subscriptions whose
            validity is over by then are left out; in a stream by the moment of each micro-batch.
        form: `auto` is JSON, or what the column `headers` of Spark's connector to Kafka names; else `cloudevents`,
            `senml`, a form of RDF (`ttl`, `nt`, `nq`, `trig`, `jsonld`), or a `PayloadFormat` with a schema or a
            registry. A payload that holds several events has several rows, with `all` one.

    Raises:
        UnsupportedSubscription: A subscription is a ranking or an alert.
        InputError: The DataFrame or an option does not fit.
    """
    require("spark", "Spark")
    from likewise.spark.streaming.dataframes import KEPT, MODES, added_columns

    for name, value, known in (
        ("keep", keep, KEPT),
        ("mode", mode, MODES),
        ("stateful", stateful, ("fail", "skip")),
    ):
        if value not in known:
            raise InputError(f"{name} is one of {', '.join(known)}, found {value!r}")
    if explode and keep != "matches":
        raise InputError(f"explode gives a row for each match, so it goes with keep='matches', not with {keep!r}")
    if ids and keep == "wanted":
        raise InputError("keep='wanted' gives the columns of an EventBatch, which have no ids of subscriptions")
    metrics = METRICS if observe is None and df.isStreaming else observe
    errors = mode == "column" or (bool(metrics) and mode == "drop")
    added = added_columns(keep, ids=ids, explode=explode, errors=errors)
    schema = match_schema(df, added, payload, keep, hidden="" if mode == "column" or keep == "all" else "error")
    task = msgspec.structs.replace(
        frame_task(
            subscriptions,
            meaning_choice(space, measure, threshold, annotations),
            version=version,
            at=at,
            streaming=df.isStreaming,
            skip_stateful=stateful == "skip",
        ),
        payload=payload,
        keep=keep,
        form=payload_format(form),
        columns=tuple(df.columns),
        time=time_column(df, time),
        ids=ids,
        explode=explode,
        mode=mode,
        errors=errors,
        stamped=df.isStreaming,
    )
    found = map_rows(df, _mapper(task), _with_column_aliases(schema), stamped=task.stamped)
    names = schema.names
    if metrics:
        from pyspark.sql import functions as f

        returned = f.lit(1)
        if errors or keep == "all":
            bad = f.col(found.columns[-1]).isNotNull()
            returned, malformed = f.when(~bad, 1), f.count(f.when(bad, 1))
            found = found.observe(metrics, malformed.alias("malformed"), f.count(returned).alias("returned"))
        if errors and mode == "drop" and keep != "all":
            found = found.filter(~bad).drop(found.columns[-1])
            names = names[:-1]
    return found.toDF(*names)


def matches(
    column: Column | str,
    log: str | StoragePath,
    *,
    stateful: Stateful = "fail",
    space: str | None = None,
    measure: str | None = None,
    threshold: float | None = None,
    annotations: str | Path | None = None,
    version: int | None = None,
    form: str | PayloadFormat = "auto",
) -> Column:
    """Return a column with the matches of a column of payloads: an array of `number` and `score`.

    It needs no schema of a DataFrame, which a Declarative Pipeline may not look at. In a stream it follows the log as
    `match` does. A payload that is no event has no matches.

    Args:
        column: JSON as text or bytes, or another form that `form` names.
        log: Folder or address of a change log.
        stateful: Rankings and alerts are refused (`fail`), or left out (`skip`).
        space: Name or folder of the space of meaning.
        measure: Name of the measure.
        threshold: Score a match needs.
        annotations: CSV file, read now.
        version: Version of the change log, in place of following it.
        form: Form of the payloads, as for `match`.
    """
    require("spark", "Spark")
    from pyspark.sql import functions as f
    from pyspark.sql import types
    from pyspark.sql.pandas.functions import arrow_udf

    choice = meaning_choice(space, measure, threshold, annotations)
    task = msgspec.structs.replace(
        frame_task(log, choice, version=version, streaming=True, skip_stateful=stateful == "skip"),
        form=payload_format(form),
    )
    pair = [types.StructField("number", types.LongType()), types.StructField("score", types.FloatType())]
    # A type as text would be parsed by a server, which a Declarative Pipeline forbids.
    listed: Any = cast("Any", arrow_udf)(_lister(task), types.ArrayType(types.StructType(pair)))
    made: Column = listed(column, f.current_timestamp())
    return made


def meaning_choice(
    space: str | None, measure: str | None, threshold: float | None, annotations: str | Path | None, lateness: int = 0
) -> MeaningChoice:
    """Return the choice of how words are compared; `annotations` is read now."""
    from likewise.spark.streaming.matchers import MeaningChoice

    table = "" if annotations is None else Path(annotations).read_text(encoding="utf-8")
    return MeaningChoice(space, measure, threshold, table, lateness=lateness)


def frame_task(
    subscriptions: str | StoragePath | DataFrame | Iterable[GivenSubscription],
    choice: MeaningChoice,
    *,
    version: int | None = None,
    at: int | None = None,
    streaming: bool,
    skip_stateful: bool = False,
) -> FrameTask:
    """Return a worker's settings that say which subscriptions it serves; what cannot be served is refused now."""
    from likewise.spark.streaming.dataframes import FrameTask
    from likewise.spark.streaming.matchers import (
        STATEFUL,
        active_at,
        numbers_with_select,
        refuse_stateful,
        save_matcher,
    )

    now = system_clock() if at is None else at
    if isinstance(subscriptions, (str, Path, ObjectStorePath)):
        log = ChangeLog.opened(subscriptions)
        logged = log.snapshot(version)
        active = active_at(logged, now)
        if not skip_stateful:
            refuse_stateful(active)
        return FrameTask(
            "",
            "",
            now,
            save_matcher(logged, now, choice.as_logged(logged.known), log.folder / MATCHERS),
            choice=choice,
            selecting=numbers_with_select(active),
            log="" if version is not None else str(log.folder),
            skip_stateful=skip_stateful,
            objects=store_settings() if isinstance(log.folder, ObjectStorePath) else {},
        )
    given = given_subscriptions(subscriptions, now)
    if skip_stateful:
        given = [each for each in given if each.subscription.kind not in STATEFUL]
    active = active_at(SubscriptionSnapshot(1, len(given), given), now)
    refuse_stateful(active)
    choice.matcher().add_many([each.subscription for each in active])  # what cannot be held is said now
    encoded = msgspec.json.encode(given if streaming else active)
    return FrameTask("", "", now, "", encoded, choice, selecting=numbers_with_select(given))


def given_subscriptions(subscriptions: DataFrame | Iterable[GivenSubscription], at: int) -> list[LoggedSubscription]:
    """Return subscriptions with their numbers, added at a moment; those of a DataFrame are read now."""
    from pyspark.sql import DataFrame

    if isinstance(subscriptions, DataFrame):
        if missing := {"id", "text"} - set(subscriptions.columns):
            raise InputError(
                f"a DataFrame of subscriptions has the columns id and text; {', '.join(sorted(missing))} is missing "
                f"among {subscriptions.columns}"
            )
        rows = subscriptions.select("id", "text").toArrow().to_pylist()
        if any(row["id"] is None for row in rows):
            raise InputError("a subscription of the DataFrame has no id, by which they are numbered; give it one")
        subscriptions = [{"id": each, "text": text} for each, text in sorted((str(r["id"]), r["text"]) for r in rows)]
    return [LoggedSubscription(n, as_subscription(each), at) for n, each in enumerate(subscriptions)]


def map_rows(df: DataFrame, mapper: Any, schema: StructType | str, *, stamped: bool) -> DataFrame:
    """Return what the workers make of a DataFrame's rows, which come with columns that are called `column_aliases`.

    Args:
        df: DataFrame.
        mapper: what `mapInArrow` takes.
        schema: what it returns.
        stamped: whether rows come with the moment of the micro-batch as the last column.
    """
    from pyspark.sql import functions as f

    from likewise.spark.streaming.dataframes import column_aliases

    plain = df.toDF(*column_aliases(len(df.columns)))  # Spark looks columns up by their names, and some cannot be
    if stamped:
        plain = plain.withColumn("_moment", f.current_timestamp())
    return plain.mapInArrow(mapper, schema)


def payload_format(form: str | PayloadFormat) -> PayloadFormat:
    """Return the form of payloads that a name or a `PayloadFormat` stands for."""
    from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat

    return PayloadFormat(form) if isinstance(form, str) else form


def time_column(df: DataFrame, time: str | None) -> str:
    """Return the column with the times of events that state none; empty if there is none."""
    if time is None:
        return "timestamp" if set(df.columns) >= _KAFKA else ""
    kinds = [field.dataType.typeName() for field in df.schema.fields if field.name == time]
    if kinds not in (["timestamp"], ["timestamp_ntz"]):
        raise InputError(
            f"time names a column of timestamps; {time!r} is {kinds[0] if kinds else 'not there'}, found {df.columns}"
        )
    return time


def _mapper(task: FrameTask) -> Any:
    def mapped(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.spark.streaming.dataframes import run

        return run(rows, task)

    return mapped


def _lister(task: FrameTask) -> Any:
    import pyarrow as pa

    def listed(payloads: pa.Array[Any], moments: pa.Array[Any]) -> pa.Array[Any]:
        from likewise.spark.streaming.dataframes import match_lists

        return match_lists(payloads, moments, task)

    listed.__annotations__ = {"payloads": pa.Array, "moments": pa.Array, "return": pa.Array}  # Spark evaluates them
    return listed


def match_schema(
    df: DataFrame, added: dict[str, pa.DataType], payload: str, keep: str, *, hidden: str = ""
) -> StructType:
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
        if field.name.lower() in added.keys() - {hidden}:  # Spark does not tell them apart
            raise InputError(
                f"the DataFrame has a column {field.name!r} already, which is one of what is added "
                f"({', '.join(added)}); call yours otherwise (withColumnRenamed)"
            )
    return StructType([*returned, *(StructField(name, spark_type(kind)) for name, kind in added.items())])


def _with_column_aliases(schema: StructType) -> StructType:
    from pyspark.sql.types import StructField, StructType

    from likewise.spark.streaming.dataframes import column_aliases

    fields = zip(column_aliases(len(schema)), schema.fields, strict=True)
    return StructType([StructField(name, each.dataType, each.nullable, each.metadata) for name, each in fields])


def spark_type(kind: pa.DataType) -> DataType:
    """Return Spark's type for one of Arrow's types."""
    import pyarrow as pa
    from pyspark.sql import types

    if pa.types.is_list(kind):
        return types.ArrayType(spark_type(kind.value_type), kind.value_field.nullable)
    if pa.types.is_struct(kind):
        return types.StructType([types.StructField(f.name, spark_type(f.type), f.nullable) for f in kind])
    plain: dict[pa.DataType, DataType] = {
        pa.string(): types.StringType(),
        pa.float64(): types.DoubleType(),
        pa.float32(): types.FloatType(),
        pa.bool_(): types.BooleanType(),
        pa.int32(): types.IntegerType(),
        pa.int64(): types.LongType(),
        pa.binary(): types.BinaryType(),
    }
    return types.TimestampType() if pa.types.is_timestamp(kind) else plain[kind]

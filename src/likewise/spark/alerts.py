"""Raise the alerts and rank the events of a DataFrame (docs/guides/spark-alerts.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from likewise.errors import InputError, UnsupportedSubscription
from likewise.extras import require
from likewise.lake.change_log import MATCHERS, ChangeLog
from likewise.lake.storage import ObjectStorePath, StoragePath, store_settings
from likewise.lake.subscription_snapshot import SubscriptionSnapshot
from likewise.matching.coercion import GivenSubscription
from likewise.matching.matcher import system_clock
from likewise.model.time import duration
from likewise.spark.match import (
    METRICS,
    given_subscriptions,
    map_rows,
    match_schema,
    meaning_choice,
    payload_format,
    spark_type,
    time_column,
)
from likewise.spark.session import ROCKSDB, STATE_STORE

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Observation

    from likewise.spark.streaming.dataframes import FrameTask
    from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
    from likewise.spark.streaming.matchers import MeaningChoice
    from likewise.spark.streaming.state.bucketing import AlertTask

BUCKETS: Final = 16  # of each sort of keys, if nothing else is asked for
MOST_BUCKETS: Final = 999
_NOTIFICATION: Final = (
    "bucket string, place long, subscription_id string, subscription long, cause string, event_id string, "
    "score float, rank_value double, key array<string>, moment long, since long, suppressed long, digest string"
)


def alerts(
    df: DataFrame,
    subscriptions: str | StoragePath | DataFrame | Iterable[GivenSubscription],
    *,
    payload: str = "value",
    time: str | None = None,
    lateness: int | str = 0,
    withdrawn: str | None = None,
    mode: Literal["drop", "fail"] = "drop",
    observe: str | Observation | None = None,
    space: str | None = None,
    measure: str | None = None,
    threshold: float | None = None,
    annotations: str | Path | None = None,
    version: int | None = None,
    at: int | None = None,
    form: str | PayloadFormat = "auto",
    buckets: int = BUCKETS,
) -> DataFrame:
    """Return a DataFrame, batch or streaming, with what alerts and rankings say: what one `Matcher` says of the events.

    A micro-batch moves them in the order of event time, then of Kafka's coordinates; then time is as late as the
    newest event so far. State is Spark's (`transformWithState`), in buckets of keys. In a stream a change log is
    followed as by `match`; its subscriptions without a state are left to `match`.

    Args:
        df: Events, one or several a row.
        subscriptions: Folder or address of a change log; or subscriptions, numbered from 0; or a DataFrame with the
            columns `id` and `text`, read now and numbered in the order of ids.
        payload: Column with the events, as for `match`.
        time: Column with the moments at which events came. An event counts at its own time, but not later than it
            came. Default: `timestamp` where the columns are those of Spark's connector to Kafka; else events came at
            the moment of the micro-batch.
        lateness: How long events wait for others that were sent before them: µs, or as `10 s`.
        withdrawn: Column with the id of an event that is taken back, in rows that have one in place of an event.
        mode: Rows whose payload is no event are left out (`drop`), or end the query (`fail`).
        observe: Name of, or `Observation` for, the metrics `malformed` and `returned`. Default: `likewise` in a
            stream, none elsewhere.
        space: Name or folder of the space of meaning.
        measure: Name of the measure.
        threshold: Score a match needs.
        annotations: CSV file, read now.
        version: Version of the change log, in place of following it.
        at: Moment (µs) by which validity is judged outside a stream. Default: the present one.
        form: Form of the payloads, as for `match`.
        buckets: Buckets for each sort of keys (source, each list of `per`, rankings, digests); a query keeps its
            number.

    Returns:
        A row for each notification: `subscription_id`, `subscription` (its number), `cause`, `event_id`, `score`,
        `rank_value` of a ranking; `key`, `moment`, `since` and `suppressed` of an alert; `digest` (JSON). `bucket`
        and `place` say its order: within a bucket and batch by `place`.

    Raises:
        UnsupportedSubscription: One of the given subscriptions has no state.
        InputError: The DataFrame, an option or the session does not fit.
    """
    require("spark", "Spark")
    from likewise.spark.streaming.state.bucketing import AlertTask

    if mode not in ("drop", "fail"):
        raise InputError(f"mode is one of drop, fail, found {mode!r}")
    if not 1 <= buckets <= MOST_BUCKETS:
        raise InputError(f"buckets is between 1 and {MOST_BUCKETS}, found {buckets}")
    if withdrawn is not None and withdrawn not in df.columns:
        raise InputError(f"withdrawn names a column; there is no {withdrawn!r} among {df.columns}")
    match_schema(df, {}, payload, "wanted")
    if df.isStreaming and df.sparkSession.conf.get(STATE_STORE, "") != ROCKSDB:
        raise InputError(
            f"state needs Spark's store on RocksDB; call spark.conf.set({STATE_STORE!r}, {ROCKSDB!r}) before"
        )
    behind = duration(lateness) if isinstance(lateness, str) else lateness
    choice = meaning_choice(space, measure, threshold, annotations, behind)
    frame = msgspec.structs.replace(
        stateful_task(subscriptions, choice, version, at, df.isStreaming, buckets),
        payload=payload,
        form=payload_format(form),
        columns=tuple(df.columns),
        time=time_column(df, time),
        mode=mode,
        stamped=df.isStreaming,
    )
    return notifications(df, AlertTask(frame, buckets, withdrawn or ""), observe)


def notifications(df: DataFrame, task: AlertTask, observe: str | Observation | None = None) -> DataFrame:
    """Return what alerts and rankings say of the events of rows that a task's settings say how to read."""
    from pyspark.sql import functions as f

    from likewise.spark.streaming.state.bucketing import COUNTS, SCHEMA
    from likewise.spark.streaming.state.buckets import BucketProcessor

    routed = map_rows(df, _router(task), spark_type_of(SCHEMA), stamped=task.frame.stamped)
    metrics = METRICS if observe is None and df.isStreaming else observe
    if metrics:
        counts = (f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in ("malformed", "returned"))
        routed = routed.observe(metrics, *counts)
    said = (
        routed.filter(f.col("bucket") != COUNTS)
        .groupBy("bucket")
        .transformWithState(BucketProcessor(task), _NOTIFICATION, outputMode="append", timeMode="none")
    )
    return said.withColumns({name: f.timestamp_micros(f.col(name)) for name in ("moment", "since")})


def stateful_task(
    subscriptions: str | StoragePath | DataFrame | Iterable[GivenSubscription],
    choice: MeaningChoice,
    version: int | None,
    at: int | None,
    streaming: bool,
    buckets: int,
) -> FrameTask:
    """Return a worker's settings that say which rankings and alerts it serves; what cannot be served is refused now."""
    from likewise.spark.streaming.dataframes import FrameTask
    from likewise.spark.streaming.matchers import STATEFUL
    from likewise.spark.streaming.state.shuffle import save_plan_of, stateful_subscriptions

    now = system_clock() if at is None else at
    if isinstance(subscriptions, (str, Path, ObjectStorePath)):
        log = ChangeLog.opened(subscriptions)
        logged = log.snapshot(version)
        meaning = choice.as_logged(logged.known)
        stateful = stateful_subscriptions(logged, now)
        meaning.matcher().add_many([each.subscription for each in stateful])  # what cannot be held is refused now
        return FrameTask(
            "",
            "",
            now,
            save_plan_of(logged, now, meaning, buckets, log.folder / MATCHERS),
            choice=choice,
            log="" if version is not None else str(log.folder),
            objects=store_settings() if isinstance(log.folder, ObjectStorePath) else {},
        )
    given = given_subscriptions(subscriptions, now)
    for each in given:
        if each.subscription.kind not in STATEFUL:
            raise UnsupportedSubscription(
                f"{each.subscription.id!r} has no state: `likewise.spark.match` serves what looks at one event"
            )
    stateful = stateful_subscriptions(SubscriptionSnapshot(1, len(given), given), now)
    choice.matcher().add_many([each.subscription for each in stateful])
    return FrameTask("", "", now, "", msgspec.json.encode(given if streaming else stateful), choice)


def spark_type_of(schema: pa.Schema) -> Any:
    """Return Spark's schema for one of Arrow's."""
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(field.name, spark_type(field.type), field.nullable) for field in schema])


def _router(task: AlertTask) -> Any:
    def routed(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.spark.streaming.state.bucketing import route

        return route(rows, task)

    return routed

"""Write a stream of Spark to a lake, each batch once, and its progress for Prometheus (docs/guides/spark-sinks.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from likewise.errors import InputError
from likewise.extras import require
from likewise.lake.change_log import ChangeLog
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.parts import SUBSCRIPTIONS, LakePart, subscription_rows, write_part
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.storage import ObjectStorePath, StoragePath, storage_path, store_settings
from likewise.lake.subscription_snapshot import LoggedSubscription
from likewise.matching.coercion import GivenSubscription
from likewise.matching.matcher import system_clock
from likewise.spark.match import frame_task, map_rows, match_schema, meaning_choice, payload_format, time_column

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from likewise.spark.streaming.batch_pins import BatchPin
    from likewise.spark.streaming.batch_report import BatchCounts
    from likewise.spark.streaming.dataframes import FrameTask
    from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
    from likewise.spark.streaming.lake_sink import LakeTask

_DONE: Final = "done binary"
_QUERY: Final = "sql.streaming.queryId"
_NOTIFICATION: Final = {"bucket", "place", "subscription", "cause", "moment", "digest"}


def to_lake(
    path: str | StoragePath,
    format: Literal["parquet", "delta"] = "parquet",
    *,
    subscriptions: str | StoragePath | DataFrame | Iterable[GivenSubscription] | None = None,
    keep: Literal["matches", "wanted", "all"] = "matches",
    payload: str = "value",
    time: str | None = None,
    form: str | PayloadFormat = "auto",
    bad: str | StoragePath = "",
    tenant: str = "default",
    query: str = "",
    space: str | None = None,
    measure: str | None = None,
    threshold: float | None = None,
    annotations: str | Path | None = None,
) -> Callable[[DataFrame, int], None]:
    """Return a function for `DataStreamWriter.foreachBatch` that writes each batch to a lake, once.

    Spark's tasks write the files, so that no row goes back to the JVM; the driver commits them as one, by query and
    batch. A batch that Spark repeats after it was committed changes nothing. With `subscriptions` the stream is one of
    events, which the same tasks match; without, one of notifications, as `likewise.spark.alerts` returns them.

    Args:
        path: Folder or address of the lake.
        format: `parquet` with commits of the lake's own, or `delta`.
        subscriptions: Folder or address of a change log, or subscriptions, as for `match`; rankings and alerts are
            left to `alerts`.
        keep: `matches` writes what events met, `wanted` also the events that met something, `all` every event.
        payload: Column with the events.
        time: Column with the times of events that state none, as for `match`.
        form: Form of the payloads, as for `match`.
        bad: Folder or address for payloads that are no events, with the reason.
        tenant: Name by which the lake's files are partitioned.
        query: Name of the query in the lake. Default: the id that Spark keeps in the checkpoint.
        space: Name or folder of the space of meaning.
        measure: Name of the measure.
        threshold: Score a match needs.
        annotations: CSV file, read now.

    Raises:
        InputError: An option does not fit, or rows are none of both.
    """
    require("spark", "Spark")
    from likewise.spark.streaming.dataframes import FrameTask
    from likewise.spark.streaming.lake_sink import KEPT, LakeTask

    for name, value, known in (("format", format, ("parquet", "delta")), ("keep", keep, KEPT)):
        if value not in known:
            raise InputError(f"{name} is one of {', '.join(known)}, found {value!r}")
    check_tenant(tenant)
    if any(not (c.isalnum() or c in "-_.") for c in query) or query.startswith((".", "_")):
        raise InputError(f"a query's name is part of paths: letters, digits, - and _; found {query!r}")
    commits = (DeltaCommits if format == "delta" else PlainCommits)(storage_path(path))
    log, frame = None, None
    if subscriptions is not None:
        choice = meaning_choice(space, measure, threshold, annotations)
        frame = frame_task(subscriptions, choice, streaming=True, skip_stateful=True)
        frame = msgspec.structs.replace(frame, payload=payload, form=payload_format(form))
        log = ChangeLog.opened(frame.log) if frame.log else None
    place = str(storage_path(bad)) if bad else ""
    task = LakeTask(query, 0, str(commits.folder), tenant, frame or FrameTask("", "", 0), keep, place)
    return LakeWriter(task, commits, log, matching=frame is not None, time=time).write


def check_tenant(tenant: str) -> None:
    """Refuse the name of a tenant that cannot be part of paths."""
    if not tenant or any(c in tenant for c in "/\\=%") or tenant.startswith("."):
        raise InputError(f"a tenant's name is part of paths, so it has no / \\ = or %; found {tenant!r}")


class LakeWriter:
    """The driver's side of a sink: it lets tasks write a batch, and commits what they wrote.

    Args:
        task: settings of the tasks, but for the batch; without a query's name Spark's id of the query is taken.
        commits: what makes parts count; None if tasks send what is found to a topic.
        log: change log that the tasks follow.
        matching: whether rows are events, else they are notifications.
        time: column with the times of events that state none.
        report: called after each batch, with its number, counts, the version of the subscriptions, and seconds.
    """

    def __init__(
        self,
        task: LakeTask,
        commits: PlainCommits | DeltaCommits | None,
        log: ChangeLog | None,
        *,
        matching: bool,
        time: str | None = None,
        report: Callable[[int, BatchCounts, int, float], None] | None = None,
    ) -> None:
        self._task = task
        self._commits = commits
        self._log = log
        self._matching = matching
        self._time = time
        self._report = report

    def write(self, df: DataFrame, batch: int) -> None:
        """Write and commit a batch, unless it is committed."""
        from likewise.spark.streaming.batch_report import BatchCounts
        from likewise.spark.streaming.lake_sink import LakeTaskResult

        began = perf_counter()
        query, commits, counts = self._task.query or _query_id(df), self._commits, BatchCounts()
        if commits is None or not commits.committed(query, batch):
            places = [storage_path(each) for each in (self._task.folder, self._task.bad) if each]
            elsewhere = self._task.frame.objects or any(isinstance(each, ObjectStorePath) for each in places)
            task = msgspec.structs.replace(
                self._task,
                query=query,
                batch=batch,
                frame=_of_columns(df, self._task.frame, self._time, matching=self._matching),
                objects=store_settings() if elsewhere else {},
            )
            rows = map_rows(df, _writer(task, matching=self._matching), _DONE, stamped=False).collect()
            done = [msgspec.json.decode(bytes(row["done"]), type=LakeTaskResult) for row in rows]
            for each in done:
                counts = counts.plus(each.counts)
            if commits is not None:
                parts = [part for each in done for part in each.parts]
                commits.commit(query, batch, parts + self._new_subscriptions(query, batch))
        elif not self._matching:  # it runs all the same: it moves the state that the next batch has
            df.write.format("noop").mode("append").save()
        if self._report is not None:
            self._report(batch, counts, self._version(query, batch), perf_counter() - began)

    def _version(self, query: str, batch: int) -> int:
        """Return the version of the subscriptions that a batch saw; 0 if nothing says."""
        pin = self._pinned(query, batch)
        return 0 if pin is None else pin.version

    def _pinned(self, query: str, batch: int) -> BatchPin | None:
        from likewise.spark.streaming.batch_pins import MicroBatch, pinned_before
        from likewise.spark.streaming.dataframes import pin_choice

        if self._log is None:
            return None
        return pinned_before(self._log, pin_choice(self._task.frame), MicroBatch(query, batch + 1))

    def _new_subscriptions(self, query: str, batch: int) -> list[LakePart]:
        """Write what the numbers stand for that no batch before had."""
        if not self._matching or self._commits is None:
            return []
        new, version = self._subscriptions(query, batch)
        if not new:
            return []
        rows = subscription_rows(new, version)
        return [write_part(self._commits.folder, SUBSCRIPTIONS, rows, f"{query}-{batch:010d}-subscriptions")]

    def _subscriptions(self, query: str, batch: int) -> tuple[list[LoggedSubscription], int]:
        if self._log is None:
            given = msgspec.json.decode(self._task.frame.subscriptions, type=list[LoggedSubscription])
            return (given if batch == 0 else []), 1
        pin = self._pinned(query, batch)
        if pin is None:  # no task had a row
            return [], 0
        before = self._pinned(query, batch - 1)
        if before is not None and before.version == pin.version:
            return [], 0
        known = 0 if before is None else before.next_number
        if known is None and before is not None:  # it was written by an older version
            known = self._log.snapshot(before.version).next_number
        snapshot = self._log.snapshot(pin.version)
        return [each for each in snapshot.subscriptions.values() if each.number >= (known or 0)], pin.version


def _of_columns(df: DataFrame, frame: FrameTask, time: str | None, *, matching: bool) -> FrameTask:
    """Return how the rows of a batch are read; rows that are neither events nor notifications are refused."""
    frame = msgspec.structs.replace(frame, columns=tuple(df.columns), at=system_clock())
    if not matching:
        if missing := _NOTIFICATION - set(df.columns):
            raise InputError(
                f"to_lake writes what `likewise.spark.alerts` returns; {', '.join(sorted(missing))} is missing among "
                f"{df.columns}. Name `subscriptions` for a stream of events, or use a sink of Spark's own"
            )
        return frame
    if frame.ranges is not None:
        return frame
    match_schema(df, {}, frame.payload, "wanted")
    return msgspec.structs.replace(frame, time=time_column(df, time))


def _query_id(df: DataFrame) -> str:
    """Return the id of the query that runs, by which a batch is known again after a restart."""
    context = getattr(df.sparkSession, "sparkContext", None) if _is_classic(df) else None
    found = None if context is None else context.getLocalProperty(_QUERY)
    if not found:
        raise InputError("Spark does not tell the query's id here; name the query: to_lake(..., query='readings')")
    return str(found)


def _is_classic(df: DataFrame) -> bool:
    return not type(df).__module__.startswith("pyspark.sql.connect")


def _writer(task: LakeTask, *, matching: bool) -> Any:
    def written(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.spark.streaming.lake_sink import write_matches, write_notifications

        return write_matches(rows, task) if matching else write_notifications(rows, task)

    return written

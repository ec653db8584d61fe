"""`likewise stream run`: queries of Structured Streaming from files or Kafka into a lake or a topic.

    stream.json      which stream this is
    matches/         Spark's checkpoint of the query that matches events
    states/          that of rankings and alerts, which is started when the first of them is there
    begin.json       files that were there before it started, which it does not read
    log.json         the version of the change log that a batch saw last

Both read on their own. A batch that did not end is repeated by Spark with the offsets and the pin that it had.
"""

from __future__ import annotations

import json
import queue
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from likewise.errors import ArtefactMissing, ArtefactVersion, InputError
from likewise.lake.atomic_create import create_once, write_whole
from likewise.lake.change_log import ChangeLog
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.storage import StoragePath, storage_path
from likewise.lake.versioned import decoded
from likewise.matching.matcher import system_clock
from likewise.spark.alerts import MOST_BUCKETS, notifications, stateful_task
from likewise.spark.lake import LakeWriter, check_tenant
from likewise.spark.match import frame_task, time_column
from likewise.spark.session import spark_error
from likewise.spark.streaming.batch_pins import VERSION as PIN_VERSION
from likewise.spark.streaming.batch_pins import BatchPin
from likewise.spark.streaming.batch_report import BatchCounts, BatchReport
from likewise.spark.streaming.dataframes import FrameTask
from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat, without_registry
from likewise.spark.streaming.kafka_settings import java_settings, kafka_address, require_connector
from likewise.spark.streaming.lake_sink import KEPT, LakeTask
from likewise.spark.streaming.matchers import MeaningChoice
from likewise.spark.streaming.overlap import check_disjoint
from likewise.spark.streaming.payloads import AUTO
from likewise.spark.streaming.sources.files import file_ranges, list_files
from likewise.spark.streaming.sources.ranges import RangeSource
from likewise.spark.streaming.state.bucketing import AlertTask
from likewise.spark.streaming.state.paths import SHARDS
from likewise.spark.streaming.state.shuffle import stateful_subscriptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

VERSION: Final = 1
MOST: Final = 1_000_000  # events of a batch, if nothing else is asked for
READERS: Final = ("own", "spark")
MATCHES, STATES = "matches", "states"
_BEGIN, _LOG = "begin.json", "log.json"
_POLL_S: Final = 0.1
_PROGRESS_POLLS: Final = 20  # how often it is looked whether Spark tells how far a batch read


class StreamSettings(msgspec.Struct, frozen=True):
    """Which stream this is; what is given again at a restart must be the same."""

    inlet: str
    outlet: str
    subscriptions: str
    keep: str = "matches"
    tenant: str = "default"
    shards: int = SHARDS
    payload: str = "auto"


class StoredStream(msgspec.Struct, frozen=True):
    """`stream.json`: the settings, and the name by which the lake knows its batches."""

    v: int
    name: str
    settings: StreamSettings


class Stream:
    """A stream that is ready to run; everything that can be refused at the start is refused here."""

    def __init__(
        self,
        settings: StreamSettings,
        checkpoint: str | StoragePath,
        choice: MeaningChoice | None = None,
        *,
        most: int = MOST,
        bad: str = "",
        kafka: Mapping[str, str] | None = None,
        form: PayloadFormat = AUTO,
        reader: str = "own",
    ) -> None:
        if settings.keep not in KEPT:
            raise InputError(f"--keep is one of {', '.join(KEPT)}, found {settings.keep!r}")
        if not 1 <= settings.shards <= MOST_BUCKETS:
            raise InputError(f"--shards is between 1 and {MOST_BUCKETS}, found {settings.shards}")
        check_tenant(settings.tenant)
        if reader not in READERS:
            raise InputError(f"--reader is one of {', '.join(READERS)}, found {reader!r}")
        if reader == "spark" and not settings.inlet.startswith("kafka:"):
            raise InputError(
                f"--reader spark reads topics of Kafka; {settings.inlet} is read by ours, leave --reader out"
            )
        self._reader = reader
        self._choice = choice or MeaningChoice()
        self._most = most
        self._bad = str(storage_path(bad)) if bad else ""
        self._kafka = without_registry(kafka or {})
        if reader == "spark":
            java_settings(self._kafka)  # what it would not understand is refused now
        self._form = form
        self._settings = settings = msgspec.structs.replace(settings, payload=form.label)
        self._folder = _input_folder(settings.inlet)
        self._commits = open_commits(settings.outlet)
        if self._commits is None and settings.keep != "matches":
            raise InputError(f"a topic takes matches alone; --keep {settings.keep} needs parquet:DIR or delta:DIR")
        self._log = ChangeLog.opened(settings.subscriptions)
        self._checkpoint = storage_path(checkpoint)
        written = {
            "--to": None if self._commits is None else self._commits.folder,
            "--bad": storage_path(bad) if bad else None,
            "--checkpoint": self._checkpoint,
            "--subscriptions": self._log.folder,
        }
        check_disjoint(self._folder, written)
        if self._folder is None and reader == "own":
            from likewise.spark.streaming.sources.kafka import TopicOffsets

            address = kafka_address(settings.inlet)
            TopicOffsets(address.topic, address.servers, self._kafka).partitions()  # what is not there is refused now
        self._frame = msgspec.structs.replace(
            frame_task(str(self._log.folder), self._choice, streaming=True, skip_stateful=True),
            payload="value",
            form=form,
        )
        self._states_frame = self._stateful_frame()  # what cannot be held is refused now
        self._name = self._stored().name
        self._check_log()
        self._check_outlet()

    def run(self, spark: SparkSession, every: float | None = None) -> Iterator[BatchReport]:
        """Run the queries, and yield what came of each batch.

        Args:
            spark: session.
            every: seconds between the beginnings of batches; without it the stream ends when everything is read.
        """
        reports: queue.SimpleQueue[tuple[str, BatchReport]] = queue.SimpleQueue()
        running: dict[str, StreamingQuery] = {}
        version = 0
        try:
            for name in [MATCHES] + [STATES] * self._has_states():
                running[name] = self._start(spark, name, every, reports.put)
            while True:
                ended = not any(query.isActive for query in running.values())
                try:
                    name, report = reports.get(timeout=0 if ended else _POLL_S)
                except queue.Empty:
                    for query in running.values():
                        if (error := query.exception()) is not None:
                            raise spark_error(str(error)) from error
                    if ended:
                        return
                    continue
                version = self._see(report.subscriptions, version)
                yield msgspec.structs.replace(report, subscriptions=version, lag=_lag(running[name], report.batch))
                if STATES not in running and self._has_states():
                    running[STATES] = self._start(spark, STATES, every, reports.put)
        finally:
            for query in running.values():
                query.stop()

    def _start(
        self,
        spark: SparkSession,
        name: str,
        every: float | None,
        report: Callable[[tuple[str, BatchReport]], None],
    ) -> StreamingQuery:
        """Start one of both queries."""
        place = self._checkpoint / name
        planned, ended = _newest(place / "offsets"), _newest(place / "commits")
        df, frame = self._read(spark, name)

        def told(batch: int, counts: BatchCounts, version: int, seconds: float) -> None:
            repeated = batch == planned and planned > ended
            report((name, BatchReport(batch, counts, version, round(seconds, 3), 0, repeated)))

        if name == STATES:
            shown = spark.conf.get("spark.sql.shuffle.partitions")
            spark.conf.set("spark.sql.shuffle.partitions", str(min(self._settings.shards, _cores(spark))))
            df = notifications(df, AlertTask(frame, self._settings.shards))
        writer = LakeWriter(
            self._task(name, frame),
            self._commits,
            self._log if name == MATCHES else None,
            matching=name == MATCHES,
            report=told,
        )
        started = df.writeStream.queryName(f"{self._name}-{name}").foreachBatch(writer.write)
        if every is None:
            started = started.trigger(availableNow=True)
        else:
            started = started.trigger(processingTime=f"{round(every * 1000)} milliseconds")
        query = started.option("checkpointLocation", str(place)).start()
        if name == STATES and shown is not None:
            spark.conf.set("spark.sql.shuffle.partitions", shown)
        return query

    def _see(self, version: int, before: int) -> int:
        """Remember the version of the change log that a batch saw, and return it; 0 says nothing."""
        if version in (0, before):
            return before
        pin = BatchPin(version, self._log.snapshot(version).digest, 0, "")
        write_whole(self._checkpoint / _LOG, msgspec.json.encode(pin))
        return version

    def _check_log(self) -> None:
        """Refuse a change log that is another than the one that was seen: its numbers would stand for others."""
        path = self._checkpoint / _LOG
        if path.is_file():
            decoded(path, path.read_bytes(), BatchPin, current=PIN_VERSION).check_log(self._log.snapshot())

    def _task(self, name: str, frame: FrameTask) -> LakeTask:
        topic, kafka = "", {}
        if self._commits is None:
            servers, topic = kafka_address(self._settings.outlet)
            kafka = self._kafka | {"bootstrap.servers": servers}
        return LakeTask(
            self._name if name == MATCHES else f"{self._name}s",
            0,
            "" if self._commits is None else str(self._commits.folder),
            self._settings.tenant,
            frame,
            self._settings.keep,
            self._bad if name == MATCHES else "",
            topic=topic,
            kafka=kafka,
            buckets=self._settings.shards,
        )

    def _read(self, spark: SparkSession, name: str) -> tuple[DataFrame, FrameTask]:
        """Return the stream that a query reads, and how its rows are read."""
        frame = self._frame if name == MATCHES else self._stateful_frame()
        later = name == STATES and self._begin_later()
        if self._folder is not None:
            df = file_ranges(spark, self._folder, self._most)
            skip = str(self._checkpoint / _BEGIN) if later else ""
            frame = msgspec.structs.replace(frame, ranges=RangeSource(str(self._folder), skip=skip))
        else:
            address, first = kafka_address(self._settings.inlet), "latest" if later else "earliest"
            if self._reader == "own":
                from likewise.spark.streaming.sources.kafka import topic_ranges

                df = topic_ranges(spark, address, self._kafka, self._most, first)
                settings = self._kafka | {"bootstrap.servers": address.servers}
                frame = msgspec.structs.replace(frame, ranges=RangeSource(kafka=settings))
            else:
                require_connector(spark)
                given = {
                    "kafka.bootstrap.servers": address.servers,
                    "kafka.isolation.level": "read_committed",  # as librdkafka reads
                    "subscribe": address.topic,
                    "startingOffsets": first,
                    "maxOffsetsPerTrigger": str(self._most),
                    "includeHeaders": "true",
                    "failOnDataLoss": "true",
                }
                given |= {f"kafka.{key}": value for key, value in java_settings(self._kafka).items()}
                df = spark.readStream.format("kafka").options(**given).load()
                frame = msgspec.structs.replace(frame, time=time_column(df, None))
        return df, msgspec.structs.replace(frame, columns=tuple(df.columns), stamped=name == STATES)

    def _stateful_frame(self) -> FrameTask:
        frame = stateful_task(str(self._log.folder), self._choice, None, None, True, self._settings.shards)
        return msgspec.structs.replace(frame, payload="value", form=self._form)

    def _has_states(self) -> bool:
        """Return whether there are rankings or alerts, or were when the stream ran before."""
        if _newest(self._checkpoint / STATES / "offsets") >= 0:
            return True
        return bool(stateful_subscriptions(self._log.snapshot(), system_clock()))

    def _begin_later(self) -> bool:
        """Return whether rankings and alerts, added to a stream that ran before, begin with what comes after."""
        path = self._checkpoint / _BEGIN
        if not path.is_file() and _newest(self._checkpoint / STATES / "offsets") < 0:
            if _newest(self._checkpoint / MATCHES / "commits") < 0:
                return False
            names = (
                [] if self._folder is None else [path.relative_to(self._folder) for path in list_files(self._folder)]
            )
            create_once(path, msgspec.json.encode([name.as_posix() for name in names]))
        return path.is_file()

    def _stored(self) -> StoredStream:
        """Return what the checkpoint says the stream is; refuse that of another, and one of an older release."""
        if (self._checkpoint / "query.json").is_file():
            raise ArtefactVersion(
                f"{self._checkpoint} is the checkpoint of an older version of Likewise, which this one cannot go on "
                "from: let that version read what is there (`likewise stream run --once`), move the files that were "
                "read away, or let the topic's retention take the messages, and start with another --checkpoint"
            )
        path = self._checkpoint / "stream.json"
        create_once(path, msgspec.json.encode(StoredStream(VERSION, uuid.uuid4().hex[:12], self._settings)))
        stored = decoded(path, path.read_bytes(), StoredStream, current=VERSION)
        for field in StreamSettings.__struct_fields__:
            was, now = getattr(stored.settings, field), getattr(self._settings, field)
            if was != now:
                raise InputError(
                    f"{self._checkpoint} is the checkpoint of another stream: its {field} is {was!r}, and {now!r} was "
                    "given; give the same, or choose another --checkpoint"
                )
        return stored

    def _check_outlet(self) -> None:
        last = _newest(self._checkpoint / MATCHES / "commits")
        if last >= 0 and self._commits is not None and not self._commits.is_committed(self._name, last):
            raise ArtefactMissing(
                f"batch {last} was committed to {self._commits.folder} and is not there: is the disk mounted? Bring it "
                "back, or choose another --checkpoint to begin anew"
            )


def open_commits(address: str) -> PlainCommits | DeltaCommits | None:
    """Return the lake of an address, None for a topic.

    >>> open_commits("lake")
    Traceback (most recent call last):
    likewise.errors.InputError: a stream goes to parquet:DIR, delta:DIR or kafka://host:port/topic, not to 'lake'
    """
    kind, _, place = address.partition(":")
    if kind == "parquet" and place:
        return PlainCommits(storage_path(place))
    if kind == "delta" and place:
        return DeltaCommits(storage_path(place))
    if kind == "kafka":
        from likewise.extras import require

        kafka_address(address)
        require("kafka", "Kafka")
        return None
    raise InputError(f"a stream goes to parquet:DIR, delta:DIR or kafka://host:port/topic, not to {address!r}")


def _input_folder(address: str) -> Path | None:
    """Return the folder of an address, None for a topic.

    >>> _input_folder("readings")
    Traceback (most recent call last):
    likewise.errors.InputError: a stream comes from files:DIR or kafka://host:port/topic, not from 'readings'
    """
    kind, _, place = address.partition(":")
    if kind == "files" and place:
        if "://" in place:
            raise InputError(f"files are read from a folder, not from {place}; copy them, or bring them by Kafka")
        if not Path(place).is_dir():
            raise InputError(f"there is no folder {place} to read events from")
        return Path(place).absolute()
    if kind == "kafka":
        kafka_address(address)
        return None
    raise InputError(f"a stream comes from files:DIR or kafka://host:port/topic, not from {address!r}")


def _cores(spark: SparkSession) -> int:
    """Return how many tasks run at once, where a session tells it."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return MOST_BUCKETS
    return int(spark.sparkContext.defaultParallelism)


def _newest(folder: StoragePath) -> int:
    """Return the newest number among the files of a folder; -1 if there is none."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def _lag(query: StreamingQuery, batch: int) -> int:
    """Return how many messages of a topic were there and not read by a batch, as Spark tells soon after it."""
    for _ in range(_PROGRESS_POLLS):
        progress: Any = query.lastProgress
        if progress is not None and progress["batchId"] >= batch:
            (source,) = progress["sources"]
            end, latest = (_numbers(source[name]) for name in ("endOffset", "latestOffset"))
            return max(0, latest - end)
        time.sleep(_POLL_S)
    return 0


def _numbers(offset: Any) -> int:
    """Return the sum of the numbers in an offset of Spark."""
    if isinstance(offset, str):
        offset = json.loads(offset)
    if isinstance(offset, dict):
        return sum(_numbers(each) for key, each in offset.items() if key != "logOffset")
    return offset if isinstance(offset, int) else 0

"""A query on Spark, batch by batch: plan, write down the plan, run it as one job, commit, write down the commit.

The driver plans what each task reads and pins what all of them see, so that a batch that is repeated after a crash
gives equal rows under the same names, and is committed once (docs/decisions/010-batches-of-our-own.md).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from likewise.errors import ArtefactDamaged, ArtefactMissing, InputError
from likewise.lake.change_log import MATCHERS, ChangeLog
from likewise.lake.delta_commits import DeltaCommits
from likewise.lake.parts import SUBSCRIPTIONS, LakePart, subscription_rows, write_part
from likewise.lake.plain_commits import PlainCommits
from likewise.lake.storage import StoragePath, storage_path, store_settings
from likewise.lake.subscription_snapshot import SubscriptionSnapshot
from likewise.matching.matcher import system_clock
from likewise.matching.storage.index_file import product
from likewise.spark.streaming.checkpoint import BatchCounts, BatchPlan, Checkpoint, Query
from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat, without_registry
from likewise.spark.streaming.kafka_settings import kafka_address
from likewise.spark.streaming.kafka_sink import KafkaSink
from likewise.spark.streaming.matchers import (
    MeaningChoice,
    active_at,
    matcher_folder,
    numbers_with_select,
    save_matcher,
)
from likewise.spark.streaming.overlap import check_disjoint
from likewise.spark.streaming.payloads import AUTO
from likewise.spark.streaming.sources.files import FileSource
from likewise.spark.streaming.sources.ranges import StreamSource
from likewise.spark.streaming.spark_reader import READERS, java_settings, require_connector, run_read_by_spark
from likewise.spark.streaming.state.shard import ShardResult, ShardTask
from likewise.spark.streaming.state.shards import StreamState
from likewise.spark.streaming.task import MatchTask, MatchTaskResult, run_task
from likewise.spark.streaming.tasks import map_orders, rebuild_error

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST: Final = 1_000_000  # events of a batch, if nothing else is said
MOST_SHARDS: Final = 999
KEPT: Final = ("matches", "wanted", "all")


class Sink(Protocol):
    """What parts are committed to; `folder` is where workers write them, None if they write none."""

    @property
    def folder(self) -> StoragePath | None:
        """Where workers write parts."""
        ...

    def committed(self, query: str, batch: int) -> bool:
        """Whether a batch is there."""
        ...

    def is_committed(self, query: str, batch: int) -> bool:
        """Whether anything of a batch that was committed is there, so that this is where it went."""
        ...

    def commit(self, query: str, batch: int, parts: list[LakePart]) -> bool:
        """Let the parts of a batch count, once; False if they do already."""
        ...


def open_sink(address: str) -> Sink:
    """The outlet of an address.

    >>> open_sink("lake")
    Traceback (most recent call last):
    likewise.errors.InputError: a stream goes to parquet:DIR, delta:DIR or kafka://host:port/topic, not to 'lake'
    """
    kind, _, place = address.partition(":")
    if kind == "parquet" and place:
        return PlainCommits(storage_path(place))
    if kind == "delta" and place:
        return DeltaCommits(storage_path(place))
    if kind == "kafka":
        return KafkaSink(kafka_address(address))
    raise InputError(f"a stream goes to parquet:DIR, delta:DIR or kafka://host:port/topic, not to {address!r}")


class BatchReport(msgspec.Struct, frozen=True):
    """What came of one batch; `repeated` if it was planned before the query was last started."""

    batch: int
    counts: BatchCounts
    subscriptions: int
    seconds: float
    lag: int
    repeated: bool = False


class StreamQuery:
    """A query that is ready to run; everything that can be refused at the start is refused here."""

    def __init__(
        self,
        query: Query,
        checkpoint: str | StoragePath,
        choice: MeaningChoice | None = None,
        *,
        most: int = MOST,
        bad: str = "",
        kafka: Mapping[str, str] | None = None,
        form: PayloadFormat = AUTO,
        reader: str = "own",
    ) -> None:
        if query.keep not in KEPT:
            raise InputError(f"--keep is one of {', '.join(KEPT)}, found {query.keep!r}")
        if not 1 <= query.shards <= MOST_SHARDS:
            raise InputError(f"--shards is between 1 and {MOST_SHARDS}, found {query.shards}")
        if not query.tenant or any(c in query.tenant for c in "/\\=%") or query.tenant.startswith("."):
            raise InputError(f"a tenant's name is part of paths, so it has no / \\ = or %; found {query.tenant!r}")
        if reader not in READERS:
            raise InputError(f"--reader is one of {', '.join(READERS)}, found {reader!r}")
        if reader == "spark" and not query.inlet.startswith("kafka:"):
            raise InputError(f"--reader spark reads topics of Kafka; {query.inlet} is read by ours, leave --reader out")
        self.reader = reader
        self.choice = choice or MeaningChoice()
        self.most = most
        self.bad = str(storage_path(bad)) if bad else ""
        self.kafka = without_registry(kafka or {})
        if self.reader == "spark":
            java_settings(self.kafka)  # what it would not understand is said now
        self.form = form
        self.query = query = msgspec.structs.replace(query, payload=form.label)
        self.inlet: StreamSource = open_source(query.inlet, self.kafka)
        self.outlet: Sink = open_sink(query.outlet)
        if self.outlet.folder is None and query.keep != "matches":
            raise InputError(f"a topic takes matches alone; --keep {query.keep} needs parquet:DIR or delta:DIR")
        self.log = ChangeLog.opened(query.subscriptions)
        read = Path(query.inlet.removeprefix("files:")) if query.inlet.startswith("files:") else None
        written = {
            "--to": self.outlet.folder,
            "--bad": storage_path(bad) if bad else None,
            "--checkpoint": storage_path(checkpoint),
            "--subscriptions": self.log.folder,
        }
        check_disjoint(read, written)
        self.matchers = self.log.folder / MATCHERS
        held, at = self.log.snapshot(), system_clock()
        choice = self.choice.as_logged(held.known)
        save_matcher(held, at, choice, self.matchers)  # what cannot be held is said now
        self.state = StreamState(storage_path(checkpoint))
        self.state.check(held, at, choice)
        self.checkpoint = Checkpoint(storage_path(checkpoint), query)
        self._check_log(held)
        last = self.checkpoint.last
        if last >= 0 and not self.outlet.is_committed(self.checkpoint.name, last):
            raise ArtefactMissing(
                f"batch {last} was committed to {self.outlet.folder} and is not there: is the disk mounted? Bring it "
                "back, or choose another --checkpoint to begin anew"
            )

    def batches(self, spark: SparkSession) -> Iterator[BatchReport]:
        """Run what is there to read, batch by batch, one that did not end first; ends when nothing is left."""
        if self.reader == "spark":
            require_connector(spark)
        while True:
            repeated = self.checkpoint.plan is not None
            if not repeated and not self._plan():
                return
            yield self._run(spark, repeated)

    def _plan(self) -> bool:
        """Plan the next batch and write it down; False if there is nothing to read."""
        ranges = self.inlet.plan(self.checkpoint.positions, self.most)
        if not ranges:
            return False
        held, at = self.log.snapshot(), system_clock()
        self._check_log(held)
        choice = self.choice.as_logged(held.known)
        folder = save_matcher(held, at, choice, self.matchers)
        plan = BatchPlan(
            self.checkpoint.last + 1,
            product(),
            held.version,
            at,
            tuple(ranges),
            choice,
            _meaning(folder),
            held.digest,
            held.next_number,
        )
        self.checkpoint.write_plan(plan)
        return True

    def _check_log(self, held: SubscriptionSnapshot) -> None:
        newest = self.checkpoint.newest()
        if newest is not None:
            newest.check_log(held)

    def _run(self, spark: SparkSession, repeated: bool) -> BatchReport:
        began = time.perf_counter()
        checkpoint, outlet, plan = self.checkpoint, self.outlet, self.checkpoint.plan
        assert plan is not None
        counts = BatchCounts()
        if not outlet.committed(checkpoint.name, plan.batch):
            held = self.log.snapshot(plan.subscriptions)
            plan.check_log(held)
            folder = save_matcher(held, plan.at, plan.choice, self.matchers)
            if _meaning(folder) != plan.meaning:
                raise ArtefactDamaged(
                    f"batch {plan.batch} was planned with another space or measure than there is now, and did not end; "
                    "bring them back, so that it gives the rows it was planned to"
                )
            feeds = self.state.feeds(held, plan.at, plan.choice, self.query.shards, folder)
            chosen = numbers_with_select(active_at(held, plan.at))
            orders = [
                MatchTask(
                    checkpoint.name,
                    plan.batch,
                    number,
                    each,
                    folder,
                    plan.at,
                    self.query.keep,
                    self.query.tenant,
                    str(outlet.folder or ""),
                    self.bad,
                    **self._elsewhere(),
                    feeds=feeds,
                    form=self.form,
                    state=str(self.state.folder) if feeds else "",
                    selecting=chosen,
                )
                for number, each in enumerate(plan.ranges)
            ]
            done = run_tasks(spark, orders, self.reader)
            for each in done:
                counts = counts.plus(each.counts)
            parts = [part for each in done for part in each.parts] + self._write_new_subscriptions(plan, held)
            for moved in self._move(spark, plan, feeds, done):
                parts += moved.parts
                counts = counts.plus(BatchCounts(said=moved.said))
            outlet.commit(checkpoint.name, plan.batch, parts)
        checkpoint.write_commit(counts)
        self.state.tidy(plan.batch)
        seconds, lag = time.perf_counter() - began, self.inlet.lag(checkpoint.positions)
        return BatchReport(plan.batch, counts, plan.subscriptions, round(seconds, 3), lag, repeated)

    def _move(self, spark: SparkSession, plan: BatchPlan, feeds: str, done: list[MatchTaskResult]) -> list[ShardResult]:
        """Let the events of a batch move rankings and alerts; what is left of those that went is let go."""
        if not feeds and self.state.after(plan.batch - 1) is None:
            return []
        topics = {name: value for name, value in self._elsewhere().items() if name != "kafka"}
        order = ShardTask(
            self.checkpoint.name,
            plan.batch,
            "",
            feeds,
            str(self.state.folder),
            self.query.tenant,
            plan.choice,
            folder=str(self.outlet.folder or ""),
            **topics,
        )
        newest = max((each.newest for each in done if each.newest is not None), default=None)
        return self.state.run(spark, order, [fed for each in done for fed in each.fed], newest)

    def _elsewhere(self) -> dict[str, Any]:
        """What tasks must know of Kafka and of object stores, where they take part."""
        said: dict[str, Any] = {}
        if any("://" in each for each in (self.query.subscriptions, str(self.outlet.folder), self.bad)):
            said["objects"] = store_settings()
        if self.query.inlet.startswith("kafka:"):
            said["kafka"] = self.kafka | {"bootstrap.servers": kafka_address(self.query.inlet).servers}
        if self.query.outlet.startswith("kafka:"):
            servers, said["topic"] = kafka_address(self.query.outlet)
            said["kafka_out"] = self.kafka | {"bootstrap.servers": servers}
        return said

    def _write_new_subscriptions(self, plan: BatchPlan, held: SubscriptionSnapshot) -> list[LakePart]:
        """The part that says what numbers stand for, those that the batch before did not know."""
        known = 0
        if self.outlet.folder is None:
            return []
        if plan.batch:
            before = self.checkpoint.planned(plan.batch - 1)
            if before.subscriptions == plan.subscriptions:
                return []
            said = before.next_number  # plans of older versions say none
            known = self.log.snapshot(before.subscriptions).next_number if said is None else said
        new = [each for each in held.subscriptions.values() if each.number >= known]
        if not new:
            return []
        name = f"{self.checkpoint.name}-{plan.batch:010d}-told"
        return [write_part(self.outlet.folder, SUBSCRIPTIONS, subscription_rows(new, held.version), name)]


def open_source(address: str, kafka: Mapping[str, str] | None = None) -> StreamSource:
    """The inlet of an address.

    >>> open_source("readings")
    Traceback (most recent call last):
    likewise.errors.InputError: a stream comes from files:DIR or kafka://host:port/topic, not from 'readings'
    """
    kind, _, place = address.partition(":")
    if kind == "files" and place:
        if "://" in place:
            raise InputError(f"files are read from a folder, not from {place}; copy them, or bring them by Kafka")
        return FileSource(Path(place))
    if kind == "kafka":
        from likewise.spark.streaming.sources.kafka import KafkaSource

        return KafkaSource(kafka_address(address), kafka)
    raise InputError(f"a stream comes from files:DIR or kafka://host:port/topic, not from {address!r}")


def run_tasks(spark: SparkSession, orders: list[MatchTask], reader: str = "own") -> list[MatchTaskResult]:
    """Every order as a task of one Spark job, in order; the first error is raised."""
    if reader == "spark":
        done = run_read_by_spark(spark, orders)
    else:
        told = [msgspec.json.encode(order) for order in orders]
        done = [msgspec.json.decode(found, type=MatchTaskResult) for found in map_orders(spark, told, run_order)]
    for each in done:
        if each.code:
            raise rebuild_error(each.error, each.code)
    return done


def run_order(order: bytes) -> bytes:
    """What a worker does with one order."""
    return msgspec.json.encode(run_task(msgspec.json.decode(order, type=MatchTask)))


def _meaning(folder: str) -> str:
    """By what a saved matcher compares words: the space's checksum and the measure."""
    raw = msgspec.json.decode((matcher_folder(folder) / "manifest.json").read_bytes())
    return msgspec.json.encode([raw.get("space"), raw.get("measure"), raw.get("threshold")]).decode()

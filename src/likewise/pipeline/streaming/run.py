"""A query on Spark, batch by batch: plan, write down the plan, run it as one job, commit, write down the commit.

The driver plans what each task reads and pins what all of them see, so that a batch that is repeated after a crash
gives equal rows under the same names, and is committed once (docs/decisions/010-batches-of-our-own.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from likewise.errors import ArtefactDamaged, InputError
from likewise.lake.change_log import ChangeLog
from likewise.lake.held_set import HeldSet
from likewise.lake.parts import SUBSCRIPTIONS, Part, subscription_rows, write_part
from likewise.matching.matcher import system_clock
from likewise.matching.saved.index import product
from likewise.pipeline.streaming.checkpoint import Checkpoint, Counts, Plan, Query
from likewise.pipeline.streaming.inlets.files import FileInlet
from likewise.pipeline.streaming.inlets.ranges import Inlet
from likewise.pipeline.streaming.kafka_settings import kafka_address
from likewise.pipeline.streaming.matchers import MeaningChoice, save_matcher
from likewise.pipeline.streaming.outlets import Outlet, open_outlet
from likewise.pipeline.streaming.task import Done, Order, raised, run_task

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

MOST: Final = 1_000_000  # events of a batch, if nothing else is said
KEPT: Final = ("matches", "wanted", "all")


class BatchReport(msgspec.Struct, frozen=True):
    """What came of one batch; `repeated` if it was planned before the query was last started."""

    batch: int
    counts: Counts
    subscriptions: int
    seconds: float
    lag: int
    repeated: bool = False


class Stream:
    """A query that is ready to run; everything that can be refused at the start is refused here."""

    def __init__(
        self,
        query: Query,
        checkpoint: Path,
        choice: MeaningChoice | None = None,
        *,
        most: int = MOST,
        bad: str = "",
        kafka: Mapping[str, str] | None = None,
    ) -> None:
        if query.keep not in KEPT:
            raise InputError(f"--keep is one of {', '.join(KEPT)}, found {query.keep!r}")
        if not query.tenant or any(c in query.tenant for c in "/\\=%") or query.tenant.startswith("."):
            raise InputError(f"a tenant's name is part of paths, so it has no / \\ = or %; found {query.tenant!r}")
        self.query = query
        self.choice = choice or MeaningChoice()
        self.most = most
        self.bad = str(Path(bad).absolute()) if bad else ""
        self.kafka = dict(kafka or {})
        self.inlet: Inlet = open_inlet(query.inlet, self.kafka)
        self.outlet: Outlet = open_outlet(query.outlet)
        if self.outlet.folder is None and query.keep != "matches":
            raise InputError(f"a topic takes matches alone; --keep {query.keep} needs parquet:DIR or delta:DIR")
        self.log = ChangeLog.opened(Path(query.subscriptions).absolute())
        self.matchers = self.log.folder / "matchers"
        save_matcher(self.log.held(), system_clock(), self.choice, self.matchers)  # what cannot be held is said now
        self.checkpoint = Checkpoint(checkpoint.absolute(), query)

    def batches(self, spark: SparkSession) -> Iterator[BatchReport]:
        """Run what is there to read, batch by batch, one that did not end first; ends when nothing is left."""
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
        held, at = self.log.held(), system_clock()
        folder = save_matcher(held, at, self.choice, self.matchers)
        plan = Plan(
            self.checkpoint.last + 1, product(), held.version, at, tuple(ranges), self.choice, _meaning(folder)
        )  # fmt: skip
        self.checkpoint.write_plan(plan)
        return True

    def _run(self, spark: SparkSession, repeated: bool) -> BatchReport:
        began = time.perf_counter()
        checkpoint, outlet, plan = self.checkpoint, self.outlet, self.checkpoint.plan
        assert plan is not None
        counts = Counts()
        if not outlet.committed(checkpoint.name, plan.batch):
            held = self.log.held(plan.subscriptions)
            folder = save_matcher(held, plan.at, plan.choice, self.matchers)
            if _meaning(folder) != plan.meaning:
                raise ArtefactDamaged(
                    f"batch {plan.batch} was planned with another space or measure than there is now, and did not end; "
                    "bring them back, so that it gives the rows it was planned to"
                )
            orders = [
                Order(checkpoint.name, plan.batch, number, each, str(folder), plan.at, self.query.keep,
                      self.query.tenant, str(outlet.folder or ""), self.bad, **self._topics())
                for number, each in enumerate(plan.ranges)
            ]  # fmt: skip
            done = run_tasks(spark, orders)
            for each in done:
                counts = counts.plus(each.counts)
            parts = [part for each in done for part in each.parts] + self._told(plan, held)
            outlet.commit(checkpoint.name, plan.batch, parts)
        checkpoint.write_commit(counts)
        seconds, lag = time.perf_counter() - began, self.inlet.lag(checkpoint.positions)
        return BatchReport(plan.batch, counts, plan.subscriptions, round(seconds, 3), lag, repeated)

    def _topics(self) -> dict[str, Any]:
        """What tasks must know of Kafka, where it takes part."""
        said: dict[str, Any] = {}
        if self.query.inlet.startswith("kafka:"):
            said["kafka"] = self.kafka | {"bootstrap.servers": kafka_address(self.query.inlet).servers}
        if self.query.outlet.startswith("kafka:"):
            servers, said["topic"] = kafka_address(self.query.outlet)
            said["kafka_out"] = self.kafka | {"bootstrap.servers": servers}
        return said

    def _told(self, plan: Plan, held: HeldSet) -> list[Part]:
        """The part that says what numbers stand for, those that the batch before did not know."""
        known = 0
        if self.outlet.folder is None:
            return []
        if plan.batch:
            before = self.checkpoint.planned(plan.batch - 1).subscriptions
            if before == plan.subscriptions:
                return []
            known = self.log.held(before).next_number
        new = [each for each in held.subscriptions.values() if each.number >= known]
        if not new:
            return []
        name = f"{self.checkpoint.name}-{plan.batch:010d}-told"
        return [write_part(self.outlet.folder, SUBSCRIPTIONS, subscription_rows(new, held.version), name)]


def open_inlet(address: str, kafka: Mapping[str, str] | None = None) -> Inlet:
    """The inlet of an address.

    >>> open_inlet("readings")
    Traceback (most recent call last):
    likewise.errors.InputError: a stream comes from files:DIR or kafka://host:port/topic, not from 'readings'
    """
    kind, _, place = address.partition(":")
    if kind == "files" and place:
        return FileInlet(Path(place))
    if kind == "kafka":
        from likewise.pipeline.streaming.inlets.kafka import KafkaInlet

        return KafkaInlet(kafka_address(address), kafka)
    raise InputError(f"a stream comes from files:DIR or kafka://host:port/topic, not from {address!r}")


def run_tasks(spark: SparkSession, orders: list[Order]) -> list[Done]:
    """Every order as a task of one Spark job, in order; the first error is raised."""
    told = [msgspec.json.encode(order) for order in orders]
    rows = spark.range(0, len(told), 1, numPartitions=len(told)).mapInArrow(_mapper(told), "task long, done binary")
    found = {row["task"]: msgspec.json.decode(bytes(row["done"]), type=Done) for row in rows.collect()}
    done = [found[number] for number in range(len(orders))]
    for each in done:
        if each.code:
            raise raised(each)
    return done


def _mapper(orders: list[bytes]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def mapped(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.pipeline.streaming.run import do

        return do(rows, orders)

    return mapped


def do(rows: Iterator[pa.RecordBatch], orders: list[bytes]) -> Iterator[pa.RecordBatch]:
    """What a worker does with the numbers of its tasks."""
    import pyarrow as pa

    for number in (int(number) for row in rows for number in row.column(0).to_numpy()):
        done = run_task(msgspec.json.decode(orders[number], type=Order))
        columns: list[Any] = [pa.array([number], pa.int64()), pa.array([msgspec.json.encode(done)], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=["task", "done"])


def _meaning(folder: Path) -> str:
    """By what a saved matcher compares words: the space's checksum and the measure."""
    raw = msgspec.json.decode((folder / "manifest.json").read_bytes())
    return msgspec.json.encode([raw.get("space"), raw.get("measure"), raw.get("threshold")]).decode()

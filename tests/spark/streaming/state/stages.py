"""Both stages of `likewise.spark.alerts` in this process, as Spark runs them, and histories to compare them by.

    python -m tests.spark.streaming.state.stages --events 1000000 --folder build/alerts

compares them with one Matcher over so many generated events. The folder says how far it is: started again, it goes on.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pyarrow as pa

import likewise as lw
from likewise.lake.atomic_create import remove_below
from likewise.lake.change_log import ChangeLog
from likewise.spark.alerts import stateful_task
from likewise.spark.streaming.batch_pins import MicroBatch
from likewise.spark.streaming.dataframes import FrameTask
from likewise.spark.streaming.matchers import MeaningChoice
from likewise.spark.streaming.records import COORDINATES
from likewise.spark.streaming.state import bucketing, buckets
from likewise.spark.streaming.state.bucketing import AlertTask, route
from likewise.spark.streaming.state.buckets import BucketProcessor
from tests.spark.streaming.state.histories import SECOND, TEXTS, Oracle, Said, some_event


class Value:
    """One value of Spark's state store, for the key that is being moved."""

    def __init__(self, store: dict[str, tuple[Any, ...]]) -> None:
        self._store = store
        self.key = ""

    def get(self) -> tuple[Any, ...] | None:
        return self._store.get(self.key)

    def update(self, value: tuple[Any, ...]) -> None:
        self._store[self.key] = value

    def clear(self) -> None:
        self._store.pop(self.key, None)


class Stages:
    """Both stages in this process, as Spark runs them, with a state store that goes back when a batch is repeated."""

    def __init__(self, log: ChangeLog, *, lateness: int = 0, count: int = 3) -> None:
        self.store: dict[str, dict[str, tuple[Any, ...]]] = {"mark": {}, "matcher": {}}
        self.batch = 0
        self.log = log
        self.lateness, self.count = lateness, count

    def task(self) -> AlertTask:
        choice = MeaningChoice(lateness=self.lateness)
        frame: FrameTask = msgspec.structs.replace(
            stateful_task(self.log.folder, choice, None, None, True, self.count),
            payload="value",
            columns=("value", "gone", "came", *COORDINATES),
            time="came",
            stamped=True,
        )
        return AlertTask(frame, self.count, "gone")

    def run(self, tasks: list[list[dict[str, Any]]], moment: int = 10**15) -> Counter[Said]:
        """What a batch says; rows are events, or `{"gone": id, "came": moment}`."""
        task = self.task()
        rows: dict[str, list[Any]] = {}
        micro = mock.patch.object(bucketing, "current_micro_batch", return_value=MicroBatch("q", self.batch))
        first = 0
        with micro:
            for each in tasks:
                for made in route(self._batches(each, moment, first), task):
                    for one in made.to_pylist():
                        rows.setdefault(one["bucket"], []).append(Namespace(one))
                first += len(each)
        said: Counter[Said] = Counter()
        for bucket, several in rows.items():
            processor = BucketProcessor(task)
            processor.init(self)
            for value in (processor._mark, processor._matcher):
                value.key = bucket
            for row in processor.handleInputRows((bucket,), iter(several), None):
                key = None if row["key"] is None else tuple(row["key"])
                total = json.loads(row["digest"])["total"] if row["digest"] else row["suppressed"]
                said[row["subscription"], row["cause"], row["event_id"], key, row["since"], total] += 1
        return said

    def getValueState(self, name: str, schema: str) -> Value:
        return Value(self.store[name])

    @staticmethod
    def _batches(rows: list[dict[str, Any]], moment: int, first: int) -> Iterator[pa.RecordBatch]:
        """Yield rows with offsets as the rows of a batch stand, whatever task reads them."""
        for begin in range(0, len(rows), 7):
            some = rows[begin : begin + 7]
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array([None if "gone" in each else json.dumps(each) for each in some], pa.string()),
                    pa.array([each.get("gone") for each in some], pa.string()),
                    pa.array([each.get("came") for each in some], pa.timestamp("us", tz="UTC")),
                    pa.array([""] * len(some), pa.string()),
                    pa.array([0] * len(some), pa.int64()),
                    pa.array(range(first + begin, first + begin + len(some)), pa.int64()),
                    pa.array([moment] * len(some), pa.timestamp("us", tz="UTC")),
                ],
                names=["c0", "c1", "c2", "c3", "c4", "c5", "_moment"],
            )


class Namespace:
    """A row by the names of its columns."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.__dict__.update(row)


def run_until_read(writer: Any) -> Any:
    """Run a query until everything is read, and start it again where a worker of Spark was late.

    Spark gives a process that it starts for each stateful query 10 s to answer, which a busy machine may not keep.
    """
    from pyspark.errors import StreamingQueryException

    for attempt in range(4):
        query = writer.trigger(availableNow=True).start()
        try:
            assert query.awaitTermination(800)
        except StreamingQueryException as error:
            if "failed to connect back" not in str(error) or attempt == 3:
                raise
        else:
            break
    return query


def a_log(folder: Path) -> ChangeLog:
    log = ChangeLog(folder / "log")
    log.add([lw.parse(text, id=f"s{n}") for n, text in enumerate(TEXTS)], at=0)
    return log


def compare(folder: Path, seed: int, turns: int = 8) -> tuple[int, Counter[Said]]:
    """Raise unless both say the same over a history; how many events it had, and what was said.

    Random batches and tasks, times out of order within them and across, changes of the log, withdrawals, workers that
    start anew, and batches that are repeated from the state before.
    """
    chance = random.Random(seed)
    lateness = [0, 4][seed % 2] * SECOND
    log, oracle = a_log(folder), Oracle(lateness)
    stages = Stages(log, lateness=lateness)
    total: Counter[Said] = Counter()
    now, number = 1_000 * SECOND, 0
    for turn in range(turns):
        rows: list[dict[str, Any]] = []
        for _ in range(chance.choice([1, 7, 25, 40] if turns < 10 else [50, 400, 2000])):
            now += chance.randint(0, 4) * SECOND
            rows.append(some_event(chance, number, now))
            if chance.random() < 0.1 and number:
                rows.append({"gone": f"e{chance.randrange(max(0, number - 12), number + 1)}", "came": now})
            number += 1
        if turn == 3:
            now += 60 * SECOND
        cut = sorted(chance.randint(0, len(rows)) for _ in range(2))
        tasks = [rows[: cut[0]], rows[cut[0] : cut[1]], rows[cut[1] :]]
        before = copy.deepcopy(stages.store)
        said = stages.run(tasks)
        if chance.random() < 0.4:  # the batch ended in the middle; the log changed, and a worker has nothing at hand
            stages.store = before
            buckets._live.clear()
            if chance.random() < 0.5:
                remove_below(log.folder / "matchers")
            assert stages.run(tasks) == said
        total += said
        oracle.batch(log, rows)
        if total != oracle.said:
            raise AssertionError(f"seed {seed}, batch {turn}: {total - oracle.said} and not {oracle.said - total}")
        stages.batch += 1
        if turn % 3 == 1:
            some = chance.choice([each.subscription.id for each in log.snapshot().subscriptions.values()])
            log.remove([some])
            log.add([lw.parse("{t > 17} for 6 s", id=f"new{turn}"), lw.parse(TEXTS[0], id="s1")], at=0)
    return number, total


def main() -> None:
    """Compare over many events, and say how far it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    far = options.folder / "far.json"
    seed, events, said = json.loads(far.read_text()) if far.is_file() else (100, 0, 0)
    while events < options.events:
        with tempfile.TemporaryDirectory() as folder:
            some, total = compare(Path(folder), seed, turns=12)
        seed, events, said = seed + 1, events + some, said + total.total()
        far.write_text(json.dumps((seed, events, said)))
        print(f"{events:,} events, {said:,} notifications equal, {time.process_time():.0f} s of CPU", flush=True)


if __name__ == "__main__":
    main()

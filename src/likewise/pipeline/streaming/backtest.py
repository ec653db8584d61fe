"""Stored events against subscriptions, on Spark: what each would have found, and what another version would change.

The same reading and matching as a stream's (`task`), over files that are there; counts and examples alone are kept. A
subscription's validity does not count: the question is what it finds, whenever that was.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.errors import InputError, LikewiseError
from likewise.lake.change_log import ChangeLog
from likewise.lake.held_set import HeldSet
from likewise.lake.once import write_whole
from likewise.pipeline.streaming.inlets.files import FileInlet
from likewise.pipeline.streaming.inlets.ranges import FileRange
from likewise.pipeline.streaming.matched_events import MatchedEvents, match_events
from likewise.pipeline.streaming.matchers import MeaningChoice, opened, save_matcher
from likewise.pipeline.streaming.tally import EXAMPLES, Place, Tally, tally_changes, tally_found
from likewise.pipeline.streaming.task import Done, raised, read_range

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_ALWAYS: Final = -(2**62)  # a moment at which nothing is over
_EVERYTHING: Final = 2**62


class BacktestOrder(msgspec.Struct, frozen=True):
    """What a task is told; `changed` has the numbers of changed ids now and before, -1 if there is none."""

    range: FileRange
    matcher: str
    examples: int
    former: str = ""
    changed: dict[str, tuple[int, int]] = {}


class BacktestReport(msgspec.Struct, frozen=True):
    """What came of a backtest, in short; the rest is in its folder."""

    folder: str
    version: int
    against: int | None
    events: int
    matched: int
    matches: int
    bad: int
    subscriptions: int
    silent: int
    gained: int
    lost: int
    seconds: float


def backtest(
    spark: SparkSession,
    events: Path,
    log: ChangeLog,
    out: Path,
    *,
    version: int | None = None,
    against: int | None = None,
    choice: MeaningChoice | None = None,
    examples: int = EXAMPLES,
    overwrite: bool = False,
) -> BacktestReport:
    """Write what the subscriptions of a version find in stored events, and what is other than in the version `against`.

    The folder appears when all is there: `summary.json`, `subscriptions.parquet` (a row each: events, scores),
    `examples.jsonl`, and `changes.jsonl` with `against`.
    """
    began = time.perf_counter()
    if out.exists() and not overwrite:
        raise InputError(f"{out} exists already; choose another folder or overwrite it")
    held = log.held(version)
    former = None if against is None else log.held(against)
    choice, matchers = choice or MeaningChoice(), log.folder / "matchers"
    folder = save_matcher(held, _ALWAYS, choice, matchers)
    before = "" if former is None else str(save_matcher(former, _ALWAYS, choice, matchers))
    changed = {} if former is None else changed_ids(held, former)
    ranges = _ranges(events)
    orders = [BacktestOrder(each, str(folder), examples, before, changed) for each in ranges]
    tally = Tally()
    for each in _run(spark, orders):
        tally.add(each, examples)
    report = BacktestReport(
        str(out), held.version, against, tally.events, tally.matched, sum(f.events for f in tally.found.values()),
        tally.bad, len(held.subscriptions), len(held.subscriptions) - len(tally.found),
        sum(c.gained for c in tally.changed.values()), sum(c.lost for c in tally.changed.values()),
        round(time.perf_counter() - began, 3),
    )  # fmt: skip
    _write(out, report, tally, held, overwrite)
    return report


def changed_ids(held: HeldSet, former: HeldSet) -> dict[str, tuple[int, int]]:
    """The ids that stand for another subscription, or came, or went: their numbers in both versions, -1 for none."""
    ids = [each.subscription.id for each in (*former.subscriptions.values(), *held.subscriptions.values())]
    found = {}
    for id in dict.fromkeys(ids):
        now, then = held.number(id), former.number(id)
        if now != then:
            found[id] = (-1 if now is None else now, -1 if then is None else then)
    return found


def _ranges(events: Path) -> list[FileRange]:
    inlet = FileInlet(events if not events.is_file() else events.parent)
    found = [each for each in inlet.plan({}, _EVERYTHING) if isinstance(each, FileRange)]
    if events.is_file():
        found = [each for each in found if each.name == events.name]
    if not found:
        raise InputError(f"there are no events in {events}; expected .jsonl, .parquet or .arrow files")
    return found


def _run(spark: SparkSession, orders: list[BacktestOrder]) -> Iterator[Tally]:
    told = [msgspec.json.encode(order) for order in orders]
    rows = spark.range(0, len(told), 1, numPartitions=len(told)).mapInArrow(_mapper(told), "task long, found binary")
    found = {row["task"]: bytes(row["found"]) for row in rows.collect()}
    for number in range(len(orders)):
        yield _decoded(found[number])


def _decoded(data: bytes) -> Tally:
    if data.startswith(b"!"):
        raise raised(msgspec.json.decode(data[1:], type=Done))
    return msgspec.json.decode(data, type=Tally)


def _mapper(orders: list[bytes]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def mapped(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.pipeline.streaming.backtest import do

        return do(rows, orders)

    return mapped


def do(rows: Iterator[pa.RecordBatch], orders: list[bytes]) -> Iterator[pa.RecordBatch]:
    """What a worker does with the numbers of its tasks."""
    import pyarrow as pa

    for number in (int(number) for row in rows for number in row.column(0).to_numpy()):
        try:
            found = msgspec.json.encode(tally_range(msgspec.json.decode(orders[number], type=BacktestOrder)))
        except LikewiseError as error:
            found = b"!" + msgspec.json.encode(Done(error=str(error), code=error.code))
        columns: list[Any] = [pa.array([number], pa.int64()), pa.array([found], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=["task", "found"])


def tally_range(order: BacktestOrder) -> Tally:
    """What is found in a range."""
    matcher = opened(order.matcher)
    tally = Tally()
    for records in read_range(order.range, {}):
        read = records.read
        tally.events += len(read.events)
        tally.bad += len(read.bad)
        place = Place(records.inlet, records.offsets[read.places], read.events)
        found = match_events(matcher, read.events, 0)
        tally_found(tally, found, place, order.examples)
        if order.changed:
            former = match_events(opened(order.former), read.events, 0)
            now, then = ({pair[side] for pair in order.changed.values()} for side in (0, 1))
            tally_changes(tally, _only(found, now), _only(former, then), order.changed, place, order.examples)
    return tally


def _only(found: MatchedEvents, numbers: set[int]) -> MatchedEvents:
    """The matches of some subscriptions."""
    kept = np.isin(found.numbers, list(numbers))
    event = np.repeat(found.places, np.diff(found.offsets))[kept]
    first = np.flatnonzero(np.diff(event, prepend=-1))
    return MatchedEvents(event[first], np.append(first, len(event)), found.numbers[kept], found.scores[kept])


def _write(out: Path, report: BacktestReport, tally: Tally, held: HeldSet, overwrite: bool) -> None:
    from pyarrow import Table, parquet

    from likewise.language import subscription_text

    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        place = work / "new"
        place.mkdir()
        rows = []
        for number, each in held.subscriptions.items():
            found = tally.found.get(number)
            scores = (None, None, None) if found is None else (found.lowest, found.total / found.events, found.highest)
            text = subscription_text(each.subscription)
            rows.append((number, each.subscription.id, text, found.events if found else 0, *scores))
        names = ["number", "id", "text", "events", "lowest", "mean", "highest"]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        parquet.write_table(
            Table.from_pydict(dict(zip(names, map(list, columns), strict=True))), place / "subscriptions.parquet"
        )
        ids = {number: each.subscription.id for number, each in held.subscriptions.items()}
        lines = [{"id": ids[number], "examples": tally.found[number].examples} for number in sorted(tally.found)]
        write_whole(place / "examples.jsonl", _lines(lines))
        if report.against is not None:
            changes = [{"id": id, **msgspec.structs.asdict(tally.changed[id])} for id in sorted(tally.changed)]
            write_whole(place / "changes.jsonl", _lines(changes))
        write_whole(place / "summary.json", msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n")
        if out.exists() and overwrite:
            out.rename(work / "replaced")
        place.rename(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _lines(values: list[Any]) -> bytes:
    return b"".join(msgspec.json.encode(each) + b"\n" for each in values)

"""Stored events against subscriptions, on Spark: what each would have found, and what another version would change.

A batch DataFrame with the ranges of files, read and matched as a stream's; counts and examples alone are kept. A
subscription's validity does not count: the question is what it finds, whenever that was.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.errors import InputError
from likewise.lake.atomic_create import write_whole
from likewise.lake.change_log import MATCHERS, ChangeLog
from likewise.lake.subscription_snapshot import SubscriptionSnapshot
from likewise.spark.streaming.counts import EXAMPLES, BacktestTally, ExampleLocator, count_changes, count_matches
from likewise.spark.streaming.dataframes import FrameTask
from likewise.spark.streaming.matched_events import MatchedEvents, match_events
from likewise.spark.streaming.matchers import MeaningChoice, open_matcher, refuse_stateful, save_matcher
from likewise.spark.streaming.overlap import check_overwrite
from likewise.spark.streaming.records import records_of
from likewise.spark.streaming.sources.files import file_ranges, list_files
from likewise.spark.streaming.sources.ranges import RangeSource, Records

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_FILES: Final = frozenset({"summary.json", "subscriptions.parquet", "examples.jsonl", "changes.jsonl"})
_FOUND: Final = "path string, first long, found binary"
_ALWAYS: Final = -(2**62)  # a moment at which nothing is over


class BacktestTask(msgspec.Struct, frozen=True):
    """Settings of a worker; `changed` has the numbers of changed ids now and before, -1 if there is none."""

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
    check_overwrite(out, [events, log.folder], _FILES)
    held = log.snapshot(version)
    former = None if against is None else log.snapshot(against)
    for version_of in (held, former):
        refuse_stateful(() if version_of is None else version_of.subscriptions.values())
    choice, matchers = choice or MeaningChoice(), log.folder / MATCHERS
    folder = save_matcher(held, _ALWAYS, choice.as_logged(held.known), matchers)
    before = ""
    if former is not None:
        before = save_matcher(former, _ALWAYS, choice.as_logged(former.known), matchers)
    changed = {} if former is None else changed_ids(held, former)
    tally = BacktestTally()
    for each in _run(spark, events, BacktestTask(folder, examples, before, changed)):
        tally.add(each, examples)
    report = BacktestReport(
        str(out),
        held.version,
        against,
        tally.events,
        tally.matched,
        sum(f.events for f in tally.found.values()),
        tally.bad,
        len(held.subscriptions),
        len(held.subscriptions) - len(tally.found),
        sum(c.gained for c in tally.changed.values()),
        sum(c.lost for c in tally.changed.values()),
        round(time.perf_counter() - began, 3),
    )
    _write(out, report, tally, held, overwrite)
    return report


def changed_ids(held: SubscriptionSnapshot, former: SubscriptionSnapshot) -> dict[str, tuple[int, int]]:
    """The ids that stand for another subscription, or came, or went: their numbers in both versions, -1 for none."""
    ids = [each.subscription.id for each in (*former.subscriptions.values(), *held.subscriptions.values())]
    found = {}
    for id in dict.fromkeys(ids):
        now, then = held.number(id), former.number(id)
        if now != then:
            found[id] = (-1 if now is None else now, -1 if then is None else then)
    return found


def _run(spark: SparkSession, events: Path, task: BacktestTask) -> Iterator[BacktestTally]:
    """Yield what the tasks of a batch DataFrame over files find."""
    folder = events.parent if events.is_file() else events
    if not any(path == events or events.is_dir() for path in list_files(folder)):
        raise InputError(f"there are no events in {events}; expected .jsonl, .parquet or .arrow files")
    frame = FrameTask("", "", 0, ranges=RangeSource(str(folder.absolute())), columns=("path", "length", "first"))
    found = file_ranges(spark, events.absolute()).mapInArrow(_mapper(task, frame), _FOUND).collect()
    for row in sorted(found, key=lambda row: (row["path"], row["first"])):  # examples are the first
        yield msgspec.json.decode(bytes(row["found"]), type=BacktestTally)


def _mapper(task: BacktestTask, frame: FrameTask) -> Any:
    def mapped(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from likewise.spark.streaming.backtest import run_backtest

        return run_backtest(rows, task, frame)

    return mapped


def run_backtest(rows: Iterator[pa.RecordBatch], task: BacktestTask, frame: FrameTask) -> Iterator[pa.RecordBatch]:
    """Yield what is found in each range, as JSON."""
    import pyarrow as pa

    for came in rows:
        for place in np.arange(came.num_rows).tolist():
            one, tally = came.slice(place, 1), BacktestTally()
            for records in records_of(one.rename_columns(list(frame.columns)), frame, 0, 0):
                _count(records, task, tally)
            columns: list[Any] = [one.column(0), one.column(2), pa.array([msgspec.json.encode(tally)], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=["path", "first", "found"])


def _count(records: Records, task: BacktestTask, tally: BacktestTally) -> None:
    read = records.read
    tally.events += len(read.events)
    tally.bad += len(read.bad)
    place = ExampleLocator(records.inlet, records.offsets[read.places], read.events)
    found = match_events(open_matcher(task.matcher), read.events, 0)
    count_matches(tally, found, place, task.examples)
    if task.changed:
        former = match_events(open_matcher(task.former), read.events, 0)
        now, then = ({pair[side] for pair in task.changed.values()} for side in (0, 1))
        count_changes(tally, _only(found, now), _only(former, then), task.changed, place, task.examples)


def _only(found: MatchedEvents, numbers: set[int]) -> MatchedEvents:
    """The matches of some subscriptions."""
    kept = np.isin(found.numbers, list(numbers))
    event = np.repeat(found.places, np.diff(found.offsets))[kept]
    first = np.flatnonzero(np.diff(event, prepend=-1))
    return MatchedEvents(event[first], np.append(first, len(event)), found.numbers[kept], found.scores[kept])


def _write(
    out: Path, report: BacktestReport, tally: BacktestTally, held: SubscriptionSnapshot, overwrite: bool
) -> None:
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

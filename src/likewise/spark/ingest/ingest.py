"""From RDF files to events, on Spark: the whole of `likewise ingest` (sources.md H, L).

Pass one reads splits of files into statements; a shuffle brings each subject's statements together, in the
order of the text; pass two makes one event of each subject and writes them, a part a task, in the order of
their subjects. The result depends on the files and the number of parts alone.

The statements of one subject as one event, in plain words (sources.md H).

Hasan, O'Riain and Curry, "Approximate Semantic Matching of Heterogeneous Events", DEBS 2012, section 6.1:
the last part of a URI, underscores to blanks, camel case split, nouns singular, literals in another
language than English dropped. The graph keeps every statement as it was.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pyarrow as pa

from likewise.defaults import MAX_TERM_LENGTH
from likewise.errors import InputError, LikewiseError
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.json.events import event_to_json
from likewise.formats.rdf.reader import event_from_triples
from likewise.matching.reference.statement_terms import plain_words, term_text
from likewise.model.event import Event, EventTuple
from likewise.model.rdf import RDF_TYPE, Triple, last_part
from likewise.spark.ingest.files import SHOWN, MalformedStatements, RdfSplit, rdf_splits, read_split
from likewise.spark.progress import progress
from likewise.spark.spaces.sources.documents import SPLIT_BYTES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console


def has_class(graph: Sequence[Triple], classes: Collection[str]) -> bool:
    """Return whether a subject has one of the classes: IRIs, with or without < >, or their last parts.

    >>> has_class([Triple("<x:a>", RDF_TYPE, "<http://e.org/Match>")], ["Match"])
    True
    """
    if not classes:
        return True
    kinds = [t.object for t in graph if t.predicate == RDF_TYPE]
    return any(k in classes or k[1:-1] in classes or last_part(k) in classes for k in kinds)


def event_from_subject(graph: tuple[Triple, ...], *, as_written: bool = False) -> Event:
    """Return the event of one subject's statements; its id is the subject's IRI.

    `as_written` leaves the words of attributes and values as their IRIs spell them.

    >>> g = (Triple("<x:m>", "<http://e.org/homeTeams>", "<http://e.org/FC_Galway>"),
    ...      Triple("<x:m>", "<http://e.org/goals>", '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'),
    ...      Triple("<x:m>", "<http://e.org/label>", '"Spiel"@de'))
    >>> [(t.attribute, t.value) for t in event_from_subject(g).tuples], len(event_from_subject(g).graph)
    ([('home Team', 'FC Galway'), ('goal', 3)], 3)
    """
    subject = graph[0].subject
    id = subject[1:-1] if subject.startswith("<") else None
    if as_written:
        return event_from_triples(graph, id=id)
    return Event(tuple(item for triple in graph for item in _tuples(triple)), id=id, graph=graph)


def _tuples(triple: Triple) -> tuple[EventTuple, ...]:
    attribute = plain_words(term_text(triple.predicate) or "")
    text = term_text(triple.object)
    if not attribute or text is None or len(attribute) > MAX_TERM_LENGTH:
        return ()
    if triple.object.endswith(">") and triple.object.startswith('"'):  # a literal with a type may be a number
        typed = event_from_triples((triple,)).tuples
        if typed and not isinstance(typed[0].value, str):
            return (EventTuple(attribute, typed[0].value),)
    value = plain_words(text)
    return (EventTuple(attribute, value),) if value and len(value) <= MAX_TERM_LENGTH else ()


ArrowPass = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
WRITTEN: Final = ("parquet", "jsonl")
SUMMARY: Final = "summary.json"
_STATEMENTS: Final = "subject string, sequence long, predicate string, object string"
_PART: Final = "part int, subjects long, events long, left_out string"
_BATCH: Final = 20_000  # statements handed on at a time
_EVENTS: Final = 5_000  # events of a row group
_PART_BYTES: Final = 64 << 20  # stored bytes of the source for each part


class IngestSummary(msgspec.Struct, frozen=True):
    """The result of an ingest; `examples` are some of the malformed statements, with their positions."""

    folder: str
    files: int
    statements: int
    bad: int
    examples: tuple[str, ...]
    subjects: int
    events: int
    left_out: dict[str, int]
    parts: int
    seconds: float


def ingest(
    spark: SparkSession,
    source: str | Path,
    folder: str | Path,
    *,
    classes: Collection[str] = (),
    format: str | None = None,
    written: Sequence[str] = WRITTEN,
    as_written: bool = False,
    partitions: int | None = None,
    split_bytes: int = SPLIT_BYTES,
    overwrite: bool = False,
    console: Console | None = None,
) -> IngestSummary:
    """Write the events of RDF files to a new folder, as `events-00000.parquet`, `events-00000.jsonl` and so on.

    One event for each subject, of the wanted classes only if there are any. On a cluster all workers must
    see both folders. The folder appears when everything is written.
    """
    began = time.perf_counter()
    if not written or set(written) - set(WRITTEN):
        raise InputError(f"events are written as {' and '.join(WRITTEN)}, not as {', '.join(written) or 'nothing'}")
    target = Path(folder).absolute()
    if target.exists() and not overwrite:
        raise InputError(f"{folder} exists already; choose another folder or overwrite it")
    splits = rdf_splits(Path(source).absolute(), format, split_bytes)
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.work.", dir=target.parent))
    try:
        (work / "out").mkdir()
        (work / "tallies").mkdir()
        rows = _run(spark, splits, str(work), tuple(classes), tuple(written), as_written, partitions, console)
        statements, bad = _count_statements(work / "tallies")
        left_out: Counter[str] = Counter()
        for row in rows:
            left_out.update(json.loads(row["left_out"]))
        summary = IngestSummary(
            folder=str(folder),
            files=len({split.path for split in splits}),
            statements=statements,
            bad=bad.count,
            examples=tuple(bad.examples),
            subjects=sum(row["subjects"] for row in rows),
            events=sum(row["events"] for row in rows),
            left_out=dict(left_out.most_common()),
            parts=sum(row["events"] > 0 for row in rows),
            seconds=round(time.perf_counter() - began, 3),
        )
        (work / "out" / SUMMARY).write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=1) + b"\n")
        if target.exists():
            target.rename(work / "replaced")
        (work / "out").rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return summary


def _run(
    spark: SparkSession,
    splits: Sequence[RdfSplit],
    work: str,
    classes: tuple[str, ...],
    written: tuple[str, ...],
    as_written: bool,
    partitions: int | None,
    console: Console | None,
) -> list[Any]:
    """Run the Spark job; its result is one short row a part."""
    cores = int(spark.sparkContext.defaultParallelism) if hasattr(spark, "_jsc") else 8
    stored = sum(os.path.getsize(path) for path in {split.path for split in splits})
    parts = partitions or max(1, min(cores, len(splits)), -(-stored // _PART_BYTES))
    numbers = spark.range(0, len(splits), 1, numPartitions=min(len(splits), 4 * cores))
    statements = numbers.mapInArrow(_read(splits, work), _STATEMENTS)
    grouped = statements.repartition(parts, "subject").sortWithinPartitions("subject", "sequence")
    with progress(spark, ("read", "write events"), console):
        return grouped.mapInArrow(_write(work, classes, written, as_written), _PART).collect()


def _read(splits: Sequence[RdfSplit], work: str) -> ArrowPass:
    """Pass one, over the numbers of the splits a task is given."""

    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in (i for row in rows for i in row.column(0).to_numpy().tolist()):
            bad, total = MalformedStatements(), 0
            columns: tuple[list[str], list[int], list[str], list[str]] = ([], [], [], [])
            for subject, predicate, object in read_split(splits[number], bad):
                columns[0].append(subject)
                columns[1].append(number << 40 | total)
                columns[2].append(predicate)
                columns[3].append(object)
                total += 1
                if len(columns[0]) == _BATCH:
                    yield _statements(columns)
                    columns = ([], [], [], [])
            yield _statements(columns)
            tally = json.dumps({"statements": total, "bad": bad.count, "examples": bad.examples})
            _replace(Path(work, "tallies", f"{number:08d}.json"), tally.encode())

    return run


def _statements(columns: tuple[list[str], list[int], list[str], list[str]]) -> pa.RecordBatch:
    names = ["subject", "sequence", "predicate", "object"]
    subjects, sequence, predicates, objects = columns
    text = pa.string()
    arrays: list[Any] = [
        pa.array(subjects, text),
        pa.array(sequence, pa.int64()),
        pa.array(predicates, text),
        pa.array(objects, text),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def _write(work: str, classes: tuple[str, ...], written: tuple[str, ...], as_written: bool) -> ArrowPass:
    """Pass two, over statements ordered by subject: events, written as one part."""

    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        left_out: Counter[str] = Counter()
        subjects = events = 0

        def made() -> Iterator[Event]:
            nonlocal subjects
            for _, own in groupby(_triples(rows), key=lambda triple: triple.subject):
                graph = tuple(dict.fromkeys(own))  # a graph is a set: each statement once
                subjects += 1
                if not has_class(graph, classes):
                    left_out["of another class"] += 1
                    continue
                try:
                    yield event_from_subject(graph, as_written=as_written)
                except LikewiseError as error:
                    left_out[f"no event ({error.code})"] += 1

        with _Part(Path(work, "out"), part, written) as files:
            for batch in _batches(made()):
                files.write(batch)
                events += len(batch)
        arrays: list[Any] = [
            pa.array([part], pa.int32()),
            pa.array([subjects], pa.int64()),
            pa.array([events], pa.int64()),
            pa.array([json.dumps(left_out)], pa.string()),
        ]
        yield pa.RecordBatch.from_arrays(arrays, names=["part", "subjects", "events", "left_out"])

    return run


def _triples(rows: Iterator[pa.RecordBatch]) -> Iterator[Triple]:
    for row in rows:
        parts = (row.column(i).to_pylist() for i in (0, 2, 3))
        for subject, predicate, object in zip(*parts, strict=True):
            yield Triple(subject, predicate, object)


def _batches(events: Iterator[Event]) -> Iterator[list[Event]]:
    batch: list[Event] = []
    for event in events:
        batch.append(event)
        if len(batch) == _EVENTS:
            yield batch
            batch = []
    if batch:
        yield batch


class _Part:
    """The files of one part: there whole when the block ends well, and not at all without events."""

    def __init__(self, folder: Path, number: int, written: tuple[str, ...]) -> None:
        self._folder = folder
        self._name = f"events-{number:05d}"
        self._written = written
        self._parquet: Any = None
        self._lines: Any = None
        self._temporary: dict[str, Path] = {}

    def __enter__(self) -> _Part:
        return self

    def write(self, events: list[Event]) -> None:
        """Write some events."""
        if not self._temporary:
            self._open()
        if self._parquet is not None:
            self._parquet.write_batch(EventBatch.from_events(events).to_arrow(dictionary=False))
        if self._lines is not None:
            self._lines.writelines(event_to_json(event) + b"\n" for event in events)

    def _open(self) -> None:
        from pyarrow.parquet import ParquetWriter

        from likewise.formats.arrow.schema import batch_schema

        for ending in self._written:
            handle, name = tempfile.mkstemp(prefix=f".{self._name}.", dir=self._folder)
            self._temporary[ending] = Path(name)
            if ending == "parquet":
                os.close(handle)
                self._parquet = ParquetWriter(name, batch_schema(), compression="zstd")
            else:
                self._lines = os.fdopen(handle, "wb")

    def __exit__(self, kind: object, *rest: object) -> None:
        for open_file in (self._parquet, self._lines):
            if open_file is not None:
                open_file.close()
        for ending, path in self._temporary.items():
            if kind is None:
                path.chmod(0o644)
                path.replace(self._folder / f"{self._name}.{ending}")
            else:
                path.unlink()


def _count_statements(folder: Path) -> tuple[int, MalformedStatements]:
    """Count the statements that the tasks read and the malformed ones, with some examples."""
    statements, total = 0, MalformedStatements()
    for path in sorted(folder.glob("*.json")):
        examples = json.loads(path.read_bytes())
        statements += examples["statements"]
        total.count += examples["bad"]
        total.examples += examples["examples"][: max(0, 4 * SHOWN - len(total.examples))]
    return statements, total


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(name, path)

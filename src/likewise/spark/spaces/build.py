"""From a source of documents to a space: the whole of `likewise space build`.

The last step of a build, on the driver: the parts that the workers wrote become one space.

Parts are copied through in blocks; only the vocabulary is held in memory. A part's terms are sorted, so
a run of the whole vocabulary takes one contiguous stretch from each part.

The highest memory of this process and everything it started, watched from a thread.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import ArtefactMissing, InputError
from likewise.lake.storage import ObjectStorePath, StoragePath, storage_path, store_settings
from likewise.semantics.spaces.manifest import SpaceCounts
from likewise.semantics.spaces.writer import FileWriter, SpaceWriter, frequency_type
from likewise.spark.progress import progress
from likewise.spark.spaces.index import (
    DOCUMENTS,
    LOCAL_SCHEMA,
    PART_SCHEMA,
    PARTS,
    TALLIES,
    WorkPlace,
    first_documents,
    merge,
    read_arrow,
    tokenise,
)
from likewise.spark.spaces.options import BuildOptions, BuildSummary

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import SparkSession
    from rich.console import Console

    from likewise.spark.spaces.sources.documents import Source


_PAUSE: Final = 0.2  # seconds between two looks


class PeakMemory:
    """Watches while its block runs; `peak` is in bytes, None where there is no /proc.

    Resident sizes are summed, so pages that processes share count once for each: an upper bound.

    >>> with PeakMemory() as watched:
    ...     block = bytes(1 << 20)
    >>> watched.peak is None or watched.peak > 1 << 20
    True
    """

    def __init__(self) -> None:
        self.peak: int | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def __enter__(self) -> PeakMemory:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._done.wait(_PAUSE):
            self._look()

    def _look(self) -> None:
        resident = resident_bytes(os.getpid())
        if resident is not None:
            self.peak = max(self.peak or 0, resident)


def resident_bytes(root: int) -> int | None:
    """Return the resident memory of a process and its descendants, or None where there is no /proc."""
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return None
    parents: dict[int, int] = {}
    pages: dict[int, int] = {}
    for entry in os.listdir(proc):
        if not entry.isdigit():
            continue
        try:
            fields = (proc / entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(entry)] = int(fields[1])
        pages[int(entry)] = int(fields[21])
    mine = {root}
    size = 0
    while len(mine) != size:
        size = len(mine)
        mine |= {pid for pid, parent in parents.items() if parent in mine}
    return sum(pages.get(pid, 0) for pid in mine) * os.sysconf("SC_PAGE_SIZE")


_BLOCK: Final = 1 << 22  # postings copied at a time


def assemble(writer: SpaceWriter, work: WorkPlace, parts: list[int], postings: int, highest: int) -> SpaceCounts:
    """Write all arrays of a space from the workers' files, and return its counts."""
    documents = _documents(writer, work)
    tables = [_part(work, part) for part in parts]
    terms = pa.chunked_array([t.column("term").combine_chunks() for t in tables], pa.large_string()).combine_chunks()
    order = pc.sort_indices(terms).to_numpy()
    df = np.concatenate([t.column("df").to_numpy() for t in tables] or [np.empty(0, np.int64)])[order]
    counts = [np.diff(t.column("end").to_numpy(), prepend=0) for t in tables]
    owner = np.repeat(np.arange(len(parts)), [len(c) for c in counts])[order]
    count = np.concatenate(counts or [np.empty(0, np.int64)])[order]
    _texts(writer, "term", [terms.take(order)], len(order))
    writer.array("posting_ends.npy", "<i8", len(order)).write(np.cumsum(count))
    writer.array("document_frequencies.npy", "<u4", len(order)).write(df)
    out_documents = writer.array("documents.npy", "<u4", postings)
    out_frequencies = writer.array("frequencies.npy", frequency_type(highest), postings)
    with tempfile.TemporaryDirectory(prefix="likewise-space-") as copies:
        _postings(work, parts, owner, count, out_documents, out_frequencies, Path(copies))
    return SpaceCounts(documents=documents, terms=len(order), postings=postings)


def _postings(
    work: WorkPlace,
    parts: list[int],
    owner: NDArray[np.int64],
    count: NDArray[np.int64],
    out_documents: FileWriter,
    out_frequencies: FileWriter,
    copies: Path,
) -> None:
    """Copy the postings in the order of the whole vocabulary, block by block."""
    mapped = [
        [_mapped(work.file(PARTS, f"{part:08d}{ending}"), copies) for ending in (".documents", ".frequencies")]
        for part in parts
    ]
    consumed = [0] * len(parts)
    ends = np.cumsum(count)
    start = 0
    while start < len(count):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        owners, counts = owner[start:stop], count[start:stop]
        begins = ends[start:stop] - counts - before
        block = [np.empty(int(counts.sum()), dtype=np.uint32) for _ in range(2)]
        for number in np.unique(owners).tolist():
            mine = owners == number
            lengths = counts[mine]
            size = int(lengths.sum())
            target = np.repeat(begins[mine] - (np.cumsum(lengths) - lengths), lengths) + np.arange(size)
            for values, source in zip(block, mapped[number], strict=True):
                values[target] = source[consumed[number] : consumed[number] + size]
            consumed[number] += size
        out_documents.write(block[0])
        out_frequencies.write(block[1])
        start = stop


def _documents(writer: SpaceWriter, work: WorkPlace) -> int:
    """Write titles and highest frequencies, batch by batch in the order of the documents."""
    names, total = first_documents(work)
    maxima = writer.array("document_maxima.npy", "<u4", total)
    titles = []
    for name in names:
        table = read_arrow(work.file(DOCUMENTS, f"{name}.arrow"))
        maxima.write(table.column("highest").to_numpy())
        titles.append(table.column("title"))
    _texts(writer, "title", [chunk for column in titles for chunk in column.chunks], total)
    return total


def _texts(writer: SpaceWriter, kind: str, pieces: list[Any], number: int) -> None:
    """Write texts one after another, and the end of each."""
    data = writer.file(f"{kind}s.bin")
    ends = writer.array(f"{kind}_ends.npy", "<i8", number)
    at = 0
    for piece in pieces:
        lengths = pc.binary_length(piece).to_numpy(zero_copy_only=False)
        data.write(_content(piece))
        ends.write(at + np.cumsum(lengths))
        at += int(lengths.sum())


def _content(texts: Any) -> bytes:
    """Return the bytes of a large string array, without copying each text."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return b""
    at = np.frombuffer(memoryview(offsets), dtype=np.int64)
    return bytes(memoryview(data)[at[texts.offset] : at[texts.offset + len(texts)]])


def _part(work: WorkPlace, part: int) -> pa.Table:
    path = work.file(PARTS, f"{part:08d}.arrow")
    if not path.is_file():
        raise ArtefactMissing(
            f"a worker says it wrote {path}, but it is not here; give a working folder that all workers share"
        )
    return read_arrow(path)


def _mapped(path: StoragePath, copies: Path) -> NDArray[np.uint32]:
    if isinstance(path, ObjectStorePath):  # memory holds one of them at a time
        copy = copies / path.name
        copy.write_bytes(path.read_bytes())
        path = copy
    return np.memmap(path, dtype=np.uint32, mode="r") if os.path.getsize(path) else np.empty(0, dtype=np.uint32)


_BUCKET_BYTES: Final = 64 << 20  # stored bytes of the corpus for each bucket of terms: bounds a merge's memory
_TASKS_FOR_CORE: Final = 4  # more tasks than cores even out their lengths
SUMMARY: Final = "summary.json"


def build_space(
    spark: SparkSession,
    source: Source,
    folder: str | Path,
    *,
    name: str,
    corpus: str,
    options: BuildOptions | None = None,
    work: str | Path | None = None,
    overwrite: bool = False,
    console: Console | None = None,
) -> BuildSummary:
    """Build the space of a source's documents in a new folder.

    The result depends on the documents and the options alone: any number of partitions, and a plain
    count of every token, give the same bytes. `work` is a folder for what the workers write (on a
    cluster, one that all of them and this process share, or an object store's address); by default it lies beside the
    target.
    """
    options = options or BuildOptions()
    began = time.perf_counter()
    with PeakMemory() as memory, SpaceWriter(folder, overwrite=overwrite) as writer:
        with _work_place(work if work is not None else Path(folder).parent, Path(folder).name) as scratch:
            rows = _run(spark, source, options, scratch, console)
            parts = sorted(part for part, terms, _, _ in rows if terms)
            counts = assemble(writer, scratch, parts, sum(r[2] for r in rows), max((r[3] for r in rows), default=0))
            left_out = _left_out(scratch)
        files = writer.finish(
            name=name,
            kind=source.kind,
            corpus=corpus,
            tokenizer=options.tokenizer,
            counts=counts,
            options=options.stored(),
        )
    summary = BuildSummary(
        folder=str(folder),
        name=name,
        read=counts.documents + sum(left_out.values()),
        kept=counts.documents,
        left_out=left_out,
        terms=counts.terms,
        postings=counts.postings,
        seconds=round(time.perf_counter() - began, 3),
        peak_memory=memory.peak,
        checksum=files.manifest.checksum,
    )
    (Path(folder) / SUMMARY).write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=1) + b"\n")
    return summary


@contextmanager
def _work_place(work: str | Path, name: str) -> Iterator[WorkPlace]:
    """Yield a place for what the workers write, which is gone afterwards."""
    parent = storage_path(work)
    if isinstance(parent, ObjectStorePath):
        place = parent / f".{name}.work.{uuid.uuid4().hex[:8]}"
        try:
            yield WorkPlace(str(place), store_settings())
        finally:
            for below, _ in list(place.files()):
                (place / below).unlink(missing_ok=True)
        return
    parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{name}.work.", dir=parent))
    try:
        for part in (DOCUMENTS, TALLIES, PARTS):
            (scratch / part).mkdir()
        yield WorkPlace(str(scratch))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _run(
    spark: SparkSession, source: Source, options: BuildOptions, work: WorkPlace, console: Console | None
) -> list[tuple[int, int, int, int]]:
    """Run the Spark job; its result is one short row a part."""
    splits = source.splits()
    if not splits:
        raise InputError("the source holds no documents at all; is it the right folder?")
    cores = _cores(spark)
    tasks = options.partitions or min(len(splits), cores * _TASKS_FOR_CORE)
    stored = sum(os.path.getsize(s.path) for s in {s.path: s for s in splits}.values() if os.path.isfile(s.path))
    number = options.partitions or max(cores * 2, -(-stored // _BUCKET_BYTES))
    numbers = spark.range(0, len(splits), 1, numPartitions=min(tasks, len(splits)))
    local = numbers.mapInArrow(tokenise(source, splits, options, number, work), LOCAL_SCHEMA)
    dealt = local.repartitionById(number, "bucket")
    with progress(spark, ("tokenise", "merge"), console):
        rows = dealt.mapInArrow(merge(options, work), PART_SCHEMA).collect()
    return [(row["part"], row["terms"], row["postings"], row["highest"]) for row in rows]


def _cores(spark: SparkSession) -> int:
    if hasattr(spark, "_jsc"):
        return int(spark.sparkContext.defaultParallelism)
    return int(spark.conf.get("spark.default.parallelism", "8") or 8)


def _left_out(work: WorkPlace) -> dict[str, int]:
    """Return what the tasks left out, by reason, the most frequent first."""
    total: Counter[str] = Counter()
    there = work.file(TALLIES, "-").parent.iterdir()
    for path in sorted((path for path in there if path.name.endswith(".json")), key=str):
        total.update(msgspec.json.decode(path.read_bytes(), type=dict[str, int]))
    return {reason: count for reason, count in total.most_common() if count}

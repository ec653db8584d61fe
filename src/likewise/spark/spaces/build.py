"""From a source of documents to a space: the whole of `likewise space build`."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from likewise.errors import InputError
from likewise.semantics.spaces.writer import SpaceWriter
from likewise.spark.progress import progress
from likewise.spark.spaces.assemble import assemble
from likewise.spark.spaces.index import DOCUMENTS, LOCAL_SCHEMA, PART_SCHEMA, PARTS, TALLIES, merge, tokenise
from likewise.spark.spaces.memory import PeakMemory
from likewise.spark.spaces.options import BuildOptions, BuildSummary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

    from likewise.spark.spaces.sources.documents import Source

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
    """Builds the space of a source's documents in a new folder.

    The result depends on the documents and the options alone: any number of partitions, and a plain
    count of every token, give the same bytes. `work` is a folder for what the workers write (on a
    cluster, one that all of them and this process share); by default it lies beside the target.
    """
    options = options or BuildOptions()
    began = time.perf_counter()
    with PeakMemory() as memory, SpaceWriter(folder, overwrite=overwrite) as writer:
        parent = Path(work if work is not None else Path(folder).parent).absolute()
        parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{Path(folder).name}.work.", dir=parent))
        try:
            for part in (DOCUMENTS, TALLIES, PARTS):
                (scratch / part).mkdir()
            rows = _run(spark, source, options, str(scratch), console)
            parts = sorted(part for part, terms, _, _ in rows if terms)
            counts = assemble(
                writer, str(scratch), parts, sum(r[2] for r in rows), max((r[3] for r in rows), default=0)
            )
            left_out = _left_out(scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
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


def _run(
    spark: SparkSession, source: Source, options: BuildOptions, work: str, console: Console | None
) -> list[tuple[int, int, int, int]]:
    """The Spark job; what comes back is one short row a part."""
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


def _left_out(work: Path) -> dict[str, int]:
    """What the tasks left out, by reason, the most frequent first."""
    total: Counter[str] = Counter()
    for path in sorted((work / TALLIES).glob("*.json")):
        total.update(msgspec.json.decode(path.read_bytes(), type=dict[str, int]))
    return {reason: count for reason, count in total.most_common() if count}

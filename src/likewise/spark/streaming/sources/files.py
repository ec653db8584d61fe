"""Files of events in a folder: JSON lines, Parquet and Arrow streams in EventBatch's schema.

Spark lists the files, and tasks read them, a range each: rows do not pass through the JVM. A file counts as it is when
it is first seen: write it elsewhere and move it in. Those whose names begin with a dot or an underscore are passed
over. A file that cannot be read, or from some place on, is one that is no event, as a line may be none: it stops
nothing.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from likewise.errors import ArtefactDamaged, ArtefactMissing, FormatError
from likewise.formats.arrow.columns import NO_TIME
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.arrow.schema import FIELDS
from likewise.spark.streaming.deserialisers.deserialiser import PayloadFormat
from likewise.spark.streaming.payloads import (
    AUTO,
    BadPayload,
    DecodedBatch,
    PayloadContext,
    decode_payloads,
    decode_table,
)
from likewise.spark.streaming.sources.ranges import FileRange, Records

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

SPLIT_BYTES: Final = 16 << 20  # of a file that a task reads
CHUNK: Final = 20_000  # events read at a time
_LINES: Final = (".jsonl", ".ndjson")
_WHOLE: Final = (".jsonl.gz", ".ndjson.gz", ".arrow", ".arrows")  # which cannot be read from their middle
_PARQUET: Final = ".parquet"
_ENDINGS: Final = (*_LINES, *_WHOLE, _PARQUET)
_SCHEMA: Final = "path string, modificationTime timestamp, length long, content binary"
_SAMPLE: Final = 1 << 18  # bytes of a file by which is known how long a line is
_EVENT_BYTES: Final = 200  # of an event, where no file says


def list_files(folder: Path) -> list[Path]:
    """Return the files below a folder that are read."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.name.endswith(_ENDINGS) and not is_ignored_path(path.relative_to(folder)) and path.is_file()
    )


def file_ranges(spark: SparkSession, place: Path, most: int | None = None) -> DataFrame:
    """Return a DataFrame with the ranges of the files in a folder, or of one file; `read_file` reads one.

    Args:
        spark: session.
        place: folder, or one file.
        most: with it the DataFrame is a stream, whose batches have about so many events.
    """
    from pyspark.sql import functions as f

    reader: Any = spark.read if most is None else spark.readStream
    there = list_files(place) if place.is_dir() else [place]
    if most is not None:
        reader = reader.option("maxBytesPerTrigger", str(max(1, most * _event_bytes(there))))
        reader = reader.option("maxFileAge", "36500d")  # a file that is moved in may be older than those read before
    if place.is_dir():
        reader = reader.option("pathGlobFilter", "*{" + ",".join(_ENDINGS) + "}").option("recursiveFileLookup", "true")
    files = reader.format("binaryFile").schema(_SCHEMA).load(str(place)).select("path", "length")
    whole = f.lit(False)
    for ending in _WHOLE:
        whole = whole | f.col("path").endswith(ending)
    last = f.when(whole, f.lit(0)).otherwise(f.greatest(f.col("length") - 1, f.lit(0)))
    first = f.explode(f.sequence(f.lit(0).cast("long"), last.cast("long"), f.lit(SPLIT_BYTES).cast("long")))
    ranges: DataFrame = files.select("path", "length", first.alias("first"))
    if not any(path.stat().st_size > 2 * SPLIT_BYTES for path in there):
        return ranges  # a file a task
    context = None if type(spark).__module__.startswith("pyspark.sql.connect") else spark.sparkContext
    return ranges.repartition(2 if context is None else context.defaultParallelism, "path", "first")


def _event_bytes(there: list[Path]) -> int:
    """Return about how many bytes an event has in files, by the first of them."""
    for path in there[:1]:
        if path.name.endswith(_PARQUET):
            counts = _row_groups(path)
            return max(1, path.stat().st_size // max(1, sum(counts)))
        if path.name.endswith(_LINES):
            with path.open("rb") as file:
                sample = file.read(_SAMPLE)
            return max(1, len(sample) // max(1, sample.count(b"\n")))
    return _EVENT_BYTES


def ranges_of(rows: pa.RecordBatch) -> Iterator[FileRange]:
    """Yield the ranges of rows of `file_ranges`."""
    for path, size, first in zip(*(rows.column(place).to_pylist() for place in range(3)), strict=True):
        yield FileRange(_local(path), size, first, first + SPLIT_BYTES)


def _local(path: str) -> str:
    """Return the path of one of Spark's addresses of local files.

    >>> _local("file:/tmp/a b.jsonl")
    '/tmp/a b.jsonl'
    """
    return path.removeprefix("file:").replace("///", "/", 1) if path.startswith("file:") else path


def is_ignored_path(below: Path) -> bool:
    """Whether a path below the folder is not looked at.

    >>> is_ignored_path(Path("_spark/a.jsonl")), is_ignored_path(Path("a.jsonl"))
    (True, False)
    """
    return any(part[0] in "._" for part in below.parts)


def _row_groups(path: Path) -> list[int]:
    """How many rows each group of a Parquet file has; none if it is not one."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        metadata = parquet.read_metadata(path)
    except pa.ArrowException:  # which is said when it is read
        return []
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def read_file(range: FileRange, folder: str, form: PayloadFormat = AUTO, at: int = 0) -> Iterator[Records]:
    """Yield the events of a range; a file that is no longer what Spark found is refused."""
    path = Path(range.path)
    if not path.is_file():
        raise ArtefactMissing(f"{path} was there when the batch was planned and is gone; put it back")
    if path.stat().st_size != range.size:
        raise ArtefactDamaged(
            f"{path} had {range.size} bytes when the batch was planned and has {path.stat().st_size}; files must not "
            "change once they are in the folder"
        )
    name = path.relative_to(folder).as_posix()
    if name.endswith((_PARQUET, ".arrow", ".arrows")):
        yield from _read_tables(path, name, range)
    else:
        yield from _read_lines(path, name, range, PayloadContext(form, sources=name, now=at))


def _read_lines(path: Path, name: str, range: FileRange, beside: PayloadContext) -> Iterator[Records]:
    first = range.first
    if name.endswith(".gz"):
        try:
            data = gzip.decompress(path.read_bytes())
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield _unreadable(name, 0, error)
            return
    else:
        data, first = _lines_between(path, range)
    lines = data.split(b"\n")
    lengths = np.fromiter(map(len, lines), np.int64, len(lines)) + 1
    offsets = np.cumsum(lengths) - lengths + first
    kept = [place for place, line in enumerate(lines) if line and not line.isspace()]
    for start in np.arange(0, len(kept), CHUNK).tolist():
        chosen = kept[start : start + CHUNK]
        payloads: list[bytes | None] = [lines[place] for place in chosen]
        times = np.full(len(chosen), NO_TIME, np.int64)
        yield Records(name, 0, offsets[chosen], times, decode_payloads(payloads, beside), payloads)


def _lines_between(path: Path, range: FileRange) -> tuple[bytes, int]:
    """Return the lines that begin in a range, and where the first of them begins."""
    with path.open("rb") as file:
        first = range.first
        if first:
            file.seek(first - 1)
            first += len(file.readline()) - 1  # a line that began before is that of the range before
        if first >= range.stop:
            return b"", first
        file.seek(first)
        data = file.read(range.stop - first)
        if data and not data.endswith(b"\n"):
            data += file.readline()
    return data, first


def _read_tables(path: Path, name: str, range: FileRange) -> Iterator[Records]:
    """The events of tables; of a Parquet file each row group for itself, so that a damaged one costs no other."""
    import pyarrow as pa
    from pyarrow import parquet

    if not name.endswith(_PARQUET):
        yield from _read_batches(name, 0, lambda: pa.ipc.open_stream(path.read_bytes()))
        return
    try:
        file = parquet.ParquetFile(path)
        groups = [file.metadata.row_group(group) for group in np.arange(file.num_row_groups).tolist()]
        names = [column for column in FIELDS if column in file.schema_arrow.names]
    except pa.ArrowException as error:
        if not range.first:
            yield _unreadable(name, 0, error)
        return
    counts = [each.num_rows for each in groups]
    for group, each in enumerate(groups):
        if range.first <= _begin(each) < range.stop:
            read = partial(file.iter_batches, CHUNK, row_groups=[group], columns=names)
            yield from _read_batches(name, sum(counts[:group]), read)


def _begin(group: Any) -> int:
    """Return the byte at which a row group of a Parquet file begins."""
    first = group.column(0)
    return int(first.data_page_offset if first.dictionary_page_offset is None else first.dictionary_page_offset)


def _read_batches(name: str, number: int, read: Callable[[], Iterable[pa.RecordBatch]]) -> Iterator[Records]:
    """The events of batches whose first row has a number."""
    import pyarrow as pa

    try:
        for batch in read():
            for at in np.arange(0, batch.num_rows, CHUNK).tolist():
                rows = batch.slice(at, CHUNK)
                offsets = np.arange(number, number + rows.num_rows)
                yield Records(name, 0, offsets, np.full(rows.num_rows, NO_TIME), decode_table(rows), [])
                number += rows.num_rows
    except (pa.ArrowException, FormatError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk, not of what is in the file
            raise
        yield _unreadable(name, number, error)


def _unreadable(name: str, offset: int, error: Exception) -> Records:
    """In place of what a file has from an offset on."""
    reason = f"the file cannot be read from here on: {str(error)[:300]}"
    bad = [BadPayload(0, ArtefactDamaged.code, reason)]
    nothing = DecodedBatch(EventBatch.from_events([]), np.empty(0, np.int64), bad)
    return Records(name, 0, np.array([offset]), np.full(1, NO_TIME), nothing, [])

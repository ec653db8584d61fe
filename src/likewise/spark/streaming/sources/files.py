"""Files of events in a folder: JSON lines, Parquet and Arrow streams in EventBatch's schema.

A file counts from the moment it is seen, as large as it is then: write it elsewhere and move it in; one that grew or
was replaced is refused. Those whose names begin with a dot or an underscore are passed over. A file that cannot be
read, or from some place on, is one that is no event, as a line may be none: it stops nothing.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from likewise.errors import ArtefactDamaged, ArtefactMissing, FormatError, InputError
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
from likewise.spark.streaming.sources.ranges import FileRange, Positions, Range, Records, size_of

if TYPE_CHECKING:
    import pyarrow as pa

SPLIT_BYTES: Final = 16 << 20  # of JSON lines a task reads
ROWS: Final = 50_000  # events of a Parquet file a task reads, in whole row groups
CHUNK: Final = 20_000  # events read at a time
_FORMS: Final = {
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".jsonl.gz": "lines.gz",
    ".ndjson.gz": "lines.gz",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
}


class FileSource:
    """The files below a folder, in the order they were changed last.

    >>> FileSource(Path("no/such/folder"))
    Traceback (most recent call last):
    likewise.errors.InputError: there is no folder no/such/folder to read events from
    """

    def __init__(self, folder: Path, split_bytes: int = SPLIT_BYTES) -> None:
        if not folder.is_dir():
            raise InputError(f"there is no folder {folder} to read events from")
        self._folder = folder.absolute()
        self._split_bytes = split_bytes

    def plan(self, positions: Positions, most: int) -> list[Range]:
        """The next ranges, at most about so many events."""
        found: list[Range] = []
        planned = 0
        for path in self._files():
            name = path.relative_to(self._folder).as_posix()
            seen, size = positions.get(size_of(name)), path.stat().st_size
            if seen not in (None, size):
                raise ArtefactDamaged(
                    f"{path} had {seen} bytes when it was read and has {size}: a file counts as it is when it is first "
                    "seen. Move it out of the folder, and what is new in it back under another name"
                )
            for each in _ranges(self._folder, name, positions.get(name, 0), self._split_bytes, most - planned):
                found.append(each)
                planned += each.events
            if planned >= most:
                break
        return found

    def lag(self, positions: Positions) -> int:
        """The bytes of files that were not planned yet."""
        return sum(
            path.stat().st_size for path in self._files() if path.relative_to(self._folder).as_posix() not in positions
        )

    def _files(self) -> list[Path]:
        listed = [
            path
            for path in self._folder.rglob("*")
            if _form(path.name) and not is_ignored_path(path.relative_to(self._folder)) and path.is_file()
        ]
        return sorted(listed, key=lambda path: (path.stat().st_mtime_ns, path))


def is_ignored_path(below: Path) -> bool:
    """Whether a path below the folder is not looked at.

    >>> is_ignored_path(Path("_spark/a.jsonl")), is_ignored_path(Path("a.jsonl"))
    (True, False)
    """
    return any(part[0] in "._" for part in below.parts)


def _form(name: str) -> str:
    return next((form for ending, form in _FORMS.items() if name.endswith(ending)), "")


def _ranges(folder: Path, name: str, first: int, split_bytes: int, most: int) -> Iterator[FileRange]:
    """What is left of a file from a position on, cut into tasks."""
    path, form = folder / name, _form(name)
    size = path.stat().st_size
    planned = 0
    if form == "lines":
        with path.open("rb") as file:
            while first < size and planned < most:
                stop, lines = _cut(file, first, min(size, first + split_bytes), size, most - planned)
                yield FileRange(str(folder), name, form, size, first, stop, lines)
                first, planned = stop, planned + lines
    elif form == "parquet":
        counts = _row_groups(path) or [1]  # what is none, or has none, is looked at once
        while first < len(counts) and planned < most:
            stop = first + 1
            while stop < len(counts) and sum(counts[first : stop + 1]) <= min(ROWS, most - planned):
                stop += 1
            events = sum(counts[first:stop])
            yield FileRange(str(folder), name, form, size, first, stop, events)
            first, planned = stop, planned + events
    elif not first:
        yield FileRange(str(folder), name, form, size, 0, max(size, 1), 1)


def _cut(file: object, first: int, stop: int, size: int, most: int) -> tuple[int, int]:
    """Where the lines of a range end, at a line's end, and how many they are."""
    file.seek(first)  # type: ignore[attr-defined]
    block = file.read(stop - first)  # type: ignore[attr-defined]
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == 10)
    if len(ends) >= most:
        return first + int(ends[most - 1]) + 1, most
    if stop == size:
        return size, len(ends) + (not block.endswith(b"\n"))
    if len(ends):
        return first + int(ends[-1]) + 1, len(ends)
    rest = len(file.readline())  # type: ignore[attr-defined]  # one line longer than a range
    return stop + rest, 1


def _row_groups(path: Path) -> list[int]:
    """How many rows each group of a Parquet file has; none if it is not one."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        metadata = parquet.read_metadata(path)
    except pa.ArrowException:  # which is said when it is read
        return []
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def read_file(range: FileRange, form: PayloadFormat = AUTO, at: int = 0) -> Iterator[Records]:
    """The events of a range; a file that is no longer what it was when the batch was planned is refused."""
    path = Path(range.folder, range.name)
    if not path.is_file():
        raise ArtefactMissing(f"{path} was there when the batch was planned and is gone; put it back")
    if path.stat().st_size != range.size:
        raise ArtefactDamaged(
            f"{path} had {range.size} bytes when the batch was planned and has {path.stat().st_size}; files must not "
            "change once they are in the folder"
        )
    if range.form.startswith("lines"):
        yield from _read_lines(path, range, PayloadContext(form, sources=range.name, now=at))
    else:
        yield from _read_tables(path, range)


def _read_lines(path: Path, range: FileRange, beside: PayloadContext) -> Iterator[Records]:
    if range.form == "lines.gz":
        try:
            data, first = gzip.decompress(path.read_bytes()), 0
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield _unreadable(range.name, 0, error)
            return
    else:
        with path.open("rb") as file:
            file.seek(range.first)
            data, first = file.read(range.stop - range.first), range.first
    lines = data.split(b"\n")
    lengths = np.fromiter(map(len, lines), np.int64, len(lines)) + 1
    offsets = np.cumsum(lengths) - lengths + first
    kept = [place for place, line in enumerate(lines) if line and not line.isspace()]
    for start in np.arange(0, len(kept), CHUNK).tolist():
        chosen = kept[start : start + CHUNK]
        payloads: list[bytes | None] = [lines[place] for place in chosen]
        times = np.full(len(chosen), NO_TIME, np.int64)
        yield Records(range.name, 0, offsets[chosen], times, decode_payloads(payloads, beside), payloads)


def _read_tables(path: Path, range: FileRange) -> Iterator[Records]:
    """The events of tables; of a Parquet file each row group for itself, so that a damaged one costs no other."""
    import pyarrow as pa
    from pyarrow import parquet

    if range.form != "parquet":
        yield from _read_batches(range.name, 0, lambda: pa.ipc.open_stream(path.read_bytes()))
        return
    try:
        file = parquet.ParquetFile(path)
        counts = [file.metadata.row_group(group).num_rows for group in np.arange(file.num_row_groups).tolist()]
        names = [name for name in FIELDS if name in file.schema_arrow.names]
    except pa.ArrowException as error:
        yield _unreadable(range.name, 0, error)
        return
    for group in np.arange(range.first, min(range.stop, len(counts))).tolist():
        read = partial(file.iter_batches, CHUNK, row_groups=[group], columns=names)
        yield from _read_batches(range.name, sum(counts[:group]), read)


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

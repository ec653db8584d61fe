"""The last step of a build, on the driver: the parts that the workers wrote become one space.

Parts are copied through in blocks; only the vocabulary is held in memory. A part's terms are sorted, so
a run of the whole vocabulary takes one contiguous stretch from each part.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import ArtefactMissing
from likewise.semantics.spaces.manifest import Counts
from likewise.semantics.spaces.writer import FileWriter, SpaceWriter, frequency_type
from likewise.spark.spaces.index import DOCUMENTS, PARTS, first_documents, read_arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK: Final = 1 << 22  # postings copied at a time


def assemble(writer: SpaceWriter, work: str, parts: list[int], postings: int, highest: int) -> Counts:
    """Writes all arrays of a space from the workers' files, and returns its counts."""
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
    _postings(work, parts, owner, count, out_documents, out_frequencies)
    return Counts(documents=documents, terms=len(order), postings=postings)


def _postings(
    work: str,
    parts: list[int],
    owner: NDArray[np.int64],
    count: NDArray[np.int64],
    out_documents: FileWriter,
    out_frequencies: FileWriter,
) -> None:
    """Copies the postings in the order of the whole vocabulary, block by block."""
    mapped = [
        [_mapped(Path(work, PARTS, f"{part:08d}{ending}")) for ending in (".documents", ".frequencies")]
        for part in parts
    ]
    taken = [0] * len(parts)
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
            stretch = int(lengths.sum())
            target = np.repeat(begins[mine] - (np.cumsum(lengths) - lengths), lengths) + np.arange(stretch)
            for values, source in zip(block, mapped[number], strict=True):
                values[target] = source[taken[number] : taken[number] + stretch]
            taken[number] += stretch
        out_documents.write(block[0])
        out_frequencies.write(block[1])
        start = stop


def _documents(writer: SpaceWriter, work: str) -> int:
    """Titles and highest frequencies, batch by batch in the order of the documents."""
    names, total = first_documents(work)
    maxima = writer.array("document_maxima.npy", "<u4", total)
    titles = []
    for name in names:
        table = read_arrow(Path(work, DOCUMENTS, f"{name}.arrow"))
        maxima.write(table.column("highest").to_numpy())
        titles.append(table.column("title"))
    _texts(writer, "title", [chunk for column in titles for chunk in column.chunks], total)
    return total


def _texts(writer: SpaceWriter, kind: str, pieces: list[Any], number: int) -> None:
    """Texts one after another, and where each ends."""
    data = writer.file(f"{kind}s.bin")
    ends = writer.array(f"{kind}_ends.npy", "<i8", number)
    at = 0
    for piece in pieces:
        lengths = pc.binary_length(piece).to_numpy(zero_copy_only=False)
        data.write(_content(piece))
        ends.write(at + np.cumsum(lengths))
        at += int(lengths.sum())


def _content(texts: Any) -> bytes:
    """The bytes of a large string array, without copying each text."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return b""
    at = np.frombuffer(memoryview(offsets), dtype=np.int64)
    return bytes(memoryview(data)[at[texts.offset] : at[texts.offset + len(texts)]])


def _part(work: str, part: int) -> pa.Table:
    path = Path(work, PARTS, f"{part:08d}.arrow")
    if not path.is_file():
        raise ArtefactMissing(
            f"a worker says it wrote {path}, but it is not here; give a working folder that all workers share"
        )
    return read_arrow(path)


def _mapped(path: Path) -> NDArray[np.uint32]:
    return np.memmap(path, dtype=np.uint32, mode="r") if os.path.getsize(path) else np.empty(0, dtype=np.uint32)

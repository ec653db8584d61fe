"""The inverted index of a corpus, on Spark: the two passes that run on the workers.

Pass one tokenises batches of documents, writes their titles and highest frequencies to a file of its
own, and hands on local postings in buckets by term. Pass two merges each bucket into whole posting
lists and writes them to files. Documents are numbered by the order of the source alone: a batch's file
is named after the first split of its task, its place there and its size, so the merge, which starts
when all batches are done, learns each batch's first number from the names. A task that is run again
writes the same files.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import ipc

from likewise.errors import StateError
from likewise.semantics.text.tokenizer import Tokenizer
from likewise.spark.spaces.options import BuildOptions
from likewise.spark.spaces.postings import buckets, kept_documents, local_postings, merged, pruned, selected
from likewise.spark.spaces.sources.documents import BATCH_CHARACTERS, BATCH_DOCUMENTS, Source, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

ArrowPass = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

DOCUMENTS: Final = "documents"  # folders of the build's working space
TALLIES: Final = "tallies"
PARTS: Final = "parts"
LOCAL_SCHEMA: Final = "bucket int, batch string, postings binary"
PART_SCHEMA: Final = "part int, terms long, postings long, highest long"


def tokenise(source: Source, splits: Sequence[Split], options: BuildOptions, number: int, work: str) -> ArrowPass:
    """Pass one, over the numbers of the splits a task is given: local postings in `number` buckets."""

    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tokenizer = Tokenizer(options.tokenizer)
        left_out: Counter[str] = Counter()
        numbers = [i for row in rows for i in row.column(0).to_numpy(zero_copy_only=False).tolist()]
        if not numbers:
            return
        batches = _gathered(batch for i in numbers for batch in source.read(splits[i], left_out))
        for place, batch in enumerate(batches):
            encoded, kept = kept_documents(
                tokenizer.encode(batch.column(1)), shortest=options.minimum_length, cut=options.cut
            )
            postings, highest = local_postings(encoded)
            left_out["too short"] += int(len(kept) - kept.sum())
            name = f"{numbers[0]:010d}-{place:08d}-{len(highest)}"
            titles = batch.column(0).filter(pa.array(kept))
            _write(Path(work, DOCUMENTS, f"{name}.arrow"), {"title": titles, "highest": pa.array(highest)})
            for bucket, piece in buckets(postings, number):
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array([bucket], pa.int32()),
                        pa.array([name], pa.string()),
                        pa.array([_packed(piece)], pa.binary()),
                    ],
                    names=["bucket", "batch", "postings"],
                )
        _replace(Path(work, TALLIES, f"{numbers[0]:010d}.json"), msgspec.json.encode(left_out))

    return run


def merge(options: BuildOptions, work: str) -> ArrowPass:
    """Pass two, over the pieces of one bucket: whole posting lists, written as one part."""

    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first, total = first_documents(work)
        pieces: list[tuple[int, pa.RecordBatch]] = []
        part = -1
        for row in rows:
            for bucket, batch, packed in zip(*(row.column(i).to_pylist() for i in range(3)), strict=True):
                part = bucket
                pieces.append((first[batch], _unpacked(packed)))
        if not pieces:
            return
        postings = merged(pieces)
        del pieces
        df = np.diff(postings.ends, prepend=0)
        keep = (df >= options.minimum_df) & (df <= options.maximum_df * total)
        if not keep.all():
            postings, df = selected(postings, keep), df[keep]
        if options.keep is not None:
            postings = pruned(postings, options.keep, _maxima(work, total))
        name = Path(work, PARTS, f"{part:08d}")
        _write(name.with_suffix(".arrow"), {"term": postings.terms, "df": pa.array(df), "end": pa.array(postings.ends)})
        _replace(name.with_suffix(".documents"), postings.documents.tobytes())
        _replace(name.with_suffix(".frequencies"), postings.frequencies.tobytes())
        counts = [part, len(df), len(postings.documents), int(postings.frequencies.max(initial=0))]
        yield pa.RecordBatch.from_arrays(
            [pa.array([counts[0]], pa.int32()), *(pa.array([n], pa.int64()) for n in counts[1:])],
            names=["part", "terms", "postings", "highest"],
        )

    return run


def first_documents(work: str) -> tuple[dict[str, int], int]:
    """The number of each batch's first document, by the batch's name, and how many documents there are."""
    names = sorted(name.removesuffix(".arrow") for name in os.listdir(Path(work, DOCUMENTS)) if name.endswith(".arrow"))
    sizes = [int(name.rpartition("-")[2]) for name in names]
    firsts = np.cumsum([0, *sizes]).tolist()
    if firsts[-1] >= 1 << 32:
        raise StateError(f"{firsts[-1]:,} documents are more than a space can number; build several spaces")
    return dict(zip(names, firsts, strict=False)), firsts[-1]


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same documents in batches of the size that is fastest, whatever the source gave."""
    waiting: list[pa.RecordBatch] = []
    documents = size = 0
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_DOCUMENTS):
            piece = batch.slice(start, BATCH_DOCUMENTS)
            if waiting and (documents + piece.num_rows > BATCH_DOCUMENTS or size + piece.nbytes > BATCH_CHARACTERS * 2):
                yield _joined(waiting)
                waiting, documents, size = [], 0, 0
            waiting.append(piece)
            documents += piece.num_rows
            size += piece.nbytes
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _maxima(work: str, total: int) -> NDArray[np.uint32]:
    """Every document's highest frequency."""
    maxima = np.empty(total, dtype=np.uint32)
    for name, start in first_documents(work)[0].items():
        found = read_arrow(Path(work, DOCUMENTS, f"{name}.arrow")).column("highest").to_numpy()
        maxima[start : start + len(found)] = found
    return maxima


def _packed(batch: pa.RecordBatch) -> bytes:
    """A record batch as bytes, compressed: they cross the network."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, batch.schema, options=ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _unpacked(data: bytes) -> pa.RecordBatch:
    return ipc.open_stream(data).read_next_batch()


def _write(path: Path, columns: dict[str, Any]) -> None:
    """An Arrow file, there whole or not at all."""
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    _replace(path, sink.getvalue())


def read_arrow(path: Path) -> pa.Table:
    """A file written by a pass, mapped."""
    with pa.memory_map(str(path)) as source:
        return ipc.open_file(source).read_all()


def _replace(path: Path, data: Any) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(name, path)

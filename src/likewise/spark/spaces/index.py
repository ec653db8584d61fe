"""The inverted index of a corpus, on Spark: the two passes that run on the workers.

Pass one tokenises batches of documents, writes their titles and highest frequencies to a file of its
own, and hands on local postings in buckets by term. Pass two merges each bucket into whole posting
lists and writes them to files. Documents are numbered by the order of the source alone: a batch's file
is named after the first split of its task, its place there and its size, so the merge, which starts
when all batches are done, learns each batch's first number from the names. A task that is run again
writes the same files.

A batch of documents to local postings, and many local postings to a term's whole list.

Both are array operations. Local postings of one batch are cut into buckets by a hash of the term; a
bucket is one Arrow record batch, so that Spark moves a few large values instead of millions of rows.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from likewise.errors import StateError
from likewise.lake.storage import ObjectStorePath, StoragePath, storage_path, use_store_settings
from likewise.semantics.text.tokenizer import Tokenizer
from likewise.spark.spaces.options import BuildOptions
from likewise.spark.spaces.sources.documents import BATCH_CHARACTERS, BATCH_DOCUMENTS, Source, Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.text.tokenizer import EncodedTexts


_POWERS: Final = np.cumprod(np.full(64, 31, dtype=np.uint32), dtype=np.uint32)


class LocalPostings(msgspec.Struct, frozen=True, eq=False):
    """The postings of one batch: each term with its documents, ascending and numbered within the batch."""

    terms: pa.Array[Any]
    ends: NDArray[np.int64]
    documents: NDArray[np.uint32]
    frequencies: NDArray[np.uint32]


class TermPostings(msgspec.Struct, frozen=True, eq=False):
    """Whole posting lists of some terms: sorted, documents ascending and numbered in the corpus."""

    terms: pa.Array[Any]
    ends: NDArray[np.int64]
    documents: NDArray[np.uint32]
    frequencies: NDArray[np.uint32]


def filter_documents(
    encoded: EncodedTexts, *, shortest: int, cut: int | None
) -> tuple[EncodedTexts, NDArray[np.bool_]]:
    """Return the texts with at least `shortest` tokens, each cut to its first `cut`, and a mask of them."""
    starts = np.concatenate((np.zeros(1, dtype=np.int64), encoded.ends[:-1]))[: len(encoded.ends)]
    lengths = encoded.ends - starts
    long_enough = lengths >= shortest
    if long_enough.all() and cut is None:
        return encoded, long_enough
    stays = np.repeat(long_enough, lengths)
    if cut is not None:
        stays &= np.arange(len(encoded.codes)) - np.repeat(starts, lengths) < cut
        lengths = np.minimum(lengths, cut)
    return type(encoded)(encoded.terms, encoded.codes[stays], np.cumsum(lengths[long_enough])), long_enough


def local_postings(encoded: EncodedTexts) -> tuple[LocalPostings, NDArray[np.uint32]]:
    """Return the batch's postings, and each document's highest frequency.

    >>> from likewise.semantics.text.tokenizer import Tokenizer
    >>> postings, highest = local_postings(Tokenizer().encode(pa.array(["cat cat dog", "dog"])))
    >>> postings.terms.to_pylist(), postings.ends.tolist(), postings.documents.tolist(), postings.frequencies.tolist()
    (['cat', 'dog'], [1, 3], [0, 0, 1], [2, 1, 1])
    >>> highest.tolist()
    [2, 1]
    """
    size = len(encoded.ends)
    highest = np.zeros(size, dtype=np.uint32)
    none = np.empty(0, dtype=np.uint32)
    if not len(encoded.codes):
        return LocalPostings(encoded.terms.slice(0, 0), np.empty(0, dtype=np.int64), none, none), highest
    document = np.repeat(np.arange(size), np.diff(encoded.ends, prepend=0))
    # One key a token, half the width where it fits: sorting is the main cost.
    width: Any = np.uint32 if len(encoded.terms) * size < 1 << 32 else np.uint64
    keys: NDArray[Any] = encoded.codes.astype(width) * width(size) + document.astype(width)
    keys.sort()
    firsts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    frequencies = np.diff(firsts, append=len(keys)).astype(np.uint32)
    codes, documents = np.divmod(keys[firsts], width(size))
    np.maximum.at(highest, documents.astype(np.int64), frequencies)
    counts = np.bincount(codes.astype(np.int64), minlength=len(encoded.terms))
    used = np.flatnonzero(counts)  # cutting may have left a term without tokens
    terms = encoded.terms if len(used) == len(encoded.terms) else encoded.terms.take(used)
    return LocalPostings(terms, np.cumsum(counts[used]), documents.astype(np.uint32), frequencies), highest


def partition_by_term(postings: LocalPostings, number: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Partition postings by a hash of the term that is the same on every machine."""
    if not len(postings.terms):
        return
    whole = pa.RecordBatch.from_arrays(
        [
            postings.terms,
            _lists(postings.ends, _narrow(postings.documents)),
            _lists(postings.ends, _narrow(postings.frequencies)),
        ],
        names=["term", "documents", "frequencies"],
    )
    bucket = term_hashes(postings.terms) % np.uint32(number)
    order = np.argsort(bucket, kind="stable")
    at = np.searchsorted(bucket[order], np.arange(number + 1))
    for i in range(number):
        if at[i] < at[i + 1]:
            yield i, whole.take(order[at[i] : at[i + 1]])


def term_hashes(terms: pa.Array[Any]) -> NDArray[np.uint32]:
    """Return a hash of each term that is the same on every machine: a polynomial over its bytes, then mixed.

    >>> term_hashes(pa.array(["cat", "act"], pa.large_string())).tolist()
    [997821293, 1122043016]
    """
    _, offsets, data = terms.buffers()
    if offsets is None or data is None or not len(terms):
        return np.zeros(len(terms), dtype=np.uint32)
    at = np.frombuffer(memoryview(offsets), dtype=np.int64)[terms.offset : terms.offset + len(terms) + 1]
    content = np.frombuffer(memoryview(data), dtype=np.uint8)[at[0] : at[-1]]
    starts, lengths = at[:-1] - at[0], np.diff(at)
    place = (np.arange(len(content)) - np.repeat(starts, lengths)) % len(_POWERS)
    sums = np.zeros(len(terms), dtype=np.uint32)
    filled = lengths > 0
    sums[filled] = np.add.reduceat(content * _POWERS[place], starts[filled], dtype=np.uint32)
    mixed: NDArray[np.uint32] = (sums ^ (sums >> np.uint32(15))) * np.uint32(0x2C1B3C6D)
    return mixed ^ (mixed >> np.uint32(12))


def merge_postings(pieces: list[tuple[int, pa.RecordBatch]]) -> TermPostings:
    """Merge the pieces of one bucket into whole lists; each piece comes with its first document's number.

    Pieces hold disjoint ranges of documents and are ascending in themselves, so ordering the pieces of
    each term is enough: no posting is sorted.
    """
    pieces = sorted(pieces, key=lambda piece: piece[0])
    terms = pa.chunked_array([batch.column(0) for _, batch in pieces], pa.large_string()).combine_chunks()
    encoded = terms.dictionary_encode()
    distinct = encoded.dictionary
    order = pc.sort_indices(distinct).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    ranks = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    by_term = np.argsort(ranks, kind="stable")  # pieces stay in the order of their documents
    counts = np.concatenate(
        [pc.list_value_length(batch.column(1)).to_numpy(zero_copy_only=False) for _, batch in pieces]
    )
    starts = np.cumsum(counts) - counts
    sizes = [int(pc.sum(pc.list_value_length(batch.column(1))).as_py() or 0) for _, batch in pieces]
    shift = np.repeat(np.array([first for first, _ in pieces], dtype=np.uint32), sizes)
    documents = np.concatenate([_flat(batch.column(1)) for _, batch in pieces]) + shift
    frequencies = np.concatenate([_flat(batch.column(2)) for _, batch in pieces])
    gather = np.repeat(starts[by_term] - (np.cumsum(counts[by_term]) - counts[by_term]), counts[by_term])
    gather += np.arange(len(documents))
    per_term = np.bincount(ranks, weights=counts, minlength=len(order)).astype(np.int64)
    return TermPostings(distinct.take(order), np.cumsum(per_term), documents[gather], frequencies[gather])


def select_terms(postings: TermPostings, keep: NDArray[np.bool_]) -> TermPostings:
    """Return the terms of a mask, with their postings."""
    counts = np.diff(postings.ends, prepend=0)
    stays = np.repeat(keep, counts)
    return TermPostings(
        postings.terms.filter(pa.array(keep)),
        np.cumsum(counts[keep]),
        postings.documents[stays],
        postings.frequencies[stays],
    )


def prune_postings(postings: TermPostings, keep: int, maxima: NDArray[np.uint32]) -> TermPostings:
    """Return each term's `keep` strongest documents: by frequency over the document's highest, then by number."""
    counts = np.diff(postings.ends, prepend=0)
    if not len(counts) or counts.max() <= keep:
        return postings
    term = np.repeat(np.arange(len(counts)), counts)
    strength = postings.frequencies / maxima[postings.documents]
    order = np.lexsort((postings.documents, -strength, term))
    place = np.arange(len(order)) - np.repeat(postings.ends - counts, counts)  # among the term's, strongest first
    stays = np.zeros(len(order), dtype=bool)
    stays[order[place < keep]] = True
    ends = np.cumsum(np.minimum(counts, keep))
    return TermPostings(postings.terms, ends, postings.documents[stays], postings.frequencies[stays])


def _lists(ends: NDArray[np.int64], values: NDArray[Any]) -> pa.Array[Any]:
    offsets = pa.array(np.concatenate((np.zeros(1, dtype=np.int64), ends)), pa.int64())
    lists: pa.Array[Any] = pa.LargeListArray.from_arrays(offsets, pa.array(values))
    return lists


def _flat(lists: Any) -> NDArray[np.uint32]:
    values: NDArray[Any] = lists.flatten().to_numpy(zero_copy_only=False)
    return values.astype(np.uint32)


def _narrow(values: NDArray[np.uint32]) -> NDArray[Any]:
    """Return the same numbers in the smallest type that fits them all."""
    highest = int(values.max(initial=0))
    return values.astype(np.uint8 if highest < 1 << 8 else np.uint16 if highest < 1 << 16 else np.uint32)


ArrowPass = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

DOCUMENTS: Final = "documents"  # folders of the build's working space
TALLIES: Final = "tallies"
PARTS: Final = "parts"
LOCAL_SCHEMA: Final = "bucket int, batch string, postings binary"
PART_SCHEMA: Final = "part int, terms long, postings long, highest long"


class WorkPlace(msgspec.Struct, frozen=True):
    """Where workers and driver exchange files: a folder that all see, or an object store, with its settings."""

    address: str
    objects: dict[str, str] = {}

    def file(self, kind: str, name: str) -> StoragePath:
        """Return the path of a file of a kind."""
        use_store_settings(self.objects)
        return storage_path(self.address) / kind / name


def tokenise(source: Source, splits: Sequence[Split], options: BuildOptions, number: int, work: WorkPlace) -> ArrowPass:
    """Pass one, over the numbers of the splits a task is given: local postings in `number` buckets."""

    def run(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tokenizer = Tokenizer(options.tokenizer)
        left_out: Counter[str] = Counter()
        numbers = [i for row in rows for i in row.column(0).to_numpy(zero_copy_only=False).tolist()]
        if not numbers:
            return
        batches = _gathered(batch for i in numbers for batch in source.read(splits[i], left_out))
        for place, batch in enumerate(batches):
            encoded, long_enough = filter_documents(
                tokenizer.encode(batch.column(1)), shortest=options.minimum_length, cut=options.cut
            )
            postings, highest = local_postings(encoded)
            left_out["too short"] += int(len(long_enough) - long_enough.sum())
            name = f"{numbers[0]:010d}-{place:08d}-{len(highest)}"
            titles = batch.column(0).filter(pa.array(long_enough))
            _write(work.file(DOCUMENTS, f"{name}.arrow"), {"title": titles, "highest": pa.array(highest)})
            for bucket, piece in partition_by_term(postings, number):
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array([bucket], pa.int32()),
                        pa.array([name], pa.string()),
                        pa.array([_packed(piece)], pa.binary()),
                    ],
                    names=["bucket", "batch", "postings"],
                )
        _replace(work.file(TALLIES, f"{numbers[0]:010d}.json"), msgspec.json.encode(left_out))

    return run


def merge(options: BuildOptions, work: WorkPlace) -> ArrowPass:
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
        postings = merge_postings(pieces)
        del pieces
        df = np.diff(postings.ends, prepend=0)
        keep = (df >= options.minimum_df) & (df <= options.maximum_df * total)
        if not keep.all():
            postings, df = select_terms(postings, keep), df[keep]
        if options.keep is not None:
            postings = prune_postings(postings, options.keep, _maxima(work, total))
        columns = {"term": postings.terms, "df": pa.array(df), "end": pa.array(postings.ends)}
        _write(work.file(PARTS, f"{part:08d}.arrow"), columns)
        _replace(work.file(PARTS, f"{part:08d}.documents"), postings.documents.tobytes())
        _replace(work.file(PARTS, f"{part:08d}.frequencies"), postings.frequencies.tobytes())
        counts = [part, len(df), len(postings.documents), int(postings.frequencies.max(initial=0))]
        yield pa.RecordBatch.from_arrays(
            [pa.array([counts[0]], pa.int32()), *(pa.array([n], pa.int64()) for n in counts[1:])],
            names=["part", "terms", "postings", "highest"],
        )

    return run


def first_documents(work: WorkPlace) -> tuple[dict[str, int], int]:
    """Return the number of each batch's first document, by the batch's name, and the number of all documents."""
    there = (path.name for path in work.file(DOCUMENTS, "-").parent.iterdir())
    names = sorted(name.removesuffix(".arrow") for name in there if name.endswith(".arrow"))
    sizes = [int(name.rpartition("-")[2]) for name in names]
    firsts = np.cumsum([0, *sizes]).tolist()
    if firsts[-1] >= 1 << 32:
        raise StateError(f"{firsts[-1]:,} documents are more than a space can number; build several spaces")
    return dict(zip(names, firsts, strict=False)), firsts[-1]


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the same documents in batches of the size that is fastest, whatever the source gave."""
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


def _maxima(work: WorkPlace, total: int) -> NDArray[np.uint32]:
    """Return every document's highest frequency."""
    maxima = np.empty(total, dtype=np.uint32)
    for name, start in first_documents(work)[0].items():
        frequencies = read_arrow(work.file(DOCUMENTS, f"{name}.arrow")).column("highest").to_numpy()
        maxima[start : start + len(frequencies)] = frequencies
    return maxima


def _packed(batch: pa.RecordBatch) -> bytes:
    """Encode a record batch as compressed bytes, because they cross the network."""
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, batch.schema, options=ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _unpacked(data: bytes) -> pa.RecordBatch:
    return ipc.open_stream(data).read_next_batch()


def _write(path: StoragePath, columns: dict[str, Any]) -> None:
    """Write an Arrow file, whole or not at all."""
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    _replace(path, sink.getvalue())


def read_arrow(path: StoragePath) -> pa.Table:
    """Read a file that a pass wrote; one in a folder is mapped into memory."""
    if isinstance(path, ObjectStorePath):
        return ipc.open_file(pa.BufferReader(path.read_bytes())).read_all()
    with pa.memory_map(str(path)) as source:
        return ipc.open_file(source).read_all()


def _replace(path: StoragePath, data: Any) -> None:
    if isinstance(path, ObjectStorePath):
        path.put(bytes(data))
        return
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(name, path)

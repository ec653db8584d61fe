"""A batch of documents to local postings, and many local postings to a term's whole list.

Both are array operations. Local postings of one batch are cut into buckets by a hash of the term; a
bucket is one Arrow record batch, so that Spark moves a few large values instead of millions of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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


def kept_documents(encoded: EncodedTexts, *, shortest: int, cut: int | None) -> tuple[EncodedTexts, NDArray[np.bool_]]:
    """The texts with at least `shortest` tokens, each cut to its first `cut`, and which they were."""
    starts = np.concatenate((np.zeros(1, dtype=np.int64), encoded.ends[:-1]))[: len(encoded.ends)]
    lengths = encoded.ends - starts
    kept = lengths >= shortest
    if kept.all() and cut is None:
        return encoded, kept
    stays = np.repeat(kept, lengths)
    if cut is not None:
        stays &= np.arange(len(encoded.codes)) - np.repeat(starts, lengths) < cut
        lengths = np.minimum(lengths, cut)
    return type(encoded)(encoded.terms, encoded.codes[stays], np.cumsum(lengths[kept])), kept


def local_postings(encoded: EncodedTexts) -> tuple[LocalPostings, NDArray[np.uint32]]:
    """The batch's postings, and each document's highest frequency.

    >>> from likewise.semantics.text.tokenizer import Tokenizer
    >>> found, highest = local_postings(Tokenizer().encode(pa.array(["cat cat dog", "dog"])))
    >>> found.terms.to_pylist(), found.ends.tolist(), found.documents.tolist(), found.frequencies.tolist()
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


def buckets(postings: LocalPostings, number: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The postings dealt to buckets by a hash of the term that is the same everywhere."""
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
    bucket = hashes(postings.terms) % np.uint32(number)
    order = np.argsort(bucket, kind="stable")
    at = np.searchsorted(bucket[order], np.arange(number + 1))
    for i in range(number):
        if at[i] < at[i + 1]:
            yield i, whole.take(order[at[i] : at[i + 1]])


def hashes(terms: pa.Array[Any]) -> NDArray[np.uint32]:
    """A hash of each term that is the same on every machine: a polynomial over its bytes, then mixed.

    >>> hashes(pa.array(["cat", "act"], pa.large_string())).tolist()
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


def merged(pieces: list[tuple[int, pa.RecordBatch]]) -> TermPostings:
    """The pieces of one bucket as whole lists; each piece comes with its first document's number.

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


def selected(postings: TermPostings, keep: NDArray[np.bool_]) -> TermPostings:
    """The terms chosen by a mask, with their postings."""
    counts = np.diff(postings.ends, prepend=0)
    stays = np.repeat(keep, counts)
    return TermPostings(
        postings.terms.filter(pa.array(keep)),
        np.cumsum(counts[keep]),
        postings.documents[stays],
        postings.frequencies[stays],
    )


def pruned(postings: TermPostings, keep: int, maxima: NDArray[np.uint32]) -> TermPostings:
    """Each term's `keep` strongest documents: by frequency over the document's highest, then the lower number."""
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
    """The same numbers in the smallest type that holds them all."""
    highest = int(values.max(initial=0))
    return values.astype(np.uint8 if highest < 1 << 8 else np.uint16 if highest < 1 << 16 else np.uint32)

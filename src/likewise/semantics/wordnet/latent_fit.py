"""Fitting of latent vectors: a truncated singular value decomposition, packed into half a megabyte.

Halko, N., Martinsson, P.-G. and Tropp, J.: Finding structure with randomness, SIAM Review 53(2), 2011
(the decomposition); Deerwester et al. 1990, section "folding in" (documents from terms).

Only the left vectors of the most frequent terms are kept, in 4 bits a number. Every document is folded
in from the terms it holds, which brings back the rest: on the embedded space this costs under 0.01 of
rank correlation against the exact decomposition.
"""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise.semantics.spaces.files import SpaceFiles

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

DIMENSIONS: Final = 256
CORE_TERMS: Final = 5_000
_OVERSAMPLING: Final = 16
_ITERATIONS: Final = 5
_STEP: Final = 0.34  # of a column's deviation: 16 levels reach 2.7 deviations to either side
_LEVELS: Final = 16


class LatentCore(msgspec.Struct, frozen=True):
    """Left singular vectors of the core terms as small integers: `(levels + 0.5) * columns * rows`."""

    terms: bytes
    levels: bytes
    rows: bytes
    columns: bytes
    singular: bytes

    def vectors(self) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32]]:
        """Return the core terms' numbers, their vectors, and the singular values."""
        columns, rows = np.frombuffer(self.columns, "<f4"), np.frombuffer(self.rows, "<f4")
        levels = np.frombuffer(self.levels, np.int8).reshape(len(rows), len(columns))
        values = ((levels + np.float32(0.5)) * columns * rows[:, None]).astype(np.float32)
        return np.frombuffer(self.terms, "<i4"), values, np.frombuffer(self.singular, "<f4")


def weight_matrix(files: SpaceFiles) -> sparse.csr_array:
    """Return the weights of every term (sources.md T), terms by documents."""
    from scipy import sparse

    counts = files.manifest.counts
    starts = np.concatenate(([0], files.posting_ends))
    highest = files.document_maxima[files.documents].astype(np.float32)
    tf = np.float32(0.5) + np.float32(0.5) * files.frequencies.astype(np.float32) / highest
    idf = np.log(counts.documents / files.document_frequencies).astype(np.float32)
    data = tf * np.repeat(idf, np.diff(starts))
    return sparse.csr_array((data, files.documents.astype(np.int32), starts), shape=(counts.terms, counts.documents))


def fit_latent(files: SpaceFiles, *, dimensions: int = DIMENSIONS, core: int = CORE_TERMS) -> LatentCore:
    """Decompose a space's weights, with terms and then documents normalised, and keep the core."""
    balanced, _ = _balanced(weight_matrix(files))
    random = np.random.default_rng(20140812)
    left, singular = _decomposed(balanced, dimensions, random)
    terms = np.sort(np.argsort(-files.document_frequencies.astype(np.int64), kind="stable")[:core])
    vectors = left[terms]
    rows = np.linalg.norm(vectors, axis=1).astype("<f4")
    unit = vectors / np.maximum(rows, 1e-12)[:, None]
    columns = unit.std(axis=0).astype("<f4")
    scaled = np.round(unit / np.maximum(columns, 1e-12) / _STEP - 0.5)
    levels = np.clip(scaled, -_LEVELS // 2, _LEVELS // 2 - 1).astype(np.int8)
    return LatentCore(
        terms.astype("<i4").tobytes(),
        levels.tobytes(),
        rows.tobytes(),
        (columns * np.float32(_STEP)).astype("<f4").tobytes(),
        singular.astype("<f4").tobytes(),
    )


def latent_documents(files: SpaceFiles, core: LatentCore) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Fold in every document: return rows of small integers and each row's scale."""
    terms, vectors, singular = core.vectors()
    balanced, lengths = _balanced(weight_matrix(files))
    rows = (balanced[terms].T.tocsr() @ vectors) / singular
    rows /= np.maximum(lengths, 1e-12)[:, None]
    scales = np.abs(rows).max(axis=1) / 127
    small = np.round(rows / np.maximum(scales, 1e-30)[:, None]).astype(np.int8)
    return small, scales.astype(np.float32)


def pack_core(core: LatentCore) -> bytes:
    """Compress a core."""
    return lzma.compress(msgspec.msgpack.encode(core), preset=9 | lzma.PRESET_EXTREME)


def unpack_core(packed: bytes) -> LatentCore:
    """Decompress a core."""
    return msgspec.msgpack.decode(lzma.decompress(packed), type=LatentCore)


def _balanced(weights: sparse.csr_array) -> tuple[sparse.csr_array, NDArray[np.float32]]:
    """Normalise terms, then documents; also return the length that each document had in between."""
    from scipy import sparse

    norms = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1))).ravel()
    rows = np.repeat(np.maximum(norms, 1e-12), np.diff(weights.indptr))
    data = (weights.data / rows).astype(np.float32)
    lengths = np.sqrt(np.bincount(weights.indices, weights=data * data, minlength=weights.shape[1])).astype(np.float32)
    data /= np.maximum(lengths, 1e-12)[weights.indices]
    return sparse.csr_array((data, weights.indices, weights.indptr), shape=weights.shape), lengths


def _decomposed(
    matrix: sparse.csr_array, dimensions: int, random: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the leading left singular vectors and values (Halko et al. 2011, algorithms 4.4 and 5.1)."""
    from scipy import linalg

    width = min(dimensions + _OVERSAMPLING, *matrix.shape)
    transposed: Any = matrix.T.tocsr()
    basis, _ = linalg.qr(matrix @ random.standard_normal((matrix.shape[1], width), dtype=np.float32), mode="economic")
    for _ in range(_ITERATIONS):
        other, _ = linalg.qr(transposed @ basis, mode="economic")
        basis, _ = linalg.qr(matrix @ other, mode="economic")
    inner, singular, _ = linalg.svd((transposed @ basis).T, full_matrices=False)
    left = basis @ inner
    left *= np.where(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])] < 0, -1, 1)  # one sign of two
    return left[:, :dimensions].astype(np.float32), singular[:dimensions].astype(np.float32)

"""Compiled arithmetic of sparse vectors with ascending documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.kernels.compile import nogil_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@nogil_kernel
def within(documents: NDArray[np.uint32], weights: NDArray[np.float32], basis: NDArray[np.bool_]) -> Any:
    """Return the part of a vector inside a basis of documents."""
    inside, values = np.empty(len(documents), np.uint32), np.empty(len(documents), np.float32)
    n = 0
    for k in range(len(documents)):
        inside[n], values[n] = documents[k], weights[k]
        n += basis[documents[k]]
    return inside[:n].copy(), values[:n].copy()


@nogil_kernel
def merged(
    a: NDArray[np.uint32], a_weights: NDArray[np.float32], b: NDArray[np.uint32], b_weights: NDArray[np.float32]
) -> Any:
    """Return the sum of two vectors with ascending documents."""
    size = len(a) + len(b)
    documents, weights = np.empty(size, np.uint32), np.empty(size, np.float32)
    i, j, n = 0, 0, 0
    while i < len(a) or j < len(b):
        first = j == len(b) or (i < len(a) and a[i] <= b[j])
        second = i == len(a) or (j < len(b) and b[j] <= a[i])
        weight = np.float32(0.0)
        if first:
            documents[n] = a[i]
            weight += a_weights[i]
            i += 1
        if second:
            documents[n] = b[j]
            weight += b_weights[j]
            j += 1
        weights[n] = weight
        n += 1
    return documents[:n].copy(), weights[:n].copy()


@nogil_kernel
def norm(weights: NDArray[np.float32]) -> Any:
    """Return a vector's length, summed in double precision in the same order as inner products."""
    total = 0.0
    for weight in weights:
        total += np.float64(weight) * np.float64(weight)
    return np.sqrt(total)


@nogil_kernel
def cosines_with_all(
    posting_ends: NDArray[np.int64],
    documents: NDArray[np.uint32],
    frequencies: NDArray[Any],
    document_maxima: NDArray[np.uint32],
    basis: NDArray[np.bool_],
    spread: NDArray[np.float32],
) -> Any:
    """Return the cosine of every term of a space, projected into a basis, with one dense vector.

    The inverse document frequency is a factor of the whole vector and leaves the cosine as it is; a term
    in every document of the basis, whose projection is zero, gives 0.
    """
    out = np.zeros(len(posting_ends), dtype=np.float32)
    within = 0
    for d in range(len(basis)):
        within += basis[d]
    length = np.float32(0.0)
    for d in range(len(spread)):
        length += spread[d] * spread[d]
    start = 0
    for t in range(len(posting_ends)):
        total, norm, shared = np.float32(0.0), np.float32(0.0), 0
        for k in range(start, posting_ends[t]):
            d = documents[k]
            if basis[d]:
                shared += 1
                tf = np.float32(0.5) + np.float32(0.5) * frequencies[k] / document_maxima[d]
                total += tf * spread[d]
                norm += tf * tf
        if total > 0.0 and shared < within:
            out[t] = total / np.sqrt(norm * length)
        start = posting_ends[t]
    return out

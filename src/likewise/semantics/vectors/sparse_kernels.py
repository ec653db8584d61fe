"""Compiled products of many sparse vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.kernels.compile import unlocked

if TYPE_CHECKING:
    from numpy.typing import NDArray


@unlocked
def dots(
    asked_ends: NDArray[np.int64],
    asked_documents: NDArray[np.uint32],
    asked_weights: NDArray[np.float32],
    seen_ends: NDArray[np.int64],
    seen_documents: NDArray[np.uint32],
    seen_weights: NDArray[np.float32],
    documents: int,
) -> Any:
    """The inner product of every asked vector with every seen one.

    Each seen vector is spread over one dense row of all `documents`, which every asked vector then
    reads: the cost is the asked vectors' length for each seen one, however long that is.
    """
    rows, columns = len(asked_ends), len(seen_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    spread = np.zeros(documents, dtype=np.float32)
    start = 0
    for j in range(columns):
        end = seen_ends[j]
        for k in range(start, end):
            spread[seen_documents[k]] = seen_weights[k]
        if end > start:
            begin = 0
            for i in range(rows):
                total = np.float32(0.0)
                for k in range(begin, asked_ends[i]):
                    total += asked_weights[k] * spread[asked_documents[k]]
                out[i, j] = total
                begin = asked_ends[i]
        for k in range(start, end):
            spread[seen_documents[k]] = 0.0
        start = end
    return out


@unlocked
def cosines_with_all(
    posting_ends: NDArray[np.int64],
    documents: NDArray[np.uint32],
    frequencies: NDArray[Any],
    document_maxima: NDArray[np.uint32],
    basis: NDArray[np.bool_],
    spread: NDArray[np.float32],
) -> Any:
    """The cosine of every term of a space, projected into a basis, with one vector spread over all documents.

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

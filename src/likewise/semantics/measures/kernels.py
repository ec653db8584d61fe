"""Compiled reading of scores against their backgrounds.

Compiled comparison of new words with many known ones, whose vectors were turned round before.

The sum of documents' latent rows, read as the small integers they are stored as.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.kernels.compile import nogil_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

from typing import TYPE_CHECKING


@nogil_kernel
def weighted_sum(rows: Any, scales: Any, chosen: Any, weights: Any) -> Any:
    """The sum of the chosen rows, each times its scale and its weight."""
    out = np.zeros(rows.shape[1], dtype=np.float32)
    for k in range(len(chosen)):
        row = rows[chosen[k]]
        factor = np.float32(weights[k] * scales[chosen[k]])
        for d in range(len(out)):
            out[d] += factor * np.float32(row[d])
    return out


@nogil_kernel
def inverted_dot_products(
    documents: NDArray[np.uint32],
    ends: NDArray[np.int64],
    rows: NDArray[np.int32],
    weights: NDArray[np.float32],
    seen_ends: NDArray[np.int64],
    seen_documents: NDArray[np.uint32],
    seen_weights: NDArray[np.float32],
    out: NDArray[Any],
) -> None:
    """Puts the inner product of every asked vector (row) with every seen one (column) into `out`, in its precision.

    Only the documents of the seen ones are looked at. `documents` are those of all asked vectors, ascending; up to
    `ends` stand the `rows` that hold each and their `weights`. Both documents' lists ascend, so the search goes on
    where it ended.
    """
    total = np.zeros_like(out[:, 0])
    weight = np.zeros_like(out[0, :1])  # a number of the same precision
    start = 0
    for j in range(len(seen_ends)):
        total[:] = 0.0
        at = 0
        for k in range(start, seen_ends[j]):
            wanted = seen_documents[k]
            step, high = 1, at
            while high < len(documents) and documents[high] < wanted:
                at = high + 1
                high += step
                step *= 2
            high = min(high, len(documents))
            while at < high:
                middle = (at + high) // 2
                if documents[middle] < wanted:
                    at = middle + 1
                else:
                    high = middle
            if at == len(documents):
                break
            if documents[at] == wanted:
                weight[0] = seen_weights[k]
                for p in range(ends[at - 1] if at else 0, ends[at]):
                    total[rows[p]] += weights[p] * weight[0]
        out[:, j] = total
        start = seen_ends[j]


@nogil_kernel
def _level(x: float, table: NDArray[np.float32], levels: NDArray[np.float32]) -> Any:
    """The level of one score, on straight lines between knots.

    Of several equal knots the first counts: a score that very many random pairs have says little. A
    score of 0 has the level 0.
    """
    if x <= 0.0:
        return np.float32(0.0)
    last = len(table) - 1
    k = 0
    while k < last and table[k + 1] < x:
        k += 1
    if k == last:
        return levels[last]
    width = table[k + 1] - table[k]
    share = (x - table[k]) / width if width > 0.0 else np.float32(0.0)
    return levels[k] + share * (levels[k + 1] - levels[k])


@nogil_kernel
def documents_evidence(
    cosines: NDArray[np.float32],
    latent: NDArray[np.float32],
    asked: NDArray[np.int64],
    seen: NDArray[np.int64],
    cosine_knots: NDArray[np.float32],
    latent_knots: NDArray[np.float32],
    levels: NDArray[np.float32],
    cosine_weight: float,
    latent_weight: float,
) -> Any:
    """The weighted evidence of shared documents and latent vectors; a class of -1 is of a word the space does not know.

    Without latent vectors (an empty array) only documents count.
    """
    rows, columns = cosines.shape
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            a, b = asked[i], seen[j]
            if a >= 0 and b >= 0:
                total = cosine_weight * _level(cosines[i, j], cosine_knots[a, b], levels)
                if latent.size:
                    total += latent_weight * _level(latent[i, j], latent_knots[a, b], levels)
                out[i, j] = total
    return out


@nogil_kernel
def averaged(
    documents: NDArray[np.float32],
    similarities: NDArray[np.float32],
    asked: NDArray[np.int64],
    seen: NDArray[np.int64],
    asked_documents: NDArray[np.int64],
    seen_documents: NDArray[np.int64],
    asked_in_taxonomy: NDArray[np.bool_],
    seen_in_taxonomy: NDArray[np.bool_],
    knots: NDArray[np.float32],
    levels: NDArray[np.float32],
    documents_weight: float,
    taxonomy_weight: float,
) -> Any:
    """The mean of the documents' evidence and the taxonomy's; what knows nothing of a pair is left out."""
    rows, columns = documents.shape
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            total, weight = np.float32(0.0), np.float32(0.0)
            if asked_documents[i] >= 0 and seen_documents[j] >= 0:
                total += documents[i, j]
                weight += documents_weight
            if asked_in_taxonomy[i] and seen_in_taxonomy[j]:
                total += taxonomy_weight * _level(similarities[i, j], knots[asked[i], seen[j]], levels)
                weight += taxonomy_weight
            if weight > 0.0:
                out[i, j] = total / weight
    return out

"""Compiled kernels of the measures: calibrated evidence, inverted dot products, latent sums.

Compiled comparison of new words with many known ones, whose vectors were turned round before.

The sum of documents' latent rows, read as the small integers they are stored as.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.kernels.compile import nogil_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@nogil_kernel
def weighted_sum(rows: Any, scales: Any, chosen: Any, weights: Any) -> Any:
    """Return the sum of the chosen rows, each times its scale and its weight."""
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
    candidate_ends: NDArray[np.int64],
    candidate_documents: NDArray[np.uint32],
    candidate_weights: NDArray[np.float32],
    out: NDArray[Any],
) -> None:
    """Write the inner product of every query vector (row) with every candidate (column) into `out`.

    Only the documents of the seen ones are looked at. `documents` are those of all asked vectors, ascending; up to
    `ends` stand the `rows` that hold each and their `weights`. Both documents' lists ascend, so the search goes on
    where it ended.
    """
    total = np.zeros(len(out), out.dtype)
    weight = np.zeros(1, out.dtype)  # a number of the same precision
    start = 0
    for j in range(len(candidate_ends)):
        for i in range(len(total)):
            total[i] = 0.0
        at = 0
        for k in range(start, candidate_ends[j]):
            document = candidate_documents[k]
            step, high = 1, at
            while high < len(documents) and documents[high] < document:
                at = high + 1
                high += step
                step *= 2
            high = min(high, len(documents))
            while at < high:
                middle = (at + high) // 2
                if documents[middle] < document:
                    at = middle + 1
                else:
                    high = middle
            if at == len(documents):
                break
            if documents[at] == document:
                weight[0] = candidate_weights[k]
                for p in range(ends[at - 1] if at else 0, ends[at]):
                    total[rows[p]] += weights[p] * weight[0]
        for i in range(len(total)):
            out[i, j] = total[i]
        start = candidate_ends[j]


@nogil_kernel
def _level(x: float, table: NDArray[np.float32], levels: NDArray[np.float32]) -> Any:
    """Return the surprise of a score, interpolated linearly between knots.

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
    query_classes: NDArray[np.int64],
    candidate_classes: NDArray[np.int64],
    cosine_knots: NDArray[np.float32],
    latent_knots: NDArray[np.float32],
    levels: NDArray[np.float32],
    cosine_weight: float,
    latent_weight: float,
) -> Any:
    """Return the weighted evidence of shared documents and latent vectors. Class -1 marks a word the space lacks.

    Without latent vectors (an empty array) only documents count.
    """
    rows, columns = cosines.shape
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            a, b = query_classes[i], candidate_classes[j]
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
    query_classes: NDArray[np.int64],
    candidate_classes: NDArray[np.int64],
    query_documents: NDArray[np.int64],
    candidate_documents: NDArray[np.int64],
    query_in_taxonomy: NDArray[np.bool_],
    candidate_in_taxonomy: NDArray[np.bool_],
    knots: NDArray[np.float32],
    levels: NDArray[np.float32],
    documents_weight: float,
    taxonomy_weight: float,
) -> Any:
    """Return the mean of the documents' evidence and the taxonomy's; a source that lacks a word is left out."""
    rows, columns = documents.shape
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            total, weight = np.float32(0.0), np.float32(0.0)
            if query_documents[i] >= 0 and candidate_documents[j] >= 0:
                total += documents[i, j]
                weight += documents_weight
            if query_in_taxonomy[i] and candidate_in_taxonomy[j]:
                total += taxonomy_weight * _level(
                    similarities[i, j], knots[query_classes[i], candidate_classes[j]], levels
                )
                weight += taxonomy_weight
            if weight > 0.0:
                out[i, j] = total / weight
    return out

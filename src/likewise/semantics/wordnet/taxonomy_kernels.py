"""Compiled search for the common subsumers of many synsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.kernels.compile import nogil_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray


@nogil_kernel
def similarities(
    query_ends: NDArray[np.int64],
    query_senses: NDArray[np.int32],
    subsumers: NDArray[np.int32],
    below_ends: NDArray[np.int64],
    below: NDArray[np.int32],
    candidate_ends: NDArray[np.int64],
    candidate_senses: NDArray[np.int32],
    ancestor_ends: NDArray[np.int64],
    ancestors: NDArray[np.int32],
    information: NDArray[np.float32],
) -> Any:
    """Return the best Jiang-Conrath similarity between the senses of every query and every candidate word.

    For a subsumer c of a seen sense b, 2 IC(c) - IC(b) is what b brings to the similarity of anything
    below c. Each asked sense keeps the most that is brought to it, once for all seen senses. The subsumer
    found is the lowest common one, since any other brings less. Without a common subsumer the similarity is 0.

    `subsumers` are all synsets above the asked senses, ascending; `below` has the places of the asked senses
    under each, up to `below_ends`: a seen word costs what it shares with the asked ones.
    """
    rows, columns = len(query_ends), len(candidate_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    nothing = np.float32(-1e9)
    most = np.empty(len(query_senses), dtype=np.float32)
    for j in range(columns):
        most[:] = nothing
        for at in range(candidate_ends[j - 1] if j else 0, candidate_ends[j]):
            candidate = candidate_senses[at]
            for k in range(ancestor_ends[candidate - 1] if candidate else 0, ancestor_ends[candidate]):
                c = ancestors[k]
                place = np.searchsorted(subsumers, c)
                if place < len(subsumers) and subsumers[place] == c:
                    brought = 2 * information[c] - information[candidate]
                    for p in range(below_ends[place - 1] if place else 0, below_ends[place]):
                        most[below[p]] = max(most[below[p]], brought)
        start = 0
        for i in range(rows):
            best = np.float32(0.0)
            for sense in range(start, query_ends[i]):
                if most[sense] > nothing:
                    distance = max(np.float32(0.0), information[query_senses[sense]] - most[sense])
                    best = max(best, np.float32(1.0) / (np.float32(1.0) + distance))
            out[i, j] = best
            start = query_ends[i]
    return out


@nogil_kernel
def best_pairs(
    scores: NDArray[np.float32],
    query_ends: NDArray[np.int64],
    query_words: NDArray[np.int64],
    candidate_ends: NDArray[np.int64],
    candidate_words: NDArray[np.int64],
) -> Any:
    """Return term scores: the mean of each word's best pair, averaged over both directions (sources.md H)."""
    rows, columns = len(query_ends), len(candidate_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        a0, a1 = (query_ends[i - 1] if i else 0), query_ends[i]
        for j in range(columns):
            b0, b1 = (candidate_ends[j - 1] if j else 0), candidate_ends[j]
            if a0 == a1 or b0 == b1:
                continue
            forth, back = np.float32(0.0), np.float32(0.0)
            for a in range(a0, a1):
                best = np.float32(0.0)
                for b in range(b0, b1):
                    best = max(best, scores[query_words[a], candidate_words[b]])
                forth += best
            for b in range(b0, b1):
                best = np.float32(0.0)
                for a in range(a0, a1):
                    best = max(best, scores[query_words[a], candidate_words[b]])
                back += best
            out[i, j] = (forth / (a1 - a0) + back / (b1 - b0)) / 2
    return out

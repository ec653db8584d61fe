"""Compiled search for the common subsumers of many synsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)
def similarities(
    asked_ends: NDArray[np.int64],
    asked_senses: NDArray[np.int32],
    seen_ends: NDArray[np.int64],
    seen_senses: NDArray[np.int32],
    ancestor_ends: NDArray[np.int64],
    ancestors: NDArray[np.int32],
    information: NDArray[np.float32],
) -> Any:
    """The best Jiang-Conrath similarity between the senses of every asked word and every seen one.

    For a subsumer c of a seen sense b, 2 IC(c) - IC(b) is what b brings to the similarity of anything
    below c. Each ancestor of a seen word's senses keeps the most that any of them brings; an asked sense
    then looks for the best of its own ancestors, once for all seen senses. The subsumer found is the
    lowest common one, since any other brings less. Without a common subsumer the similarity is 0.
    """
    rows, columns = len(asked_ends), len(seen_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    nothing = np.float32(-1e9)
    brought = np.full(len(ancestor_ends), nothing, dtype=np.float32)
    for j in range(columns):
        first, last = (seen_ends[j - 1] if j else 0), seen_ends[j]
        for at in range(first, last):
            seen = seen_senses[at]
            for k in range(ancestor_ends[seen - 1] if seen else 0, ancestor_ends[seen]):
                c = ancestors[k]
                brought[c] = max(brought[c], 2 * information[c] - information[seen])
        start = 0
        for i in range(rows):
            end = asked_ends[i]
            best = np.float32(0.0)
            for at in range(start, end):
                asked = asked_senses[at]
                most = nothing
                for k in range(ancestor_ends[asked - 1] if asked else 0, ancestor_ends[asked]):
                    most = max(most, brought[ancestors[k]])
                if most > nothing:
                    distance = max(np.float32(0.0), information[asked] - most)
                    best = max(best, np.float32(1.0) / (np.float32(1.0) + distance))
            out[i, j] = best
            start = end
        for at in range(first, last):
            seen = seen_senses[at]
            for k in range(ancestor_ends[seen - 1] if seen else 0, ancestor_ends[seen]):
                brought[ancestors[k]] = nothing
    return out


@numba.njit(cache=True, nogil=True)
def best_pairs(
    scores: NDArray[np.float32],
    asked_ends: NDArray[np.int64],
    asked_words: NDArray[np.int64],
    seen_ends: NDArray[np.int64],
    seen_words: NDArray[np.int64],
) -> Any:
    """From words to terms: the mean of each word's best pair, averaged over both directions (SPEC.md H)."""
    rows, columns = len(asked_ends), len(seen_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        a0, a1 = (asked_ends[i - 1] if i else 0), asked_ends[i]
        for j in range(columns):
            b0, b1 = (seen_ends[j - 1] if j else 0), seen_ends[j]
            if a0 == a1 or b0 == b1:
                continue
            forth, back = np.float32(0.0), np.float32(0.0)
            for a in range(a0, a1):
                best = np.float32(0.0)
                for b in range(b0, b1):
                    best = max(best, scores[asked_words[a], seen_words[b]])
                forth += best
            for b in range(b0, b1):
                best = np.float32(0.0)
                for a in range(a0, a1):
                    best = max(best, scores[asked_words[a], seen_words[b]])
                back += best
            out[i, j] = (forth / (a1 - a0) + back / (b1 - b0)) / 2
    return out

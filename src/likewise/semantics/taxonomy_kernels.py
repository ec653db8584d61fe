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

    A seen sense marks its ancestors; each asked sense runs over its own and keeps the marked one with
    the highest information content. Without a common subsumer the similarity is 0.
    """
    rows, columns = len(asked_ends), len(seen_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    marked = np.zeros(len(ancestor_ends), dtype=np.uint8)
    for j in range(columns):
        for seen_at in range(seen_ends[j - 1] if j else 0, seen_ends[j]):
            seen = seen_senses[seen_at]
            first = ancestor_ends[seen - 1] if seen else 0
            for k in range(first, ancestor_ends[seen]):
                marked[ancestors[k]] = 1
            for i in range(rows):
                for asked_at in range(asked_ends[i - 1] if i else 0, asked_ends[i]):
                    asked = asked_senses[asked_at]
                    common = np.float32(-1.0)
                    for k in range(ancestor_ends[asked - 1] if asked else 0, ancestor_ends[asked]):
                        if marked[ancestors[k]] and information[ancestors[k]] > common:
                            common = information[ancestors[k]]
                    if common >= 0.0:
                        distance = max(np.float32(0.0), information[asked] + information[seen] - 2 * common)
                        out[i, j] = max(out[i, j], np.float32(1.0) / (np.float32(1.0) + distance))
            for k in range(first, ancestor_ends[seen]):
                marked[ancestors[k]] = 0
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

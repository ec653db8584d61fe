"""Compiled comparison of the words of identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.kernels.compile import nogil_kernel
from likewise.semantics.measures.names.arrays import NameArrays

if TYPE_CHECKING:
    from numpy.typing import NDArray


@nogil_kernel
def _shortens(short: NDArray[np.int32], long: NDArray[np.int32], prefix: NDArray[np.float32], skeleton: float) -> Any:
    """Return how surely `short` abbreviates `long`: as a prefix, or as letters picked in order.

    `prefix[n]` is the strength of a beginning of n letters (the last entry serves longer ones). Letters
    picked in order must begin alike and be at least three, two of them beyond the shared beginning's
    first, and must not skip a consonant before the last one picked more often than they take one.
    """
    n, m = len(short), len(long)
    if n < 2 or n >= m or short[0] != long[0]:
        return 0.0
    at = 0
    while at < n and short[at] == long[at]:
        at += 1
    if at == n:
        return prefix[min(n, len(prefix) - 1)]
    if n < 3:
        return 0.0
    picked, skipped, k = 0, 0, 0
    for i in range(m):
        if k < n and long[i] == short[k]:
            k += 1
            picked += 1
        elif k < n:
            c = long[i]
            if not (c == 97 or c == 101 or c == 105 or c == 111 or c == 117):
                skipped += 1
    return skeleton if k == n and skipped < picked else 0.0


@nogil_kernel
def word_scores(
    query_ends: NDArray[np.int64],
    query_characters: NDArray[np.int32],
    query_stems: NDArray[np.int64],
    candidate_ends: NDArray[np.int64],
    candidate_characters: NDArray[np.int32],
    candidate_stems: NDArray[np.int64],
    prefix: NDArray[np.float32],
    skeleton: float,
) -> Any:
    """Return how surely each query word and candidate word are the same: 1 for equal stems, less for abbreviations."""
    rows, columns = len(query_ends), len(candidate_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        a = query_characters[(query_ends[i - 1] if i else 0) : query_ends[i]]
        for j in range(columns):
            if query_stems[i] == candidate_stems[j]:
                out[i, j] = 1.0
                continue
            b = candidate_characters[(candidate_ends[j - 1] if j else 0) : candidate_ends[j]]
            if len(a) == 0 or len(b) == 0 or a[0] != b[0]:
                continue
            out[i, j] = _shortens(b, a, prefix, skeleton) if len(b) < len(a) else _shortens(a, b, prefix, skeleton)
    return out


@nogil_kernel
def _credit(
    best: NDArray[np.float32],
    windows: NDArray[np.int64],
    words: NDArray[np.int64],
    texts: NDArray[np.int64],
    strength: float,
    other_best: NDArray[np.float32],
) -> None:
    """Credit each of several words with an acronym of their first letters (`rh`)."""
    for w in range(len(windows)):
        for b in range(len(words)):
            if texts[words[b]] == windows[w, 0]:
                other_best[b] = max(other_best[b], strength)
                for a in range(windows[w, 1], windows[w, 2]):
                    best[a] = max(best[a], strength)


@nogil_kernel
def _power_mean(best: NDArray[np.float32], weights: NDArray[np.float32], unit: Any, leniency: float) -> Any:
    """Return the weighted power mean of words' scores and of a unit's, which weighs as much as it scores."""
    if len(best) == 1 and unit == 0.0:
        return best[0] if weights[0] > 0.0 else np.float32(0.0)
    weight, total = np.float32(unit), np.float32(unit * unit**leniency)
    for k in range(len(best)):
        weight += weights[k]
        if best[k] > 0.0:
            total += weights[k] * best[k] ** leniency
    return (total / weight) ** (np.float32(1.0) / leniency) if weight > 0.0 else np.float32(0.0)


@nogil_kernel
def coverage(
    scores: NDArray[np.float32],
    meaning: NDArray[np.float32],
    query: NameArrays,
    candidate: NameArrays,
    unit_strengths: NDArray[np.float32],
    acronym: float,
    plain: float,
    leniency: float,
    query_share: float,
) -> Any:
    """Return for each pair the covered share of the query times the covered share of the candidate.

    The asked one's share is raised to `asked_share`, the seen one's to the rest. Each is the weighted power mean
    of its words' best scores; the lower the exponent `leniency`, the more a word that is not accounted for
    counts against the rest. A unit whose quantity the other term names counts as one more word that is
    accounted for, so `value` in degrees can be a temperature.
    """
    rows, columns = len(query.ends), len(candidate.ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    longest_query, longest_candidate = 0, 0
    for i in range(rows):
        longest_query = max(longest_query, query.ends[i] - (query.ends[i - 1] if i else 0))
    for j in range(columns):
        longest_candidate = max(longest_candidate, candidate.ends[j] - (candidate.ends[j - 1] if j else 0))
    query_best = np.zeros(longest_query, dtype=np.float32)
    candidate_best = np.zeros(longest_candidate, dtype=np.float32)
    for i in range(rows):
        a0, a1 = (query.ends[i - 1] if i else 0), query.ends[i]
        aw = query.windows[(query.window_ends[i - 1] if i else 0) : query.window_ends[i]]
        au0, au1 = (query.unit_ends[i - 1] if i else 0), query.unit_ends[i]
        for j in range(columns):
            b0, b1 = (candidate.ends[j - 1] if j else 0), candidate.ends[j]
            if a0 == a1 or b0 == b1:
                continue
            forth, back = query_best[: a1 - a0], candidate_best[: b1 - b0]
            forth[:] = 0.0
            back[:] = 0.0
            for a in range(a0, a1):
                for b in range(b0, b1):
                    p = scores[query.words[a], candidate.words[b]]
                    if p < 1.0 and query.plain[i] and candidate.plain[j]:
                        p *= plain
                    p = max(p, meaning[query.words[a], candidate.words[b]])
                    forth[a - a0] = max(forth[a - a0], p)
                    back[b - b0] = max(back[b - b0], p)
            bw = candidate.windows[(candidate.window_ends[j - 1] if j else 0) : candidate.window_ends[j]]
            _credit(forth, aw, candidate.words[b0:b1], candidate.texts, acronym, back)
            _credit(back, bw, query.words[a0:a1], query.texts, acronym, forth)
            candidate_unit, query_unit = np.float32(0.0), np.float32(0.0)
            for u in range(candidate.unit_ends[j - 1] if j else 0, candidate.unit_ends[j]):
                for a in range(a0, a1):
                    if query.stems[query.words[a]] == candidate.units[u, 0]:
                        forth[a - a0] = max(forth[a - a0], unit_strengths[candidate.units[u, 1]])
                        candidate_unit = max(candidate_unit, unit_strengths[candidate.units[u, 1]])
            for u in range(au0, au1):
                for b in range(b0, b1):
                    if candidate.stems[candidate.words[b]] == query.units[u, 0]:
                        back[b - b0] = max(back[b - b0], unit_strengths[query.units[u, 1]])
                        query_unit = max(query_unit, unit_strengths[query.units[u, 1]])
            covered = _power_mean(forth, query.weights[a0:a1], query_unit, leniency)
            if covered > 0.0:
                others = _power_mean(back, candidate.weights[b0:b1], candidate_unit, leniency)
                out[i, j] = (
                    covered if covered == others else covered**query_share * others ** (np.float32(1.0) - query_share)
                )
    return out

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
    """How surely `short` abbreviates `long`: as its beginning, or as letters picked from it in order.

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
    taken, skipped, k = 0, 0, 0
    for i in range(m):
        if k < n and long[i] == short[k]:
            k += 1
            taken += 1
        elif k < n:
            c = long[i]
            if not (c == 97 or c == 101 or c == 105 or c == 111 or c == 117):
                skipped += 1
    return skeleton if k == n and skipped < taken else 0.0


@nogil_kernel
def word_scores(
    asked_ends: NDArray[np.int64],
    asked_letters: NDArray[np.int32],
    asked_stems: NDArray[np.int64],
    seen_ends: NDArray[np.int64],
    seen_letters: NDArray[np.int32],
    seen_stems: NDArray[np.int64],
    prefix: NDArray[np.float32],
    skeleton: float,
) -> Any:
    """How surely each asked word and each seen one are the same: 1 for equal stems, less for abbreviations."""
    rows, columns = len(asked_ends), len(seen_ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    for i in range(rows):
        a = asked_letters[(asked_ends[i - 1] if i else 0) : asked_ends[i]]
        for j in range(columns):
            if asked_stems[i] == seen_stems[j]:
                out[i, j] = 1.0
                continue
            b = seen_letters[(seen_ends[j - 1] if j else 0) : seen_ends[j]]
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
    """Lets a word that spells the first letters of several words (`rh`) stand for each of them."""
    for w in range(len(windows)):
        for b in range(len(words)):
            if texts[words[b]] == windows[w, 0]:
                other_best[b] = max(other_best[b], strength)
                for a in range(windows[w, 1], windows[w, 2]):
                    best[a] = max(best[a], strength)


@nogil_kernel
def _power_mean(best: NDArray[np.float32], weights: NDArray[np.float32], unit: Any, leniency: float) -> Any:
    """The weighted power mean of words' scores and of a unit's, which weighs as much as it scores."""
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
    asked: NameArrays,
    seen: NameArrays,
    unit_strengths: NDArray[np.float32],
    acronym: float,
    plain: float,
    leniency: float,
    asked_share: float,
) -> Any:
    """For each pair of terms: how much of the asked one, and how much of the seen one, is accounted for, multiplied.

    The asked one's share is raised to `asked_share`, the seen one's to the rest. Each is the weighted power mean
    of its words' best scores; the lower the exponent `leniency`, the more a word that is not accounted for
    counts against the rest. A unit whose quantity the other term names counts as one more word that is
    accounted for, so `value` in degrees can be a temperature.
    """
    rows, columns = len(asked.ends), len(seen.ends)
    out = np.zeros((rows, columns), dtype=np.float32)
    longest_asked, longest_seen = 0, 0
    for i in range(rows):
        longest_asked = max(longest_asked, asked.ends[i] - (asked.ends[i - 1] if i else 0))
    for j in range(columns):
        longest_seen = max(longest_seen, seen.ends[j] - (seen.ends[j - 1] if j else 0))
    asked_best = np.zeros(longest_asked, dtype=np.float32)
    seen_best = np.zeros(longest_seen, dtype=np.float32)
    for i in range(rows):
        a0, a1 = (asked.ends[i - 1] if i else 0), asked.ends[i]
        aw = asked.windows[(asked.window_ends[i - 1] if i else 0) : asked.window_ends[i]]
        au0, au1 = (asked.unit_ends[i - 1] if i else 0), asked.unit_ends[i]
        for j in range(columns):
            b0, b1 = (seen.ends[j - 1] if j else 0), seen.ends[j]
            if a0 == a1 or b0 == b1:
                continue
            forth, back = asked_best[: a1 - a0], seen_best[: b1 - b0]
            forth[:] = 0.0
            back[:] = 0.0
            for a in range(a0, a1):
                for b in range(b0, b1):
                    p = scores[asked.words[a], seen.words[b]]
                    if p < 1.0 and asked.plain[i] and seen.plain[j]:
                        p *= plain
                    p = max(p, meaning[asked.words[a], seen.words[b]])
                    forth[a - a0] = max(forth[a - a0], p)
                    back[b - b0] = max(back[b - b0], p)
            bw = seen.windows[(seen.window_ends[j - 1] if j else 0) : seen.window_ends[j]]
            _credit(forth, aw, seen.words[b0:b1], seen.texts, acronym, back)
            _credit(back, bw, asked.words[a0:a1], asked.texts, acronym, forth)
            seen_unit, asked_unit = np.float32(0.0), np.float32(0.0)
            for u in range(seen.unit_ends[j - 1] if j else 0, seen.unit_ends[j]):
                for a in range(a0, a1):
                    if asked.stems[asked.words[a]] == seen.units[u, 0]:
                        forth[a - a0] = max(forth[a - a0], unit_strengths[seen.units[u, 1]])
                        seen_unit = max(seen_unit, unit_strengths[seen.units[u, 1]])
            for u in range(au0, au1):
                for b in range(b0, b1):
                    if seen.stems[seen.words[b]] == asked.units[u, 0]:
                        back[b - b0] = max(back[b - b0], unit_strengths[asked.units[u, 1]])
                        asked_unit = max(asked_unit, unit_strengths[asked.units[u, 1]])
            covered = _power_mean(forth, asked.weights[a0:a1], asked_unit, leniency)
            if covered > 0.0:
                others = _power_mean(back, seen.weights[b0:b1], seen_unit, leniency)
                out[i, j] = (
                    covered if covered == others else covered**asked_share * others ** (np.float32(1.0) - asked_share)
                )
    return out

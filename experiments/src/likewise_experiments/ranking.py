"""Quality of a ranking against a ground truth: maximal F1, average precision, interpolated precision.

Items with equal scores are taken together: a ranking cannot say which of them comes first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RECALL_POINTS = np.linspace(0.0, 1.0, 11)


def curve(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Precision and recall after each distinct score, the highest first.

    >>> precision, recall = curve(np.array([0.9, 0.5, 0.5]), np.array([True, False, True]))
    >>> precision.round(3).tolist(), recall.tolist()
    ([1.0, 0.667], [0.5, 1.0])
    """
    order = np.argsort(-scores, kind="stable")
    ranked, hits = scores[order], np.cumsum(relevant[order])
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    return hits[last] / (last + 1), hits[last] / max(1, int(relevant.sum()))


def maximal_f1(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    """The best F1 that any cut of the ranking reaches.

    >>> round(maximal_f1(np.array([0.9, 0.5, 0.4]), np.array([True, False, True])), 3)
    0.8
    """
    precision, recall = curve(scores, relevant)
    total = precision + recall
    return float(np.max(np.where(total > 0, 2 * precision * recall / np.maximum(total, 1e-12), 0.0), initial=0.0))


def average_precision(scores: NDArray[np.float64], relevant: NDArray[np.bool_]) -> float:
    """The area under the precision-recall steps.

    >>> average_precision(np.array([0.9, 0.5, 0.4]), np.array([True, False, True])).__round__(3)
    0.833
    """
    precision, recall = curve(scores, relevant)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def interpolated_precision(
    scores: NDArray[np.float64], relevant: NDArray[np.bool_], ascending: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The highest precision at or beyond each of the eleven recall points 0, 0.1, ..., 1.

    `ascending` are the scores sorted, for those who have them. Cuts at the scores of relevant items are all that count:
    any other has the recall of the one before it, and less precision.

    >>> interpolated_precision(np.array([0.9, 0.5]), np.array([True, False])).tolist()[-1]
    1.0
    """
    ranked = np.sort(scores) if ascending is None else ascending
    hits = np.sort(scores[relevant])
    if not len(hits):
        return np.zeros(len(RECALL_POINTS))
    found = len(hits) - np.searchsorted(hits, hits)  # relevant ones at this score or above
    precision = found / (len(ranked) - np.searchsorted(ranked, hits))
    best = np.maximum.accumulate(precision)  # from the lowest score, which has all recall, upwards
    reached = np.searchsorted(-found / len(hits), -(RECALL_POINTS - 1e-12), side="right") - 1
    return best[reached]

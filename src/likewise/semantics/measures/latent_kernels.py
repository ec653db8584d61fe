"""The sum of documents' latent rows, read as the small integers they are stored as."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.kernels.compile import unlocked


@unlocked
def weighted_sum(rows: Any, scales: Any, chosen: Any, weights: Any) -> Any:
    """The sum of the chosen rows, each times its scale and its weight."""
    out = np.zeros(rows.shape[1], dtype=np.float32)
    for k in range(len(chosen)):
        row = rows[chosen[k]]
        factor = np.float32(weights[k] * scales[chosen[k]])
        for d in range(len(out)):
            out[d] += factor * np.float32(row[d])
    return out

"""How probable it is, at each score, that what was met was meant: fitted on pairs that people judged.

`python -m likewise.evaluation.sameness.probability CALIBRATION PAIRS...` fits a curve for `sameness` and one for
`combine` and writes them into a calibration. Pools of adjacent violators (Ayer et al. 1955) make the shares of yes
rise with the score; a little is added to both sides, so that no finite sample makes anything certain but equality.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from likewise.evaluation.sameness.experiment import pair_scores, read_pairs
from likewise.model.probability import ProbabilityCurve
from likewise.semantics.calibration import read_calibration
from likewise.semantics.library import load_space

if TYPE_CHECKING:
    from numpy.typing import NDArray

KNOTS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WIDTH: Final = 0.1  # scores this near to a knot count for it, the nearer the more
ADDED: Final = 0.5  # pairs that are the same, and that are not, added to each knot
MEASURES: Final = ("sameness", "combine")


def fit_curve(scores: NDArray[np.float64], same: NDArray[np.bool_]) -> ProbabilityCurve:
    """The curve of judged pairs.

    >>> curve = fit_curve(np.array([0.1, 0.2, 0.8, 0.9] * 9), np.array([False, False, True, True] * 9))
    >>> curve.of(0.2) < 0.2, curve.of(0.85) > 0.8, curve.of(1.0)
    (True, True, 1.0)
    """
    shares, weights = [], []
    for knot in KNOTS:
        near = np.clip(1 - np.abs(scores - knot) / WIDTH, 0, None)
        shares.append((float(near[same].sum()) + ADDED) / (float(near.sum()) + 2 * ADDED))
        weights.append(float(near.sum()) + 2 * ADDED)
    risen = _risen(shares, weights)
    return ProbabilityCurve((0.0, *KNOTS, 1.0), (0.0, *(round(share, 4) for share in risen), 1.0))


def _risen(shares: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The nearest sequence that never falls."""
    pools: list[list[float]] = []  # mean, weight, length
    for share, weight in zip(shares, weights, strict=True):
        pools.append([share, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, heavy, length = pools.pop()
            before = pools[-1]
            total = before[1] + heavy
            pools[-1] = [(before[0] * before[1] + mean * heavy) / total, total, before[2] + length]
    return [mean for mean, _, length in pools for _ in range(int(length))]


def calibrate(calibration: Path, files: Sequence[Path]) -> dict[str, ProbabilityCurve]:
    """Fit the curves on the pairs of some files, and write them into the calibration; nothing else in it changes."""
    pairs = [pair for path in files for pair in read_pairs(path)]
    same = np.array([pair.same for pair in pairs])
    space = load_space()
    curves = {name: fit_curve(pair_scores(space.measure(name), pairs), same) for name in MEASURES}
    kept = read_calibration(calibration.read_bytes())
    written = msgspec.structs.replace(kept, probability={**kept.probability, **curves})
    calibration.write_bytes(msgspec.json.format(msgspec.json.encode(written, order="sorted"), indent=1) + b"\n")
    return curves


if __name__ == "__main__":
    for name, curve in calibrate(Path(sys.argv[1]), [Path(file) for file in sys.argv[2:]]).items():
        print(name, curve.probabilities)

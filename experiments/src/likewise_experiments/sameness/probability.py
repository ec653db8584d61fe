"""How probable it is, at each score, that what was met was meant: fitted on pairs that people judged.

`python -m likewise_experiments.sameness.probability CALIBRATION PAIRS... [--vendors FOLDER] [--payloads]` fits a curve
for `sameness` and one for `combine` and writes them into a calibration. Of pairs that people write one by one half
are the same; of a maker's attributes few are what a phrase means, so the development makers and phrases of the vendor
benchmark are pooled with them, and the matches of the payloads of 32 domains for development. Pools of adjacent
violators (Ayer et al. 1955) make the shares of yes rise with the score; a little is added to both sides, so that no
finite sample makes anything certain but equality.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from likewise import defaults
from likewise.model.probability import ProbabilityCurve
from likewise.semantics.calibration import read_calibration
from likewise.semantics.library import load_space
from likewise_experiments.names.experiment import match_scores
from likewise_experiments.sameness.experiment import pair_scores, read_pairs
from likewise_experiments.vendor.benchmark import Benchmark, read_benchmark
from likewise_experiments.vendor.calibration import phrase_scores
from likewise_experiments.vendor.experiment import chosen_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

KNOTS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
WIDTH: Final = 0.1  # scores this near to a knot count for it, the nearer the more
ADDED: Final = 0.5  # pairs that are the same, and that are not, added to each knot
MEASURES: Final = ("sameness", "combine")
LEAST_SCORE: Final = 0.3  # of a payload's match that says something about the curve


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


def calibrate(
    calibration: Path, files: Sequence[Path], vendors: Benchmark | None = None, *, payloads: bool = False
) -> dict[str, ProbabilityCurve]:
    """Fit the curves on the pairs of some files, on phrases and attributes of a benchmark (its development part
    alone, whatever is handed in), and on the payloads for development; write them into the calibration.

    Nothing else in it changes. Payloads are matched by the default measure, so they count for it alone.
    """
    pairs = [pair for path in files for pair in read_pairs(path)]
    judged = np.array([pair.same for pair in pairs], dtype=bool)
    space = load_space()
    curves = {}
    for name in MEASURES:
        measure = space.measure(name)
        scores, same = pair_scores(measure, pairs).astype(np.float64), judged
        if vendors is not None:
            said, meant = phrase_scores(chosen_part(vendors, "development"), measure)
            scores, same = np.concatenate([scores, said.ravel()]), np.concatenate([same, meant.ravel()])
        if payloads and name == defaults.MEASURE:
            matched = np.array(match_scores("dev", LEAST_SCORE), dtype=np.float64).reshape(-1, 2)
            scores, same = np.concatenate([scores, matched[:, 0]]), np.concatenate([same, matched[:, 1] > 0])
        curves[name] = fit_curve(scores, same)
    kept = read_calibration(calibration.read_bytes())
    written = msgspec.structs.replace(kept, probability={**kept.probability, **curves})
    calibration.write_bytes(msgspec.json.format(msgspec.json.encode(written, order="sorted"), indent=1) + b"\n")
    return curves


def main() -> None:
    """The command above."""
    arguments = argparse.ArgumentParser(description="fit how probable each score is")
    arguments.add_argument("calibration", type=Path)
    arguments.add_argument("pairs", type=Path, nargs="+")
    arguments.add_argument("--vendors", type=Path, help="a folder with the vendor benchmark's three files")
    arguments.add_argument("--payloads", action="store_true", help="with the payloads of 32 domains for development")
    given = arguments.parse_args()
    names = ("lorawan-dev-events.jsonl.gz", "lorawan-dev.tsv", "subscriptions.tsv")
    vendors = read_benchmark(*(given.vendors / name for name in names)) if given.vendors else None
    for name, curve in calibrate(given.calibration, given.pairs, vendors, payloads=given.payloads).items():
        print(name, curve.probabilities)


if __name__ == "__main__":
    main()

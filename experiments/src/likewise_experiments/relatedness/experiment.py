"""How well a measure's scores follow people's judgements: Spearman's rank correlation on files of pairs.

Finkelstein, L. et al.: Placing search in context, ACM TOIS 20(1), 2002, introduced the first such set
(WordSim-353) and this way of using it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from likewise.errors import FormatError
from likewise.semantics.measure import Measure, Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.space import Space


class RatedPair(msgspec.Struct, frozen=True):
    """Two terms and how related people find them."""

    first: str
    second: str
    score: float


class RelatednessResult(msgspec.Struct, frozen=True):
    """One file's result; `unknown` counts the pairs with a term the space does not know."""

    file: str
    measure: str
    space: str
    pairs: int
    unknown: int
    spearman: float


def read_judgements(path: str | Path) -> list[RatedPair]:
    """The pairs of a file: `word word score` on each line, tabs between them where terms have several words.

    Empty lines and lines that begin with `#` are skipped.
    """
    out = []
    with Path(path).open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            parts = [part.strip() for part in text.split("\t")] if "\t" in text else text.split()
            try:
                first, second, score = parts[:3]
                out.append(RatedPair(first, second, float(score)))
            except ValueError:
                raise FormatError(
                    f"{path}, line {number}: expected two terms and a score, with tabs if a term has blanks, "
                    f"found {text[:60]!r}"
                ) from None
    if len(out) < 2:
        raise FormatError(f"{path} holds {len(out)} pairs; a rank correlation needs at least 2")
    return out


def evaluate(space: Space, path: str | Path, measure: Measure | None = None) -> RelatednessResult:
    """Spearman's correlation between a file's judgements and a measure's scores."""
    chosen = measure or space.measure()
    judgements = read_judgements(path)
    unknown = sum(not (space.vectors.has_token(j.first) and space.vectors.has_token(j.second)) for j in judgements)
    scores = pair_scores(chosen, [(j.first, j.second) for j in judgements])
    correlation = spearman(scores, np.array([j.score for j in judgements]))
    return RelatednessResult(Path(path).name, chosen.name, space.name, len(judgements), unknown, round(correlation, 4))


def pair_scores(measure: Measure, pairs: list[tuple[str, str]], block: int = 128) -> NDArray[np.float64]:
    """The score of each pair; computed in blocks, within which a measure compares everything with everything."""
    out = np.empty(len(pairs))
    for start in range(0, len(pairs), block):
        part = pairs[start : start + block]
        matrix = measure.matrix([Term(a) for a, _ in part], [Term(b) for _, b in part])
        out[start : start + block] = np.diag(matrix)
    return out


def spearman(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Spearman's rank correlation, ties sharing their mean rank; 0 if one side is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0]))
    0.5
    """
    ranks = [_ranks(a), _ranks(b)]
    deviations = [r - r.mean() for r in ranks]
    scale = float(np.sqrt((deviations[0] ** 2).sum() * (deviations[1] ** 2).sum()))
    return float((deviations[0] * deviations[1]).sum()) / scale if scale else 0.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: NDArray[np.float64] = (last - (counts - 1) / 2)[place]
    return mean

"""What the sub-experiments say, beside what the paper says (Hasan and Curry 2014, section 5.3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np

from likewise_experiments.thematic.sub_experiment import SubExperiment
from likewise_experiments.thematic.throughput import Throughput

PAPER: Final = {
    "quality": "baseline 62 %; better in over 70 % of the cells, there 62-85 %, 71 % on average; diagonal 59-62 %; "
    "lower triangle down to 4 %; mean standard error 7 %",
    "throughput": "baseline 202 events/s; faster in over 92 % of the cells, there 202-838, 320 on average; slowest 95",
}


class Cell(msgspec.Struct, frozen=True):
    """One combination of sizes: the mean of its samples and its standard error (the paper: standard deviation)."""

    event_size: int
    subscription_size: int
    mean: float
    error: float
    samples: int


class Headline(msgspec.Struct, frozen=True):
    """The paper's sentences, recomputed: cells against a baseline.

    `above_*` are over the cells above the baseline; `interval` is the 95 % interval of the mean over all cells.
    """

    baseline: float
    cells: int
    share_above: float
    above_least: float
    above_most: float
    above_mean: float
    mean: float
    interval: tuple[float, float]
    best: Cell
    worst: Cell
    diagonal_least: float
    diagonal_most: float
    larger_event_theme_least: float
    larger_event_theme_mean: float
    larger_subscription_theme_mean: float
    mean_error: float


def cells(results: Iterable[SubExperiment | Throughput], *, wider: bool = False) -> list[Cell]:
    """The cells of a grid, by size of the event theme, then of the subscription theme.

    >>> [(c.mean, round(c.error, 2)) for c in cells([Throughput(1, 2, 0, 10.0), Throughput(1, 2, 1, 20.0)])]
    [(15.0, 7.07)]
    """
    found: dict[tuple[int, int], list[float]] = {}
    for r in results:
        value = r.events_per_s if isinstance(r, Throughput) else r.wider_f1 if wider else r.f1
        found.setdefault((r.event_size, r.subscription_size), []).append(value)
    return [
        Cell(e, s, float(np.mean(v)), float(np.std(v, ddof=1)) if len(v) > 1 else 0.0, len(v))
        for (e, s), v in sorted(found.items())
    ]


def headline(found: list[Cell], baseline: float) -> Headline:
    """The sentences for one grid.

    >>> headline([Cell(1, 1, 0.5, 0.1, 5), Cell(1, 2, 0.8, 0.1, 5)], 0.6).share_above
    0.5
    """
    means = np.array([c.mean for c in found])
    above = means[means > baseline]
    half = 1.96 * means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0
    diagonal = [c.mean for c in found if c.event_size == c.subscription_size]
    lower = [c.mean for c in found if c.event_size > c.subscription_size]
    upper = [c.mean for c in found if c.event_size < c.subscription_size]
    return Headline(
        baseline=baseline,
        cells=len(found),
        share_above=float((means > baseline).mean()),
        above_least=float(above.min(initial=np.inf)) if len(above) else 0.0,
        above_most=float(above.max(initial=0)),
        above_mean=float(above.mean()) if len(above) else 0.0,
        mean=float(means.mean()),
        interval=(float(means.mean() - half), float(means.mean() + half)),
        best=found[int(means.argmax())],
        worst=found[int(means.argmin())],
        diagonal_least=min(diagonal, default=0.0),
        diagonal_most=max(diagonal, default=0.0),
        larger_event_theme_least=min(lower, default=0.0),
        larger_event_theme_mean=float(np.mean(lower)) if lower else 0.0,
        larger_subscription_theme_mean=float(np.mean(upper)) if upper else 0.0,
        mean_error=float(np.mean([c.error for c in found])),
    )


def sentence(told: Headline, unit: str) -> str:
    """A headline in words."""

    def show(x: float) -> str:
        return f"{100 * x:.1f} %" if unit == "F1" else f"{x:,.0f}"

    return (
        f"baseline {show(told.baseline)} {unit}; better in {100 * told.share_above:.0f} % of {told.cells} cells, "
        f"there {show(told.above_least)} to {show(told.above_most)}, {show(told.above_mean)} on average; all cells "
        f"{show(told.mean)} ({show(told.interval[0])} to {show(told.interval[1])}); best {show(told.best.mean)} at "
        f"{told.best.event_size} event and {told.best.subscription_size} subscription tags; diagonal "
        f"{show(told.diagonal_least)} to {show(told.diagonal_most)}; larger event themes down to "
        f"{show(told.larger_event_theme_least)}; mean standard error {show(told.mean_error)}"
    )

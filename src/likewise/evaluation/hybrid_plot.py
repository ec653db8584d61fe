"""The hybrid experiment as a picture: precision-recall curves, and the effect of m."""

from __future__ import annotations

from pathlib import Path

from likewise.defaults import HYBRID_M
from likewise.errors import MissingDependency
from likewise.evaluation.hybrid import RANKS, Report
from likewise.evaluation.ranking import RECALL_POINTS

COLOURS = {"hybrid": "#0b6e4f", "jcn": "#c1666b", "esa": "#4a6fa5"}


def plot(report: Report, path: Path) -> None:
    """Write the picture."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("matplotlib", "plots") from None
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for variant, colour in COLOURS.items():
        best = report.best(variant, HYBRID_M)
        left.plot(
            RECALL_POINTS, best.precision, color=colour, marker="o", ms=4, label=f"{variant} ({best.maximal_f1:.2f})"
        )
        right.plot(
            RANKS, [report.best(variant, m).maximal_f1 for m in RANKS], color=colour, marker="o", ms=4, label=variant
        )
    left.set(
        xlabel="recall", ylabel="precision (interpolated, mean)", ylim=(0, 1.02), title=f"m = {HYBRID_M}; maximal F1"
    )
    right.set(
        xlabel="m: properties that may answer a statement", ylabel="maximal F1", ylim=(0, 1.02), title="The effect of m"
    )
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=130)

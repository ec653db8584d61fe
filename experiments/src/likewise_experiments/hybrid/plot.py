"""The hybrid experiment as a picture: precision-recall curves, and the effect of m."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from likewise.defaults import HYBRID_M
from likewise_experiments.charts.line_charts import Panel, line_charts
from likewise_experiments.charts.pictures import write_png
from likewise_experiments.hybrid.experiment import RANKS, VARIANTS, Report
from likewise_experiments.ranking import RECALL_POINTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def hybrid_figure(report: Report) -> Figure:
    """Two charts: mean interpolated precision at eleven recall points, and maximal F1 against m."""
    best = {variant: report.best(variant, HYBRID_M) for variant in VARIANTS}
    recall = RECALL_POINTS.tolist()
    curves = {f"{v} ({c.maximal_f1:.2f})": (recall, c.precision) for v, c in best.items()}
    ranks = {str(v): (list(RANKS), [report.best(v, m).maximal_f1 for m in RANKS]) for v in VARIANTS}
    return line_charts(
        [
            Panel(f"Precision and recall, m = {HYBRID_M}", "recall", "precision (interpolated, mean)", curves),
            Panel("The effect of m", "m: properties that may answer a statement", "maximal F1", ranks),
        ]
    )


def plot(report: Report, path: Path) -> None:
    """Write the picture as PNG."""
    write_png(hybrid_figure(report), path)

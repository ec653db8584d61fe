"""The hybrid experiment as a picture: precision-recall curves, and the effect of m."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from likewise.defaults import HYBRID_M
from likewise_experiments.charts.line_charts import Panel, line_charts
from likewise_experiments.charts.pictures import write_png
from likewise_experiments.hybrid.experiment import BINS, RANKS, Report
from likewise_experiments.ranking import RECALL_POINTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def hybrid_figure(report: Report) -> Figure:
    """Three charts: precision at eleven recall points, maximal F1 against m, and the histogram of fP and fV."""
    best = {variant: report.best(variant, HYBRID_M) for variant in report.variants}
    recall = RECALL_POINTS.tolist()
    curves = {f"{v} ({c.maximal_f1:.2f})": (recall, c.precision) for v, c in best.items()}
    ranks = {str(v): (list(RANKS), [report.best(v, m).maximal_f1 for m in RANKS]) for v in report.variants}
    middles = [(place + 0.5) / BINS for place in range(BINS)]
    names = {"jcn": "fP by JCn", "esa": "fV by ESA"}
    shares = {
        names[name]: (middles, [count / max(1, sum(counts)) for count in counts])
        for name, counts in report.histograms.items()
    }
    return line_charts(
        [
            Panel(f"Precision and recall, m = {HYBRID_M}", "recall", "precision (interpolated, mean)", curves),
            Panel("The effect of m", "m: properties that may answer a statement", "maximal F1", ranks),
            Panel("Scores of pairs", "score, in tenths", "share of the pairs", shares),
        ]
    )


def plot(report: Report, path: Path) -> None:
    """Write the picture as PNG."""
    write_png(hybrid_figure(report), path)

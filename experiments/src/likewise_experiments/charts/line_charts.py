"""Line charts and bars of evaluations: precision and recall, the effect of m, what judgements are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from likewise_experiments.charts.pictures import INK, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Told apart also without red or green (Okabe and Ito 2008), and readable on white and on black.
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8c6d1f", "#56b4e9")
MARKERS: Final = ("o", "s", "^", "D", "v", "P")
Lines = Mapping[str, tuple[Sequence[float], Sequence[float]]]


class Panel:
    """One chart: a title, the axes' names, and lines by their names."""

    def __init__(
        self, title: str, x: str, y: str, lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    ) -> None:
        self.title, self.x, self.y, self.lines = title, x, y, dict(lines)


def line_charts(panels: Sequence[Panel], *, lowest: float = 0.0, highest: float = 1.0) -> Figure:
    """Charts side by side.

    >>> figure = line_charts([Panel("F1", "m", "F1", {"both": ([1, 2], [0.5, 0.6])})])
    >>> len(figure.axes)
    1
    """
    figure = new_figure(4.9 * len(panels), 3.9)
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        for number, (name, (x, y)) in enumerate(panel.lines.items()):
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            axes.plot(x, y, color=colour, marker=marker, markersize=5, linewidth=1.8, label=name)
        axes.set(xlabel=panel.x, ylabel=panel.y, ylim=(lowest, highest + 0.02 * (highest - lowest)))
        axes.set_title(panel.title, fontsize=12, fontweight="bold", loc="left")
        _plain(axes)
        axes.legend(frameon=False, fontsize=9.5)
    return figure


def bars(values: Mapping[str, float], title: str, x: str, *, mark: float | None = None) -> Figure:
    """Bars to the right, the longest first; `mark` draws a line across them.

    >>> bars({"a": 0.5, "b": 0.7}, "F1 by vendor", "F1").axes[0].get_yticklabels()[0].get_text()
    'b'
    """
    ranked = sorted(values.items(), key=lambda pair: -pair[1])
    figure = new_figure(8.6, 1.0 + 0.24 * len(ranked))
    axes = figure.subplots()
    axes.barh([name for name, _ in ranked], [value for _, value in ranked], color=COLOURS[0], height=0.66)
    axes.invert_yaxis()
    axes.set(xlabel=x, xlim=(0, 1))
    axes.set_title(title, fontsize=12, fontweight="bold", loc="left")
    _plain(axes)
    axes.margins(y=0.01)
    axes.tick_params(axis="y", labelsize=9.5, length=0)
    if mark is not None:
        axes.axvline(mark, color=INK, linewidth=1, linestyle="--", alpha=0.7)
    return figure


def _plain(axes: Axes) -> None:
    axes.grid(color=INK, alpha=0.15, linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)

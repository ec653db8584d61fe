"""Heat maps of a grid of theme sizes, like Figures 7 to 10 of Hasan and Curry 2014."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise_experiments.charts.pictures import new_figure
from likewise_experiments.thematic.report import Cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def heat_map_figure(
    cells: list[Cell], title: str, *, error: bool = False, baseline: float | None = None, percent: bool = False
) -> Figure:
    """One map: event tags to the right, subscription tags upwards, the dashed line where both are alike.

    Means are coloured by the side of the baseline they are on, blue-green above and brown below; errors, and means
    that are all on one side, by size. A ring marks the highest cell. `percent` shows shares as percentages.
    """
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.ticker import FuncFormatter

    across = sorted({c.event_size for c in cells})
    upward = sorted({c.subscription_size for c in cells})
    grid = np.full((len(upward), len(across)), np.nan)
    for c in cells:
        grid[upward.index(c.subscription_size), across.index(c.event_size)] = c.error if error else c.mean
    low, high = float(np.nanmin(grid)), float(np.nanmax(grid))
    divided = not error and baseline is not None and low < baseline < high
    figure = new_figure(6.4, 5.9)
    axes = figure.subplots()
    drawn = axes.pcolormesh(
        np.arange(len(across) + 1) - 0.5,
        np.arange(len(upward) + 1) - 0.5,
        grid,
        cmap="BrBG" if divided else "cividis",
        norm=TwoSlopeNorm(baseline, low, high) if divided and baseline is not None else None,
        edgecolors="face",  # without it the page shines through between cells
        linewidth=0.4,
    )
    show = FuncFormatter(lambda v, _: _shown(v, percent))
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8, aspect=30, format=show)
    bar.outline.set_visible(False)
    if divided and baseline is not None:
        bar.set_ticks([low, (low + baseline) / 2, baseline, (baseline + high) / 2, high])
    ends = (-0.5, len(across) - 0.5), (-0.5, len(upward) - 0.5)
    if across == upward:
        axes.plot(*ends, color="#7a7a7a", linewidth=0.9, linestyle=(0, (4, 4)))  # seen on any cell, on any page
    at = np.unravel_index(int(np.nanargmax(grid)), grid.shape)
    axes.plot([at[1]], [at[0]], marker="o", mfc="none", mec="#d1006c", mew=2, ms=max(7, 150 / len(across)))
    for axis, sizes in ((axes.xaxis, across), (axes.yaxis, upward)):
        step = max(1, -(-len(sizes) // 10))
        axis.set_ticks(range(0, len(sizes), step), [str(n) for n in sizes[::step]])
    axes.set(xlabel="tags of the event theme", ylabel="tags of the subscription theme", xlim=ends[0], ylim=ends[1])
    axes.set_aspect("equal")
    for side in axes.spines.values():
        side.set_visible(False)
    best = f"highest {_shown(high, percent)} at {across[at[1]]} event and {upward[at[0]]} subscription tags"
    without = "" if baseline is None or error else f"; without themes {_shown(baseline, percent)}"
    axes.set_title(f"{title}\n", fontsize=12, fontweight="bold", loc="left")
    axes.text(0, 1.02, best + without, transform=axes.transAxes, fontsize=9.5).set_in_layout(False)
    return figure


def _shown(value: float, percent: bool) -> str:
    """A value for people.

    >>> _shown(0.6721, True), _shown(38752.4, False)
    ('67.2 %', '38,752')
    """
    return f"{100 * value:.1f} %" if percent else f"{value:,.0f}"

"""Heat maps of a grid of theme sizes, like Figures 7 to 10 of Hasan and Curry 2014."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from likewise.errors import MissingDependency
from likewise.evaluation.thematic_report import Cell


def heat_map(cells: list[Cell], path: Path, title: str, *, error: bool = False, baseline: float | None = None) -> None:
    """Write one map: event tags to the right, subscription tags upwards; squares above the baseline, circles below."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("matplotlib", "plots") from None
    across = sorted({c.event_size for c in cells})
    upward = sorted({c.subscription_size for c in cells})
    x = np.array([across.index(c.event_size) for c in cells])
    y = np.array([upward.index(c.subscription_size) for c in cells])
    colour = np.array([c.error if error else c.mean for c in cells])
    above = np.array([baseline is None or c.mean > baseline for c in cells])
    size = 6.4 * 72 / max(len(across), len(upward))
    figure = Figure(figsize=(8.2, 7.2), layout="constrained")
    axes = figure.subplots()
    low, high = float(colour.min()), float(max(colour.max(), colour.min() + 1e-9))
    for chosen, marker in ((above, "s"), (~above, "o")):
        if chosen.any():
            area = (0.8 * size) ** 2 * (1 if marker == "s" else 0.6)
            drawn = axes.scatter(
                x[chosen], y[chosen], c=colour[chosen], s=area, marker=marker, cmap="turbo", vmin=low, vmax=high
            )
    figure.colorbar(drawn, ax=axes, shrink=0.85)
    step = max(1, len(across) // 15)
    axes.set_xticks(range(0, len(across), step), [str(n) for n in across[::step]])
    axes.set_yticks(range(0, len(upward), step), [str(n) for n in upward[::step]])
    axes.set(xlabel="tags of the event theme", ylabel="tags of the subscription theme", title=title)
    axes.set_xlim(-0.7, len(across) - 0.3)
    axes.set_ylim(-0.7, len(upward) - 0.3)
    axes.set_aspect("equal")
    if baseline is not None:
        shown = f"{baseline:.3f}" if baseline < 1 else f"{baseline:,.0f}"
        axes.set_title(f"{title}\nsquares: above the baseline {shown}; circles: below it", fontsize=11)
    figure.savefig(path, dpi=120)

"""Figures for sections: SVG in the page's colours, or a word on why there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from likewise.errors import MissingDependency
from likewise_experiments.charts.pictures import as_svg, page_colours
from likewise_experiments.report.sections import Block, Figure, Figures, Text

if TYPE_CHECKING:
    import matplotlib.figure


def drawn(name: str, caption: str, make: Callable[[], matplotlib.figure.Figure]) -> Block:
    """One figure; `name` must be the only one of its kind on the page."""
    try:
        with page_colours():
            return Figure(caption, as_svg(make(), name))
    except MissingDependency as error:
        return Text(f"No figure: {error}")


def drawn_beside(
    name: str, captions: Mapping[str, str], make: Callable[[], Mapping[str, matplotlib.figure.Figure]]
) -> Block:
    """Several figures side by side, those that were made, each with its caption."""
    try:
        with page_colours():
            made = make()
            return Figures(tuple(Figure(captions[key], as_svg(f, f"{name}-{key}")) for key, f in made.items()))
    except MissingDependency as error:
        return Text(f"No figures: {error}")

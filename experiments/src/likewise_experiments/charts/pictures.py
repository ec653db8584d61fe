"""Figures as files and as SVG for a page: text and lines of an SVG take the page's own colour, light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from likewise.errors import MissingDependency

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK: Final = "#010203"  # stands for the page's text colour while an SVG is drawn
REM: Final = 6.5  # of the page, for each inch of a figure
_INKED: Final = ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches; says what to install if figures cannot be drawn.

    >>> new_figure(4, 3).get_size_inches().tolist()
    [4.0, 3.0]
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("matplotlib", "plots") from None
    return Figure(figsize=(width, height), layout="constrained")


def write_png(figure: Figure, path: Path) -> None:
    """The figure as a PNG file on white."""
    figure.savefig(path, dpi=130, facecolor="white")


@contextmanager
def page_colours() -> Iterator[None]:
    """Figures made in the block have lines and text in `INK` and no background, for `as_svg`."""
    try:
        import matplotlib
    except ImportError:
        raise MissingDependency("matplotlib", "plots") from None
    none = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    settings: Any = dict.fromkeys(_INKED, INK) | dict.fromkeys(none, "none")
    with matplotlib.rc_context({**settings, "svg.fonttype": "none", "font.size": 11}):
        yield


def as_svg(figure: Figure, name: str) -> str:
    """The figure as an `<svg>` element that scales with the page; `name` keeps its inner names its own.

    >>> with page_colours():
    ...     text = as_svg(new_figure(2, 1), "empty")
    >>> text.startswith("<svg"), INK in text, 'width="144pt"' in text
    (True, False, False)
    """
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head, rest = text.split(">", 1)
    head = re.sub(r' (?:width|height)="[^"]*"', "", head)
    rest = re.sub(r'id="([\w.]+_\d+)"', rf'id="{name}-\1"', rest)  # figure_1, axes_1: nothing refers to them
    widest = f"max-width: {REM * figure.get_figwidth():.0f}rem"  # a small figure does not fill the page
    return f'{head} role="img" style="{widest}">{rest}'.replace(INK, "currentColor").strip()

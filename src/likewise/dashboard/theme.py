"""The style of the dashboard: one style sheet for light and dark, wide and narrow."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

CSS: Final = files("likewise.dashboard").joinpath("look.css").read_text(encoding="utf-8")


def score_badge(score: float | None, kind: str = "") -> str:
    """Return a score as a small coloured badge; `kind` is '' for a match, 'miss' for a near miss, 'no' for none.

    >>> score_badge(0.714)
    '<span class="lw-score">0.71</span>'
    """
    shown = "–" if score is None else f"{score:.2f}"
    return f'<span class="lw-score{f" lw-{kind}" if kind else ""}">{shown}</span>'


def table(rows: str) -> str:
    """Return rows as a table that fills the width.

    >>> table("<tr></tr>")
    '<div class="lw-scroll"><table class="lw-table"><tr></tr></table></div>'
    """
    return f'<div class="lw-scroll"><table class="lw-table">{rows}</table></div>'

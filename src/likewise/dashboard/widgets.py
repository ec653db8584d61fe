"""The parts that panels are made of: HTML of our own, panels with a title, rows of a list, buttons, scores, tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nicegui import ui


def html(content: str = "") -> ui.html:
    """Return HTML that this package made: every text of somebody else's in it is escaped already."""
    return ui.html(content, sanitize=False)


def title(text: str) -> ui.html:
    """Return the title of a panel."""
    return html(f"<h2 class='lw-title'>{text}</h2>")


def panel(heading: str) -> ui.column:
    """Return a panel with its title; use it as a context manager to fill it."""
    column = ui.column().classes("lw-panel")
    with column:
        title(heading)
    return column


def list_row() -> ui.row:
    """Return a row of a list: a text that takes the room there is, and buttons behind it."""
    return ui.row().classes("w-full no-wrap items-center lw-row").style("display:flex !important")


def icon_button(icon: str, label: str, on_click: Callable[..., Any], look: str = "") -> ui.button:
    """Return a round button with a picture; `label` is what is read aloud of it, `look` further properties."""
    return ui.button(icon=icon, on_click=on_click).props(f"flat round dense {look} aria-label='{label}'")


def attribute_text(text: str) -> str:
    """Replace the characters that may not be part of an HTML attribute.

    >>> attribute_text("it's > 5")
    'it s   5'
    """
    return re.sub(r"[^\w .-]", " ", text)


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


def data_table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]], more: str = "") -> str:
    """Return rows of cells in HTML as a table; each column is its head, and the classes of its cells.

    `more` stands in a row of its own below the others. A head may be broken into lines where its numbers may not.

    >>> "<th class='lw-right'>wait</th>" in data_table([("who", ""), ("wait", "lw-n lw-right")], [["ann", "7"]])
    True
    """
    heads = "".join(_cell("th", kind.removeprefix("lw-n").strip(), head) for head, kind in columns)
    kinds = [kind for _, kind in columns]
    body = "".join(
        f"<tr>{''.join(_cell('td', kind, cell) for kind, cell in zip(kinds, row, strict=True))}</tr>" for row in rows
    )
    if more:
        body += f"<tr><td colspan='{len(columns)}' class='lw-soft'>{more}</td></tr>"
    return f"<div class='lw-scroll'><table class='lw-table'><tr>{heads}</tr>{body}</table></div>"


def _cell(tag: str, kind: str, content: str) -> str:
    return f"<{tag} class='{kind}'>{content}</{tag}>" if kind else f"<{tag}>{content}</{tag}>"

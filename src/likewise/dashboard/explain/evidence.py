"""The evidence of a score: each measure's share, and the documents that two terms have in common."""

from __future__ import annotations

from html import escape
from typing import Final

from nicegui import ui

from likewise.api.semantics import RelatednessEvidence
from likewise.dashboard.widgets import html, table

MEASURES: Final = {
    "esa": "texts in common",
    "thematic": "texts in common, in the sense of the themes",
    "latent": "used alike",
    "jcn": "near in WordNet's tree",
    "path": "few steps apart in it",
    "gloss": "defined alike",
    "names": "spelt alike",
    "embeddings": "alike in a language model",
    "sameness": "the same thing",
    "combine": "all together",
}


def draw_evidence(term: str, event_term: str, evidence: RelatednessEvidence) -> None:
    """Say how related two terms are, and why."""
    without = (
        "" if evidence.without_themes is None else f" Without the themes it would be {evidence.without_themes:.2f}."
    )
    ui.label(f"“{term}” and “{event_term}”: {evidence.score:.2f}.{without}")
    for note in evidence.notes:
        ui.label(note).classes("lw-soft")
    rows = "".join(bar(MEASURES.get(name, ""), score, soft=name) for name, score in evidence.scores)
    heading = "<tr><th colspan=3>how alike, seen in different ways</th></tr>"
    html(table(heading + rows)).classes("w-full")
    if evidence.documents:
        most = max(document.share for document in evidence.documents)
        rows = "".join(bar(each.title, each.share / most, f"{100 * each.share:.1f} %") for each in evidence.documents)
        heading = "<tr><th colspan=3>texts both words occur in, by share</th></tr>"
        html(table(heading + rows)).classes("w-full")
    else:
        ui.label("No text the meaning was learnt from has both.").classes("lw-soft")


def bar(name: str, number: float, shown: str = "", soft: str = "") -> str:
    """Return a row with a bar as long as a number from 0 to 1.

    >>> "width:50%" in bar("esa", 0.5)
    True
    """
    width = max(0.0, min(1.0, number)) * 100
    label = f" <span class='lw-soft'>{escape(soft)}</span>" if soft else ""
    return (
        f"<tr><td>{escape(name)}{label}</td><td class='lw-gauge'><div class='lw-bar' style='width:{width:.0f}%'></div>"
        f"</td><td class='lw-n'>{shown or f'{number:.2f}'}</td></tr>"
    )

"""Words: what is near a word under a theme, and the documents behind a score."""

from __future__ import annotations

from nicegui import ui

from likewise.dashboard.explain.evidence import bar, draw_evidence
from likewise.dashboard.view_state import PageState
from likewise.dashboard.widgets import html, panel, table


def parse_themes(text: str | None) -> list[str]:
    """Return theme tags that are separated by commas.

    >>> parse_themes("parking, car park,")
    ['parking', 'car park']
    """
    return [tag.strip() for tag in (text or "").split(",") if tag.strip()]


class VocabularyPanel:
    """Two questions: what is near this word, and why are these two related."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._shown = False
        with ui.element("div").classes("lw-two"):
            with panel("What is near a word?"):
                with ui.row().classes("items-end gap-2"):
                    self._term = ui.input("Word", value="noise").props("dense outlined").classes("w-44")
                    self._themes = ui.input("in the sense of").props("dense outlined").classes("w-44")
                    ui.button("Look", on_click=self._near).props("no-caps")
                self._term.on("keydown.enter", self._near)
                self._themes.on("keydown.enter", self._near)
                self._nearest = ui.column().classes("w-full").mark("nearest")
            with panel("How are two words related?"):
                with ui.row().classes("items-end gap-2"):  # a word and its sense stay beside each other
                    self._asked = ui.input("Asked for", value="noise").props("dense outlined").classes("w-36")
                    self._asked_themes = ui.input("in the sense of").props("dense outlined").classes("w-36")
                with ui.row().classes("items-end gap-2"):
                    self._seen = ui.input("Found", value="soundLevel").props("dense outlined").classes("w-36")
                    self._seen_themes = ui.input("in the sense of").props("dense outlined").classes("w-36")
                    ui.button("Compare", on_click=self._compare).props("no-caps")
                for box in (self._asked, self._asked_themes, self._seen, self._seen_themes):
                    box.on("keydown.enter", self._compare)
                self._evidence = ui.column().classes("w-full").mark("evidence")

    async def show(self) -> None:
        """Answer the default questions once, as an example."""
        if not self._shown and not self._viewing.feed.problem:
            self._shown = True
            await self._near()
            await self._compare()

    async def _near(self) -> None:
        term = (self._term.value or "").strip()
        if not term:
            return
        nearest = await self._viewing.ask(self._viewing.api.nearest(term, parse_themes(self._themes.value)))
        if nearest is None:
            return
        rows = [bar(near.term, near.relatedness) for near in nearest]
        self._nearest.clear()
        with self._nearest:
            if rows:
                html(table("".join(rows))).classes("w-full")
            else:
                ui.label(f"Nothing is known near “{term}”.").classes("lw-soft")

    async def _compare(self) -> None:
        term, event_term = (self._asked.value or "").strip(), (self._seen.value or "").strip()
        if not term or not event_term:
            return
        question = self._viewing.api.evidence(
            term, event_term, parse_themes(self._asked_themes.value), parse_themes(self._seen_themes.value)
        )
        evidence = await self._viewing.ask(question)
        if evidence is None:
            return
        self._evidence.clear()
        with self._evidence:
            draw_evidence(term, event_term, evidence)

"""Sources: which devices there are, their words and units, their last values, who sleeps; confirm or correct there."""

from __future__ import annotations

from html import escape

from nicegui import ui

from likewise.api.sources import AttributeShown, SourceShown, SourcesPage, UsefulQuestion
from likewise.dashboard.broker_api import Refused
from likewise.dashboard.sources.rendering import (
    line,
    question_text,
    reading,
    source_row,
    state,
    taken_for,
    values,
    why_asleep,
)
from likewise.dashboard.view_state import Viewing
from likewise.errors import LikewiseError

PAGE = 50


class SourcesPanel:
    """A list of sources beside the one that is chosen, and below it the questions worth a person's time."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._listed: tuple[SourcesPage, str] | None = None  # the list, and which of it is chosen
        self._chosen = ""
        self._shown: SourceShown | None = None
        self._asked: list[UsefulQuestion] | None = None
        with ui.element("div").classes("lw-two"):
            with ui.column().classes("lw-panel"):
                ui.html("<h2 class='lw-title'>Sources</h2>", sanitize=False)
                self._filter = ui.input("Find by name", on_change=self.show).props("dense outlined debounce=300")
                self._filter.classes("w-full")
                self._list = ui.column().classes("w-full gap-0 lw-rows").mark("sources")
            with ui.column().classes("lw-panel"):
                self._one = ui.column().classes("w-full gap-1").mark("source")
                with self._one:
                    ui.label("What a source sends, and what that is taken for, stands here.").classes("lw-nothing")
        with ui.column().classes("lw-panel"):
            ui.html("<h2 class='lw-title'>Questions worth an answer</h2>", sanitize=False)
            self._questions = ui.column().classes("w-full gap-0").mark("questions")

    async def show(self) -> None:
        """Bring the list, the chosen source and the questions up to date."""
        api = self._viewing.api
        try:
            found = await api.sources((self._filter.value or "").strip(), PAGE)
            if not self._chosen and found.sources:
                self._chosen = found.sources[0].source
            one = await api.source(self._chosen) if self._chosen else None
            asked = await api.useful_questions()
        except LikewiseError as error:
            self._listed = None
            if isinstance(error, Refused):
                self._chosen = ""  # it is gone, perhaps: another is looked at next
            self._list.clear()
            with self._list:
                ui.label(f"{str(error)[:1].upper()}{str(error)[1:]}.").classes("lw-soft")
            return
        if (found, self._chosen) != self._listed:
            self._listed = found, self._chosen
            self._draw_list(found)
        if one != self._shown:
            self._shown = one
            self._draw_one(one)
        if asked != self._asked:
            self._asked = asked
            self._draw_questions(asked)

    async def _choose(self, source: str) -> None:
        self._chosen = source
        await self.show()

    def _draw_list(self, found: SourcesPage) -> None:
        self._list.clear()
        with self._list:
            if not found.sources:
                ui.label("None yet. They come by themselves when events name their source.").classes("lw-nothing")
            for each in found.sources:
                current = "true" if each.source == self._chosen else "false"
                with (
                    ui.element("button")
                    .classes("lw-row")
                    .props(f"type=button aria-label='{_plain(each.source)}' aria-current={current}") as row
                ):
                    ui.html(source_row(each), sanitize=False).style("text-align: left")
                row.on("click", lambda _, name=each.source: self._choose(name))
            if found.after:
                ui.label(f"{found.total:,} in all; find others by name.").classes("lw-soft")

    def _draw_one(self, one: SourceShown | None) -> None:
        self._one.clear()
        with self._one:
            if one is None:
                ui.html("<h2 class='lw-title'>No source</h2>", sanitize=False)
                return
            ui.label(one.source).classes("lw-title").props("role=heading aria-level=2")
            wanted = "" if one.wanted is None else f" · {one.wanted} subscription{'s' * (one.wanted != 1)} want it"
            often = "" if one.interval is None else f" · every {one.interval:g} s"
            ui.html(f"{state(one)} · {one.events:,} events{often}{wanted}", sanitize=False).classes("lw-soft")
            if said := why_asleep(one):
                ui.label(said).classes("lw-line")
            for each in one.attributes:
                self._draw_attribute(one, each)

    def _draw_attribute(self, one: SourceShown, each: AttributeShown) -> None:
        with ui.row().classes("w-full no-wrap items-center lw-row").style("display:flex !important"):
            ui.html(
                f"<div class='lw-head'><code>{escape(each.attribute)}</code><span>{reading(each)}</span>"
                f"<span>{line(each.line)}</span></div><div class='lw-line'>{taken_for(each)} · {values(each)}</div>",
                sanitize=False,
            ).style("flex: 1; min-width: 0")
            name = _plain(each.attribute)
            if each.understood.basis == "corrected":
                ui.button(icon="undo", on_click=lambda: self._undo(each)).props(
                    f"flat round dense aria-label='Take back what was said of {name}'"
                )
            elif each.understood.means:
                ui.button(icon="check", on_click=lambda: self._say(one, each, each.understood.means)).props(
                    f"flat round dense aria-label='Confirm {name}'"
                )
            ui.button(icon="edit", on_click=lambda: self._correct(one, each)).props(
                f"flat round dense aria-label='Correct {name}'"
            )

    def _draw_questions(self, asked: list[UsefulQuestion]) -> None:
        self._questions.clear()
        with self._questions:
            if not asked:
                ui.label("None: nothing that is asked for is in doubt.").classes("lw-soft")
            for each in asked:
                with ui.row().classes("w-full no-wrap items-center lw-row").style("display:flex !important"):
                    ui.html(question_text(each), sanitize=False).style("flex: 1; min-width: 0")
                    ui.button(f"It is {each.proposed}", on_click=lambda e=each: self._answer(e)).props(
                        "flat no-caps dense"
                    )

    # -- saying what something means ----------------------------------------------------------------

    async def _say(
        self, one: SourceShown, each: AttributeShown, means: str, unit: str = "", model: bool = True
    ) -> None:
        of, name = ("model", one.model) if model and one.model else ("source", one.source)
        said = await self._viewing.ask(self._viewing.api.correct(each.attribute, of, name, means, unit))
        if said is not None:
            ui.notify(f"{each.attribute} of {of} {name} is {means or unit}.", type="positive", position="top")
            await self.show()

    async def _undo(self, each: AttributeShown) -> None:
        number = each.understood.correction
        if number is not None:
            await self._viewing.ask(self._viewing.api.take_back(number))
            await self.show()

    async def _answer(self, question: UsefulQuestion) -> None:
        said = await self._viewing.ask(
            self._viewing.api.correct(question.attribute, "attribute", "", question.proposed, "")
        )
        if said is not None:
            ui.notify(f"{question.attribute} is {question.proposed}.", type="positive", position="top")
            await self.show()

    async def _correct(self, one: SourceShown, each: AttributeShown) -> None:
        with ui.dialog() as asking, ui.card().classes("w-96"):
            ui.label(f"What is {each.attribute}?").classes("lw-title").props("role=heading aria-level=2")
            means = ui.input("It is", value=each.understood.means).props("outlined dense autofocus").classes("w-full")
            unit = ui.input("In the unit", value="").props("outlined dense").classes("w-full")
            whole = ui.checkbox(f"Of every {one.model}", value=True) if one.model else None
            with ui.row():
                ui.button("Say so", on_click=lambda: asking.submit(True)).props("no-caps")
                ui.button("Cancel", on_click=asking.close).props("flat no-caps")
        if await asking:
            of_model = whole is not None and bool(whole.value)
            await self._say(one, each, (means.value or "").strip(), (unit.value or "").strip(), of_model)


def _plain(text: str) -> str:
    """Text that may stand in an attribute of a page."""
    return "".join(c if c.isalnum() or c in " ._/-" else " " for c in text)

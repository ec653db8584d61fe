"""Sources: which devices there are, their words and units, their last values, who sleeps; confirm or correct there.

Sources as tables and small lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nicegui import ui

from likewise.api.sources import AttributeDetails, ReviewQuestion, SourceDetails, SourcesPage
from likewise.dashboard.broker_api import RequestRefused
from likewise.dashboard.labels import sentence
from likewise.dashboard.view_state import PageState, clock
from likewise.dashboard.widgets import html, icon_button, list_row, panel, title
from likewise.errors import LikewiseError

STATES = {
    "awake": ("lw-good", "awake"),
    "silent": ("lw-bad", "silent"),
    "resting": ("lw-soft", "asleep"),
    "announced": ("lw-soft", "announced, not heard yet"),
}


def sparkline_svg(numbers: Sequence[float], width: int = 84, height: int = 18) -> str:
    """Draw numbers as a small line; nothing if there are fewer than two.

    >>> sparkline_svg([1.0]), sparkline_svg([1.0, 2.0]).startswith("<svg")
    ('', True)
    """
    if len(numbers) < 2:
        return ""
    low, high = min(numbers), max(numbers)
    span = (high - low) or 1.0
    step = (width - 4) / (len(numbers) - 1)
    points = " ".join(
        f"{2 + place * step:.1f},{height - 2 - (each - low) / span * (height - 4):.1f}"
        for place, each in enumerate(numbers)
    )
    return (
        f"<svg width='{width}' height='{height}' role='img' aria-label='from {low:g} to {high:g}'>"
        f"<polyline points='{points}' fill='none' stroke='currentColor' stroke-width='1.5'/></svg>"
    )


def state_html(source: SourceDetails) -> str:
    """Return the activity of a source as a coloured word."""
    look, label = STATES[source.activity]
    warning = "" if source.clock is None else " <span class='lw-bad'>wrong clock</span>"
    return f"<span class='{look}'>{label}</span>{warning}"


def resting_reason(source: SourceDetails) -> str:
    """Return why a source rests, and what wakes it; '' if it does not.

    >>> resting_reason(SourceDetails("roof")), resting_reason(SourceDetails("roof", "resting"))[:27]
    ('', 'No subscription wants what ')
    """
    if source.activity != "resting":
        return ""
    return "No subscription wants what it senses, so it was told to rest. It is woken as soon as one does."


def source_row(source: SourceDetails) -> str:
    """Return a source as a row of the list: name, activity, place, last event."""
    where = " · ".join(escape(each) for each in (source.model, source.place) if each)
    last_event = f"last {clock(source.seen)}" if source.seen else "never heard"
    return (
        f"<div class='lw-head'><span class='lw-name'>{escape(source.source)}</span>{state_html(source)}"
        f"<span>{last_event}</span></div><div class='lw-line'>{where + ' · ' if where else ''}"
        f"{source.events:,} events · "
        f"{source.count} attribute{'' if source.count == 1 else 's'}</div>"
    )


def last_value_html(each: AttributeDetails) -> str:
    """Return the last value of an attribute with its unit."""
    if each.last is None:
        return "<span class='lw-soft'>not seen</span>"
    value = f"{each.last:g}" if isinstance(each.last, (int, float)) else escape(str(each.last))
    return f"{value} {escape(each.unit)}".rstrip()


def value_range_html(each: AttributeDetails) -> str:
    """Return the kinds and the range of an attribute's values."""
    kinds = " or ".join(each.kinds)
    if each.low is None and each.high is None:
        return escape(kinds)
    low, high = ("…" if bound is None else f"{bound:g}" for bound in (each.low, each.high))
    return f"{escape(kinds)}, {low} to {high}"


def meaning_html(each: AttributeDetails) -> str:
    """Return the meaning of an attribute, its probability, and its origin."""
    meaning = each.understood
    if not meaning.means:
        return "<span class='lw-nearly'>not known</span>"
    sure = "lw-good" if meaning.probability >= 0.9 else "lw-nearly" if meaning.probability >= 0.5 else "lw-bad"
    likely = f"{meaning.probability:.0%} sure"  # an announcement names an attribute; what it means is read all the same
    by = {"corrected": "a person said so", "announced": f"{likely}, announced", "learnt": likely}[meaning.basis]
    return f"<b>{escape(meaning.means)}</b> <span class='{sure}'>{by}</span>"


def question_text(question: ReviewQuestion) -> str:
    """Return a useful question in a sentence."""
    terms = ", ".join(dict.fromkeys(f"{escape(term)} ({likely:.0%})" for term, likely in question.asked[:3]))
    return (
        f"<div class='lw-head'><span class='lw-name'>{escape(question.attribute)}</span>"
        f"<span>about {question.deliveries:,.0f} deliveries a day hang on it</span></div>"
        f"<div class='lw-line'>asked for as {terms}</div>"
    )


PAGE = 50


class SourcesPanel:
    """A list of sources beside the one that is chosen, and below it the questions worth a person's time."""

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._listed: tuple[SourcesPage, str] | None = None  # the list, and which of it is chosen
        self._chosen = ""
        self._shown: SourceDetails | None = None
        self._asked: list[ReviewQuestion] | None = None
        with ui.element("div").classes("lw-two"):
            with panel("Sources"):
                self._filter = ui.input("Find by name", on_change=self.show).props("dense outlined debounce=300")
                self._filter.classes("w-full")
                self._list = ui.column().classes("w-full gap-0 lw-rows").mark("sources")
            with ui.column().classes("lw-panel"):
                self._one = ui.column().classes("w-full gap-1").mark("source")
                with self._one:
                    ui.label("What a source sends, and what that is taken for, stands here.").classes("lw-nothing")
        with panel("Questions worth an answer"):
            self._questions = ui.column().classes("w-full gap-0").mark("questions")

    async def show(self) -> None:
        """Bring the list, the chosen source and the questions up to date."""
        api = self._viewing.api
        try:
            page = await api.sources((self._filter.value or "").strip(), PAGE)
            if not self._chosen and page.sources:
                self._chosen = page.sources[0].source
            one = await api.source(self._chosen) if self._chosen else None
            questions = await api.useful_questions()
        except LikewiseError as error:
            self._listed = None
            if isinstance(error, RequestRefused):
                self._chosen = ""  # it is gone, perhaps: another is looked at next
            self._list.clear()
            with self._list:
                ui.label(sentence(str(error))).classes("lw-soft")
            return
        if (page, self._chosen) != self._listed:
            self._listed = page, self._chosen
            self._draw_list(page)
        if one != self._shown:
            self._shown = one
            self._draw_one(one)
        if questions != self._asked:
            self._asked = questions
            self._draw_questions(questions)

    async def _choose(self, source: str) -> None:
        self._chosen = source
        await self.show()

    def _draw_list(self, page: SourcesPage) -> None:
        self._list.clear()
        with self._list:
            if not page.sources:
                ui.label("None yet. They come by themselves when events name their source.").classes("lw-nothing")
            for each in page.sources:
                current = "true" if each.source == self._chosen else "false"
                with (
                    ui.element("button")
                    .classes("lw-row")
                    .props(f"type=button aria-label='{_plain(each.source)}' aria-current={current}") as row
                ):
                    html(source_row(each)).style("text-align: left")
                row.on("click", lambda _, name=each.source: self._choose(name))
            if page.after:
                ui.label(f"{page.total:,} in all; find others by name.").classes("lw-soft")

    def _draw_one(self, one: SourceDetails | None) -> None:
        self._one.clear()
        with self._one:
            if one is None:
                title("No source")
                return
            ui.label(one.source).classes("lw-title").props("role=heading aria-level=2")
            demand = "" if one.wanted is None else f" · {one.wanted} subscription{'s' * (one.wanted != 1)} want it"
            often = "" if one.interval is None else f" · every {one.interval:g} s"
            html(f"{state_html(one)} · {one.events:,} events{often}{demand}").classes("lw-soft")
            if resting := resting_reason(one):
                ui.label(resting).classes("lw-line")
            for each in one.attributes:
                self._draw_attribute(one, each)

    def _draw_attribute(self, one: SourceDetails, each: AttributeDetails) -> None:
        with list_row():
            html(
                f"<div class='lw-head'><code>{escape(each.attribute)}</code><span>{last_value_html(each)}</span>"
                f"<span>{sparkline_svg(each.line)}</span></div>"
                f"<div class='lw-line'>{meaning_html(each)} · {value_range_html(each)}</div>"
            ).style("flex: 1; min-width: 0")
            name = _plain(each.attribute)
            if each.understood.basis == "corrected":
                icon_button("undo", f"Take back what was said of {name}", lambda: self._undo(each))
            elif each.understood.means:
                icon_button("check", f"Confirm {name}", lambda: self._correct_meaning(one, each, each.understood.means))
            icon_button("edit", f"Correct {name}", lambda: self._correct(one, each))

    def _draw_questions(self, questions: list[ReviewQuestion]) -> None:
        self._questions.clear()
        with self._questions:
            if not questions:
                ui.label("None: nothing that is asked for is in doubt.").classes("lw-soft")
            for each in questions:
                with list_row():
                    html(question_text(each)).style("flex: 1; min-width: 0")
                    ui.button(f"It is {each.proposed}", on_click=lambda e=each: self._answer(e)).props(
                        "flat no-caps dense"
                    )

    # -- saying what something means ----------------------------------------------------------------

    async def _correct_meaning(
        self, one: SourceDetails, each: AttributeDetails, means: str, unit: str = "", model: bool = True
    ) -> None:
        of, name = ("model", one.model) if model and one.model else ("source", one.source)
        correction = await self._viewing.ask(self._viewing.api.correct(each.attribute, of, name, means, unit))
        if correction is not None:
            ui.notify(f"{each.attribute} of {of} {name} is {means or unit}.", type="positive", position="top")
            await self.show()

    async def _undo(self, each: AttributeDetails) -> None:
        number = each.understood.correction
        if number is not None:
            await self._viewing.ask(self._viewing.api.take_back(number))
            await self.show()

    async def _answer(self, question: ReviewQuestion) -> None:
        correction = await self._viewing.ask(
            self._viewing.api.correct(question.attribute, "attribute", "", question.proposed, "")
        )
        if correction is not None:
            ui.notify(f"{question.attribute} is {question.proposed}.", type="positive", position="top")
            await self.show()

    async def _correct(self, one: SourceDetails, each: AttributeDetails) -> None:
        with ui.dialog() as dialog, ui.card().classes("w-96"):
            ui.label(f"What is {each.attribute}?").classes("lw-title").props("role=heading aria-level=2")
            means = ui.input("It is", value=each.understood.means).props("outlined dense autofocus").classes("w-full")
            unit = ui.input("In the unit", value="").props("outlined dense").classes("w-full")
            whole = ui.checkbox(f"Of every {one.model}", value=True) if one.model else None
            with ui.row():
                ui.button("Say so", on_click=lambda: dialog.submit(True)).props("no-caps")
                ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
        if await dialog:
            of_model = whole is not None and bool(whole.value)
            await self._correct_meaning(one, each, (means.value or "").strip(), (unit.value or "").strip(), of_model)


def _plain(text: str) -> str:
    """Replace the characters that may not be part of an HTML attribute."""
    return "".join(c if c.isalnum() or c in " ._/-" else " " for c in text)

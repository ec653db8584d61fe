"""Sources: which devices there are, their words and units, their last values, who sleeps; confirm or correct there.

Sources as tables and small lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nicegui import ui

from likewise.api.sources import AttributeDetails, ReviewQuestion, SourceDetails, SourcesPage
from likewise.dashboard.broker_api import RequestRefused
from likewise.dashboard.view_state import PageState, clock
from likewise.errors import LikewiseError

STATES = {
    "awake": ("lw-good", "awake"),
    "silent": ("lw-bad", "silent"),
    "resting": ("lw-soft", "asleep"),
    "announced": ("lw-soft", "announced, not heard yet"),
}


def sparkline_svg(numbers: Sequence[float], width: int = 84, height: int = 18) -> str:
    """Numbers as a small line; nothing if there are too few.

    >>> line([1.0]), line([1.0, 2.0]).startswith("<svg")
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
    """What a source is doing, as a coloured word."""
    look, said = STATES[source.activity]
    warning = "" if source.clock is None else " <span class='lw-bad'>wrong clock</span>"
    return f"<span class='{look}'>{said}</span>{warning}"


def resting_reason(source: SourceDetails) -> str:
    """Why a source rests, and what wakes it; '' if it does not.

    >>> resting_reason(SourceDetails("roof")), resting_reason(SourceDetails("roof", "resting"))[:27]
    ('', 'No subscription wants what ')
    """
    if source.activity != "resting":
        return ""
    return "No subscription wants what it senses, so it was told to rest. It is woken as soon as one does."


def source_row(source: SourceDetails) -> str:
    """A source in the list: who, what it does, where, and how often it was heard."""
    where = " · ".join(escape(each) for each in (source.model, source.place) if each)
    seen = f"last {clock(source.seen)}" if source.seen else "never heard"
    return (
        f"<div class='lw-head'><span class='lw-name'>{escape(source.source)}</span>{state_html(source)}"
        f"<span>{seen}</span></div><div class='lw-line'>{where + ' · ' if where else ''}{source.events:,} events · "
        f"{source.count} attribute{'' if source.count == 1 else 's'}</div>"
    )


def last_value_html(each: AttributeDetails) -> str:
    """The last value of an attribute with its unit."""
    if each.last is None:
        return "<span class='lw-soft'>not seen</span>"
    said = f"{each.last:g}" if isinstance(each.last, (int, float)) else escape(str(each.last))
    return f"{said} {escape(each.unit)}".rstrip()


def value_range_html(each: AttributeDetails) -> str:
    """The kinds and the range of values, in a few words."""
    kinds = " or ".join(each.kinds)
    if each.low is None and each.high is None:
        return escape(kinds)
    low, high = ("…" if bound is None else f"{bound:g}" for bound in (each.low, each.high))
    return f"{escape(kinds)}, {low} to {high}"


def meaning_html(each: AttributeDetails) -> str:
    """What an attribute is taken for, how surely, and who says so."""
    said = each.understood
    if not said.means:
        return "<span class='lw-nearly'>not known</span>"
    sure = "lw-good" if said.probability >= 0.9 else "lw-nearly" if said.probability >= 0.5 else "lw-bad"
    likely = f"{said.probability:.0%} sure"  # an announcement names an attribute; what it means is read all the same
    by = {"corrected": "a person said so", "announced": f"{likely}, announced", "learnt": likely}[said.basis]
    return f"<b>{escape(said.means)}</b> <span class='{sure}'>{by}</span>"


def question_text(question: ReviewQuestion) -> str:
    """A useful question in a sentence."""
    asked = ", ".join(dict.fromkeys(f"{escape(term)} ({likely:.0%})" for term, likely in question.asked[:3]))
    return (
        f"<div class='lw-head'><span class='lw-name'>{escape(question.attribute)}</span>"
        f"<span>about {question.deliveries:,.0f} deliveries a day hang on it</span></div>"
        f"<div class='lw-line'>asked for as {asked}</div>"
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
            if isinstance(error, RequestRefused):
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

    def _draw_one(self, one: SourceDetails | None) -> None:
        self._one.clear()
        with self._one:
            if one is None:
                ui.html("<h2 class='lw-title'>No source</h2>", sanitize=False)
                return
            ui.label(one.source).classes("lw-title").props("role=heading aria-level=2")
            wanted = "" if one.wanted is None else f" · {one.wanted} subscription{'s' * (one.wanted != 1)} want it"
            often = "" if one.interval is None else f" · every {one.interval:g} s"
            ui.html(f"{state_html(one)} · {one.events:,} events{often}{wanted}", sanitize=False).classes("lw-soft")
            if said := resting_reason(one):
                ui.label(said).classes("lw-line")
            for each in one.attributes:
                self._draw_attribute(one, each)

    def _draw_attribute(self, one: SourceDetails, each: AttributeDetails) -> None:
        with ui.row().classes("w-full no-wrap items-center lw-row").style("display:flex !important"):
            ui.html(
                f"<div class='lw-head'><code>{escape(each.attribute)}</code><span>{last_value_html(each)}</span>"
                f"<span>{sparkline_svg(each.line)}</span></div><div class='lw-line'>{meaning_html(each)} · {value_range_html(each)}</div>",
                sanitize=False,
            ).style("flex: 1; min-width: 0")
            name = _plain(each.attribute)
            if each.understood.basis == "corrected":
                ui.button(icon="undo", on_click=lambda: self._undo(each)).props(
                    f"flat round dense aria-label='Take back what was said of {name}'"
                )
            elif each.understood.means:
                ui.button(icon="check", on_click=lambda: self._correct_meaning(one, each, each.understood.means)).props(
                    f"flat round dense aria-label='Confirm {name}'"
                )
            ui.button(icon="edit", on_click=lambda: self._correct(one, each)).props(
                f"flat round dense aria-label='Correct {name}'"
            )

    def _draw_questions(self, asked: list[ReviewQuestion]) -> None:
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

    async def _correct_meaning(
        self, one: SourceDetails, each: AttributeDetails, means: str, unit: str = "", model: bool = True
    ) -> None:
        of, name = ("model", one.model) if model and one.model else ("source", one.source)
        said = await self._viewing.ask(self._viewing.api.correct(each.attribute, of, name, means, unit))
        if said is not None:
            ui.notify(f"{each.attribute} of {of} {name} is {means or unit}.", type="positive", position="top")
            await self.show()

    async def _undo(self, each: AttributeDetails) -> None:
        number = each.understood.correction
        if number is not None:
            await self._viewing.ask(self._viewing.api.take_back(number))
            await self.show()

    async def _answer(self, question: ReviewQuestion) -> None:
        said = await self._viewing.ask(
            self._viewing.api.correct(question.attribute, "attribute", "", question.proposed, "")
        )
        if said is not None:
            ui.notify(f"{question.attribute} is {question.proposed}.", type="positive", position="top")
            await self.show()

    async def _correct(self, one: SourceDetails, each: AttributeDetails) -> None:
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
            await self._correct_meaning(one, each, (means.value or "").strip(), (unit.value or "").strip(), of_model)


def _plain(text: str) -> str:
    """Text that may stand in an attribute of a page."""
    return "".join(c if c.isalnum() or c in " ._/-" else " " for c in text)

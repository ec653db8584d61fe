"""Stored events by filter: found, kept as a filter of one's own, and given out as a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from html import escape
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from nicegui import ui

from likewise.api.history import StoredEvent, StoredEvents
from likewise.dashboard.addresses import Address
from likewise.dashboard.history.export import events_csv, events_lines, matches_csv, matches_lines
from likewise.dashboard.history.filters import SPANS, EventFilter, read_filter, read_saved
from likewise.dashboard.history.queries import stored_events
from likewise.dashboard.history.subscription_table import plain
from likewise.dashboard.labels import event_line
from likewise.dashboard.theme import score_badge
from likewise.dashboard.view_state import Viewing

PAGE: Final = 30
EXPORTED: Final = 10_000  # events of one file
ASKED: Final = 1_000  # events of one question while a file is made
QUESTIONS: Final = 40  # questions that one file may take
STORE: Final = "likewise-filters"  # the name under which a browser keeps them
FORMS: Final[dict[str, tuple[str, Callable[[Iterable[StoredEvent]], str]]]] = {
    "events.csv": ("Events as CSV", events_csv),
    "events.jsonl": ("Events as JSON lines", events_lines),
    "matches.csv": ("Matches as CSV", matches_csv),
    "matches.jsonl": ("Matches as JSON lines", matches_lines),
}


class SearchPanel:
    """Fields of a filter, the filters that are kept, what is found, and files of it."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._filter = read_filter(dict(viewing.address.query))
        self._saved: dict[str, EventFilter] = {}
        self._before: int | None = None
        self._asked = 0  # how often was looked; an answer that comes after another question was asked is not shown
        self._begun = False
        with ui.column().classes("lw-panel"):
            ui.html("<h2 class='lw-title'>What came, and what it met</h2>", sanitize=False)
            self._chips = ui.row().classes("gap-1 items-center w-full").mark("filters")
            with ui.row().classes("items-end gap-2 w-full"):
                self._words = self._field("With the words", self._filter.words, "words").classes("lw-grow")
                self._source = self._field("From the source", self._filter.source, "source").classes("w-48")
                self._met = ui.select({"": "anything or nothing"}, value="", label="That met")
                self._met.props("dense outlined options-dense").classes("w-48").on_value_change(self._choose)
                self._span = ui.select(SPANS, value=self._filter.span, label="Of")
                self._span.props("dense outlined options-dense").classes("w-40")
                self._span.on_value_change(lambda e: self._put(span=e.value))
            with ui.row().classes("items-center gap-2 w-full"):
                ui.button("Find", icon="search", on_click=self.find).props("no-caps")
                ui.button("Keep this filter", icon="bookmark_add", on_click=self._keep).props("flat no-caps")
                with ui.button("Export", icon="download").props("flat no-caps"), ui.menu().props("auto-close"):
                    for name, (label, _) in FORMS.items():
                        ui.menu_item(label, on_click=lambda _, form=name: self._export(form))
                self._told = ui.label("").classes("lw-soft").mark("found")
            self._rows = (
                ui.column().classes("w-full gap-0").props("role=list aria-label='Stored events'").mark("stored")
            )
            self._older = ui.button("Older ones", on_click=self._more).props("flat no-caps")
            self._older.set_visibility(False)

    def _field(self, label: str, value: str, name: str) -> ui.input:
        field = ui.input(label, value=value).props("dense outlined clearable")
        field.on_value_change(lambda e: self._put(**{name: str(e.value or "")}))
        return field.on("keydown.enter", self.find)

    def _put(self, **fields: Any) -> None:
        self._filter = replace(self._filter, **fields)

    def _choose(self) -> None:
        subscriber, _, subscription = str(self._met.value or "").partition("\n")
        self._put(subscriber=subscriber, subscription=subscription)

    async def show(self) -> None:
        """Find once; keep the choice of subscriptions up to date."""
        held = {f"{s.subscriber}\n{s.id}": f"{s.id} for {s.subscriber}" for s in self._viewing.feed.subscriptions}
        if self._met.options != (options := {"": "anything or nothing", **held}):
            chosen = f"{self._filter.subscriber}\n{self._filter.subscription}"
            self._met.set_options(options, value=chosen if chosen in held else "")
        if not self._begun:
            self._begun = True
            said = await ui.run_javascript(f"return localStorage.getItem({STORE!r})", timeout=20)
            self._saved = read_saved(said)
            self._draw_chips()
            await self.find()

    async def find(self) -> None:
        """Look for the newest that the filter lets through."""
        self._viewing.move(Address("history", query=self._filter.asked))
        self._before = None
        await self._more()

    async def _more(self) -> None:
        self._asked += 1
        asked, before = self._asked, self._before
        found = await self._viewing.ask(self._ask(PAGE, before))
        if found is None or asked != self._asked:
            return
        if before is None:
            self._rows.clear()
        self._before = found.before
        with self._rows:
            for each in found.events:
                self._row(each)
        count = len(self._rows.default_slot.children)
        self._older.set_visibility(found.before is not None)
        self._told.set_text(f"{count:,} shown" if count else "Nothing was found; look further back, or ask for less.")

    async def _ask(self, limit: int, before: int | None) -> StoredEvents:
        return await stored_events(self._viewing.api, self._filter.query(time.time()), before, limit)

    def _row(self, each: StoredEvent) -> None:
        met = next(iter(each.met), None)
        subscriber, subscription = (met.subscriber, met.subscription) if met is not None else ("", "")
        if self._filter.subscription:
            subscriber, subscription = self._filter.subscriber, self._filter.subscription
        names = "".join(
            f"{score_badge(m.score)}<span class='lw-name'>{escape(m.subscription)}</span>" for m in each.met[:5]
        )
        at = time.strftime("%d %b %H:%M:%S", time.localtime(each.arrival / 1e6))
        arrived = each.arrived
        with self._viewing.row(arrived, subscriber, subscription, tab="history"):
            ui.html(
                f"<div class='lw-head'><span>{at}</span>"
                f"<span class='lw-name lw-device'>{escape(arrived.source or arrived.id)}</span>{names}</div>"
                f"<div class='lw-line'>{escape(event_line(each.event, 160))}</div>",
                sanitize=False,
            )

    # -- filters that are kept -------------------------------------------------------------------------

    def _draw_chips(self) -> None:
        self._chips.clear()
        self._chips.set_visibility(bool(self._saved))
        with self._chips:
            ui.label("Kept:").classes("lw-soft")
            for name, kept in self._saved.items():
                with ui.row().classes("lw-chip gap-0 items-center no-wrap"):
                    ui.button(name, on_click=lambda _, f=kept: self._use(f)).props("flat dense no-caps size=sm")
                    ui.button(icon="close", on_click=lambda _, n=name: self._drop(n)).props(
                        f"flat dense round size=xs aria-label='Forget the filter {plain(name)}'"
                    )

    async def _use(self, kept: EventFilter) -> None:
        self._words.set_value(kept.words)
        self._source.set_value(kept.source)
        self._span.set_value(kept.span)
        chosen = f"{kept.subscriber}\n{kept.subscription}"
        self._met.set_value(chosen if chosen in self._met.options else "")
        self._filter = kept
        await self.find()

    async def _keep(self) -> None:
        with ui.dialog() as asking, ui.card():
            ui.html("<h2 class='lw-title'>Keep this filter</h2>", sanitize=False)
            ui.label("In this browser; its address can be sent to others.").classes("lw-soft")
            name = ui.input("Name", value=self._filter.name).props("outlined autofocus").classes("w-72")
            with ui.row():
                ui.button("Keep it", on_click=lambda: asking.submit(name.value)).props("no-caps")
                ui.button("Cancel", on_click=asking.close).props("flat no-caps")
        if said := await asking:
            self._saved[str(said)[:80]] = self._filter
            self._store()

    def _drop(self, name: str) -> None:
        self._saved.pop(name, None)
        self._store()

    def _store(self) -> None:
        said = msgspec.json.encode(msgspec.json.encode(self._saved).decode()).decode()
        ui.run_javascript(f"localStorage.setItem({STORE!r}, {said})")
        self._draw_chips()

    # -- files -----------------------------------------------------------------------------------------

    async def _export(self, name: str) -> None:
        events: list[StoredEvent] = []
        before: int | None = None
        for _ in range(QUESTIONS):
            page = await self._viewing.ask(self._ask(ASKED, before))
            if page is None:
                return
            events += page.events
            before = page.before
            if before is None or len(events) >= EXPORTED:
                break
        ui.download.content(FORMS[name][1](reversed(events)), name)
        more = "; older ones were left out" if before is not None else ""
        ui.notify(f"{len(events):,} events{more}.", type="positive", position="top")

"""History: charts of an hour and a day, a reading over time, and stored events by filter and as files."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from nicegui import ui

from likewise.api.history import StoredEvent, StoredEvents
from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.history.charts import ReadingChart, TrafficChart
from likewise.dashboard.labels import event_line
from likewise.dashboard.view_state import PageState
from likewise.dashboard.widgets import attribute_text, html, panel, score_badge, title

EVENT_COLUMNS: Final = ("arrival", "source", "id", "themes", "attribute", "value", "unit", "met")
MATCH_COLUMNS: Final = ("arrival", "subscriber", "subscription", "score", "source", "id", "readings")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula


def events_csv(events: Iterable[StoredEvent]) -> str:
    """Return events as CSV, a row for each reading.

    >>> one = StoredEvent(1, 0, {"id": "e1", "source": "roof", "tuples": [{"attribute": "no2", "value": 45}]})
    >>> print(events_csv([one]).splitlines()[1])
    1970-01-01T00:00:00.000000Z,roof,e1,,no2,45,,
    """
    return _csv(EVENT_COLUMNS, (row for event in events for row in _readings(event)))


def matches_csv(events: Iterable[StoredEvent]) -> str:
    """Return matches as CSV, a row for each subscription that an event matched."""
    return _csv(MATCH_COLUMNS, (list(row.values()) for event in events for row in _matches(event)))


def events_lines(events: Iterable[StoredEvent]) -> str:
    """Return events as JSON lines: each as it was published, with its arrival and its matches."""
    return _lines(
        {
            "arrival": iso_time(each.arrival),
            "event": each.event,
            "met": [f"{m.subscriber}/{m.subscription}" for m in each.met],
        }
        for each in events
    )


def matches_lines(events: Iterable[StoredEvent]) -> str:
    """Return matches as JSON lines."""
    return _lines(row for event in events for row in _matches(event))


def iso_time(microseconds: int) -> str:
    """Return a time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(microseconds / 1e6, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _readings(event: StoredEvent) -> Iterator[list[object]]:
    envelope = event.event
    themes = envelope.get("themes")
    about = [
        iso_time(event.arrival),
        envelope.get("source", ""),
        envelope.get("id", ""),
        "; ".join(map(str, themes)) if isinstance(themes, list) else "",
    ]
    matched = "; ".join(f"{m.subscriber}/{m.subscription}" for m in event.met)
    items = envelope.get("tuples")
    for item in items if isinstance(items, list) else []:
        yield [*about, item.get("attribute"), item.get("value"), item.get("unit", ""), matched]


def _matches(event: StoredEvent) -> Iterator[dict[str, object]]:
    for match in event.met:
        yield dict(
            zip(
                MATCH_COLUMNS,
                (
                    iso_time(event.arrival),
                    match.subscriber,
                    match.subscription,
                    match.score,
                    event.event.get("source", ""),
                    event.event.get("id", ""),
                    event_line(event.event, 10_000),
                ),
                strict=True,
            )
        )


def _csv(columns: tuple[str, ...], rows: Iterable[Iterable[object]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(columns)
    writer.writerows([_escape_formula(cell) for cell in row] for row in rows)
    return written.getvalue()


def _escape_formula(cell: object) -> object:
    """Escape a cell that a spreadsheet would run as a formula, with an apostrophe in front.

    >>> _escape_formula("=1+1"), _escape_formula(-3.5), _escape_formula("roof")
    ("'=1+1", -3.5, 'roof')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _lines(rows: Iterable[object]) -> str:
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in rows)


# The charts of the past change slowly: they are drawn again after so many seconds.
REDRAW_S: Final = 10.0
PAGE: Final = 30
EXPORTED: Final = 10_000  # events of one file
EXPORT_PAGE: Final = 1_000  # events of one question while a file is made
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

    def __init__(self, viewing: PageState) -> None:
        self._viewing = viewing
        self._filter = parse_filter(dict(viewing.address.query))
        self._saved: dict[str, EventFilter] = {}
        self._before: int | None = None
        self._asked = 0  # how often was looked; an answer that comes after another question was asked is not shown
        self._begun = False
        with panel("What came, and what it met"):
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
        subscriptions = {
            f"{s.subscriber}\n{s.id}": f"{s.id} for {s.subscriber}" for s in self._viewing.feed.subscriptions
        }
        if self._met.options != (options := {"": "anything or nothing", **subscriptions}):
            chosen = f"{self._filter.subscriber}\n{self._filter.subscription}"
            self._met.set_options(options, value=chosen if chosen in subscriptions else "")
        if not self._begun:
            self._begun = True
            saved = await ui.run_javascript(f"return localStorage.getItem({STORE!r})", timeout=20)
            self._saved = parse_saved_filters(saved)
            self._draw_chips()
            await self.find()

    async def find(self) -> None:
        """Look for the newest that the filter lets through."""
        self._viewing.move(PageAddress("history", query=self._filter.query_items))
        self._before = None
        await self._more()

    async def _more(self) -> None:
        self._asked += 1
        request, before = self._asked, self._before
        page = await self._viewing.ask(self._ask(PAGE, before))
        if page is None or request != self._asked:
            return
        if before is None:
            self._rows.clear()
        self._before = page.before
        with self._rows:
            for each in page.events:
                self._row(each)
        count = len(self._rows.default_slot.children)
        self._older.set_visibility(page.before is not None)
        self._told.set_text(f"{count:,} shown" if count else "Nothing was found; look further back, or ask for less.")

    async def _ask(self, limit: int, before: int | None) -> StoredEvents:
        return await self._viewing.api.stored_events(self._filter.query(time.time()), before, limit)

    def _row(self, each: StoredEvent) -> None:
        match = next(iter(each.met), None)
        subscriber, subscription = (match.subscriber, match.subscription) if match is not None else ("", "")
        if self._filter.subscription:
            subscriber, subscription = self._filter.subscriber, self._filter.subscription
        names = "".join(
            f"{score_badge(m.score)}<span class='lw-name'>{escape(m.subscription)}</span>" for m in each.met[:5]
        )
        at = time.strftime("%d %b %H:%M:%S", time.localtime(each.arrival / 1e6))
        arrived = each.arrived
        with self._viewing.row(arrived, subscriber, subscription, tab="history"):
            html(
                f"<div class='lw-head'><span>{at}</span>"
                f"<span class='lw-name lw-device'>{escape(arrived.source or arrived.id)}</span>{names}</div>"
                f"<div class='lw-line'>{escape(event_line(each.event, 160))}</div>"
            )

    # -- filters that are kept -------------------------------------------------------------------------

    def _draw_chips(self) -> None:
        self._chips.clear()
        self._chips.set_visibility(bool(self._saved))
        with self._chips:
            ui.label("Kept:").classes("lw-soft")
            for name, saved in self._saved.items():
                with ui.row().classes("lw-chip gap-0 items-center no-wrap"):
                    ui.button(name, on_click=lambda _, f=saved: self._use(f)).props("flat dense no-caps size=sm")
                    ui.button(icon="close", on_click=lambda _, n=name: self._drop(n)).props(
                        f"flat dense round size=xs aria-label='Forget the filter {attribute_text(name)}'"
                    )

    async def _use(self, saved: EventFilter) -> None:
        self._words.set_value(saved.words)
        self._source.set_value(saved.source)
        self._span.set_value(saved.span)
        chosen = f"{saved.subscriber}\n{saved.subscription}"
        self._met.set_value(chosen if chosen in self._met.options else "")
        self._filter = saved
        await self.find()

    async def _keep(self) -> None:
        with ui.dialog() as dialog, ui.card():
            title("Keep this filter")
            ui.label("In this browser; its address can be sent to others.").classes("lw-soft")
            name = ui.input("Name", value=self._filter.name).props("outlined autofocus").classes("w-72")
            with ui.row():
                ui.button("Keep it", on_click=lambda: dialog.submit(name.value)).props("no-caps")
                ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
        if entered := await dialog:
            self._saved[str(entered)[:80]] = self._filter
            self._store()

    def _drop(self, name: str) -> None:
        self._saved.pop(name, None)
        self._store()

    def _store(self) -> None:
        script_text = msgspec.json.encode(msgspec.json.encode(self._saved).decode()).decode()
        ui.run_javascript(f"localStorage.setItem({STORE!r}, {script_text})")
        self._draw_chips()

    # -- files -----------------------------------------------------------------------------------------

    async def _export(self, name: str) -> None:
        events: list[StoredEvent] = []
        before: int | None = None
        for _ in range(QUESTIONS):
            page = await self._viewing.ask(self._ask(EXPORT_PAGE, before))
            if page is None:
                return
            events += page.events
            before = page.before
            if before is None or len(events) >= EXPORTED:
                break
        ui.download.content(FORMS[name][1](reversed(events)), name)
        more = "; older ones were left out" if before is not None else ""
        ui.notify(f"{len(events):,} events{more}.", type="positive", position="top")


class HistoryPanel:
    """The parts of the page; `show` brings them up to date."""

    def __init__(self, viewing: PageState) -> None:
        self._traffic = TrafficChart(viewing)
        self._reading = ReadingChart(viewing)
        self._search = SearchPanel(viewing)
        self._due = 0.0

    async def show(self) -> None:
        """Draw what is new, now and then."""
        await self._search.show()
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + REDRAW_S
            await self._traffic.show()
            await self._reading.show()


SPANS: Final = {"hour": "the last hour", "day": "the last day", "week": "the last week", "all": "everything kept"}
LENGTHS: Final = {"hour": 3_600, "day": 86_400, "week": 7 * 86_400}  # seconds
MAX_SAVED: Final = 30  # filters that are saved in a browser


class EventFilter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A filter of stored events: words, a source, a subscription that they matched, a time span.

    >>> EventFilter("no2", span="hour").query(now=3_600.5)
    {'containing': 'no2', 'since': 500000}
    """

    words: str = ""
    source: str = ""
    subscriber: str = ""
    subscription: str = ""
    span: str = "day"

    def query(self, now: float) -> dict[str, object]:
        """Return the query parameters for the broker."""
        query: dict[str, object] = {
            "containing": self.words.strip(),
            "source": self.source.strip(),
            "subscriber": self.subscriber,
            "subscription": self.subscription,
        }
        if self.span in LENGTHS:
            query["since"] = max(0, int((now - LENGTHS[self.span]) * 1e6))
        return {name: value for name, value in query.items() if value != ""}

    @property
    def query_items(self) -> tuple[tuple[str, str], ...]:
        """The filter as the query of a page.

        >>> EventFilter("no2", "roof").query_items
        (('span', 'day'), ('words', 'no2'), ('source', 'roof'))
        """
        items = {"span": self.span, "words": self.words.strip(), "source": self.source.strip()}
        items |= {"subscriber": self.subscriber, "subscription": self.subscription}
        return tuple((name, value) for name, value in items.items() if value)

    @property
    def name(self) -> str:
        """The default name of the filter.

        >>> EventFilter("no2", subscription="bad air", span="hour").name, EventFilter().name
        ('no2, bad air, the last hour', 'the last day')
        """
        return ", ".join(
            each for each in (self.words.strip(), self.source, self.subscription, SPANS[self.span]) if each
        )


def parse_filter(query: dict[str, str]) -> EventFilter:
    """Parse a filter from the query of a page.

    >>> parse_filter({"words": "no2", "span": "soon"})
    EventFilter(words='no2', source='', subscriber='', subscription='', span='day')
    """
    known = {name: query.get(name, "") for name in ("words", "source", "subscriber", "subscription")}
    return EventFilter(**known, span=query["span"] if query.get("span") in SPANS else "day")


def parse_saved_filters(text: str | None) -> dict[str, EventFilter]:
    """Parse the filters that a browser has stored, by name; unreadable ones are left out.

    >>> parse_saved_filters('{"air": {"words": "no2"}, "bad": {"span": 3}}')
    {'air': EventFilter(words='no2', source='', subscriber='', subscription='', span='day')}
    >>> parse_saved_filters("nonsense"), parse_saved_filters(None)
    ({}, {})
    """
    try:
        documents = msgspec.json.decode(text or "{}", type=dict[str, msgspec.Raw])
    except msgspec.MsgspecError:
        return {}
    filters = {}
    for name, raw in list(documents.items())[:MAX_SAVED]:
        try:
            each = msgspec.json.decode(raw, type=EventFilter)
        except msgspec.MsgspecError:
            continue
        if each.span in SPANS:
            filters[name] = each
    return filters

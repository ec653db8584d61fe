"""Map: the sources that say where they are, each with its newest event."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final
from urllib.parse import parse_qs, urlsplit

from nicegui import ui
from nicegui.events import GenericEventArguments

from likewise.api.live_views import Arrival
from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.labels import event_line
from likewise.dashboard.map.projection import HEIGHT, WIDTH, MapView, fit_view, project
from likewise.dashboard.map.rendering import SourceMarker, event_coordinates, map_svg
from likewise.dashboard.view_state import PageState
from likewise.dashboard.widgets import html, icon_button, title
from likewise.errors import LikewiseError

MOST: Final = 2_000  # sources on the map
EARLIER: Final = 1_000  # stored events that are looked at first
FORGOTTEN: Final = 3_600.0  # seconds after which a source that is silent leaves the map
# A dot that is one source is a link; one that is several brings them nearer; dragging moves the map.
CLICK: Final = """(e) => {
  const many = e.target.closest('[data-to]'), one = e.target.closest('a.lw-dot');
  if (many && (e.type === 'click' || e.key === 'Enter' || e.key === ' ')) {
    e.preventDefault(); emit({to: many.dataset.to}); }
  else if (one && e.type === 'click' && !(e.ctrlKey || e.metaKey || e.shiftKey)) {
    e.preventDefault(); emit({href: one.getAttribute('href')}); }
}"""
DRAG: Final = """(e) => {
  const svg = e.currentTarget.querySelector('svg');
  if (e.type === 'pointerdown') { svg.lwFrom = [e.clientX, e.clientY]; return; }
  if (!svg.lwFrom) return;
  const box = svg.getBoundingClientRect(), scale = Math.max(box.width / 1000, box.height / 560);
  const dx = (svg.lwFrom[0] - e.clientX) / scale, dy = (svg.lwFrom[1] - e.clientY) / scale;
  svg.lwFrom = null;
  if (Math.abs(dx) + Math.abs(dy) > 8) emit({dx, dy});
}"""


class MapPanel:
    """The picture, and buttons to move it; `show` adds what is new."""

    def __init__(self, viewing: PageState, tiles: str = "", credit: str = "") -> None:
        self._viewing = viewing
        self._tiles, self._credit = tiles, credit
        self._spots: dict[str, SourceMarker] = {}
        self._position = 0
        self._view: MapView | None = None
        self._begun = False
        with ui.column().classes("lw-panel"):
            with ui.row().classes("items-center justify-between w-full gap-1"):
                title("Where events come from")
                buttons = ui.row().classes("items-center no-wrap gap-1")
            with buttons:
                for icon, label, act in (
                    ("add", "Nearer", lambda v: v.zoomed(1)),
                    ("remove", "Further", lambda v: v.zoomed(-1)),
                    ("west", "To the west", lambda v: v.moved(-WIDTH / 3, 0)),
                    ("north", "To the north", lambda v: v.moved(0, -HEIGHT / 3)),
                    ("south", "To the south", lambda v: v.moved(0, HEIGHT / 3)),
                    ("east", "To the east", lambda v: v.moved(WIDTH / 3, 0)),
                ):
                    icon_button(icon, f"{label}", lambda _, move=act: self._move(move), "size=sm")
                ui.button("All", on_click=self._all).props("flat dense no-caps")
            self._picture = html().classes("w-full lw-map-box").mark("map")
            self._picture.on("click", self._click, js_handler=CLICK).on("keydown", self._click, js_handler=CLICK)
            self._picture.on("pointerdown", js_handler=DRAG).on("pointerup", self._drag, js_handler=DRAG)
            self._told = ui.label("").classes("lw-soft").mark("placed")

    async def show(self) -> None:
        """Take in what is new, and draw it."""
        feed = self._viewing.feed
        if not self._begun:
            self._begun = True
            try:
                since = int((time.time() - FORGOTTEN) * 1e6)
                stored = await self._viewing.api.stored_events({"since": since}, None, EARLIER)
            except LikewiseError:
                pass  # the banner says so; what comes from now on is shown
            else:
                for each in reversed(stored.events):
                    self._take(each.arrived, bool(each.met))
        matched = {match.position for match in feed.matches}
        for arrival in [event for event in feed.events if event.position > self._position]:
            self._take(arrival, arrival.position in matched)
        self._forget()
        self._draw()

    def _take(self, arrival: Arrival, matched: bool) -> None:
        self._position = max(self._position, arrival.position)
        place = event_coordinates(arrival.event)
        if place is None:
            return
        name = arrival.source or arrival.id
        self._spots.pop(name, None)  # the newest stands last
        self._spots[name] = SourceMarker(
            name, *place, arrival.id, arrival.arrival, event_line(arrival.event, 120), matched
        )

    def _forget(self) -> None:
        oldest = int((time.time() - FORGOTTEN) * 1e6)
        for name in [name for name, spot in self._spots.items() if spot.at < oldest]:
            del self._spots[name]
        while len(self._spots) > MOST:
            del self._spots[next(iter(self._spots))]

    def _draw(self) -> None:
        spots = list(self._spots.values())
        if self._view is None and spots:
            self._all()
            return
        if self._view is not None:
            self._picture.set_content(map_svg(spots, self._view, self._tiles, self._credit))
        self._told.set_text(map_summary(spots))

    def _all(self) -> None:
        spots = self._spots.values()
        if spots:
            self._view = fit_view((spot.latitude, spot.longitude) for spot in spots)
        self._draw()

    def _move(self, move: object) -> None:
        if self._view is not None and callable(move):
            self._view = move(self._view)
            self._draw()

    async def _click(self, e: GenericEventArguments) -> None:
        if href := e.args.get("href"):
            query = {name: values[0] for name, values in parse_qs(urlsplit(href).query).items()}
            assert self._viewing.explain is not None
            await self._viewing.explain(PageAddress("map", query.get("id", ""), query.get("source", "")), None)
        elif (to := e.args.get("to")) and self._view is not None:
            latitude, longitude = (float(part) for part in str(to).split(","))
            nearer = self._view.zoomed(2)
            self._view = MapView(*project(latitude, longitude, nearer.zoom), nearer.zoom)
            self._draw()

    def _drag(self, e: GenericEventArguments) -> None:
        if self._view is not None:
            self._view = self._view.moved(float(e.args["dx"]), float(e.args["dy"]))
            self._draw()


def map_summary(spots: Iterable[SourceMarker]) -> str:
    """Describe the map in a sentence.

    >>> map_summary([])
    'No event of the last hour says where it is. A source whose events have a latitude and a longitude stands here.'
    """
    every = list(spots)
    if not every:
        return (
            "No event of the last hour says where it is. "
            "A source whose events have a latitude and a longitude stands here."
        )
    matched = sum(spot.matched for spot in every)
    summary = f"{len(every):,} source{'' if len(every) == 1 else 's'} of the last hour"
    return f"{summary}; the newest event of {matched:,} met a subscription (green)."

"""Map: the sources that say where they are, each with its newest event."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec
from nicegui import ui
from nicegui.events import GenericEventArguments

from likewise.api.live_views import Arrival
from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.labels import cut, event_line
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


# Places on a plane: Mercator's projection as the web's maps use it, so that tiles fit below.

TILE: Final = 256  # pixels of a tile's side
CLOSEST: Final = 19  # zoom
LIMIT: Final = 85.05112878  # degrees of latitude where the square of the map ends
WIDTH: Final = 1000
HEIGHT: Final = 560
EARTH: Final = 40_075_016.686  # metres around the equator


class MapView(msgspec.Struct, frozen=True):
    """The visible part of the world: the middle, in pixels of the whole map at a zoom.

    >>> here = fit_view([(53.27, -9.05), (53.29, -9.02)])
    >>> x, y = here.on_screen(53.28, -9.035)
    >>> abs(x - WIDTH / 2) < 2, abs(y - HEIGHT / 2) < 2, here.zoom
    (True, True, 14)
    """

    x: float
    y: float
    zoom: int

    def on_screen(self, latitude: float, longitude: float) -> tuple[float, float]:
        """Return the position of a place in the picture."""
        x, y = project(latitude, longitude, self.zoom)
        return x - self.x + WIDTH / 2, y - self.y + HEIGHT / 2

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return latitude and longitude of a point of the picture.

        >>> view = fit_view([(10.0, 20.0)])
        >>> [round(each, 6) for each in view.place(*view.on_screen(10.0, 20.0))]
        [10.0, 20.0]
        """
        size = float(TILE << self.zoom)
        longitude = (x + self.x - WIDTH / 2) / size * 360 - 180
        turned = math.pi * (1 - 2 * (y + self.y - HEIGHT / 2) / size)
        return math.degrees(math.atan(math.sinh(turned))), longitude

    def moved(self, right: float, down: float) -> MapView:
        """Return the view moved by pixels."""
        return MapView(self.x + right, self.y + down, self.zoom)

    def zoomed(self, by: int) -> MapView:
        """Return the view at another zoom, around the middle."""
        zoom = max(1, min(CLOSEST, self.zoom + by))
        factor = math.ldexp(1.0, zoom - self.zoom)
        return MapView(self.x * factor, self.y * factor, zoom)

    @property
    def metres_each(self) -> float:
        """Metres that a pixel in the middle is wide."""
        latitude, _ = self.place(WIDTH / 2, HEIGHT / 2)
        return EARTH * math.cos(math.radians(latitude)) / (TILE << self.zoom)


def project(latitude: float, longitude: float, zoom: int) -> tuple[float, float]:
    """Return a place in pixels of the whole map at a zoom.

    >>> project(0, 0, 0)
    (128.0, 128.0)
    """
    size = float(TILE << zoom)
    bent = math.radians(max(-LIMIT, min(LIMIT, latitude)))
    return (longitude + 180) / 360 * size, (1 - math.asinh(math.tan(bent)) / math.pi) / 2 * size


def fit_view(places: Iterable[tuple[float, float]]) -> MapView:
    """Return the nearest view that shows every place with a margin."""
    whole = [project(latitude, longitude, 0) for latitude, longitude in places]
    if not whole:
        return MapView(TILE, TILE * 0.7, 1)
    left, right = min(x for x, _ in whole), max(x for x, _ in whole)
    top, bottom = min(y for _, y in whole), max(y for _, y in whole)
    zoom = next(
        (z for z in range(16, 1, -1) if (right - left) * 2**z < WIDTH * 0.86 and (bottom - top) * 2**z < HEIGHT * 0.8),
        1,
    )
    return MapView((left + right) / 2 * 2**zoom, (top + bottom) / 2 * 2**zoom, zoom)


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


LATITUDES: Final = frozenset({"lat", "latitude", "geolat", "gpslat", "locationlat"})
LONGITUDES: Final = frozenset({"long", "lon", "lng", "longitude", "geolong", "geolon", "gpslon", "gpslong"})
_SIGNS: Final = re.compile(r"[^a-z]")


class SourceMarker(msgspec.Struct, frozen=True):
    """The newest event of a source that said where it is; `matched` whether it matched a subscription."""

    source: str
    latitude: float
    longitude: float
    event: str
    at: int
    line: str = ""
    matched: bool = False


def event_coordinates(event: Mapping[str, object]) -> tuple[float, float] | None:
    """Return latitude and longitude of an event, in degrees; None if it has none, or impossible ones.

    >>> said = [{"attribute": "gps.lat", "value": 53.27}, {"attribute": "gps.long", "value": -9.05}]
    >>> event_coordinates({"tuples": said}), event_coordinates({"tuples": said[:1]})
    ((53.27, -9.05), None)
    >>> event_coordinates({"tuples": [{"attribute": "lat", "value": 530.0}, {"attribute": "lon", "value": 1}]})
    """
    latitude = longitude = None
    items = event.get("tuples")
    for item in items if isinstance(items, list) else []:
        value = item.get("value")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        name = _SIGNS.sub("", str(item.get("attribute", "")).rpartition(".")[2].casefold())
        if name in LATITUDES and abs(value) <= 90 and latitude is None:
            latitude = float(value)
        elif name in LONGITUDES and abs(value) <= 180 and longitude is None:
            longitude = float(value)
    return None if latitude is None or longitude is None else (latitude, longitude)


NEAR: Final = 22.0  # pixels within which dots are drawn as one
STEPS: Final = (1, 2, 5)
NAMED: Final = 40  # dots up to which each has its name beside it
MOST_TILES: Final = 40


class MarkerCluster(NamedTuple):
    """One or several sources at a place of the picture."""

    x: float
    y: float
    spots: list[SourceMarker]


def cluster_markers(spots: Sequence[SourceMarker], view: MapView) -> list[MarkerCluster]:
    """Group the visible sources whose dots would touch.

    >>> some = [SourceMarker(id, at, at, id, 0) for id, at in (("a", 1.0), ("b", 1.0), ("c", 2.0))]
    >>> [len(dot.spots) for dot in cluster_markers(some, fit_view([(1.0, 1.0), (2.0, 2.0)]))]
    [2, 1]
    """
    cells: dict[tuple[int, int], MarkerCluster] = {}
    for spot in sorted(spots, key=lambda each: each.source):
        x, y = view.on_screen(spot.latitude, spot.longitude)
        if not (-NEAR < x < WIDTH + NEAR and -NEAR < y < HEIGHT + NEAR):
            continue
        cell = (round(x / NEAR), round(y / NEAR))
        if cell in cells:
            cells[cell].spots.append(spot)
        else:
            cells[cell] = MarkerCluster(x, y, [spot])
    return list(cells.values())


def map_svg(spots: Sequence[SourceMarker], view: MapView, tiles: str = "", credit: str = "") -> str:
    """Return the whole map as SVG."""
    dots = cluster_markers(spots, view)
    visible = sum(len(dot.spots) for dot in dots)
    parts = [
        f"<svg class='lw-world' viewBox='0 0 {WIDTH} {HEIGHT}' role='group' aria-label='Map of {visible} sources'>",
        f"<rect class='lw-ground' width='{WIDTH}' height='{HEIGHT}'/>",
        *(_tiles(view, tiles) if tiles else _grid(view)),
        *(_dot(dot, len(dots) <= NAMED) for dot in dots),
        _scale(view),
    ]
    if tiles and credit:
        parts.append(
            f"<text class='lw-credit' x='{WIDTH - 8}' y='{HEIGHT - 8}' text-anchor='end'>{escape(credit)}</text>"
        )
    return "".join([*parts, "</svg>"])


def _dot(dot: MarkerCluster, named: bool) -> str:
    newest = max(dot.spots, key=lambda spot: spot.at)
    style = " lw-met" if any(spot.matched for spot in dot.spots) else ""
    if len(dot.spots) == 1:
        href = PageAddress("map", newest.event, newest.source).path
        label = f"{newest.source}: {newest.line}"
        name = (
            f"<text x='{dot.x + 11:.1f}' y='{dot.y + 4:.1f}'>{escape(cut(newest.source, 24))}</text>" if named else ""
        )
        return (
            f"<a class='lw-dot{style}' href='{escape(href)}' aria-label='{escape(label, quote=True)}'>"
            f"<title>{escape(label)}</title><circle cx='{dot.x:.1f}' cy='{dot.y:.1f}' r='7'/>{name}</a>"
        )
    names = ", ".join(spot.source for spot in dot.spots[:8]) + (" …" if len(dot.spots) > 8 else "")
    where = f"{newest.latitude},{newest.longitude}"
    return (
        f"<g class='lw-dot lw-many{style}' role='button' tabindex='0' data-to='{where}' "
        f"aria-label='{len(dot.spots)} sources: {escape(names, quote=True)}'><title>{escape(names)}</title>"
        f"<circle cx='{dot.x:.1f}' cy='{dot.y:.1f}' r='{min(22, 9 + 2 * math.log2(len(dot.spots))):.1f}'/>"
        f"<text x='{dot.x:.1f}' y='{dot.y + 4:.1f}' text-anchor='middle'>{len(dot.spots)}</text></g>"
    )


def _tiles(view: MapView, address: str) -> Iterator[str]:
    """Yield the images of the tiles from the configured server."""
    count = 2**view.zoom
    left, top = view.x - WIDTH / 2, view.y - HEIGHT / 2
    columns = range(math.floor(left / TILE), math.floor((left + WIDTH) / TILE) + 1)
    rows = range(math.floor(top / TILE), math.floor((top + HEIGHT) / TILE) + 1)
    visible = [(x, y) for x in columns for y in rows if 0 <= y < count]
    for x, y in visible[:MOST_TILES]:
        href = address.replace("{z}", str(view.zoom)).replace("{x}", str(x % count)).replace("{y}", str(y))
        yield (
            f"<image href='{escape(href, quote=True)}' x='{x * TILE - left:.1f}' y='{y * TILE - top:.1f}' "
            f"width='{TILE + 0.5}' height='{TILE + 0.5}'/>"
        )


def _grid(view: MapView) -> Iterator[str]:
    """Yield lines of equal latitude and longitude, with their degrees."""
    north, west = view.place(0, 0)
    south, east = view.place(WIDTH, HEIGHT)
    step = round_step((east - west) / 6)
    digits = max(0, -math.floor(math.log10(step))) if step < 1 else 0
    for number in range(math.ceil(max(west, -180.0) / step), math.floor(min(east, 180.0) / step) + 1):
        x, _ = view.on_screen(0, number * step)
        yield f"<line x1='{x:.1f}' x2='{x:.1f}' y1='0' y2='{HEIGHT}'/>"
        seldom = "" if number % 3 == 0 else " lw-wide"  # a narrow window has no room for all of them
        yield f"<text class='lw-east{seldom}' x='{x + 4:.1f}' y='4'>{_degrees(number * step, digits, 'E', 'W')}</text>"
    for number in range(math.ceil(south / step), math.floor(north / step) + 1):
        _, y = view.on_screen(number * step, 0)
        yield f"<line x1='0' x2='{WIDTH}' y1='{y:.1f}' y2='{y:.1f}'/>"
        yield f"<text x='4' y='{y - 4:.1f}'>{_degrees(number * step, digits, 'N', 'S')}</text>"


def round_step(about: float) -> float:
    """Return a round number near another: 1, 2 or 5 times a power of ten.

    >>> round_step(0.007), round_step(33)
    (0.005, 20)
    """
    power = 10.0 ** math.floor(math.log10(about))
    step_size = max(step * power for step in STEPS if step * power <= about * 1.0001)
    return int(step_size) if step_size >= 1 else round(step_size, 12)


def _degrees(value: float, digits: int, positive: str, negative: str) -> str:
    return f"{abs(value):.{digits}f}°{'' if round(value, 9) == 0 else positive if value > 0 else negative}"


def _scale(view: MapView) -> str:
    metres = round_step(view.metres_each * 160)
    wide = metres / view.metres_each
    label = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    y = HEIGHT - 14
    return (
        f"<g class='lw-scale'><path d='M12 {y - 6}V{y}H{12 + wide:.1f}V{y - 6}'/>"
        f"<text x='{16 + wide:.1f}' y='{y}'>{label}</text></g>"
    )

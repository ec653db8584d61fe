"""The map as a picture: a grid of degrees, a scale, sources as dots that lead to their newest event.

Where events say they are: readings named latitude and longitude, in one spelling or another.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final, NamedTuple

import msgspec

from likewise.dashboard.addresses import PageAddress
from likewise.dashboard.labels import cut
from likewise.dashboard.map.projection import HEIGHT, TILE, WIDTH, MapView

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

    >>> from likewise.dashboard.map.projection import fit_view
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

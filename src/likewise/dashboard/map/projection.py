"""Places on a plane: Mercator's projection as the web's maps use it, so that tiles fit below."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import msgspec

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

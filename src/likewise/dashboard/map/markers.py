"""Where events say they are: readings named latitude and longitude, in one spelling or another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

LATITUDES: Final = frozenset({"lat", "latitude", "geolat", "gpslat", "locationlat"})
LONGITUDES: Final = frozenset({"long", "lon", "lng", "longitude", "geolong", "geolon", "gpslon", "gpslong"})
_SIGNS: Final = re.compile(r"[^a-z]")


class Spot(msgspec.Struct, frozen=True):
    """The newest event of a source that said where it is; `met` whether it met a subscription."""

    source: str
    latitude: float
    longitude: float
    event: str
    at: int
    line: str = ""
    met: bool = False


def place_of(event: Mapping[str, object]) -> tuple[float, float] | None:
    """Latitude and longitude of an event, in degrees; None if it says none, or impossible ones.

    >>> said = [{"attribute": "gps.lat", "value": 53.27}, {"attribute": "gps.long", "value": -9.05}]
    >>> place_of({"tuples": said}), place_of({"tuples": said[:1]})
    ((53.27, -9.05), None)
    >>> place_of({"tuples": [{"attribute": "lat", "value": 530.0}, {"attribute": "lon", "value": 1}]})
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

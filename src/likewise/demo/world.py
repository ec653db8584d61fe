"""State of the city: each quantity as a smooth function of place and time.

A day passes in ten minutes, so that somebody who watches sees it get warm, loud and crowded. Every value
depends on the seed, the place and the time alone; asking twice gives the same answer.
"""

from __future__ import annotations

import math
import random
from typing import Final, Literal, NamedTuple

Quantity = Literal[
    "temperature",
    "humidity",
    "pressure",
    "wind",
    "rain",
    "no2",
    "pm10",
    "pm25",
    "noise",
    "parking",
    "speed",
    "vehicles",
    "people",
    "fill",
    "power",
    "bikes",
    "water",
    "light",
]

DAY: Final = 600.0  # seconds a day of the city lasts
BEGINS: Final = 0.42  # the share of the day that is over when the city begins: late in the morning


class CityPlace(NamedTuple):
    """Where a device stands."""

    name: str
    latitude: float
    longitude: float
    busy: float  # 0 is a meadow, 1 the main crossing


PLACES: Final = (
    CityPlace("Harbour Quay", 53.2691, -9.0512, 0.6),
    CityPlace("Market Square", 53.2725, -9.0538, 0.9),
    CityPlace("Station Road", 53.2741, -9.0470, 1.0),
    CityPlace("University", 53.2790, -9.0606, 0.5),
    CityPlace("Weir Bridge", 53.2768, -9.0571, 0.4),
    CityPlace("Castle Meadow", 53.2832, -9.0429, 0.1),
    CityPlace("Foundry Lane", 53.2810, -9.0340, 0.7),
    CityPlace("Salthill Strand", 53.2580, -9.0750, 0.3),
)


class _QuantityProfile(NamedTuple):
    """Profile of a quantity: its mean, the parts of the day, the place and chance, and its limits.

    `peak` is the time of its daily maximum as a share of the day.
    """

    mean: float
    daily: float
    peak: float
    busy: float
    chance: float
    least: float
    most: float


_COURSES: Final[dict[Quantity, _QuantityProfile]] = {
    "temperature": _QuantityProfile(20.5, 7.0, 0.60, 2.0, 2.0, -5, 38),  # °C
    "humidity": _QuantityProfile(62, -16, 0.60, -4, 8, 15, 100),  # %
    "pressure": _QuantityProfile(1012, 2, 0.30, 0, 6, 975, 1045),  # hPa
    "wind": _QuantityProfile(6, 2, 0.55, -2, 5, 0, 28),  # m/s
    "rain": _QuantityProfile(-0.5, 0.2, 0.80, 0, 1.5, 0, 20),  # mm/h
    "no2": _QuantityProfile(16, 11, 0.72, 26, 9, 1, 190),  # µg/m³
    "pm10": _QuantityProfile(18, 8, 0.72, 22, 9, 2, 180),  # µg/m³
    "pm25": _QuantityProfile(9, 5, 0.72, 14, 6, 1, 120),  # µg/m³
    "noise": _QuantityProfile(50, 8, 0.55, 17, 5, 31, 98),  # dB
    "parking": _QuantityProfile(120, -70, 0.50, -75, 25, 0, 240),  # free spaces
    "speed": _QuantityProfile(46, -12, 0.70, -24, 9, 3, 80),  # km/h
    "vehicles": _QuantityProfile(220, 160, 0.70, 420, 60, 0, 1500),  # an hour
    "people": _QuantityProfile(40, 45, 0.52, 110, 25, 0, 400),
    "power": _QuantityProfile(1300, 700, 0.62, 900, 400, 40, 6000),  # W
    "bikes": _QuantityProfile(9, -5, 0.50, -4, 4, 0, 20),
    "water": _QuantityProfile(1.4, 0.6, 0.25, 0, 0.4, 0.1, 3.4),  # m
    "light": _QuantityProfile(9000, 9000, 0.50, 0, 1500, 0, 40000),  # lx
}


class World:
    """The state of the city at any time, in one unit for each quantity.

    >>> world = World(seed=1)
    >>> world.value("noise", PLACES[2], 30.0) == World(seed=1).value("noise", PLACES[2], 30.0)
    True
    >>> world.value("noise", PLACES[2], 30.0) > world.value("noise", PLACES[5], 30.0)
    True
    """

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed
        self._phases: dict[tuple[str, str], tuple[float, ...]] = {}

    def value(self, quantity: Quantity, place: CityPlace, seconds: float) -> float:
        """Return the quantity at a place, `seconds` after the city began."""
        if quantity == "fill":
            return self._fill(place, seconds)
        course = _COURSES[quantity]
        day = math.cos(2 * math.pi * (BEGINS + seconds / DAY - course.peak))
        chance = sum(
            math.sin(seconds * (0.011 + 0.017 * number) + phase) / (1 + 0.4 * number)
            for number, phase in enumerate(self._phase(quantity, place))
        )
        value = course.mean + course.daily * day + course.busy * place.busy + course.chance * chance / 1.6
        return min(course.most, max(course.least, value))

    def _fill(self, place: CityPlace, seconds: float) -> float:
        """Return how full a bin is, in %: it fills over some minutes and is emptied once overfull."""
        phase = self._phase("fill", place)[0] / (2 * math.pi)
        return 100.0 * ((seconds * (0.0022 + 0.0030 * place.busy) + phase) % 1.0)

    def _phase(self, quantity: str, place: CityPlace) -> tuple[float, ...]:
        key = (quantity, place.name)
        if key not in self._phases:
            chance = random.Random(f"{self.seed} {quantity} {place.name}")
            self._phases[key] = tuple(chance.uniform(0, 2 * math.pi) for _ in range(3))
        return self._phases[key]

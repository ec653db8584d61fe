"""Near misses of the city: reports whose reading is there but not where it is asked for, and which reading that is.

Which attribute is the right one is found out without any measure: the same report is made twice, in two worlds that
differ in one quantity alone, and what differs between the two is that quantity's reading.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from likewise.demo.dialects import DeviceContext
from likewise.demo.simulation import DEMO_SUBSCRIPTIONS, City
from likewise.demo.world import CityPlace, Quantity, World
from likewise.model import event
from likewise_experiments.near_misses.case import NearMiss

# For each subscription of the demo that compares a number: what it asks about, and two values that do not meet it.
MISSED: Final[dict[str, tuple[Quantity, float, float]]] = {
    "heat": ("temperature", 12.0, 18.0),
    "bad-air": ("no2", 9.0, 21.0),
    "loud": ("noise", 41.0, 52.0),
    "jam": ("speed", 38.0, 51.0),
    "car-parks": ("parking", 90.0, 150.0),
    "bins": ("fill", 15.0, 40.0),
    "power": ("power", 400.0, 1100.0),
}


class _Changed(World):
    """A world in which one quantity has a value of its own."""

    def __init__(self, seed: int, quantity: Quantity, value: float) -> None:
        super().__init__(seed)
        self._changed, self._to = quantity, value

    def value(self, quantity: Quantity, place: CityPlace, seconds: float) -> float:
        """The quantity, as everywhere but for the one that was changed."""
        return self._to if quantity == self._changed else super().value(quantity, place, seconds)


def near_misses(seed: int = 1, devices: int = 60) -> Iterator[NearMiss]:
    """Every report of every device that says what a subscription asks about, one for each pair.

    >>> first = next(near_misses(seed=1))
    >>> first.name, len(first.right)
    ('heat', 1)
    """
    texts = {wanted.id: wanted.text for wanted in DEMO_SUBSCRIPTIONS}
    for name, (quantity, one, other) in MISSED.items():
        for device in City(seed, devices).devices:
            said = []
            for value in (one, other):
                chance = random.Random(f"{seed} {device.id}")
                sight = DeviceContext(_Changed(seed, quantity, value), device.place, device.id, device.first, 0, chance)
                said.append(event(device.dialect.make_payload(sight), themes=device.dialect.themes))
            right = {a.attribute for a, b in zip(said[0].tuples, said[1].tuples, strict=False) if a.value != b.value}
            if right:
                yield NearMiss(name, texts[name], said[0], frozenset(right))

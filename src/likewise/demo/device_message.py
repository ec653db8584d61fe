"""What a device knows when it reports, and what a vendor's dialect makes of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

from likewise.demo.world import CityPlace, Quantity, World

Json = Mapping[str, object]


class DeviceContext(NamedTuple):
    """A device, where and when it looks, and chance for its small errors (seeded for each report)."""

    world: World
    place: CityPlace
    device: str
    seconds: float
    number: int
    chance: random.Random

    def get(self, quantity: Quantity, digits: int = 1, scale: float = 1.0, offset: float = 0.0) -> float:
        """Return a measured value in a vendor's unit: `scale` and `offset` convert ours into it."""
        true = self.world.value(quantity, self.place, self.seconds)
        return round(true * self.chance.uniform(0.99, 1.01) * scale + offset, digits)

    def count(self, quantity: Quantity) -> int:
        """Return a measured whole number."""
        return max(0, round(self.world.value(quantity, self.place, self.seconds) * self.chance.uniform(0.97, 1.03)))

    def pick(self, *texts: str) -> str:
        """Return one of some texts, by chance."""
        return self.chance.choice(texts)


class Dialect(NamedTuple):
    """How one vendor's product reports: `say` makes its payload, `themes` are the tags it sends along."""

    vendor: str
    product: str
    themes: tuple[str, ...]
    period: float  # seconds between two reports of one device
    make_payload: Callable[[DeviceContext], Json]

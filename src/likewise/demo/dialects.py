"""The dialects of the city's devices: how each vendor's product reports. Vendors and products are invented.

`data/city-dialects.toml` has a message of each product, with texts in braces where a device puts its values; it says
what they mean. A message is filled in from its beginning to its end, so that the same chance makes the same report.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Final, NamedTuple, get_args

from likewise.demo.world import CityPlace, Quantity, World
from likewise.model import event

Json = Mapping[str, object]
Facts = Mapping[str, float]
_BLANK: Final = re.compile(r"\{([^{}]+)\}")
_QUANTITIES: Final = frozenset(get_args(Quantity))


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


class _Report:
    """A message on its way from its form to what one device says; `last` is what was measured last."""

    def __init__(self, sight: DeviceContext) -> None:
        self._sight = sight
        self._last: float = 0
        self.measured: dict[str, float] = {}

    def fill(self, form: object) -> object:
        """Fill in a part of a message: a text that is one blank becomes its value, in a longer text it is written."""
        if isinstance(form, Mapping):
            return {name: self.fill(each) for name, each in form.items()}
        if not isinstance(form, str):
            return form
        blank = _BLANK.fullmatch(form)
        return self._value(blank[1]) if blank else _BLANK.sub(lambda found: str(self._value(found[1])), form)

    def _value(self, blank: str) -> object:
        sight, chance = self._sight, self._sight.chance
        what, _, rest = blank.partition(" ")
        if what in _QUANTITIES:
            digits, *conversion = rest.split() or ["1"]
            scale, offset = [*map(float, conversion), *(1.0, 0.0)[len(conversion) :]]
            self._last = sight.get(what, int(digits), scale, offset)  # type: ignore[arg-type]
            self.measured[what] = round((self._last - offset) / scale, 9)
            return self._last
        if what == "count":
            self._last = self.measured[rest] = sight.count(rest)  # type: ignore[arg-type]
            return self._last
        numbers = [] if what == "pick" else [float(each) if "." in each else int(each) for each in rest.split()]
        values: dict[str, Callable[[], object]] = {
            "device": lambda: sight.device,
            "place": lambda: sight.place.name,
            "latitude": lambda: sight.place.latitude,
            "longitude": lambda: sight.place.longitude,
            "battery": lambda: f"{3.6 - sight.number * 1e-4:.3f}",
            "last": lambda: round(self._last * numbers[0] + numbers[1], 1),
            "pick": lambda: _number_or_text(chance.choice(rest.split("|"))),
            "chance": lambda: chance.random() < numbers[0],
            "integer": lambda: chance.randint(*map(int, numbers)),
            "loss": lambda: -chance.randint(*map(int, numbers)),
            "uniform": lambda: round(chance.uniform(*numbers), 1),
        }
        return values[what]()


def _number_or_text(text: str) -> int | str:
    return int(text) if text.isdigit() else text


class Dialect(NamedTuple):
    """The reports of one vendor's product: `message` is their form, `themes` are the tags it sends along."""

    vendor: str
    product: str
    themes: tuple[str, ...]
    period: float  # seconds between two reports of one device
    message: Json
    facts: Mapping[str, Mapping[str, Sequence[object]]] = {}  # for each fact the values of attributes that say so

    def make_payload(self, sight: DeviceContext) -> Json:
        """Return what a device reports."""
        return self.make_report(sight)[0]

    def make_report(self, sight: DeviceContext) -> tuple[Json, Facts]:
        """Return what a device reports, and what is the case by it: quantities in the city's units, facts as 0 or 1."""
        report = _Report(sight)
        payload = {name: report.fill(each) for name, each in self.message.items()}
        states = {
            fact: float(any(item.value in values.get(item.attribute, ()) for item in event(payload).tuples))
            for fact, values in self.facts.items()
        }
        return payload, {**report.measured, **states}


def read_dialects(text: str) -> tuple[Dialect, ...]:
    """Read the dialects of a TOML file.

    >>> some = '[[dialect]]\\nvendor="A"\\nproduct="B"\\nthemes=["c"]\\nperiod=9\\nmessage={d="{device}"}'
    >>> read_dialects(some)[0].message
    {'d': '{device}'}
    """
    return tuple(Dialect(**{**each, "themes": tuple(each["themes"])}) for each in tomllib.loads(text)["dialect"])


DIALECTS: Final = read_dialects(files("likewise").joinpath("data/city-dialects.toml").read_text(encoding="utf-8"))

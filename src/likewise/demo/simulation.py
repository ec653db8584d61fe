"""The city's devices and what they report, and when; and what three desks of its administration want to know."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from likewise.demo.dialects import DIALECTS, DeviceContext, Dialect, Facts, Json
from likewise.demo.world import PLACES, CityPlace, World

Clock = Callable[[], float]  # seconds; only differences count


class Device(NamedTuple):
    """One installed device: it reports `first` seconds after the city began, then every `period` seconds."""

    id: str
    dialect: Dialect
    place: CityPlace
    first: float


class Report(NamedTuple):
    """One message of a device: `seconds` after the city began, with the vendor's themes and payload.

    `facts` says what is the case by this message; the payload alone is published.
    """

    seconds: float
    id: str
    source: str
    themes: tuple[str, ...]
    payload: Json
    device: Device
    facts: Facts

    def envelope(self) -> dict[str, object]:
        """Return the report as an event's JSON (docs/formats.md), ready to be published.

        >>> City(seed=3).between(0, 1)[0].envelope()["v"]
        1
        """
        return {"v": 1, "id": self.id, "source": self.source, "themes": list(self.themes), "payload": self.payload}


class City:
    """Devices of every vendor, spread over the city's places.

    What is reported depends on the seed and the time alone, so a city can be played again, or from the middle.
    `run` names the performance: it goes into the ids of reports, so that two performances do not collide.

    >>> city = City(seed=7, devices=40)
    >>> len(city.devices), len({device.dialect.vendor for device in city.devices}) > 20
    (40, True)
    >>> city.between(10, 12) == City(seed=7, devices=40).between(10, 12)
    True
    >>> whole, halves = city.between(0, 40), city.between(0, 15) + city.between(15, 40)
    >>> whole == halves
    True
    """

    def __init__(self, seed: int = 1, devices: int = 60, run: str = "1") -> None:
        if devices < 1:
            raise ValueError(f"a city needs at least one device, not {devices}")
        self.world = World(seed)
        self.run = run
        chance = random.Random(seed)
        self.devices = tuple(
            _device(number, DIALECTS[number % len(DIALECTS)], PLACES[(number * 5 + number // 8) % len(PLACES)], chance)
            for number in range(devices)
        )

    def between(self, since: float, until: float) -> list[Report]:
        """Return what is reported from `since` on and before `until`, in order of time."""
        reports = [report for device in self.devices for report in self._reports(device, since, until)]
        return sorted(reports, key=lambda report: (report.seconds, report.source))

    def _reports(self, device: Device, since: float, until: float) -> Iterator[Report]:
        period = device.dialect.period
        number = max(0, int((since - device.first) // period))
        while (seconds := device.first + number * period) < until:
            if seconds >= since:
                chance = random.Random(f"{self.world.seed} {device.id} {number}")
                sight = DeviceContext(self.world, device.place, device.id, seconds, number, chance)
                payload, facts = device.dialect.make_report(sight)
                id, source = f"{device.id}-{self.run}-{number}", f"city/{device.id}"
                yield Report(seconds, id, source, device.dialect.themes, payload, device, facts)
            number += 1


def _device(number: int, dialect: Dialect, place: CityPlace, chance: random.Random) -> Device:
    code = chance.randrange(16**4)
    name = f"{dialect.vendor.lower()}-{code:04x}-{number}"
    return Device(name, dialect, place, round(chance.uniform(0, dialect.period), 3))


def due_reports(city: City, clock: Clock) -> Callable[[], list[Report]]:
    """Return a function that returns the reports due since its last call, by the clock passed in.

    >>> moments = iter([100.0, 100.0, 105.0])
    >>> due = due_reports(City(seed=1), lambda: next(moments))
    >>> due(), len(due()) > 5
    ([], True)
    """
    began = clock()
    reported_until = 0.0

    def due() -> list[Report]:
        nonlocal reported_until
        now = clock() - began
        if now <= reported_until:
            return []
        reports = city.between(reported_until, now)
        reported_until = now
        return reports

    return due


class DemoSubscription(NamedTuple):
    """A subscription of the demo: whose it is, its id, its text, and what it asks for in a sentence."""

    subscriber: str
    id: str
    text: str
    asks: str


DEMO_SUBSCRIPTIONS: Final = (
    DemoSubscription("health-desk", "heat", "{temperature~ > 28 degC} threshold 0.6", "Where is it hot?"),
    DemoSubscription("health-desk", "bad-air", "{nitrogen dioxide~ > 40 ug/m3} threshold 0.6", "Where is the air bad?"),
    DemoSubscription("health-desk", "loud", "{noise~ > 70 dB}", "Where is it loud?"),
    DemoSubscription("traffic-desk", "jam", "{traffic} {vehicle speed~ < 15 km/h}", "Where do cars crawl?"),
    DemoSubscription(
        "traffic-desk", "car-parks", "{parking} {free parking spaces~ < 20}", "Which car parks are nearly full?"
    ),
    DemoSubscription("works-desk", "bins", "{fill level~ > 80 %} threshold 0.6", "Which bins need emptying?"),
    DemoSubscription(
        "works-desk", "dark", "{lighting} {condition~ = broken~} threshold 0.4", "Which street lamps are broken?"
    ),
    DemoSubscription("works-desk", "power", "{electric power~ > 2.5 kW}", "Who draws much power?"),
    DemoSubscription("works-desk", "doors", "{building} {door~ = open~}", "Which doors stand open?"),
    DemoSubscription("works-desk", "pumps", "{water} {pump state~ = pump stopped~}", "Which pumps have stopped?"),
    DemoSubscription(
        "traffic-desk", "platform-3", "{railway} {platform~ = platform 3~}", "What happens at platform 3?"
    ),
    DemoSubscription(
        "health-desk",
        "worst-air",
        "{NO2 exists} top 3 within 30 s by value(NO2 in ug/m3) highest",
        "Which three posts have the worst air?",
    ),
)

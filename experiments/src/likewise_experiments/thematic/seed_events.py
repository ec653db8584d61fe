"""Seed events: what the sensors of a smart city and of an energy-aware building would say.

Hasan and Curry 2014, section 5.2.1: sensor capabilities of SmartSantander and the Linked Energy Intelligence
dataspace (Table 3), vehicles by makers' names, appliances of the BLUED data set, rooms of an office building, the
cities of the SmartSantander project and Galway, combined at random. The paper does not list the combinations: the
units, rooms and streets here are plausible ones of our own.
"""

from __future__ import annotations

import random
from typing import Final

from likewise.model import Event, EventTuple

Pairs = tuple[tuple[str, str], ...]

# Table 3, with the unit of each capability.
OUTDOOR: Final = {
    "solar radiation": "watt per square metre",
    "particles": "microgram per cubic metre",
    "wind direction": "degree",
    "wind speed": "metre per second",
    "temperature": "degree celsius",
    "water flow": "litre per second",
    "atmospheric pressure": "hectopascal",
    "noise": "decibel",
    "ozone": "parts per billion",
    "rainfall": "millimetre",
    "parking": "vacant places",
    "radiation par": "micromole per square metre",
    "co": "parts per million",
    "ground temperature": "degree celsius",
    "light": "lux",
    "no2": "microgram per cubic metre",
    "soil moisture tension": "centibar",
    "relative humidity": "percent",
}
MOBILE: Final = ("speed", "particles", "co", "no2", "ozone", "temperature", "relative humidity", "noise")
SPEED_UNIT: Final = "kilometre per hour"
INDOOR: Final = {
    "energy consumption": "kilowatt hour",
    "cpu usage": "percent",
    "memory usage": "megabyte",
    "temperature": "degree celsius",
    "light": "lux",
    "noise": "decibel",
}
COMPUTING: Final = ("cpu usage", "memory usage")
CHANGES: Final = ("increased", "decreased", "high", "low")

COMPUTERS: Final = ("laptop", "computer", "server")
APPLIANCES: Final = (
    "refrigerator",
    "kettle",
    "microwave oven",
    "dishwasher",
    "washing machine",
    "air conditioner",
    "television",
    "printer",
    "monitor",
    "desk lamp",
    "vacuum cleaner",
    "hair dryer",
    "coffee machine",
    "garage door",
    "fan",
    "heater",
)
VEHICLES: Final = (
    "Audi",
    "BMW",
    "Citroen",
    "Ferrari",
    "Fiat",
    "Ford",
    "Honda",
    "Hyundai",
    "Jaguar",
    "Kia",
    "Lexus",
    "Mazda",
    "Mercedes",
    "Mitsubishi",
    "Nissan",
    "Opel",
    "Peugeot",
    "Porsche",
    "Renault",
    "Saab",
    "Seat",
    "Skoda",
    "Subaru",
    "Suzuki",
    "Toyota",
    "Volkswagen",
    "Volvo",
)
VEHICLE_KINDS: Final = ("car", "bus", "taxi", "lorry", "motorcycle")
ROOMS: Final = {
    "ground floor": ("room 011", "room 012", "meeting room", "kitchen", "reception"),
    "first floor": ("room 101", "room 112", "room 115", "conference room", "library"),
    "second floor": ("room 201", "room 204", "laboratory", "server room", "canteen"),
}
# City, region, country, and streets or squares of it.
PLACES: Final = (
    ("Santander", "Cantabria", "Spain", ("marina street", "harbour road", "central square", "university campus")),
    ("Guildford", "Surrey", "United Kingdom", ("high street", "station road", "university campus", "market square")),
    ("Lübeck", "Schleswig-Holstein", "Germany", ("canal street", "old town square", "port road", "bridge street")),
    ("Belgrade", "Central Serbia", "Serbia", ("republic square", "river street", "motorway", "bus station")),
    ("Galway", "Connacht", "Ireland", ("shop street", "quay street", "eyre square", "university road")),
)
HOME: Final = PLACES[4]  # where the building stands
CONTINENT: Final = ("continent", "Europe")


def seed_events(count: int = 166, seed: int = 0) -> list[Event]:
    """Distinct seed events, `s0`, `s1`, ...

    >>> first = seed_events(3)[0]
    >>> [t.attribute for t in first.tuples][:2]
    ['type', 'measurement unit']
    >>> max(len(e.tuples) for e in seed_events())
    10
    """
    chosen = random.Random(seed)
    kinds = (_indoor, _outdoor, _mobile)
    found: dict[Pairs, None] = {}
    while len(found) < count:
        found[kinds[len(found) % len(kinds)](chosen)] = None
    return [_event(pairs, f"s{number}") for number, pairs in enumerate(found)]


def _event(pairs: Pairs, id: str) -> Event:
    return Event(tuple(EventTuple(attribute, value) for attribute, value in pairs), id=id)


def _indoor(chosen: random.Random) -> Pairs:
    capability = chosen.choice(tuple(INDOOR))
    device = chosen.choice(COMPUTERS if capability in COMPUTING else (*COMPUTERS, *APPLIANCES))
    floor = chosen.choice(tuple(ROOMS))
    room = chosen.choice(ROOMS[floor])
    desk: Pairs = (("desk", f"desk {room.removeprefix('room ')}{chosen.choice('abcd')}"),) if room[-1].isdigit() else ()
    city, _, country, _ = HOME
    where = (("room", room), ("floor", floor), ("zone", "building"), ("city", city), ("country", country), CONTINENT)
    return (*_reading(chosen, capability, INDOOR[capability]), ("device", device), *desk, *where)


def _outdoor(chosen: random.Random) -> Pairs:
    capability = chosen.choice(tuple(OUTDOOR))
    city, region, country, streets = chosen.choice(PLACES)
    sensor = ("sensor", f"sensor {chosen.randint(100, 399)}")
    where = (("street", chosen.choice(streets)), ("zone", chosen.choice(("city centre", "suburb", "park"))))
    return (
        *_reading(chosen, capability, OUTDOOR[capability]),
        sensor,
        *where,
        ("city", city),
        ("region", region),
        ("country", country),
        CONTINENT,
    )


def _mobile(chosen: random.Random) -> Pairs:
    capability = chosen.choice(MOBILE)
    city, region, country, streets = chosen.choice(PLACES)
    vehicle = (("vehicle", chosen.choice(VEHICLE_KINDS)), ("brand", chosen.choice(VEHICLES)))
    where = (("road", chosen.choice(streets)), ("city", city), ("region", region), ("country", country), CONTINENT)
    return (*_reading(chosen, capability, OUTDOOR.get(capability, SPEED_UNIT)), *vehicle, *where)


def _reading(chosen: random.Random, capability: str, unit: str) -> Pairs:
    return (("type", f"{chosen.choice(CHANGES)} {capability} event"), ("measurement unit", unit))

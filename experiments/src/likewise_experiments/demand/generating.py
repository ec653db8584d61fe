"""Random subscriptions, announcements and events of the same few quantities under many names; a part lies outside."""

from __future__ import annotations

from random import Random
from typing import Any, Final, NamedTuple

from likewise.language import parse
from likewise.model import Event, Subscription, event
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement
from likewise.semantics.enrichment.corrections import Correction


class Quantity(NamedTuple):
    """Something that is read: how it is asked for, what it is called, in which units, and its usual range."""

    asked: tuple[str, ...]
    names: tuple[str, ...]
    units: tuple[str, ...]
    low: float
    high: float


QUANTITIES: Final = (
    Quantity(
        ("temperature", "air temperature"),
        ("temperature", "TempC_SHT", "air_temp_f", "temperatureValue", "tmp"),
        ("degC", "degF", ""),
        -10,
        40,
    ),
    Quantity(("humidity", "relative humidity"), ("humidity", "Hum_SHT", "relativeHumidity", "rh"), ("%", ""), 10, 90),
    Quantity(("battery voltage",), ("BatV", "battery_voltage", "batteryVolts", "voltage"), ("V", "mV", ""), 2, 4),
    Quantity(("carbon dioxide", "co2"), ("co2", "CO2_ppm", "carbonDioxide", "eco2"), ("ppm", ""), 400, 2000),
    Quantity(("power", "active power"), ("power", "activePower", "W_total", "wattage"), ("W", "kW", ""), 0, 3000),
    Quantity(("pressure", "air pressure"), ("pressure", "baro", "airPressure_hPa"), ("hPa", "kPa", ""), 950, 1050),
    Quantity(("water temperature",), ("waterTemp", "pool_temperature", "supply_temp"), ("degC", ""), 5, 60),
)
TEXTS: Final = {
    ("device", "appliance", "equipment", "deviceType"): ("laptop", "computer", "heater", "lamp", "fan", "refrigerator"),
    ("status", "state", "operatingMode"): ("on", "off", "fault", "running", "idle"),
    ("room", "place", "location"): ("kitchen", "office", "room 112", "attic", "cellar"),
}
SWITCHES: Final = (("door open", "window open"), ("door_open", "doorClosed", "contact", "windowOpen"))
THEMES: Final = ((), ("climate",), ("energy", "appliances"))


class Drawn(NamedTuple):
    """One announcement, the subscriptions beside it, what is corrected and judged, and events of the source."""

    announcement: Announcement
    subscriptions: tuple[Subscription, ...]
    corrections: tuple[Correction, ...]
    events: tuple[Event, ...]
    outside: int


def draw(chance: Random, subscriptions: int, events: int, outside: float) -> Drawn:
    """Draw one announcement with everything around it."""
    announcement = _announcement(chance)
    wanted = tuple(_subscription(chance, f"s{n}") for n in range(subscriptions))
    made, odd = [], 0
    for _ in range(events):
        strange = chance.random() < outside
        odd += strange
        made.append(_event(chance, announcement, strange))
    return Drawn(announcement, wanted, _corrections(chance, announcement), tuple(made), odd)


def _announcement(chance: Random) -> Announcement:
    attributes: dict[str, AnnouncedAttribute] = {}
    for quantity in chance.sample(QUANTITIES, chance.randint(1, 4)):
        name, unit = chance.choice(quantity.names), chance.choice(quantity.units)
        low, high = _in_unit(quantity, unit)
        ranged = chance.random() < 0.8
        attributes[name] = AnnouncedAttribute(name, unit, "number", low if ranged else None, high if ranged else None)
    for names, values in TEXTS.items():
        if chance.random() < 0.5:
            name = chance.choice(names)
            some = tuple(chance.sample(values, chance.randint(2, len(values)))) if chance.random() < 0.8 else ()
            attributes[name] = AnnouncedAttribute(name, kind="text", values=some)
    if chance.random() < 0.4:
        name = chance.choice(SWITCHES[1])
        attributes[name] = AnnouncedAttribute(name, kind="boolean")
    return Announcement(
        "source",
        tuple(attributes.values()),
        chance.random() < 0.5,
        chance.choice(THEMES),
        chance.choice(("", "X", "Y")),
    )


def _in_unit(quantity: Quantity, unit: str) -> tuple[float, float]:
    factors = {"degF": (1.8, 32.0), "mV": (1000.0, 0.0), "kW": (0.001, 0.0), "kPa": (0.1, 0.0)}
    factor, offset = factors.get(unit, (1.0, 0.0))
    return quantity.low * factor + offset, quantity.high * factor + offset


def _number(chance: Random, quantity: Quantity) -> str:
    return f"{quantity.low + (quantity.high - quantity.low) * chance.choice((0.1, 0.3, 0.5, 0.7)):.3g}"


def _subscription(chance: Random, id: str) -> Subscription:
    parts = []
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):
        kind = chance.random()
        if kind < 0.6:
            quantity = chance.choice(QUANTITIES)
            relaxed = chance.random() < 0.7
            name = f'"{chance.choice(quantity.asked)}"~' if relaxed else f'"{chance.choice(quantity.names)}"'
            unit = quantity.units[0] if chance.random() < 0.6 else ""
            operator = chance.choice((">", "<", ">=", "exists"))
            parts.append(
                f"{name} exists" if operator == "exists" else f"{name} {operator} {_number(chance, quantity)} {unit}"
            )
        elif kind < 0.9:
            names = chance.choice(tuple(TEXTS))
            value = chance.choice(TEXTS[names])
            tilde = "~" if chance.random() < 0.5 else ""
            value = f'"{value}"' + ("~" if chance.random() < 0.4 else "")
            parts.append(f'"{chance.choice(names)}"{tilde} = {value}')
        else:
            name = f'"{chance.choice(SWITCHES[0])}"~' if chance.random() < 0.7 else chance.choice(SWITCHES[1])
            parts.append(f"{name} = {chance.choice(('true', 'false'))}")
    if len(parts) > 1 and chance.random() < 0.2:
        parts = [f"({' or '.join(parts)})"]
    elif chance.random() < 0.1:
        parts.append("not status = off")
    theme = chance.choice(THEMES)
    themes = f"{{{', '.join(theme)}}} " if theme else ""
    ending = chance.choice(("", "", "", " threshold 0.4", " threshold 0.7", " confidence 0.5"))
    return parse(f"{themes}{{{', '.join(parts)}}}{ending}", id=id)


def _event(chance: Random, announcement: Announcement, strange: bool) -> Event:
    payload: dict[str, Any] = {}
    for each in announcement.attributes:
        if chance.random() < 0.85:
            payload[each.name] = _value(chance, each)
    if not payload:
        first = announcement.attributes[0]
        payload[first.name] = _value(chance, first)
    themes = announcement.themes
    if strange:
        payload, themes = _outside(chance, payload, themes, announcement)
    return event(payload, themes=themes, source=announcement.source)


def _value(chance: Random, each: AnnouncedAttribute) -> Any:
    if each.kind == "boolean":
        return chance.random() < 0.5
    if each.kind == "text":
        return chance.choice(each.values or ("laptop", "on", "office", "something else"))
    low = each.low if each.low is not None else -10.0
    high = each.high if each.high is not None else 1500.0
    number = round(chance.uniform(low, high), 2)
    number = min(max(number, low), high)
    return {"value": number, "unit": each.unit} if each.unit and chance.random() < 0.6 else number


def _outside(
    chance: Random, payload: dict[str, Any], themes: tuple[str, ...], announcement: Announcement
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Something that the announcement does not say: another name, unit, range, text, kind or theme."""
    match chance.choice(("name", "unit", "range", "text", "kind", "theme")):
        case "name":
            quantity = chance.choice(QUANTITIES)
            payload[chance.choice(quantity.names)] = float(_number(chance, quantity))
        case "unit":
            name = chance.choice(list(payload))
            payload[name] = {"value": 30, "unit": chance.choice(("degF", "kPa", "kW", "mV"))}
        case "range":
            numbers = [each.name for each in announcement.attributes if each.kind == "number"]
            payload[chance.choice(numbers)] = chance.choice((-500.0, 5000.0, 1e6))
        case "text":
            names = chance.choice(tuple(TEXTS))
            payload[chance.choice(names)] = chance.choice(("notebook computer", "switched on", *TEXTS[names]))
        case "kind":
            payload[chance.choice(list(payload))] = chance.choice(("fault", True, 1))
        case "theme":
            themes = ("climate", "energy")
    return payload, themes


def _corrections(chance: Random, announcement: Announcement) -> tuple[Correction, ...]:
    found = []
    for each in announcement.attributes:
        if chance.random() < 0.2:
            quantity = chance.choice(QUANTITIES)
            of, name = chance.choice((("source", "source"), ("attribute", "")))
            unit = quantity.units[0] if each.kind == "number" and not each.unit and chance.random() < 0.5 else ""
            found.append(Correction(each.name, of, name, means=quantity.asked[0], unit=unit))  # type: ignore[arg-type]
    return tuple(found)

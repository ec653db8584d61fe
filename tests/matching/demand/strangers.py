"""Cases of demand drawn by a stranger: every operator of the language, lists, dates, topics, odd spellings, alerts.

Nothing of `likewise.matching.demand` is used here: what is announced, asked and sent is drawn as plain text and JSON,
and the engines say what matches. A tenth of the events has something that its announcement does not say.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

import likewise as lw
from likewise.errors import LikewiseError
from likewise.model.announcements.announcement import AnnouncedAttribute, Announcement

NUMBERS = {  # names under which a number is sent: how it is asked for, units, a range
    "temperature": (("temperature", "Temp", "air_temp_f", "t_in", "TempC_SHT"), ("", "degC", "degF", "K"), (-20, 60)),
    "pressure": (("pressure", "baro_hPa", "p"), ("", "hPa", "kPa"), (900, 1100)),
    "battery voltage": (("BatV", "battery.voltage", "vbat"), ("", "V", "mV"), (2, 4)),
    "speed": (("wind.speed", "windspeedmph", "speed"), ("", "m/s", "km/h"), (0, 40)),
    "count": (("count", "n", "visitors"), ("",), (0, 10)),
}
TEXTS = {
    "device": (("device", "appliance", "unit type"), ("laptop", "heater", "Lamp ", "refrigerator", "25", "true")),
    "status": (("status", "state", "mode"), ("on", "off", "fault", "eco", "0")),
    "room": (("room", "place", "zone.name"), ("kitchen", "Room 112", "attic", "röntgen raum")),
    "topic": (("topic", "path"), ("building/floor 1/room 2", "building/floor 2", "garden")),
    "type": (("type", "kind of thing"), ("measurement.temperature", "measurement", "alarm")),
}
DATES = {
    "time of measurement": (("when", "measured_at"), ("2024-05-01", "2024-05-01T12:00:00Z", "2024-06-15T08:00+02:00"))
}
SWITCHES = {"door open": ("door_open", "doorClosed", "contact"), "motion": ("motion", "occupied", "moving")}
LISTS = {"readings": ("name", "value"), "doors": ("state", "no")}
THEMES = ((), ("climate",), ("energy", "appliances"), ("Climate", "energy"))


class Case(NamedTuple):
    """One announcement, what is asked beside it, and events of its source; which of them were drawn to lie outside."""

    announcement: Announcement
    subscriptions: list[lw.Subscription]
    corrections: list[tuple[str, str, str]]  # attribute, what it means, its unit
    events: list[lw.Event]
    odd: list[bool]


def draw_case(chance: Random, subscriptions: int, events: int, endings: tuple[str, ...] = ("",)) -> Case:
    """Draw one; `endings` are put behind conditions."""
    announcement = _announcement(chance)
    asked: list[lw.Subscription] = []
    while len(asked) < subscriptions:
        text = _condition(chance) + chance.choice(endings)
        try:
            asked.append(lw.parse(text, id=f"s{len(asked)}"))
        except LikewiseError:
            continue  # two units that do not fit, an empty range, an alert that cannot fail
    odd = [chance.random() < 0.1 for _ in range(events)]
    made = [_event(chance, announcement, strange, place) for place, strange in enumerate(odd)]
    corrections = []
    for each in announcement.attributes:
        if chance.random() < 0.15:
            means = chance.choice([*NUMBERS, *TEXTS, *SWITCHES])
            unit = chance.choice(NUMBERS[means][1]) if means in NUMBERS and each.kind in ("number", "") else ""
            corrections.append((each.name, means, unit))
    return Case(announcement, asked, corrections, made, odd)


# -- announcements ------------------------------------------------------------------------------


def _announcement(chance: Random) -> Announcement:
    found: dict[str, AnnouncedAttribute] = {}

    def say(name: str, *rest: Any, **more: Any) -> None:
        if lw.model.fold(name) not in map(lw.model.fold, found):
            found[name] = AnnouncedAttribute(name, *rest, **more)

    for names, units, (low, high) in chance.sample(list(NUMBERS.values()), chance.randint(1, 3)):
        unit = chance.choice(units)
        kind = chance.choice(("number", "number", ""))
        match chance.choice(("range", "range", "low", "values", "open")):
            case "range":
                say(chance.choice(names), unit, "number", float(low), float(high))
            case "low":
                say(chance.choice(names), unit, "number", float(low))
            case "values":
                say(chance.choice(names), unit, "number", values=(float(low), 1.0, 7.5, float(high)))
            case _:
                say(chance.choice(names), unit, kind)
    for names, values in TEXTS.values():
        if chance.random() < 0.4:
            some = tuple(chance.sample(values, chance.randint(1, len(values)))) if chance.random() < 0.6 else ()
            say(chance.choice(names), kind=chance.choice(("text", "text", "")) if not some else "", values=some)
    for names, values in DATES.values():
        if chance.random() < 0.4:
            say(chance.choice(names), kind=chance.choice(("text", "")), values=chance.choice(((), values)))
    for names in SWITCHES.values():
        if chance.random() < 0.3:
            say(chance.choice(names), kind=chance.choice(("boolean", "")))
    for name, fields in LISTS.items():
        if chance.random() < 0.1:
            for field in fields:
                say(f"{name}[].{field}", kind=chance.choice(("", "number" if field in ("value", "no") else "text")))
    if chance.random() < 0.15:
        say("tags[]", kind="text")
    return Announcement("s1", tuple(found.values()), chance.random() < 0.5, chance.choice(THEMES))


# -- subscriptions ------------------------------------------------------------------------------


def _condition(chance: Random) -> str:
    theme = chance.choice((*THEMES, (), ()))
    said = f"{{{', '.join(theme)}}} " if theme else ""
    items = [_item(chance, 2) for _ in range(chance.choice((1, 1, 1, 2, 2, 3)))]
    if chance.random() < 0.12:
        items.append("not " + _fact(chance))
    return said + "{" + ", ".join(items) + "}"


def _item(chance: Random, depth: int) -> str:
    drawn = chance.random()
    if drawn < 0.12 and depth:
        return "(" + " or ".join(_item(chance, depth - 1) for _ in range(2)) + ")"
    if drawn < 0.16 and depth:
        return f"(not {_fact(chance)} or {_fact(chance)})"
    if drawn < 0.26:
        name = chance.choice(list(LISTS))
        fields = LISTS[name]
        tilde = chance.choice(("", "", "~"))
        word = chance.choice(("temp", "open", "closed")) + chance.choice(("", "~"))
        first = f"{fields[0]}{chance.choice(('', '~'))} = {word}"
        second = f"{fields[1]} {chance.choice(('>', '<', '='))} {chance.choice((1, 5, 20))}"
        return f"some {name}{tilde} ({chance.choice((first, second, f'{first}, {second}'))})"
    return _fact(chance)


def _quoted(text: str) -> str:
    return '"' + text + '"'


def _fact(chance: Random) -> str:
    kind = chance.random()
    if kind < 0.45:
        asked = chance.choice(list(NUMBERS))
        names, units, (low, high) = NUMBERS[asked]
        name = _quoted(asked) + "~" if chance.random() < 0.55 else _quoted(_spelled(chance, chance.choice(names)))
        unit = chance.choice(units)
        numbers = sorted(round(chance.uniform(low - 2, high + 2), chance.choice((0, 1))) for _ in range(2))
        first, second = (f"{number:g} {unit}".rstrip() for number in numbers)
        return chance.choice(
            (
                f"{name} > {first}",
                f"{name} < {second}",
                f"{name} >= {first}",
                f"{name} != {first}",
                f"{name} between {first} and {second}",
                f"{first} <= {name} < {second}",
                f"{name} exists",
                f"{name} in ({first}, {second})",
                f"{name} = {chance.choice((low, high, 1, 7.5))}",
                f'{name} = "{chance.choice((low, high, 1, 7.5))}"',
                f'{name} contains "1"',
            )
        )
    if kind < 0.75:
        asked = chance.choice(list(TEXTS))
        names, values = TEXTS[asked]
        name = _quoted(chance.choice((asked, *names))) + chance.choice(("", "", "~"))
        value = chance.choice(values)
        return chance.choice(
            (
                f"{name} = {_quoted(value)}{chance.choice(('', '~'))}",
                f"{name} != {_quoted(value)}",
                f"{name} in ({_quoted(value)}, {_quoted(chance.choice(values))})",
                f"{name} exists",
                f"{name} contains {_quoted(value[1:3])}",
                f"{name} starts with {_quoted(value[:2])}",
                f"{name} ends with {_quoted(value[-2:])}",
                f"{name} under {_quoted('building/floor 1')}",
                f'{name} matches "building/+/#"',
                f"{name} is-a measurement",
                f'{name} = "notebook"~',
            )
        )
    if kind < 0.85:
        names, values = next(iter(DATES.values()))
        name = _quoted(chance.choice(names))
        first, second = sorted(chance.sample(("2024-04-30", "2024-05-01", "2024-05-01T11:00:00Z", "2024-06-20"), 2))
        return chance.choice(
            (
                f"{name} > {first}",
                f"{name} <= {second}",
                f"{name} = 2024-05-01",
                f"{first} <= {name} < {second}",
                f"{name} != 2024-05-01",
                f"{name} in ({first}, {second})",
            )
        )
    if kind < 0.95:
        asked = chance.choice(list(SWITCHES))
        name = _quoted(asked) + "~" if chance.random() < 0.6 else _quoted(chance.choice(SWITCHES[asked]))
        return f"{name} {chance.choice(('=', '=', '!='))} {chance.choice(('true', 'false'))}"
    return chance.choice(
        (
            "tags = red",
            "tags = red, tags = blue",
            '"readings.name" = temp',
            '"readings[].value" > 3',
            '"doors.state"~ = open~',
        )
    )


def _spelled(chance: Random, name: str) -> str:
    return chance.choice((name, name, name.upper(), f" {name}"))


# -- events -------------------------------------------------------------------------------------


def _event(chance: Random, said: Announcement, strange: bool, place: int) -> lw.Event:
    payload: dict[str, Any] = {}
    for each in said.attributes:
        if chance.random() < 0.8 and "[]" not in each.name:
            payload[_spelled(chance, each.name) if chance.random() < 0.03 else each.name] = _value(chance, each)
    for name in LISTS:
        own = [each for each in said.attributes if each.name.startswith(f"{name}[].")]
        if own and chance.random() < 0.8:
            payload[name] = [
                {each.name.split(".")[1]: _field(chance, each) for each in own if chance.random() < 0.9}
                for _ in range(chance.randint(1, 3))
            ]
    if any(each.name == "tags[]" for each in said.attributes):
        payload["tags"] = chance.sample(("red", "blue", "green"), chance.randint(1, 2))
    themes = said.themes
    if strange:
        themes = _make_strange(chance, payload, said)
    payload = {name: value for name, value in payload.items() if value != [{}]} or {"nothing": 1}
    try:
        return lw.event(payload, themes=themes, source="s1", id=f"e{place}")
    except LikewiseError:
        return lw.event({"nothing": 1}, themes=themes, source="s1", id=f"e{place}")


def _field(chance: Random, each: AnnouncedAttribute) -> Any:
    words = ("temp", "open", "closed", "shut", "ajar")
    return chance.choice(
        (1, 3, 21.5, 30) if each.kind == "number" else words if each.kind == "text" else (*words, 4, True)
    )


def _value(chance: Random, each: AnnouncedAttribute) -> Any:
    if each.values:
        value: Any = chance.choice(each.values)
        value = f" {value.upper()}" if isinstance(value, str) and chance.random() < 0.15 else value
    elif each.kind == "boolean":
        value = chance.random() < 0.5
    elif each.kind == "number":
        low, high = (-30.0 if each.low is None else each.low), (1200.0 if each.high is None else each.high)
        value = chance.choice((low, high, round(chance.uniform(low, high), 1), round((low + high) / 2)))
    elif each.kind == "text":
        every = [text for _, values in TEXTS.values() for text in values if text not in ("25", "0")]
        dates = next(iter(DATES.values()))[1]
        value = chance.choice(
            (*dates, "notebook") if each.name in ("when", "measured_at") else (*every, "notebook", "closed")
        )
    else:
        value = chance.choice((5, 21.5, True, False, "on", "off", "25", "2024-05-01", "laptop", "21 degC", 0, 1))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        drawn = chance.random()
        if each.unit and drawn < 0.4:
            return {"value": value, "unit": each.unit}
        if each.unit and drawn < 0.5:
            return f"{value:g} {each.unit}"
        if drawn < 0.6:
            return f"{value:g}"
    return value


def _make_strange(chance: Random, payload: dict[str, Any], said: Announcement) -> tuple[str, ...]:
    """Something that was not announced; the themes of the event."""
    any_name: str = chance.choice(
        [
            name
            for names in (*(each[0] for each in NUMBERS.values()), *(each[0] for each in TEXTS.values()))
            for name in names
        ]
    )
    own: str = chance.choice(list(payload)) if payload else any_name
    match chance.choice(
        ("name", "unit", "range", "text", "kind", "theme", "date", "list", "twice", "item", "huge", "nested")
    ):
        case "name":
            payload[any_name] = chance.choice((5, 30, "on", "laptop", True))
        case "unit":
            payload[own] = {"value": 30, "unit": chance.choice(("degF", "kPa", "mV", "furlongs", "V", "km/h"))}
        case "range":
            payload[own] = chance.choice((-500, 5000, 1e6, 0.1))
        case "text":
            payload[own] = chance.choice(
                ("switched on", "notebook computer", "measurement.humidity", "building/floor 9")
            )
        case "kind":
            payload[own] = chance.choice(("fault", True, 1, 0, "1", "25 degC"))
        case "theme":
            return chance.choice(THEMES)
        case "date":
            payload[chance.choice(("when", "measured_at"))] = chance.choice(("2024-05-01", "2030-01-01", "yesterday"))
        case "list":
            payload[own] = [payload.get(own, 3), chance.choice((4, "on", "laptop"))]
        case "twice":
            payload[own.upper()] = chance.choice((7, "off", "heater"))
        case "item":
            payload[chance.choice(list(LISTS))] = [{"name": "temp", "value": 30, "state": "open", "no": 2}]
        case "huge":
            payload[own] = chance.choice((2**63, -(10**30), 9007199254740993))
        case _:
            payload[own] = {"value": 22, "name": "temp"}
    return said.themes

"""Names that stand beside a value, or are known by a device's model, where the attribute itself says nothing.

- `{"code": "va_humidity", "value": 71}`: the name is in a field beside it; `{"type": "motion", "detected": true}`.
- `{"fields": [{"name": "AirTC"}, {"name": "RH"}], "data": [{"vals": [26.9, 44]}]}`: they stand in two lists.
- `{"type": "obs_st", "obs": [[1763460000, 0.18, ...]]}`: the model says what stands where (`device_models.csv`).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources
from typing import Final, NamedTuple

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.model.event import Event, EventTuple
from likewise.semantics.concepts.inventory import singular
from likewise.semantics.text.identifiers import split_identifier
from likewise.units import find_unit

LONGEST_TEXT: Final = 60  # letters of a text that may be a name or a type
Named = tuple[str, str]  # a name, and a unit where one stands elsewhere
# The last part of a path that says no more than that the value is there.
_VALUE_WORDS: Final = frozenset(
    [
        "value",
        "val",
        "v",
        "data",
        "reading",
        "current",
        "new",
        "last",
        "raw",
        "actual",
        "numeric",
        "double",
        "float",
        "wert",
        "messwert",
        "valor",
        "valeur",
        "valore",
        "waarde",
        "number",
        "present",
        "real",
        "result",
        "measurement",
    ]
)
_VALUE_HEADS: Final = _VALUE_WORDS - {"current", "new", "last", "raw", "actual", "numeric", "present", "real", "number"}
_ROWS: Final = frozenset({"val", "value", "data", "row", "reading", "measurement", "point", "sample", "record", "v"})
_COLUMNS: Final = frozenset({"name", "column", "field", "header", "label", "key", "channel", "parameter", "signal"})
_UNIT_WORDS: Final = frozenset({"celsius", "percent", "fahrenheit", "kelvin"})
# Says that the type beside it is so: the motion is detected.
_STATES: Final = frozenset({"detected", "triggered", "active", "alarm"})
# What the field beside is called, the likeliest name first.
_NAME_KEYS: Final = {
    key: rank
    for rank, key in enumerate(
        [
            "parametername",
            "parameter",
            "param",
            "quantity",
            "measurand",
            "metric",
            "metricname",
            "signal",
            "signalname",
            "variable",
            "valuetype",
            "propertykey",
            "propertyname",
            "property",
            "pointname",
            "display",
            "deviceclass",
            "name",
            "n",
            "label",
            "code",
            "key",
            "measurement",
            "measurementtype",
            "field",
            "attribute",
            "feature",
            "path",
            "nombre",
            "nom",
            "naam",
            "nome",
            "bezeichnung",
            "sensortype",
            "sensor",
            "channel",
            "tag",
            "type",
            "kind",
            "title",
            "description",
            "diagnostic",
            "datapoint",
            "topic",
        ]
    )
}
_TYPE_KEYS: Final = frozenset({"type", "kind", "sensortype", "deviceclass", "devicetype"})
_INNER_KEYS: Final = frozenset({"id", "code", "name", "key", "display", "text", "label"})
_TYPES_OF_DATA: Final = frozenset(
    {"number", "string", "float", "double", "integer", "int", "boolean", "bool", "text", "numeric", "object", "ok"}
)


_ID_ENDING: Final = re.compile(r"(?<=[a-z])(Id|ID|_id)$")
# What `on` says of a sensor of a class, as Home Assistant defines it.
BINARY_CLASSES: Final = {
    "battery": "battery low",
    "carbon_monoxide": "carbon monoxide detected",
    "connectivity": "connected",
    "door": "door open",
    "garage_door": "garage door open",
    "gas": "gas detected",
    "lock": "unlocked",
    "moisture": "water leak detected",
    "motion": "motion detected",
    "moving": "moving",
    "occupancy": "occupied",
    "opening": "open",
    "plug": "plugged in",
    "presence": "present",
    "problem": "fault active",
    "running": "running",
    "smoke": "smoke detected",
    "sound": "sound detected",
    "tamper": "tamper detected",
    "vibration": "vibration detected",
    "window": "window open",
}


class _Model(NamedTuple):
    """Names of a model's fields (with the position in a list, else -1), and what shows that an event is of it."""

    signature: frozenset[str]
    names: dict[tuple[str, int], str]
    lengths: dict[str, int]


@lru_cache(maxsize=1)
def _models() -> dict[str, tuple[_Model, ...]]:
    """Return the models by the fields that they name."""
    text = (resources.files("likewise") / "data" / "device_models.csv").read_text("utf-8")
    models: dict[str, _Model] = {}
    for row in csv.DictReader(text.splitlines()):
        model = models.setdefault(row["model"], _Model(frozenset(row["signature"].split("|")), {}, {}))
        names = row["names"].split("|")
        if len(names) > 1:
            model.lengths[row["field"]] = len(names)
        for at, name in enumerate(names):
            model.names[row["field"], at if len(names) > 1 else -1] = name
    out: dict[str, list[_Model]] = {}
    for model in models.values():
        for field in dict.fromkeys(field for field, _ in model.names):
            out.setdefault(field, []).append(model)
    return {field: tuple(each) for field, each in out.items()}


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def _words(text: str) -> tuple[str, ...]:
    return tuple(singular(word.casefold()) for word in split_identifier(text))


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def _leaf(attribute: str) -> str:
    return attribute.rpartition(".")[2].replace("[]", "")


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def is_nameless(attribute: str) -> bool:
    """Return whether the rest of an event may name what an attribute holds: it says itself only that a value is there.

    >>> [is_nameless(n) for n in ("status[].value", "Temperatures[].ReadingCelsius", "r.temp", "obs[][]", "state")]
    [True, True, False, True, True]
    """
    leaf = _leaf(attribute)
    words = _words(leaf)
    if attribute.endswith("[]"):
        return leaf in _models() or (bool(words) and words[-1] in _ROWS)
    return leaf in _models() or words == ("state",) or _is_value(words) or (len(words) == 1 and words[0] in _STATES)


def _is_value(words: Sequence[str]) -> bool:
    words = words[:-1] if len(words) > 1 and words[-1] in _UNIT_WORDS else words
    return bool(words) and words[-1] in _VALUE_HEADS and all(word in _VALUE_WORDS for word in words)


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def is_name_key(attribute: str) -> bool:
    """Return whether the text under an attribute may be the name of its neighbour."""
    return "".join(_words(_leaf(attribute))) in _NAME_KEYS


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def _key_rank(path: str) -> int:
    """Return the rank of a field that may have the name of its neighbour; -1 if it has none."""
    first, _, last = path.partition(".")
    key = "".join(_words(first.replace("[]", "")))
    if last and key == "attribute":
        key = "".join(_words(last))
        return _NAME_KEYS[key] if key == "deviceclass" else -1
    if last and _leaf(last).casefold() not in _INNER_KEYS:
        return -1
    return _NAME_KEYS.get(key, -1)


def adjacent_names(event: Event) -> dict[int, Named]:
    """Return the names of readings whose attributes say nothing, by their places among the tuples.

    >>> from likewise.model import event
    >>> adjacent_names(event({"status": [{"code": "va_humidity", "value": 71}, {"code": "battery", "value": 12}]}))
    {1: ('va_humidity', ''), 3: ('battery', '')}
    """
    nameless = [place for place, item in enumerate(event.tuples) if is_nameless(item.attribute)]
    if not nameless:
        return {}
    out = _named_by_model(event, nameless)
    texts = [(at, t) for at, t in enumerate(event.tuples) if type(t.value) is str and len(t.value) <= LONGEST_TEXT]
    lists: dict[str, list[int]] = {}
    for place in nameless:
        item = event.tuples[place]
        if place in out:
            continue
        if item.attribute.endswith("[]"):
            lists.setdefault(item.attribute, []).append(place)
        elif (named := _adjacent_name(place, item, texts))[0]:
            out[place] = named
    for places in lists.values():
        out.update(_named_in_order(places, texts))
    return out


def _named_by_model(event: Event, nameless: Sequence[int]) -> dict[int, Named]:
    """Return the names that a model's fields and positions have; a list counts only if it has the model's length."""
    models = _models()
    out: dict[int, Named] = {}
    shown: frozenset[str] | None = None
    lists: dict[str, list[int]] = {}
    for place in nameless:
        leaf = _leaf(event.tuples[place].attribute)
        for model in models.get(leaf, ()):
            if shown is None:
                shown = frozenset(
                    each for t in event.tuples for each in (_leaf(t.attribute), f"{_leaf(t.attribute)}={t.value}")
                )
            if not model.signature <= shown:
                continue
            if (leaf, -1) in model.names:
                out[place] = (model.names[leaf, -1], "")
            else:
                lists.setdefault(event.tuples[place].attribute, []).append(place)
                length = model.lengths[leaf]
                if len(lists[event.tuples[place].attribute]) % length == 0:
                    for at, each in enumerate(lists[event.tuples[place].attribute][-length:]):
                        out[each] = (model.names[leaf, at], "")
            break
    for attribute, places in lists.items():  # a value is missing somewhere: nobody knows which
        if any(place not in out for place in places):
            out = {place: named for place, named in out.items() if event.tuples[place].attribute != attribute}
    return out


def _named_in_order(places: Sequence[int], texts: Sequence[tuple[int, EventTuple]]) -> dict[int, Named]:
    """Return the names of a row of values from another list of as many names."""
    columns: dict[str, list[str]] = {}
    for _, item in texts:
        if "[]" in item.attribute:
            columns.setdefault(item.attribute, []).append(str(item.value))
    for attribute, names in columns.items():
        words = _words(_leaf(attribute))
        if words and words[-1] in _COLUMNS and len(names) > 1 and len(places) % len(names) == 0:
            outer = attribute.rpartition(".")[0]
            units = next(
                (u for a, u in columns.items() if a.rpartition(".")[0] == outer and "unit" in _words(_leaf(a))), []
            )
            units = units if len(units) == len(names) else [""] * len(names)
            return {place: (names[at % len(names)], units[at % len(names)]) for at, place in enumerate(places)}
    return {}


def _adjacent_name(place: int, item: EventTuple, texts: Sequence[tuple[int, EventTuple]]) -> Named:
    leaf = _words(_leaf(item.attribute))
    of_type = leaf == ("state",) or leaf[-1] in _STATES
    for prefix in _prefixes(item.attribute):
        best, unit = (len(_NAME_KEYS), ""), ""
        for at, other in texts:
            if at == place or not other.attribute.startswith(prefix) or (other.group != item.group and "[]" in prefix):
                continue
            path = other.attribute[len(prefix) :]
            rank = _key_rank(path)
            key = "".join(_words(_leaf(path)))
            if key == "unitofmeasurement":
                unit = str(other.value)
            allowed = key == "deviceclass" or (leaf[-1] in _STATES and key in _TYPE_KEYS) if of_type else True
            name = _ID_ENDING.sub("", str(other.value))
            if 0 <= rank < best[0] and allowed and _may_be_a_name(name):
                best = (rank, BINARY_CLASSES.get(name, name) if _is_binary(item.value) and of_type else name)
        if best[1]:
            outer = [p for p in prefix.split(".") if p and not p.endswith("[]") and not set(_words(p)) <= _VALUE_WORDS]
            return ".".join([*outer, best[1] + (f" {leaf[-1]}" if leaf[-1] in _STATES else "")]), unit
        if of_type:
            break
    return "", ""


def _is_binary(value: object) -> bool:
    return isinstance(value, bool) or value in ("on", "off", "ON", "OFF")


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def _may_be_a_name(text: str) -> bool:
    return any(c.isalpha() for c in text) and text.casefold() not in _TYPES_OF_DATA and find_unit(text) is None


def _prefixes(attribute: str) -> Iterator[str]:
    """Yield the path of the object that a value stands in, and those around it that say nothing themselves."""
    parts = attribute.split(".")
    silent = _VALUE_WORDS | {"property", "attribute"}
    for end in range(len(parts) - 1, -1, -1):
        yield "".join(part + "." for part in parts[:end])
        if end and ("[]" in parts[end - 1] or not set(_words(parts[end - 1])) <= silent):
            return

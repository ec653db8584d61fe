"""Home Assistant's discovery: what a state topic's bare value is called, the units of its fields, and whose it is.

A configuration names its state topic, a device class or a name, a unit, where in the payload the value stands
(`value_template`), and the device with its identifiers. Abbreviated names (`stat_t`, `unit_of_meas`, `~`) are read as
Home Assistant reads them. One configuration may list several components (`cmps`) of one device.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from likewise.broker.tenants.identities import Naming
from likewise.defaults import MAX_DISCOVERED, MAX_TERM_LENGTH

_LONG: Final = {
    "stat_t": "state_topic",
    "unit_of_meas": "unit_of_measurement",
    "dev_cla": "device_class",
    "val_tpl": "value_template",
    "json_attr_t": "json_attributes_topic",
    "dev": "device",
    "cmps": "components",
    "ids": "identifiers",
}
_TOPICS: Final = ("state_topic", "json_attributes_topic")  # a topic of availability is often a gateway's, of many
_FIELD: Final = re.compile(r"\{\{\s*value_json((?:\.\w+|\[\s*['\"][^'\"]+['\"]\s*\])+)")
_STEP: Final = re.compile(r"\.(\w+)|\[\s*['\"]([^'\"]+)['\"]\s*\]")
_ZIGBEE: Final = re.compile(r"zigbee2mqtt_(0x[0-9a-fA-F]{16})")  # as Zigbee2MQTT writes a device's address


class Announced(NamedTuple):
    """What was announced of a value: its field ('' of a bare one), what it is called, its unit ('' for none)."""

    field: str
    name: str
    unit: str


class _Device(NamedTuple):
    """The device of a configuration: its first identifier, what people call it, and the topics that are its own."""

    id: str
    label: str
    topics: tuple[str, ...]


class Discovery:
    """What was announced, by state topic; bounded, the oldest forgotten first.

    >>> found = Discovery()
    >>> said = {"~": "attic", "stat_t": "~/t", "dev_cla": "temperature", "unit_of_meas": "°C", "name": "Attic"}
    >>> found.learn("homeassistant/sensor/attic/config", said)
    >>> found.bare("attic/t")
    Announced(field='', name='temperature', unit='°C')
    """

    def __init__(self, most: int = MAX_DISCOVERED) -> None:
        self._most = most
        self._topics: dict[str, list[str]] = {}  # the configuration's topic -> the state topics it speaks of
        self._states: dict[str, dict[str, Announced]] = {}  # state topic -> configuration's topic -> what it says
        self._said: dict[str, Mapping[str, object]] = {}  # by the configuration's topic, as it came
        self._devices: dict[str, _Device] = {}  # by the configuration's topic
        self._owners: dict[str, dict[str, str]] = {}  # a source's name -> configuration's topic -> the device's id
        self._names: dict[str, tuple[str, ...]] = {}  # the names that a configuration's device has

    def learn(self, topic: str, said: Mapping[str, object]) -> None:
        """Remember a configuration; an empty one, or one without a state topic, is forgotten."""
        if said and self._said.get(topic) == said:
            return
        self._forget(topic)
        full = _full(said)
        parts = full.get("components")
        listed = parts.values() if isinstance(parts, Mapping) else ()
        components = [_full(each) for each in listed if isinstance(each, Mapping)]
        states: list[str] = []
        for component in components or [{}]:
            each = {**full, **component}
            state = _topic(each.get("state_topic"), each.get("~"))
            if state:
                states.append(state)
                self._states.setdefault(state, {})[f"{topic}#{len(states)}"] = _announced(each)
        if not states:
            return
        self._topics[topic], self._said[topic] = states, said
        self._know_device(topic, full, components)
        while len(self._topics) > self._most:
            self._forget(next(iter(self._topics)))

    def _know_device(self, topic: str, full: dict[str, object], components: list[dict[str, object]]) -> None:
        device = full.get("device")
        said = _full(device) if isinstance(device, Mapping) else {}
        ids = said.get("identifiers")
        first = ids[0] if isinstance(ids, list) and ids else ids
        if not isinstance(first, str) or not 0 < len(first) <= MAX_TERM_LENGTH:
            return
        zigbee = _ZIGBEE.fullmatch(first)
        own = [_topic(each.get(key), full.get("~")) for each in (full, *components) for key in _TOPICS]
        made = _Device(
            zigbee[1] if zigbee else first,
            str(said.get("name") or "")[:MAX_TERM_LENGTH],
            tuple(dict.fromkeys(each for each in own if each)),
        )
        self._devices[topic] = made

    def _forget(self, topic: str) -> None:
        for number, state in enumerate(self._topics.pop(topic, ()), 1):
            known = self._states.get(state)
            if known is not None:
                known.pop(f"{topic}#{number}", None)
                if not known:
                    del self._states[state]
        self._devices.pop(topic, None)
        self._said.pop(topic, None)
        for name in self._names.pop(topic, ()):
            del self._owners[name][topic]
            if not self._owners[name]:
                del self._owners[name]

    def states_of(self, topic: str) -> list[str]:
        """Return the state topics that a configuration's topic speaks of."""
        return list(dict.fromkeys(self._topics.get(topic, ())))

    def said_of(self, topic: str) -> list[Announced]:
        """Everything that was announced of a state topic."""
        return list(self._states.get(topic, {}).values())

    def namings(self, topic: str, source_of: Callable[[str], str]) -> list[Naming]:
        """Return which names a configuration's device has: the sources, by the topic map, of the topics it names.

        A topic, or a source, that several devices share (a gateway's) keeps its own name: it is none of them.
        """
        device = self._devices.get(topic)
        if device is None:
            return []
        found = []
        names = self._names[topic] = tuple(dict.fromkeys(source_of(each) for each in device.topics))
        for name in names:
            owners = self._owners.setdefault(name, {})
            owners[topic] = device.id
            alone = set(owners.values()) == {device.id}
            found.append(Naming(name, device.id if alone else name, device.label if alone else "", "discovery"))
        return found

    def bare(self, topic: str) -> Announced | None:
        """What a bare value of a topic is, if that was announced."""
        return next((each for each in self._states.get(topic, {}).values() if not each.field), None)

    def units(self, topic: str) -> dict[str, str]:
        """The units of the fields of a topic's payload."""
        return {each.field: each.unit for each in self._states.get(topic, {}).values() if each.field and each.unit}


class Described:
    """What Home Assistant's statestream says of an entity beside its state; bounded, the oldest forgotten first.

    >>> known = Described()
    >>> known.learn("sensor.attic", "unit_of_measurement", "°C")
    >>> known.learn("sensor.attic", "friendly_name", "Attic")
    >>> known.of("sensor.attic")
    Announced(field='', name='Attic', unit='°C')
    """

    def __init__(self, most: int = MAX_DISCOVERED) -> None:
        self._most = most
        self._entities: dict[str, dict[str, str]] = {}

    def learn(self, source: str, what: str, text: str) -> None:
        """Remember a unit, a device class or a name of an entity."""
        self._entities.setdefault(source, {})[what] = text
        if len(self._entities) > self._most:
            self._entities.pop(next(iter(self._entities)))

    def of(self, source: str) -> Announced | None:
        """Return what an entity's state is; None if nothing was said of it."""
        said = self._entities.get(source)
        if said is None:
            return None
        called = said.get("device_class") or said.get("friendly_name") or ""
        return Announced("", called, said.get("unit_of_measurement", ""))


def _full(said: Mapping[str, object]) -> dict[str, object]:
    return {_LONG.get(key, key): value for key, value in said.items()}


def _topic(said: object, base: object) -> str:
    """Return a topic with what `~` stands for; '' if it is none."""
    if not isinstance(said, str):
        return ""
    if isinstance(base, str):
        said = base + said[1:] if said.startswith("~") else said
        said = said[:-1] + base if said.endswith("~") else said
    return said


def _announced(said: Mapping[str, object]) -> Announced:
    template = said.get("value_template")
    found = _FIELD.search(template) if isinstance(template, str) else None
    field = ".".join(a or b for a, b in _STEP.findall(found[1])) if found else ""
    called = next((str(said[key]) for key in ("device_class", "name") if said.get(key)), "")
    return Announced(field, called, str(said.get("unit_of_measurement") or ""))

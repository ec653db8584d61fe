"""Home Assistant's discovery: what a state topic's bare value is called, the units of its fields, and whose it is.

A configuration names its state topic, a device class or a name, a unit, where in the payload the value stands
(`value_template`), and the device with its identifiers. Abbreviated names (`stat_t`, `unit_of_meas`, `~`) are read as
Home Assistant reads them. One configuration may list several components (`cmps`) of one device.

Announcements that other systems make over MQTT: the devices of Zigbee2MQTT and Tasmota, Home Assistant's discovery.

All are retained messages, which come whenever somebody connects; so what they say holds for a week, and is renewed by
then. What cannot be announced (a unit that is not known, a device without readings) is left out, one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import structlog

from likewise.broker.tenants.identities import IdentityAnnouncement
from likewise.defaults import MAX_ANNOUNCED_ATTRIBUTES, MAX_DISCOVERED, MAX_LEASE_SECONDS, MAX_TERM_LENGTH
from likewise.errors import LikewiseError
from likewise.model.announcements.announcement import AnnouncedAttribute, AnnouncedKind, Announcement
from likewise.server.mqtt.topic_maps import shorten_source
from likewise.units import any_unit

_LONG: Final = {
    "stat_t": "state_topic",
    "unit_of_meas": "unit_of_measurement",
    "dev_cla": "device_class",
    "val_tpl": "value_template",
    "json_attr_t": "json_attributes_topic",
    "pl_on": "payload_on",
    "pl_off": "payload_off",
    "p": "platform",
    "dev": "device",
    "cmps": "components",
    "ids": "identifiers",
}
_TOPICS: Final = ("state_topic", "json_attributes_topic")  # a topic of availability is often a gateway's, of many
_FIELD: Final = re.compile(r"\{\{\s*value_json((?:\.\w+|\[\s*['\"][^'\"]+['\"]\s*\])+)")
_STEP: Final = re.compile(r"\.(\w+)|\[\s*['\"]([^'\"]+)['\"]\s*\]")
_ZIGBEE: Final = re.compile(r"zigbee2mqtt_(0x[0-9a-fA-F]{16})")  # as Zigbee2MQTT writes a device's address


class DiscoveredValue(NamedTuple):
    """A value as discovery describes it: its field ('' of a bare one), its name, its unit ('' for none).

    `states` are what the two payloads of a binary sensor say.
    """

    field: str
    name: str
    unit: str
    states: tuple[tuple[str, str | bool], ...] = ()


# The classes of binary sensors whose name or words are others than `detected` and `clear` of the class.
_BINARY: Final[dict[str, tuple[str, str | bool, str | bool]]] = {
    **{each: (each.replace("_", " "), "open", "closed") for each in ("door", "garage_door", "window")},
    "opening": ("open state", "open", "closed"),
    "lock": ("lock", "unlocked", "locked"),
    "moisture": ("leak", "detected", "clear"),
    "gas": ("gas alarm", "detected", "clear"),
    "carbon_monoxide": ("carbon monoxide alarm", "detected", "clear"),
    "connectivity": ("connectivity", "online", "offline"),
    "battery": ("battery low", True, False),
    "battery_charging": ("charging", True, False),
    "plug": ("plugged in", True, False),
    **{each: (each, True, False) for each in ("light", "power", "running", "problem", "safety", "heat", "cold")},
}


_log = structlog.get_logger("likewise.mqtt")
PUBLISHED: Final = 1  # the bit of an exposed feature's access that says it is published
_KINDS: Final[dict[str, AnnouncedKind]] = {"numeric": "number", "binary": "", "enum": "text", "text": "text"}
_NESTED: Final = frozenset(("light", "switch", "lock", "cover", "fan", "climate", "composite"))


def zigbee_announcements(devices: Sequence[object], source_of: Callable[[str], str] = str) -> list[Announcement]:
    """Return what Zigbee2MQTT's devices expose (`zigbee2mqtt/bridge/devices`), one announcement a device.

    Args:
        devices: the list as Zigbee2MQTT publishes it.
        source_of: the source of a device by its friendly name.

    >>> said = {"friendly_name": "attic", "definition": {"model": "WSDCGQ11LM", "exposes": [
    ...     {"type": "numeric", "property": "temperature", "unit": "°C", "access": 1, "value_min": -20}]}}
    >>> [made] = zigbee_announcements([said], lambda name: f"zigbee2mqtt/{name}")
    >>> made.source, made.model, made.attributes[0].unit
    ('zigbee2mqtt/attic', 'WSDCGQ11LM', 'degC')
    """
    announcements = []
    for device in devices:
        if not isinstance(device, Mapping) or device.get("disabled"):
            continue
        name, definition = device.get("friendly_name"), device.get("definition")
        if not isinstance(name, str) or not name or not isinstance(definition, Mapping):
            continue
        place = name.rpartition("/")[0]  # the last level is the device, those before it its place
        attributes = {
            each.name: each for each in map(_attribute, _published_features(definition.get("exposes"))) if each
        }
        made = _announcement(source_of(name), attributes, str(definition.get("model") or ""), place)
        if made is not None:
            announcements.append(made)
    return announcements


def zigbee_identities(devices: Sequence[object], base: str) -> list[IdentityAnnouncement]:
    """Return the stable id of each of Zigbee2MQTT's devices, its address, with its friendly name below `base`.

    >>> zigbee_identities([{"friendly_name": "attic", "ieee_address": "0x00158d0001a2b3c4"}], "zigbee2mqtt")[0].name
    'zigbee2mqtt/attic'
    """
    identities = []
    for device in devices:
        if not isinstance(device, Mapping) or device.get("type") == "Coordinator":
            continue
        name, address = device.get("friendly_name"), device.get("ieee_address")
        if isinstance(name, str) and name and isinstance(address, str) and 0 < len(address) <= MAX_TERM_LENGTH:
            identities.append(IdentityAnnouncement(shorten_source(f"{base}/{name}"), address, name[:MAX_TERM_LENGTH]))
    return identities


def tasmota_identities(config: Mapping[str, Any], source_of: Callable[[str], str]) -> list[IdentityAnnouncement]:
    """Return the stable id of a Tasmota device, its Mac, by what it publishes to `tasmota/discovery/MAC/config`.

    Args:
        said: the configuration, with `mac`, `t` (the topic), `ft` (the full topic) and `tp` (the prefixes).
        source_of: the source of what is published to a topic.
    """
    mac, topic, full, prefixes = config.get("mac"), config.get("t"), config.get("ft"), config.get("tp")
    if not isinstance(mac, str) or not isinstance(topic, str) or not 0 < len(mac) <= MAX_TERM_LENGTH:
        return []
    tele = prefixes[2] if isinstance(prefixes, list) and len(prefixes) == 3 and isinstance(prefixes[2], str) else "tele"
    pattern = full if isinstance(full, str) and "%topic%" in full else "%prefix%/%topic%/"
    telemetry = pattern.replace("%prefix%", tele).replace("%topic%", topic).rstrip("/")
    label = config.get("dn")
    return [
        IdentityAnnouncement(
            source_of(f"{telemetry}/SENSOR"), mac, (label if isinstance(label, str) else topic)[:MAX_TERM_LENGTH]
        )
    ]


def _published_features(expose: object) -> Iterator[Mapping[str, Any]]:
    """Yield the published features of a device, also those inside its lights, locks and the like."""
    for each in expose if isinstance(expose, Sequence) and not isinstance(expose, str) else ():
        if not isinstance(each, Mapping):
            continue
        if each.get("type") in _NESTED and "features" in each:
            inner, outer = list(_published_features(each["features"])), each.get("property")
            nested = each.get("type") == "composite" and isinstance(outer, str)
            yield from ({**one, "property": f"{outer}.{one['property']}"} if nested else one for one in inner)
        elif isinstance(each.get("property"), str) and int(each.get("access") or 0) & PUBLISHED:
            yield each


def _attribute(feature: Mapping[str, Any]) -> AnnouncedAttribute | None:
    kind = _KINDS.get(str(feature.get("type")))
    if kind is None:
        return None
    values: tuple[Any, ...] = ()
    if feature.get("type") == "binary":
        values = tuple(
            v
            for v in (feature.get("value_on"), feature.get("value_off"), feature.get("value_toggle"))
            if isinstance(v, (str, bool, int, float))
        )
    elif feature.get("type") == "enum" and isinstance(feature.get("values"), list):
        values = tuple(str(value) for value in feature["values"])
    low, high = (_number(feature.get(name)) for name in ("value_min", "value_max"))
    if low is not None and high is not None and low > high:
        low = high = None
    return _attribute_of(str(feature["property"]), str(feature.get("unit") or ""), kind, low, high, values)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _attribute_of(
    name: str,
    unit: str,
    kind: AnnouncedKind,
    low: float | None = None,
    high: float | None = None,
    values: tuple[Any, ...] = (),
) -> AnnouncedAttribute | None:
    known = unit if unit and kind == "number" and any_unit(unit) is not None else ""
    try:
        return AnnouncedAttribute(name, known, kind, *((low, high) if kind == "number" else (None, None)), values)
    except LikewiseError as error:
        _log.info("announced_attribute_ignored", attribute=name[:60], reason=str(error))
        return None


def discovery_announcement(
    source: str, values: Sequence[DiscoveredValue], model: str = "", place: str = ""
) -> Announcement | None:
    """Return the announcement of one source by Home Assistant's configurations; None if they name nothing.

    >>> discovery_announcement("attic", [DiscoveredValue("", "temperature", "°C")]).attributes[0].name
    'temperature'
    """
    made = [_attribute_of(each.field or each.name, each.unit, "number" if each.unit else "") for each in values]
    return _announcement(source, {each.name: each for each in made if each is not None}, model, place)


def _announcement(
    source: str, attributes: Mapping[str, AnnouncedAttribute], model: str, place: str
) -> Announcement | None:
    if not attributes:
        return None
    kept_attributes = tuple(attributes.values())[:MAX_ANNOUNCED_ATTRIBUTES]
    try:
        return Announcement(
            source[:MAX_TERM_LENGTH],
            kept_attributes,
            model=model[:MAX_TERM_LENGTH],
            place=place[:MAX_TERM_LENGTH],
            lease=float(MAX_LEASE_SECONDS),
        )
    except LikewiseError as error:
        _log.info("announcement_ignored", source=source[:60], reason=str(error))
        return None


class _Device(NamedTuple):
    """The device of a configuration: its first identifier, what people call it, and the topics that are its own."""

    id: str
    label: str
    topics: tuple[str, ...]


class DiscoveryRegistry:
    """The discovered configurations, by state topic; bounded, the oldest are dropped first.

    >>> found = DiscoveryRegistry()
    >>> said = {"~": "attic", "stat_t": "~/t", "dev_cla": "temperature", "unit_of_meas": "°C", "name": "Attic"}
    >>> found.learn("homeassistant/sensor/attic/config", said)
    >>> found.bare_value("attic/t")
    DiscoveredValue(field='', name='temperature', unit='°C', states=())
    """

    def __init__(self, most: int = MAX_DISCOVERED) -> None:
        self._most = most
        self._topics: dict[str, list[str]] = {}  # the configuration's topic -> the state topics it speaks of
        self._states: dict[str, dict[str, DiscoveredValue]] = {}  # state topic -> configuration's topic -> what it says
        self._values: dict[str, Mapping[str, object]] = {}  # by the configuration's topic, as it came
        self._devices: dict[str, _Device] = {}  # by the configuration's topic
        self._owners: dict[str, dict[str, str]] = {}  # a source's name -> configuration's topic -> the device's id
        self._names: dict[str, tuple[str, ...]] = {}  # the names that a configuration's device has

    def learn(self, topic: str, config: Mapping[str, object]) -> None:
        """Remember a configuration; an empty one, or one without a state topic, is forgotten."""
        if config and self._values.get(topic) == config:
            return
        self._forget(topic)
        full = _expand_abbreviations(config)
        parts = full.get("components")
        listed = parts.values() if isinstance(parts, Mapping) else ()
        components = [_expand_abbreviations(each) for each in listed if isinstance(each, Mapping)]
        states: list[str] = []
        for component in components or [{}]:
            each = {**full, **component}
            state = _topic(each.get("state_topic"), each.get("~"))
            if state:
                states.append(state)
                kind = each.get("platform") or topic.split("/")[1]
                self._states.setdefault(state, {})[f"{topic}#{len(states)}"] = _discovered_value(each, kind)
        if not states:
            return
        self._topics[topic], self._values[topic] = states, config
        self._learn_device(topic, full, components)
        while len(self._topics) > self._most:
            self._forget(next(iter(self._topics)))

    def _learn_device(self, topic: str, full: dict[str, object], components: list[dict[str, object]]) -> None:
        device = full.get("device")
        device_fields = _expand_abbreviations(device) if isinstance(device, Mapping) else {}
        ids = device_fields.get("identifiers")
        first = ids[0] if isinstance(ids, list) and ids else ids
        if not isinstance(first, str) or not 0 < len(first) <= MAX_TERM_LENGTH:
            return
        zigbee = _ZIGBEE.fullmatch(first)
        topics = [_topic(each.get(key), full.get("~")) for each in (full, *components) for key in _TOPICS]
        made = _Device(
            zigbee[1] if zigbee else first,
            str(device_fields.get("name") or "")[:MAX_TERM_LENGTH],
            tuple(dict.fromkeys(each for each in topics if each)),
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
        self._values.pop(topic, None)
        for name in self._names.pop(topic, ()):
            del self._owners[name][topic]
            if not self._owners[name]:
                del self._owners[name]

    def states_of(self, topic: str) -> list[str]:
        """Return the state topics that a configuration's topic speaks of."""
        return list(dict.fromkeys(self._topics.get(topic, ())))

    def values_of(self, topic: str) -> list[DiscoveredValue]:
        """Return the discovered values of a state topic."""
        return list(self._states.get(topic, {}).values())

    def namings(self, topic: str, source_of: Callable[[str], str]) -> list[IdentityAnnouncement]:
        """Return which names a configuration's device has: the sources, by the topic map, of the topics it names.

        A topic, or a source, that several devices share (a gateway's) keeps its own name: it is none of them.
        """
        device = self._devices.get(topic)
        if device is None:
            return []
        identities = []
        names = self._names[topic] = tuple(dict.fromkeys(source_of(each) for each in device.topics))
        for name in names:
            owners = self._owners.setdefault(name, {})
            owners[topic] = device.id
            alone = set(owners.values()) == {device.id}
            identities.append(
                IdentityAnnouncement(name, device.id if alone else name, device.label if alone else "", "discovery")
            )
        return identities

    def bare_value(self, topic: str) -> DiscoveredValue | None:
        """Return what a bare value of a topic is, if that was discovered."""
        return next((each for each in self._states.get(topic, {}).values() if not each.field), None)

    def units(self, topic: str) -> dict[str, str]:
        """Return the units of the fields of a topic's payload."""
        return {each.field: each.unit for each in self._states.get(topic, {}).values() if each.field and each.unit}


class StatestreamEntities:
    """The entities of Home Assistant's statestream, with units and names; bounded, the oldest are dropped first.

    >>> known = StatestreamEntities()
    >>> known.learn("sensor.attic", "unit_of_measurement", "°C")
    >>> known.learn("sensor.attic", "friendly_name", "Attic")
    >>> known.of("sensor.attic")
    DiscoveredValue(field='', name='Attic', unit='°C', states=())
    """

    def __init__(self, most: int = MAX_DISCOVERED) -> None:
        self._most = most
        self._entities: dict[str, dict[str, str]] = {}

    def learn(self, source: str, what: str, text: str) -> None:
        """Remember a unit, a device class or a name of an entity."""
        self._entities.setdefault(source, {})[what] = text
        if len(self._entities) > self._most:
            self._entities.pop(next(iter(self._entities)))

    def of(self, source: str) -> DiscoveredValue | None:
        """Return what an entity's state is; None if nothing was said of it."""
        described = self._entities.get(source)
        if described is None:
            return None
        called = described.get("device_class") or described.get("friendly_name") or ""
        return DiscoveredValue("", called, described.get("unit_of_measurement", ""))


def _expand_abbreviations(config: Mapping[str, object]) -> dict[str, object]:
    return {_LONG.get(key, key): value for key, value in config.items()}


def _topic(topic: object, base: object) -> str:
    """Return a topic with what `~` stands for; '' if it is none."""
    if not isinstance(topic, str):
        return ""
    if isinstance(base, str):
        topic = base + topic[1:] if topic.startswith("~") else topic
        topic = topic[:-1] + base if topic.endswith("~") else topic
    return topic


def _discovered_value(config: Mapping[str, object], kind: object) -> DiscoveredValue:
    template = config.get("value_template")
    match = _FIELD.search(template) if isinstance(template, str) else None
    field = ".".join(a or b for a, b in _STEP.findall(match[1])) if match else ""
    called = next((str(config[key]) for key in ("device_class", "name") if config.get(key)), "")
    states: tuple[tuple[str, str | bool], ...] = ()
    if kind == "binary_sensor" and isinstance(known := config.get("device_class"), str) and not field:
        called, on, off = _BINARY.get(known, (known, "detected", "clear"))
        words = str(config.get("payload_on", "ON")), str(config.get("payload_off", "OFF"))
        states = () if words[0] == words[1] else ((words[0], on), (words[1], off))
    return DiscoveredValue(field, called, str(config.get("unit_of_measurement") or ""), states)

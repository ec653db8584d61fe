"""Announcements that other systems make over MQTT: the devices of Zigbee2MQTT and Tasmota, Home Assistant's discovery.

All are retained messages, which come whenever somebody connects; so what they say holds for a week, and is renewed by
then. What cannot be announced (a unit that is not known, a device without readings) is left out, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import structlog

from likewise.broker.tenants.identities import Naming
from likewise.defaults import MAX_ANNOUNCED_ATTRIBUTES, MAX_LEASE_SECONDS, MAX_TERM_LENGTH
from likewise.errors import LikewiseError
from likewise.model.announcements.announcement import AnnouncedAttribute, AnnouncedKind, Announcement
from likewise.server.mqtt.discovery import Announced
from likewise.server.mqtt.topic_maps import bounded
from likewise.units import any_unit

_log = structlog.get_logger("likewise.mqtt")
PUBLISHED: Final = 1  # the bit of an exposed feature's access that says it is published
_KINDS: Final[dict[str, AnnouncedKind]] = {"numeric": "number", "binary": "", "enum": "text", "text": "text"}
_NESTED: Final = frozenset(("light", "switch", "lock", "cover", "fan", "climate", "composite"))


def exposed(devices: Sequence[object], source_of: Callable[[str], str] = str) -> list[Announcement]:
    """Return what Zigbee2MQTT's devices expose (`zigbee2mqtt/bridge/devices`), one announcement a device.

    Args:
        devices: the list as Zigbee2MQTT publishes it.
        source_of: the source of a device by its friendly name.

    >>> said = {"friendly_name": "attic", "definition": {"model": "WSDCGQ11LM", "exposes": [
    ...     {"type": "numeric", "property": "temperature", "unit": "°C", "access": 1, "value_min": -20}]}}
    >>> [made] = exposed([said], lambda name: f"zigbee2mqtt/{name}")
    >>> made.source, made.model, made.attributes[0].unit
    ('zigbee2mqtt/attic', 'WSDCGQ11LM', 'degC')
    """
    found = []
    for device in devices:
        if not isinstance(device, Mapping) or device.get("disabled"):
            continue
        name, definition = device.get("friendly_name"), device.get("definition")
        if not isinstance(name, str) or not name or not isinstance(definition, Mapping):
            continue
        place = name.rpartition("/")[0]  # the last level is the device, those before it its place
        attributes = {each.name: each for each in map(_attribute, _features(definition.get("exposes"))) if each}
        made = _announcement(source_of(name), attributes, str(definition.get("model") or ""), place)
        if made is not None:
            found.append(made)
    return found


def addresses(devices: Sequence[object], base: str) -> list[Naming]:
    """Return the stable id of each of Zigbee2MQTT's devices, its address, with its friendly name below `base`.

    >>> addresses([{"friendly_name": "attic", "ieee_address": "0x00158d0001a2b3c4"}], "zigbee2mqtt")[0].name
    'zigbee2mqtt/attic'
    """
    found = []
    for device in devices:
        if not isinstance(device, Mapping) or device.get("type") == "Coordinator":
            continue
        name, address = device.get("friendly_name"), device.get("ieee_address")
        if isinstance(name, str) and name and isinstance(address, str) and 0 < len(address) <= MAX_TERM_LENGTH:
            found.append(Naming(bounded(f"{base}/{name}"), address, name[:MAX_TERM_LENGTH]))
    return found


def mac_of(said: Mapping[str, Any], source_of: Callable[[str], str]) -> list[Naming]:
    """Return the stable id of a Tasmota device, its Mac, by what it publishes to `tasmota/discovery/MAC/config`.

    Args:
        said: the configuration, with `mac`, `t` (the topic), `ft` (the full topic) and `tp` (the prefixes).
        source_of: the source of what is published to a topic.
    """
    mac, topic, full, prefixes = said.get("mac"), said.get("t"), said.get("ft"), said.get("tp")
    if not isinstance(mac, str) or not isinstance(topic, str) or not 0 < len(mac) <= MAX_TERM_LENGTH:
        return []
    tele = prefixes[2] if isinstance(prefixes, list) and len(prefixes) == 3 and isinstance(prefixes[2], str) else "tele"
    pattern = full if isinstance(full, str) and "%topic%" in full else "%prefix%/%topic%/"
    telemetry = pattern.replace("%prefix%", tele).replace("%topic%", topic).rstrip("/")
    label = said.get("dn")
    return [
        Naming(source_of(f"{telemetry}/SENSOR"), mac, (label if isinstance(label, str) else topic)[:MAX_TERM_LENGTH])
    ]


def _features(said: object) -> Iterator[Mapping[str, Any]]:
    """Everything that is published among what a device exposes, also inside its lights, locks and the like."""
    for each in said if isinstance(said, Sequence) and not isinstance(said, str) else ():
        if not isinstance(each, Mapping):
            continue
        if each.get("type") in _NESTED and "features" in each:
            inner, outer = list(_features(each["features"])), each.get("property")
            nested = each.get("type") == "composite" and isinstance(outer, str)
            yield from ({**one, "property": f"{outer}.{one['property']}"} if nested else one for one in inner)
        elif isinstance(each.get("property"), str) and int(each.get("access") or 0) & PUBLISHED:
            yield each


def _attribute(said: Mapping[str, Any]) -> AnnouncedAttribute | None:
    kind = _KINDS.get(str(said.get("type")))
    if kind is None:
        return None
    values: tuple[Any, ...] = ()
    if said.get("type") == "binary":
        values = tuple(
            v
            for v in (said.get("value_on"), said.get("value_off"), said.get("value_toggle"))
            if isinstance(v, (str, bool, int, float))
        )
    elif said.get("type") == "enum" and isinstance(said.get("values"), list):
        values = tuple(str(value) for value in said["values"])
    low, high = (_number(said.get(name)) for name in ("value_min", "value_max"))
    if low is not None and high is not None and low > high:
        low = high = None
    return _made(str(said["property"]), str(said.get("unit") or ""), kind, low, high, values)


def _number(said: object) -> float | None:
    return float(said) if isinstance(said, (int, float)) and not isinstance(said, bool) else None


def _made(
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
        _log.info("an announced attribute is left out", attribute=name[:60], reason=str(error))
        return None


def discovered(source: str, said: Sequence[Announced], model: str = "", place: str = "") -> Announcement | None:
    """What Home Assistant's configurations say of one source; None if they name nothing.

    >>> discovered("attic", [Announced("", "temperature", "°C")]).attributes[0].name
    'temperature'
    """
    made = [_made(each.field or each.name, each.unit, "number" if each.unit else "") for each in said]
    return _announcement(source, {each.name: each for each in made if each is not None}, model, place)


def _announcement(
    source: str, attributes: Mapping[str, AnnouncedAttribute], model: str, place: str
) -> Announcement | None:
    if not attributes:
        return None
    own = tuple(attributes.values())[:MAX_ANNOUNCED_ATTRIBUTES]
    try:
        return Announcement(
            source[:MAX_TERM_LENGTH],
            own,
            model=model[:MAX_TERM_LENGTH],
            place=place[:MAX_TERM_LENGTH],
            lease=float(MAX_LEASE_SECONDS),
        )
    except LikewiseError as error:
        _log.info("an announcement is left out", source=source[:60], reason=str(error))
        return None

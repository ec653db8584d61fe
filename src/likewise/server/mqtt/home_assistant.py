"""Home Assistant's discovery for every reading that is understood, so that its entities need no YAML.

A configuration reads the device's original topic where the reading's place in the payload is known, so that entities go
on without Likewise; else the topic of the common name. It is published once, again where it changes (a correction gave
another name or unit), and removed where the name is gone or its source is revoked. Devices that announce themselves
are left alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from likewise import __version__
from likewise.broker.config import HomeAssistantSettings
from likewise.broker.queries.alert_states import alert_shown
from likewise.broker.tenants.normalized_sources import NormalizedSources
from likewise.broker.tenants.tenant import Tenant
from likewise.matching.common_names.normaliser import ReadingNormaliser
from likewise.model import EventTuple
from likewise.server.mqtt.messages import NORMALIZED, MqttPublication, topic_level
from likewise.server.mqtt.normalizer import Published
from likewise.server.mqtt.topic_maps import TopicMap, load_maps
from likewise.units import any_unit

NODE: Final = "likewise-"  # begins the third level of our configurations; the topic maps pass it over
ANNOUNCE_THEMSELVES: Final = ("zigbee2mqtt", "tasmota", "esphome", "home-assistant")
ORIGIN: Final = {"name": "Likewise", "sw": __version__}
ALERT: Final = "\x00alert "  # begins the key of an alert's configuration, which no source does
MOST_KEYS: Final = 50  # of an alert that are shown
MOST_DEEP: Final = 8  # objects within each other that a template looks into
# Units beside the common one that Home Assistant takes for every class of their dimension.
KNOWN_UNITS: Final = frozenset(
    {
        *("degC", "degF", "K", "Pa", "hPa", "kPa", "mbar", "bar", "inHg", "mmHg", "psi"),
        *("m/s", "km/h", "mph", "kn", "mm", "cm", "inch", "W", "kW", "MW", "VA", "kVA", "var", "kvar"),
        *("Wh", "kWh", "MWh", "MJ", "GJ", "kvarh", "varh", "V", "mV", "kV", "A", "mA", "Hz", "kHz", "MHz"),
        *("s", "min", "h", "d", "ms", "B", "kB", "MB", "GB", "l", "m3", "l/min", "m3/h"),
        *("kg", "g", "lb", "uS/cm", "mS/cm"),
    }
)
# How Home Assistant writes units that our table writes otherwise; a unit without a row is written as in our table.
UNITS: Final = {
    "inch": "in",
    **{"degC": "°C", "degF": "°F", "deg": "°", "ohm": "Ω", "l": "L", "l/min": "L/min", "uS/cm": "μS/cm"},
    **{"ug/m3": "μg/m³", "mg/m3": "mg/m³", "g/m3": "g/m³", "m3": "m³", "m3/h": "m³/h", "W/m2": "W/m²", "m/s2": "m/s²"},
    **{"Bq/m3": "Bq/m³", "mg/l": "mg/L", "/min": "bpm", "day": "d"},
}
# Pairs of texts for so and not so, in the spellings that devices use.
_PAIRS: Final = (("ON", "OFF"), ("open", "closed"), ("open", "close"), ("true", "false"), ("detected", "clear"))
_PAIRS_MORE: Final = (("online", "offline"), ("locked", "unlocked"), ("yes", "no"), ("1", "0"))
Payload = Callable[[str], "bytes | None"]


class HomeAssistantOutput:
    """Makes the configuration of each reading, where it is new or another one than before.

    Args:
        settings: Prefix and confidence.
        tenant: Whose sources have labels and announcements.
        known: What was published before.
        normaliser: Says which word a raw value stands for.
        topic_of: The topic of a reading under its common name, '' if that holds no JSON.
    """

    def __init__(
        self,
        settings: HomeAssistantSettings,
        tenant: Tenant,
        known: NormalizedSources,
        normaliser: ReadingNormaliser,
        topic_of: Callable[[Published], str],
    ) -> None:
        self._settings = settings
        self._tenant = tenant
        self._known = known
        self._normaliser = normaliser
        self._topic_of = topic_of
        self._alerts: dict[str, bytes] = {}  # the state of each, by topic
        self._own: TopicMap = load_maps(ANNOUNCE_THEMSELVES)

    def __call__(self, each: Published) -> Iterator[MqttPublication]:
        """Yield what is to be published about a reading: mostly nothing."""
        reading = each.reading
        if reading.probability < self._settings.confidence or self.announces_itself(each.topic):
            return
        key = f"{each.entry.source}\n{reading.attribute}\n{reading.taken.group}"
        if each.topic and self._known.payload_of(each.topic) is None and self._known.is_announced(key):
            return  # after a restart the payload's form is not known until the next message
        config = self._config(each)
        if config is None:
            return
        component = "binary_sensor" if reading.name.is_state else "sensor"
        node = f"{NODE}{hashlib.sha256(each.entry.source.encode()).hexdigest()[:12]}"
        yield from self._announce(key, component, node, each.name, config)

    def _announce(
        self, key: str, component: str, node: str, name: str, config: dict[str, Any]
    ) -> Iterator[MqttPublication]:
        """Yield a configuration if it is new or another than before, and what removes that of before."""
        topic = f"{self._settings.prefix}/{component}/{node}/{topic_level(name)}/config"
        body = msgspec.json.encode(config)
        for gone in self._known.announce(key, topic, hashlib.sha256(body).hexdigest()[:16]):
            yield self._message(gone, b"" if gone != topic else body)

    def revoke(self, source: str) -> Iterator[MqttPublication]:
        """Yield what removes the configurations of a source."""
        for topic in self._known.forget_announced(source):
            yield self._message(topic, b"")

    def poll(self, now: int) -> Iterator[MqttPublication]:
        """Yield the state of each alert that changed, as a binary sensor, and remove those that are gone."""
        live: set[str] = set()
        for stored in self._tenant.live():
            if stored.subscription.alert is None:
                continue
            queue = self._tenant.by_number.get(stored.subscriber)
            name = f"{'' if queue is None else queue.id}/{stored.id}"
            live.add(key := f"{ALERT}{name}")
            topic = f"{self._known.prefix}alerts/{'/'.join(map(topic_level, name.split('/', 1)))}"
            config = {
                "name": stored.id,
                "unique_id": f"likewise_alert_{hashlib.sha256(name.encode()).hexdigest()[:12]}",
                "state_topic": topic,
                "value_template": "{{ value_json.state }}",
                "json_attributes_topic": topic,
                "device_class": "problem",
                "device": {"identifiers": ["likewise alerts"], "name": "Likewise alerts"},
                "origin": ORIGIN,
            }
            yield from self._announce(key, "binary_sensor", f"{NODE}alerts", str(config["unique_id"]), config)
            details = alert_shown(self._tenant, stored, now, MOST_KEYS)
            active = [list(each.key) for each in details.keys if each.said]
            body = msgspec.json.encode({"state": "ON" if active else "OFF", "keys": active})
            if self._alerts.get(topic) != body:
                self._alerts[topic] = body
                yield self._message(topic, body)
        for key in self._known.announced_keys(ALERT) - live:
            yield from self.revoke(key.partition("\n")[0])

    def announces_itself(self, topic: str) -> bool:
        """Return whether the device of a topic tells Home Assistant itself what it is."""
        return bool(topic) and (self._own.find(topic).rule.topic != "#" or self._known.is_discovered(topic))

    @staticmethod
    def _message(topic: str, body: bytes) -> MqttPublication:
        return MqttPublication(topic, body, "application/json", (NORMALIZED,), qos=1, retain=True)

    def _config(self, each: Published) -> dict[str, Any] | None:
        """Return a configuration; None if no topic has the reading as Home Assistant can read it."""
        source, reading = each.entry.source, each.reading
        label = self._tenant.sources.identities.labels.get(source) or source
        about: dict[str, str] = {}
        if (stored := self._tenant.sources.announcements.get(source)) is not None:
            about = {"model": stored.announcement.model, "suggested_area": stored.announcement.place}
        config: dict[str, Any] = {
            "name": each.name.replace("_", " ").capitalize(),
            "unique_id": f"likewise_{hashlib.sha256(source.encode()).hexdigest()[:12]}_{topic_level(each.name)}",
            "device": {"identifiers": [f"likewise {source}"], "name": label, **{k: v for k, v in about.items() if v}},
            "origin": ORIGIN,
        }
        if reading.name.device_class:
            config["device_class"] = reading.name.device_class
        place = self._place(each)
        return {**config, **place} if place else None

    def _place(self, each: Published) -> dict[str, Any]:
        """Return where the value is, in which unit or with which words; nothing if nowhere."""
        reading, name = each.reading, each.reading.name
        statistics = {"state_class": name.state_class} if name.state_class and not name.is_state else {}
        template = self._template(each)
        if template and name.is_state and (payloads := self._payloads(each)) is not None:
            on, off = payloads
            return {"state_topic": each.topic, "value_template": template, "payload_on": on, "payload_off": off}
        common_unit = any_unit(name.unit) if name.unit else None
        taken, common_symbol = reading.taken.unit, "" if common_unit is None else common_unit.symbol
        unit = self._unit(taken) if taken in KNOWN_UNITS or taken == common_symbol else ""
        if template and not name.is_state and (unit or not name.unit):
            found = {"state_topic": each.topic, "value_template": template, **statistics}
            return {**found, "unit_of_measurement": unit} if unit else found
        topic = self._topic_of(each)
        if not topic:
            return {}
        common = {"state_topic": topic, "value_template": "{{ value_json.value }}", **statistics}
        if name.is_state:
            return {**common, "payload_on": name.true, "payload_off": name.false}
        return {**common, "unit_of_measurement": self._unit(common_symbol)} if common_symbol else common

    @staticmethod
    def _unit(symbol: str) -> str:
        return UNITS.get(symbol, symbol)

    def _template(self, each: Published) -> str:
        """Return the template that reads the value from the original message; '' if its place is not known."""
        payload = self._known.payload_of(each.topic) if each.topic else None
        if payload is None:
            return ""
        try:
            document = msgspec.json.decode(payload)
        except (msgspec.MsgspecError, UnicodeError):
            return "{{ value }}" if _is_bare(payload, each) else ""
        if not isinstance(document, dict):
            return "{{ value }}" if _is_bare(payload, each) else ""
        path = _path_of(document, each.reading.attribute, each.event.tuples[each.reading.place])
        if path is None:
            return ""
        *outer, last = path
        inner = "value_json"
        for key in outer:
            inner = f"({inner}[{_quoted(key)}] | default({{}}))"
        return f"{{{{ {inner}[{_quoted(last)}] | default(this.state) }}}}"

    def _payloads(self, each: Published) -> tuple[str, str] | None:
        """Return what Home Assistant reads where it is so, and where it is not; None if the words are not known."""
        item, name = each.event.tuples[each.reading.place], each.reading.name
        if isinstance(item.value, bool):
            word = self._normaliser.state_word(name, EventTuple(item.attribute, True))
            return ("True", "False") if word == name.true else ("False", "True")
        text = str(item.value)
        for pair in (*_PAIRS, *_PAIRS_MORE):
            for spell in (str, str.lower, str.upper, str.capitalize):
                first, second = (spell(part) for part in pair)
                if text not in (first, second):
                    continue
                words = [self._normaliser.state_word(name, EventTuple(item.attribute, t)) for t in (first, second)]
                if words == [name.true, name.false]:
                    return first, second
                if words == [name.false, name.true]:
                    return second, first
        return None


def _is_bare(payload: bytes, each: Published) -> bool:
    """Return whether a payload is the value alone, as Home Assistant reads it: a number, or a text."""
    text, item = payload.decode("utf-8", "replace").strip(), each.event.tuples[each.reading.place]
    return str(item.value) == text or (isinstance(item.value, (int, float)) and _number(text) == item.value)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _path_of(document: dict[str, Any], attribute: str, item: EventTuple) -> tuple[str, ...] | None:
    """Return the keys that lead to a reading in an object; None if they are not certain.

    >>> _path_of({"a": {"b": 3}, "c": 3}, "a.b", EventTuple("a.b", 3))
    ('a', 'b')
    >>> _path_of({"uplink": {"t": 21.5}}, "t", EventTuple("t", 21.5)), _path_of({"x": [1]}, "x[]", EventTuple("x[]", 1))
    (('uplink', 't'), None)
    """
    found = [
        path
        for path, value in _leaves(document, ())
        if (value == item.value and type(value) is type(item.value))
        and (".".join(path) == attribute or f".{'.'.join(path)}".endswith(f".{attribute}"))
    ]
    exact = [path for path in found if ".".join(path) == attribute] or found
    return exact[0] if len(exact) == 1 else None


def _leaves(document: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in document.items():
        if isinstance(value, dict):
            if len(path) < MOST_DEEP:
                yield from _leaves(value, (*path, key))
        elif not isinstance(value, list):
            yield (*path, key), value


def _quoted(key: str) -> str:
    return "'" + key.replace("\\", "\\\\").replace("'", "\\'") + "'"

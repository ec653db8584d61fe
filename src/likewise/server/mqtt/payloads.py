"""Messages to events: attributes as the device calls them, the topic beside them (docs/guides/mqtt.md).

Nesting a payload below its topic's path would lose exact matches, so attributes stay as they are: the topic is the
tuple `topic`, the levels that a map names are tuples of their own. The source is the device that the map names, never a
bare last level. A bare payload (`21.5`, `ON`) takes its name from the map, from Home Assistant's discovery, or from the
topic's last level that means something. What cannot be read is kept with its bytes, unless the map says `strict`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from likewise.broker.catalogue.sensing_commands import ANNOUNCEMENTS, SENSE
from likewise.broker.tenants.identities import IdentityAnnouncement, SourceIdentities
from likewise.defaults import MAX_DOCUMENT_BYTES, MAX_EVENT_BYTES, MAX_PLAIN_TOPICS, MAX_TERM_LENGTH
from likewise.errors import FormatError, LikewiseError
from likewise.formats.cloudevents import event_from_cloudevent
from likewise.formats.json.events import event_from_document, is_envelope
from likewise.formats.payload import Json
from likewise.formats.senml import events_from_senml
from likewise.formats.strict_json import as_bytes, decode, decode_items, decode_object
from likewise.model import Event, EventTuple, event
from likewise.model.announcements.announcement import Announcement
from likewise.model.time import SECOND, microseconds
from likewise.server.media_types import JSON, MediaType, UnreadableInput, media_types, read_events
from likewise.server.mqtt.discovery import (
    DiscoveryRegistry,
    StatestreamEntities,
    discovery_announcement,
    tasmota_identities,
    zigbee_announcements,
    zigbee_identities,
)
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.source_aliases import former_names
from likewise.server.mqtt.sparkplug import decoder as sparkplug
from likewise.server.mqtt.topic_maps import ResolvedTopic, TopicMap

_MEANINGLESS: Final = frozenset(
    ("state", "status", "value", "raw", "reading", "data", "get", "current", "last", "json")
)
_NUMBER: Final = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_ABOUT_SOURCES: Final = (ANNOUNCEMENTS, SENSE)  # what is announced and told there is no reading
_SENML: Final = frozenset(("n", "bn"))
_ARRAY: Final = msgspec.json.Decoder(list[Any])
_TEXT: Final = msgspec.json.Decoder(str)
_ANNOUNCING: Final = ("exposes", "tasmota", "discovery", "describes")  # readers of what announces devices
ZIGBEE2MQTT: Final = "zigbee2mqtt"
STATESTREAM: Final = "homeassistant"
MAX_BASES: Final = 64  # first levels that stand for a preset's: nobody has so many instances of one program
encode: Final = msgspec.json.Encoder().encode
_PIECE: Final = MAX_TERM_LENGTH // 4 * 4


class EnvelopeTemplate(NamedTuple):
    """Additions that make an envelope of a JSON object; `reserved` are keys that it must not have."""

    reserved: frozenset[str]
    names: dict[str, str]
    source: str
    names_json: bytes
    source_json: bytes

    def envelope(self, payload: bytes, client: bytes, expires: int | None) -> bytes:
        """Return the envelope of an object that has none of the keys that are taken."""
        ends = b"" if expires is None else b',"expires":%d' % expires
        return b'{"v":1,"payload":%s%s,"client":%s},"source":%s%s}' % (
            payload[:-1],
            self.names_json,
            client,
            self.source_json,
            ends,
        )


class MessageReader:
    """Reads messages with one map, remembering what discovery says, and what Sparkplug's BIRTH messages announce.

    >>> from likewise.server.mqtt.topic_maps import load_maps
    >>> reader = MessageReader(load_maps())
    >>> payload = b'{"AM2301": {"Temperature": 70.2}, "TempUnit": "F"}'
    >>> [made] = reader.read(MqttPublication("tele/plug/SENSOR", payload), now=0)
    >>> made.source, [(t.attribute, t.value, t.unit) for t in made.tuples][:1]
    ('tasmota:plug', [('AM2301.Temperature', 70.2, 'F')])
    >>> [made] = reader.read(MqttPublication("home/attic/temperature/state", b"21.5 \\xc2\\xb0C"), now=0)
    >>> [(t.attribute, t.value) for t in made.tuples]
    [('temperature', '21.5 °C'), ('topic', 'home/attic/temperature/state')]
    """

    def __init__(self, maps: TopicMap, *, strict: bool = False, identities: SourceIdentities | None = None) -> None:
        self._maps = maps
        self._strict = strict  # whatever the map says
        self._identities = SourceIdentities() if identities is None else identities
        self._discovery = DiscoveryRegistry()
        self._described = StatestreamEntities()
        self._bases: dict[str, str] = {}  # first levels that stand for those of a preset
        self._sparkplug = sparkplug.SparkplugReader()
        self._plain: dict[str, EnvelopeTemplate | None] = {}
        self._plain_version = 0  # of the identities that it was made with

    def envelope_template(self, topic: str) -> EnvelopeTemplate | None:
        """Return the envelope template of a topic's JSON objects; None if they must be decoded one by one.

        That is where the map says no more than the names of levels.

        >>> from likewise.server.mqtt.topic_maps import load_maps
        >>> found = MessageReader(load_maps()).envelope_template("home/attic/t")
        >>> found.envelope(b'{"no2": 45}', b'"roof-3"', None)
        b'{"v":1,"payload":{"no2": 45,"topic":"home/attic/t","client":"roof-3"},"source":"home/attic/t"}'
        """
        if self._plain_version != self._identities.version:
            self._plain.clear()
            self._plain_version = self._identities.version
        try:
            return self._plain[topic]
        except KeyError:
            if len(self._plain) >= MAX_PLAIN_TOPICS:
                self._plain.clear()
        if topic.startswith(_ABOUT_SOURCES):
            return None
        resolved = self._named(topic)
        rule = resolved.rule
        added = (
            rule.identity,
            rule.within,
            rule.also,
            rule.id,
            rule.time,
            rule.units,
            rule.names,
            rule.themes,
            self._discovery.units(topic),
        )
        made = None
        if rule.read in ("auto", "json") and not any(added):
            names = {"topic": topic, **resolved.levels}
            source = self.source_of(topic)
            reserved = frozenset((*names, "client", "v", "specversion"))
            made = EnvelopeTemplate(reserved, names, source, b"," + encode(names)[1:-1], encode(source))
        self._plain[topic] = made
        return made

    def read(self, message: MqttPublication, now: int) -> list[Event]:
        """Return the events of a message; none if it is no reading. Raises `UnreadableInput` for what is refused."""
        if message.topic.startswith(_ABOUT_SOURCES):
            return []
        resolved = self._named(message.topic, message.payload)
        rule = resolved.rule
        if rule.read in ("discovery", "describes"):
            self._learn(message, resolved)
            return []
        if rule.read in ("skip", "exposes", "tasmota") or not message.payload:
            return []
        try:
            made = self._readable(message, resolved, now)
            return [self._complete(each, number, message, resolved, now) for number, each in enumerate(made)]
        except LikewiseError as error:
            raise UnreadableInput(error, message.payload) from error

    def announcements(self, message: MqttPublication) -> list[Announcement]:
        """Return what a message announces, after it was read: Zigbee2MQTT's devices, Home Assistant's discovery."""
        rule = self._named(message.topic).rule
        if rule.read == "discovery":
            states = self._discovery.states_of(message.topic)
            discovered_sources = [
                discovery_announcement(self.source_of(each), self._discovery.values_of(each)) for each in states
            ]
            return [each for each in discovered_sources if each is not None]
        if rule.read != "exposes":
            return []
        base = _base_of(message.topic)
        return zigbee_announcements(_zigbee_devices(message), lambda name: self._identities.resolve(f"{base}/{name}"))

    def identities(self, message: MqttPublication) -> list[IdentityAnnouncement]:
        """Return which stable ids a message announces, and for which names; none of what most messages are.

        Whoever is told has them written to the log, before what the message says (`Identities.learn`).
        """
        resolved = self._maps.find(message.topic)
        if not message.payload or not (resolved.rule.identity or resolved.rule.read in _ANNOUNCING):
            return []
        if resolved.rule.read == "exposes":
            self._learn_base(_base_of(message.topic), ZIGBEE2MQTT)
            return zigbee_identities(_zigbee_devices(message), _base_of(message.topic))
        if resolved.rule.read == "describes":
            self._learn(message, resolved)
            source = self._named(message.topic).source
            called = bare_text(message.payload) if message.topic.endswith("/friendly_name") else ""
            return [IdentityAnnouncement(source, source, called)] if called else []
        try:
            document = decode_object(message.payload, "message")
        except LikewiseError:
            return []  # it announces nothing, and nothing depends on it
        if resolved.rule.read == "tasmota":
            return tasmota_identities(document, lambda topic: self._maps.find(topic).source)
        if resolved.rule.read == "discovery":
            self._learn(message, resolved)
            return self._discovery.namings(message.topic, lambda topic: self._named(topic, resolved=False).source)
        stable = _field_at(document, resolved.rule.identity)
        if not isinstance(stable, str) or not 0 < len(stable) <= MAX_TERM_LENGTH:
            return []
        name = self._named(message.topic, resolved=False).source
        return [] if name == stable else [IdentityAnnouncement(name, stable, name)]

    def is_discovered(self, topic: str) -> bool:
        """Return whether discovery names a topic, so that its device announces itself."""
        return bool(self._discovery.values_of(topic))

    def strict(self, topic: str) -> bool:
        """Return whether unreadable messages are refused there."""
        return self._strict or self._named(topic).rule.strict

    def source_of(self, topic: str, payload: bytes | None = None) -> str:
        """Return the source of what is published to a topic, unless the payload says another.

        >>> from likewise.server.mqtt.topic_maps import load_maps
        >>> MessageReader(load_maps()).source_of("tele/plug/SENSOR")
        'tasmota:plug'
        """
        return self._named(topic, payload).source

    def names_of(self, topic: str, payload: bytes | None = None) -> set[str]:
        """Return every name that the source of a topic has or had: an access token may be bound to any of them."""
        resolved_topic = self._named(topic, payload, resolved=False)
        return {resolved_topic.source, self.source_of(topic, payload), *former_names(topic, resolved_topic)}

    def _named(self, topic: str, payload: bytes | None = None, *, resolved: bool = True) -> ResolvedTopic:
        """Return the rule of a topic and its source: by its stable id if one is known, unless `resolved` is False."""
        resolved_topic = self._maps.find(topic, payload)
        for base, preset in self._bases.items():
            if topic.startswith(f"{base}/"):
                resolved_topic = self._maps.find(preset + topic[len(base) :], payload)
                below = resolved_topic.source.startswith(f"{preset}/")
                resolved_topic = resolved_topic._replace(
                    source=base + resolved_topic.source[len(preset) :] if below else f"{base}/{resolved_topic.source}"
                )
                break
        if not resolved:
            return resolved_topic
        known = self._identities
        source = known.resolve(resolved_topic.source)
        if source == resolved_topic.source and resolved_topic.generic and known.prefixes:
            prefix = topic
            while source == resolved_topic.source and "/" in prefix:
                prefix = prefix.rpartition("/")[0]
                source = known.resolve(prefix) if prefix in known.prefixes else source
        return resolved_topic if source == resolved_topic.source else resolved_topic._replace(source=source)

    def _learn_base(self, base: str, preset: str) -> None:
        """Read what is published below a level, or several, as a preset says for its own."""
        if base != preset and self._bases.get(base) != preset and len(self._bases) < MAX_BASES:
            self._bases[base] = preset
            self._plain.clear()

    @property
    def unannounced(self) -> int:
        """Metrics of Sparkplug B whose alias no BIRTH had announced."""
        return self._sparkplug.unannounced

    def opaque_event(self, message: MqttPublication, now: int) -> Event:
        """Return an event for a message that is no reading: how many bytes came, and the topic."""
        return self._complete(event({"bytes": len(message.payload)}), 0, message, self._named(message.topic), now)

    def _readable(self, message: MqttPublication, resolved: ResolvedTopic, now: int) -> list[Event]:
        """Return the events of a payload, or one of its bytes, unless the map is strict."""
        try:
            return self._events(message, resolved, now)
        except (LikewiseError, UnreadableInput):
            if resolved.rule.strict or self._strict:
                raise
            return [_opaque_payload(message.payload)]

    def _learn(self, message: MqttPublication, resolved: ResolvedTopic) -> None:
        self._plain.clear()
        if resolved.rule.read == "describes":
            if resolved.rule.topic.startswith("{_base"):  # a base of its own, which only the statestream has
                self._learn_base(message.topic.rsplit("/", 3)[0], STATESTREAM)
                resolved = self._named(message.topic, resolved=False)
            self._described.learn(resolved.source, message.topic.rpartition("/")[2], bare_text(message.payload))
            return
        try:
            document = decode_object(message.payload, "discovery") if message.payload else {}
        except LikewiseError:
            return  # no configuration: it says nothing, and nothing depends on it
        self._discovery.learn(message.topic, document)

    def _events(self, message: MqttPublication, resolved: ResolvedTopic, now: int) -> list[Event]:
        rule, body = resolved.rule, message.payload
        kind = MediaType.parse(message.content_type)
        if rule.read == "senml":
            return list(events_from_senml(body, now=now))
        if rule.read == "cloudevent":
            return [event_from_cloudevent(body)]
        if rule.read == "telegraf":
            return list(_telegraf(body))
        if rule.read == "sparkplug":
            return self._sparkplug.read(resolved.levels, body)
        if rule.read == "auto" and message.content_type and kind.name != JSON and kind.name in media_types():
            return list(read_events(body, kind, lambda: now))
        start = body.lstrip()[:1]
        if rule.read == "json" or (rule.read == "auto" and start in (b"{", b"[")):
            return self._json(message, resolved, now)
        return [self._bare(message, resolved)]

    def _json(self, message: MqttPublication, resolved: ResolvedTopic, now: int) -> list[Event]:
        body = as_bytes(message.payload, "event", MAX_EVENT_BYTES)
        if body.lstrip()[:1] != b"[":
            return [self._object(decode_object(body, "message"), message, resolved)]
        items = decode(body, _ARRAY, "message")
        objects = [item for item in items if isinstance(item, dict)]
        if len(objects) < len(items) or not items:
            return [event({resolved.name or bare_name(message.topic): items})]
        if _SENML & set(objects[0]):
            return list(events_from_senml(body, now=now))
        return [self._object(item, message, resolved) for item in decode_items(body, "array of events")]

    def _object(self, document: Json, message: MqttPublication, resolved: ResolvedTopic) -> Event:
        rule = resolved.rule
        if is_envelope(document):
            return event_from_document(document)
        if "specversion" in document and "type" in document:
            return event_from_cloudevent(msgspec.json.encode(document))
        content = _field_at(document, rule.within) if rule.within else document
        if resolved.name and isinstance(content, (str, int, float)):
            content = {resolved.name: content}
        if not isinstance(content, dict) or not content:
            content = document
        elif content is not document:
            content = dict(content)
            for path in rule.also:
                _set_field(content, path, _field_at(document, path))
        units = {
            name: _field_at(document, unit[1:]) if unit.startswith("$") else unit for name, unit in rule.units.items()
        }
        units |= self._discovery.units(message.topic)
        made = event(content)
        tuples = tuple(_with_unit(each, units) for each in made.tuples) if units else made.tuples
        if names := rule.names:
            tuples = tuple(
                msgspec.structs.replace(each, attribute=names[each.attribute]) if each.attribute in names else each
                for each in tuples
            )
        id_parts = [_field_at(document, path) for path in rule.id]
        return msgspec.structs.replace(
            made,
            tuples=tuples,
            id=":".join(map(str, id_parts))
            if id_parts and all(isinstance(each, (str, int)) for each in id_parts)
            else None,
            time=_timestamp(_field_at(document, rule.time)) if rule.time else None,
        )

    def _bare(self, message: MqttPublication, resolved: ResolvedTopic) -> Event:
        rule = resolved.rule
        try:
            text = message.payload.decode().strip()
        except UnicodeDecodeError:
            raise FormatError("the payload is no text in UTF-8; a topic map can say `skip`") from None
        announced = self._discovery.bare_value(message.topic)
        if announced is None and message.topic.endswith("/state"):
            announced = self._described.of(self._named(message.topic, resolved=False).source)
        name = resolved.name or bare_name(message.topic)
        unit = rule.unit or rule.units.get(name.rpartition(".")[2], "")
        if unit.startswith("$"):
            unit = ""
        if announced is not None:
            fixed = resolved.name if resolved.name == rule.name else ""  # what a template says is only a name at hand
            name, unit = fixed or announced.name or name, rule.unit or announced.unit or unit
        states = dict(announced.states) if announced is not None else {}
        value = states.get(text, bare_value(text)) if rule.read != "text" else text
        stated = unit if not isinstance(value, (str, bool)) else ""
        return Event((EventTuple(name, value, stated),))

    def _complete(self, made: Event, number: int, message: MqttPublication, resolved: ResolvedTopic, now: int) -> Event:
        """Return an event completed with what the message states beside its payload."""
        added = {"topic": message.topic, **resolved.levels, **({"client": message.client} if message.client else {})}
        message_id = message.user_property("id")
        return msgspec.structs.replace(
            made,
            tuples=(*made.tuples, *(EventTuple(name, value) for name, value in added.items())),
            themes=made.themes or resolved.rule.themes,
            id=(f"{message_id}/{number}" if number else message_id) if message_id else made.id,
            source=made.source or resolved.source,
            expires=made.expires if made.expires or not message.expiry else now + message.expiry * SECOND,
        )


def bare_text(payload: bytes) -> str:
    """Return the text of a bare payload, whether it is JSON or plain.

    >>> bare_text('"°C"'.encode()), bare_text(b"kitchen")
    ('°C', 'kitchen')
    """
    try:
        text = _TEXT.decode(payload)
    except (msgspec.MsgspecError, UnicodeError):
        text = payload.decode("utf-8", "replace")
    return text.strip()[:MAX_TERM_LENGTH]


def _base_of(topic: str) -> str:
    return topic.removesuffix("/bridge/devices")


def _zigbee_devices(message: MqttPublication) -> list[Any]:
    """Return the devices that Zigbee2MQTT lists; none if it is no list, since nothing depends on it."""
    if len(message.payload) > MAX_DOCUMENT_BYTES:
        return []
    try:
        return decode(message.payload, _ARRAY, "list of devices")
    except LikewiseError:
        return []


def bare_value(text: str) -> str | int | float | bool:
    """Return the value of a bare payload: a number, a Boolean, or its text.

    >>> bare_value("21.50"), bare_value("7"), bare_value("true"), bare_value("ON"), bare_value("21.5 °C")
    (21.5, 7, True, 'ON', '21.5 °C')
    """
    if len(text) <= MAX_TERM_LENGTH and _NUMBER.fullmatch(text):
        number = int(text) if text.lstrip("+-").isdigit() else float(text)
        return text if number in (float("inf"), float("-inf")) else number
    return {"true": True, "false": False}.get(text.casefold(), text)


def bare_name(topic: str) -> str:
    """Return the name of a bare value: the topic's last meaningful level, with a number that follows it.

    >>> bare_name("home/attic/temperature/state"), bare_name("shellies/plug/relay/0"), bare_name("21")
    ('temperature', 'relay_0', '21')
    """
    levels = [level for level in topic.split("/") if level.strip()] or ["value"]
    meaningful = [level for level in levels if level.casefold() not in _MEANINGLESS] or levels
    if meaningful[-1].isdigit() and len(meaningful) > 1:
        return f"{meaningful[-2]}_{meaningful[-1]}"[:MAX_TERM_LENGTH]
    return meaningful[-1][:MAX_TERM_LENGTH]


def _opaque_payload(body: bytes) -> Event:
    """Return an event of bytes that nobody reads: how many, and the bytes in Base64, in pieces that fit."""
    text = base64.b64encode(body).decode()
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return event({"bytes": len(body), "payload": pieces})


def _field_at(document: object, path: str) -> object:
    """Return the field at a dotted path; None if there is none."""
    for part in path.split("."):
        if not isinstance(document, Mapping):
            return None
        document = document.get(part)
    return document


def _set_field(into: Json, path: str, value: object) -> None:
    """Set a field that is missing, creating the objects of its path."""
    *parents, last = path.split(".")
    for part in parents:
        inner = into.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        into = inner
    if value is not None:
        into.setdefault(last, value)


def _with_unit(item: EventTuple, units: Mapping[str, object]) -> EventTuple:
    """Return a reading with the unit that its map or its announcement says, where it states none itself."""
    unit = units.get(item.attribute) or units.get(item.attribute.removesuffix("[]").rpartition(".")[2])
    if not unit or not isinstance(unit, str) or item.unit or isinstance(item.value, (str, bool)):
        return item
    return msgspec.structs.replace(item, unit=unit)


def _timestamp(value: object) -> int | None:
    """Return a message's time in µs; None where it states no valid one: the time of arrival counts then."""
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        return None
    try:
        return microseconds(value)
    except LikewiseError:
        return None


def _telegraf(body: bytes) -> Iterator[Event]:
    """Metrics as Telegraf's JSON writes them, one or a batch: fields and tags, the time in seconds."""
    document = decode_object(body, "message")
    batch = document.get("metrics")
    for metric in batch if isinstance(batch, list) else [document]:
        fields = metric.get("fields") if isinstance(metric, dict) else None
        if not isinstance(fields, dict) or not fields:
            raise FormatError('Telegraf\'s JSON has `fields` in each metric; set data_format = "json"')
        tags, seconds = metric.get("tags"), metric.get("timestamp")
        name = metric.get("name")
        named = {f"{name}.{field}": value for field, value in fields.items()} if isinstance(name, str) else fields
        made = event({**named, **(tags if isinstance(tags, dict) else {}), "measurement": name})
        timed = type(seconds) is int and 0 <= seconds < 2**40
        yield msgspec.structs.replace(made, time=seconds * SECOND if timed else None)  # type: ignore[operator]

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
    """What is put into a JSON object that is published to a topic, and around it; `taken` are keys it must not have."""

    reserved: frozenset[str]
    names: dict[str, str]
    source: str
    names_json: bytes
    source_json: bytes

    def envelope(self, payload: bytes, client: bytes, expires: int | None) -> bytes:
        """The envelope of an object that has none of the keys that are taken."""
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
    >>> [made] = reader.read(Message("tele/plug/SENSOR", b'{"AM2301": {"Temperature": 70.2}, "TempUnit": "F"}'), now=0)
    >>> made.source, [(t.attribute, t.value, t.unit) for t in made.tuples][:1]
    ('tasmota:plug', [('AM2301.Temperature', 70.2, 'F')])
    >>> [made] = reader.read(Message("home/attic/temperature/state", b"21.5 \\xc2\\xb0C"), now=0)
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
        """How a JSON object that is published to a topic becomes an envelope as it is; None if it must be taken apart.

        That is where the map says no more than the names of levels.

        >>> from likewise.server.mqtt.topic_maps import load_maps
        >>> found = MessageReader(load_maps()).plain("home/attic/t")
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
        found = self._named(topic)
        rule = found.rule
        said = (
            rule.identity,
            rule.within,
            rule.also,
            rule.id,
            rule.time,
            rule.units,
            rule.themes,
            self._discovery.units(topic),
        )
        made = None
        if rule.read in ("auto", "json") and not any(said):
            names = {"topic": topic, **found.levels}
            source = self.source_of(topic)
            taken = frozenset((*names, "client", "v", "specversion"))
            made = EnvelopeTemplate(taken, names, source, b"," + encode(names)[1:-1], encode(source))
        self._plain[topic] = made
        return made

    def read(self, message: MqttPublication, now: int) -> list[Event]:
        """The events of a message; none if it is no reading. What is refused, or too large to keep, is `UnreadableInput`."""
        if message.topic.startswith(_ABOUT_SOURCES):
            return []
        found = self._named(message.topic, message.payload)
        rule = found.rule
        if rule.read in ("discovery", "describes"):
            self._learn(message, found)
            return []
        if rule.read in ("skip", "exposes", "tasmota") or not message.payload:
            return []
        try:
            made = self._readable(message, found, now)
            return [self._complete(each, number, message, found, now) for number, each in enumerate(made)]
        except LikewiseError as error:
            raise UnreadableInput(error, message.payload) from error

    def announcements(self, message: MqttPublication) -> list[Announcement]:
        """Return what a message announces, after it was read: Zigbee2MQTT's devices, Home Assistant's discovery."""
        rule = self._named(message.topic).rule
        if rule.read == "discovery":
            states = self._discovery.states_of(message.topic)
            found = [discovery_announcement(self.source_of(each), self._discovery.values_of(each)) for each in states]
            return [each for each in found if each is not None]
        if rule.read != "exposes":
            return []
        base = _base_of(message.topic)
        return zigbee_announcements(_zigbee_devices(message), lambda name: self._identities.resolve(f"{base}/{name}"))

    def identities(self, message: MqttPublication) -> list[IdentityAnnouncement]:
        """Return which stable ids a message announces, and for which names; none of what most messages are.

        Whoever is told has them written to the log, before what the message says (`Identities.learn`).
        """
        found = self._maps.find(message.topic)
        if not message.payload or not (found.rule.identity or found.rule.read in _ANNOUNCING):
            return []
        if found.rule.read == "exposes":
            self._learn_base(_base_of(message.topic), ZIGBEE2MQTT)
            return zigbee_identities(_zigbee_devices(message), _base_of(message.topic))
        if found.rule.read == "describes":
            self._learn(message, found)
            source = self._named(message.topic).source
            called = bare_text(message.payload) if message.topic.endswith("/friendly_name") else ""
            return [IdentityAnnouncement(source, source, called)] if called else []
        try:
            said = decode_object(message.payload, "message")
        except LikewiseError:
            return []  # it announces nothing, and nothing depends on it
        if found.rule.read == "tasmota":
            return tasmota_identities(said, lambda topic: self._maps.find(topic).source)
        if found.rule.read == "discovery":
            self._learn(message, found)
            return self._discovery.namings(message.topic, lambda topic: self._named(topic, resolved=False).source)
        stable = _field_at(said, found.rule.identity)
        if not isinstance(stable, str) or not 0 < len(stable) <= MAX_TERM_LENGTH:
            return []
        name = self._named(message.topic, resolved=False).source
        return [] if name == stable else [IdentityAnnouncement(name, stable, name)]

    def strict(self, topic: str) -> bool:
        """Whether what cannot be read is refused there."""
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
        found = self._named(topic, payload, resolved=False)
        return {found.source, self.source_of(topic, payload), *former_names(topic, found)}

    def _named(self, topic: str, payload: bytes | None = None, *, resolved: bool = True) -> ResolvedTopic:
        """Return the rule of a topic and its source: by its stable id if one is known, unless `resolved` is False."""
        found = self._maps.find(topic, payload)
        for base, preset in self._bases.items():
            if topic.startswith(f"{base}/"):
                found = self._maps.find(preset + topic[len(base) :], payload)
                below = found.source.startswith(f"{preset}/")
                found = found._replace(source=base + found.source[len(preset) :] if below else f"{base}/{found.source}")
                break
        if not resolved:
            return found
        known = self._identities
        source = known.resolve(found.source)
        if source == found.source and found.generic and known.prefixes:
            prefix = topic
            while source == found.source and "/" in prefix:
                prefix = prefix.rpartition("/")[0]
                source = known.resolve(prefix) if prefix in known.prefixes else source
        return found if source == found.source else found._replace(source=source)

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
        """An event of a message that is no reading, or cannot be kept as one: how many bytes came, and where to."""
        return self._complete(event({"bytes": len(message.payload)}), 0, message, self._named(message.topic), now)

    def _readable(self, message: MqttPublication, found: ResolvedTopic, now: int) -> list[Event]:
        """The events of a payload, or one of its bytes, unless the map is strict."""
        try:
            return self._events(message, found, now)
        except (LikewiseError, UnreadableInput):
            if found.rule.strict or self._strict:
                raise
            return [_opaque_payload(message.payload)]

    def _learn(self, message: MqttPublication, found: ResolvedTopic) -> None:
        self._plain.clear()
        if found.rule.read == "describes":
            if found.rule.topic.startswith("{_base"):  # a base of its own, which only the statestream has
                self._learn_base(message.topic.rsplit("/", 3)[0], STATESTREAM)
                found = self._named(message.topic, resolved=False)
            self._described.learn(found.source, message.topic.rpartition("/")[2], bare_text(message.payload))
            return
        try:
            said = decode_object(message.payload, "discovery") if message.payload else {}
        except LikewiseError:
            return  # no configuration: it says nothing, and nothing depends on it
        self._discovery.learn(message.topic, said)

    def _events(self, message: MqttPublication, found: ResolvedTopic, now: int) -> list[Event]:
        rule, body = found.rule, message.payload
        kind = MediaType.parse(message.content_type)
        if rule.read == "senml":
            return list(events_from_senml(body, now=now))
        if rule.read == "cloudevent":
            return [event_from_cloudevent(body)]
        if rule.read == "telegraf":
            return list(_telegraf(body))
        if rule.read == "sparkplug":
            return self._sparkplug.read(found.levels, body)
        if rule.read == "auto" and message.content_type and kind.name != JSON and kind.name in media_types():
            return list(read_events(body, kind, lambda: now))
        start = body.lstrip()[:1]
        if rule.read == "json" or (rule.read == "auto" and start in (b"{", b"[")):
            return self._json(message, found, now)
        return [self._bare(message, found)]

    def _json(self, message: MqttPublication, found: ResolvedTopic, now: int) -> list[Event]:
        body = as_bytes(message.payload, "event", MAX_EVENT_BYTES)
        if body.lstrip()[:1] != b"[":
            return [self._object(decode_object(body, "message"), message, found)]
        items = decode(body, _ARRAY, "message")
        objects = [item for item in items if isinstance(item, dict)]
        if len(objects) < len(items) or not items:
            return [event({found.name or bare_name(message.topic): items})]
        if _SENML & set(objects[0]):
            return list(events_from_senml(body, now=now))
        return [self._object(item, message, found) for item in decode_items(body, "array of events")]

    def _object(self, said: Json, message: MqttPublication, found: ResolvedTopic) -> Event:
        rule = found.rule
        if is_envelope(said):
            return event_from_document(said)
        if "specversion" in said and "type" in said:
            return event_from_cloudevent(msgspec.json.encode(said))
        content = _field_at(said, rule.within) if rule.within else said
        if found.name and isinstance(content, (str, int, float)):
            content = {found.name: content}
        if not isinstance(content, dict) or not content:
            content = said
        elif content is not said:
            content = dict(content)
            for path in rule.also:
                _set_field(content, path, _field_at(said, path))
        units = {name: _field_at(said, unit[1:]) if unit.startswith("$") else unit for name, unit in rule.units.items()}
        units |= self._discovery.units(message.topic)
        made = event(content)
        tuples = tuple(_with_unit(each, units) for each in made.tuples) if units else made.tuples
        own = [_field_at(said, path) for path in rule.id]
        return msgspec.structs.replace(
            made,
            tuples=tuples,
            id=":".join(map(str, own)) if own and all(isinstance(each, (str, int)) for each in own) else None,
            time=_timestamp(_field_at(said, rule.time)) if rule.time else None,
        )

    def _bare(self, message: MqttPublication, found: ResolvedTopic) -> Event:
        rule = found.rule
        try:
            text = message.payload.decode().strip()
        except UnicodeDecodeError:
            raise FormatError("the payload is no text in UTF-8; a topic map can say `skip`") from None
        announced = self._discovery.bare_value(message.topic)
        if announced is None and message.topic.endswith("/state"):
            announced = self._described.of(self._named(message.topic, resolved=False).source)
        name = found.name or bare_name(message.topic)
        unit = rule.unit or rule.units.get(name.rpartition(".")[2], "")
        if unit.startswith("$"):
            unit = ""
        if announced is not None:
            fixed = found.name if found.name == rule.name else ""  # what a template says is only a name at hand
            name, unit = fixed or announced.name or name, rule.unit or announced.unit or unit
        value = bare_value(text) if rule.read != "text" else text
        stated = unit if not isinstance(value, (str, bool)) else ""
        return Event((EventTuple(name, value, stated),))

    def _complete(self, made: Event, number: int, message: MqttPublication, found: ResolvedTopic, now: int) -> Event:
        """An event with what the message says beside its payload."""
        beside = {"topic": message.topic, **found.levels, **({"client": message.client} if message.client else {})}
        own = message.user_property("id")
        return msgspec.structs.replace(
            made,
            tuples=(*made.tuples, *(EventTuple(name, value) for name, value in beside.items())),
            themes=made.themes or found.rule.themes,
            id=(f"{own}/{number}" if number else own) if own else made.id,
            source=made.source or found.source,
            expires=made.expires if made.expires or not message.expiry else now + message.expiry * SECOND,
        )


def bare_text(payload: bytes) -> str:
    """Return the text of a bare payload, whether it is JSON or plain.

    >>> bare_text('"°C"'.encode()), bare_text(b"kitchen")
    ('°C', 'kitchen')
    """
    try:
        said = _TEXT.decode(payload)
    except (msgspec.MsgspecError, UnicodeError):
        said = payload.decode("utf-8", "replace")
    return said.strip()[:MAX_TERM_LENGTH]


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
    """What a bare payload says: a number, a Boolean, or its text.

    >>> bare_value("21.50"), bare_value("7"), bare_value("true"), bare_value("ON"), bare_value("21.5 °C")
    (21.5, 7, True, 'ON', '21.5 °C')
    """
    if len(text) <= MAX_TERM_LENGTH and _NUMBER.fullmatch(text):
        number = int(text) if text.lstrip("+-").isdigit() else float(text)
        return text if number in (float("inf"), float("-inf")) else number
    return {"true": True, "false": False}.get(text.casefold(), text)


def bare_name(topic: str) -> str:
    """What a bare value is called: the topic's last level that means something, with a number that follows it.

    >>> engine_name("home/attic/temperature/state"), engine_name("shellies/plug/relay/0"), engine_name("21")
    ('temperature', 'relay_0', '21')
    """
    levels = [level for level in topic.split("/") if level.strip()] or ["value"]
    kept = [level for level in levels if level.casefold() not in _MEANINGLESS] or levels
    if kept[-1].isdigit() and len(kept) > 1:
        return f"{kept[-2]}_{kept[-1]}"[:MAX_TERM_LENGTH]
    return kept[-1][:MAX_TERM_LENGTH]


def _opaque_payload(body: bytes) -> Event:
    """An event of bytes that nobody reads: how many, and the bytes in Base64, in pieces that fit."""
    text = base64.b64encode(body).decode()
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return event({"bytes": len(body), "payload": pieces})


def _field_at(said: object, path: str) -> object:
    """The field at a dotted path; None if there is none."""
    for part in path.split("."):
        if not isinstance(said, Mapping):
            return None
        said = said.get(part)
    return said


def _set_field(into: Json, path: str, value: object) -> None:
    """Set a field that is not there yet, below objects of its path."""
    *parents, last = path.split(".")
    for part in parents:
        inner = into.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        into = inner
    if value is not None:
        into.setdefault(last, value)


def _with_unit(item: EventTuple, units: Mapping[str, object]) -> EventTuple:
    """A reading with the unit that its map or its announcement says, where it states none itself."""
    unit = units.get(item.attribute) or units.get(item.attribute.removesuffix("[]").rpartition(".")[2])
    if not unit or not isinstance(unit, str) or item.unit or isinstance(item.value, (str, bool)):
        return item
    return msgspec.structs.replace(item, unit=unit)


def _timestamp(said: object) -> int | None:
    """A message's time, or None where it says none that is one: the time of arrival counts then."""
    if not isinstance(said, (str, int)) or isinstance(said, bool):
        return None
    try:
        return microseconds(said)
    except LikewiseError:
        return None


def _telegraf(body: bytes) -> Iterator[Event]:
    """Metrics as Telegraf's JSON writes them, one or a batch: fields and tags, the time in seconds."""
    said = decode_object(body, "message")
    batch = said.get("metrics")
    for metric in batch if isinstance(batch, list) else [said]:
        fields = metric.get("fields") if isinstance(metric, dict) else None
        if not isinstance(fields, dict) or not fields:
            raise FormatError('Telegraf\'s JSON has `fields` in each metric; set data_format = "json"')
        tags, seconds = metric.get("tags"), metric.get("timestamp")
        name = metric.get("name")
        named = {f"{name}.{field}": value for field, value in fields.items()} if isinstance(name, str) else fields
        made = event({**named, **(tags if isinstance(tags, dict) else {}), "measurement": name})
        timed = type(seconds) is int and 0 <= seconds < 2**40
        yield msgspec.structs.replace(made, time=seconds * SECOND if timed else None)  # type: ignore[operator]

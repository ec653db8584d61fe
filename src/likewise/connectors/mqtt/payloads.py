"""Messages to events: attributes as the device calls them, the topic beside them (docs/guides/mqtt.md).

Nesting a payload below its topic's path would lose exact matches, so attributes stay as they are: the topic is the
tuple `topic`, the levels that a map names are tuples of their own. A bare payload (`21.5`, `ON`) takes its name from
the map, from Home Assistant's discovery, or from the topic's last level that means something. What cannot be read is
kept with its bytes, unless the map says `strict`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from likewise.broker.catalogue.telling import ANNOUNCEMENTS, SENSE
from likewise.connectors.media_types import JSON, Said, Unreadable, media_types, read_events
from likewise.connectors.mqtt.announced import discovered, exposed
from likewise.connectors.mqtt.discovery import Discovery
from likewise.connectors.mqtt.messages import Message
from likewise.connectors.mqtt.sparkplug import reading as sparkplug
from likewise.connectors.mqtt.topic_maps import Named, Rule, TopicMap
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

_MEANINGLESS: Final = frozenset(
    ("state", "status", "value", "raw", "reading", "data", "get", "current", "last", "json")
)
_NUMBER: Final = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_ABOUT_SOURCES: Final = (ANNOUNCEMENTS, SENSE)  # what is announced and told there is no reading
_SENML: Final = frozenset(("n", "bn"))
_ARRAY: Final = msgspec.json.Decoder(list[Any])
encode: Final = msgspec.json.Encoder().encode
_PIECE: Final = MAX_TERM_LENGTH // 4 * 4


class Plain(NamedTuple):
    """What is put into a JSON object that is published to a topic, and around it; `taken` are keys it must not have."""

    taken: frozenset[str]
    names: dict[str, str]
    source: str
    names_json: bytes
    source_json: bytes

    def envelope(self, payload: bytes, client: bytes, expires: int | None) -> bytes:
        """The envelope of an object that has none of the keys that are taken."""
        ends = b"" if expires is None else b',"expires":%d' % expires
        return b'{"v":1,"payload":%s%s,"client":%s},"source":%s%s}' % (
            payload[:-1], self.names_json, client, self.source_json, ends,
        )  # fmt: skip


class MessageReader:
    """Reads messages with one map, remembering what discovery says, and what Sparkplug's BIRTH messages announce.

    >>> from likewise.connectors.mqtt.topic_maps import load_maps
    >>> reader = MessageReader(load_maps())
    >>> [made] = reader.read(Message("tele/plug/SENSOR", b'{"AM2301": {"Temperature": 70.2}, "TempUnit": "F"}'), now=0)
    >>> made.source, [(t.attribute, t.value, t.unit) for t in made.tuples][:1]
    ('plug', [('AM2301.Temperature', 70.2, 'F')])
    >>> [made] = reader.read(Message("home/attic/temperature/state", b"21.5 \\xc2\\xb0C"), now=0)
    >>> [(t.attribute, t.value) for t in made.tuples]
    [('temperature', '21.5 °C'), ('topic', 'home/attic/temperature/state')]
    """

    def __init__(self, maps: TopicMap, *, strict: bool = False) -> None:
        self._maps = maps
        self._strict = strict  # whatever the map says
        self._discovery = Discovery()
        self._sparkplug = sparkplug.Sparkplug()
        self._plain: dict[str, Plain | None] = {}

    def plain(self, topic: str) -> Plain | None:
        """How a JSON object that is published to a topic becomes an envelope as it is; None if it must be taken apart.

        That is where the map says no more than the names of levels.

        >>> from likewise.connectors.mqtt.topic_maps import load_maps
        >>> found = MessageReader(load_maps()).plain("home/attic/t")
        >>> found.envelope(b'{"no2": 45}', b'"roof-3"', None)
        b'{"v":1,"payload":{"no2": 45,"topic":"home/attic/t","client":"roof-3"},"source":"home/attic/t"}'
        """
        try:
            return self._plain[topic]
        except KeyError:
            if len(self._plain) >= MAX_PLAIN_TOPICS:
                self._plain.clear()
        if topic.startswith(_ABOUT_SOURCES):
            return None
        found = self._maps.find(topic)
        rule = found.rule
        said = (rule.within, rule.also, rule.id, rule.time, rule.units, rule.themes, self._discovery.units(topic))
        made = None
        if rule.read in ("auto", "json") and not any(said):
            names = {"topic": topic, **found.levels}
            source = _source(found, topic)
            taken = frozenset((*names, "client", "v", "specversion"))
            made = Plain(taken, names, source, b"," + encode(names)[1:-1], encode(source))
        self._plain[topic] = made
        return made

    def read(self, message: Message, now: int) -> list[Event]:
        """The events of a message; none if it is no reading. What is refused, or too large to keep, is `Unreadable`."""
        if message.topic.startswith(_ABOUT_SOURCES):
            return []
        found = self._maps.find(message.topic)
        rule = found.rule
        if rule.read == "discovery":
            self._learn(message)
            return []
        if rule.read in ("skip", "exposes") or not message.payload:
            return []
        try:
            made = self._readable(message, found, now)
            return [self._complete(each, number, message, found, now) for number, each in enumerate(made)]
        except LikewiseError as error:
            raise Unreadable(error, message.payload) from error

    def announcements(self, message: Message) -> list[Announcement]:
        """What a message announces, after it was read: Zigbee2MQTT's devices, Home Assistant's configurations."""
        rule = self._maps.find(message.topic).rule
        if rule.read == "discovery":
            state = self._discovery.state_of(message.topic)
            found = None if state is None else discovered(self.source_of(state), self._discovery.said_of(state))
            return [] if found is None else [found]
        if rule.read != "exposes" or len(message.payload) > MAX_DOCUMENT_BYTES:
            return []
        try:
            devices: list[Any] = decode(message.payload, _ARRAY, "list of devices")
            return exposed(devices)
        except LikewiseError:
            return []  # it says nothing, and nothing depends on it

    def strict(self, topic: str) -> bool:
        """Whether what cannot be read is refused there."""
        return self._strict or self._maps.find(topic).rule.strict

    def source_of(self, topic: str) -> str:
        """The source of what is published to a topic, unless the payload says another.

        >>> from likewise.connectors.mqtt.topic_maps import load_maps
        >>> MessageReader(load_maps()).source_of("tele/plug/SENSOR")
        'plug'
        """
        return _source(self._maps.find(topic), topic)

    @property
    def unannounced(self) -> int:
        """Metrics of Sparkplug B whose alias no BIRTH had announced."""
        return self._sparkplug.unannounced

    def noted(self, message: Message, now: int) -> Event:
        """An event of a message that is no reading, or cannot be kept as one: how many bytes came, and where to."""
        return self._complete(event({"bytes": len(message.payload)}), 0, message, self._maps.find(message.topic), now)

    def _readable(self, message: Message, found: Named, now: int) -> list[Event]:
        """The events of a payload, or one of its bytes, unless the map is strict."""
        try:
            return self._events(message, found, now)
        except (LikewiseError, Unreadable):
            if found.rule.strict or self._strict:
                raise
            return [_kept(message.payload)]

    def _learn(self, message: Message) -> None:
        self._plain.clear()
        try:
            said = decode_object(message.payload, "discovery") if message.payload else {}
        except LikewiseError:
            return  # no configuration: it says nothing, and nothing depends on it
        self._discovery.learn(message.topic, said)

    def _events(self, message: Message, found: Named, now: int) -> list[Event]:
        rule, body = found.rule, message.payload
        kind = Said.of(message.content_type)
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
            return self._json(message, rule, now)
        return [self._bare(message, rule)]

    def _json(self, message: Message, rule: Rule, now: int) -> list[Event]:
        body = as_bytes(message.payload, "event", MAX_EVENT_BYTES)
        if body.lstrip()[:1] != b"[":
            return [self._object(decode_object(body, "message"), message, rule)]
        items = decode(body, _ARRAY, "message")
        objects = [item for item in items if isinstance(item, dict)]
        if len(objects) < len(items) or not items:
            return [event({self._name(message.topic, rule): items})]
        if _SENML & set(objects[0]):
            return list(events_from_senml(body, now=now))
        return [self._object(item, message, rule) for item in decode_items(body, "array of events")]

    def _object(self, said: Json, message: Message, rule: Rule) -> Event:
        if is_envelope(said):
            return event_from_document(said)
        if "specversion" in said and "type" in said:
            return event_from_cloudevent(msgspec.json.encode(said))
        content = _at(said, rule.within) if rule.within else said
        if not isinstance(content, dict) or not content:
            content = said
        elif content is not said:
            content = dict(content)
            for path in rule.also:
                _put(content, path, _at(said, path))
        units = {name: _at(said, unit[1:]) if unit.startswith("$") else unit for name, unit in rule.units.items()}
        units |= self._discovery.units(message.topic)
        made = event(content)
        tuples = tuple(_with_unit(each, units) for each in made.tuples) if units else made.tuples
        own = [_at(said, path) for path in rule.id]
        return msgspec.structs.replace(
            made,
            tuples=tuples,
            id=":".join(map(str, own)) if own and all(isinstance(each, (str, int)) for each in own) else None,
            time=_moment(_at(said, rule.time)) if rule.time else None,
        )

    def _bare(self, message: Message, rule: Rule) -> Event:
        try:
            text = message.payload.decode().strip()
        except UnicodeDecodeError:
            raise FormatError("the payload is no text in UTF-8; a topic map can say `skip`") from None
        announced = self._discovery.bare(message.topic)
        name = self._name(message.topic, rule)
        unit = rule.unit or rule.units.get(name.rpartition(".")[2], "")
        if unit.startswith("$"):
            unit = ""
        if announced is not None:
            name, unit = rule.name or announced.name or name, rule.unit or announced.unit or unit
        value = bare_value(text) if rule.read != "text" else text
        stated = unit if not isinstance(value, (str, bool)) else ""
        return Event((EventTuple(name, value, stated),))

    def _name(self, topic: str, rule: Rule) -> str:
        return rule.name or name_of(topic)

    def _complete(self, made: Event, number: int, message: Message, found: Named, now: int) -> Event:
        """An event with what the message says beside its payload."""
        beside = {"topic": message.topic, **found.levels, **({"client": message.client} if message.client else {})}
        own = message.said("id")
        return msgspec.structs.replace(
            made,
            tuples=(*made.tuples, *(EventTuple(name, value) for name, value in beside.items())),
            themes=made.themes or found.rule.themes,
            id=(f"{own}/{number}" if number else own) if own else made.id,
            source=made.source or _source(found, message.topic),
            expires=made.expires if made.expires or not message.expiry else now + message.expiry * SECOND,
        )


def bare_value(text: str) -> str | int | float | bool:
    """What a bare payload says: a number, a Boolean, or its text.

    >>> bare_value("21.50"), bare_value("7"), bare_value("true"), bare_value("ON"), bare_value("21.5 °C")
    (21.5, 7, True, 'ON', '21.5 °C')
    """
    if len(text) <= MAX_TERM_LENGTH and _NUMBER.fullmatch(text):
        number = int(text) if text.lstrip("+-").isdigit() else float(text)
        return text if number in (float("inf"), float("-inf")) else number
    return {"true": True, "false": False}.get(text.casefold(), text)


def name_of(topic: str) -> str:
    """What a bare value is called: the topic's last level that means something, with a number that follows it.

    >>> name_of("home/attic/temperature/state"), name_of("shellies/plug/relay/0"), name_of("21")
    ('temperature', 'relay_0', '21')
    """
    levels = [level for level in topic.split("/") if level.strip()] or ["value"]
    kept = [level for level in levels if level.casefold() not in _MEANINGLESS] or levels
    if kept[-1].isdigit() and len(kept) > 1:
        return f"{kept[-2]}_{kept[-1]}"[:MAX_TERM_LENGTH]
    return kept[-1][:MAX_TERM_LENGTH]


def _source(found: Named, topic: str) -> str:
    """Who publishes to a topic: a node or device of Sparkplug B, the map's `device`, or the topic itself."""
    levels = found.levels
    named = sparkplug.source_of(levels) if found.rule.read == "sparkplug" else levels.get("device")
    return (named or topic)[:MAX_TERM_LENGTH]


def _kept(body: bytes) -> Event:
    """An event of bytes that nobody reads: how many, and the bytes in Base64, in pieces that fit."""
    text = base64.b64encode(body).decode()
    pieces = [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
    return event({"bytes": len(body), "payload": pieces})


def _at(said: object, path: str) -> object:
    """The field at a dotted path; None if there is none."""
    for part in path.split("."):
        if not isinstance(said, Mapping):
            return None
        said = said.get(part)
    return said


def _put(into: Json, path: str, value: object) -> None:
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


def _moment(said: object) -> int | None:
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
        made = event({**fields, **(tags if isinstance(tags, dict) else {}), "measurement": metric.get("name")})
        timed = type(seconds) is int and 0 <= seconds < 2**40
        yield msgspec.structs.replace(made, time=seconds * SECOND if timed else None)  # type: ignore[operator]

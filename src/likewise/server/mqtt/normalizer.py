"""Normaliser: readings under common names and in common units, published beside the broker that people have.

It follows the log up to where corrections are applied, so that what a person corrects holds from the next message on.
How far it has come is saved after the other broker has acknowledged a page: after a crash the last page is published
again, and nothing is lost. What it publishes carries a user property and stands below one prefix; neither is read back.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote

import msgspec
import structlog

from likewise.api.operations import ConnectionStatus
from likewise.api.sources import UncertainAttribute
from likewise.broker.catalogue.views import MODELS
from likewise.broker.config import BridgeSettings, Config, NormalizeSettings
from likewise.broker.log.entries import EVENT, Entry, RevokeCommand
from likewise.broker.log.mqtt.messages import read_messages
from likewise.broker.log.positions import put_positions, read_positions
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.normalized_sources import NormalizedSources
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import BRIDGE_RETRY_SECONDS
from likewise.errors import InputError, Unavailable
from likewise.formats.cloudevents import rfc3339
from likewise.matching.common_names.normaliser import NormalizedReading, ReadingNormaliser
from likewise.matching.common_names.table import CommonNames
from likewise.matching.enrichment.step import AnnotationStep
from likewise.matching.registry import EngineSelection
from likewise.model import Event
from likewise.model.announcements.announcement import SPEAKER
from likewise.model.text import fold
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker_urls import bridge_address, parse_mqtt_url, shown
from likewise.server.mqtt.client import MqttClient
from likewise.server.mqtt.messages import NORMALIZED, MqttPublication, topic_level
from likewise.server.mqtt.publisher import connect_to, publish_all
from likewise.units import any_unit

_log = structlog.get_logger("likewise.mqtt")
FOLLOWER: Final = "normalizer"
PAGE: Final = 500  # entries whose messages are acknowledged before the position is saved
POLL_SECONDS: Final = 0.01  # between two looks at whether what came is matched
IDLE_SECONDS: Final = 1.0
PLACEHOLDERS: Final = ("source", "label", "model", "name", "attribute", "unit")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_PAYLOAD: Final = frozenset(("value", "source", "attribute", "probability"))  # of our JSON, whoever sent it
_SENML_UNITS: Final = {"degC": "Cel", "ohm": "Ohm", "deg": "deg", "%": "%"}


class Published(NamedTuple):
    """A reading on its way: the reading, the event that it is of, and what it is called there."""

    reading: NormalizedReading
    entry: Entry
    event: Event
    name: str
    topic: str  # of the original message, '' if it came another way
    retain: bool


class NormalizerState(msgspec.Struct):
    """Counters of a normaliser, for metrics and the list of connections."""

    url: str
    connected: bool = False
    received: int = 0  # events
    stored: int = 0  # readings that were published
    passed_over: int = 0  # readings that are not certain
    refused: int = 0  # messages that the other broker does not take
    connections: int = 0
    trouble: str = "not connected yet"

    def shown(self) -> ConnectionStatus:
        """Return the status for the list of connections."""
        fields = msgspec.structs.asdict(self)
        return ConnectionStatus("mqtt-normalizer", fields.pop("url"), **fields, lost=0, gaps=0)


class Output(Protocol):
    """What is published of readings."""

    def __call__(self, each: Published) -> Iterator[MqttPublication]:
        """Yield the messages of a reading."""

    def revoke(self, source: str) -> Iterator[MqttPublication]:
        """Yield what is to be published when a source is revoked."""

    def poll(self, now: int) -> Iterator[MqttPublication]:
        """Yield what is to be published whatever came, about once a second."""


class Normalizer:
    """Publishes a tenant's readings under their common names; `run` ends when the gateway stops.

    Args:
        gateway: The broker whose events are normalised.
        config: Its configuration.
        names: The common names.
        outputs: What is published of each reading, by the normaliser that reads them.
    """

    def __init__(
        self, gateway: Gateway, config: Config, names: CommonNames, outputs: Callable[[Normalizer], Sequence[Output]]
    ) -> None:
        settings = config.normalize
        self._gateway = gateway
        self._settings = settings
        self._tenant = tenant = gateway.broker.tenant(settings.tenant)
        self._address = bridge_address(as_bridge(settings))
        self.state = NormalizerState(shown(str(settings.to)))
        interpretation = tenant.stateless.interpretation
        matching = config.matching
        self._annotations = AnnotationStep(interpretation, EngineSelection(matching.profile, matching.engines))
        self.normaliser = ReadingNormaliser(names, interpretation, settings.confidence, config.units.customary)
        self._units: dict[str, tuple[object, dict[str, str]]] = {}
        self._polled = 0  # when outputs were asked for more than readings (µs)
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        store = gateway.broker.store
        tenant.normalized = self.known = NormalizedSources(topic_prefix(str(settings.to)))
        with store.reading() as tables:
            self.known.load(tables, tenant.number)
            position = read_positions(tables, FOLLOWER).get(tenant.number)
        if position is None:
            position = store.position
            store.commit(lambda tables: put_positions(tables, tenant.number, {FOLLOWER: position}))
        self._position = position
        gateway.broker.keep_log_for(self._needed_from)
        self._outputs = outputs(self)

    def _needed_from(self, tables: StoreTables, tenant: Tenant) -> int | None:
        return self._position + 1 if tenant is self._tenant else None

    def take(self, entries: list[Entry]) -> None:
        """New entries are on disk. On the writer's thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake.set)

    async def run(self) -> None:
        """Publish what comes, until the gateway stops."""
        tasks = [asyncio.create_task(self._gateway.stopping.wait()), asyncio.create_task(self._publish_loop())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for ended in done:
                ended.result()  # a bug of ours: logged by the caller
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _publish_loop(self) -> None:
        """Publish page after page; try again while the other broker does not answer."""
        store, failing = self._gateway.broker.store, False
        store.followers.append(self)
        client: MqttClient | None = None
        try:
            while True:
                try:
                    client = await connect_to(self._address, "", self.state.url)
                    self.state.connected, self.state.trouble, failing = True, "", False
                    self.state.connections += 1
                    await self._publish_pages(client)
                except Unavailable as error:
                    self.state.connected, self.state.trouble = False, str(error)
                    if not failing:
                        _log.warning("mqtt_normalizer_failed", url=self.state.url, error=str(error))
                    failing = True
                    if client is not None:
                        await client.close()
                    client = None
                    await asyncio.sleep(BRIDGE_RETRY_SECONDS)
        finally:
            store.followers.remove(self)
            self.state.connected = False
            if client is not None:
                await client.close()

    async def _publish_pages(self, client: MqttClient) -> None:
        while True:
            self._wake.clear()
            position, messages = await self._gateway.read(self._tenant, self._page)
            if messages:
                refused = await publish_all(client, messages, self.state.url, passes_refused=True)
                self.state.refused += refused
                self.state.stored += len(messages) - refused
            if position > self._position or self.known.is_changed:
                await self._save(position)
                continue
            if self._gateway.broker.store.position > position:
                await asyncio.sleep(POLL_SECONDS)  # until it is matched
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), IDLE_SECONDS)
            if client.closed.done():
                raise Unavailable(f"{self.state.url} ended the connection")

    async def _save(self, position: int) -> None:
        tenant = self._tenant.number

        def work(tables: StoreTables) -> None:
            put_positions(tables, tenant, {FOLLOWER: position})
            self.known.save(tables, tenant)

        await self._gateway.wait_committed(self._gateway.broker.store.write, work)
        self._position = position

    # -- beside the loop ------------------------------------------------------------------------

    def _page(self) -> tuple[int, list[MqttPublication]]:
        """Return the messages of the next entries, and the position behind them."""
        store, tenant, position = self._gateway.broker.store, self._tenant, self._position
        until = tenant.matched
        entries = list(islice(store.entries(position, until, tenant=tenant.number), PAGE)) if until > position else []
        if len(entries) < PAGE:
            position = max(position, until)
        elif entries:
            position = entries[-1].position
        revoked = [each.value.source for each in entries if isinstance(each.value, RevokeCommand)]
        messages = [message for source in revoked for output in self._outputs for message in output.revoke(source)]
        events = [each for each in entries if each.kind == EVENT and each.source != SPEAKER]
        with store.reading() as tables:
            originals = read_messages(tables, [each.position for each in events]) if events else {}
        for entry in events:
            original = originals.get(entry.position)
            if original is not None:
                self.known.note_payload(original.topic, original.payload)
            for each in self._read(entry, original is not None and original.retain):
                for output in self._outputs:
                    messages += output(each)
        now = self._gateway.broker.clock()
        if abs(now - self._polled) >= IDLE_SECONDS * 1e6:
            self._polled = now
            for output in self._outputs:
                messages += output.poll(now)
        return position, messages

    def _read(self, entry: Entry, retained: bool) -> Iterator[Published]:
        """Yield the readings of an event that are certain; note the others."""
        event = entry.value
        assert isinstance(event, Event)
        topic = next((str(t.value) for t in event.tuples if t.attribute == "topic"), "")
        if topic.startswith(self.known.prefix) or {t.attribute for t in event.tuples} >= _PAYLOAD:
            return  # a normaliser published it
        self.state.received += 1
        annotated = self._annotations.annotate(event)
        certain, uncertain = self.normaliser.read(annotated, self._announced_units(entry.source))
        model = self._model(entry.source, event)
        for question in uncertain:
            attribute = question.attribute
            self.known.note_uncertain(
                UncertainAttribute(
                    attribute,
                    entry.source,
                    model,
                    question.value,
                    question.unit,
                    question.guesses,
                    question.why,
                    seen=entry.arrival,
                )
            )
        self.state.passed_over += len(uncertain)
        retain = {"always": True, "never": False}.get(self._settings.retain, retained or topic in self.known.retained)
        for reading in certain:
            place, group = reading.place, annotated.tuples[reading.place].group
            attribute = event.tuples[place].attribute if place < len(event.tuples) else reading.attribute
            self.known.close_question(model or entry.source, attribute)
            distinct = f"{attribute} {group}" if group else attribute
            name = self.known.distinct_name(entry.source, reading.name.name, distinct)
            yield Published(reading._replace(attribute=attribute), entry, event, name, topic, retain)

    def _announced_units(self, source: str) -> dict[str, str]:
        """Return the units that a source announced, by attribute."""
        stored = self._tenant.sources.announcements.get(source)
        if stored is None:
            return {}
        known = self._units.get(source)
        if known is None or known[0] is not stored.announcement:
            units = {each.name: each.unit for each in stored.announcement.all_attributes() if each.unit}
            known = self._units[source] = stored.announcement, units
        return known[1]

    def _model(self, source: str, event: Event) -> str:
        stored = self._tenant.sources.announcements.get(source)
        if stored is not None and stored.announcement.model:
            return stored.announcement.model
        return next((str(t.value) for t in event.tuples if fold(t.attribute) in MODELS), "")


class CommonNameOutput:
    """Makes the message of a reading under its common name, in the form of some settings."""

    def __init__(self, settings: NormalizeSettings, labels: Callable[[str], str]) -> None:
        self._settings = settings
        self._labels = labels  # of a source
        self._template = check_topic(str(settings.to))

    def revoke(self, source: str) -> Iterator[MqttPublication]:
        """Yield nothing: what was read stays."""
        yield from ()

    def poll(self, now: int) -> Iterator[MqttPublication]:
        """Yield nothing: readings are all there is."""
        yield from ()

    def topic_of(self, each: Published) -> str:
        """Return the topic of a reading."""
        source = each.entry.source
        values = {
            "source": source,
            "label": self._labels(source) or source,
            "model": "",
            "name": each.name,
            "attribute": each.reading.attribute,
            "unit": each.reading.name.unit,
        }
        return _PLACEHOLDER.sub(lambda found: topic_level(values[found[1]]), self._template)

    def __call__(self, each: Published) -> Iterator[MqttPublication]:
        """Yield the message."""
        body, content_type = _FORMS[self._settings.format](each)
        yield MqttPublication(self.topic_of(each), body, content_type, (NORMALIZED,), qos=1, retain=each.retain)


def _at(each: Published) -> int:
    return each.entry.arrival if each.event.time is None else each.event.time


def _json(each: Published) -> tuple[bytes, str]:
    reading = each.reading
    unit = {"unit": reading.name.unit} if reading.name.unit else {}
    stated = {"value": reading.value, **unit, "time": rfc3339(_at(each)), "source": each.entry.source}
    stated |= {"attribute": reading.attribute, "probability": round(reading.probability, 3)}
    return msgspec.json.encode(stated), "application/json"


def _value(each: Published) -> tuple[bytes, str]:
    value = each.reading.value
    return (value.encode() if isinstance(value, str) else msgspec.json.encode(value)), "text/plain"


def _senml(each: Published) -> tuple[bytes, str]:
    value, known = each.reading.value, any_unit(each.reading.name.unit) if each.reading.name.unit else None
    record: dict[str, object] = {"bn": f"{each.entry.source}/", "n": each.name, "t": _at(each) / 1e6}
    if known is not None:
        record["u"] = _SENML_UNITS.get(known.symbol, known.symbol)
    record["vs" if isinstance(value, str) else "v"] = value
    return msgspec.json.encode([record]), "application/senml+json"


def _ngsi_ld(each: Published) -> tuple[bytes, str]:
    observed = {"type": "Property", "value": each.reading.value, "observedAt": rfc3339(_at(each))}
    if each.reading.name.unit:
        observed["unitText"] = each.reading.name.unit
    entity = {"id": f"urn:ngsi-ld:Device:{quote(each.entry.source, safe='')}", "type": "Device", each.name: observed}
    return msgspec.json.encode(entity), "application/json"


_FORMS: Final = {"json": _json, "value": _value, "senml": _senml, "ngsi-ld": _ngsi_ld}


def check_topic(url: str) -> str:
    """Return the topic of `to`, which names the source and the reading below a prefix of its own.

    >>> check_topic("mqtt://host/norm/{source}/{name}")
    'norm/{source}/{name}'
    >>> check_topic("mqtt://host/{name}")
    Traceback (most recent call last):
    likewise.errors.InputError: 'mqtt://host:1883/{name}' needs a topic like norm/{source}/{name}, with ...
    """
    topic = parse_mqtt_url(url).topic
    names = _PLACEHOLDER.findall(topic)
    unknown = [name for name in names if name not in PLACEHOLDERS]
    if unknown:
        raise InputError(f"{{{unknown[0][:40]}}} is nothing a topic can name; known are {', '.join(PLACEHOLDERS)}")
    rest = _PLACEHOLDER.sub("x", topic)
    if set("+#{}") & set(rest) or "name" not in names or not {"source", "label"} & {*names} or not topic_prefix(url):
        raise InputError(f"{shown(url)!r} needs a topic like norm/{{source}}/{{name}}, with a level of its own first")
    return topic


def topic_prefix(url: str) -> str:
    """Return the whole levels that begin every topic of an address.

    >>> topic_prefix("mqtt://host/a/norm/{source}/{name}"), topic_prefix("mqtt://host/{source}/{name}")
    ('a/norm/', '')
    """
    levels, sign, _ = parse_mqtt_url(url).topic.partition("{")[0].rpartition("/")
    return levels + sign


def as_bridge(settings: NormalizeSettings) -> BridgeSettings:
    """Return where a normaliser publishes to as the settings of a bridge, which has the same credentials."""
    login = {
        name: getattr(settings, name)
        for name in ("username", "password", "password_file", "tls_authority", "tls_certificate", "tls_key")
    }
    return BridgeSettings(str(settings.to), **login)

"""The uplink of an edge to any MQTT broker: the outbox that edges have, published with QoS 1 below a prefix.

What waits is on disk, bounded, and goes up in the order in which it came, also that of each source; an item leaves the
outbox when that broker has acknowledged it. After a crash or a lost connection what was not acknowledged goes up again,
with the same user property `id`. Nothing comes down: who asks, asks that broker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec
import structlog
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from likewise.api.edge_frames import DemandFrame, UplinkStatus
from likewise.broker.broker import Broker
from likewise.broker.config import BridgeSettings
from likewise.broker.edge_hub.demands import UpstreamDemand
from likewise.broker.edge_hub.identities import checked_edge
from likewise.broker.log.edges.outbox import OutboxEvent
from likewise.broker.log.mqtt.messages import StoredMessage, read_messages
from likewise.defaults import BRIDGE_RETRY_SECONDS, TENANT
from likewise.edge.bounds import Bounds
from likewise.edge.outbox import Outbox
from likewise.errors import InputError, StateError, Unavailable
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker_urls import bridge_address, parse_mqtt_url, shown
from likewise.server.mqtt.client import MqttClient
from likewise.server.mqtt.messages import MqttPublication, topic_level
from likewise.server.mqtt.publisher import connect_to, publish_all

_log = structlog.get_logger("likewise.edge")
PAGE: Final = 200  # items that are published before they leave the outbox
SCHEMES: Final = ("mqtt://", "mqtts://")
EVERYTHING: Final = DemandFrame(version="mqtt", since=False)  # a demand without groups: nothing is judged, all goes up


class _Envelope(msgspec.Struct):
    """What a message needs of an event's envelope."""

    id: str = ""
    source: str = ""


_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)


_COUNTED: Final = {
    "acknowledged": "The last item of the outbox that the broker above has",
    "dropped": "Items that the outbox dropped by its bounds",
    "forwarded": "Items that went up",
}


class OutboxMetrics(Collector):
    """The figures of an outbox, read at each scrape."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def collect(self) -> Iterator[Metric]:
        """Yield what waits, and the counters."""
        outbox = self._outbox
        for name, value in (("waiting", outbox.waiting), ("bytes", outbox.bytes)):
            yield GaugeMetricFamily(f"likewise_edge_outbox_{name}", f"Items of the outbox: {name}", value=float(value))
        for name, words in _COUNTED.items():
            yield CounterMetricFamily(f"likewise_edge_outbox_{name}", words, value=float(getattr(outbox.counts, name)))


class MqttUplink:
    """Publishes an edge's events to an MQTT broker; `run` ends when the gateway stops.

    Args:
        broker: A broker that `make_edge_broker` made.
        id: The edge's name.
        url: That broker, with a prefix of topics: `mqtts://host/plant-3`.
        password: For the user name in the address.
        bounds: What the outbox may hold.
    """

    def __init__(
        self, broker: Broker, id: str, url: str, *, password: str | None = None, bounds: Bounds | None = None
    ) -> None:
        self._broker = broker
        self.id = checked_edge(id)
        self._shown = shown(url)
        self._address = bridge_address(BridgeSettings(url, password=password))
        self._prefix = parse_mqtt_url(url).topic.rstrip("/")
        if not self._prefix or set("+#") & set(self._prefix):
            raise InputError(f"{self._shown!r} needs a prefix of topics without wildcards: mqtts://host/plant-3")
        self.tenant = tenant = broker.tenant(TENANT)
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.connected = False
        self.trouble: str | None = None
        self.refused = 0  # messages that broker does not take
        self.outbox = Outbox(broker, tenant, bounds or Bounds(), self._notify)
        broker.edges.here = id
        broker.edges.above = UpstreamDemand(lambda keys: None, lambda: self.trouble)
        broker.edges.uplink = self
        broker.metrics.registry.register(OutboxMetrics(self.outbox))

    def status(self) -> UplinkStatus:
        """Return where this edge publishes to, and how its connection stands."""
        address = self._shown if self.connected else ""
        return UplinkStatus(
            self.id,
            (self._shown,),
            "connected" if self.connected else "away",
            address,
            self.outbox.waiting,
            self.trouble or "",
        )

    async def switch(self, upstream: str | None, token: str | None = None) -> UplinkStatus:
        """Refuse another broker above: this edge publishes to the one it was started with."""
        raise StateError("this edge publishes to a broker of MQTT; start it with another --upstream")

    def _notify(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            with suppress(RuntimeError):  # the loop ends
                loop.call_soon_threadsafe(self._changed.set)

    async def run(self, gateway: Gateway) -> None:
        """Publish what waits, until the broker stops."""
        self._loop = asyncio.get_running_loop()
        self.outbox.start()
        await asyncio.to_thread(self.outbox.change_demand, EVERYTHING)
        tasks: list[asyncio.Task[Any]] = [
            asyncio.create_task(self._reconnect_loop()),
            asyncio.create_task(gateway.stopping.wait()),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for ended in done:
                ended.result()  # a bug of ours: logged by the caller
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.to_thread(self.outbox.stop)

    async def _reconnect_loop(self) -> None:
        failing = False
        while True:
            client: MqttClient | None = None
            try:
                client = await connect_to(self._address, "", self._shown)
                self.connected, self.trouble, failing = True, None, False
                _log.info("edge_connected", address=self._shown)
                await self._publish_pages(client)
            except Unavailable as error:
                self.trouble = str(error)
                if not failing:
                    _log.warning("edge_connection_lost", address=self._shown, reason=str(error))
                failing = True
            finally:
                self.connected = False
                if client is not None:
                    await client.close()
            await asyncio.sleep(BRIDGE_RETRY_SECONDS)

    async def _publish_pages(self, client: MqttClient) -> None:
        cursor = self.outbox.counts.acknowledged
        while True:
            self._changed.clear()
            page = await asyncio.to_thread(self.outbox.page, cursor, PAGE)
            if page:
                messages = await asyncio.to_thread(self._messages, page)
                self.refused += await publish_all(client, messages, self._shown, passes_refused=True)
                cursor = page[-1].item.sequence
                await asyncio.to_thread(self.outbox.acknowledge, cursor)
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 1.0)
            if client.closed.done():
                raise Unavailable(f"{self._shown} ended the connection")

    def _messages(self, page: list[OutboxEvent]) -> list[MqttPublication]:
        """Return the message of each event that is not over; a withdrawal has none."""
        with self._broker.store.reading() as tables:
            originals = read_messages(tables, [each.item.position for each in page])
        return [self._message(each.body, originals.get(each.item.position)) for each in page if each.body is not None]

    def _message(self, body: bytes, original: StoredMessage | None) -> MqttPublication:
        """Return an event as its device published it, below the prefix; one that came another way as our envelope."""
        envelope = _ENVELOPE.decode(body)
        named = (("id", envelope.id),) if envelope.id else ()
        if original is not None:
            topic = f"{self._prefix}/{original.topic}"
            return MqttPublication(topic, original.payload, "", named, qos=1, retain=original.retain)
        topic = f"{self._prefix}/{topic_level(envelope.source)}"
        return MqttPublication(topic, body, "application/json", named, qos=1)

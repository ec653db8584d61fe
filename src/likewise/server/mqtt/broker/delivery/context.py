"""The context that the parts of the listener share: broker, connections, counters."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Protocol

from likewise.broker.broker import Broker
from likewise.broker.config import MqttSettings
from likewise.broker.log.deliveries import Delivery
from likewise.broker.tenants.tenant import Tenant
from likewise.server.gateway import Gateway
from likewise.server.loop_bridge import LoopBridge
from likewise.server.mqtt.broker.delivery.counters import TenantCounters
from likewise.server.mqtt.broker.delivery.in_flight import InFlightRows
from likewise.server.mqtt.broker.delivery.rendering import Renderer
from likewise.server.mqtt.broker.delivery.session import QueueSender
from likewise.server.mqtt.broker.delivery.topic_router import TopicRouter
from likewise.server.mqtt.payloads import MessageReader


class ListenerContext(Protocol):
    """The listener, as its parts use it."""

    gateway: Gateway
    broker: Broker
    bridge: LoopBridge
    config: MqttSettings
    rows: InFlightRows
    renderer: Renderer

    @property
    def live(self) -> Mapping[int, TopicRouter]:
        """Return the topic routers, by tenant."""

    def counters(self, tenant: Tenant) -> TenantCounters:
        """Counters of one tenant."""

    def reader(self, tenant: Tenant) -> MessageReader:
        """Return the decoder of a tenant's messages."""

    def spawn(self, work: Coroutine[object, object, None]) -> None:
        """Run a task in the background."""

    def schedule_pump(self, sender: QueueSender) -> None:
        """Schedule a sender that got an acknowledgement: in this turn it records it and sends more."""

    def match_reason(self, sender: QueueSender, delivery: Delivery, place: int, id: str) -> bytes:
        """Return the reasons of a delivery as JSON."""

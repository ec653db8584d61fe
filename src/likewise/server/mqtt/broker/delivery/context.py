"""What the parts of the listener share: the broker, those who are connected, what is counted."""

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
    """The listener as its parts see it."""

    gateway: Gateway
    broker: Broker
    bridge: LoopBridge
    config: MqttSettings
    rows: InFlightRows
    renderer: Renderer

    @property
    def live(self) -> Mapping[int, TopicRouter]:
        """Who is sent what is published to topics as it comes, by tenant."""
        ...

    def counters(self, tenant: Tenant) -> TenantCounters:
        """What is counted for a tenant."""
        ...

    def reader(self, tenant: Tenant) -> MessageReader:
        """What reads the messages of a tenant."""
        ...

    def spawn(self, work: Coroutine[object, object, None]) -> None:
        """Do something beside."""
        ...

    def schedule_pump(self, sender: QueueSender) -> None:
        """Something was acknowledged: in this turn of the loop that is said, and more is sent."""
        ...

    def match_reason(self, sender: QueueSender, delivery: Delivery, place: int, id: str) -> bytes:
        """Why a delivery came, as JSON."""
        ...

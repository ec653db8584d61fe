"""The context that the parts of the listener share: broker, routers of topics to sessions, counters, readers, tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import cast

import msgspec
import structlog

from likewise.broker.log.deliveries import Delivery
from likewise.broker.log.entries import Command
from likewise.broker.log.mqtt.sessions import FilterOptions
from likewise.broker.log.packed_sets import unpack_scores
from likewise.broker.queries.match_reasons import because as reasons_of
from likewise.broker.tenants.queues import SubscriberQueue
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import LikewiseError
from likewise.matching.topics.topic_trie import TopicTrie
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker.delivery.counters import TenantCounters
from likewise.server.mqtt.broker.delivery.in_flight import InFlightRows
from likewise.server.mqtt.broker.delivery.rendering import Renderer
from likewise.server.mqtt.broker.delivery.session import QueueSender, Session
from likewise.server.mqtt.payloads import MessageReader
from likewise.server.mqtt.topic_maps import load_maps

_log = structlog.get_logger("likewise.mqtt")
_ENCODE = msgspec.json.Encoder().encode


TopicReceiver = Session | QueueSender  # a group shares what sends


class TopicRouter:
    """The filters of one tenant's sessions and groups. For the loop's thread."""

    def __init__(self) -> None:
        self._trie = TopicTrie()
        self._slots: dict[str, int] = {}
        self._at: dict[int, dict[TopicReceiver, FilterOptions]] = {}
        self._next = 0
        self.count = 0  # of filters; read by the writer's thread, too

    def filters(self) -> list[str]:
        """Return all filters. Safe on any thread."""
        return list(self._slots)

    def put(self, text: str, receiver: TopicReceiver, option: FilterOptions) -> None:
        """Hold a filter of a receiver, in place of its own with the same text."""
        slot = self._slots.get(text)
        if slot is None:
            slot = self._slots[text] = self._next
            self._next += 1
            self._at[slot] = {}
            self._trie.add(text, slot)
            self.count += 1
        self._at[slot][receiver] = option

    def remove(self, text: str, receiver: TopicReceiver) -> None:
        """Let a receiver's filter go, if it is held."""
        slot = self._slots.get(text)
        if slot is None or self._at[slot].pop(receiver, None) is None:
            return
        if not self._at[slot]:
            del self._at[slot], self._slots[text]
            self._trie.remove(text)
            self.count -= 1

    def find(self, topic: str) -> dict[TopicReceiver, list[FilterOptions]]:
        """Return the receivers of a topic, with their options."""
        receivers: dict[TopicReceiver, list[FilterOptions]] = {}
        for slot in self._trie.find(topic):
            for receiver, option in self._at[slot].items():
                known = receivers.get(receiver)
                if known is None:
                    receivers[receiver] = [option]
                else:
                    known.append(option)
        return receivers


class ListenerContext:
    """Shared state of one listener, created on the event loop that it serves."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.broker = gateway.broker
        self.bridge = gateway.bridge
        self.config = gateway.broker.config.mqtt
        self.renderer = Renderer()
        self.rows = InFlightRows(self.broker, self.bridge)
        self.live: dict[int, TopicRouter] = {}  # by tenant
        self.counters_by_name: dict[str, TenantCounters] = {}  # by tenant; '' for connections that are no tenant's
        self.tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._maps = load_maps(self.config.maps)
        self._readers: dict[int, MessageReader] = {}
        self._touched: dict[QueueSender, None] = {}

    def live_of(self, tenant: Tenant) -> TopicRouter:
        """Return the topic router of a tenant."""
        return self.live.setdefault(tenant.number, TopicRouter())

    def counters(self, tenant: Tenant) -> TenantCounters:
        """Counters of one tenant."""
        counters = self.counters_by_name.get(tenant.name)
        if counters is None:
            counters = self.counters_by_name[tenant.name] = TenantCounters()
        return counters

    def reader(self, tenant: Tenant) -> MessageReader:
        """Return the decoder of a tenant's messages."""
        reader = self._readers.get(tenant.number)
        if reader is None:
            reader = self._readers[tenant.number] = MessageReader(
                self._maps, strict=self.config.strict, identities=tenant.sources.identities
            )
        return reader

    async def register(self, tenant: Tenant, id: str, *also: Command) -> SubscriberQueue:
        """Return a subscriber's queue; a new one is registered together with other commands."""
        known = tenant.subscribers.get(id)
        if known is not None and not known.unregistered and not also:
            return known
        start = self.broker.start_register
        made = await self.gateway.wait_committed(lambda done: start(tenant, id, None, None, done, also))
        return cast("SubscriberQueue", made)

    def spawn(self, work: Coroutine[object, object, None]) -> None:
        """Run a task in the background; log its error."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            if isinstance(error, LikewiseError):
                _log.warning("mqtt_task_failed", error=str(error))
            else:
                _log.error("mqtt_task_failed", exc_info=error)

    def schedule_pump(self, sender: QueueSender) -> None:
        """Schedule a sender that got an acknowledgement: at the end of this turn it records it and sends more."""
        if not self._touched:
            self._loop.call_soon(self._pump_touched)
        self._touched[sender] = None

    def _pump_touched(self) -> None:
        touched, self._touched = self._touched, {}
        for sender in touched:
            sender.acknowledge()
            sender.pump()

    def match_reason(self, sender: QueueSender, delivery: Delivery, place: int, id: str) -> bytes:
        """Return the reasons of a delivery as JSON."""
        score = round(unpack_scores(delivery.scores, len(delivery.matched))[place], 6)
        matched = [(int(delivery.matched[place]), id, score)]
        return _ENCODE(reasons_of(self.broker.store, sender.tenant, delivery.event, matched, self.broker.clock()))

"""Retained messages for a new subscription with QoS 0: read and sent a page at a time, as fast as the client reads.

Those with an acknowledgement are in the subscriber's queue, which is sent by pages, too (`delivery.outbox`).
"""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import islice

from likewise.broker.log.mqtt.messages import StoredMessage, read_messages
from likewise.broker.log.mqtt.sessions import FilterOptions
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import MQTT_FILTERS_PER_TURN, SEND_PAGE, SEND_PAGE_BYTES
from likewise.server.mqtt.broker.connection import MqttConnection
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.fan_out import FanOut
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.delivery.topic_filters import parse_topic_filter


class RetainedSender:
    """Sends them; of one connection, the filters wait for each other."""

    def __init__(self, home: ListenerContext, fan_out: FanOut) -> None:
        self._home = home
        self._fan_out = fan_out

    async def send(self, connection: MqttConnection, session: Session, filters: list[str]) -> None:
        """Send the retained messages of some filters, then deal with the client's next packets.

        The packets do not wait for a client that does not read: its pings are answered meanwhile.
        """
        if connection.retained is not None:  # another subscription's are under way
            connection.retained.update(dict.fromkeys(filters))
            connection.continue_packets()
            return
        connection.retained = waiting = dict.fromkeys(filters)
        suspended, count = True, 0  # the client's next packets; filters so far
        try:
            while waiting and not connection.closed:
                text = next(iter(waiting))
                del waiting[text]
                count += 1
                if count % MQTT_FILTERS_PER_TURN == 0:
                    await asyncio.sleep(0)
                suspended = await self._send_filter(connection, session, text, suspended)
        finally:
            connection.retained = None
            if suspended:
                connection.continue_packets()

    async def _send_filter(self, connection: MqttConnection, session: Session, text: str, suspended: bool) -> bool:
        """Send those of one filter; return whether the client's next packets still wait."""
        option, topic_filter = session.options.get(text), parse_topic_filter(text)
        if option is None or topic_filter.kind != "topic" or topic_filter.group:
            return suspended
        tenant = session.tenant
        positions = iter(tenant.retained.positions(text))
        unread: list[int] = []
        while True:
            unread += islice(positions, SEND_PAGE - len(unread))
            if not unread:
                return suspended
            reads = self._home.gateway.executors.reads
            page = await reads.run(tenant.name, partial(self._read, tenant, unread, option.qos))
            unread = unread[len(page) :]
            for position, message in page:
                if connection.is_congested:
                    if suspended:
                        suspended = False
                        connection.continue_packets()
                    if not await connection.drained():
                        return suspended
                if session.connection is not connection or session.options.get(text) is not option:
                    return suspended  # it is another connection's now, or was subscribed to anew
                if message is not None:
                    self._send(connection, session, position, message, option)

    def _send(
        self, connection: MqttConnection, session: Session, position: int, message: StoredMessage, option: FilterOptions
    ) -> None:
        """Send one, unless it was replaced or ended while it waited: its successor is sent as it comes."""
        now = self._home.broker.clock()
        row = session.tenant.retained.get(position)
        if row is None or (row.ends is not None and row.ends <= now):
            return
        made = self._home.renderer.many(message, connection.version, now)
        self._fan_out.send(session, made, message, [option], retained=True)

    def _read(self, tenant: Tenant, positions: list[int], qos: int) -> list[tuple[int, StoredMessage | None]]:
        """Read messages in the order of the log until they have the bytes of a page; None for what is not sent here."""
        messages: list[tuple[int, StoredMessage | None]] = []
        size = 0
        with self._home.broker.store.reading() as tables:
            for position in positions:
                row = tenant.retained.get(position)
                message = None
                in_queue = row is not None and min(row.qos, qos) > 0
                if row is not None and not in_queue and position not in tenant.withdrawn:
                    message = read_messages(tables, (position,)).get(position)
                messages.append((position, message))
                size += 0 if message is None else len(message.payload)
                if size >= SEND_PAGE_BYTES:
                    break
        return messages

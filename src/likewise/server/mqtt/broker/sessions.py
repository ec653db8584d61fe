"""The sessions of all clients: begun, gone on with, ended; those that last are found again when the broker starts.

Sessions that outlive their connection, on disk: written as they change, read when the broker starts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from likewise.broker.dispatch.topic_deliveries import session_subscriber
from likewise.broker.log.mqtt.messages import read_received
from likewise.broker.log.mqtt.sessions import (
    SessionRow,
    add_session,
    put_session,
    read_in_flight,
    read_sessions,
    remove_session,
)
from likewise.broker.log.tables import StoreTables
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import LikewiseError, NotAllowed, StateError
from likewise.model.time import SECOND
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker.authentication import Login, LoginRefused, may_resume, session_expiry
from likewise.server.mqtt.broker.connection import MqttConnection
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.groups import SharedGroups
from likewise.server.mqtt.broker.delivery.outbox import DeliveryOutbox
from likewise.server.mqtt.broker.delivery.session import SETTLED, InFlight, Session
from likewise.server.mqtt.broker.delivery.topic_filters import TopicFilter, group_subscriber, parse_topic_filter
from likewise.server.mqtt.broker.wills import Wills
from likewise.server.mqtt.codec import Connect, Reason


async def save_session(gateway: Gateway, session: Session, ends: int | None = None) -> None:
    """Write a session as it is; `ends` is when it is over, unless its client comes back."""
    lasting, tenant, client = session.lasting, session.tenant.number, session.client

    def write(tables: StoreTables) -> int:
        if not session.number:
            return add_session(tables, tenant, client, lasting)
        put_session(tables, SessionRow(session.number, tenant, client, ends, lasting))
        return session.number

    number = await gateway.wait_committed(gateway.broker.store.write, write)
    assert isinstance(number, int)
    session.number = number


def save_session_soon(gateway: Gateway, session: Session, ends: int | None) -> None:
    """`keep` for one that has a row, without waiting for it."""
    row = SessionRow(session.number, session.tenant.number, session.client, ends, session.lasting)
    gateway.broker.store.write(lambda tables: put_session(tables, row), lambda result: None)


async def delete_session(gateway: Gateway, number: int) -> None:
    """Remove a session's row and all that goes with it."""
    await gateway.wait_committed(gateway.broker.store.write, lambda tables: remove_session(tables, number))


class StoredSessions:
    """The stored sessions with their expiries, and the packets in flight, by queue."""

    def __init__(self, gateway: Gateway) -> None:
        broker = gateway.broker
        with broker.store.reading() as tables:
            rows, flights, received = read_sessions(tables), read_in_flight(tables), read_received(tables)
        self.sessions: dict[int, tuple[Session, int | None]] = {}
        for row in rows:
            tenant = broker.tenants[row.tenant]
            session = Session(tenant, row.client, row.lasting.owner)
            session.number, session.expiry = row.number, row.lasting.expiry
            session.options = dict(row.lasting.options)
            session.will, session.will_delay = row.lasting.will, row.lasting.will_delay
            self.sessions[row.number] = session, row.ends
        for number, packet in received:
            if number in self.sessions:
                self.sessions[number][0].received[packet] = True
        self._flights = flights

    def restore_in_flight(self, outbox: DeliveryOutbox) -> None:
        """Give a queue back what was in flight of it, with its packet ids."""
        for row in self._flights:
            if row.subscriber != outbox.queue.number or row.sequence <= outbox.queue.acknowledged:
                continue
            if row.state == SETTLED:
                outbox.settled.setdefault(row.sequence, set()).add(row.part)
                continue
            known = self.sessions.get(row.session)
            if known is None or row.packet in known[0].flights:
                continue
            flight = InFlight(outbox, row.sequence, row.part, known[0], row.packet, row.state)
            flight.written = True
            known[0].flights[row.packet] = flight
            outbox.open[row.sequence] = outbox.open.get(row.sequence, 0) + 1


_REGISTERED: Final = (session_subscriber(""), group_subscriber("", "").removesuffix("/"))
Key = tuple[int, str]


class SessionRegistry:
    """Sessions by tenant and client id. For the loop's thread."""

    def __init__(self, home: ListenerContext, groups: SharedGroups, wills: Wills) -> None:
        self._home = home
        self._groups = groups
        self._wills = wills
        self._all: dict[Key, Session] = {}
        self._away: dict[Session, int] = {}  # those that are not connected, and when they are over (µs)
        self._opening: dict[Key, tuple[asyncio.Lock, int]] = {}  # and how many use it or wait

    # -- beginning ------------------------------------------------------------------------------

    async def open(
        self, connection: MqttConnection, packet: Connect, who: Login, tenant: Tenant
    ) -> tuple[Session, bool]:
        """Open a client's session; return it and whether it existed. An older connection of it ends."""
        key = (tenant.number, who.client)
        async with self._client_lock(key):
            session = self._all.get(key)
            if session is not None:
                if not may_resume(who.access, session):
                    raise LoginRefused(Reason.CLIENT_IDENTIFIER_NOT_VALID, "this client id is another token's")
                if isinstance(session.connection, MqttConnection):
                    session.connection.end(Reason.SESSION_TAKEN_OVER, "another connection has this client id now")
                if session.number == 0 or packet.clean_start:
                    await self._end(session)
                    session = None
            present = session is not None
            if session is None:
                session = Session(tenant, who.client, who.access.name)
            self._wills.cancel(session)
            try:
                self._wills.take(session, packet, who.access)
            except NotAllowed as error:
                raise LoginRefused(Reason.NOT_AUTHORIZED, f"a will is published: {error}") from None
            except LikewiseError:
                pass  # it is refused when it is published, and kept as a dead letter
            session.expiry = session_expiry(packet, self._home.config.session)
            session.version = packet.version
            session.connection = connection
            self._away.pop(session, None)
            self._all[key] = session
            if session.expiry or session.number:
                await save_session(self._home.gateway, session)
        return session, present

    @asynccontextmanager
    async def _client_lock(self, key: Key) -> AsyncIterator[None]:
        """Lock a client id; a lock that nobody waits for is dropped."""
        lock, users = self._opening.get(key) or (asyncio.Lock(), 0)
        self._opening[key] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            users = self._opening[key][1] - 1
            if users:
                self._opening[key] = lock, users
            else:
                del self._opening[key]

    # -- ending ---------------------------------------------------------------------------------

    def disconnected(self, connection: MqttConnection) -> None:
        """Disconnect a session: it expires later, or ends with its connection."""
        session = connection.session
        if session is None or session.connection is not connection:
            return
        session.connection = None
        for sender in session.groups.values():
            sender.requeue(session)
        if connection.clean_disconnect:
            self._wills.cancel(session)
        else:
            self._wills.plan(session)
        if not session.expiry:
            self._home.spawn(self.end(session))
            return
        self._away[session] = ends = self._home.broker.clock() + session.expiry * SECOND
        if session.number:
            save_session_soon(self._home.gateway, session, ends)

    async def end(self, session: Session) -> None:
        """Forget a session whose time is over, unless its client came back."""
        key = (session.tenant.number, session.client)
        async with self._client_lock(key):
            if session.connection is None and self._all.get(key) is session:
                await self._end(session)

    async def _end(self, session: Session) -> None:
        """Forget a session: its will is published, its subscriber unregistered, its row removed."""
        self._wills.publish(session)
        self._all.pop((session.tenant.number, session.client), None)
        self._away.pop(session, None)
        live = self._home.live_of(session.tenant)
        for text in session.options:
            live.remove(text, session)
        for text in list(session.groups):
            await self._groups.leave(session, text)
        outbox, session.outbox = session.outbox, None
        if outbox is not None:
            outbox.close()
            if not outbox.queue.unregistered:
                await self._unregister(session.tenant, session.subscriber)
        session.flights.clear()
        if session.number:
            number, session.number = session.number, 0
            await delete_session(self._home.gateway, number)

    async def _unregister(self, tenant: Tenant, id: str) -> None:
        with suppress(StateError):  # somebody else unregistered it, or the broker stops: the next start does it
            await self._home.gateway.wait_committed(self._home.broker.start_unregister, tenant, id)

    # -- time and restarts ----------------------------------------------------------------------

    def end_expired(self, now: int) -> None:
        """End the sessions whose time is over."""
        for session in [each for each, ends in self._away.items() if ends <= now]:
            self._away.pop(session)
            self._home.spawn(self.end(session))

    def count(self, tenant: int) -> int:
        """Return how many sessions a tenant has."""
        return sum(number == tenant for number, _ in self._all)

    def of(self, tenant: int) -> list[Session]:
        """Return the sessions of a tenant."""
        return [session for (number, _), session in self._all.items() if number == tenant]

    async def restore(self) -> None:
        """Find sessions again, with what is in flight to them; what was left of others is unregistered."""
        stored, now = StoredSessions(self._home.gateway), self._home.broker.clock()
        senders: list[DeliveryOutbox] = []
        for session, ends in stored.sessions.values():
            self._all[session.tenant.number, session.client] = session
            self._away[session] = now + session.expiry * SECOND if ends is None else ends
            queue = session.tenant.subscribers.get(session.subscriber)
            if queue is not None:
                outbox = DeliveryOutbox(self._home, session.tenant, queue)
                outbox.members.append(session)
                session.outbox = outbox
                senders.append(outbox)
            for text, option in session.options.items():
                if (what := try_parse_topic_filter(text)) is None:
                    continue
                if what.group:
                    group = self._groups.restore(session, text)
                    if group is not None and group not in senders:
                        senders.append(group)
                elif what.kind == "topic":
                    self._home.live_of(session.tenant).put(text, session, option)
            session.refresh_options()
        for outbox in senders:
            stored.restore_in_flight(outbox)
        served = {(sender.tenant.number, sender.queue.id) for sender in senders}
        for tenant in list(self._home.broker.tenants.values()):
            for id in list(tenant.subscribers):
                if id.startswith(_REGISTERED) and (tenant.number, id) not in served:
                    await self._unregister(tenant, id)
        for session, ends in stored.sessions.values():
            if ends is None:  # the broker was killed while it was connected
                self._wills.plan(session)

    def stop(self) -> None:
        """Store the expiries of connected sessions when the broker stops."""
        now = self._home.broker.clock()
        for session in self._all.values():
            if session.number:
                save_session_soon(self._home.gateway, session, now + session.expiry * SECOND)


def try_parse_topic_filter(text: str) -> TopicFilter | None:
    """Parse a filter; None for a subscription made by a message."""
    try:
        return parse_topic_filter(text)
    except LikewiseError:
        return None

"""The sessions of all clients: begun, gone on with, ended; those that last are found again when the broker starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog

from likewise.broker.dispatch.topics import session_subscriber
from likewise.broker.tenants.tenant import Tenant
from likewise.errors import LikewiseError, NotAllowed, StateError
from likewise.model.time import SECOND
from likewise.server.mqtt.broker.authentication import LetIn, NotLetIn, expiry_of, may_have
from likewise.server.mqtt.broker.connection import Connection
from likewise.server.mqtt.broker.delivery.context import Home
from likewise.server.mqtt.broker.delivery.groups import Groups
from likewise.server.mqtt.broker.delivery.outbox import Outbox
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.delivery.topic_filters import asked, group_subscriber
from likewise.server.mqtt.broker.delivery.topic_router import LiveTopics
from likewise.server.mqtt.broker.persistent_sessions import Found, forget, keep, keep_soon
from likewise.server.mqtt.broker.wills import Wills
from likewise.server.mqtt.codec import Connect, Reason

_log = structlog.get_logger("likewise.mqtt")
_REGISTERED: Final = (session_subscriber(""), group_subscriber("", "").removesuffix("/"))
Key = tuple[int, str]


class Sessions:
    """Sessions by tenant and client id. For the loop's thread."""

    def __init__(self, home: Home, groups: Groups, wills: Wills, live_of: Callable[[Tenant], LiveTopics]) -> None:
        self._home = home
        self._groups = groups
        self._wills = wills
        self._live_of = live_of
        self._all: dict[Key, Session] = {}
        self._away: dict[Session, int] = {}  # those that are not connected, and when they are over (µs)
        self._opening: dict[Key, tuple[asyncio.Lock, int]] = {}  # and how many use it or wait

    # -- beginning ------------------------------------------------------------------------------

    async def open(self, connection: Connection, packet: Connect, who: LetIn, tenant: Tenant) -> tuple[Session, bool]:
        """The session of who connects, and whether it was there before; an older connection of it ends."""
        key = (tenant.number, who.client)
        async with self._alone(key):
            session = self._all.get(key)
            if session is not None:
                if not may_have(who.access, session):
                    raise NotLetIn(Reason.CLIENT_IDENTIFIER_NOT_VALID, "this client id is another token's")
                if isinstance(session.connection, Connection):
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
                raise NotLetIn(Reason.NOT_AUTHORIZED, f"a will is published: {error}") from None
            except LikewiseError:
                pass  # it is refused when it is published, and kept as a dead letter
            session.expiry = expiry_of(packet, self._home.config.session)
            session.version = packet.version
            session.connection = connection
            self._away.pop(session, None)
            self._all[key] = session
            if session.expiry or session.number:
                await keep(self._home.door, session)
        return session, present

    @asynccontextmanager
    async def _alone(self, key: Key) -> AsyncIterator[None]:
        """One at a time for each client id; nothing is remembered of those that nobody waits for."""
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

    def disconnected(self, connection: Connection) -> None:
        """A connection is over; its session lasts for a while, or is over with it."""
        session = connection.session
        if session is None or session.connection is not connection:
            return
        session.connection = None
        for sender in session.groups.values():
            sender.give_back(session)
        if connection.ended_well:
            self._wills.cancel(session)
        else:
            self._wills.plan(session)
        if not session.expiry:
            self._home.spawn(self.end(session))
            return
        self._away[session] = ends = self._home.broker.clock() + session.expiry * SECOND
        if session.number:
            keep_soon(self._home.door, session, ends)

    async def end(self, session: Session) -> None:
        """Forget a session whose time is over, unless its client came back."""
        key = (session.tenant.number, session.client)
        async with self._alone(key):
            if session.connection is None and self._all.get(key) is session:
                await self._end(session)

    async def _end(self, session: Session) -> None:
        """Forget a session: its will is published, its subscriber unregistered, its row removed."""
        self._wills.publish(session)
        self._all.pop((session.tenant.number, session.client), None)
        self._away.pop(session, None)
        live = self._live_of(session.tenant)
        for text in session.options:
            live.remove(text, session)
        for text in list(session.groups):
            await self._groups.leave(session, text)
        outbox, session.outbox = session.outbox, None
        if outbox is not None:
            outbox.close()
            if not outbox.queue.gone:
                await self._unregister(session.tenant, session.subscriber)
        session.flights.clear()
        if session.number:
            number, session.number = session.number, 0
            await forget(self._home.door, number)

    async def _unregister(self, tenant: Tenant, id: str) -> None:
        with suppress(StateError):  # somebody else unregistered it, or the broker stops: the next start does it
            await self._home.door.answer(lambda done: self._home.broker.start_unregister(tenant, id, done))

    # -- time and restarts ----------------------------------------------------------------------

    def look(self, now: int) -> None:
        """End the sessions whose time is over."""
        for session in [each for each, ends in self._away.items() if ends <= now]:
            self._away.pop(session)
            self._home.spawn(self.end(session))

    def count(self, tenant: int) -> int:
        """How many sessions a tenant has."""
        return sum(number == tenant for number, _ in self._all)

    def of(self, tenant: int) -> list[Session]:
        """The sessions of a tenant."""
        return [session for (number, _), session in self._all.items() if number == tenant]

    async def restore(self) -> None:
        """Find sessions again, with what is in flight to them; what was left of others is unregistered."""
        found, now = Found(self._home.door), self._home.broker.clock()
        senders: list[Outbox] = []
        for session, ends in found.sessions.values():
            self._all[session.tenant.number, session.client] = session
            self._away[session] = now + session.expiry * SECOND if ends is None else ends
            queue = session.tenant.subscribers.get(session.subscriber)
            if queue is not None:
                outbox = Outbox(self._home, session.tenant, queue)
                outbox.members.append(session)
                session.outbox = outbox
                senders.append(outbox)
            for text, option in session.options.items():
                if (what := asked_or_none(text)) is None:
                    continue
                if what.group:
                    group = self._groups.restore(session, text)
                    if group is not None and group not in senders:
                        senders.append(group)
                elif what.kind == "topic":
                    self._live_of(session.tenant).put(text, session, option)
            session.look()
        for outbox in senders:
            found.fill(outbox)
        served = {(sender.tenant.number, sender.queue.id) for sender in senders}
        for tenant in list(self._home.broker.tenants.values()):
            for id in list(tenant.subscribers):
                if id.startswith(_REGISTERED) and (tenant.number, id) not in served:
                    await self._unregister(tenant, id)
        for session, ends in found.sessions.values():
            if ends is None:  # the broker was killed while it was connected
                self._wills.plan(session)

    def stop(self) -> None:
        """The broker stops: write down until when those last that are connected."""
        now = self._home.broker.clock()
        for session in self._all.values():
            if session.number:
                keep_soon(self._home.door, session, now + session.expiry * SECOND)


def asked_or_none(text: str):  # type: ignore[no-untyped-def]
    """A filter taken apart; None for what a message made."""
    try:
        return asked(text)
    except LikewiseError:
        return None

"""Sessions that outlive their connection, on disk: written as they change, read when the broker starts."""

from __future__ import annotations

from likewise.broker.log.mqtt.messages import read_received
from likewise.broker.log.mqtt.sessions import (
    SessionRow,
    add_session,
    put_session,
    read_in_flight,
    read_sessions,
    remove_session,
)
from likewise.broker.log.tables import Tables
from likewise.server.gateway import Door
from likewise.server.mqtt.broker.delivery.outbox import Outbox
from likewise.server.mqtt.broker.delivery.session import SETTLED, InFlight, Session


async def keep(door: Door, session: Session, ends: int | None = None) -> None:
    """Write a session as it is; `ends` is when it is over, unless its client comes back."""
    lasting, tenant, client = session.lasting, session.tenant.number, session.client

    def write(tables: Tables) -> int:
        if not session.number:
            return add_session(tables, tenant, client, lasting)
        put_session(tables, SessionRow(session.number, tenant, client, ends, lasting))
        return session.number

    number = await door.answer(lambda done: door.broker.store.write(write, done))
    assert isinstance(number, int)
    session.number = number


def keep_soon(door: Door, session: Session, ends: int | None) -> None:
    """`keep` for one that has a row, without waiting for it."""
    row = SessionRow(session.number, session.tenant.number, session.client, ends, session.lasting)
    door.broker.store.write(lambda tables: put_session(tables, row), lambda result: None)


async def forget(door: Door, number: int) -> None:
    """Remove a session's row and all that goes with it."""
    await door.answer(lambda done: door.broker.store.write(lambda tables: remove_session(tables, number), done))


class Found:
    """What was kept: sessions with their ends, and by queue what was in flight."""

    def __init__(self, door: Door) -> None:
        broker = door.broker
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

    def fill(self, outbox: Outbox) -> None:
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

"""Last wills: a will message is published when a connection breaks, or a while later if the client does not return."""

from __future__ import annotations

import asyncio

import msgspec

from likewise.broker.log.mqtt.messages import StoredMessage
from likewise.broker.tenants.access import Access
from likewise.errors import BacklogExceeded, RateExceeded
from likewise.model.time import SECOND
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.rendering import encode_stored_properties
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.message_events import decode_events
from likewise.server.mqtt.broker.publish import MessagePublisher
from likewise.server.mqtt.codec import Connect, Publish


class Wills:
    """Plans and publishes wills. A kept will says for how many seconds it is valid, not until when."""

    def __init__(self, home: ListenerContext, publishing: MessagePublisher) -> None:
        self._home = home
        self._publishing = publishing

    def take(self, session: Session, packet: Connect, access: Access) -> None:
        """Keep the will of who connects; one that its client could not publish itself is refused."""
        session.will, session.will_delay = None, 0
        will = packet.will
        if will is None:
            return
        properties = msgspec.structs.replace(will.properties, will_delay=None)
        decode_events(
            self._home,
            session.tenant,
            access,
            session.client,
            Publish(will.topic, will.payload, will.qos, will.retain, properties=properties),
        )
        session.will = StoredMessage(
            will.topic,
            will.payload,
            will.qos,
            will.retain,
            encode_stored_properties(properties),
            properties.message_expiry,
            session.client,
        )
        session.will_delay = will.properties.will_delay or 0

    def plan(self, session: Session) -> None:
        """Plan the publication of the will, after its delay."""
        if session.will is None or session.will_timer is not None:
            return
        delay = min(session.will_delay, session.expiry)
        if delay <= 0:
            self.publish(session)
        else:
            session.will_timer = asyncio.get_running_loop().call_later(delay, self.publish, session)

    def cancel(self, session: Session) -> None:
        """Cancel the will of a client that is back or disconnected cleanly."""
        if session.will_timer is not None:
            session.will_timer.cancel()
            session.will_timer = None
        session.will = None

    def publish(self, session: Session) -> None:
        """Publish the will now, if there is one; over the tenant's rate it waits, as other messages do."""
        will = session.will
        if will is not None:
            try:
                self._home.gateway.check_rate(session.tenant, 1)
            except (RateExceeded, BacklogExceeded) as wait:
                again = min(1.0, max(0.01, wait.retry_after))
                session.will_timer = asyncio.get_running_loop().call_later(again, self.publish, session)
                return
        self.cancel(session)
        if will is None:
            return
        expires = None if will.expires is None else self._home.broker.clock() + will.expires * SECOND
        access = Access(session.tenant.name, frozenset({"publish"}), session.owner)
        self._publishing.publish_for(
            session.tenant, access, session.client, msgspec.structs.replace(will, expires=expires)
        )

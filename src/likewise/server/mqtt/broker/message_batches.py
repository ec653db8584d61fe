"""Messages that are a JSON object and say nothing else: read into columns together, stored with one request.

Most devices send nothing but such messages. Those of all connections in one turn of the loop share the work.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from likewise.broker.log.mqtt.messages import Kept
from likewise.broker.tenants.tenant import Tenant
from likewise.defaults import OFF_LOOP_BYTES
from likewise.errors import LikewiseError
from likewise.formats.json.batches import keys_once, read_decoded
from likewise.formats.json.envelope_bytes import Around
from likewise.server.mqtt.broker.acknowledgements import Answers
from likewise.server.mqtt.broker.connection import Connection
from likewise.server.mqtt.broker.delivery.context import Home
from likewise.server.mqtt.broker.message_events import kept
from likewise.server.mqtt.codec import NO_PROPERTIES, Publish

_OBJECT: Final = (None, "", "application/json")
_ANYTHING: Final = msgspec.json.Decoder(dict[str, Any])


class PlainMessage(NamedTuple):
    """A message that is a JSON object and nothing else, on its way."""

    connection: Connection
    packet: Publish
    message: Kept
    payload: dict[str, Any]
    envelope: bytes
    source: str


class PlainMessages:
    """Gathers and stores them; `apart` takes those that cannot be stored so, each by itself."""

    def __init__(self, home: Home, answers: Answers, apart: Callable[[list[PlainMessage]], None]) -> None:
        self._home = home
        self._answers = answers
        self._apart = apart
        self._waiting: dict[Tenant, list[PlainMessage]] = {}  # of this turn of the loop

    def take(self, connection: Connection, tenant: Tenant, packet: Publish) -> bool:
        """Gather a message that is a JSON object and says nothing else; whether it is one.

        Those of all connections in one turn of the loop are read into columns together and stored with one request.
        """
        payload, properties = packet.payload, packet.properties
        if payload[:1] != b"{" or payload[-1:] != b"}" or len(payload) > OFF_LOOP_BYTES or packet.topic[0] == "$":
            return False
        if properties is not NO_PROPERTIES and (properties.content_type not in _OBJECT or properties.user):
            return False
        plain = self._home.reader(tenant).plain(packet.topic)
        if plain is None:
            return False
        try:
            found = _ANYTHING.decode(payload)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return False
        if not found or not plain.taken.isdisjoint(found) or not keys_once(payload, found):
            return False
        session = connection.session
        assert session is not None
        now = 0 if properties.message_expiry is None else self._home.broker.clock()
        message = kept(packet, session.client, now)
        envelope = plain.envelope(payload, session.client_json, message.expires)
        found.update(plain.names)
        found["client"] = session.client
        if packet.qos == 2:
            session.received[packet.packet_id] = False
        waiting = self._waiting.get(tenant)
        if waiting is None:
            waiting = self._waiting[tenant] = []
            asyncio.get_running_loop().call_soon(self.store, tenant)
        waiting.append(PlainMessage(connection, packet, message, found, envelope, plain.source))
        return True

    def store(self, tenant: Tenant) -> None:
        """Store what was gathered; what cannot be read so, or stored now, goes the other way, each by itself."""
        waiting = self._waiting.pop(tenant, None)
        if not waiting:
            return
        home = self._home
        try:
            home.door.take(tenant, len(waiting))
            batch = read_decoded(
                [each.payload for each in waiting],
                [each.envelope for each in waiting],
                [Around(False, None, each.source, None, each.message.expires) for each in waiting],
            )
        except LikewiseError:  # of one of them, or too much at once: those who can be are told which
            self._apart(waiting)
            return
        begun = time.perf_counter()

        def done(result: object) -> None:
            home.bridge.call(self._stored, tenant, waiting, begun, result)

        try:
            request = home.door.request(tenant, batch, done)
        except LikewiseError as error:
            self._stored(tenant, waiting, begun, error)
            return
        for entry, each in zip(request[0], waiting, strict=True):
            entry.message = each.message
            session = each.connection.session
            if each.packet.qos == 2 and session is not None and session.number:
                entry.received = (session.number, each.packet.packet_id)
        home.door.hand_in(request)

    def _stored(self, tenant: Tenant, waiting: list[PlainMessage], begun: float, result: object) -> None:
        """They are on disk: acknowledge them, those of a connection in one write."""
        if isinstance(result, BaseException):
            for each in waiting:
                self._answers.refuse(each.connection, each.packet, result)
            return
        self._home.broker.metrics.published(tenant.name, time.perf_counter() - begun)
        self._home.counters(tenant).stored += len(waiting)
        answers: dict[Connection, list[bytes]] = {}
        for connection, packet, *_ in waiting:
            if packet.qos == 1:
                connection.taken -= 1
                answers.setdefault(connection, []).append(b"\x40\x02" + packet.packet_id.to_bytes(2))
            elif packet.qos == 2:
                self._answers.received(connection, packet)
        for connection, said in answers.items():
            connection.send(b"".join(said))


__all__ = ["PlainMessage", "PlainMessages"]

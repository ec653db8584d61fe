"""The MQTT listener: sockets, TCP and TLS, and the connections of devices, on the event loop that serves HTTP.

Sockets are opened before the broker starts, so that a port in use is an error.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Final, NamedTuple, cast

import structlog

from likewise.api.operations import ConnectionStatus
from likewise.broker.certificates import server_context
from likewise.broker.config import Config
from likewise.defaults import CLOSE_SECONDS, MQTT_ALIASES, MQTT_BUFFER_BYTES
from likewise.errors import InputError, LikewiseError, NotAuthenticated, StateError
from likewise.model.time import SECOND, duration
from likewise.server.connection_limits import ConnectionLimits, accept_backlog, file_limit, unread_bytes
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker.acknowledgements import ClientAcknowledgements
from likewise.server.mqtt.broker.authentication import (
    Login,
    LoginRefused,
    LoginThrottle,
    PendingConnections,
    authenticate_client,
)
from likewise.server.mqtt.broker.connection import Carrier, MqttConnection
from likewise.server.mqtt.broker.delivery.context import ListenerContext
from likewise.server.mqtt.broker.delivery.counters import ListenerCounters, TenantCounters
from likewise.server.mqtt.broker.delivery.fan_out import FanOut
from likewise.server.mqtt.broker.delivery.groups import SharedGroups
from likewise.server.mqtt.broker.delivery.session import Session
from likewise.server.mqtt.broker.publish import MessagePublisher
from likewise.server.mqtt.broker.send_buffers import SendBuffers
from likewise.server.mqtt.broker.sessions import SessionRegistry
from likewise.server.mqtt.broker.subscribe import SubscriptionService
from likewise.server.mqtt.broker.wills import Wills
from likewise.server.mqtt.codec import (
    MQTT_5,
    Acknowledgement,
    Connack,
    Connect,
    Properties,
    Publish,
    Reason,
    Subscribe,
    Unsubscribe,
)
from likewise.server.mqtt.source_upgrade import rename_former_sources_in_background
from likewise.server.paced_reading import PacedConnection
from likewise.server.tls import TlsHandshake

ConnectionFactory = Callable[[Carrier, str, str], MqttConnection | None]


_FAILED_LOGIN: Final = frozenset(
    (Reason.NOT_AUTHORIZED, Reason.BAD_USER_NAME_OR_PASSWORD, Reason.BAD_AUTHENTICATION_METHOD)
)


class MqttListener:
    """Serves connections, whatever carries them; made on the loop it serves them on."""

    def __init__(self, gateway: Gateway) -> None:
        self.home = home = ListenerContext(gateway)
        self.gateway = gateway
        self.broker = gateway.broker
        self.config = gateway.broker.config.mqtt
        self._loop = asyncio.get_running_loop()
        self._connections: set[MqttConnection] = set()
        limits = gateway.connection_limits
        self.buffers = SendBuffers(self.config.send_bytes, self._loop.time)
        # At most half of all connections: else sockets that say nothing would leave none for HTTP and for clients.
        pending = max(1, min(self.config.pending, limits.allowed // 2))
        self.pending = PendingConnections(pending, self.config.pending_bytes, limits)
        self._logins = LoginThrottle()
        self._stalled: dict[MqttConnection, tuple[int, float]] = {}  # unread bytes, and since when they do not shrink
        self._unsent: list[MqttConnection] = []
        self.stopped = asyncio.Event()  # everybody was said goodbye to
        self._fan_out = FanOut(home)
        groups = SharedGroups(home)
        self._subscriptions = SubscriptionService(home, self._fan_out, groups)
        self._publisher = MessagePublisher(home, self._subscriptions.publish_subscription)
        self.sessions = SessionRegistry(home, groups, Wills(home, self._publisher))
        self._client_acks = ClientAcknowledgements(home)

    async def start(self) -> None:
        """Find sessions again, and begin to follow the log."""
        await rename_former_sources_in_background(self.broker)
        self.broker.store.followers.insert(0, self._fan_out)
        await self.sessions.restore()
        self.broker.metrics.registry.register(ListenerCounters(self.home.counters_by_name, self.pending, self.buffers))
        self.gateway.connection_lists.append(self.connection_statuses)
        self.broker.activation.topics.filters.append(lambda tenant: self.home.live_of(tenant).filters())

    # -- connections ----------------------------------------------------------------------------

    def connection(self, carrier: Carrier, peer: str, address: str) -> MqttConnection | None:
        """Return a new connection; None if there are too many, or the broker stops."""
        if len(self._connections) >= self.config.connections or self.gateway.stopping.is_set():
            return None
        made = MqttConnection(self, carrier, connect_bytes=self.config.connect_bytes, peer=peer, address=address)
        self.pending.add(made)
        return made

    def begin(self, connection: MqttConnection) -> None:
        """Add a connection."""
        self._connections.add(connection)

    def buffered(self, connection: MqttConnection, size: int) -> None:
        """Count the bytes of an incomplete packet of a connection."""
        if connection.authenticated:
            self.gateway.packets.note(connection, size)
        else:
            self.pending.note(connection, size)

    def end(self, connection: MqttConnection) -> None:
        """Remove a connection."""
        self._connections.discard(connection)
        self.pending.remove(connection)
        self.gateway.packets.note(connection, 0)
        self.buffers.forget(connection)
        self._stalled.pop(connection, None)
        if connection.session is not None:
            self.home.counters(connection.session.tenant).connected -= 1
            self.sessions.disconnected(connection)

    def send_soon(self, connection: MqttConnection) -> None:
        """Schedule the write of a connection's bytes: all connections' together, at the end of this turn."""
        if not self._unsent:
            self._loop.call_soon(self._write)
        self._unsent.append(connection)

    def _write(self) -> None:
        unsent, self._unsent = self._unsent, []
        for connection in unsent:
            connection.flush()

    # -- packets --------------------------------------------------------------------------------

    def connect(self, connection: MqttConnection, packet: Connect) -> None:
        """Accept or refuse a client.

        Its token is checked before anything else is read: what follows a good CONNECT may be large.
        """
        connection.suspend()
        try:
            who = authenticate_client(self.gateway, packet)
        except LoginRefused as refused:
            self._refuse_login(connection, refused)
            return
        self.pending.remove(connection)
        connection.access = who.access  # whose bytes are counted from now on
        connection.log_in(self.config.packet_bytes)
        self.home.spawn(self._connect(connection, packet, who))

    async def _connect(self, connection: MqttConnection, packet: Connect, who: Login) -> None:
        try:
            tenant = self.broker.tenant(who.access.tenant)
            session, present = await self.sessions.open(connection, packet, who, tenant)
        except LoginRefused as refused:
            self._disconnect(connection, refused.reason, str(refused))
            return
        except LikewiseError as error:
            self._disconnect(connection, Reason.SERVER_UNAVAILABLE, str(error))
            return
        if connection.closed:
            if session.connection is connection:
                connection.session = session
                self.sessions.disconnected(connection)
            return
        self._accept_login(connection, packet, who, session, present)

    def _refuse_login(self, connection: MqttConnection, refused: LoginRefused) -> None:
        """Refuse a client; an address with many failed logins is answered later. A proxy's clients never are."""
        key = self.gateway.connection_limits.key_of(connection.address)
        delay = self._logins.add(key or connection.address, self._loop.time())
        if key is None or not delay or refused.reason not in _FAILED_LOGIN:
            self._disconnect(connection, refused.reason, str(refused))
            return
        connection.set_reading_paused(True)
        self._loop.call_later(delay, self._disconnect, connection, refused.reason, str(refused))

    def _disconnect(self, connection: MqttConnection, reason: int, words: str) -> None:
        if connection.closed:
            return
        counters = self.home.counters_by_name.setdefault("", TenantCounters())
        counters.disconnected_by_us += 1
        key = self.gateway.connection_limits.key_of(connection.address) or connection.address
        left_out = self._logins.suppressed(key, self._loop.time())
        if left_out is not None:
            _log.info("mqtt_login_refused", peer=connection.peer, reason=words, suppressed=left_out)
        connection.end(reason, words)

    def _accept_login(
        self, connection: MqttConnection, packet: Connect, who: Login, session: Session, present: bool
    ) -> None:
        config, requested = self.config, packet.properties
        connection.session, connection.tenant = session, session.tenant
        connection.token, connection.tokens_version = who.token, self.gateway.tokens_version
        connection.receive_maximum = min(requested.receive_maximum or 65_535, config.in_flight)
        connection.max_packet_bytes = requested.maximum_packet_size or 2**28
        connection.max_session_expiry = duration(config.session) // SECOND
        keep_alive = packet.keep_alive
        if config.keep_alive and not 0 < keep_alive <= config.keep_alive:
            keep_alive = config.keep_alive
        connection.keep_alive = 1.5 * keep_alive
        session_expiry = requested.session_expiry or 0
        properties = Properties(
            session_expiry=session.expiry if packet.version == MQTT_5 and session_expiry != session.expiry else None,
            receive_maximum=config.receive_maximum,
            maximum_packet_size=config.packet_bytes,
            topic_alias_maximum=MQTT_ALIASES,
            assigned_client_id=who.client if who.assigned else None,
            server_keep_alive=keep_alive if keep_alive != packet.keep_alive else None,
        )
        counters = self.home.counters(session.tenant)
        counters.connections += 1
        counters.connected += 1
        connection.ready = True
        connection.send_packet(Connack(present, 0, properties))
        self._client_acks.resend(connection, session)
        connection.continue_packets()

    def publish(self, connection: MqttConnection, packets: list[Publish]) -> None:
        """Publish messages of a client."""
        self._publisher.take(connection, packets)

    def acknowledge(self, connection: MqttConnection, packet: Acknowledgement) -> None:
        """Take an acknowledgement of a client."""
        self._client_acks.take(connection, packet)

    def subscribe(self, connection: MqttConnection, packet: Subscribe) -> None:
        """Take a SUBSCRIBE."""
        self._subscriptions.subscribe(connection, packet)

    def unsubscribe(self, connection: MqttConnection, packet: Unsubscribe) -> None:
        """Take an UNSUBSCRIBE."""
        self._subscriptions.unsubscribe(connection, packet)

    # -- time -----------------------------------------------------------------------------------

    async def watch(self) -> None:
        """Check every second: keep-alives, revoked tokens, stalled clients and expired sessions."""
        while not self.gateway.stopping.is_set():
            await asyncio.sleep(1.0)
            now, clock = self._loop.time(), self.broker.clock()
            self.sessions.end_expired(self.broker.retention())
            self.buffers.recount()
            again, self.buffers.was_full = self.buffers.was_full and not self.buffers.full, False
            self._check_connections(now, clock, resume=again)
            for tenant in self.broker.tenants.values():
                if tenant.name in self.home.counters_by_name:
                    self.home.counters_by_name[tenant.name].sessions = self.sessions.count(tenant.number)

    def _check_connections(self, now: float, clock: int, *, resume: bool) -> None:
        for connection in list(self._connections):
            self._check_connection(connection, now, clock)
            if resume and not connection.closed:
                connection.resume_sending()

    def _check_connection(self, connection: MqttConnection, now: float, clock: int) -> None:
        silent = now - connection.last_activity
        if connection.session is None:
            # From its start on: bytes that trickle in do not prolong it.
            if not connection.authenticated and now - connection.opened_at > self.config.connect_seconds:
                connection.abort()
            return
        if self._is_stalled(connection, now):
            self.home.counters(connection.session.tenant).stalled += 1
            connection.end(Reason.QUOTA_EXCEEDED, "the client does not read what it is sent; connect again")
            return
        if connection.keep_alive and silent > connection.keep_alive and not connection.busy:
            connection.end(Reason.KEEP_ALIVE_TIMEOUT, "nothing was heard for too long")
            return
        expires = connection.access.expires if connection.access is not None else None
        if connection.tokens_version != self.gateway.tokens_version or (expires is not None and expires <= clock):
            try:
                access = self.gateway.authenticator.admit(connection.token)
            except NotAuthenticated as error:
                connection.end(Reason.NOT_AUTHORIZED, str(error))
                return
            connection.tokens_version = self.gateway.tokens_version
            if connection.access != access:
                connection.end(Reason.NOT_AUTHORIZED, "the token opens something else now; connect again")

    def _is_stalled(self, connection: MqttConnection, now: float) -> bool:
        """Return whether bytes have waited for a client for too long without any of them being read."""
        if not connection.is_congested:
            self._stalled.pop(connection, None)
            return False
        unread = connection.unread
        before, since = self._stalled.get(connection, (unread + 1, now))
        if unread < before:
            since = now
        self._stalled[connection] = unread, since
        return now - since > self.config.stalled_seconds

    async def stop(self) -> None:
        """Disconnect all clients, and store what persists."""
        for connection in list(self._connections):
            connection.clean_disconnect = True  # it is the broker that goes: a will is for when the client does
            connection.end(Reason.SERVER_SHUTTING_DOWN, "the broker stops; connect again")
        self.sessions.stop()
        self.home.rows.flush()
        rest = self.home.tasks - {asyncio.current_task()}
        if rest:
            await asyncio.wait(rest, timeout=1.0)
        self.stopped.set()

    def connection_statuses(self, tenant: str) -> list[ConnectionStatus]:
        """Return the connections of a tenant, for the list of connections."""
        statuses = []
        for connection in list(self._connections):
            session = connection.session
            if session is not None and session.tenant.name == tenant:
                received = connection.received_count
                shown = ConnectionStatus(
                    "mqtt",
                    session.client,
                    True,
                    "",
                    received,
                    received,
                    0,
                    0,
                    0,
                    1,
                    0,
                    connection.sent_count,
                    len(session.flights),
                    len(session.options),
                    connection.peer,
                )
                statuses.append(shown)
        return statuses


class MqttProtocol(asyncio.Protocol):
    """One socket; `made` makes its connection, or None if there are too many."""

    fixed_bytes = 0  # a few KB, which the number of connections bounds

    __slots__ = ("_connect", "_connection", "_limits", "_transport", "address")

    def __init__(self, made: ConnectionFactory, limits: ConnectionLimits) -> None:
        self._connect = made
        self._limits = limits
        self.address = ""  # of the other side
        self._connection: MqttConnection | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a socket."""
        self._transport = tcp = cast("asyncio.Transport", transport)
        tcp.set_write_buffer_limits(high=MQTT_BUFFER_BYTES)
        if (opened := tcp.get_extra_info("socket")) is not None:  # the kernel's buffer is memory, too
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MQTT_BUFFER_BYTES)
        peer = tcp.get_extra_info("peername")
        shown = ""
        if isinstance(peer, tuple):
            self.address, shown = str(peer[0]), f"{peer[0]}:{peer[1]}"
        self._limits.mqtt += 1
        if not self._limits.admit():
            tcp.abort()
            return
        self._connection = self._connect(self, shown, self.address)
        if self._connection is None:
            self._limits.refused += 1
            tcp.abort()

    def data_received(self, data: bytes) -> None:
        """Take received bytes."""
        if self._connection is not None:
            self._connection.received(data)

    def connection_lost(self, error: Exception | None) -> None:
        """Note that the socket is closed."""
        self._limits.mqtt -= 1
        self._limits.use(self)
        if self._connection is not None:
            self._connection.lost()
            self._connection = None
        self._transport = None

    def pause_writing(self) -> None:
        """Note that the socket's buffer is full."""
        if self._connection is not None:
            self._connection.pause()

    def resume_writing(self) -> None:
        """Note that the transport's buffer has drained."""
        if self._connection is not None:
            self._connection.resume()

    # -- as its connection uses it ----------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send some bytes."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """End it when everything is sent; a client that does not read does not keep its buffer for long."""
        if self._transport is not None:
            self._transport.close()
            self._limits.rest(self)  # over TLS the socket stays until the client has closed it, too
            if self._transport.get_write_buffer_size():
                asyncio.get_running_loop().call_later(CLOSE_SECONDS, self.abort)

    def abort(self) -> None:
        """End it at once, whatever is unsent."""
        if self._transport is not None:
            self._transport.abort()

    def set_reading_paused(self, paused: bool) -> None:
        """Stop reading for now, or resume."""
        if self._transport is None or self._transport.is_closing():
            return
        if paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def unsent(self) -> int:
        """Return how many bytes wait in the socket's buffer in this process."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def unread(self) -> int:
        """Return how many bytes the other side has not received."""
        return 0 if self._transport is None else unread_bytes(self._transport)

    def authenticated(self) -> None:
        """Do nothing: the connection's decoder bounds packets."""


_log = structlog.get_logger("likewise.mqtt")


class OpenedSocket(NamedTuple):
    """A socket that devices connect to, and its address for people."""

    socket: socket.socket
    url: str
    tls: bool


def open_sockets(config: Config) -> list[OpenedSocket]:
    """Take the ports that the configuration says; a broker that listens for no device has none."""
    server, mqtt = config.server, config.mqtt
    result: list[OpenedSocket] = []
    if mqtt.tls_port is not None and (server.tls_certificate is None or server.tls_key is None):
        raise InputError("[mqtt] tls_port needs a certificate: give --tls-certificate and --tls-key")
    for port, tls in ((mqtt.port, False), (mqtt.tls_port, True)):
        if port is None:
            continue
        family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
        try:
            opened = socket.create_server((server.host, port), family=family, backlog=accept_backlog(file_limit()))
        except OSError as error:
            for each in result:
                each.socket.close()
            raise StateError(f"devices cannot connect at {server.host}:{port}: {error}; choose another port") from None
        shown = f"[{server.host}]" if ":" in server.host else server.host
        result.append(OpenedSocket(opened, f"mqtt{'s' * tls}://{shown}:{opened.getsockname()[1]}", tls))
    return result


def listener_connectors(sockets: list[OpenedSocket]) -> list[partial[Coroutine[object, object, None]]]:
    """Return what runs the listener beside a server, if it has sockets."""
    return [partial(_run, sockets=sockets)] if sockets else []


async def get_listener(gateway: Gateway) -> MqttListener:
    """Return the listener of a gateway, made when the first client connects, over TCP or WebSocket."""
    if gateway.mqtt is None:
        gateway.mqtt = asyncio.ensure_future(_start(gateway))
    listener = await asyncio.shield(gateway.mqtt)
    assert isinstance(listener, MqttListener)
    return listener


async def _start(gateway: Gateway) -> MqttListener:
    listener = MqttListener(gateway)
    await listener.start()
    listener.home.spawn(_watch(listener))
    return listener


async def _watch(listener: MqttListener) -> None:
    watching = asyncio.ensure_future(listener.watch())
    await listener.gateway.stopping.wait()
    watching.cancel()
    listener.home.spawn(listener.stop())


async def _run(gateway: Gateway, *, sockets: list[OpenedSocket]) -> None:
    listener = await get_listener(gateway)
    loop, config = asyncio.get_running_loop(), gateway.broker.config.server
    context = server_context(config)
    servers = []
    for opened in sockets:
        servers.append(
            await loop.create_server(
                partial(_protocol, listener, context if opened.tls else None),
                sock=opened.socket,
                backlog=accept_backlog(file_limit()),
            )
        )
        _log.info("mqtt_listening", url=opened.url)
    await gateway.stopping.wait()
    for server in servers:
        server.close()
    await listener.stopped.wait()


def _protocol(listener: MqttListener, context: ssl.SSLContext | None) -> asyncio.Protocol:
    limits, turns = listener.gateway.connection_limits, listener.gateway.turns

    def make() -> asyncio.Protocol:
        return PacedConnection(lambda: MqttProtocol(listener.connection, limits), turns)

    return make() if context is None else TlsHandshake(make, context, limits, listener.config.connect_seconds)

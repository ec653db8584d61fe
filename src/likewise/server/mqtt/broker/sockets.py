"""Sockets of the listener. They are opened before the broker starts, so that a port in use is an error.

TCP and TLS: bytes between a socket and a connection, on the loop that serves HTTP.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine
from functools import partial
from typing import NamedTuple, cast

import structlog

from likewise.broker.config import Config
from likewise.defaults import CLOSE_SECONDS, MQTT_BUFFER_BYTES
from likewise.errors import InputError, StateError
from likewise.server.connection_limits import ConnectionLimits, accept_backlog, file_limit, unread_bytes
from likewise.server.gateway import Gateway
from likewise.server.mqtt.broker.connection import Carrier, MqttConnection
from likewise.server.mqtt.broker.listener import MqttListener
from likewise.server.tls import TlsHandshake, server_context

ConnectionFactory = Callable[[Carrier, str, str], MqttConnection | None]


class MqttProtocol(asyncio.Protocol):
    """One socket; `made` makes its connection, or None if there are too many."""

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
    limits = listener.gateway.connection_limits
    if context is None:
        return MqttProtocol(listener.connection, limits)
    make = partial(MqttProtocol, listener.connection, limits)
    return TlsHandshake(make, context, limits, listener.config.connect_seconds)

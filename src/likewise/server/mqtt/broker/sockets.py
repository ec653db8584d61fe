"""Where devices connect: sockets that are taken before the broker starts, so that one in use is said at once."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Coroutine
from functools import partial
from typing import NamedTuple

import structlog

from likewise.broker.config import Config
from likewise.errors import InputError, StateError
from likewise.server.connection_limits import accept_backlog, file_limit
from likewise.server.gateway import Door
from likewise.server.mqtt.broker.listener import Listener
from likewise.server.mqtt.broker.transport import MqttProtocol

_log = structlog.get_logger("likewise.mqtt")


class Opened(NamedTuple):
    """A socket that devices connect to, and its address for people."""

    socket: socket.socket
    url: str
    tls: bool


def open_sockets(config: Config) -> list[Opened]:
    """Take the ports that the configuration says; a broker that listens for no device has none."""
    server, mqtt = config.server, config.mqtt
    found: list[Opened] = []
    if mqtt.tls_port is not None and (server.tls_certificate is None or server.tls_key is None):
        raise InputError("[mqtt] tls_port needs a certificate: give --tls-certificate and --tls-key")
    for port, tls in ((mqtt.port, False), (mqtt.tls_port, True)):
        if port is None:
            continue
        family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
        try:
            opened = socket.create_server((server.host, port), family=family, backlog=accept_backlog(file_limit()))
        except OSError as error:
            for each in found:
                each.socket.close()
            raise StateError(f"devices cannot connect at {server.host}:{port}: {error}; choose another port") from None
        shown = f"[{server.host}]" if ":" in server.host else server.host
        found.append(Opened(opened, f"mqtt{'s' * tls}://{shown}:{opened.getsockname()[1]}", tls))
    return found


def listening(sockets: list[Opened]) -> list[partial[Coroutine[object, object, None]]]:
    """What runs the listener beside a server, if there is anywhere to listen."""
    return [partial(_run, sockets=sockets)] if sockets else []


async def listener_of(door: Door) -> Listener:
    """The listener of a door, made when the first device comes, whatever brings it."""
    if door.mqtt is None:
        door.mqtt = asyncio.ensure_future(_start(door))
    found = await asyncio.shield(door.mqtt)
    assert isinstance(found, Listener)
    return found


async def _start(door: Door) -> Listener:
    listener = Listener(door)
    await listener.start()
    listener.spawn(_watch(listener))
    return listener


async def _watch(listener: Listener) -> None:
    watching = asyncio.ensure_future(listener.watch())
    await listener.door.stopping.wait()
    watching.cancel()
    listener.spawn(listener.stop())


async def _run(door: Door, *, sockets: list[Opened]) -> None:
    listener = await listener_of(door)
    loop, config = asyncio.get_running_loop(), door.broker.config.server
    servers = []
    for opened in sockets:
        context = None
        if opened.tls:
            assert config.tls_certificate is not None
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(config.tls_certificate, config.tls_key)
        servers.append(
            await loop.create_server(
                lambda: MqttProtocol(listener.connection, door.connection_limits),
                sock=opened.socket,
                ssl=context,
                ssl_handshake_timeout=door.broker.config.mqtt.connect_seconds if opened.tls else None,
                backlog=accept_backlog(file_limit()),
            )
        )
        _log.info("devices may connect", url=opened.url)
    await door.stopping.wait()
    for server in servers:
        server.close()
    await listener.stopped.wait()

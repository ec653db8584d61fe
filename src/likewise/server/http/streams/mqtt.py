"""WebSocket `/mqtt`: devices and browsers that speak MQTT over HTTP's port (MQTT 5.0, chapter 6).

The subprotocol is `mqtt`, the messages are binary, and packets may be cut between them anyhow. Who may do what is said
by the packets, as over TCP: the token is the password of CONNECT. While there are no tokens the same names and pages
are let in as everywhere (`guard`).
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from likewise.defaults import CLOSE_SECONDS, MQTT_BUFFER_BYTES, WEBSOCKET_BYTES
from likewise.server.connection_limits import unread_bytes
from likewise.server.http.requests import gateway_of
from likewise.server.http.streams.websocket_lifecycle import end_tasks
from likewise.server.http.streams.websocket_protocol import websocket_protocol
from likewise.server.mqtt.broker.connection import MqttConnection
from likewise.server.mqtt.broker.listener import get_listener

router = APIRouter()
SUBPROTOCOL: Final = "mqtt"
NORMAL, WRONG_PROTOCOL, NOT_BINARY, TOO_MANY = 1000, 1002, 1003, 1013
_DISCONNECTED: Final = (RuntimeError, WebSocketDisconnect)  # what Starlette raises where the client has closed it


@router.websocket("/mqtt")
async def mqtt(socket: WebSocket) -> None:
    """Serve a device until one side ends it."""
    if SUBPROTOCOL not in socket.scope["subprotocols"]:
        await socket.close(WRONG_PROTOCOL, "the subprotocol is mqtt")  # before it is accepted: HTTP 403
        return
    listener = await get_listener(gateway_of(socket))
    carried = WebSocketCarrier(socket)
    address, peer = "", ""
    if socket.client is not None:
        address, peer = socket.client.host, f"{socket.client.host}:{socket.client.port}"
    connection = listener.connection(carried, peer, address)
    try:
        await socket.accept(subprotocol=SUBPROTOCOL)
    except _DISCONNECTED:
        if connection is not None:
            connection.lost()
        return
    if connection is None:
        await socket.close(TOO_MANY, "there are too many connections; try again later")
        return
    await carried.run(connection)


class WebSocketCarrier:
    """Carries one connection: what it writes goes out in order, in as few messages as it can."""

    fixed_bytes = WEBSOCKET_BYTES

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._out: list[bytes] = []
        self._waiting = 0  # bytes that are not sent yet
        self._to_send = asyncio.Event()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._closed = self._reading_paused = False
        self._code = NORMAL
        self._connection: MqttConnection | None = None

    def write(self, data: bytes) -> None:
        """Send some bytes, soon."""
        self._out.append(data)
        self._waiting += len(data)
        self._to_send.set()
        if self._waiting > MQTT_BUFFER_BYTES and not self._reading_paused and self._connection is not None:
            self._reading_paused = True
            self._connection.pause()

    def close(self) -> None:
        """End it when everything is sent; a client that does not read does not keep its buffer for long."""
        self._closed = True
        self._to_send.set()
        if self._waiting:
            asyncio.get_running_loop().call_later(CLOSE_SECONDS, self.abort)

    def abort(self) -> None:
        """Cut the connection, whatever it has not sent."""
        protocol = websocket_protocol(self._socket.scope)
        if protocol is not None and not protocol.disconnected:
            protocol.transport.abort()

    def set_reading_paused(self, paused: bool) -> None:
        """Stop reading for now, or resume."""
        if paused:
            self._may_read.clear()
        else:
            self._may_read.set()

    def unsent(self) -> int:
        """Return how many bytes are not sent yet."""
        return self._waiting

    def unread(self) -> int:
        """Return how many bytes the other side has not received."""
        protocol = websocket_protocol(self._socket.scope)
        return self._waiting + (0 if protocol is None else unread_bytes(protocol.transport))

    def authenticated(self) -> None:
        """Let messages of every allowed size come."""
        if (protocol := websocket_protocol(self._socket.scope)) is not None:
            protocol.allow_large_messages(None if self._connection is None else self._connection.tenant_name)

    async def run(self, connection: MqttConnection) -> None:
        """Carry it until one side ends it."""
        self._connection = connection
        if (protocol := websocket_protocol(self._socket.scope)) is not None:
            protocol.await_login(connection.note_message)
        both = [asyncio.create_task(self._read(connection)), asyncio.create_task(self._send(connection))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            connection.lost()
            await end_tasks(both)
            self._connection = None
        for task in both:
            error = None if task.cancelled() else task.exception()
            if error is not None and not isinstance(error, _DISCONNECTED):
                raise error
        with suppress(*_DISCONNECTED):
            await self._socket.close(self._code)

    async def _read(self, connection: MqttConnection) -> None:
        while True:
            await self._may_read.wait()
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("bytes")
            if data is None:  # a text: the standard wants the connection closed
                self._code = NOT_BINARY
                return
            connection.received(data)

    async def _send(self, connection: MqttConnection) -> None:
        while not self._closed or self._out:
            await self._to_send.wait()
            self._to_send.clear()
            out, self._out = self._out, []
            if out:
                size = sum(map(len, out))
                await self._socket.send_bytes(out[0] if len(out) == 1 else b"".join(out))
                self._waiting -= size
            if self._reading_paused and self._waiting <= MQTT_BUFFER_BYTES // 2:
                self._reading_paused = False
                connection.resume()

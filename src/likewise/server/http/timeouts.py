"""Limits on the time and size of a request head: uvicorn's HTTP protocol with timeouts.

Half a request holds a connection, a connection holds a file, and a process has few of them. So the lines before a body
must come soon and be few, those after it (trailers, which nobody reads) must be few, a body must go on coming, and
there is a limit of connections; past any of these the connection is answered and closed. Once that limit is reached,
connections without a request under way give their place to others (`connection_limits`). A client that does not read
its answer is cut after a while. One look a second at all
connections costs less than a timer for each request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from likewise.defaults import (
    BODY_PAUSE_SECONDS,
    BODY_SECONDS,
    HEADER_SECONDS,
    MAX_HEADER_BYTES,
    STALLED_SECONDS,
)
from likewise.server.connection_limits import ConnectionLimits, unread_bytes
from likewise.server.http.streams.websocket_protocol import BoundedWebSocketProtocol

_ANSWER: Final = (
    b"HTTP/1.1 %d %s\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"
)


class TimeoutProtocol(HttpToolsProtocol):
    """One connection. `begun` is when what it waits for began, `heard` when it last said something."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.phase_started: float | None = None
        self.last_activity = 0.0
        self.in_head = True
        self._lines = 0  # bytes of lines since a request or a part of its body began
        self._body_bytes = 0  # bytes of what is being taken
        self._head = 0  # bytes that the lines before a body can have at most
        self.stalled: tuple[int, float] | None = None  # unread bytes, and since when they do not shrink
        self.address = ""  # of the other side
        self._fresh = True  # no request has come
        self._limits: ConnectionLimits = self.app_state["gateway"].connection_limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, unless there are too many with a request under way."""
        super().connection_made(transport)
        self._start_phase(in_head=True)
        self.address = self.client[0] if self.client is not None else ""
        self._limits.http = self.connections
        if self._limits.admit():
            self._limits.wait(self)
        else:
            self.refuse(503, b"Service Unavailable", b"too many connections; try again later")

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that is over."""
        self._limits.use(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take some bytes."""
        self.last_activity = self.loop.time()
        self._body_bytes = len(data)
        self._lines += self._body_bytes
        self._head += self._body_bytes
        super().data_received(data)
        if self._lines > MAX_HEADER_BYTES and self.phase_started is not None:
            self._too_large()

    def handle_websocket_upgrade(self) -> None:
        """Let the WebSocket's protocol take over; nothing remains here, neither the parser's reference to this."""
        super().handle_websocket_upgrade()
        self.parser = None  # type: ignore[assignment]

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._start_phase(in_head=True)

    def on_headers_complete(self) -> None:
        """Note that the head of the request is complete."""
        self.in_head = self._fresh = False
        self._limits.use(self)
        if self._head > MAX_HEADER_BYTES and (
            len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEADER_BYTES
        ):
            self._too_large()
            return
        super().on_headers_complete()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; trailers are dropped, so that none counts as a header."""
        if self.in_head:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._lines = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the request is complete."""
        self.phase_started = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Its answer is written; until the next request the connection may be closed to make room."""
        super().on_response_complete()
        # uvicorn reads on after each answer, so a client that does not wait could fill the memory. Paused, only what
        # one slice of a read brings may wait here (`PacedConnection`).
        if self.pipeline:
            self.flow.pause_reading()
        # Also where it closes: over TLS that waits for the client.
        if self.cycle.response_complete and self in self.connections:
            self._limits.rest(self)

    def _start_phase(self, *, in_head: bool) -> None:
        self.in_head, self._lines, self._head = in_head, 0, self._body_bytes
        self.phase_started = self.last_activity = self.loop.time()

    def _too_large(self) -> None:
        self.refuse(
            431, b"Request Header Fields Too Large", b"the lines around a body may have %d bytes" % MAX_HEADER_BYTES
        )

    @property
    def write_paused(self) -> bool:
        """Return whether the buffer is full because the client does not read."""
        return self.flow is not None and self.flow.write_paused

    def refuse(self, status: int, words: bytes, detail: bytes) -> None:
        """Answer, and close."""
        if self.transport is not None and not self.transport.is_closing():
            self.phase_started = None
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                self.transport.write(_ANSWER % (status, words, len(detail), detail))
            self._limits.use(self)
            self._limits.rest(self)
            self.transport.close()

    def abort(self) -> None:
        """Close to make room for another connection."""
        # Over TLS, or behind bytes that are not read, `close` would keep the socket for as long as the client likes.
        if self.transport.get_extra_info("sslcontext") is not None or self.transport.get_write_buffer_size():
            self.transport.abort()
        elif self._fresh:
            self.refuse(408, b"Request Timeout", b"no request came, and others needed the connection")
        else:
            self.transport.close()


def close_slow(connections: Iterable[object], now: float) -> int:
    """Close the connections whose request does not come on; how many it were."""
    closed = 0
    for connection in list(connections):
        if not isinstance(connection, TimeoutProtocol) or connection.phase_started is None:
            continue
        waited, silent = now - connection.phase_started, now - connection.last_activity
        if waited > HEADER_SECONDS if connection.in_head else silent > BODY_PAUSE_SECONDS or waited > BODY_SECONDS:
            connection.refuse(408, b"Request Timeout", b"the request did not come in time")
            closed += 1
    return closed


def abort_stalled(connections: Iterable[object], now: float) -> int:
    """Cut the connections whose client has read nothing of what waits for it for too long; return how many.

    What waits is bounded (a page of a stream, an answer), but a client that does not read would keep it for ever.
    """
    aborted = 0
    for connection in list(connections):
        if not isinstance(connection, (TimeoutProtocol, BoundedWebSocketProtocol)):
            continue
        if not connection.write_paused:
            connection.stalled = None
            continue
        unread = unread_bytes(connection.transport)
        before, since = connection.stalled or (unread + 1, now)
        connection.stalled = (unread, now if unread < before else since)
        if now - connection.stalled[1] > STALLED_SECONDS:
            connection.transport.abort()
            aborted += 1
    return aborted


def abort_connections(connections: Iterable[object], *, unread: bool = False) -> None:
    """Cut every connection; with `unread`, those whose client does not read what waits for it."""
    for connection in list(connections):
        if isinstance(connection, (TimeoutProtocol, BoundedWebSocketProtocol)) and (
            connection.write_paused or not unread
        ):
            connection.transport.abort()

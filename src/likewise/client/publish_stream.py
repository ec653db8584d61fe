"""Publish many events over one WebSocket, without waiting for each to be on the broker's disk.

The two kinds are written by hand: the synchronous one polls for acknowledgements between sends, the asyncio one has a
task that reads them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import msgspec
import stamina
from websockets.asyncio.client import ClientConnection as AsyncSocket
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection

from likewise.api.events import PublishProgress
from likewise.client.endpoint import FINAL_CLOSE_CODES, Endpoint, may_connect_again, open_socket, open_socket_async
from likewise.client.messages import BrokerRefused, Publishable, event_line
from likewise.errors import FormatError, LimitExceeded

FRAME_BYTES: Final = 60_000  # below the 64 KiB that a broker reads as one message
MAX_IN_FLIGHT: Final = 1_000  # messages without an acknowledgement; the next one waits
_PUBLISHED: Final = msgspec.json.Decoder(PublishProgress)


class InFlightFrames:
    """Messages that are sent, or about to be, and not acknowledged yet, in order.

    >>> in_flight = InFlightFrames()
    >>> in_flight.add(b"{}"), in_flight.add(b"[]"), in_flight.take('{"first":1,"last":1}'), len(in_flight)
    (None, None, None, 1)
    """

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._refused: deque[BrokerRefused] = deque()

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Iterator[bytes]:
        return iter(list(self._frames))

    def add(self, frame: bytes) -> None:
        """Add a message that is about to be sent."""
        self._frames.append(frame)

    def take(self, ack: str | bytes) -> None:
        """Take an acknowledgement or a refusal.

        Raises:
            ConnectionResetError: the broker cannot store anything now; the messages are sent again over a new
                connection.
        """
        try:
            published = _PUBLISHED.decode(ack)
        except msgspec.MsgspecError as error:
            raise FormatError(f"the broker sent something that is no acknowledgement: {error}") from None
        if published.problem is not None:
            status = int(published.problem.get("status", 400))
            if status in (429, 503):
                raise ConnectionResetError(str(published.problem.get("detail", "")))
            self._refused.append(BrokerRefused(status, published.problem))
        for _ in range(published.last - published.first + 1):
            self._frames.popleft()

    def raise_refused(self) -> None:
        """Raise the first refusal that was not raised yet."""
        if self._refused:
            raise self._refused.popleft()


def encode_frames(events: Iterable[Publishable], source: str | None) -> tuple[list[str], list[bytes]]:
    """Return the ids of events, and the messages that carry them: arrays as large as a broker reads.

    >>> encode_frames([{"no2": 45}], "/roof")[1][0][:50]
    b'[{"v":1,"tuples":[{"attribute":"no2","value":45}],'
    """
    ids: list[str] = []
    frames: list[bytes] = []
    part: list[bytes] = []
    size = 0
    for event in events:
        id, line = event_line(event, source)
        if len(line) > FRAME_BYTES:
            raise LimitExceeded("bytes of an event on a stream (use `publish`)", allowed=FRAME_BYTES, found=len(line))
        if part and size + len(line) > FRAME_BYTES:
            frames.append(b"[" + b",".join(part) + b"]")
            part, size = [], 0
        ids.append(id)
        part.append(line)
        size += len(line) + 1
    if part:
        frames.append(b"[" + b",".join(part) + b"]")
    return ids, frames


class PublishStream:
    """A connection for many events: `publish` returns at once, `flush` when all of them are on the broker's disk.

    What was not acknowledged when a connection broke is sent again over the next one; events have ids, so none is
    published twice. What the broker refuses is raised by the next call. Leaving the `with` block flushes; leaving it
    by an exception does not, and what was not sent yet may be lost. Use it from one thread.
    """

    def __init__(self, endpoint: Endpoint, source: str | None) -> None:
        self._endpoint = endpoint
        self._source = source
        self._socket: ClientConnection | None = None
        self._in_flight = InFlightFrames()

    @property
    def under_way(self) -> int:
        """The number of messages that are not acknowledged yet."""
        return len(self._in_flight)

    def publish(self, event: Publishable) -> str:
        """Send one event and return its id; wait only while `MAX_IN_FLIGHT` messages are not acknowledged."""
        return self.publish_all([event])[0]

    def publish_all(self, events: Iterable[Publishable]) -> list[str]:
        """Send several events and return their ids; the events of one message are stored all or none."""
        ids, frames = encode_frames(events, self._source)
        for frame in frames:
            self._in_flight.add(frame)
            if self._socket is None:
                self._open()
            else:
                with suppress(ConnectionClosed, OSError):  # the next receive notices it
                    self._socket.send(frame.decode())
            self._receive(0)
            while len(self._in_flight) >= MAX_IN_FLIGHT:
                self._receive(None)
        self._in_flight.raise_refused()
        return ids

    def flush(self) -> None:
        """Wait until everything sent so far is on the broker's disk; raise what was refused."""
        while len(self._in_flight):
            self._receive(None)
        self._in_flight.raise_refused()

    def _receive(self, timeout: float | None) -> None:
        """Take the acknowledgements that are there, waiting for one if `timeout` is None; reopen if it broke."""
        try:
            if self._socket is None:
                self._open()
            assert self._socket is not None
            self._in_flight.take(self._socket.recv(timeout))
            while True:
                self._in_flight.take(self._socket.recv(0))
        except TimeoutError:
            return
        except (ConnectionClosed, ConnectionResetError):
            _raise_refusal(self._socket)
            self._close_connection()

    def _open(self) -> None:
        """Connect, and send what is in flight."""
        try:
            for attempt in stamina.retry_context(on=may_connect_again, **self._endpoint.retry_options()):
                with attempt:
                    socket = open_socket(self._endpoint.publish_options())
                    self._socket = socket
                    for frame in self._in_flight:
                        socket.send(frame.decode())
        except (OSError, WebSocketException) as error:
            _raise_refusal(self._socket)
            self._close_connection()
            raise self._endpoint.to_unavailable(error) from error

    def _close_connection(self) -> None:
        if self._socket is not None:
            socket, self._socket = self._socket, None
            with suppress(ConnectionClosed, OSError):
                socket.close()

    def close(self) -> None:
        """Close the connection; what is not acknowledged may or may not be stored. `flush` first."""
        self._close_connection()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self.close()


class AsyncPublishStream:
    """The same for asyncio: `async with publisher.stream() as stream: await stream.publish(...)`."""

    def __init__(self, endpoint: Endpoint, source: str | None) -> None:
        self._endpoint = endpoint
        self._source = source
        self._socket: AsyncSocket | None = None
        self._reading: asyncio.Task[None] | None = None
        self._in_flight = InFlightFrames()
        self._changed = asyncio.Event()
        self._broken: Exception | None = None

    @property
    def under_way(self) -> int:
        """The number of messages that are not acknowledged yet."""
        return len(self._in_flight)

    async def publish(self, event: Publishable) -> str:
        """Send one event and return its id; wait only while `MAX_IN_FLIGHT` messages are not acknowledged."""
        return (await self.publish_all([event]))[0]

    async def publish_all(self, events: Iterable[Publishable]) -> list[str]:
        """Send several events and return their ids; the events of one message are stored all or none."""
        ids, frames = encode_frames(events, self._source)
        for frame in frames:
            self._in_flight.add(frame)
            if self._socket is None:
                await self._open()
            else:
                with suppress(ConnectionClosed, OSError):  # the task that reads notices it
                    await self._socket.send(frame.decode())
            while len(self._in_flight) >= MAX_IN_FLIGHT:
                await self._wait()
        self._in_flight.raise_refused()
        return ids

    async def flush(self) -> None:
        """Wait until everything sent so far is on the broker's disk; raise what was refused."""
        while len(self._in_flight):
            await self._wait()
        self._in_flight.raise_refused()

    async def _wait(self) -> None:
        """Wait for an acknowledgement; reopen a broken connection."""
        if self._broken is not None:
            raise self._broken
        if self._socket is None:
            await self._open()
        await self._changed.wait()
        self._changed.clear()

    async def _read(self, socket: AsyncSocket) -> None:
        try:
            async for ack in socket:
                self._in_flight.take(ack)
                self._changed.set()
        except (ConnectionClosed, OSError):
            pass
        except FormatError as error:
            self._broken = error
        finally:
            with suppress(ConnectionClosed, OSError):
                await socket.close()
            try:
                _raise_refusal(socket)
            except BrokerRefused as refused:
                self._broken = refused
            self._socket = None
            self._changed.set()

    async def _open(self) -> None:
        """Connect, and send what is in flight."""
        if self._broken is not None:
            raise self._broken
        try:
            async for attempt in stamina.retry_context(on=may_connect_again, **self._endpoint.retry_options()):
                with attempt:
                    socket = await open_socket_async(self._endpoint.publish_options())
                    self._socket, self._reading = socket, None
                    for frame in self._in_flight:
                        await socket.send(frame.decode())
                    self._reading = asyncio.create_task(self._read(socket))
        except (OSError, WebSocketException) as error:
            _raise_refusal(self._socket)
            self._socket = None
            raise self._endpoint.to_unavailable(error) from error

    async def close(self) -> None:
        """Close the connection; what is not acknowledged may or may not be stored. `flush` first."""
        reading, socket, self._socket = self._reading, self._socket, None
        if socket is not None:
            with suppress(ConnectionClosed, OSError):
                await socket.close()
        if reading is not None:
            await asyncio.wait({reading})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                await self.flush()
        finally:
            await self.close()


def _raise_refusal(socket: ClientConnection | AsyncSocket | None) -> None:
    """Raise the reason with which a broker closed a connection for good."""
    if socket is not None and socket.close_code in FINAL_CLOSE_CODES:
        raise BrokerRefused(socket.close_code or 0, {"detail": socket.close_reason})

"""Turns for what comes in one read: nobody's many small packets, frames, chunks or requests hold up the others.

A read may bring 256 KB, which are a hundred thousand packets of two bytes. A connection deals with what it can within a
millisecond; the rest waits for its turn, and nothing more is read of that connection meanwhile.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Final, cast

TURN_SECONDS: Final = 0.001  # what one connection may use before others have their turn
ROUND_SECONDS: Final = 0.002  # turns between two looks at the sockets
ROUND_READERS: Final = 4  # connections that read on after them
LARGE_READ: Final = 65_536  # bytes; a loop may read 32 times as many before it looks at another socket
FEWEST_BYTES: Final = 256  # of a slice
_UNCHANGED: Final = (  # what a protocol calls of its transport, beside those below
    "abort",
    "close",
    "get_extra_info",
    "get_write_buffer_size",
    "is_closing",
    "set_write_buffer_limits",
    "write",
    "writelines",
)
MOST_BYTES: Final = 4_096  # most reads are shorter; as packets of two bytes they take some milliseconds


_CLOSED: Final = asyncio.Protocol()


class ReadingTurns:
    """The connections with something that waits, one after the other. For the thread of the loop."""

    def __init__(self) -> None:
        self._waiting: deque[PacedConnection] = deque()
        self._scheduled = False

    def add(self, connection: PacedConnection) -> None:
        """Give a connection a turn after the others."""
        self._waiting.append(connection)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        self._scheduled = False
        end, readers = perf_counter() + ROUND_SECONDS, 0
        for _ in range(len(self._waiting)):
            readers += self._waiting.popleft().take_turn()
            if readers == ROUND_READERS or perf_counter() > end:
                break
        if self._waiting and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._run)


class PacedConnection(asyncio.Protocol):
    """Between a socket's transport and its protocol, to which it is the transport.

    Args:
        make: Makes the protocol.
        turns: Those of the loop.
    """

    def __init__(self, make: Callable[[], asyncio.Protocol], turns: ReadingTurns) -> None:
        self._protocol: asyncio.Protocol = make()
        self._turns = turns
        self._transport: asyncio.Transport
        self._rest = b""
        self._at = 0  # where in the rest the next slice begins
        self._slice = MOST_BYTES
        self._reading_paused = False  # by the protocol
        self._is_queued = False

    # -- as a protocol ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = made = cast("asyncio.Transport", transport)
        for name in _UNCHANGED:
            setattr(self, name, getattr(made, name))
        self._protocol.connection_made(cast("asyncio.Transport", self))

    def data_received(self, data: bytes) -> None:
        """Take some bytes."""
        if len(data) <= self._slice and not self._rest:
            self._protocol.data_received(data)
            return
        self._rest = self._rest[self._at :] + data
        self._at = 0
        if not self._is_queued:
            self._process()
        if self._rest or len(data) >= LARGE_READ:
            self._transport.pause_reading()
            self._queue()

    def eof_received(self) -> bool | None:
        """Note that the other side sends nothing more; nothing was waiting, since reading was not paused."""
        return self._protocol.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the socket is closed."""
        self._rest, self._at = b"", 0
        self._protocol.connection_lost(exc)
        self._protocol = _CLOSED  # the protocol has this as its transport: a cycle would outlive the socket

    def pause_writing(self) -> None:
        """Note that the transport's buffer is full."""
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """Note that the transport's buffer has drained."""
        self._protocol.resume_writing()

    # -- in turns ---------------------------------------------------------------------------------

    def take_turn(self) -> bool:
        """Deal with some of what waits; read on once nothing does.

        Returns:
            Whether it reads on.
        """
        self._is_queued = False
        self._process()
        reads_on = not (self._rest or self._reading_paused or self._transport.is_closing())
        if reads_on:
            self._transport.resume_reading()
        else:
            self._queue()
        return reads_on

    def _queue(self) -> None:
        if not (self._is_queued or self._reading_paused or self._transport.is_closing()):
            self._is_queued = True
            self._turns.add(self)

    def _process(self) -> None:
        begun = perf_counter()
        end = begun + TURN_SECONDS
        while self._rest and not (self._reading_paused or self._transport.is_closing()):
            part = self._rest[self._at : self._at + self._slice]
            self._at += len(part)
            if self._at >= len(self._rest):
                self._rest, self._at = b"", 0
            self._protocol.data_received(part)
            now = perf_counter()
            if now - begun > TURN_SECONDS:
                self._slice = max(FEWEST_BYTES, self._slice // 2)
            elif now - begun < TURN_SECONDS / 4:
                self._slice = min(MOST_BYTES, self._slice * 2)
            if now > end:
                break
            begun = now
        if self._transport.is_closing():
            self._rest, self._at = b"", 0

    # -- as a transport ---------------------------------------------------------------------------

    def pause_reading(self) -> None:
        """Stop reading for now, and dealing with what was read."""
        self._reading_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        self._reading_paused = False
        if self._rest:
            self._queue()
        elif not self._is_queued:
            self._transport.resume_reading()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Let another protocol go on, as that of a WebSocket does."""
        self._protocol = cast("asyncio.Protocol", protocol)

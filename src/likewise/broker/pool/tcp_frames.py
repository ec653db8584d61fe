"""Frames between a broker and workers of other machines: length, kind and MessagePack over TLS, with heartbeats.

The messages are those of `protocol`. Folders do not exist on the other machine, so what a message names on disk goes
with it as an archive (`WITH_FILES`). Each side sends a heartbeat when it has nothing else to send; who hears nothing
for `SILENCE_S` lets go of the connection, so that a line that was cut is noticed though nobody says so.
"""

from __future__ import annotations

import asyncio
import io
import tarfile
import time
from pathlib import Path
from struct import Struct
from typing import Final

import msgspec

from likewise.broker.pool.protocol import (
    LENGTH,
    MOST,
    AdoptState,
    InterpretationSettings,
    LoadShard,
    Operation,
    SaveShard,
)
from likewise.errors import FormatError

HEAD: Final = Struct("<IB")
HEARTBEAT, MESSAGE, WITH_FILES, CRASHED = range(4)
HEARTBEAT_S: Final = 1.0
SILENCE_S: Final = 15.0  # seconds without a byte: a machine may be busy, a line slow, and neither is gone
HELLO_S: Final = 15.0  # within which a connection must have said who it is
HELLO_BYTES: Final = 4096
CHUNK: Final = 2**18
PROTOCOL: Final = 1  # of these frames


class Hello(msgspec.Struct, frozen=True):
    """The first message of a worker."""

    version: str
    token: str
    pid: int
    host: str
    protocol: int = PROTOCOL


class Welcome(msgspec.Struct, frozen=True):
    """The broker's reply; a worker with `refused` set has to go. `space` and its checksum must be there, too."""

    refused: str = ""
    space: str | None = None
    checksum: str = ""


class FrameStream:
    """A TLS connection that sends and receives frames; `run` sends what `send` queued, and heartbeats."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sent_at = time.monotonic()  # when bytes other than heartbeats last left
        self._reader = reader
        self._writer = writer
        self._buffer = bytearray()
        self._queue: asyncio.Queue[tuple[bytes, ...]] = asyncio.Queue()

    async def receive(self, most: int = MOST) -> tuple[int, bytes]:
        """Return the kind and content of the next frame.

        Raises:
            EOFError: The other side closed the connection.
            TimeoutError: Nothing came for `SILENCE_S`.
            FormatError: The frame is longer than `most`.
        """
        while True:
            length, kind = HEAD.unpack(await self._exactly(HEAD.size))
            if length > most:
                raise FormatError(f"a frame of {length:,} bytes is none of ours")
            body = await self._exactly(length)
            if kind != HEARTBEAT:
                return kind, body

    async def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            async with asyncio.timeout(SILENCE_S):
                data = await self._reader.read(CHUNK)
            if not data:
                raise EOFError
            self._buffer += data
        with memoryview(self._buffer) as view:
            taken = bytes(view[:count])
        del self._buffer[:count]
        return taken

    def send(self, kind: int, *parts: bytes) -> None:
        """Queue a frame; on the event loop."""
        self._queue.put_nowait((HEAD.pack(sum(map(len, parts)), kind), *parts))

    async def run(self) -> None:
        """Send frames and heartbeats until the connection breaks."""
        beat = HEAD.pack(0, HEARTBEAT)
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_S):
                    parts = await self._queue.get()
            except TimeoutError:
                parts = (beat,)
            for part in parts:
                view = memoryview(part)
                for first in range(0, len(view), CHUNK):
                    self._writer.write(view[first : first + CHUNK])
                    await self._writer.drain()
                    if part is not beat:
                        self.sent_at = time.monotonic()

    async def flush(self) -> None:
        """Send what is queued; for a connection that is not run."""
        while not self._queue.empty():
            self._writer.write(b"".join(self._queue.get_nowait()))
        await self._writer.drain()

    def close(self) -> None:
        """Close the connection at once."""
        self._writer.transport.abort()


def named_path(operation: Operation) -> str | None:
    """Return the file or folder that an operation names on the broker's disk.

    >>> named_path(SaveShard("/tmp/a")), named_path(InterpretationSettings(None, None, None, "full", None, 0, 0, 0))
    ('/tmp/a', None)
    """
    match operation:
        case LoadShard(folder=path) | AdoptState(folder=path) | SaveShard(folder=path):
            return path
        case InterpretationSettings(types=types):
            return types
        case _:
            return None


def with_path(operation: Operation, path: Path) -> Operation:
    """Return an operation with its file or folder at another path."""
    if isinstance(operation, InterpretationSettings):
        return msgspec.structs.replace(operation, types=str(path / Path(operation.types or "").name))
    assert isinstance(operation, LoadShard | AdoptState | SaveShard)
    return msgspec.structs.replace(operation, folder=str(path))


def pack_files(path: Path) -> bytes:
    """Return a file, or what is in a folder, as an archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(path, "." if path.is_dir() else path.name)
    return buffer.getvalue()


def unpack_files(data: bytes, folder: Path) -> None:
    """Write an archive's files to a new folder; names that lead out of it are refused."""
    folder.mkdir(parents=True)
    if data:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder, filter="data")


def join_files(message: bytes, archive: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the parts of a frame `WITH_FILES`.

    >>> split_files(b"".join(join_files(b"message", b"files")))
    (b'message', b'files')
    """
    if len(message) + len(archive) + LENGTH.size > MOST:
        raise FormatError(f"{len(archive):,} bytes of files are more than one frame may have")
    return LENGTH.pack(len(message)), message, archive


def split_files(body: bytes) -> tuple[bytes, bytes]:
    """Return the message of a frame `WITH_FILES` and its archive."""
    (length,) = LENGTH.unpack_from(body)
    return body[LENGTH.size : LENGTH.size + length], body[LENGTH.size + length :]

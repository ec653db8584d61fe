"""A machine that offers workers to a broker: it dials, starts a process, and passes frames between both.

The process is the same `likewise worker --socket` that a broker starts on its own machine, so it needs to know nothing
of TLS. Archives are unpacked here, into a folder that goes with the connection. When the line breaks the process is
killed, since another has what it held by now, and the broker is dialled again, for ever. When the process dies or
hangs, the broker is told that it was not the line.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import ssl
import tempfile
import time
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec
import structlog

from likewise import __version__
from likewise.backoff import backoff_s
from likewise.broker.pool.process import (
    CHECK_INTERVAL_S,
    STARTING_SECONDS,
    Watchdog,
    worker_command,
    worker_environment,
)
from likewise.broker.pool.protocol import ANSWERS, ENCODER, LENGTH, MOST, REQUESTS, OperationFailed, SaveShard
from likewise.broker.pool.tcp_frames import (
    CRASHED,
    HELLO_BYTES,
    HELLO_S,
    MESSAGE,
    WITH_FILES,
    FrameStream,
    Hello,
    Welcome,
    join_files,
    pack_files,
    split_files,
    unpack_files,
    with_path,
)
from likewise.errors import FormatError, InputError, LikewiseError, Unavailable

_log = structlog.get_logger("likewise.workers")
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 15.0


class BrokerLocation(NamedTuple):
    """Where a broker accepts workers."""

    host: str
    port: int


def parse_broker(url: str) -> BrokerLocation:
    """Read the address of a broker's listener.

    >>> parse_broker("tls://hub.example.org:8790")
    BrokerLocation(host='hub.example.org', port=8790)
    >>> parse_broker("http://hub")
    Traceback (most recent call last):
    likewise.errors.InputError: a broker accepts workers at tls://HOST:PORT, not at 'http://hub'
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.scheme != "tls" or parts.path.strip("/") or parts.query or parts.username:
        raise InputError(f"a broker accepts workers at tls://HOST:PORT, not at {url[:100]!r}")
    return BrokerLocation(host, port)


async def offer_workers(broker: BrokerLocation, token: str, context: ssl.SSLContext, processes: int) -> None:
    """Offer a number of workers to a broker until cancelled."""
    async with asyncio.TaskGroup() as group:
        for _ in range(processes):
            group.create_task(_offer_worker(broker, token, context))


async def _offer_worker(broker: BrokerLocation, token: str, context: ssl.SSLContext) -> None:
    failures = 0
    while True:
        begun, problem = time.monotonic(), ""
        try:
            await _connect(broker, token, context)
        except Unavailable as error:
            problem = str(error)
        except (OSError, EOFError, TimeoutError, LikewiseError, msgspec.MsgspecError) as error:
            problem = str(error) or type(error).__name__
        failures = 1 if time.monotonic() - begun > LONGEST_PAUSE_S else failures + 1
        pause = backoff_s(failures, FIRST_PAUSE_S, LONGEST_PAUSE_S)
        _log.warning("worker_dials_again", broker=f"{broker.host}:{broker.port}", in_s=pause, reason=problem)
        await asyncio.sleep(pause)


async def _connect(broker: BrokerLocation, token: str, context: ssl.SSLContext) -> None:
    """Serve one connection until it breaks."""
    async with asyncio.timeout(HELLO_S):
        reader, writer = await asyncio.open_connection(*broker, ssl=context, limit=2**20)
    stream = FrameStream(reader, writer)
    try:
        with tempfile.TemporaryDirectory(prefix="likewise-remote-") as folder:
            async with _Child(Path(folder)) as child:
                hello = Hello(__version__, token, child.pid, socket.gethostname())
                stream.send(MESSAGE, ENCODER.encode(hello))
                await stream.flush()
                _, body = await stream.receive(HELLO_BYTES)
                welcome = msgspec.msgpack.decode(body, type=Welcome)
                if welcome.refused:
                    raise Unavailable(welcome.refused)
                await asyncio.to_thread(_check_space, welcome)
                _log.info("worker_offered", broker=f"{broker.host}:{broker.port}", pid=child.pid)
                await _first_to_end(stream.run(), child.forward(stream), child.reply(stream), child.watch(stream))
    finally:
        stream.close()


def _check_space(welcome: Welcome) -> None:
    """Raise if the broker's space is not here, or is another one."""
    if not welcome.checksum:
        return
    from likewise.semantics.library import load_space

    checksum = load_space(welcome.space).checksum
    if checksum != welcome.checksum:
        raise Unavailable(f"the space {welcome.space} of this machine is not the broker's: copy its folder from there")


async def _first_to_end(*running: Coroutine[None, None, None]) -> None:
    """Run coroutines until the first ends, with an error or without; then end the others."""
    tasks = [asyncio.ensure_future(each) for each in running]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Child:
    """The process that matches, and the socket to it."""

    def __init__(self, folder: Path) -> None:
        self.pid = 0
        self._folder = folder
        self._numbers = itertools.count(1)
        self._streams: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        self._saves: dict[int, Path] = {}  # requests whose answer comes with the files that were saved there
        self._asked = self._answered = 0
        self._answered_at = time.monotonic()

    async def __aenter__(self) -> _Child:
        path = self._folder / "worker.sock"
        self._streams = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_unix_server(self._connected, str(path), limit=2**20)
        self._process = await asyncio.create_subprocess_exec(
            *worker_command(path),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env=worker_environment(),
        )
        self.pid = self._process.pid
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        if self._streams.done():
            self._streams.result()[1].transport.abort()
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._streams.done():
            self._streams.set_result((reader, writer))

    async def forward(self, stream: FrameStream) -> None:
        """Pass the broker's requests to the process."""
        async with asyncio.timeout(STARTING_SECONDS):
            _, writer = await asyncio.shield(self._streams)
        while True:
            kind, body = await stream.receive()
            if kind == WITH_FILES:
                body = await asyncio.to_thread(self._unpack, *split_files(body))
            elif kind != MESSAGE:
                raise FormatError(f"a frame of the kind {kind} is none of ours")
            self._asked += 1
            writer.write(LENGTH.pack(len(body)))
            writer.write(body)
            await writer.drain()

    def _unpack(self, message: bytes, archive: bytes) -> bytes:
        request = REQUESTS.decode(message)
        path = self._folder / f"files-{next(self._numbers)}"
        if isinstance(request.wanted, SaveShard):
            self._saves[request.id] = path
        else:
            unpack_files(archive, path)
        return ENCODER.encode(msgspec.structs.replace(request, wanted=with_path(request.wanted, path)))

    async def reply(self, stream: FrameStream) -> None:
        """Pass the replies of the process to the broker."""
        reader, _ = await asyncio.shield(self._streams)
        while True:
            try:
                (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
                body = await reader.readexactly(length)
            except (asyncio.IncompleteReadError, ConnectionError):
                await asyncio.sleep(60.0)  # `watch` sees the end of the process, and says so
                return
            if length > MOST:
                raise FormatError(f"a message of {length:,} bytes is none of ours")
            self._answered += 1
            self._answered_at = time.monotonic()
            if not self._saves:
                stream.send(MESSAGE, body)
                continue
            answer = ANSWERS.decode(body)
            path = self._saves.pop(answer.id, None)
            if path is None or isinstance(answer.said, OperationFailed):
                stream.send(MESSAGE, body)
            else:
                stream.send(WITH_FILES, *join_files(body, await asyncio.to_thread(pack_files, path)))

    async def watch(self, stream: FrameStream) -> None:
        """Wait until the process ends or hangs, and tell the broker."""
        watchdog, ended = Watchdog(self.pid), asyncio.ensure_future(self._process.wait())
        while not ended.done():
            await asyncio.wait((ended,), timeout=CHECK_INTERVAL_S)
            owes = self._asked > self._answered
            if owes and watchdog.hangs(time.monotonic(), self._answered_at, requested=True):
                _log.error("worker_hangs", pid=self.pid)
                break
        ended.cancel()
        stream.send(CRASHED)
        await asyncio.sleep(0.2)  # until it is sent
        raise Unavailable(f"the process {self.pid} ended or hung, with the code {self._process.returncode}")


def run(url: str, token: str, authority: Path | None, processes: int) -> None:
    """Offer workers to a broker until the process is told to end.

    Args:
        url: The broker's listener, `tls://HOST:PORT`.
        token: What the broker has in `[workers] token_file`.
        authority: The certificate that signed the broker's; the system's authorities if it is None.
        processes: How many workers.

    Raises:
        InputError: The address or the certificate cannot be read.
    """
    broker = parse_broker(url)
    try:
        context = ssl.create_default_context(cafile=None if authority is None else os.fspath(authority))
    except (OSError, ssl.SSLError) as error:
        raise InputError(f"{authority} is no certificate in PEM form: {error}") from None
    asyncio.run(_until_signal(offer_workers(broker, token, context, processes)))


async def _until_signal(offering: Coroutine[None, None, None]) -> None:
    import signal

    task = asyncio.ensure_future(offering)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task

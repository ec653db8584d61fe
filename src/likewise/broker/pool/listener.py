"""Where workers of other machines connect, and the coordinator's end of each.

A machine dials (`dialling`), shows the token, and has nothing to do until a worker is wanted. Who connects again after
a cut is a new worker: what the one before held is told to whoever takes its place, as after the death of a process.
One thread runs the event loop of all connections; requests come from the matching thread.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
import structlog

from likewise import __version__
from likewise.broker.certificates import server_context
from likewise.broker.config import ServerSettings, WorkerSettings
from likewise.broker.pool.process import REPLY_TIMEOUT_S, PendingRequest, Worker
from likewise.broker.pool.protocol import ANSWERS, ENCODER, OperationFailed, SaveShard, WorkerRequest, WorkerResponse
from likewise.broker.pool.tcp_frames import (
    CRASHED,
    HELLO_BYTES,
    HELLO_S,
    MESSAGE,
    PROTOCOL,
    WITH_FILES,
    FrameStream,
    Hello,
    Welcome,
    join_files,
    named_path,
    pack_files,
    split_files,
    unpack_files,
)
from likewise.errors import ArtefactMissing, FormatError, InputError

_log = structlog.get_logger("likewise.workers")
MAX_ENTERING: Final = 64  # connections that have not said yet who they are
MAX_IDLE: Final = 256  # workers without anything to do; there are never more that have
TOKEN_CHARACTERS: Final = 16  # a token has at least
BROKEN: Final = (OSError, EOFError, TimeoutError, FormatError, msgspec.MsgspecError)


class NoWorkerConnected(ConnectionError):
    """No machine has a worker that waits for something to do."""


class WorkerConnection:
    """A worker that said who it is; it is idle until a `RemoteWorker` is attached."""

    def __init__(self, stream: FrameStream, hello: Hello, loop: asyncio.AbstractEventLoop) -> None:
        self.hello = hello
        self.closed = False
        self.crashed = False  # its process ended, not the line
        self.stream = stream
        self._loop = loop
        self._on_reply: Callable[[WorkerResponse, bytes], None] | None = None
        self._on_end: Callable[[], None] | None = None

    def attach(self, on_reply: Callable[[WorkerResponse, bytes], None], on_end: Callable[[], None]) -> None:
        """Hand replies, with their archives, to a worker from now on."""
        self._on_reply, self._on_end = on_reply, on_end
        if self.closed:
            on_end()

    def send(self, kind: int, *parts: bytes) -> None:
        """Send a frame; from any thread."""
        with suppress(RuntimeError):  # the broker is stopping
            self._loop.call_soon_threadsafe(self.stream.send, kind, *parts)

    def close(self) -> None:
        """Let the worker go; from any thread."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.stream.close)

    async def run(self) -> None:
        """Receive replies until the connection breaks."""
        sending = asyncio.create_task(self.stream.run())
        receiving = asyncio.create_task(self._receive())
        try:
            await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, receiving):
                task.cancel()
            ended = await asyncio.gather(sending, receiving, return_exceptions=True)
            self.closed = True
            self.stream.close()
            if self._on_end is not None:
                self._on_end()
        for error in ended:
            if isinstance(error, Exception) and not isinstance(error, BROKEN):
                _log.error("worker_connection_failed", host=self.hello.host, exc_info=error)

    async def _receive(self) -> None:
        while True:
            kind, body = await self.stream.receive()
            if kind == CRASHED:
                self.crashed = True
                return
            message, archive = split_files(body) if kind == WITH_FILES else (body, b"")
            answer = ANSWERS.decode(message)
            if self._on_reply is None:
                raise FormatError("a worker replied though it was asked nothing")
            if archive:  # files take a while, and others are waiting
                await asyncio.to_thread(self._on_reply, answer, archive)
            else:
                self._on_reply(answer, b"")


class RemoteWorker(Worker):
    """A worker of another machine; without a connection, one that is yet to come."""

    def __init__(self, number: int, connection: WorkerConnection | None) -> None:
        hello = None if connection is None else connection.hello
        super().__init__(number, 0 if hello is None else hello.pid, "" if hello is None else hello.host)
        self._connection = connection
        self._alive = self.connected = connection is not None
        if connection is not None:
            connection.attach(self._on_reply, self._on_end)

    @property
    def end_reason(self) -> str:
        """Return why it ended, once it has."""
        return "its process ended" if self.killed_by_request else "the connection broke"

    def hangs(self, now: float) -> bool:
        """Return whether it will never answer: it has been sent everything, and says nothing for long."""
        active = max(
            self.last_reply_at, self.started, 0.0 if self._connection is None else self._connection.stream.sent_at
        )
        return now - active > REPLY_TIMEOUT_S

    def hang_up(self) -> None:
        """Let it go; its machine connects again for whatever is wanted next."""
        self._alive = False
        if self._connection is not None:
            self._connection.close()

    def end(self, seconds: float = 2.0) -> None:
        """Let it go; the machine ends the process."""
        self.hang_up()

    def kill(self) -> None:
        """Let it go; the machine kills the process."""
        self.hang_up()

    def _send(self, ticket: PendingRequest) -> None:
        if self._connection is None:
            return
        message = ENCODER.encode(WorkerRequest(ticket.id, ticket.tenant, ticket.share, ticket.operation))
        path = named_path(ticket.operation)
        if path is None:
            self._connection.send(MESSAGE, message)
            return
        try:  # now: the folder may be gone when it is sent
            archive = b"" if isinstance(ticket.operation, SaveShard) else pack_files(Path(path))
            self._connection.send(WITH_FILES, *join_files(message, archive))
        except (OSError, FormatError) as error:
            self._receive(WorkerResponse(ticket.id, OperationFailed(str(error), type(error).__name__)))

    def _on_reply(self, answer: WorkerResponse, archive: bytes) -> None:
        if archive and (ticket := self._peek(answer.id)) is not None and isinstance(ticket.operation, SaveShard):
            try:
                unpack_files(archive, Path(ticket.operation.folder))
            except OSError as error:
                answer = WorkerResponse(answer.id, OperationFailed(str(error), type(error).__name__), answer.seconds)
        self._receive(answer)

    def _on_end(self) -> None:
        assert self._connection is not None
        self.killed_by_request = self._connection.crashed
        self._alive = False


class WorkerListener:
    """Accepts workers of other machines, over TLS and with a token.

    Args:
        settings: `listen` is the address, `token_file` has what workers show.
        server: The broker's certificate and key.
        space: The name of the space that workers need, and its checksum.

    Raises:
        InputError: There is no certificate, the token is too short, or the address cannot be listened on.
        ArtefactMissing: The token's file is not there.
    """

    def __init__(
        self, settings: WorkerSettings, server: ServerSettings, space: tuple[str | None, str] = (None, "")
    ) -> None:
        context = server_context(server)
        if context is None:
            raise InputError("[workers] listen needs TLS: give `tls_certificate` and `tls_key` in [server]")
        self._context = context
        self._token = _read_token(settings.token_file)
        self._space = space
        self._idle: deque[WorkerConnection] = deque()
        self._guard = threading.Lock()
        self._entering = 0
        host, _, port = (settings.listen or "").rpartition(":")
        try:
            self._socket = socket.create_server((host.strip("[]"), int(port)), family=_family(host))
        except OSError as error:
            raise InputError(f"[workers] listen: nobody can connect to {settings.listen}: {error}") from None
        self._socket.setblocking(False)
        self.address = self._socket.getsockname()[:2]
        self._loop = asyncio.new_event_loop()
        self._serving = self._loop.create_task(self._serve())
        self._thread = threading.Thread(target=self._run, name="likewise-worker-listener", daemon=True)
        self._thread.start()

    @property
    def idle(self) -> int:
        """Count the workers that have nothing to do."""
        with self._guard:
            return len(self._idle)

    def take(self) -> WorkerConnection:
        """Return a worker that has nothing to do, the one that has waited longest."""
        with self._guard:
            while self._idle:
                taken = self._idle.popleft()
                if not taken.closed:
                    return taken
        raise NoWorkerConnected(
            "no machine has connected a worker to {}:{} that has nothing to do".format(*self.address)
        )

    def close(self) -> None:
        """Let all workers go, and accept no more."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._serving.cancel)
        self._thread.join(5.0)

    def _run(self) -> None:
        try:
            with suppress(asyncio.CancelledError):
                self._loop.run_until_complete(self._serving)
        finally:
            self._socket.close()
            self._loop.run_until_complete(self._end_connections())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _end_connections(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports that were aborted close their sockets

    async def _serve(self) -> None:
        tasks: set[asyncio.Task[None]] = set()
        while True:
            try:
                accepted, _ = await self._loop.sock_accept(self._socket)
            except OSError as error:  # too many open files: they become fewer
                _log.warning("worker_accept_failed", error=str(error))
                await asyncio.sleep(1.0)
                continue
            if self._entering >= MAX_ENTERING:
                accepted.close()
                continue
            self._entering += 1
            task = self._loop.create_task(self._connect(accepted))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def _connect(self, accepted: socket.socket) -> None:
        try:
            connection = await self._enter(accepted)
        finally:
            self._entering -= 1
        if connection is None:
            return
        with self._guard:
            self._idle.append(connection)
        _log.info("worker_connected", host=connection.hello.host, pid=connection.hello.pid)
        try:
            await connection.run()
        finally:
            with self._guard, suppress(ValueError):
                self._idle.remove(connection)
            _log.info("worker_disconnected", host=connection.hello.host, pid=connection.hello.pid)

    async def _enter(self, accepted: socket.socket) -> WorkerConnection | None:
        """Let a connection say who it is; None if it may not stay."""
        reader = asyncio.StreamReader(limit=2**20)
        protocol = asyncio.StreamReaderProtocol(reader)
        begun = time.monotonic()
        try:
            accepted.setblocking(False)
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: protocol, accepted, ssl=self._context, ssl_handshake_timeout=HELLO_S
            )
        except (OSError, ssl.SSLError):  # it speaks no TLS, refuses the certificate, or has left
            accepted.close()
            return None
        stream = FrameStream(reader, asyncio.StreamWriter(transport, protocol, reader, self._loop))
        try:
            async with asyncio.timeout(max(0.1, HELLO_S - (time.monotonic() - begun))):
                _, body = await stream.receive(HELLO_BYTES)
                hello = msgspec.msgpack.decode(body, type=Hello)
                refused = self._refusal(hello)
                stream.send(MESSAGE, ENCODER.encode(Welcome(refused, *self._space)))
                await stream.flush()
        except BROKEN as error:
            _log.warning("worker_refused", error=str(error) or type(error).__name__)
            stream.close()
            return None
        if refused:
            _log.warning("worker_refused", host=hello.host, error=refused)
            transport.close()
            return None
        return WorkerConnection(stream, hello, self._loop)

    def _refusal(self, hello: Hello) -> str:
        if not hmac.compare_digest(hello.token.encode(), self._token.encode()):
            return "the token is not the one in the broker's `[workers] token_file`"
        if (hello.version, hello.protocol) != (__version__, PROTOCOL):
            return f"the broker is Likewise {__version__}, this worker {hello.version}; install the same version"
        if self.idle >= MAX_IDLE:
            return f"{MAX_IDLE} workers wait for something to do already"
        return ""


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _read_token(path: str | None) -> str:
    assert path is not None
    try:
        token = Path(path).read_text("utf-8").strip()
    except FileNotFoundError:
        raise ArtefactMissing(f"there is no file {path}; [workers] token_file names it") from None
    except OSError as error:
        raise InputError(f"[workers] token_file: {error}") from None
    if len(token) < TOKEN_CHARACTERS:
        raise InputError(f"the token in {path} is short; write {TOKEN_CHARACTERS} characters at least")
    return token

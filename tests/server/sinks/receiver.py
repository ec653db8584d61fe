"""A receiver of webhooks on this machine that fails as it is told: real sockets, real HTTP."""

from __future__ import annotations

import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Received(NamedTuple):
    """One request as it came, and the status it was given; 0 if it was given none."""

    path: str
    headers: dict[str, str]
    body: bytes
    status: int


class Receiver(ThreadingHTTPServer):
    """Answers each request with the next of `answers`, then with `usual`.

    An answer is a status, or (status, headers); "stall" says nothing until `free`; "reset" breaks the connection,
    "lose" does so after the request was taken.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Request)
        self.answers: deque[Any] = deque()
        self.usual: Any = 200  # or what is asked for one
        self.on_accepted: Callable[[Received], None] = lambda got: None  # before it is answered
        self.received: list[Received] = []
        self.free = threading.Event()
        self.connections: set[tuple[str, int]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"

    @property
    def accepted(self) -> list[Received]:
        """What a receiver took, in order, as often as it came."""
        return [each for each in list(self.received) if each.status == 200]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that was cut is what is wanted."""


class _Request(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        server = self.server
        server.connections.add(self.client_address)
        said = server.answers.popleft() if server.answers else server.usual
        said = said() if callable(said) else said
        status, headers = said if isinstance(said, tuple) else (said, {})
        if status == "stall":
            server.received.append(self._seen(body, 0))
            server.free.wait(120)
            self.close_connection = True
            return
        if status in ("reset", "lose"):
            self._take(self._seen(body, 200 if status == "lose" else 0))
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        self._take(self._seen(body, status))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    do_GET = do_POST  # a redirect that is followed would come as one

    def _take(self, got: Received) -> None:
        self.server.received.append(got)
        if got.status == 200:
            self.server.on_accepted(got)

    def _seen(self, body: bytes, status: int) -> Received:
        return Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body, status)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    """A receiver that runs."""
    server = Receiver(port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.free.set()
        server.shutdown()
        server.server_close()
        thread.join(30)

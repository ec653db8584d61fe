"""A broker that takes its time: what stands between a dashboard and its broker, and holds back what it is told to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

PATIENCE = 60  # seconds a question is held back at most, so that nothing waits for ever
KEPT = ("content-type", "authorization")  # of a question's headers


class Slow(ThreadingHTTPServer):
    """Passes every question on to `broker`; those whose path begins as `hold` said wait until it says otherwise."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, broker: str) -> None:
        super().__init__(("127.0.0.1", 0), _Question)
        self.http = httpx.Client(base_url=broker, timeout=PATIENCE)
        self._told = threading.Condition()
        self._held: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def hold(self, *paths: str) -> None:
        """Hold these back from now on, and let the others go."""
        with self._told:
            self._held = paths
            self._told.notify_all()

    def wait(self, path: str) -> None:
        """Until a question may pass."""
        with self._told:
            self._told.wait_for(lambda: not path.startswith(self._held), PATIENCE)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that was left does not wait for its answer."""


class _Question(BaseHTTPRequestHandler):
    server: Slow
    protocol_version = "HTTP/1.1"

    def _pass_on(self) -> None:
        self.server.wait(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kept = {
            name: value for name, value in self.headers.items() if name.lower() in ("content-type", "authorization")
        }
        answer = self.server.http.request(self.command, self.path, content=body, headers=kept)
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = do_PUT = do_DELETE = _pass_on

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written."""


@contextmanager
def slow_broker(broker: str) -> Iterator[Slow]:
    """One that answers meanwhile."""
    slow = Slow(broker)
    threading.Thread(target=slow.serve_forever, daemon=True).start()
    try:
        yield slow
    finally:
        slow.hold()
        slow.shutdown()
        slow.server_close()
        slow.http.close()

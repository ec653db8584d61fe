"""Send what nobody would send: no input may end in a 500, in a traceback, or in an error that is not of the tree.

    python -m tests.fuzzing.run --requests 1000000 --texts 10000000 --seed 1 --folder build/fuzz

Requests and streams go to a broker of this process, over a socket; texts and JSON to the functions that read them. Each
input follows from the seed and its number. How far a run has come is kept in the folder, so it goes on where it
stopped; what was found is kept there, too, one JSON line each, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import socket
import sys
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect

from likewise.broker.broker import Broker
from likewise.broker.config import Config, QueueSettings, ServerSettings, TenantLimits
from likewise.errors import LikewiseError
from likewise.formats.cloudevents import event_from_cloudevent
from likewise.formats.json.events import event_from_json
from likewise.formats.json.subscriptions import subscription_from_json
from likewise.language import parse, subscription_text
from likewise.server.media_types import MediaType, UnreadableInput, read_events
from tests.fuzzing import inputs
from tests.server.conftest import serving

PATIENCE = 60.0  # seconds a server may take for one answer, on a slow machine
PARTS = 1_000  # of a whole run
STREAMS = 20  # of how many requests one is a stream


class Problem(NamedTuple):
    """An input that was not dealt with."""

    kind: str
    number: int
    said: str


def read_text(seed: int, number: int) -> None:
    """A text of the language; what is read is printed, and reads as the same again."""
    try:
        found = parse(inputs.language(seed, number), id="s")
    except LikewiseError:
        return
    assert parse(subscription_text(found), id="s") == found, subscription_text(found)


def read_json(seed: int, number: int) -> None:
    """A document, as an event, as a subscription, as a CloudEvent, or as what is published by a media type."""
    body = inputs.document(seed, number)
    readers: tuple[Callable[[bytes], object], ...] = (
        event_from_json,
        subscription_from_json,
        event_from_cloudevent,
        lambda data: read_events(data, MediaType.parse("application/senml+json"), lambda: 0, 100),
        lambda data: read_events(data, MediaType.parse(None), lambda: 0, 100),
    )
    try:
        readers[number % len(readers)](body)
    except (LikewiseError, UnreadableInput):
        return


class Town:
    """A broker that is served, and everything it logs with a traceback."""

    def __init__(self, broker: Broker, address: str, tracebacks: list[str]) -> None:
        self.broker, self.address, self.tracebacks = broker, address, tracebacks
        self._host, self._port = "127.0.0.1", int(address.rpartition(":")[2])
        self._socket: socket.socket | None = None

    def request(self, seed: int, number: int) -> None:
        """Send a request, or what is hardly one, and read its answer."""
        if number % STREAMS == 0:
            self._stream(seed, number)
        else:
            sent, whole = inputs.request(seed, number)
            status = self._kept(sent) if whole else self._garbage(sent)
            assert status is None or status < 500 or status == 503, f"{status} for {sent[:300]!r}"
        if self.tracebacks:
            said = "\n".join(self.tracebacks)
            self.tracebacks.clear()
            raise AssertionError(said)
        assert self.broker.worker.failure is None, self.broker.worker.failure

    def _connect(self) -> socket.socket:
        found = socket.create_connection((self._host, self._port), PATIENCE)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return found

    def _kept(self, sent: bytes) -> int | None:
        """The status of an answer, on a connection that is kept while the server keeps it."""
        if self._socket is None:
            self._socket = self._connect()
        try:
            self._socket.sendall(sent)
            status, kept = _answer(self._socket, head=sent.startswith(b"HEAD "))
        except ConnectionError:
            status, kept = None, False
        except TimeoutError:
            self.close()
            raise
        if not kept:
            self.close()
        return status

    def _garbage(self, sent: bytes) -> int | None:
        with self._connect() as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                return _answer(connection, head=False)[0]
            except ConnectionError:
                return None

    def _stream(self, seed: int, number: int) -> None:
        address = f"ws://{self._host}:{self._port}/v1/subscribers/{('ann', 'nobody')[number % 3 == 0]}/stream"
        try:
            with connect(address, open_timeout=PATIENCE, close_timeout=PATIENCE) as stream:
                with suppress(ConnectionClosed):
                    for said in inputs.messages(seed, number):
                        stream.send(said)
                stream.close()  # answered after everything before it
            assert stream.close_code != 1011, "the stream ended with an internal error"
        except (WebSocketException, ConnectionError):
            return

    def close(self) -> None:
        """Let go of the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _answer(connection: socket.socket, *, head: bool) -> tuple[int | None, bool]:
    """The status of an answer, and whether the connection can be used again."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65_536)
        if not part:
            return (int(data[9:12]) if data[9:12].isdigit() else None), False
        data += part
    lines, _, body = data.partition(b"\r\n\r\n")
    status = int(lines[9:12])
    headers = dict(line.lower().split(b": ", 1) for line in lines.split(b"\r\n")[1:] if b": " in line)
    if b"content-length" not in headers:
        return status, False
    left = 0 if head or status in (204, 304) else int(headers[b"content-length"]) - len(body)
    while left > 0:
        part = connection.recv(min(left, 1 << 20))
        if not part:
            return status, False
        left -= len(part)
    return status, left == 0 and headers.get(b"connection") != b"close"


class _Tracebacks(logging.Handler):
    """Everything libraries log as an error, or with an exception."""

    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        if record.exc_info or record.levelno >= logging.ERROR:
            self._found.append(self.format(record))


@contextmanager
def town() -> Iterator[Town]:
    """A broker in memory with small limits, so that a long run stays small."""
    found: list[str] = []

    def note(logger: object, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if event.get("exc_info") and method in ("error", "exception", "critical"):
            found.append(repr(event))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[note], cache_logger_on_first_use=False)
    handler = _Tracebacks(found)
    logging.getLogger().addHandler(handler)
    limits = TenantLimits(body=1 << 20, batch=100, subscriptions=50, subscribers=50, queue=1_000)
    config = Config(server=ServerSettings(port=0), limits=limits, queues=QueueSettings(limit=100))
    broker = Broker(None, config)
    try:
        broker.register(broker.tenant("default"), "ann")
        with serving(broker=broker) as address:
            made = Town(broker, address, found)
            try:
                yield made
            finally:
                made.close()
    finally:
        logging.getLogger().removeHandler(handler)
        structlog.configure(**before)


def stretch(kind: str, do: Callable[[int, int], None], seed: int, first: int, until: int) -> list[Problem]:
    """Try inputs one after another; what they met."""
    found = []
    for number in range(first, until):
        try:
            do(seed, number)
        except Exception as error:
            found.append(Problem(kind, number, f"{type(error).__name__}: {error}"))
    return found


class Run:
    """How far a run has come, in a folder."""

    def __init__(self, folder: Path, seed: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._done, self._found, self._seed = folder / f"done-{seed}.json", folder / f"found-{seed}.jsonl", seed
        self.done: dict[str, int] = json.loads(self._done.read_text()) if self._done.exists() else {}

    def go_on(self, kind: str, do: Callable[[int, int], None], wanted: int, step: int = 1_000) -> int:
        """Try what is left, saying how far it is; how many problems were found."""
        problems, begun, first = 0, time.monotonic(), self.done.get(kind, 0)
        while (at := self.done.get(kind, 0)) < wanted:
            until = min(wanted, at + step)
            found = stretch(kind, do, self._seed, at, until)
            problems += len(found)
            with self._found.open("a", encoding="utf-8") as out:
                out.writelines(json.dumps(each._asdict()) + "\n" for each in found)
            self.done[kind] = until
            kept = self._done.with_suffix(".new")
            kept.write_text(json.dumps(self.done))
            kept.replace(self._done)
            pace = (until - first) / max(1e-9, time.monotonic() - begun)
            print(
                f"{kind:<9} {until:>12,} of {wanted:,}  {pace:,.0f}/s  {problems} problems", file=sys.stderr, flush=True
            )
        return problems


def main() -> int:
    """Run from the command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--requests", type=int, default=1_000_000, help="HTTP requests and streams")
    arguments.add_argument("--texts", type=int, default=10_000_000, help="texts of the language and JSON documents")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--folder", type=Path, default=Path("build/fuzz"))
    given = arguments.parse_args()
    run = Run(given.folder, given.seed)
    problems = 0
    with town() as broker:
        wanted = {"language": given.texts // 2, "json": given.texts - given.texts // 2, "http": given.requests}
        tried = {"language": read_text, "json": read_json, "http": broker.request}
        for part in range(1, PARTS + 1):  # a little of each, so that a run that is stopped has tried all
            problems += sum(run.go_on(kind, do, wanted[kind] * part // PARTS) for kind, do in tried.items())
    print(json.dumps({"done": run.done, "problems": problems, "seed": given.seed}))
    return int(problems > 0)


if __name__ == "__main__":
    sys.exit(main())

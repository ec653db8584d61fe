"""Clients that mean harm over MQTT: what they cost a broker's memory, and how long its other clients wait.

    python -m benchmarks.mqtt_hostile --json
    likewise bench mqtt_hostile -- --part connect

Each part starts a broker in a process of its own. `connect`: 150 connections declare a CONNECT of 4 MB, send what they
can of it and then a byte now and then. `silent`: 100 subscribers never read while 100 messages of 90 KB are published.
`retained`: 6,000 retained topics of 16 KB, and 20 clients that subscribe to `#` and never read. `files`: 1,100 silent
connections to a process that may open 1,024 files. `websocket_*`: 1,000 WebSockets to `/mqtt` that send nothing, one
message of 60 KB without its end, a CONNECT of 60 KB without its end, or each of its bytes as a message. `filters_*`:
8,192 filters of one client, made and ended all the time, or all met by 400 messages a second. Memory is the
peak RSS minus the RSS before; the p99 is that of a neighbour's PUBACK (QoS 1, one message at a time) and of HTTP
publishes meanwhile, with `idle` as the same without harm.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx

from benchmarks.broker import memory
from likewise.server.mqtt.codec import (
    Connect,
    Decoder,
    FilterRequest,
    Publish,
    Suback,
    Subscribe,
    Unsuback,
    Unsubscribe,
    encode,
)

SECONDS = 15.0  # that a part watches memory and neighbours
PATIENCE = 120.0
PART = 16_384


@contextmanager
def broker(files: int | None = None) -> Iterator[tuple[int, str, int]]:
    """A broker that listens for MQTT: its process id, its HTTP address, its MQTT port."""
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        port = int(trying.getsockname()[1])

    def limit() -> None:
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    with tempfile.TemporaryDirectory(prefix="likewise-hostile-") as folder:
        running = subprocess.Popen(
            [sys.executable, "-m", "likewise", "serve", "--data", folder, "--port", "0", "--json", "--mqtt", str(port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit,
        )
        assert running.stdout is not None
        try:
            address = json.loads(running.stdout.readline())["listening"]
            deadline = time.monotonic() + PATIENCE
            while True:
                with suppress(OSError):
                    client(port, "first").close()
                    break
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield running.pid, address, port
        finally:
            running.send_signal(signal.SIGTERM)
            running.wait(60)
            running.stdout.close()


def client(port: int, name: str, *, silent: bool = False) -> socket.socket:
    """A client that is connected; a silent one offers a small window, and is not read from afterwards."""
    made = socket.socket()
    if silent:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    made.settimeout(PATIENCE)
    made.connect(("127.0.0.1", port))
    made.sendall(encode(Connect(name)))
    if not made.recv(100):
        raise ConnectionError("refused")
    return made


def subscribe(made: socket.socket, filter: str, qos: int) -> None:
    """Subscribe, and wait for the SUBACK."""
    made.sendall(encode(Subscribe(1, (FilterRequest(filter, qos),))))
    made.recv(6)


class Neighbour(threading.Thread):
    """Publishes one message at a time, and measures how long each takes to be acknowledged."""

    def __init__(self, port: int, address: str) -> None:
        super().__init__(daemon=True)
        self.took: list[float] = []
        self.http: list[float] = []
        self.failed = 0
        self._port, self._address = port, address
        self._over = threading.Event()

    def run(self) -> None:
        """Publish until told to end."""
        made, decoder, number = client(self._port, "neighbour"), Decoder(5, of_server=True), 0
        with httpx.Client(base_url=self._address, timeout=PATIENCE) as http:
            while not self._over.is_set():
                number = number % 60_000 + 1
                begun = time.monotonic()
                made.sendall(encode(Publish("neighbour/t", b'{"temperature": 21.5}', 1, packet_id=number)))
                while not list(decoder.feed(made.recv(4_096))):
                    pass
                self.took.append(time.monotonic() - begun)
                begun = time.monotonic()
                try:
                    http.post("/v1/events", json={"temperature": 21.5}).raise_for_status()
                    self.http.append(time.monotonic() - begun)
                except httpx.HTTPError:
                    self.failed += 1
                time.sleep(0.02)

    def end(self) -> dict[str, float]:
        """What it measured, in milliseconds."""
        self._over.set()
        self.join(PATIENCE)
        found: dict[str, float] = {"http_failed": self.failed}
        for name, took in (("mqtt", sorted(self.took)), ("http", sorted(self.http))):
            if took:
                found[f"{name}_p50_ms"] = round(1e3 * took[len(took) // 2], 1)
                found[f"{name}_p99_ms"] = round(1e3 * took[int(len(took) * 0.99)], 1)
                found[f"{name}_max_ms"] = round(1e3 * took[-1], 1)
                found[f"{name}_count"] = len(took)
        return found


def watched(
    attack: Callable[[int, str], list[socket.socket]],
    prepare: Callable[[int], None] = lambda port: None,
    files: int | None = None,
) -> dict[str, Any]:
    """Attack a broker, and say what that did to it."""
    with broker(files) as (pid, address, port):
        prepare(port)
        time.sleep(2)
        neighbour = Neighbour(port, address)
        neighbour.start()
        time.sleep(2)
        before, peak, over = memory(pid), [0.0], threading.Event()

        def watch() -> None:
            while not over.wait(0.05):
                peak[0] = max(peak[0], memory(pid))

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        begun = time.monotonic()
        held = attack(port, address)
        time.sleep(max(0.0, SECONDS - (time.monotonic() - begun)))
        figures = neighbour.end()
        after = memory(pid)
        over.set()
        watching.join()
        for each in held:
            each.close()
    return {
        "before_mb": round(before),
        "peak_mb": round(peak[0]),
        "grew_mb": round(peak[0] - before),
        "at_end_mb": round(after),
        **figures,
    }


def connect(port: int, _: str) -> list[socket.socket]:
    """150 connections with a CONNECT of 4 MB, of which the last byte never comes."""
    size = 4 * 2**20
    packet = encode(Connect("x" * 20))[2:]
    head = b"\x10" + _variable(size) + packet
    held = []
    for _n in range(150):
        made = socket.create_connection(("127.0.0.1", port))
        made.settimeout(5)
        held.append(made)
        with suppress(OSError):
            made.sendall(head + bytes(size - len(packet) - 100))
    for _n in range(5):
        time.sleep(1)
        for made in held:
            with suppress(OSError):
                made.send(b"\0")
    return held


def _variable(number: int) -> bytes:
    found = bytearray()
    while True:
        number, low = divmod(number, 128)
        found.append(low | (128 if number else 0))
        if not number:
            return bytes(found)


def silent(qos: int) -> Callable[[int, str], list[socket.socket]]:
    """100 subscribers that never read, and 100 messages of 90 KB."""

    def attack(port: int, _: str) -> list[socket.socket]:
        held = []
        for number in range(100):
            made = client(port, f"silent-{number}", silent=True)
            subscribe(made, "large/#", qos)
            held.append(made)
        publisher = client(port, "loud")
        for number in range(100):
            publisher.sendall(encode(Publish("large/x", b"x" * 90_000, qos, packet_id=number + 1 if qos else 0)))
        return [*held, publisher]

    return attack


def retain(qos: int) -> Callable[[int], None]:
    """6,000 retained topics."""

    def prepare(port: int) -> None:
        publisher, decoder = client(port, "retainer"), Decoder(5, of_server=True)
        for first in range(0, 6_000, 100):
            for n in range(first, first + 100):
                packet = Publish(f"kept/{n}", b"x" * PART, 1, True, packet_id=n + 1)
                publisher.sendall(encode(packet))
            came = 0
            while came < 100:
                came += len(list(decoder.feed(publisher.recv(4_096))))
        publisher.close()

    return prepare


def hash_subscribers(qos: int) -> Callable[[int, str], list[socket.socket]]:
    """20 clients that subscribe to everything and never read."""

    def attack(port: int, _: str) -> list[socket.socket]:
        held = []
        for number in range(20):
            made = client(port, f"all-{number}", silent=True)
            made.sendall(encode(Subscribe(1, (FilterRequest("#", qos),))))
            held.append(made)
        return held

    return attack


def websockets(content: bytes, messages: int) -> Callable[[int, str], list[socket.socket]]:
    """1,000 WebSockets to `/mqtt` that never finish CONNECT, and open again when they are closed.

    Args:
        content: The bytes of a CONNECT that each sends.
        messages: In how many messages; 0 for one message whose last byte never comes.
    """

    def frames() -> bytes:
        if not messages:
            return _frame(content)[:-1]
        size = max(1, -(-len(content) // messages))
        return b"".join(_frame(content[at : at + size]) for at in range(0, len(content), size))

    def attack(_: int, address: str) -> list[socket.socket]:
        host, _, port = address.rpartition("/")[2].rpartition(":")
        sent, held, end = frames(), [], time.monotonic() + SECONDS
        while len(held) < 1_000 and time.monotonic() < end:
            held.append(_websocket(host, int(port), sent))
        while time.monotonic() < end:
            time.sleep(0.5)
            for number, made in enumerate(held):
                if _is_over(made):
                    made.close()
                    held[number] = _websocket(host, int(port), sent)
        return held

    return attack


def _websocket(host: str, port: int, sent: bytes) -> socket.socket:
    """A WebSocket that has sent something; whether it was taken does not matter."""
    made = socket.create_connection((host, port), timeout=PATIENCE)
    with suppress(OSError):
        made.sendall(
            b"GET /mqtt HTTP/1.1\r\nHost: %s:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Protocol: mqtt\r\n\r\n" % (host.encode(), port)
        )
        made.recv(4_096)
        made.settimeout(0.5)
        made.sendall(sent)
    return made


def _is_over(made: socket.socket) -> bool:
    made.setblocking(False)
    try:
        return made.recv(4_096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _frame(content: bytes) -> bytes:
    """A binary message in one frame; its mask changes nothing."""
    size = len(content)
    head = bytes((0x82, 0x80 | size)) if size < 126 else bytes((0x82, 0xFE)) + size.to_bytes(2, "big")
    return head + bytes(4) + content


def filter_flood(qos: int) -> Callable[[int, str], list[socket.socket]]:
    """A client that subscribes to 8,192 filters in one packet and ends them again, all the time."""

    def attack(port: int, _: str) -> list[socket.socket]:
        made, end = client(port, "filters"), time.monotonic() + SECONDS
        filters = tuple(f"f/{number}" for number in range(8_192))
        subscribing = encode(Subscribe(1, tuple(FilterRequest(each, qos) for each in filters)))
        ending = encode(Unsubscribe(2, filters))
        while time.monotonic() < end:
            for packet, answer in ((subscribing, Suback), (ending, Unsuback)):
                made.sendall(packet)
                decoder = Decoder(5, of_server=True)
                while not any(isinstance(each, answer) for each in decoder.feed(made.recv(65_536))):
                    pass
        return [made]

    return attack


def deep_filters(port: int, _: str) -> list[socket.socket]:
    """A client with 8,192 filters that each message meets, and another that publishes all the time."""
    made, publisher = client(port, "deep"), client(port, "loud")
    levels = [f"{number:013b}".replace("0", "+/").replace("1", "a/") + "b" for number in range(8_192)]
    for first in range(0, 8_192, 1_024):
        made.sendall(encode(Subscribe(1, tuple(FilterRequest(each, 0) for each in levels[first : first + 1_024]))))
    threading.Thread(target=_drain, args=(made,), daemon=True).start()
    packets = encode(Publish("a/" * 13 + "b", b"1", 0)) * 20
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        publisher.sendall(packets)
        time.sleep(0.05)
    return [made, publisher]


def _drain(made: socket.socket) -> None:
    with suppress(OSError):
        while made.recv(65_536):
            pass


CONNECT_PART = encode(Connect("x" * 20))[2:]
LONG_CONNECT = b"\x10" + _variable(60_000) + CONNECT_PART + bytes(60_000 - len(CONNECT_PART) - 1)


def half_open(port: int, address: str) -> list[socket.socket]:
    """1,100 connections that say nothing."""
    held = []
    for _number in range(1_100):
        with suppress(OSError):
            held.append(socket.create_connection(("127.0.0.1", port), timeout=2))
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with httpx.Client(base_url=address, timeout=10) as fresh, suppress(httpx.HTTPError):
            fresh.get("/v1/subscribers")
        time.sleep(0.1)
    return held


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "idle": lambda: watched(lambda port, address: []),
    "connect": lambda: watched(connect),
    "silent_qos0": lambda: watched(silent(0)),
    "silent_qos1": lambda: watched(silent(1)),
    "retained_qos0": lambda: watched(hash_subscribers(0), retain(1)),
    "retained_qos1": lambda: watched(hash_subscribers(1), retain(1)),
    "websocket_silent": lambda: watched(websockets(b"", 1)),
    "websocket_message": lambda: watched(websockets(LONG_CONNECT, 0)),
    "websocket_connect": lambda: watched(websockets(LONG_CONNECT, 1)),
    "websocket_bytes": lambda: watched(websockets(LONG_CONNECT[:1_000], 1_000)),
    "filters_qos0": lambda: watched(filter_flood(0)),
    "filters_qos1": lambda: watched(filter_flood(1)),
    "filters_deep": lambda: watched(deep_filters),
    "files": lambda: watched(half_open, files=1_024),
}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {}
    for part in options.part or PARTS:
        found[part] = PARTS[part]()
        if not options.json:
            print(part, found[part], flush=True)
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()

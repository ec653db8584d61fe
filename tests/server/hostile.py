"""Attack a served broker from outside, one attack after the other, and measure what its neighbours notice.

    python -m tests.server.hostile --seconds 12 --only mqtt_connects

Every attack runs against a broker of its own (`likewise serve`, tokens, TLS where the attack needs it). A process of
its own is the neighbour: it publishes, reads and asks for `/readyz` the whole time. For each attack are printed the
neighbour's p50 and p99 alone and beside the attack (ms), its failures, the broker's memory before and at most (MB), and
how long SIGTERM took while the attack went on. It fails where the neighbour was refused or waited for more than 5 s,
memory grew by more than 400 MB, the stop took longer than 10 s, or the log has a traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import resource
import signal
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from tests.server.test_tls import make_certificate

KB: Final = 1024
Attack = Callable[["Served", "asyncio.Event"], Awaitable[dict[str, Any]]]


class Served:
    """`likewise serve` in a process of its own, with two tenants."""

    def __init__(self, folder: Path, files: int | None, settings: str = "") -> None:
        self.folder, self.data = folder, folder / "data"
        self.port, self.tls, self.mqtt, self.mqtt_tls = (free_port() for _ in range(4))
        self.tokens = {name: self._token(name, tenant) for name, tenant in (("good", "default"), ("bad", "evil"))}
        self.certificate, self.key = make_certificate(folder, "broker")
        config = folder / "likewise.toml"
        config.write_text(f"{settings}\n[targets]\nallow = ['127.0.0.0/8']\n[logging]\nlevel = 'error'\n")
        command = ["serve", "--data", str(self.data), "--config", str(config), "--port", str(self.port)]
        command += ["--mqtt", str(self.mqtt)]
        if "tls" in settings:
            command += [
                "--mqtt-tls",
                str(self.mqtt_tls),
                "--tls-certificate",
                str(self.certificate),
                "--tls-key",
                str(self.key),
            ]
        self.secure = "tls" in settings
        self.log = (folder / "log").open("wb")

        def limit() -> None:
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        self.process = subprocess.Popen(
            [sys.executable, "-m", "likewise", *command],
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
            preexec_fn=limit,
        )
        self.address = f"{'https' if self.secure else 'http'}://127.0.0.1:{self.port}"
        until = time.monotonic() + 240
        with httpx.Client(verify=False) as client:
            while True:
                with contextlib.suppress(httpx.HTTPError):
                    if client.get(self.address + "/readyz").status_code == 200:
                        break
                assert self.process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until
                time.sleep(0.1)

    def _token(self, name: str, tenant: str) -> str:
        command = ["admin", "token", str(self.data), "--name", name, "--tenant", tenant, "--json"]
        for scope in ("publish", "subscribe", "admin"):
            command += ["--scope", scope]
        made = subprocess.run([sys.executable, "-m", "likewise", *command], check=True, capture_output=True)
        token: str = json.loads(made.stdout)["token"]
        return token

    def client(self, who: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"}
        return httpx.Client(base_url=self.address, headers=headers, timeout=30, verify=False)

    def resident(self) -> float:
        """Memory in MB."""
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS"):
                    return int(line.split()[1]) / KB
        return 0.0

    def stop(self) -> float:
        """Stop it as an operator does; the seconds it took."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=90)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        return time.monotonic() - begun


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


# -- the neighbour ------------------------------------------------------------------------------------------------


def be_neighbour(address: str, token: str, file: str) -> None:
    """Publish, read and ask until the file says `end`; note each request's milliseconds."""
    headers = {"Authorization": f"Bearer {token}"}
    notes = Path(file)
    with (
        httpx.Client(base_url=address, headers=headers, timeout=30, verify=False) as client,
        notes.open("w", buffering=1) as out,
    ):
        client.put("/v1/subscribers/neighbour").raise_for_status()
        body = {"v": 1, "text": "{reading exists}"}
        client.put("/v1/subscribers/neighbour/subscriptions/all", json=body).raise_for_status()
        asked: list[tuple[str, str, Any]] = [
            ("POST", "/v1/events", [{"reading": n, "room": "112"} for n in range(20)]),
            ("GET", "/v1/subscribers/neighbour/deliveries?limit=10", None),
            ("GET", "/v1/stats", None),
            ("GET", "/readyz", None),
            ("NEW", "/healthz", None),
        ]
        while not Path(file + ".end").exists():
            for method, path, body in asked:
                begun = time.monotonic()
                try:
                    if method == "NEW":
                        with httpx.Client(base_url=address, timeout=30, verify=False) as fresh:
                            code = fresh.get(path).status_code
                    else:
                        code = client.request(method, path, json=body).status_code
                except httpx.HTTPError as error:
                    code = type(error).__name__  # type: ignore[assignment]
                out.write(
                    f"{time.time()} {(time.monotonic() - begun) * 1000:.1f} {method}{path.split('?')[0]} {code}\n"
                )
            time.sleep(0.02)


class Noticed(NamedTuple):
    """What a neighbour noticed in a span of time."""

    requests: int
    p50: float
    p99: float
    worst: float
    failures: dict[str, int]


def noticed(file: Path, since: float, until: float) -> Noticed:
    times: list[float] = []
    failures: dict[str, int] = {}
    for line in file.read_text().splitlines():
        parts = line.split()
        if len(parts) != 4 or not since <= float(parts[0]) <= until:
            continue
        times.append(float(parts[1]))
        if parts[3] not in ("200", "202"):
            failures[f"{parts[2]} {parts[3]}"] = failures.get(f"{parts[2]} {parts[3]}", 0) + 1
    times.sort()
    if not times:
        return Noticed(0, 1e9, 1e9, 1e9, {"nothing was answered": 1})
    return Noticed(len(times), statistics.median(times), times[int(len(times) * 0.99)], times[-1], failures)


# -- attacks ------------------------------------------------------------------------------------------------------


async def _open(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    with contextlib.suppress(OSError, asyncio.TimeoutError):
        return await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 5)
    return None


async def _keep(
    port: int, count: int, stop: asyncio.Event, first: bytes, then: bytes = b"", pause: float = 1.0, at_once: int = 100
) -> dict[str, Any]:
    """Hold so many connections open that say something at first, then a little more and more; anew when one ends."""
    state = {"opened": 0, "closed": 0}
    gate = asyncio.Semaphore(at_once)

    async def one() -> None:
        while not stop.is_set():
            async with gate:
                made = await _open(port)
            if made is None:
                await asyncio.sleep(0.5)
                continue
            reader, writer = made
            state["opened"] += 1
            try:
                writer.write(first)
                while not stop.is_set():
                    try:
                        if not await asyncio.wait_for(reader.read(4096), pause):
                            break
                    except TimeoutError:
                        if then:
                            writer.write(then)
            except OSError:
                pass
            state["closed"] += 1
            writer.close()
            await asyncio.sleep(0.05)

    await asyncio.gather(*(one() for _ in range(count)))
    return state


def connect_packet(token: str, client_id: str, will: int = 0) -> bytes:
    def text(value: str | bytes) -> bytes:
        raw = value.encode() if isinstance(value, str) else value
        return struct.pack(">H", len(raw)) + raw

    flags = 0x02 | 0x40 | (0x04 if will else 0)
    body = text("MQTT") + bytes([5, flags]) + struct.pack(">H", 0) + b"\0" + text(client_id)
    if will:
        body += b"\0" + text("will") + text(b"x" * will)
    return packet(0x10, body + text(token))


def packet(kind: int, body: bytes) -> bytes:
    size, head = len(body), bytearray([kind])
    while True:
        digit, size = size % 128, size // 128
        head.append(digit | (0x80 if size else 0))
        if not size:
            return bytes(head) + body


def subscribe_packet(topic: str, qos: int = 0) -> bytes:
    raw = topic.encode()
    return packet(0x82, b"\0\1\0" + struct.pack(">H", len(raw)) + raw + bytes([qos]))


def publish_packet(topic: str, payload: bytes, number: int, retain: bool = False) -> bytes:
    raw = topic.encode()
    return packet(
        0x32 | retain, struct.pack(">H", len(raw)) + raw + struct.pack(">H", number % 65535 + 1) + b"\0" + payload
    )


async def mqtt_connects(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """600 connections with most of a CONNECT of 4 MB, byte by byte after it."""
    head = b"\x10" + bytes([0x80 | 0, 0x80 | 0, 0x80 | 0, 2])  # 4 MiB
    start = head + connect_packet("t", "c")[2:12] + b"x" * 60_000
    return await _keep(served.mqtt, 600, stop, start, b"x")


async def mqtt_bytewise(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """1,500 connections that send a good CONNECT of 60 KB, a byte a second."""
    whole = connect_packet("x" * 100, "c", 60_000)
    return await _keep(served.mqtt, 1_500, stop, whole[:59_000], b"x", 1.0)


async def mqtt_churn(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """200 clients that log in with a bad token as fast as they can."""
    state = {"refused": 0}

    async def one(n: int) -> None:
        while not stop.is_set():
            made = await _open(served.mqtt)
            if made is None:
                continue
            reader, writer = made
            with contextlib.suppress(OSError, asyncio.TimeoutError):
                writer.write(connect_packet("wrong", f"c{n}"))
                await asyncio.wait_for(reader.read(100), 12)
                state["refused"] += 1
            writer.close()

    await asyncio.gather(*(one(n) for n in range(200)))
    return state


async def http_silent(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """1,000 connections over HTTP that say nothing."""
    return await _keep(served.port, 1_000, stop, b"")


async def http_headers(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """1,000 connections whose headers never end."""
    return await _keep(served.port, 1_000, stop, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"X-A: b\r\n")


async def http_pipelined(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """20 connections with a wrong token send requests as fast as they can, and wait for no answer."""
    request = b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer no\r\n\r\n"
    return await _pour(20, stop, lambda n: _open(served.port), [request * 5])


async def mqtt_poured(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """300 clients that are logged in pour most of a message of 4 MB as fast as they can; anew when they are closed."""

    async def log_in(number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        if (made := await _open(served.mqtt)) is not None:
            made[1].write(connect_packet(served.tokens["bad"], f"pouring {number}"))
            await asyncio.wait_for(made[0].read(100), 30)
            made[1].write(b"\x30\xff\xff\xff\1\0\3a/b")
        return made

    return await _pour(300, stop, log_in, [b"x" * 65_536] * 60)


async def mqtt_pings(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """20 clients that are logged in send pings as fast as they can."""

    async def log_in(number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        if (made := await _open(served.mqtt)) is not None:
            made[1].write(connect_packet(served.tokens["bad"], f"pinging {number}"))
        return made

    return await _pour(20, stop, log_in, [b"\xc0\0" * 20_000])


async def websocket_pings(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """20 WebSockets without a login send pings as fast as they can."""
    head = b"GET /mqtt HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    head += b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    head += b"Sec-WebSocket-Protocol: mqtt\r\n\r\n"

    async def upgrade(number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        if (made := await _open(served.port)) is not None:
            made[1].write(head)
            await asyncio.wait_for(made[0].readuntil(b"\r\n\r\n"), 30)
        return made

    return await _pour(20, stop, upgrade, [b"\x89\x80\0\0\0\0" * 20_000])


async def http_chunks(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """20 bodies in chunks of one byte, with a token."""
    head = f"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.tokens['bad']}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def begin(number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        if (made := await _open(served.port)) is not None:
            made[1].write(head.encode())
        return made

    return await _pour(20, stop, begin, [b"1\r\n \r\n" * 10_000])


async def mqtt_small(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """20 clients that are logged in publish small events (QoS 0) as fast as they can."""

    async def log_in(number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        if (made := await _open(served.mqtt)) is not None:
            made[1].write(connect_packet(served.tokens["bad"], f"small {number}"))
            await asyncio.wait_for(made[0].read(100), 30)
        return made

    return await _pour(20, stop, log_in, [packet(0x30, b'\0\3a/b\0{"t": 21}') * 1_000])


async def http_small(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """50 connections with a token publish single events as fast as they can, and wait for no answer."""
    body = b'{"t": 21}'
    head = f"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.tokens['bad']}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return await _pour(50, stop, lambda n: _open(served.port), [(head.encode() + body) * 20])


async def mqtt_filters(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """5 clients that are logged in subscribe to 8,192 filters in one packet, again and again."""
    filters = b"".join(b"\0\6f/%04x\0" % number for number in range(8_192))

    async def log_in(number: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        if (made := await _open(served.mqtt)) is not None:
            made[1].write(connect_packet(served.tokens["bad"], f"filters {number}"))
            await asyncio.wait_for(made[0].read(100), 30)
        return made

    return await _pour(5, stop, log_in, [packet(0x82, b"\0\1\0" + filters)])


async def _pour(
    count: int,
    stop: asyncio.Event,
    begin: Callable[[int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter] | None]],
    parts: list[bytes],
) -> dict[str, Any]:
    """Send as fast as so many connections can, and read what comes; anew when one ends. One part is sent for ever."""
    state = {"opened": 0, "bytes": 0}

    async def read(reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while await reader.read(65_536):
                pass

    async def one(number: int) -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError, asyncio.TimeoutError):
                if (made := await begin(number)) is None:
                    continue
                state["opened"] += 1
                reading = asyncio.create_task(read(made[0]))
                for part in itertools.repeat(parts[0]) if len(parts) == 1 else parts:
                    if stop.is_set() or reading.done():
                        break
                    made[1].write(part)
                    state["bytes"] += len(part)
                    await made[1].drain()
                while not stop.is_set() and not reading.done():
                    await asyncio.sleep(0.2)
                reading.cancel()
                made[1].close()
            await asyncio.sleep(0.02)

    await asyncio.gather(*(one(number) for number in range(count)))
    return state


async def tls_half_open(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """500 half handshakes over HTTPS and 500 over MQTT with TLS."""
    hello = bytes.fromhex("16030102000100")
    found = await asyncio.gather(
        _keep(served.port, 500, stop, hello, b"\0"), _keep(served.mqtt_tls, 500, stop, hello, b"\0")
    )
    return {name: sum(each[name] for each in found) for name in found[0]}


async def tls_records(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """Twelve TLS connections send records of one byte as fast as they can: endless headers, and an endless body."""
    state = {"bytes": 0}

    async def one(n: int) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        while not stop.is_set():
            with contextlib.suppress(OSError, asyncio.TimeoutError):
                _, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", served.port, ssl=context), 10)
                line = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "
                if n % 2:
                    line = b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                    line += served.tokens["bad"].encode() + b"\r\nContent-Length: 60000000\r\n\r\n"
                writer.write(line)
                while not stop.is_set() and not writer.is_closing():
                    for _ in range(200):
                        writer.write(b" ")
                    state["bytes"] += 200
                    await asyncio.wait_for(writer.drain(), 5)
                    await asyncio.sleep(0)
                writer.close()
            await asyncio.sleep(0.05)

    await asyncio.gather(*(one(n) for n in range(12)))
    return state


async def endless_bodies(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """100 bodies of 60 MB that trickle and 20 chunked ones without an end, with a token; 50 without one."""
    good = f"Authorization: Bearer {served.tokens['bad']}\r\n".encode()
    head = b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    sized, chunked = b"Content-Length: 60000000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"
    found = await asyncio.gather(
        _keep(served.port, 100, stop, head + good + sized + b"[" * 400_000, b" " * 1_000, 0.2),
        _keep(served.port, 20, stop, head + good + chunked, b"8000\r\n" + b" " * 0x8000 + b"\r\n", 0.02),
        _keep(served.port, 50, stop, head + sized, b" " * 1_000, 0.2),
    )
    return {name: sum(each[name] for each in found) for name in found[0]}


def _log_in(served: Served, name: str, *packets: bytes) -> socket.socket:
    """Connect over MQTT with a small buffer, send, and never read again."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.settimeout(20)
    made.connect(("127.0.0.1", served.mqtt))
    made.sendall(connect_packet(served.tokens["bad"], name))
    assert made.recv(4)[0] == 0x20
    for each in packets:
        made.sendall(each)
    return made


async def silent_subscribers(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """100 subscribers over MQTT, 20 streams and 20 server-sent streams do not read; 100 messages of 90 KB come."""
    loop, state = asyncio.get_running_loop(), {"published": 0}
    sockets = [
        await loop.run_in_executor(None, _log_in, served, f"s{n}", subscribe_packet("big/#")) for n in range(100)
    ]
    authority = f"Host: localhost\r\nAuthorization: Bearer {served.tokens['bad']}\r\n"

    def prepare() -> None:
        with served.client("bad") as client:
            for n in range(40):
                client.put(f"/v1/subscribers/w{n}").raise_for_status()
                text = {"v": 1, "text": "{big exists}"}
                client.put(f"/v1/subscribers/w{n}/subscriptions/all", json=text).raise_for_status()
                made = socket.create_connection(("127.0.0.1", served.port))
                made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                path = f"/v1/subscribers/w{n}/events" if n % 2 else f"/v1/subscribers/w{n}/stream"
                upgrade = (
                    ""
                    if n % 2
                    else (
                        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                    )
                )
                made.sendall(f"GET {path} HTTP/1.1\r\n{authority}{upgrade}\r\n".encode())
                sockets.append(made)

    def publish() -> None:
        with served.client("bad") as client:
            for n in range(100):
                body = {"v": 1, "payload": {"topic": f"big/{n}", "big": ["x" * 1_000] * 88}}
                if client.post("/v1/events", json=body).status_code in (200, 202):
                    state["published"] += 1
                if stop.is_set():
                    return

    await loop.run_in_executor(None, prepare)
    await loop.run_in_executor(None, publish)
    await stop.wait()
    for each in sockets:
        each.close()
    return state


async def retained_flood(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """6,000 retained topics of 8 KB, and 20 clients that ask for `#` and do not read."""
    loop, state = asyncio.get_running_loop(), {"retained": 0}

    def fill() -> None:
        made = _log_in(served, "filler")
        for n in range(6_000):
            made.sendall(publish_packet(f"r/{n}", json.dumps({"v": "x" * 900, "w": ["y" * 900] * 8}).encode(), n, True))
            state["retained"] += 1
            if n % 200 == 199:
                with contextlib.suppress(TimeoutError):
                    made.recv(65536)
                if stop.is_set():
                    break
        time.sleep(1)
        made.close()

    await loop.run_in_executor(None, fill)
    sockets = [
        await loop.run_in_executor(None, _log_in, served, f"q{n}", subscribe_packet("#", n % 2)) for n in range(20)
    ]
    await stop.wait()
    for each in sockets:
        each.close()
    return state


async def stalled_targets(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """60 targets that stall: greetings without an end, headers that trickle, endless bodies, floods of TLS records."""
    state = {"connections": 0, "accepted": 0}
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(served.certificate, served.key)

    async def say(writer: asyncio.StreamWriter, first: bytes, then: bytes, pause: float) -> None:
        state["connections"] += 1
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            writer.write(first)
            while not stop.is_set():
                writer.write(then)
                await asyncio.wait_for(writer.drain(), 30)
                await asyncio.sleep(pause)
        writer.close()

    stalls: dict[str, tuple[bytes, bytes, float, bool]] = {
        "mail": (b"", b"220-wait\r\n", 0.5, False),
        "slow": (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n", 0.3, False),
        "body": (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"1000\r\n" + b"x" * 4096 + b"\r\n",
            0,
            False,
        ),
        "late": (b"HTTP/1.1 503 No\r\nContent-Length: 90000000\r\n\r\n", b"x" * 65536, 0, False),
        "tls": (b"HTTP/1.1 200 OK\r\nX: ", b"y", 0, True),
        "mqtt": (b"", b"\xd0\x00", 0.01, False),
    }
    servers, ports = [], {}
    for name, (first, then, pause, secure) in stalls.items():

        async def handle(
            reader: asyncio.StreamReader,
            writer: asyncio.StreamWriter,
            told: tuple[bytes, bytes, float] = (first, then, pause),
        ) -> None:
            await say(writer, *told)

        server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context if secure else None)
        servers.append(server)
        ports[name] = server.sockets[0].getsockname()[1]

    def prepare() -> None:
        with served.client("bad") as client:
            client.put("/v1/subscribers/e").raise_for_status()
            for n in range(60):
                kind = list(stalls)[n % len(stalls)]
                port = ports[kind]
                text = {"v": 1, "text": "{x exists}"}
                client.put(f"/v1/subscribers/e/subscriptions/s{n}", json=text).raise_for_status()
                body: dict[str, Any] = {"kind": "webhook", "url": f"http://127.0.0.1:{port}/"}
                if kind == "tls":
                    body["url"] = f"https://127.0.0.1:{port}/"
                elif kind == "mail":
                    body = {
                        "kind": "email",
                        "url": f"smtp://127.0.0.1:{port}",
                        "to": "a@example.org",
                        "sender": "b@example.org",
                    }
                elif kind == "mqtt":
                    body = {"kind": "mqtt", "url": f"mqtt://127.0.0.1:{port}", "topic": "a/b"}
                answer = client.put(f"/v1/subscribers/e/subscriptions/s{n}/targets/t", json=body)
                if not answer.is_success:
                    state[f"refused {kind}: {answer.text[:200]}"] = 1
            client.post("/v1/events", json=[{"x": n} for n in range(50)]).raise_for_status()

    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, prepare)
    await stop.wait()
    for server in servers:
        server.close()
    return state


async def mqtt_large(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """300 clients that are logged in send all of a message of 4 MB but its end."""
    head = b"\x32" + bytes([0x80, 0x80, 0x80, 2]) + struct.pack(">H", 3) + b"a/b" + b"\0\1\0"
    state = {"sent": 0, "closed": 0}

    async def one(n: int) -> None:
        made = await _open(served.mqtt)
        if made is None:
            return
        reader, writer = made
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            writer.write(connect_packet(served.tokens["bad"], f"large-{n}"))
            await asyncio.wait_for(reader.read(100), 20)
            writer.write(head)
            for _ in range(63):
                if stop.is_set():
                    break
                writer.write(b"x" * 65_536)
                await asyncio.wait_for(writer.drain(), 20)
                state["sent"] += 65_536
            while not stop.is_set():
                with contextlib.suppress(asyncio.TimeoutError):
                    if not await asyncio.wait_for(reader.read(10), 0.5):
                        state["closed"] += 1
                        break
        writer.close()

    await asyncio.gather(*(one(n) for n in range(300)))
    return state


async def http_large(served: Served, stop: asyncio.Event) -> dict[str, Any]:
    """40 requests with a token send all of a body of 60 MB but its end."""
    head = f"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.tokens['bad']}\r\n".encode()
    head += b"Content-Type: application/json\r\nContent-Length: 60000000\r\n\r\n["
    state = {"sent": 0, "answered": 0}

    async def one() -> None:
        made = await _open(served.port)
        if made is None:
            return
        reader, writer = made
        answer = asyncio.ensure_future(reader.read(10))
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            writer.write(head)
            for _ in range(900):
                if stop.is_set() or answer.done():
                    break
                writer.write(b" " * 65_536)
                await asyncio.wait_for(writer.drain(), 20)
                state["sent"] += 65_536
            while not stop.is_set() and not answer.done():
                await asyncio.sleep(0.2)
            state["answered"] += answer.done()
        answer.cancel()
        writer.close()

    await asyncio.gather(*(one() for _ in range(40)))
    return state


ATTACKS: Final[dict[str, tuple[Attack, int | None, str]]] = {
    "mqtt_connects": (mqtt_connects, None, ""),
    "mqtt_connects_far": (mqtt_connects, None, "[server]\nproxies = ['::1']"),
    "mqtt_bytewise": (mqtt_bytewise, 4_096, ""),
    "mqtt_churn": (mqtt_churn, None, "[server]\nproxies = ['::1']"),
    "http_silent": (http_silent, 1_024, ""),
    "http_silent_far": (http_silent, 1_024, "[server]\nproxies = ['::1']"),
    "http_headers": (http_headers, 1_024, ""),
    "http_pipelined": (http_pipelined, None, ""),
    "mqtt_poured": (mqtt_poured, None, ""),
    "mqtt_pings": (mqtt_pings, None, ""),
    "websocket_pings": (websocket_pings, None, ""),
    "http_chunks": (http_chunks, None, ""),
    "mqtt_small": (mqtt_small, None, ""),
    "http_small": (http_small, None, ""),
    "mqtt_filters": (mqtt_filters, None, ""),
    "tls_half_open": (tls_half_open, 1_024, "# tls"),
    "tls_records": (tls_records, None, "# tls"),
    "endless_bodies": (endless_bodies, 1_024, ""),
    "silent_subscribers": (silent_subscribers, None, ""),
    "retained_flood": (retained_flood, None, ""),
    "mqtt_large": (mqtt_large, None, ""),
    "http_large": (http_large, None, ""),
    "stalled_targets": (stalled_targets, None, ""),
}


@contextlib.contextmanager
def neighbour(served: Served) -> Iterator[Path]:
    notes = served.folder / "neighbour"
    command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--neighbour", served.address]
    process = subprocess.Popen([*command, served.tokens["good"], str(notes)])
    try:
        until = time.monotonic() + 60
        while not notes.exists() or not notes.stat().st_size:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield notes
    finally:
        Path(str(notes) + ".end").touch()
        try:
            process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run(name: str, seconds: float) -> dict[str, Any]:
    """Run one attack; what was measured, and under `problems` what may not be."""
    attack, files, settings = ATTACKS[name]
    with tempfile.TemporaryDirectory(prefix="likewise-hostile-") as folder:
        served = Served(Path(folder), files, settings)
        most, ready, result = 0.0, set[int](), dict[str, Any]()
        with contextlib.ExitStack() as stack:
            notes = stack.enter_context(neighbour(served))
            time.sleep(3)
            quiet_from = time.time()
            time.sleep(seconds / 2)
            before, begun = served.resident(), time.time()
            stop = asyncio.Event()
            loop = asyncio.new_event_loop()

            def work() -> None:
                asyncio.set_event_loop(loop)
                result.update(loop.run_until_complete(attack(served, stop)))

            worker = threading.Thread(target=work, daemon=True)
            worker.start()
            while time.time() - begun < seconds:
                most = max(most, served.resident())
                if served.process.poll() is not None:
                    break
                with contextlib.suppress(httpx.HTTPError):
                    ready.add(httpx.get(served.address + "/readyz", verify=False, timeout=10).status_code)
                time.sleep(0.2)
            died = served.process.poll()
            ended = time.time()
            Path(str(notes) + ".end").touch()
            time.sleep(0.5)
            took = served.stop()
            loop.call_soon_threadsafe(stop.set)
            worker.join(timeout=60)
            log = (served.folder / "log").read_text(errors="replace")
            alone, beside = noticed(notes, quiet_from, begun), noticed(notes, begun, ended)
    problems = []
    if died is not None:
        problems.append(f"the broker ended with {died}")
    if beside.failures:
        problems.append(f"neighbour: {beside.failures}")
    if beside.worst > 5_000:
        problems.append(f"the neighbour waited {beside.worst:.0f} ms")
    if most - before > 400:
        problems.append(f"memory grew by {most - before:.0f} MB")
    if took > 10:
        problems.append(f"the stop took {took:.1f} s")
    if "Traceback" in log:
        first = log[log.index("Traceback") :][:3_000]
        problems.append(f"{log.count('Traceback')} tracebacks in the log, such as {first}")
    return {
        "attack": name,
        "p50": (round(alone.p50), round(beside.p50)),
        "p99": (round(alone.p99), round(beside.p99)),
        "worst": round(beside.worst),
        "requests": (alone.requests, beside.requests),
        "memory": (round(before), round(most)),
        "stop": round(took, 1),
        "ready": sorted(ready),
        "attacker": result,
        "problems": problems,
    }


def main() -> None:
    """Run as a command."""
    if sys.argv[1:2] == ["--neighbour"]:
        be_neighbour(*sys.argv[2:5])
        return
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--seconds", type=float, default=12.0)
    given.add_argument("--only", default="")
    said = given.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    bad = 0
    for name in ATTACKS:
        if said.only in name:
            found = run(name, said.seconds)
            bad += bool(found["problems"])
            print(json.dumps(found), flush=True)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()

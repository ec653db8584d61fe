"""Devices that connect to the broker itself over MQTT: what a message, a delivery and an idle connection cost.

    python -m benchmarks.mqtt_listener --json
    likewise bench mqtt_listener -- --part messages

Messages: publishers of QoS 1 send to Mosquitto and to `likewise serve --mqtt`, round after round; no subscriptions. We
store each message on disk before it is acknowledged; Mosquitto keeps nothing. Deliveries: one event after another goes
to many subscribers of the same subscription, each of whom acknowledges it, over WebSockets, over MQTT by meaning and
over MQTT by topic. CPU is that of the broker's process, wherever it is spent; medians of the rounds. Idle: what the
broker's memory grows by while connections do nothing. The exit code is 1 if a promise is missed (`PROMISED`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from websockets.asyncio.client import connect

from benchmarks.broker import cpu_seconds, memory, missed
from likewise.cli.demo.city import Mosquitto
from likewise.server.mqtt.codec import (
    MQTT_3_1_1,
    MQTT_5,
    Connack,
    Connect,
    Decoder,
    FilterRequest,
    Properties,
    Puback,
    Publish,
    Suback,
    Subscribe,
    encode,
)

PROMISED = {
    "message_cpu_to_mosquitto": (10.0, "most"),
    "delivery_cpu_by_meaning_to_websocket": (2.0, "most"),
    "delivery_cpu_by_topic_to_websocket": (2.0, "most"),
    "idle_megabytes": (60.0, "most"),
}
PUBLISHERS = 16
WINDOW = 20  # messages of a publisher that are not acknowledged yet
PATIENCE = 600.0
AT_A_TIME = 200  # connections that are opened together


class Running(NamedTuple):
    """A broker of ours in a process of its own."""

    pid: int
    http: str
    port: int


@contextmanager
def likewise(folder: Path) -> Iterator[Running]:
    """A broker that listens for MQTT."""
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        port = int(trying.getsockname()[1])
    running = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "likewise",
            "serve",
            "--data",
            str(folder),
            "--port",
            "0",
            "--json",
            "--mqtt",
            str(port),
        ],
        stdout=subprocess.PIPE,
    )
    assert running.stdout is not None
    try:
        address = json.loads(running.stdout.readline())["listening"]
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield Running(running.pid, address, port)
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(60)
        running.stdout.close()


class Publisher(asyncio.Protocol):
    """Publishes packets that are encoded already, so many at a time; `done` when all are acknowledged."""

    def __init__(self, name: str, packets: list[bytes]) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._hello = encode(Connect(name, MQTT_3_1_1), MQTT_3_1_1)
        self._packets = packets
        self._sent = self._bytes = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say hello."""
        self._transport = transport  # type: ignore[assignment]
        self._transport.write(self._hello)  # type: ignore[union-attr]

    def data_received(self, data: bytes) -> None:
        """An acknowledgement has 4 bytes, and so has the answer to the hello."""
        self._bytes += len(data)
        acknowledged = self._bytes // 4 - 1
        until = min(len(self._packets), acknowledged + WINDOW)
        if until > self._sent:
            self._transport.write(b"".join(self._packets[self._sent : until]))  # type: ignore[union-attr]
            self._sent = until
        if acknowledged == len(self._packets) and not self.done.done():
            self.done.set_result(None)
            self._transport.close()  # type: ignore[union-attr]

    def connection_lost(self, error: Exception | None) -> None:
        """It should be over by then."""
        if not self.done.done():
            self.done.set_exception(ConnectionError(f"the broker ended the connection: {error}"))


async def publish(port: int, count: int) -> None:
    """Publish so many messages of QoS 1, of devices' sizes, over several connections."""
    loop = asyncio.get_running_loop()
    each = count // PUBLISHERS
    made = []
    for number in range(PUBLISHERS):
        packets = [
            encode(
                Publish(
                    f"home/room-{number}/temperature",
                    b'{"temperature": 21.%d, "humidity": 41.5}' % (n % 100),
                    1,
                    packet_id=n % 65_535 + 1,
                ),
                MQTT_3_1_1,
            )
            for n in range(each)
        ]
        made.append(
            (await loop.create_connection(lambda n=number, p=packets: Publisher(f"p{n}", p), "127.0.0.1", port))[1]
        )
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(publisher.done for publisher in made))


def messages(count: int, rounds: int, folder: Path) -> dict[str, Any]:
    """µs of CPU a message, of Mosquitto and of ours."""
    found = []
    with Mosquitto() as other, likewise(folder) as ours:
        if other.absent:
            raise SystemExit(other.absent)
        brokers = {"mosquitto": (other.pid, int(other.url.rpartition(":")[2])), "likewise": (ours.pid, ours.port)}
        for _ in range(rounds):
            one = {}
            for name, (pid, port) in brokers.items():
                before, begun = cpu_seconds(pid), time.perf_counter()
                asyncio.run(publish(port, count))
                one[f"{name}_us"] = (cpu_seconds(pid) - before) / count * 1e6
                one[f"{name}_a_second"] = count / (time.perf_counter() - begun)
            found.append({**one, "ratio": one["likewise_us"] / one["mosquitto_us"]})
    return {name: statistics.median(each[name] for each in found) for name in found[0]}


class Reader(asyncio.Protocol):
    """A subscriber over MQTT that acknowledges each message; `came` counts them."""

    def __init__(self, name: str, wish: Subscribe | None) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.came = 0
        self._name, self._wish = name, wish
        self._decoder = Decoder(MQTT_5, of_server=True)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say hello."""
        self._transport = transport  # type: ignore[assignment]
        kept = Properties(session_expiry=3600) if self._wish is not None else Properties()
        self._transport.write(encode(Connect(self._name, properties=kept)))  # type: ignore[union-attr]

    def data_received(self, data: bytes) -> None:
        """Take what comes."""
        out = []
        for packet in self._decoder.feed(data):
            match packet:
                case Publish():
                    self.came += 1
                    if packet.qos:
                        out.append(encode(Puback(packet.packet_id)))
                case Connack() if self._wish is not None:
                    out.append(encode(self._wish))
                case Connack() | Suback():
                    self.ready.set_result(None)
        if out:
            self._transport.write(b"".join(out))  # type: ignore[union-attr]

    def close(self) -> None:
        """Leave without a word."""
        self._transport.abort()  # type: ignore[union-attr]


async def _readers(port: int, count: int, wish: Subscribe | None) -> list[Reader]:
    loop, made = asyncio.get_running_loop(), []
    for first in range(0, count, AT_A_TIME):
        some = [
            (await loop.create_connection(lambda n=n: Reader(f"r{n}", wish), "127.0.0.1", port))[1]
            for n in range(first, min(count, first + AT_A_TIME))
        ]
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(reader.ready for reader in some))
        made += some
    return made


async def _publish_events(address: str, events: int, came: Any, wanted: int) -> None:
    """Publish events one after the other; wait until so many deliveries came."""
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as http:
        for number in range(events):
            sent = {"everybody": number, "topic": "to/all"}
            (await http.post("/v1/events", json=sent)).raise_for_status()
    async with asyncio.timeout(PATIENCE):
        while came() < wanted:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.5)  # the last acknowledgements


async def by_mqtt(running: Running, subscribers: int, events: int, wish: Subscribe) -> float:
    """µs of CPU a delivery over MQTT."""
    readers = await _readers(running.port, subscribers, wish)
    before = cpu_seconds(running.pid)
    await _publish_events(running.http, events, lambda: sum(each.came for each in readers), subscribers * events)
    used = cpu_seconds(running.pid) - before
    for reader in readers:
        reader.close()
    return used / (subscribers * events) * 1e6


async def by_websocket(running: Running, subscribers: int, events: int) -> float:
    """µs of CPU a delivery over WebSockets."""
    came = 0
    async with httpx.AsyncClient(base_url=running.http, timeout=PATIENCE) as http:
        for number in range(subscribers):
            (await http.put(f"/v1/subscribers/w{number}")).raise_for_status()
            wanted = {"v": 1, "text": "{everybody exists}"}
            (await http.put(f"/v1/subscribers/w{number}/subscriptions/s", json=wanted)).raise_for_status()

    async def read(number: int, ready: asyncio.Future[None]) -> None:
        nonlocal came
        address = f"{running.http.replace('http', 'ws')}/v1/subscribers/w{number}/stream"
        async with connect(address, max_queue=None, open_timeout=PATIENCE, compression=None) as stream:
            ready.set_result(None)
            async for said in stream:
                came += 1
                await stream.send(json.dumps({"sequence": json.loads(said)["sequence"]}))

    loop, tasks = asyncio.get_running_loop(), []
    for first in range(0, subscribers, AT_A_TIME):
        some = [loop.create_future() for _ in range(first, min(subscribers, first + AT_A_TIME))]
        tasks += [asyncio.ensure_future(read(first + n, ready)) for n, ready in enumerate(some)]
        await asyncio.gather(*some)
    before = cpu_seconds(running.pid)
    await _publish_events(running.http, events, lambda: came, subscribers * events)
    used = cpu_seconds(running.pid) - before
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return used / (subscribers * events) * 1e6


def deliveries(subscribers: int, events: int, rounds: int, folder: Path) -> dict[str, Any]:
    """µs of CPU a delivery, over each way; every figure on a broker of its own."""
    meant = Subscribe(1, (FilterRequest("$likewise/all", 1),), Properties(user=(("q", "{everybody exists}"),)))
    topic = Subscribe(1, (FilterRequest("to/all", 1),))
    ways = {
        "websocket_us": lambda ours: by_websocket(ours, subscribers, events),
        "by_meaning_us": lambda ours: by_mqtt(ours, subscribers, events, meant),
        "by_topic_us": lambda ours: by_mqtt(ours, subscribers, events, topic),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name, way in ways.items():
            with likewise(folder / f"{name}-{number}") as ours:
                asyncio.run(_publish_events(ours.http, 3, lambda: 0, 0))  # compiles what is compiled
                found[name].append(asyncio.run(way(ours)))
    return {name: statistics.median(each) for name, each in found.items()}


def idle(connections: int, folder: Path) -> dict[str, Any]:
    """Megabytes that connections which do nothing take."""

    async def connected(running: Running) -> tuple[float, float]:
        warm = await _readers(running.port, 50, None)  # what is made once
        before = memory(running.pid)
        readers = await _readers(running.port, connections, None)
        await asyncio.sleep(2)
        after = memory(running.pid)
        for reader in (*warm, *readers):
            reader.close()
        return before, after

    with likewise(folder) as ours:
        before, after = asyncio.run(connected(ours))
    return {"connections": connections, "before_mb": before, "after_mb": after, "megabytes": after - before}


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """All parts, or one of them."""
    found: dict[str, Any] = {}
    ratios: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="likewise-bench-") as name:
        folder = Path(name)
        if given.part in ("all", "messages"):
            found["messages"] = messages(given.messages, given.rounds, folder / "messages")
            ratios["message_cpu_to_mosquitto"] = found["messages"]["ratio"]
        if given.part in ("all", "deliveries"):
            found["deliveries"] = one = deliveries(given.subscribers, given.events, given.rounds, folder)
            ratios["delivery_cpu_by_meaning_to_websocket"] = one["by_meaning_us"] / one["websocket_us"]
            ratios["delivery_cpu_by_topic_to_websocket"] = one["by_topic_us"] / one["websocket_us"]
        if given.part in ("all", "idle"):
            found["idle"] = idle(given.connections, folder / "idle")
            ratios["idle_megabytes"] = found["idle"]["megabytes"]
    return {**found, "ratios": ratios}


def main() -> int:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--part", choices=("all", "messages", "deliveries", "idle"), default="all")
    arguments.add_argument("--messages", type=int, default=40_000)
    arguments.add_argument("--subscribers", type=int, default=1_000)
    arguments.add_argument("--events", type=int, default=30)
    arguments.add_argument("--connections", type=int, default=2_000, help="that do nothing")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit[1], 20_000), limit[1]))
    found = measure(given)
    if given.json:
        print(json.dumps(found))
    else:
        for name in ("messages", "deliveries", "idle"):
            for figure, value in found.get(name, {}).items():
                print(f"{name:<12} {figure:<24} {value:12,.1f}")
        for name, value in found["ratios"].items():
            print(f"{name:<38} {value:8.2f}   (at most {PROMISED[name][0]:g})")
    return int(bool(missed(found["ratios"], {name: PROMISED[name] for name in found["ratios"]})))


if __name__ == "__main__":
    sys.exit(main())

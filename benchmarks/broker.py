"""The broker: durable publishes a second, latency from publisher to subscriber, fan-out, recovery, memory.

    python -m benchmarks.broker --json
    likewise bench broker -- --seconds 5 --subscriptions 10000

Subscriptions are boxes on a map with a threshold (as W2: about one in a thousand meets an event), owned by 100
subscribers. The broker and the empty endpoint (`yardsticks/empty_endpoint.py`) run as processes of their own, one
after the other, asked by the same plain client over loopback; bare SQLite (`yardsticks/bare_sqlite.py`) writes the
same bodies. Figures are wall time, since a broker waits for disks; `publish_cpu_us` is the processor time of an
event. What an event costs beside matching alone, and over WebSockets, is in `benchmarks.broker_path`. The exit code
is 1 if a ratio misses what is promised (`PROMISED`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.yardsticks.bare_sqlite import rows_a_second

PROMISED = {
    "batches_of_500_to_bare_sqlite": (0.12, "least"),
    "singles_to_empty_endpoint": (0.40, "least"),
    "latency_p99_to_empty_endpoint": (10.0, "most"),
    "latency_p99_with_one_stalled": (1.2, "most"),
    "recovery_seconds": (10.0, "most"),
}
SUBSCRIBERS = 100
CONNECTIONS = 16
RATE = 1_000
PACED_CONNECTIONS = 64  # so that a sync of the disk, not the number of connections, is what a request waits for


def box(chance: random.Random) -> str:
    """A subscription that about one event in a thousand meets."""
    lat, long = chance.uniform(45.75, 45.84), chance.uniform(15.85, 16.07)
    return f"{{{lat:.5f} <= lat <= {lat + 0.0045:.5f}, {long:.5f} <= long <= {long + 0.011:.5f}, no2 > 20}}"


def reading(chance: random.Random) -> dict[str, Any]:
    """An event with six attributes."""
    return {
        "lat": round(chance.uniform(45.75, 45.85), 5),
        "long": round(chance.uniform(15.85, 16.10), 5),
        "timestamp": chance.randrange(1_388_534_400, 1_389_139_200),
        "station": f"ST{chance.randrange(30):02d}",
        "no2": round(30 * 2.718 ** chance.gauss(0, 0.5), 2),
        "pm": round(20 * 2.718 ** chance.gauss(0, 0.6), 2),
    }


@contextmanager
def process(*arguments: str) -> Iterator[tuple[str, int]]:
    """A server in a process of its own: where it listens, and its process id."""
    running = subprocess.Popen([sys.executable, "-m", *arguments], stdout=subprocess.PIPE)
    assert running.stdout is not None
    try:
        yield json.loads(running.stdout.readline())["listening"], running.pid
    finally:
        running.terminate()
        running.wait()
        running.stdout.close()


class Line:
    """One keep-alive connection that sends requests as they are."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, address: str) -> Line:
        return cls(*await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2])))

    async def post(self, body: bytes) -> None:
        head = b"POST /v1/events HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        head += b"content-length: %d\r\n\r\n"
        self._writer.write(head % len(body) + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer.decode())
        length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.close()


async def publishes(address: str, bodies: list[bytes], size: int, seconds: float, connections: int) -> float:
    """Events a second, each request acknowledged before its connection sends the next."""
    lines = [await Line.open(address) for _ in range(connections)]
    end, count = time.perf_counter() + seconds, 0

    async def run(line: Line, number: int) -> None:
        nonlocal count
        while time.perf_counter() < end:
            await line.post(bodies[number % len(bodies)])
            number += 1
            count += size

    begun = time.perf_counter()
    await asyncio.gather(*(run(line, 7 * n) for n, line in enumerate(lines)))
    took = time.perf_counter() - begun
    for line in lines:
        line.close()
    return count / took


async def request_latency(address: str, body: bytes, seconds: float) -> list[float]:
    """Seconds a request takes at 1,000 a second, over many connections."""
    lines = [await Line.open(address) for _ in range(PACED_CONNECTIONS)]
    free: asyncio.Queue[Line] = asyncio.Queue()
    for line in lines:
        free.put_nowait(line)
    took: list[float] = []

    async def one(due: float) -> None:
        line = await free.get()
        await line.post(body)
        took.append(time.perf_counter() - due)
        free.put_nowait(line)

    await _paced(one, seconds)
    for line in lines:
        line.close()
    return took


async def _paced(one: Any, seconds: float) -> None:
    begun, tasks = time.perf_counter(), []
    for number in range(int(RATE * seconds)):
        due = begun + number / RATE
        pause = due - time.perf_counter()
        if pause > 0:
            await asyncio.sleep(pause)
        tasks.append(asyncio.create_task(one(due)))
    await asyncio.gather(*tasks)


async def delivery_latency(
    address: str, owners: list[str], seconds: float, *, stalled: str | None = None
) -> list[float]:
    """Seconds from the moment an event is due to be published to its arrival at a subscriber."""
    chance, sent, took = random.Random(3), {}, []
    streams = [await _stream(address, id) for id in owners if id != stalled]
    held = await _stream(address, stalled) if stalled is not None else None

    async def listen(stream: ClientConnection) -> None:
        last = 0
        async for frame in stream:
            now = time.perf_counter()
            said = json.loads(frame)
            due = sent.get(said["event"]["id"])
            if due is not None:
                took.append(now - due)
            if said["sequence"] - last > 50:
                last = said["sequence"]
                await stream.send(json.dumps({"sequence": last}))

    listening = [asyncio.create_task(listen(stream)) for stream in streams]
    lines = [await Line.open(address) for _ in range(PACED_CONNECTIONS)]
    free: asyncio.Queue[Line] = asyncio.Queue()
    for line in lines:
        free.put_nowait(line)
    number, name = 0, f"{time.time():.6f}"

    async def one(due: float) -> None:
        nonlocal number
        number += 1
        id = f"{name}-{number}"
        body = json.dumps({"v": 1, "payload": reading(chance), "id": id}).encode()
        line = await free.get()
        sent[id] = due
        await line.post(body)
        free.put_nowait(line)

    await _paced(one, seconds)
    await asyncio.sleep(1.0)
    for task in listening:
        task.cancel()
    for stream in streams:
        await stream.close()
    if held is not None:
        held.transport.abort()
    for line in lines:
        line.close()
    return took


async def _stream(address: str, id: str) -> ClientConnection:
    return await connect(f"{address.replace('http', 'ws')}/v1/subscribers/{id}/stream", max_queue=None)


async def fan_out(address: str, owners: list[str], rounds: int = 15) -> list[float]:
    """Seconds from publishing one event to its arrival at the last of all these subscribers."""
    streams = [await _stream(address, id) for id in owners]
    line, took = await Line.open(address), []
    for number in range(rounds):
        begun = time.perf_counter()
        await line.post(json.dumps({"everybody": number}).encode())
        await asyncio.gather(*(stream.recv() for stream in streams))
        took.append(time.perf_counter() - begun)
    line.close()
    await asyncio.gather(*(stream.close() for stream in streams))
    return took


def prepare(address: str, subscriptions: int, everybody: int) -> tuple[list[str], list[str]]:
    """Register subscribers and their subscriptions."""
    chance = random.Random(1)
    owners, listeners = [f"s{n}" for n in range(SUBSCRIBERS)], [f"all{n}" for n in range(everybody)]
    with httpx.Client(base_url=address, timeout=300) as http:
        for id in owners:
            http.put(f"/v1/subscribers/{id}").raise_for_status()
            boxes = [{"v": 1, "text": box(chance), "id": str(n)} for n in range(subscriptions // SUBSCRIBERS)]
            http.post(f"/v1/subscribers/{id}/subscriptions", json=boxes).raise_for_status()
        for id in listeners:
            http.put(f"/v1/subscribers/{id}").raise_for_status()
            wanted = {"v": 1, "text": "{everybody exists}"}
            http.put(f"/v1/subscribers/{id}/subscriptions/s", json=wanted).raise_for_status()
        http.post("/v1/match", json={"event": reading(chance)}).raise_for_status()  # compiles what is compiled
    return owners, listeners


def recovery(folder: Path, queued: int, recipients: int) -> dict[str, float]:
    """Seconds until a broker with that many queued deliveries is ready, each row for so many recipients."""
    import likewise as lw
    from likewise.broker.broker import Broker
    from likewise.broker.log.deliveries import Delivery, insert
    from likewise.broker.log.packed_sets import NONE
    from likewise.broker.log.registry_tables import number_deliveries

    data = folder / f"queued-{recipients}"
    with Broker(data) as broker:
        tenant = broker.tenant("default")
        numbers = [broker.register(tenant, f"s{n}", limit=queued).number for n in range(max(recipients, SUBSCRIBERS))]
        [receipt] = broker.publish(tenant, [lw.event({"x": 1})])
        broker.wait_until_matched()
        rows = queued // recipients

        def fill(tables: Any) -> None:
            chosen = (numbers if recipients > 1 else [numbers[n % len(numbers)]] for n in range(rows))
            given = (np.array(own[:recipients]) for own in chosen)
            insert(tables, tenant.number, (Delivery(n, receipt.position, 0, to, NONE) for n, to in enumerate(given, 1)))
            number_deliveries(tables, tenant.number, rows)

        broker.store.commit(fill)
    begun = time.perf_counter()
    with Broker(data) as broker:
        took = time.perf_counter() - begun
        waiting = sum(len(queue) for queue in broker.tenant("default").subscribers.values())
        assert waiting == rows * recipients, waiting
    return {"queued": waiting, "rows": rows, "seconds": took}


def sync_latency(folder: Path, times: int = 200) -> list[float]:
    """Seconds one sync of this disk takes after a page was appended: what no durable answer comes before."""
    took = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(times):
            file.write(bytes(4096))
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - begun)
    return took


def cpu_seconds(pid: int) -> float:
    """Processor time a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Megabytes a process has in memory."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def quantiles(took: list[float]) -> dict[str, float]:
    """Median and 99th percentile in milliseconds."""
    found = sorted(took)
    return {
        "p50_ms": 1e3 * found[len(found) // 2],
        "p99_ms": 1e3 * found[int(len(found) * 0.99)],
        "count": len(found),
    }


def measure(seconds: float, subscriptions: int, queued: int, everybody: int, runs: int) -> dict[str, Any]:
    """Every figure, yardsticks in the same run."""
    chance = random.Random(2)
    bodies = {
        size: [
            json.dumps([reading(chance) for _ in range(size)] if size > 1 else reading(chance)).encode()
            for _ in range(50)
        ]
        for size in (1, 50, 500)
    }
    found: dict[str, Any] = {"subscriptions": subscriptions, "subscribers": SUBSCRIBERS}
    found["load_before"] = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="likewise-bench-") as name:
        folder = Path(name)
        found["sync"] = quantiles(sync_latency(folder))
        raw = [json.dumps(reading(chance)).encode() for _ in range(500)]
        found["bare_sqlite_rows_s"] = {size: rows_a_second(folder, raw, size, seconds / 2) for size in (1, 50, 500)}
        with process("benchmarks.yardsticks.empty_endpoint") as (address, _):
            asyncio.run(publishes(address, bodies[1], 1, 0.5, CONNECTIONS))
            found["empty_endpoint_s"] = asyncio.run(publishes(address, bodies[1], 1, seconds, CONNECTIONS))
            found["empty_endpoint_latency"] = quantiles(asyncio.run(request_latency(address, bodies[1][0], seconds)))
        with process("likewise", "serve", "--data", str(folder / "data"), "--port", "0", "--json") as (address, pid):
            prepare(address, subscriptions, 0)
            found["memory_mb"] = {"ready": memory(pid)}
            asyncio.run(publishes(address, bodies[1], 1, 0.5, CONNECTIONS))
            found["publishes_s"], found["publish_cpu_us"] = {}, {}
            for size in (1, 50, 500):
                used, begun = cpu_seconds(pid), time.perf_counter()
                rate = asyncio.run(publishes(address, bodies[size], size, seconds, CONNECTIONS if size == 1 else 4))
                found["publishes_s"][size] = rate
                events = rate * (time.perf_counter() - begun)
                found["publish_cpu_us"][size] = (cpu_seconds(pid) - used) / events * 1e6
            found["memory_mb"]["after_publishing"] = memory(pid)
            with httpx.Client(base_url=address, timeout=300) as http:
                begun = time.perf_counter()
                while http.get("/readyz").json()["behind"]:
                    time.sleep(0.05)
                found["seconds_to_catch_up"] = time.perf_counter() - begun
        # A fresh one: the latency of what is live, not of the queues filled above.
        with process("likewise", "serve", "--data", str(folder / "live"), "--port", "0", "--json") as (address, pid):
            owners, listeners = prepare(address, subscriptions, everybody)
            asyncio.run(delivery_latency(address, owners, 0.5))
            plain, stalled = [], []
            for _ in range(runs):
                plain.append(quantiles(asyncio.run(delivery_latency(address, owners, seconds))))
                stalled.append(quantiles(asyncio.run(delivery_latency(address, owners, seconds, stalled=owners[0]))))
            found["latency"] = {key: statistics.median(run[key] for run in plain) for key in plain[0]}
            found["latency_one_stalled"] = {key: statistics.median(run[key] for run in stalled) for key in stalled[0]}
            found["fan_out"] = {"subscribers": everybody, **quantiles(asyncio.run(fan_out(address, listeners)))}
            found["memory_mb"]["end"] = memory(pid)
        found["recovery"] = [recovery(folder, queued, recipients) for recipients in (100, 1)]
    found["load_after"] = os.getloadavg()[0]
    found["ratios"] = {
        "batches_of_500_to_bare_sqlite": found["publishes_s"][500] / found["bare_sqlite_rows_s"][500],
        "singles_to_empty_endpoint": found["publishes_s"][1] / found["empty_endpoint_s"],
        "latency_p99_to_empty_endpoint": found["latency"]["p99_ms"] / found["empty_endpoint_latency"]["p99_ms"],
        "latency_p99_with_one_stalled": found["latency_one_stalled"]["p99_ms"] / found["latency"]["p99_ms"],
        "recovery_seconds": max(each["seconds"] for each in found["recovery"]),
    }
    return found


def missed(ratios: dict[str, float], promised: dict[str, tuple[float, str]] = PROMISED) -> list[str]:
    """The promises that were not kept."""
    return [
        name
        for name, (bound, kind) in promised.items()
        if (ratios[name] < bound if kind == "least" else ratios[name] > bound)
    ]


def show(found: dict[str, Any]) -> None:
    """Print for people."""
    for name, value in found.items():
        if name != "ratios":
            print(f"{name:<24} {value if not isinstance(value, float) else f'{value:,.1f}'}")
    for name, value in found["ratios"].items():
        bound, kind = PROMISED[name]
        print(f"{name:<34} {value:8.3f}   (at {kind} {bound})")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=3.0, help="for each figure")
    arguments.add_argument("--subscriptions", type=int, default=1_000)
    arguments.add_argument("--queued", type=int, default=1_000_000)
    arguments.add_argument("--everybody", type=int, default=1_000, help="subscribers of the fan-out")
    arguments.add_argument("--runs", type=int, default=3, help="of the latencies; the median counts")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    result = measure(given.seconds, given.subscriptions, given.queued, given.everybody, given.runs)
    if given.json:
        print(json.dumps(result))
    else:
        show(result)
    sys.exit(bool(missed(result["ratios"])))

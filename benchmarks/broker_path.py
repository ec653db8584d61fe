"""The broker's path: processor time of an event from its JSON to stored deliveries, beside matching alone.

    python -m benchmarks.broker_path --json
    likewise bench broker_path -- --workload /tmp/w --events 10000

W1 (10,000 subscriptions, of which about 1,300 meet each event) and W2 (100,000 boxes, of which about 100 do), owned
by 100 subscribers. `alone` is JSON to an array of ids with the same subscriptions in one matcher, read into columns
and event by event; `broker` reads the same JSON in requests of 500, stores the events, matches them, stores the
deliveries and fills the queues, in this process, on a memory file system where there is one. Then a served broker in
a process of its own: events a second of its processor by single requests over 16 connections, by requests of 500, and
over WebSockets. Figures are CPU time of the broker's process, medians of the rounds, wall time beside them; ratios
are of one run. What is delivered is checked: as many matches as the matcher finds alone. The exit code is 1 if a
ratio misses what is promised. Without `--workload` (a folder as `benchmarks.exact` reads it) both workloads are made
here, from a seed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect

import likewise as lw
from benchmarks.broker import CONNECTIONS, cpu_seconds, missed, prepare, process, publishes, reading
from benchmarks.exact import read
from likewise.broker.broker import Broker
from likewise.broker.log.deliveries import read_between
from likewise.formats.json.events import event_from_json
from likewise.model import Condition, Predicate, Subscription
from likewise.server.media_types import MediaType, read_events

PROMISED = {
    "w1_broker_to_alone": (12.0, "most"),
    "w2_broker_to_alone": (3.0, "most"),
    "websocket_to_single": (5.0, "least"),
    "singles_to_empty_endpoint": (0.6, "least"),
    "singles_to_empty_endpoint_subscribed": (0.6, "least"),
}
SUBSCRIBERS = 100
TOGETHER = 500
TYPES = {"co": (0.5, 0.5), "o3": (50.0, 0.5), "no2": (30.0, 0.5), "pm": (20.0, 0.6)}  # median and spread
WEEK = (1_388_534_400, 1_389_139_200)
Asked = list[list[Any]]


def value(chance: random.Random, kind: str) -> float:
    middle, spread = TYPES[kind]
    return round(middle * math.exp(chance.gauss(0, spread)), 2)


def w1(chance: random.Random, subscriptions: int, events: int) -> tuple[list[Asked], list[dict[str, Any]]]:
    """Readings of an air-quality network, and conditions on one to three of their attributes."""

    def made() -> dict[str, Any]:
        kind = chance.choice(list(TYPES))
        return {
            "type": kind,
            "value": value(chance, kind),
            "lat": round(chance.uniform(47.32, 47.43), 5),
            "long": round(chance.uniform(8.45, 8.63), 5),
            "timestamp": chance.randrange(*WEEK),
            "station": f"ST{chance.randrange(30):02d}",
        }

    def asked() -> Asked:
        like = made()
        if chance.random() < 0.1:
            start = like["timestamp"]
            return [["timestamp", ">=", start], ["timestamp", "<=", start + int(3600 * 24 ** chance.random())]]
        names = chance.sample(list(like), chance.randint(1, 3))
        exact = ("type", "station")
        return [[n, "==" if n in exact else chance.choice(["<", "<=", "==", ">", ">="]), like[n]] for n in names]

    return [asked() for _ in range(subscriptions)], [made() for _ in range(events)]


def w2(chance: random.Random, subscriptions: int, events: int) -> tuple[list[Asked], list[dict[str, Any]]]:
    """Readings at places, and boxes with a threshold that about one event in a thousand meets."""

    def made() -> dict[str, Any]:
        found: dict[str, Any] = {
            "lat": round(chance.uniform(45.75, 45.85), 5),
            "long": round(chance.uniform(15.85, 16.10), 5),
            "timestamp": chance.randrange(*WEEK),
            "station": f"ST{chance.randrange(30):02d}",
        }
        kinds = [kind for kind in TYPES if chance.random() < 0.5] or [chance.choice(list(TYPES))]
        return found | {kind: value(chance, kind) for kind in kinds}

    def asked() -> Asked:
        share = 0.001 * math.exp(chance.gauss(-0.245, 0.7)) / 0.27  # the threshold below is met by half, if it is there
        side = min(1.0, math.sqrt(share))
        lat, long = 45.75 + chance.uniform(0, 1 - side) * 0.1, 15.85 + chance.uniform(0, 1 - side) * 0.25
        kind = chance.choice(list(TYPES))
        return [
            [kind, ">", TYPES[kind][0]],
            ["lat", ">=", round(lat, 5)],
            ["lat", "<=", round(lat + side * 0.1, 5)],
            ["long", ">=", round(long, 5)],
            ["long", "<=", round(long + side * 0.25, 5)],
        ]

    return [asked() for _ in range(subscriptions)], [made() for _ in range(events)]


def held(asked: list[Asked]) -> list[Subscription]:
    return [
        Subscription(Condition(tuple(Predicate(a, "=" if op == "==" else op, v) for a, op, v in each)), id=str(n))  # type: ignore[arg-type]
        for n, each in enumerate(asked)
    ]


def timed(run: Callable[[], object], count: int, rounds: int) -> dict[str, float]:
    """Median µs of CPU and of wall time for each of `count`, after a round that warms up."""
    run()
    cpu, wall = [], []
    for _ in range(rounds):
        used, begun = time.process_time(), time.perf_counter()
        run()
        cpu.append((time.process_time() - used) / count * 1e6)
        wall.append((time.perf_counter() - begun) / count * 1e6)
    return {"cpu_us": statistics.median(cpu), "wall_us": statistics.median(wall)}


def path(asked: list[Asked], events: list[dict[str, Any]], folder: Path, rounds: int) -> dict[str, Any]:
    """One workload: an event alone and through the broker."""
    subscriptions = held(asked)
    lines = [json.dumps(each, separators=(",", ":")).encode() for each in events]
    parts = [lines[n : n + TOGETHER] for n in range(0, len(lines), TOGETHER)]
    matcher = lw.Matcher()
    for each in subscriptions:
        matcher.add(each)
    matches = 0

    def alone() -> None:
        nonlocal matches
        matches = sum(len(matcher.match_batch(part).event_index) for part in parts)

    def one_by_one() -> None:
        for part in parts:
            matcher.match_batch([event_from_json(line) for line in part])

    found: dict[str, Any] = {"subscriptions": len(asked), "events": len(events)}
    found["alone"] = timed(alone, len(lines), rounds)
    found["alone_event_by_event"] = timed(one_by_one, len(lines), rounds)
    found["matches_an_event"] = matches / len(lines)
    bodies = [b"[" + b",".join(part) + b"]" for part in parts]
    with Broker(folder) as broker:
        tenant, kind = broker.tenant("default"), MediaType.parse(None)
        for n in range(SUBSCRIBERS):
            broker.register(tenant, f"s{n}")
            broker.subscribe(tenant, f"s{n}", subscriptions[n::SUBSCRIBERS])

        def through() -> None:
            for body in bodies:
                broker.publish(tenant, read_events(body, kind, broker.clock, len(lines)))
            broker.wait_until_matched(600)

        found["broker"] = timed(through, len(lines), rounds)
        with broker.store.reading() as tables:
            stored = read_between(tables, tenant.number, 0, tenant.stored_number, 2 * len(lines))
        counted = sum(len(d.matched) for d in stored if d.event <= stored[0].event + len(lines) - 1)
        assert counted == matches, (counted, matches)
    return found


async def streamed(address: str, bodies: list[bytes], size: int, seconds: float, connections: int) -> float:
    """Events a second over WebSockets, each connection with up to a thousand events under way."""
    count, end, begun = 0, time.perf_counter() + seconds, time.perf_counter()

    async def run(number: int) -> None:
        nonlocal count
        async with connect(address.replace("http", "ws") + "/v1/events/stream", compression=None) as stream:
            sent = answered = 0
            while time.perf_counter() < end or answered < sent:
                while sent - answered < 1_000 // size and time.perf_counter() < end:
                    await stream.send(bodies[(number + sent) % len(bodies)].decode())
                    sent += 1
                answered = json.loads(await stream.recv())["last"] if answered < sent else answered
            count += size * answered

    await asyncio.gather(*(run(7 * n) for n in range(connections)))
    return count / (time.perf_counter() - begun)


def served(folder: Path, seconds: float, rounds: int) -> dict[str, Any]:
    """Events a second, by the clock and by the broker's processor: single requests, requests of 500, WebSockets."""
    chance = random.Random(2)
    one = [json.dumps(reading(chance)).encode() for _ in range(500)]
    many = [json.dumps([reading(chance) for _ in range(size)]).encode() for size in (TOGETHER,) for _ in range(20)]
    framed = [json.dumps([reading(chance) for _ in range(100)]).encode() for _ in range(50)]
    found: dict[str, list[dict[str, float]]] = {}
    with (
        process("likewise", "serve", "--data", str(folder), "--port", "0", "--json") as (address, pid),
        httpx.Client(base_url=address, timeout=300) as http,
    ):
        ways: dict[str, Callable[[], Any]] = {
            "single": lambda: publishes(address, one, 1, seconds, CONNECTIONS),
            "requests_of_500": lambda: publishes(address, many, TOGETHER, seconds, 4),
            "websocket_single": lambda: streamed(address, one, 1, seconds, 4),
            "websocket_of_100": lambda: streamed(address, framed, 100, seconds, 4),
        }
        for number in range(rounds + 1):
            for name, way in ways.items():
                used, begun = cpu_seconds(pid), time.perf_counter()
                rate = asyncio.run(way())
                took = time.perf_counter() - begun
                while http.get("/readyz").json()["behind"]:
                    time.sleep(0.02)
                if number:  # the first round warms up
                    used = max(1e-9, cpu_seconds(pid) - used)
                    figures = {"events/s": rate, "events/cpu_s": rate * took / used}
                    found.setdefault(name, []).append(figures)
    return {
        name: {key: statistics.median(each[key] for each in runs) for key in runs[0]} for name, runs in found.items()
    }


def singles(folder: Path, seconds: float, rounds: int) -> dict[str, float]:
    """CPU µs of a single request over 16 connections, in turn: an empty endpoint, a broker, one with 1,000 boxes."""
    chance = random.Random(2)
    bodies = [json.dumps(reading(chance)).encode() for _ in range(500)]
    serve = ("likewise", "serve", "--port", "0", "--json", "--data")
    used: dict[str, list[float]] = {}
    with (
        process("benchmarks.yardsticks.empty_endpoint") as empty,
        process(*serve, str(folder / "plain")) as plain,
        process(*serve, str(folder / "subscribed")) as subscribed,
    ):
        prepare(subscribed[0], 1_000, 0)
        ways = {"empty_endpoint": empty, "broker": plain, "broker_subscribed": subscribed}
        for number in range(rounds + 1):
            for name, (address, pid) in ways.items():
                before, begun = cpu_seconds(pid), time.perf_counter()
                rate = asyncio.run(publishes(address, bodies, 1, seconds, CONNECTIONS))
                events = rate * (time.perf_counter() - begun)
                if number:  # the first round warms up
                    used.setdefault(name, []).append((cpu_seconds(pid) - before) / events * 1e6)
    return {name: statistics.median(each) for name, each in used.items()}


def measure(workload: Path | None, sizes: tuple[int, int], events: int, rounds: int, seconds: float, seed: int) -> Any:
    """Every figure."""
    found: dict[str, Any] = {"seed": seed, "load_before": os.getloadavg()[0], "rounds": rounds}
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="likewise-bench-", dir=place) as name:
        for key, make, size in (("w1", w1, sizes[0]), ("w2", w2, sizes[1])):
            asked, made = make(random.Random(seed), size, events) if workload is None else read(workload, key, size)
            found[key] = path(asked, made[:events], Path(name) / key, rounds)
        found["served"] = served(Path(name) / "served", seconds, rounds)
        found["singles_cpu_us"] = singles(Path(name), seconds, rounds)
    found["load_after"] = os.getloadavg()[0]
    single, alone = found["served"]["single"], found["singles_cpu_us"]
    found["ratios"] = {
        "w1_broker_to_alone": found["w1"]["broker"]["cpu_us"] / found["w1"]["alone_event_by_event"]["cpu_us"],
        "w2_broker_to_alone": found["w2"]["broker"]["cpu_us"] / found["w2"]["alone_event_by_event"]["cpu_us"],
        "w1_broker_to_alone_in_columns": found["w1"]["broker"]["cpu_us"] / found["w1"]["alone"]["cpu_us"],
        "w2_broker_to_alone_in_columns": found["w2"]["broker"]["cpu_us"] / found["w2"]["alone"]["cpu_us"],
        "websocket_to_single": found["served"]["websocket_of_100"]["events/cpu_s"] / single["events/cpu_s"],
        "websocket_single_to_single": found["served"]["websocket_single"]["events/cpu_s"] / single["events/cpu_s"],
        "singles_to_empty_endpoint": alone["empty_endpoint"] / max(1e-9, alone["broker"]),
        "singles_to_empty_endpoint_subscribed": alone["empty_endpoint"] / max(1e-9, alone["broker_subscribed"]),
    }
    return found


def show(found: dict[str, Any]) -> None:
    """Print for people."""
    for key in ("w1", "w2"):
        print(
            f"{key}: {found[key]['subscriptions']:,} subscriptions, {found[key]['matches_an_event']:,.1f} meet an event"
        )
        for name in ("alone", "alone_event_by_event", "broker"):
            print(f"  {name:<22}{found[key][name]['cpu_us']:9.1f} µs CPU {found[key][name]['wall_us']:9.1f} µs")
    for name, each in found["served"].items():
        print(f"{name:<24}{each['events/s']:12,.0f} events/s {each['events/cpu_s']:12,.0f} events a CPU second")
    for name, used in found["singles_cpu_us"].items():
        print(f"{name:<24}{used:12,.0f} µs CPU a single request")
    for name, ratio in found["ratios"].items():
        bound = PROMISED.get(name)
        print(f"{name:<34}{ratio:8.2f}" + (f"   (at {bound[1]} {bound[0]:g})" if bound else ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", type=Path, help="a folder with W1 and W2; without it they are made")
    parser.add_argument("--subscriptions", type=int, nargs=2, default=(10_000, 100_000), metavar=("W1", "W2"))
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure of a served broker")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sizes = tuple(given.subscriptions)
    if given.quick:
        sizes, given.events, given.rounds, given.seconds = (500, 1_000), 1_000, 1, 0.2
    found = measure(given.workload, sizes, given.events, given.rounds, given.seconds, given.seed)
    print(json.dumps(found)) if given.json else show(found)
    return int(bool(missed(found["ratios"], PROMISED)) and not given.quick)


if __name__ == "__main__":
    sys.exit(main())

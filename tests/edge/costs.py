"""What a broker at the edge costs: its memory, its filters, a fail-over, and what an edge costs the hub.

    python -m tests.edge.costs [--filters 500] [--edges 50] [--seed 1]

Prints JSON. The edge is a process of its own, with HTTP and MQTT, asked for by so many filters; the hub is one, too.
For the last part many edges dial one hub, each with a source of its own, and the hub's memory and CPU are compared
before and after. CPU times are the processes' own; the load of the machine is said.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect

from likewise.api import edge_frames as wire
from tests.edge.kills import PATIENCE, Process, again
from tests.edge.relay import Relay


def cpu_of(process: Process) -> float:
    """The seconds of CPU that a process has used."""
    said = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")


def await_filters(hub: httpx.Client, edge: str, count: int) -> None:
    """Wait until an edge goes by so many filters."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = {each["id"]: each for each in again(lambda: hub.get("/v1/edges")).json()}.get(edge, {})
        if found.get("filters", 0) >= count and found.get("demand"):
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.25)


def memory_and_filters(folder: Path, filters: int, events: int, seed: int) -> dict[str, Any]:
    """An edge asked for by many filters: its memory, and what an event costs it."""
    chance = random.Random(seed)
    hub = Process("hub", ["serve", "--data", str(folder / "hub"), "--profile", "small"], folder)
    hub.start()
    mqtt = ["--mqtt", "0"]
    edge = Process(
        "edge", ["edge", "--upstream", hub.address, "--data", str(folder / "edge"), "--id", "roof", *mqtt], folder
    )
    edge.start()
    try:
        with httpx.Client(base_url=hub.address, timeout=60) as up, httpx.Client(base_url=edge.address) as down:
            again(lambda: down.post("/v1/events", json=[_event(n) for n in range(20)]))
            again(lambda: up.put("/v1/subscribers/ann", json={}))
            wanted = [
                {"v": 1, "id": f"s{n}", "text": f"{{{chance.choice('abcde')} = {n}, t > {chance.randrange(900, 990)}}}"}
                for n in range(filters)
            ]
            assert again(lambda: up.post("/v1/subscribers/ann/subscriptions", json=wanted)).status_code == 201
            await_filters(up, "roof", filters)
            before = edge.memory
            begun = cpu_of(edge)
            for first in range(20, events, 50):
                batch = [_event(n) for n in range(first, first + 50)]
                assert again(lambda: down.post("/v1/events", json=batch)).status_code == 200  # noqa: B023
            deadline = time.monotonic() + PATIENCE
            while (found := again(lambda: up.get("/v1/edges")).json()[0])["passed_over"] < events - 20:
                assert time.monotonic() < deadline, found
                time.sleep(0.25)
            used = cpu_of(edge) - begun
            return {
                "filters": filters,
                "memory_kb": edge.memory,
                "memory_before_events_kb": before,
                "events": events,
                "passed_over": found["passed_over"],
                "cpu_us_an_event": round(used / events * 1e6),
                "hub_memory_kb": hub.memory,
            }
    finally:
        for each in (edge, hub):
            each.leave_none()


def _event(number: int) -> dict[str, Any]:
    payload = {"a": number % 7, "b": number % 11, "c": number % 13, "d": number % 17, "e": number % 19}
    return {"v": 1, "payload": {**payload, "t": number * 7919 % 900}, "id": f"e{number}", "source": f"s{number % 5}"}


def fail_over(folder: Path, interval: float) -> dict[str, Any]:
    """One of two addresses falls silent: after how many intervals events come by the other."""
    hub = Process("hub", ["serve", "--data", str(folder / "hub"), "--profile", "small"], folder)
    hub.environment["LIKEWISE_EDGES_INTERVAL"] = str(interval)
    hub.start()
    one, other = Relay(hub.port), Relay(hub.port)
    upstream = f"{one.address},{other.address}"
    edge = Process("edge", ["edge", "--upstream", upstream, "--data", str(folder / "edge"), "--id", "roof"], folder)
    edge.start()
    try:
        with httpx.Client(base_url=hub.address, timeout=60) as up:
            deadline = time.monotonic() + PATIENCE
            while not any(each["state"] == "connected" for each in again(lambda: up.get("/v1/edges")).json()):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            before = other.messages["up hello"]
            one.hold()  # it stays open, and passes nothing on
            begun = time.monotonic()
            while other.messages["down welcome"] <= before:
                assert time.monotonic() < begun + PATIENCE
                time.sleep(0.01)
            took = time.monotonic() - begun
        return {"interval": interval, "seconds": round(took, 2), "intervals": round(took / interval, 2)}
    finally:
        for each in (edge, hub):
            each.leave_none()


def many_edges(folder: Path, edges: int, events: int) -> dict[str, Any]:
    """Many edges at one hub: what each costs it, idle and with events."""
    hub = Process("hub", ["serve", "--data", str(folder / "hub"), "--profile", "small"], folder)
    hub.environment["LIKEWISE_EDGES_INTERVAL"] = "10"
    hub.start()
    try:
        with httpx.Client(base_url=hub.address, timeout=60) as up:
            again(lambda: up.put("/v1/subscribers/ann", json={}))
            wanted = [{"v": 1, "id": f"s{n}", "text": f"{{t > {n}}}"} for n in range(100)]
            again(lambda: up.post("/v1/subscribers/ann/subscriptions", json=wanted))
            before = hub.memory
            found = asyncio.run(_dial(hub, edges, events))
        return {
            "edges": edges,
            "hub_memory_before_kb": before,
            **found,
            "memory_kb_an_edge": round((found["hub_memory_kb"] - before) / edges),
        }
    finally:
        hub.leave_none()


async def _dial(hub: Process, edges: int, events: int) -> dict[str, Any]:
    """Speak the protocol for many edges in one process: an edge each would not fit this machine."""
    lines = []
    begun = cpu_of(hub)
    for number in range(edges):
        line = await connect(f"ws://127.0.0.1:{hub.port}/v1/edges/e{number}", compression=None, max_size=2**24)
        await line.send(wire.encode_frame(wire.HelloFrame(id=f"e{number}", epoch="x")).decode())
        welcome = wire.decode_hub_frame(await line.recv())
        assert isinstance(welcome, wire.HelloAckFrame)
        words = {"type": "vocabulary", "source": f"e{number}", "attributes": [{"name": "t", "kind": "number"}]}
        await line.send(json.dumps(words))
        await line.send(wire.encode_frame(wire.SubscribeFrame(wanted=(), whole=True)).decode())
        while not isinstance(said := wire.decode_hub_frame(await line.recv()), wire.DemandFrame):
            pass
        await line.send(wire.encode_frame(wire.DemandAckFrame(version=said.version)).decode())
        lines.append(line)
    dialled, memory = cpu_of(hub) - begun, hub.memory
    begun, waited = cpu_of(hub), time.monotonic()
    await asyncio.sleep(8)
    idle = (cpu_of(hub) - begun) / (time.monotonic() - waited)
    begun = cpu_of(hub)
    await asyncio.gather(*(_send(line, number, events) for number, line in enumerate(lines)))
    used = cpu_of(hub) - begun
    for line in lines:
        await line.close()
    return {
        "cpu_ms_to_dial": round(1000 * dialled / edges, 1),
        "hub_memory_kb": memory,
        "idle_cpu_ms_a_second_an_edge": round(1000 * idle / edges, 2),
        "events": edges * events,
        "cpu_us_an_event": round(used / (edges * events) * 1e6),
    }


async def _send(line: Any, number: int, events: int) -> None:
    for first in range(1, events, 20):
        items = [
            [n, {"v": 1, "payload": {"t": n % 200}, "id": f"{number}.{n}", "source": f"e{number}"}]
            for n in range(first, first + 20)
        ]
        await line.send(json.dumps({"type": "events", "items": items}))
        while not isinstance(wire.decode_hub_frame(await line.recv()), wire.EventsAckFrame):
            pass


def main() -> int:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--filters", type=int, default=500)
    parser.add_argument("--edges", type=int, default=50)
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("memory", "fail-over", "edges"))
    said = parser.parse_args()
    found: dict[str, Any] = {}
    for name in ("memory", "fail-over", "edges"):
        if said.only in (None, name):
            with tempfile.TemporaryDirectory(prefix="likewise-edge-") as made:
                folder = Path(made)
                if name == "memory":
                    found[name] = memory_and_filters(folder, said.filters, said.events, said.seed)
                elif name == "fail-over":
                    found[name] = fail_over(folder, 2.0)
                else:
                    found[name] = many_edges(folder, said.edges, 200)
    print(json.dumps({**found, "load": os.getloadavg()}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

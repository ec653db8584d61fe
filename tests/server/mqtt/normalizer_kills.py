"""A normaliser between two Mosquittos, all of them killed again and again: nothing that was acknowledged is lost.

    python -m tests.server.mqtt.normalizer_kills --kills 60 [--seed 1]

A device publishes numbers with QoS 1 to the first Mosquitto. That one and the normaliser are killed (SIGKILL), the
second Mosquitto is stopped (SIGTERM, so that it keeps what it acknowledged), at random moments under load. A relay
knows which messages the normaliser acknowledged. Each of them is published under its common name at least once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from likewise.errors import LikewiseError
from likewise.server.mqtt.client import BrokerAddress, MqttClient
from likewise.server.mqtt.codec import FilterRequest
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.publisher import MqttPublisher
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.wiretap import Wiretap

PATIENCE = 300.0  # seconds that anything may take


class Normalizing:
    """`likewise normalize`, across kills."""

    def __init__(self, data: Path, bridge: str, to: str) -> None:
        self._command = [sys.executable, "-m", "likewise", "normalize", "--data", str(data), "--port", "0", "--json"]
        self._command += ["--bridge", bridge, "--to", f"{to}/norm/{{source}}/{{name}}"]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"the normaliser did not start; it ended with {self._process.wait()}")

    def end(self, how: signal.Signals) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(how)
        self._process.wait(120)
        self._process.stdout.close()


def publish_until(stop: threading.Event, url: str) -> None:
    """A device that sends what was not acknowledged again."""
    number = 0
    while not stop.is_set():
        try:
            with MqttPublisher(url) as out:
                while not stop.is_set():
                    body = json.dumps({"illuminance": number}).encode()
                    out.publish([MqttPublication(f"device/{number % 7}", body, "application/json", qos=1)])
                    number += 1
                    time.sleep(0.02)
        except LikewiseError:
            time.sleep(0.1)


async def collect(stop: threading.Event, port: int, found: Counter[int]) -> None:
    """What is published under the common name, over stops of that Mosquitto: a session that it keeps."""

    def take(packet: Any) -> asyncio.Future[None]:
        found[int(json.loads(packet.payload)["value"])] += 1
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    while not stop.is_set():
        client = MqttClient("collector", session_expiry=3_600, on_message=take)
        try:
            await client.connect(BrokerAddress("127.0.0.1", port))
            await client.subscribe([FilterRequest("norm/+/illuminance", 1)])
            while not stop.is_set() and not client.closed.done():
                await asyncio.sleep(0.05)
            await client.close()
        except OSError:
            await asyncio.sleep(0.1)


def run(kills: int, seed: int, folder: Path) -> dict[str, int]:
    """Kill so often, and compare."""
    chance = random.Random(seed)
    mosquittos = []
    for name in ("in", "out"):
        (folder / name).mkdir(parents=True)
        mosquittos.append(Mosquitto(folder / name))
        mosquittos[-1].start()
    first, second = mosquittos
    tap = Wiretap(first.port)
    normalizing = Normalizing(folder / "data", f"mqtt://127.0.0.1:{tap.port}/#", second.url)
    normalizing.start()
    stop, done = threading.Event(), threading.Event()
    found: Counter[int] = Counter()
    device = threading.Thread(target=publish_until, args=(stop, first.url), daemon=True)
    collecting = threading.Thread(target=lambda: asyncio.run(collect(done, second.port, found)), daemon=True)
    collecting.start()
    device.start()
    killed: Counter[str] = Counter()
    while killed.total() < kills:
        _await_more(tap)
        time.sleep(chance.uniform(0, 0.4))
        which = chance.choice(("normalizer", "normalizer", "first", "second"))
        if which == "normalizer":
            normalizing.end(signal.SIGKILL)
            normalizing.start()
        elif which == "first":
            first.stop(signal.SIGKILL)
            first.start()
        else:
            second.stop(signal.SIGTERM)
            time.sleep(chance.uniform(0, 1))
            second.start()
        killed[which] += 1
        print(f"{killed.total()} of {kills} kills, {tap.acknowledged.total():,} acknowledged", file=sys.stderr)
    stop.set()
    device.join(PATIENCE)
    before = (-1, -1)
    while before != (before := (tap.acknowledged.total(), found.total())):
        print(f"draining: {before[0]:,} acknowledged, {before[1]:,} published", file=sys.stderr)
        time.sleep(5)
    done.set()
    collecting.join(PATIENCE)
    normalizing.end(signal.SIGTERM)
    for each in mosquittos:
        each.stop()
    tap.close()
    acknowledged = {int(json.loads(body)["illuminance"]) for body in tap.acknowledged}
    return {
        **{f"kills of {name}": number for name, number in sorted(killed.items())},
        "acknowledged": len(acknowledged),
        "published": found.total(),
        "repeated": sum(times > 1 for times in found.values()),
        "lost": len(acknowledged - set(found)),
    }


def _await_more(tap: Wiretap) -> None:
    before, deadline = tap.acknowledged.total(), time.monotonic() + PATIENCE
    while tap.acknowledged.total() < before + 20:
        if time.monotonic() > deadline:
            raise RuntimeError("the normaliser acknowledges nothing any more")
        time.sleep(0.01)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--kills", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    said = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="likewise-normalizer-kills-") as name:
        ended = run(said.kills, said.seed, Path(name))
    for label, number in ended.items():
        print(f"{label:22} {number:>10,}")
    sys.exit(1 if ended["lost"] else 0)


if __name__ == "__main__":
    main()

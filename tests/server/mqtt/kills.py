"""A broker with its bridge and a Mosquitto, killed again and again: nothing that was acknowledged is lost.

    python -m tests.server.mqtt.kills --kills 100 [--seed 1] [--json]

A device publishes with QoS 1. Broker and Mosquitto are killed (SIGKILL) at random moments, alone or together, and
started again. A relay between them reads along (`wiretap`): it knows which messages the bridge acknowledged, without
asking it. At the end every acknowledged message stands in the log; one that says its id stands there once; one that
does not, stands there at most as often as Mosquitto sent it. What Mosquitto acknowledged to the device and lost itself,
when it was killed, is counted and is its own.
"""

from __future__ import annotations

import argparse
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
from typing import NamedTuple

from likewise.broker.log.writer import Store
from likewise.errors import LikewiseError
from likewise.model import Event
from likewise.server.mqtt.messages import MqttPublication
from likewise.server.mqtt.publisher import MqttPublisher
from tests.server.mqtt.conftest import Mosquitto
from tests.server.mqtt.wiretap import Wiretap

PATIENCE = 300.0  # seconds that anything may take


class Ended(NamedTuple):
    """How it went. `given` counts what Mosquitto took from the device, `repeated` what stands more than once."""

    broker_kills: int
    mosquitto_kills: int
    given: int
    acknowledged: int
    stored: int
    lost: int
    doubled: int
    repeated: int
    lost_by_mosquitto: int
    seconds: float


class Bridged:
    """`likewise serve` with a bridge, across kills."""

    def __init__(self, data: Path, url: str) -> None:
        self._command = [
            sys.executable,
            "-m",
            "likewise",
            "serve",
            "--data",
            str(data),
            "--port",
            "0",
            "--json",
            "--mqtt-bridge",
            url,
            "--keep",
            "forever",
            "--profile",
            "small",
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"the broker did not start; it ended with {self._process.wait()}")

    def end(self, how: signal.Signals) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(how)
        self._process.wait(120)
        self._process.stdout.close()


def publish_until(stop: threading.Event, url: str, given: list[bytes]) -> None:
    """A device that sends what was not acknowledged again; every second message says its id."""
    number = 0
    while not stop.is_set():
        try:
            with MqttPublisher(url) as out:
                while not stop.is_set():
                    body = json.dumps({"n": number, "temperature": number % 40}).encode()
                    named = (("id", f"m{number}"),) if number % 2 else ()
                    out.publish([MqttPublication(f"device/{number % 7}", body, "application/json", named, qos=1)])
                    given.append(body)
                    number += 1
                    time.sleep(0.002)
        except LikewiseError:
            time.sleep(0.1)


def kept(data: Path) -> Counter[int]:
    """How often each message stands in the log, by its number."""
    store = Store(data, clock=lambda: 0)
    try:
        values = (entry.value for entry in store.entries(0, store.position))
        return Counter(
            int(each.value)
            for event in values
            if isinstance(event, Event)
            for each in event.tuples
            if each.attribute == "n"
        )
    finally:
        store.close()


def run(kills: int, seed: int, folder: Path) -> Ended:
    """Kill so often, and compare."""
    chance, begun = random.Random(seed), time.monotonic()
    (folder / "mosquitto").mkdir(parents=True)
    mosquitto = Mosquitto(folder / "mosquitto")
    mosquitto.start()
    tap = Wiretap(mosquitto.port)
    bridged = Bridged(folder / "data", f"mqtt://127.0.0.1:{tap.port}/#")
    bridged.start()
    stop, given = threading.Event(), []  # type: tuple[threading.Event, list[bytes]]
    device = threading.Thread(target=publish_until, args=(stop, mosquitto.url, given), daemon=True)
    device.start()
    done = Counter({"broker": 0, "mosquitto": 0})
    while done.total() < kills:
        _await_more(tap)
        time.sleep(chance.uniform(0, 0.4))
        which = chance.choice((("broker",), ("mosquitto",), ("broker", "mosquitto"), ("mosquitto", "broker")))
        for name in which:
            bridged.end(signal.SIGKILL) if name == "broker" else mosquitto.stop(signal.SIGKILL)
            done[name] += 1
        for name in reversed(which):
            bridged.start() if name == "broker" else mosquitto.start()
        if done.total() % 10 < len(which):
            print(
                f"{done.total()} of {kills} kills: {len(given):,} given, {tap.acknowledged.total():,} acknowledged",
                file=sys.stderr,
                flush=True,
            )
    stop.set()
    device.join(PATIENCE)
    before = -1
    while before != (before := tap.acknowledged.total()):  # nothing more comes
        time.sleep(5)
    bridged.end(signal.SIGTERM)
    mosquitto.stop()
    tap.close()
    found = kept(folder / "data")
    acknowledged = {int(json.loads(body)["n"]) for body in tap.acknowledged}
    sent = Counter({int(json.loads(body)["n"]): times for body, times in tap.sent.items()})
    named = [n for n in found if n % 2]
    return Ended(
        done["broker"],
        done["mosquitto"],
        len(given),
        len(acknowledged),
        found.total(),
        lost=len(acknowledged - set(found)),
        doubled=sum(found[n] > 1 for n in named) + sum(times > sent[n] for n, times in found.items()),
        repeated=sum(times > 1 for times in found.values()),
        lost_by_mosquitto=len({int(json.loads(body)["n"]) for body in given} - set(sent)),
        seconds=round(time.monotonic() - begun, 1),
    )


def _await_more(tap: Wiretap) -> None:
    """Let something be acknowledged first, so that kills fall into work."""
    before, deadline = tap.acknowledged.total(), time.monotonic() + PATIENCE
    while tap.acknowledged.total() < before + 5:
        if time.monotonic() > deadline:
            raise RuntimeError("the bridge acknowledges nothing any more")
        time.sleep(0.01)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--json", action="store_true")
    said = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="likewise-mqtt-kills-") as name:
        ended = run(said.kills, said.seed, Path(name))
    if said.json:
        print(json.dumps(ended._asdict()))
    else:
        for name, value in ended._asdict().items():
            print(f"{name.replace('_', ' '):20} {value:>10,}")
    sys.exit(1 if ended.lost or ended.doubled else 0)


if __name__ == "__main__":
    main()

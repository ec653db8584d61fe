"""A broker with targets, killed again and again while receivers fail: every match at least once, once by its id.

    python -m tests.server.sinks.kills --kills 100 --folder kills [--seed 1] [--alerts] [--json]

A broker of its own process is published to, and killed with SIGKILL at random moments. One webhook answers as badly as
receivers do (5xx, 429, stalls, broken connections, lost answers, 404), one answers well, one never answers; where there
is a Mosquitto, a target publishes there, and it is stopped and started, too. At the end dead letters are tried again,
and what each receiver took is compared with what publishers were told is kept: nothing is missing, nothing has two ids,
no id stands for two events, and what came without a detour through the dead letters came in order. FOLDER keeps
everything, so that a run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.server.mqtt.conftest import Mosquitto, find_mosquitto
from tests.server.sinks.receiver import Received, Receiver, receiving

SUBSCRIPTION = "{no2 > 40}"
ALERT = "{no2 > 40} per n once until false"  # every event has a key of its own: said once, whatever is killed
LONG = 600.0  # seconds that anything may take


class Journal:
    """Lines of a file that survive the run that wrote them."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self.lines: list[list[Any]] = []
        if path.exists():
            self.lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("]")]
        self._file = path.open("a")

    def add(self, *said: Any) -> None:
        with self._lock:
            self.lines.append(list(said))
            self._file.write(json.dumps(said) + "\n")
            self._file.flush()

    def close(self) -> None:
        self._file.close()


class BrokerProcess:
    """`likewise serve` on one port, across kills."""

    def __init__(self, data: Path, profile: str = "small") -> None:
        self._profile = profile
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        self.address = f"http://127.0.0.1:{self._port}"
        self._data = data
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        said = ["serve", "--data", str(self._data), "--port", str(self._port), "--profile", self._profile, "--json"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "likewise", *said, "--allow-target", "127.0.0.0/8"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"the broker did not start; it ended with {self._process.wait()}")

    def end(self, how: signal.Signals) -> None:
        """End it, if it runs."""
        if self._process is None:
            return
        assert self._process.stdout is not None
        self._process.send_signal(how)
        self._process.wait(timeout=120)
        self._process.stdout.close()
        self._process = None


class Run:
    """One run over a folder."""

    def __init__(self, folder: Path, seed: int, subscription: str = SUBSCRIPTION, *, mqtt: bool = True) -> None:
        self._subscription = subscription
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.published = Journal(folder / "published.jsonl")
        self.received = Journal(folder / "received.jsonl")
        self.kills = Journal(folder / "kills.jsonl")
        self._chance = random.Random(f"{seed} {len(self.kills.lines)}")
        self._broker = BrokerProcess(folder / "data", "small" if subscription == SUBSCRIPTION else "full")
        self._ending = threading.Event()
        self._stack = ExitStack()
        self._healthy = False
        self._mosquitto: Mosquitto | None = None
        if mqtt and find_mosquitto()[0] is not None:
            (folder / "mosquitto").mkdir(exist_ok=True)
            self._mosquitto = Mosquitto(folder / "mosquitto")

    def go(self, kills: int) -> dict[str, Any]:
        """Kill so many times in all, then compare."""
        begun = time.monotonic()
        with self._stack:
            for journal in (self.published, self.received, self.kills):
                self._stack.callback(journal.close)
            bad, good, silent = (self._receiver(name) for name in ("bad", "good", "silent"))
            bad.usual, silent.usual = self._answer, "stall"
            if self._mosquitto is not None:
                self._mosquitto.start()
                self._stack.callback(self._mosquitto.stop)
                self._read_topic()
            self._stack.callback(self._broker.end, signal.SIGKILL)
            self._broker.start()
            self._set({"bad": bad, "good": good, "silent": silent})
            publishing = threading.Thread(target=self._publish, daemon=True)
            publishing.start()
            while len(self.kills.lines) < kills:
                before = len(self.published.lines)
                self._wait(lambda n=before: len(self.published.lines) > n)  # type: ignore[misc]
                time.sleep(self._chance.uniform(0.3, 2.0))
                if self._mosquitto is not None and self._chance.random() < 0.2:
                    self._mosquitto.stop()
                    self._mosquitto.start()
                self._broker.end(signal.SIGKILL)
                self.kills.add(len(self.kills.lines) + 1)
                self._broker.start()
            self._ending.set()
            publishing.join(LONG)
            self._healthy = True
            silent.usual = 200
            silent.free.set()
            self._drain()
            self._broker.end(signal.SIGTERM)
        return self._compared() | {"seconds": round(time.monotonic() - begun, 1)}

    def _receiver(self, name: str) -> Receiver:
        receiver = self._stack.enter_context(receiving())

        def take(got: Received) -> None:
            self.received.add(name, got.headers["webhook-id"], msgspec.json.decode(got.body)["event"]["id"])

        receiver.on_accepted = take
        return receiver

    def _answer(self) -> Any:
        """What the bad receiver does next."""
        if self._healthy:
            return 200
        ways: list[Any] = [500, 503, (429, {"retry-after": "0"}), "reset", "lose", "stall", 404, 200]
        return self._chance.choices(ways, [2, 2, 2, 2, 4, 1, 1, 30])[0]

    def _read_topic(self) -> None:
        """Somebody who reads at Mosquitto, with a session that it keeps."""
        import asyncio

        import gmqtt

        mosquitto = self._mosquitto
        assert mosquitto is not None
        subscribed = threading.Event()

        def take(_: Any, topic: str, payload: bytes, qos: int, said: dict[str, Any]) -> int:
            self.received.add("mqtt", dict(said["user_property"])["id"], msgspec.json.decode(payload)["id"])
            return 0

        async def read() -> None:
            client = gmqtt.Client("reader", clean_session=False, session_expiry_interval=100_000)
            client.set_config({"reconnect_delay": 0.1, "reconnect_retries": -1})
            client.on_message = take
            client.on_subscribe = lambda *_: subscribed.set()
            client.on_connect = lambda *_: client.subscribe("matches/#", qos=1)
            await client.connect("127.0.0.1", mosquitto.port)
            while not finished.is_set():
                await asyncio.sleep(0.1)
            await client.disconnect()

        finished = threading.Event()
        reading = threading.Thread(target=lambda: asyncio.run(read()), daemon=True)
        reading.start()
        self._stack.callback(reading.join, 60)
        self._stack.callback(finished.set)
        assert subscribed.wait(LONG)

    def _set(self, receivers: dict[str, Receiver]) -> None:
        with httpx.Client(base_url=self._broker.address, timeout=LONG) as http:
            said = {"policy": "drop-oldest", "limit": 1}
            http.put("/v1/subscribers/ann", json=said).raise_for_status()
            for name, receiver in receivers.items():
                wanted = {"kind": "webhook", "url": receiver.url, "timeout": 2, "patience": 86_400}
                http.put(self._path(name), json=wanted).raise_for_status()
            if self._mosquitto is not None:
                mqtt = {"kind": "mqtt", "url": self._mosquitto.url, "topic": "matches/{{@subscription}}", "timeout": 5}
                http.put(self._path("mqtt"), json=mqtt).raise_for_status()
            if not http.get("/v1/subscribers/ann/subscriptions/bad").is_success:
                body = {"v": 1, "text": self._subscription, "id": "bad"}
                http.post("/v1/subscribers/ann/subscriptions", json=body).raise_for_status()

    def _path(self, name: str, rest: str = "") -> str:
        return f"/v1/subscribers/ann/subscriptions/bad/targets/{name}{rest}"

    def _publish(self) -> None:
        """Publish one after another; an event is published again until somebody says that it is kept."""
        number = len(self.published.lines)
        with httpx.Client(base_url=self._broker.address, timeout=30) as http:
            while not self._ending.is_set():
                event = {"v": 1, "id": f"e{number}", "source": "/roof", "payload": {"no2": 50, "n": number}}
                try:
                    answer = http.post("/v1/events", json=event)
                except httpx.TransportError:
                    time.sleep(0.05)
                    continue
                if answer.is_success:
                    self.published.add(event["id"])
                    number += 1
                time.sleep(0.01)

    def _drain(self) -> None:
        """Wait until nothing waits; then try what is dead again until nothing is."""
        with httpx.Client(base_url=self._broker.address, timeout=LONG) as http:
            for shown in self._until(http, lambda state: not state.get("waiting")):
                http.post(self._path(shown["id"], "/retry")).raise_for_status()
            self._until(http, lambda state: not state.get("dead"))
        self._wait(lambda: self._mosquitto is None or len(self._taken("mqtt")) >= len(self.published.lines))

    def _until(self, http: httpx.Client, holds: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []

        def all_hold() -> bool:
            found[:] = http.get("/v1/targets").json()
            return bool(found) and all(holds(each["state"]) for each in found)

        self._wait(all_hold)
        return found

    def _wait(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LONG
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError("it never came to be")
            time.sleep(0.2)

    def _taken(self, receiver: str) -> dict[str, str]:
        """What a receiver has that looks at the ids: each id's event, in the order of the first time."""
        found: dict[str, str] = {}
        for name, id, event in list(self.received.lines):
            if name == receiver and found.setdefault(id, event) != event:
                raise AssertionError(f"the id {id} stands for {found[id]} and {event} at {receiver}")
        return found

    def _compared(self) -> dict[str, Any]:
        """Hold what was taken against what was said to be kept."""
        kept = [event for (event,) in self.published.lines]
        told: dict[str, Any] = {"kills": len(self.kills.lines), "published": len(kept), "receivers": {}}
        for name in ("bad", "good", "silent", *(["mqtt"] if self._mosquitto is not None else [])):
            taken = self._taken(name)
            events = list(taken.values())
            missing = set(kept) - set(events)
            if missing:
                raise AssertionError(f"{name} never got {sorted(missing)[:10]}, {len(missing)} in all")
            if len(set(events)) != len(events):
                raise AssertionError(f"an event has two ids at {name}")
            if name != "bad" and events != sorted(events, key=lambda event: int(event[1:])):
                raise AssertionError(f"matches came out of order at {name}")
            came = sum(1 for each, _, _ in self.received.lines if each == name)
            told["receivers"][name] = {"matches": len(events), "came": came, "again": came - len(events)}
        return told


def main() -> None:
    """Run, and say what came of it."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--kills", type=int, default=100)
    asked.add_argument("--folder", type=Path, required=True)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--alerts", action="store_true", help="the subscription is an alert, with a state to keep")
    asked.add_argument("--json", action="store_true")
    said = asked.parse_args()
    found = Run(said.folder, said.seed, ALERT if said.alerts else SUBSCRIPTION).go(said.kills)
    if said.json:
        print(json.dumps(found))
        return
    print(f"{found['kills']} kills, {found['published']} events kept, {found['seconds']} s; none lost, each once by id")
    for name, counts in found["receivers"].items():
        print(f"  {name}: {counts['matches']} matches, {counts['again']} of them came again")


if __name__ == "__main__":
    main()

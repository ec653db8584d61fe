"""Kill a broker under load, start it again, and see that nothing was lost or doubled.

    python -m tests.broker.chaos --kills 1000

A publisher notes what was acknowledged; a subscriber keeps its cursor and notes what it got. The broker is
killed (SIGKILL) at random moments. At the end every acknowledged event must have been delivered exactly
once, in the order of the log. Ctrl-C ends it early, and looks all the same.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import stamina

from likewise.client import Subscriber
from likewise.errors import LikewiseError


class ServedProcess:
    """A broker in a process of its own, on one port across restarts."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "likewise", "serve", "--data", str(self._data), "--port", str(self._port), "--json"],
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the broker did not start; it ended with {self._process.wait()}")
        self._port = int(msgspec.json.decode(line)["listening"].rpartition(":")[2])

    def kill(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


def publish_until(stop: threading.Event, served: ServedProcess, acknowledged: list[str], source: str) -> None:
    """Publish, sending again what was not acknowledged, under the same ids."""
    number = 0
    batch: list[dict[str, Any]] = []
    with httpx.Client(timeout=10) as http:
        while not stop.is_set():
            if not batch:
                size = random.choice((1, 1, 1, 20))
                batch = [{"v": 1, "payload": {"x": number + n}, "id": f"{source}{number + n}"} for n in range(size)]
            try:
                answer = http.post(f"{served.address}/v1/events", json=batch)
            except httpx.HTTPError:
                time.sleep(0.02)
                continue
            if answer.status_code == 200:
                acknowledged += [event["id"] for event in batch]
                number += len(batch)
                batch = []
            else:
                time.sleep(0.02)
            time.sleep(0.002)


def receive_until(stop: threading.Event, served: ServedProcess, got: list[tuple[int, str]]) -> None:
    """Stream with a cursor, acknowledging now and then, connecting again when the broker is gone."""
    while not stop.is_set():
        try:
            with Subscriber("watcher", served.address, cursor=got[-1][0] if got else 0, patience=1.0) as inbox:
                for delivery in inbox:
                    got.append((delivery.sequence, str(delivery.event.id)))
                    if random.random() < 0.1:
                        inbox.acknowledge(delivery)
                    if stop.is_set():
                        return
        except (OSError, LikewiseError):
            time.sleep(0.02)


def await_more(got: list[tuple[int, str]], seconds: float = 15.0) -> None:
    """Let a broker live until something more was received, so that kills fall into streams that are under way, too."""
    before, deadline = len(got), time.monotonic() + seconds
    while len(got) == before and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(random.uniform(0, 0.05))


def run(
    kills: int,
    seed: int = 0,
    *,
    seconds: float = 0.7,
    tell: Callable[[str], None] = lambda line: None,
    enough: threading.Event | None = None,
) -> dict[str, float]:
    """Kill that many times, or until it is enough; what was published and received.

    Raises if anything was lost or doubled.
    """
    enough = enough or threading.Event()
    number = 0
    random.seed(seed)
    begun, longest = time.monotonic(), 0.0
    with tempfile.TemporaryDirectory(prefix="likewise-chaos-") as folder:
        served = ServedProcess(Path(folder) / "data")
        served.start()
        httpx.put(f"{served.address}/v1/subscribers/watcher", timeout=120)
        text = {"v": 1, "text": "{x >= 0}", "id": "all"}
        httpx.put(
            f"{served.address}/v1/subscribers/watcher/subscriptions/all", json=text, timeout=120
        ).raise_for_status()
        stop, ended = threading.Event(), threading.Event()
        acknowledged: list[list[str]] = [[], []]
        got: list[tuple[int, str]] = []
        publishers = [
            threading.Thread(target=publish_until, args=(stop, served, acknowledged[n], f"p{n}-")) for n in range(2)
        ]
        receiver = threading.Thread(target=receive_until, args=(ended, served, got), daemon=True)
        for thread in (*publishers, receiver):
            thread.start()
        try:
            for number in range(1, kills + 1):
                time.sleep(random.uniform(0.05, seconds))
                if number % 4 == 0:
                    await_more(got)
                served.kill()
                down = time.monotonic()
                served.start()
                longest = max(longest, time.monotonic() - down)
                if number % 10 == 0 or number == kills:
                    count = sum(map(len, acknowledged))
                    rate = 60 * number / (time.monotonic() - begun)
                    said = f"{count:,} acknowledged, {len(got):,} received"
                    tell(f"{number:,} of {kills:,} kills ({rate:.0f} a minute): {said}")
                if enough.is_set():
                    break
        finally:
            time.sleep(0.3)
            stop.set()
            for thread in publishers:
                thread.join(timeout=30)
        try:
            wanted = {id for each in acknowledged for id in each}
            seen, deadline = 0, time.monotonic() + 60
            while time.monotonic() < deadline and not wanted <= {id for _, id in list(got)}:
                if len(got) > seen:  # it is behind, but it comes
                    seen, deadline = len(got), time.monotonic() + 60
                time.sleep(0.2)
        finally:
            ended.set()
            served.kill()
    check(acknowledged, got)
    return {
        "kills": number,
        "acknowledged": len(wanted),
        "received": len(got),
        "lost": 0,
        "doubled": 0,
        "longest_start_seconds": round(longest, 2),
        "seconds": round(time.monotonic() - begun, 1),
    }


def check(acknowledged: list[list[str]], got: list[tuple[int, str]]) -> None:
    """Nothing acknowledged is lost, nothing came twice, everything came in the order of its publisher."""
    ids = [id for _, id in got]
    numbers = [number for number, _ in got]
    missing = {id for each in acknowledged for id in each} - set(ids)
    assert not missing, f"{len(missing)} acknowledged events were lost, such as {sorted(missing)[:5]}"
    assert len(ids) == len(set(ids)), f"{len(ids) - len(set(ids))} events came twice"
    assert numbers == sorted(set(numbers)), "sequence numbers did not ascend"
    for n in range(2):
        own = [int(id.rpartition("-")[2]) for id in ids if id.startswith(f"p{n}-")]
        assert own == sorted(own), "events of one publisher came out of order"


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kills", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    stamina.instrumentation.set_on_retry_hooks([])  # it is the broker's absence that is wanted
    over = threading.Event()
    for wanted in (signal.SIGINT, signal.SIGTERM):  # ends it after this kill, and looks at what was received so far
        signal.signal(wanted, lambda *_: over.set())
    found = run(given.kills, given.seed, tell=lambda line: print(line, flush=True), enough=over)
    print(", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in found.items()))

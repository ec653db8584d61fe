"""Let a broker run under steady load, and see that memory, files and latency stay flat.

    python -m tests.broker.soak --minutes 30

Publishers send at a steady rate; subscribers stream and acknowledge: exact, relaxed, top-k by count and by time, and
one that is ended and made again. What is over goes after a minute, so that the store can come to rest. Now and then the
broker's memory, its open files, the bytes of its folder and the time from publisher to subscriber are noted. The first
third is for coming to rest; the last third must be as the second was. Ctrl-C ends it early, and looks all the same.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import msgspec
import stamina

from likewise.client import Subscriber
from likewise.errors import LikewiseError
from tests.broker.chaos import prepare, reading, toggle_until
from tests.broker.served import ServedProcess

KEPT_SECONDS = 60
ALLOWED = {"megabytes": 1.1, "files": 1.2, "stored_megabytes": 1.25, "p50": 2.0, "p99": 3.0}  # last third to second


class Sample(msgspec.Struct, frozen=True):
    """How the broker is at a moment, and what was received since the one before."""

    seconds: float
    megabytes: float
    files: int
    stored_megabytes: float
    received: int
    p50: float
    p99: float


class Found(msgspec.Struct, frozen=True):
    """What a soak found: the second third and the last one, and what grew more than it may."""

    minutes: float
    published: int
    received: int
    second: dict[str, float]
    last: dict[str, float]
    grew: list[str]


def publish_until(stop: threading.Event, served: ServedProcess, sent: list[int], rate: float, source: str) -> None:
    """Publish single events at a rate, each with the moment it was sent."""
    chance, due = random.Random(source), time.monotonic()
    with httpx.Client(base_url=served.address, timeout=60) as http:
        while not stop.is_set():
            said = reading(chance, sent[0]) | {"sent": time.monotonic()}
            http.post("/v1/events", json={"v": 1, "payload": said, "id": f"{source}{sent[0]}"}).raise_for_status()
            sent[0] += 1
            due = max(due + 1 / rate, time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))


def receive_until(stop: threading.Event, served: ServedProcess, name: str, took: list[float]) -> None:
    """Stream and acknowledge; how long each arrival was under way."""
    while not stop.is_set():
        try:
            with Subscriber(name, served.address, patience=1.0) as inbox:
                for count, delivery in enumerate(inbox):
                    if delivery.cause == "arrival":
                        said = {each.attribute: each.value for each in delivery.event.tuples}
                        took.append(time.monotonic() - float(str(said["sent"])))
                    if count % 20 == 0:
                        inbox.acknowledge(delivery)
                    if stop.is_set():
                        return
        except (OSError, LikewiseError):
            time.sleep(0.1)


def sample(served: ServedProcess, data: Path, begun: float, took: list[float]) -> Sample:
    """Look at the broker now, and start counting anew."""
    new, took[:] = sorted(took), []
    process = Path(f"/proc/{served.pid}")
    memory = next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS:"))
    size = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    p50, p99 = (new[len(new) * part // 100] * 1e3 for part in (50, 99)) if new else (0.0, 0.0)
    return Sample(
        round(time.monotonic() - begun, 1),
        int(memory.split()[1]) / 1024,
        len(list((process / "fd").iterdir())),
        size / 2**20,
        len(new),
        p50,
        p99,
    )


def third(samples: Sequence[Sample]) -> dict[str, float]:
    """The medians of some samples."""
    return {name: round(statistics.median(getattr(each, name) for each in samples), 1) for name in ALLOWED}


def run(minutes: float, rate: float, folder: Path, tell: Callable[[str], None], over: threading.Event) -> Found:
    """Run for so long; what was found."""
    data = folder / "data"
    served = ServedProcess(data, folder / "clock", keep_seconds=KEPT_SECONDS)
    served.start()
    samples: list[Sample] = []
    sent, begun, ended, took = [0], time.monotonic(), threading.Event(), list[float]()
    try:
        prepare(served)
        threads = [
            threading.Thread(target=publish_until, args=(ended, served, sent, rate, "s")),
            threading.Thread(target=toggle_until, args=(ended, served)),
            threading.Thread(target=receive_until, args=(ended, served, "watcher", took), daemon=True),
            threading.Thread(target=receive_until, args=(ended, served, "toggler", []), daemon=True),
        ]
        for thread in threads:
            thread.start()
        pause = max(2.0, min(30.0, minutes * 60 / 30))
        while time.monotonic() - begun < minutes * 60 and not over.wait(pause):
            samples.append(sample(served, data, begun, took))
            tell(msgspec.json.encode(samples[-1]).decode())
        ended.set()
        for thread in threads[:2]:
            thread.join(timeout=120)
    finally:
        ended.set()
        code = served.stop()
    assert code == 0, f"the broker ended with {code}"
    part = len(samples) // 3
    assert part, "it was ended before there was anything to compare"
    second, last = third(samples[part : 2 * part]), third(samples[2 * part :])
    grew = [name for name, times in ALLOWED.items() if last[name] > times * max(second[name], 1.0)]
    received = sum(each.received for each in samples)
    return Found(round((time.monotonic() - begun) / 60, 1), sent[0], received, second, last, grew)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=30.0)
    arguments.add_argument("--rate", type=float, default=50.0, help="events a second")
    arguments.add_argument("--folder", type=Path, help="where the broker keeps its data; a new one by default")
    given = arguments.parse_args()
    stamina.instrumentation.set_on_retry_hooks([])
    told = threading.Event()
    for wanted in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wanted, lambda *_: told.set())
    place = given.folder or Path(tempfile.mkdtemp(prefix="likewise-soak-"))
    place.mkdir(parents=True, exist_ok=True)
    found = run(given.minutes, given.rate, place, lambda line: print(line, flush=True), told)
    if given.folder is None:
        shutil.rmtree(place, ignore_errors=True)
    print(msgspec.json.format(msgspec.json.encode(found)).decode())
    sys.exit(bool(found.grew))

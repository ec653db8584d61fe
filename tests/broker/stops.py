"""Stop a broker under load, again and again: no error in its log, exit code 0, windows saved, nothing lost.

    python -m tests.broker.stops --stops 100 --folder stops

Publishers and a subscriber keep a real `likewise serve` busy, with windows over time (`top k within time`); it gets
SIGTERM or SIGINT at a random moment. Some stops come while it starts, some while it compiles its kernels for the first
time. With a folder, what was done is kept: the same command goes on where an earlier one was ended. Ctrl-C ends it and
says what was found so far. The exit code is 1 if a stop broke a promise.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Literal

import httpx
import msgspec

from likewise.cli.terminal.compiling import WORDS

Kind = Literal["load", "starting", "compiling"]
PATIENCE = 60.0  # seconds after which a broker that does not stop is killed, which breaks a promise
WINDOWS = (
    "{no2 exists} top 3 within 1 min by value(no2)",
    "{no2 > 20} top 5 within 2 s by value(no2)",
    "{no2 exists, city = Zagreb} top 2 within 10 min by value(no2)",
)


class Stop(msgspec.Struct):
    """One stop: how it was stopped and what came of it."""

    number: int
    kind: Kind
    signal: str
    seconds: float = 0.0
    published: int = 0
    broken: list[str] = []


class Found(msgspec.Struct):
    """What all stops led to."""

    stops: int
    broken: int
    published: int
    kinds: dict[str, int]
    median_seconds: float
    longest_seconds: float


def serve(data: Path, log: Path, caches: Path | None) -> subprocess.Popen[bytes]:
    """A broker on a folder, logging into a file; with `caches` it finds no compiled kernels."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": str(caches)} if caches is not None else {})}
    with log.open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "likewise", "serve", "--data", str(data), "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            start_new_session=True,  # Ctrl-C is for us
        )


def address_of(broker: subprocess.Popen[bytes]) -> str:
    """Where a broker listens, once it does."""
    assert broker.stdout is not None
    line = broker.stdout.readline()
    if not line:
        raise RuntimeError(f"the broker did not start; it ended with {broker.wait()}")
    return str(msgspec.json.decode(line)["listening"])


def hears(broker: subprocess.Popen[bytes]) -> bool:
    """Whether a process has taken SIGTERM for itself; before that nothing of ours runs in it."""
    try:
        status = Path(f"/proc/{broker.pid}/status").read_text()
    except OSError:
        return False
    caught = next((line for line in status.splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


class Load:
    """Publishers, and a subscriber that reads and acknowledges; `published` counts what was acknowledged."""

    def __init__(self, address: str, first: int) -> None:
        self.published: list[str] = []
        self._address = address
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._publish, args=(f"{first}-{n}", size)) for n, size in enumerate((1, 1, 40))
        ]
        self._threads.append(threading.Thread(target=self._read))

    def start(self) -> None:
        with httpx.Client(base_url=self._address, timeout=120) as http:
            http.put("/v1/subscribers/ann").raise_for_status()
            for n, text in enumerate((*WINDOWS, "{no2 exists}")):
                wanted = {"v": 1, "text": text}
                http.put(f"/v1/subscribers/ann/subscriptions/w{n}", json=wanted).raise_for_status()
            http.post("/v1/events", json={"no2": 1, "city": "Zagreb"}).raise_for_status()
            while http.get("/readyz").raise_for_status().json()["behind"]:  # kernels are loaded, or compiled, by now
                time.sleep(0.05)
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _publish(self, name: str, size: int) -> None:
        number = 0
        with httpx.Client(base_url=self._address, timeout=PATIENCE) as http:
            while not self._stop.is_set():
                batch = [
                    {"v": 1, "payload": {"no2": random.randrange(90), "city": "Zagreb"}, "id": f"{name}-{number + n}"}
                    for n in range(size)
                ]
                try:
                    answer = http.post("/v1/events", json=batch)
                except httpx.HTTPError:  # it is stopping: what was not answered was not acknowledged
                    return
                if answer.status_code != 200:
                    return
                self.published += [str(event["id"]) for event in batch]
                number += size

    def _read(self) -> None:
        with httpx.Client(base_url=self._address, timeout=PATIENCE) as http:
            while not self._stop.wait(0.05):
                try:
                    found = http.get("/v1/subscribers/ann/deliveries", params={"limit": 100})
                    if found.status_code != 200:
                        return
                    page = found.json()["deliveries"]
                    if page:
                        last = {"sequence": page[-1]["sequence"]}
                        http.post("/v1/subscribers/ann/acknowledgements", json=last)
                except httpx.HTTPError:
                    return


def one_stop(root: Path, number: int, kind: Kind, chance: random.Random) -> Stop:
    """Start, stop, look."""
    told = chance.choice([signal.SIGTERM, signal.SIGTERM, signal.SIGINT])
    found = Stop(number, kind, told.name, broken=[])
    data, log = root / ("compiling" if kind == "compiling" else "data"), root / "log"
    caches = root / "caches" if kind == "compiling" else None
    for folder in (root / "caches", root / "compiling"):
        shutil.rmtree(folder, ignore_errors=True)
    broker = serve(data, log, caches)
    load: Load | None = None
    try:
        if kind == "load":
            load = Load(address_of(broker), number)
            load.start()
        else:
            while broker.poll() is None and not (hears(broker) and (kind == "starting" or WORDS in _read(log))):
                time.sleep(0.005)
        time.sleep(chance.uniform(0.3, 3.0) if kind == "load" else chance.uniform(0.0, 2.0))
        begun = time.monotonic()
        broker.send_signal(told)
        try:
            code = broker.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            broker.kill()
            code = broker.wait()
        found.seconds = time.monotonic() - begun
    finally:
        if broker.poll() is None:
            broker.kill()
            broker.wait()
        if load is not None:
            load.end()
        assert broker.stdout is not None
        broker.stdout.close()
    if code != 0:
        found.broken.append(f"exit code {code}")
    for line in _read(log).splitlines():
        if line.strip() != WORDS and _level(line) not in ("debug", "info"):
            found.broken.append(f"in the log: {line[:300]}")
    if load is not None:
        found.published = len(load.published)
        found.broken += looked_at(data, load.published)
    return found


def _read(log: Path) -> str:
    return log.read_text(errors="replace")


def _level(line: str) -> str | None:
    """The level of a line of the log; None if it is no such line, as those of a traceback are not."""
    try:
        return str(msgspec.json.decode(line)["level"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return None


def looked_at(data: Path, published: list[str]) -> list[str]:
    """What a stopped broker left behind that it should not have."""
    broken = []
    connection = sqlite3.connect(data / "broker.db")
    try:
        [(start,)] = connection.execute("SELECT windows_from FROM tenants WHERE name = 'default'").fetchall()
        [(matched, end)] = connection.execute(
            "SELECT f.position, (SELECT max(position) FROM log l WHERE l.tenant = f.tenant) FROM followers f "
            "JOIN tenants t ON t.number = f.tenant WHERE f.follower = 'matching' AND t.name = 'default'"
        ).fetchall()
        stored = {id for (id,) in connection.execute("SELECT id FROM log WHERE kind = 0")}
    finally:
        connection.close()
    if start != matched + 1 or not (data / "windows" / f"1-{matched}").is_dir():
        broken.append(f"windows are saved as of {start} - 1, and matching had come to {matched} of {end}")
    lost = [id for id in published if id not in stored]
    if lost:
        broken.append(f"{len(lost)} acknowledged events are lost, such as {lost[0]}")
    return broken


def run(stops: int, root: Path, seed: int, seconds: float = 3600.0) -> list[Stop]:
    """Stop a broker so often, within a time; those of an earlier run in the same folder count."""
    kept, deadline = root / "stops.jsonl", time.monotonic() + seconds
    root.mkdir(parents=True, exist_ok=True)
    done = [msgspec.json.decode(line, type=Stop) for line in kept.read_bytes().splitlines()] if kept.exists() else []
    try:
        for number in range(len(done), stops):
            if time.monotonic() > deadline:
                break
            chance = random.Random(f"{seed}-{number}")
            kind: Kind = "compiling" if number % 25 == 24 else "starting" if number % 5 == 3 else "load"
            done.append(one_stop(root, number, kind, chance))
            with kept.open("ab") as out:
                out.write(msgspec.json.encode(done[-1]) + b"\n")
            if sys.stderr.isatty() or done[-1].broken:
                print(
                    f"stop {number + 1} of {stops} ({kind}): {done[-1].broken or 'well'}", file=sys.stderr, flush=True
                )
    except KeyboardInterrupt:
        print("ended early", file=sys.stderr)
    return done


def summed(done: list[Stop]) -> Found:
    """What all of them led to."""
    took = sorted(stop.seconds for stop in done) or [0.0]
    kinds = {kind: sum(stop.kind == kind for stop in done) for kind in ("load", "starting", "compiling")}
    return Found(
        len(done),
        sum(bool(stop.broken) for stop in done),
        sum(stop.published for stop in done),
        kinds,
        round(took[len(took) // 2], 2),
        round(took[-1], 2),
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--stops", type=int, default=100)
    arguments.add_argument("--seconds", type=float, default=3600.0, help="at most")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--folder", type=Path, help="where to keep what was done; a new one by default")
    given = arguments.parse_args()
    place = given.folder or Path(tempfile.mkdtemp(prefix="likewise-stops-"))
    every = run(given.stops, place, given.seed, given.seconds)
    print(msgspec.json.format(msgspec.json.encode(summed(every))).decode())
    for each in every:
        for what in each.broken:
            print(f"stop {each.number} ({each.kind}, {each.signal}): {what}")
    if given.folder is None:
        shutil.rmtree(place, ignore_errors=True)
    sys.exit(any(stop.broken for stop in every) or len(every) < given.stops)

"""Let the clock of a broker step under load, again and again, with kills in between: nothing unread is removed.

    python -m tests.broker.clock_steps --steps 20

Events are kept for an hour. Two publishers note what was acknowledged, one subscriber reads everything at once, another
reads nothing until the end. The clock steps by hours, a month and years, ahead and back, stays wrong for less or more
than it takes to be believed (which takes two seconds here, not a minute), and the broker is killed and started with it.
At the end the clock is right, and the silent subscriber must get every acknowledged event once, in order.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from likewise.broker.admin import verify_store
from tests.broker.chaos import Kept, publish_until
from tests.broker.served import YEARS, ServedProcess

HOUR = 3_600 * 1_000_000
STEPS = (2 * HOUR, 30 * 24 * HOUR, YEARS)
STANDING = 2.0  # seconds after which a step is believed here
PAGE = 1_000


class Ended(NamedTuple):
    """How it went."""

    steps: int
    at_start: int
    kills: int
    acknowledged: int
    lost: int
    doubled: int
    troubles_seen: int
    seconds: float


def run(steps: int, seed: int = 0) -> Ended:
    """Step the clock so many times; raises if anything that was acknowledged is not delivered once."""
    with tempfile.TemporaryDirectory(prefix="likewise-clock-") as folder:
        return _run(steps, random.Random(seed), Path(folder))


def _run(steps: int, chance: random.Random, place: Path) -> Ended:
    begun, kept = time.monotonic(), Kept(place / "kept")
    served = ServedProcess(place / "data", place / "clock", keep_seconds=3_600, standing=STANDING)
    served.start()
    stop = threading.Event()
    at_start = kills = troubles = 0
    try:
        for name in ("silent", "reader"):
            _sent("PUT", served, f"/v1/subscribers/{name}", {"policy": "dead-letter", "limit": 1_000_000})
            _sent("PUT", served, f"/v1/subscribers/{name}/subscriptions/all", {"v": 1, "text": "{x >= 0}"})
        work = [
            threading.Thread(target=publish_until, args=(stop, served, kept, f"p{n}-"), daemon=True) for n in (0, 1)
        ]
        work.append(threading.Thread(target=_read_until, args=(stop, served), daemon=True))
        for thread in work:
            thread.start()
        for _ in range(steps):
            by = chance.choice((1, -1)) * chance.choice(STEPS)
            if chance.random() < 0.5:
                served.kill()
                kills += 1
                at_start += 1
                served.set_clock(by)
                served.start()
            else:
                served.set_clock(by)
            time.sleep(chance.choice((0.5, 3 * STANDING)))
            troubles += bool(_sent("GET", served, "/readyz")["troubles"])
            if chance.random() < 0.3:
                served.kill()
                kills += 1
                served.start()
            if chance.random() < 0.7:
                served.set_clock(0)
            time.sleep(chance.choice((0.5, 2 * STANDING)))
        served.set_clock(0)
        stop.set()
        for thread in work:
            thread.join(timeout=120)
        found = _everything(served)
    finally:
        stop.set()
        served.stop()
    verify_store(place / "data")
    lost, doubled = set(kept.acknowledged) - set(found), len(found) - len(set(found))
    assert not lost, f"{len(lost)} of {len(kept.acknowledged)} acknowledged events are lost: {sorted(lost)[:5]}"
    assert not doubled, f"{doubled} deliveries came twice"
    return Ended(steps, at_start, kills, len(kept.acknowledged), 0, 0, troubles, round(time.monotonic() - begun, 1))


def _sent(method: str, served: ServedProcess, path: str, body: object = None) -> Any:
    for _ in range(600):
        try:
            answer = httpx.request(method, served.address + path, json=body, timeout=60)
        except httpx.HTTPError:
            time.sleep(0.1)
            continue
        if answer.status_code in (429, 503):
            time.sleep(0.1)
            continue
        answer.raise_for_status()
        return answer.json() if answer.content else None
    raise AssertionError(f"{path} was not answered")


def _page(served: ServedProcess, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _sent("GET", served, f"/v1/subscribers/{name}/deliveries?limit={PAGE}")["deliveries"]
    if found:
        said = {"sequence": found[-1]["sequence"]}
        _sent("POST", served, f"/v1/subscribers/{name}/acknowledgements", said)
    return found


def _read_until(stop: threading.Event, served: ServedProcess) -> None:
    while not stop.is_set():
        if not _page(served, "reader"):
            stop.wait(0.2)


def _everything(served: ServedProcess) -> list[str]:
    """All that waits for the silent subscriber, once matching has come to the end."""
    while _sent("GET", served, "/readyz")["behind"]:
        time.sleep(0.1)
    found: list[str] = []
    while page := _page(served, "silent"):
        found += [each["event"]["id"] for each in page]
    return found


def main() -> None:
    """Run as a command."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--steps", type=int, default=20)
    given.add_argument("--seed", type=int, default=0)
    said = given.parse_args()
    print(run(said.steps, said.seed))


if __name__ == "__main__":
    main()

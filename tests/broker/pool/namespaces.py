"""Workers in another network namespace: lines that are cut and slow, workers that are killed, deliveries as with one.

It needs root and iproute2: `python -m tests.broker.pool.namespaces --events 100000 --cuts 20 --kills 10`. A broker in
one namespace, four workers in another, a pair of veth devices between them. Cuts last 0.5, 4 or 20 s, so that the
line sometimes only stalls and sometimes breaks; slow lines carry 1 Mbit/s and lose what waits for more than 0.4 s,
the others carry 50 Mbit/s. Every story is told to a broker in one process, too, and what both deliver is compared.
What alerts say at different moments of one step of time may come in another order than with one process, as it does
with workers of the same machine: that is counted.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from likewise.broker.maintenance import housekeeping
from tests.broker.pool.interleavings import Architecture, Teller, compare, kill_one, settle, want_workers
from tests.broker.pool.machines import listener_of, listening, machine
from tests.broker.pool.stories import LONG

HERE, THERE = "likewise-a", "likewise-b"
ADDRESS = "10.77.41.1"
ARCHITECTURES: tuple[Architecture, ...] = ("replicated", "hierarchical", "partitioned")


def ip(*words: str) -> None:
    """Change the network."""
    subprocess.run(["ip", *words], check=True, timeout=30)


def shape(rate: str) -> None:
    """Let the line be so slow, both ways; what is too much waits, then is lost."""
    for name, device in ((HERE, "veth-a"), (THERE, "veth-b")):
        bucket = ("tbf", "rate", rate, "burst", "32k", "latency", "400ms")
        subprocess.run(["tc", "-n", name, "qdisc", "replace", "dev", device, "root", *bucket], check=True, timeout=30)


@contextmanager
def two_namespaces() -> Iterator[None]:
    """Two namespaces with a line between them."""
    ip("netns", "add", HERE)
    try:
        ip("netns", "add", THERE)
        ip("link", "add", "veth-a", "netns", HERE, "type", "veth", "peer", "name", "veth-b", "netns", THERE)
        for name, device, address in ((HERE, "veth-a", ADDRESS), (THERE, "veth-b", "10.77.41.2")):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            ip("-n", name, "link", "set", device, "up")
            ip("-n", name, "link", "set", "lo", "up")
        shape("50mbit")
        yield
    finally:
        for name in (HERE, THERE):
            subprocess.run(["ip", "netns", "del", name], check=False, timeout=30)


class Compared(msgspec.Struct):
    """What has been compared so far."""

    stories: int = 0
    events: int = 0
    cuts: int = 0
    slow: int = 0
    kills: int = 0
    splits: int = 0
    merges: int = 0
    deaths: int = 0
    reordered: int = 0  # stories with the same deliveries, of which some that time brought about are in another order


def cut_for(seconds: float) -> None:
    """Cut the line, and mend it after a while, whatever goes on meanwhile."""
    ip("-n", THERE, "link", "set", "veth-b", "down")
    threading.Timer(seconds, lambda: ip("-n", THERE, "link", "set", "veth-b", "up")).start()


def tell(seed: int, length: int, folder: Path, done: Compared, often: float) -> list[str]:
    """Tell one story; what differs."""
    offered: list[object] = []
    heard: list[Teller] = []
    mended = 0.0

    def disturb(dice: random.Random, teller: Teller) -> None:
        nonlocal mended
        if not heard:
            heard.append(teller)
            within = ("ip", "netns", "exec", THERE)
            there = machine(folder, listener_of(teller).address[1], processes=4, within=within, host=ADDRESS)
            offered.extend((there, there.__enter__()))
        chance = dice.random()
        if chance < 2 * often and time.monotonic() > mended:
            seconds = dice.choice((0.5, 4.0, 20.0))
            mended = time.monotonic() + seconds + 3.0
            cut_for(seconds)
            done.cuts += 1
        elif chance < 3 * often:
            time.sleep(dice.random() * 0.05)
            done.kills += kill_one(dice, teller)
        elif chance < 4 * often:
            slow = dice.random() < 0.5
            shape("1mbit" if slow else "50mbit")
            done.slow += slow
        elif chance < 5 * often:
            want_workers(teller, dice.randint(1, 3))
            if dice.random() < 0.3:
                settle(teller)

    try:
        architecture = ARCHITECTURES[seed % len(ARCHITECTURES)]
        config = listening(folder, architecture, host=ADDRESS, names=f"IP:{ADDRESS}")
        events, differ = compare(seed, length, config, disturb=disturb, batches=LONG)
    finally:
        if offered:
            offered[0].__exit__(None, None, None)  # type: ignore[attr-defined]
    pool = heard[0].broker.topology
    assert pool is not None
    done.stories, done.events = done.stories + 1, done.events + events
    done.splits, done.merges = done.splits + pool.splits, done.merges + pool.merges
    done.deaths += pool.pool.failover.deaths
    return differ


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--events", type=int, default=100_000)
    asked.add_argument("--cuts", type=int, default=20)
    asked.add_argument("--kills", type=int, default=10)
    asked.add_argument("--length", type=int, default=12_000, help="events of a story, at least")
    asked.add_argument("--often", type=float, default=0.02, help="chance of a kill at each step; of a cut twice that")
    asked.add_argument("--first", type=int, default=0, help="the number of the first story")
    asked.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    said = asked.parse_args()
    if not said.inside:
        with two_namespaces():
            command = ["ip", "netns", "exec", HERE, sys.executable, "-m", "tests.broker.pool.namespaces"]
            raise SystemExit(subprocess.run([*command, *sys.argv[1:], "--inside"], check=False).returncode)
    vars(housekeeping).update(TICK_SECONDS=1e9, SWEEP_SECONDS=1e9)  # time passes by the story alone
    done, seed = Compared(), said.first
    while done.events < said.events or done.cuts < said.cuts or done.kills < said.kills:
        with tempfile.TemporaryDirectory(prefix="likewise-namespaces-") as folder:
            differ = tell(seed, said.length, Path(folder), done, said.often)
        if differ and all("sayings stand in another order" in each for each in differ):
            done.reordered, differ = done.reordered + 1, []
        if differ:
            raise SystemExit(f"story {seed}: " + "\n".join(differ[:20]))
        seed += 1
        print(msgspec.json.encode(done).decode(), f"load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()

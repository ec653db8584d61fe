"""Matching by workers: the source's experiment (CUPUS, Figures 25 to 27), larger sizes, and a load that comes and goes.

    python -m benchmarks.elastic --json
    likewise bench elastic -- --sizes 1000 10000 --publications 10000 --matchers 15
    likewise bench elastic -- --part stage --subscriptions 100000 --events 2000
    likewise bench elastic -- --part broker --subscriptions 100000
    likewise bench elastic -- --part load --seconds 60

`figures`: W1, so many subscriptions and publications; µs of the processor a publication with one matcher, with N
partitioned ones (the slowest counts), and overall wall time with the coordinator. `stage`: the matching stage, from the
log's bytes to packed recipient sets: processor time of the slowest worker against one, replicated and partitioned, on
W1 and W2; and memory, with what is shared. `broker`: events a second of wall time through a whole broker in memory.
`load`: a rate that rises and falls, with workers that come and go beside latency. `--plots DIR` draws figures and load.

Worker time is CPU time and bears a busy machine; wall time does not, so the load is said beside everything.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.broker_path import held, w1, w2
from likewise.broker.broker import Broker
from likewise.broker.config import Config, Matching, WorkerLimits
from likewise.broker.workers.crew import Crew, Share
from likewise.broker.workers.messages import EventSent, Match, NewSubscription, Told, Usage
from likewise.broker.workers.process import Ticket
from likewise.broker.workers.spreading import deal
from likewise.formats.json.batches import read_each
from likewise.language import parse
from likewise.model import Subscription

STRETCH = 250
AHEAD = 3
OWNERS = 100
MAKE = {"w1": w1, "w2": w2}


class Stage:
    """Workers that hold subscriptions, and are sent stretches of events."""

    def __init__(self, subscriptions: list[Subscription], workers: int, architecture: str) -> None:
        self.crew = Crew(Told(None, None, None, "full", None, 64 * 2**20, 0, 0))
        self.replicated = architecture == "replicated"
        new = [NewSubscription(n, n % OWNERS, 0, each) for n, each in enumerate(subscriptions, 1)]
        staff = [self.crew.start() for _ in range(workers)]
        parts = [new] if self.replicated else deal(new, workers)
        self.shares = []
        tickets: list[Ticket] = []
        for place, part in enumerate(parts):
            share = Share(1)
            share.held = {each.number: each for each in part}
            tickets += self.crew.place(share, staff if self.replicated else [staff[place]])
            self.shares.append(share)
        for ticket in tickets:
            self.crew.wait(ticket, 3_600.0)

    def run(self, bodies: list[bytes]) -> dict[str, float]:
        """Match events; µs of CPU an event of the slowest worker, wall time, and how many matches there were."""
        before = {n: worker.busy for n, worker in self.crew.workers.items()}
        begun, flying, matches = time.perf_counter(), list[list[Ticket]](), 0
        stretches = [bodies[n : n + STRETCH] for n in range(0, len(bodies), STRETCH)]
        for number, part in enumerate(stretches):
            wanted = Match([EventSent(n, 0, body) for n, body in enumerate(part, 1 + number * STRETCH)])
            flying.append([self.crew.ask(share, wanted) for share in self.shares])
            if len(flying) > AHEAD * len(self.crew.workers if self.replicated else [0]):
                matches += self._gather(flying.pop(0))
        matches += sum(self._gather(each) for each in flying)
        wall = time.perf_counter() - begun
        spent = [worker.busy - before[n] for n, worker in self.crew.workers.items()]
        each = 1e6 / len(bodies)
        return {
            "slowest_us": max(spent) * each, "all_us": sum(spent) * each, "overall_us": wall * each, "matches": matches
        }  # fmt: skip

    def _gather(self, tickets: list[Ticket]) -> int:
        return sum(len(getattr(self.crew.wait(ticket), "numbers", b"")) // 8 for ticket in tickets)

    def memory(self) -> dict[str, float]:
        """MB of the largest worker, and what of it is shared."""
        for worker in self.crew.workers.values():
            self.crew.wait(_asked(worker))
        used = max((worker.used for worker in self.crew.workers.values()), key=lambda each: each.resident)
        return {"resident_mb": used.resident / 2**20, "shared_mb": used.shared / 2**20}

    def close(self) -> None:
        self.crew.close()


def _asked(worker: Any) -> Ticket:
    ticket = Ticket(0, 0, Usage())
    worker.submit(ticket)
    return ticket


def bodies_of(events: list[dict[str, Any]]) -> list[bytes]:
    return [b'{"v":1,"payload":%s,"id":"e%d"}' % (msgspec.json.encode(each), n) for n, each in enumerate(events)]


def figures(sizes: list[int], publications: list[int], matchers: int, seed: int) -> list[dict[str, Any]]:
    """Figures 25, 26 and 27: one matcher, N matchers, and N with the coordinator."""
    rows = []
    for size in sizes:
        asked, events = w1(random.Random(seed), size, max(publications))
        subscriptions, bodies = held(asked), bodies_of(events)
        row: dict[str, Any] = {"subscriptions": size, "matchers": matchers}
        for count in (1, matchers):
            stage = Stage(subscriptions, count, "partitioned")
            try:
                stage.run(bodies[: 2 * STRETCH])  # warm
                for number in publications:
                    found = stage.run(bodies[:number])
                    row[f"{'one' if count == 1 else 'several'}_{number}"] = {k: round(v, 2) for k, v in found.items()}
            finally:
                stage.close()
        row["load"] = os.getloadavg()[0]
        rows.append(row)
    return rows


def stage(size: int, events: int, rounds: int, seed: int, kinds: tuple[str, ...] = ("w1", "w2")) -> dict[str, Any]:
    """The matching stage: the slowest of two workers against one."""
    found: dict[str, Any] = {"subscriptions": size, "events": events, "rounds": rounds}
    for kind in kinds:
        asked, made = MAKE[kind](random.Random(seed), size, events)
        subscriptions, bodies = held(asked), bodies_of(made)
        stages = {
            "one": Stage(subscriptions, 1, "replicated"),
            "replicated": Stage(subscriptions, 2, "replicated"),
            "partitioned": Stage(subscriptions, 2, "partitioned"),
        }
        try:
            for each in stages.values():
                each.run(bodies[: 2 * STRETCH])
            runs: dict[str, list[float]] = {name: [] for name in stages}
            totals = set()
            for _ in range(rounds):  # in turns, so that what disturbs one disturbs all
                for name, each in stages.items():
                    said = each.run(bodies)
                    runs[name].append(said["slowest_us"])
                    totals.add(said["matches"])
            times = {name: statistics.median(each) for name, each in runs.items()}
            found[kind] = {
                "us": {name: round(each, 2) for name, each in times.items()},
                "replicated_gain": round(times["one"] / times["replicated"], 3),
                "partitioned_gain": round(times["one"] / times["partitioned"], 3),
                "matches_agree": len(totals) == 1,
                "memory": {name: {k: round(v, 1) for k, v in each.memory().items()} for name, each in stages.items()},
            }
        finally:
            for each in stages.values():
                each.close()
    return found


def through_a_broker(kind: str, size: int, events: int, matching: Matching, seed: int) -> dict[str, float]:
    """Events a second of wall time from publish to stored, through a broker in memory."""
    asked, made = MAKE[kind](random.Random(seed), size, events)
    with Broker(None, Config(matching=matching)) as broker:
        tenant = broker.tenant("default")
        for n in range(OWNERS):
            broker.register(tenant, f"s{n}")
        subscriptions = held(asked)
        for n in range(OWNERS):
            own = subscriptions[n::OWNERS]
            for first in range(0, len(own), 1_000):
                broker.subscribe(tenant, f"s{n}", own[first : first + 1_000])
        bodies = [msgspec.json.encode({"v": 1, "payload": each}) for each in made]
        broker.publish(tenant, read_each(bodies[:STRETCH]))
        broker.wait_until_matched(3_600.0)
        begun = time.perf_counter()
        for first in range(0, len(bodies), 1_000):
            broker.publish(tenant, read_each(bodies[first : first + 1_000]))
        broker.wait_until_matched(3_600.0)
        return {"events_a_second": events / (time.perf_counter() - begun)}


def load(seconds: float, seed: int) -> list[dict[str, float]]:
    """A rate that rises and falls; how many workers there are beside latency, twice a second."""
    asked, made = w1(random.Random(seed), 5_000, 5_000)
    limits = WorkerLimits(minimum=1, maximum=3, split_busy=0.5, merge_busy=0.15, span=2.0, pause=2.0)
    config = Config(matching=Matching(workers="auto", architecture="replicated"), workers=limits)
    rows = []
    with Broker(None, config) as broker:
        tenant = broker.tenant("default")
        broker.register(tenant, "ann")
        broker.subscribe(tenant, "ann", held(asked)[:5_000])
        begun, sent = time.perf_counter(), 0
        while (at := time.perf_counter() - begun) < seconds:
            rate = 50 + 2_000 * math.sin(math.pi * at / seconds) ** 2
            count = max(1, int(rate / 2))
            events = [msgspec.json.encode({"v": 1, "payload": made[(sent + n) % len(made)]}) for n in range(count)]
            moment = time.perf_counter()
            broker.publish(tenant, read_each(events))
            broker.wait_until_matched(600.0)
            latency = time.perf_counter() - moment
            sent += count
            assert broker.staff is not None
            rows.append({
                "second": round(at, 2), "rate": round(rate), "workers": len(broker.staff.crew.workers),
                "latency_ms": round(1e3 * latency, 2), "load": os.getloadavg()[0],
            })  # fmt: skip
            time.sleep(max(0.0, 0.5 - latency))
    return rows


def larger(seed: int, quick: bool) -> dict[str, Any]:
    """Beyond the source: exact at 100,000 and 1,000,000, partitioned; relaxed conditions to 50,000."""
    found: dict[str, Any] = {}
    for size, workers, architecture in (
        [(2_000, 3, "partitioned")] if quick
        else [(100_000, 15, "partitioned"), (100_000, 2, "replicated"), (1_000_000, 4, "partitioned")]
    ):  # fmt: skip
        asked, events = w2(random.Random(seed), size, 2_000)
        made = Stage(held(asked), workers, architecture)
        try:
            bodies = bodies_of(events)
            made.run(bodies[: 2 * STRETCH])
            found[f"w2_{size}_{architecture}_{workers}"] = {
                k: round(v, 2) for k, v in (made.run(bodies) | made.memory()).items()
            }
        finally:
            made.close()
    relaxed = [
        parse(f"{{value~ > {n % 50}, station = ST{n % 30:02d}}}", id=f"r{n}") for n in range(500 if quick else 50_000)
    ]
    made = Stage(relaxed, 2, "partitioned")
    try:
        bodies = bodies_of(w1(random.Random(seed), 1, 500)[1])
        made.run(bodies)
        found[f"relaxed_{len(relaxed)}_partitioned_2"] = {k: round(v, 2) for k, v in made.run(bodies).items()}
    finally:
        made.close()
    return found


def plots(found: dict[str, Any], folder: Path) -> None:
    """The source's figures, and the load."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    rows = found.get("figures", [])
    for name, key, field, title in (
        ("figure-25", "one", "slowest_us", "One matcher"),
        ("figure-26", "several", "slowest_us", "Several matchers, the slowest"),
        ("figure-27", "several", "overall_us", "Several matchers, with the coordinator (wall time)"),
    ):
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        for number in found.get("publications", []):
            axes.plot([r["subscriptions"] for r in rows], [r[f"{key}_{number}"][field] for r in rows], marker="o",
                      label=f"{number:,} publications")  # fmt: skip
        axes.set(xlabel="subscriptions", ylabel="µs a publication", title=title)
        axes.legend()
        figure.savefig(folder / f"{name}.svg")
    if rows := found.get("load_over_time"):
        figure = Figure(figsize=(7, 5), layout="constrained")
        for axes, (field, said) in zip(
            figure.subplots(3, sharex=True),
            (("rate", "events a second"), ("workers", "workers"), ("latency_ms", "latency, ms")), strict=True,
        ):  # fmt: skip
            axes.step([r["second"] for r in rows], [r[field] for r in rows], where="post")
            axes.set(ylabel=said)
        figure.savefig(folder / "load.svg")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--part", choices=["figures", "stage", "broker", "larger", "load", "all"], default="all")
    asked.add_argument("--sizes", type=int, nargs="+", default=[1_000, 2_000, 3_000, 4_000, 5_000, 10_000])
    asked.add_argument("--publications", type=int, nargs="+", default=[10_000, 50_000, 100_000, 150_000])
    asked.add_argument("--matchers", type=int, default=15)
    asked.add_argument("--subscriptions", type=int, default=100_000)
    asked.add_argument("--events", type=int, default=2_000)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--seconds", type=float, default=60.0)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--plots", type=Path)
    asked.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    asked.add_argument("--json", action="store_true")
    said = asked.parse_args()
    if said.quick:
        said.sizes, said.publications, said.matchers, said.subscriptions = [200], [500], 2, 500
        said.events, said.rounds, said.seconds = 500, 1, 3.0
    found: dict[str, Any] = {"seed": said.seed, "cores": os.cpu_count(), "load_before": os.getloadavg()[0]}
    wants = lambda part: said.part in (part, "all")  # noqa: E731
    if wants("figures"):
        found["publications"] = said.publications
        found["figures"] = figures(said.sizes, said.publications, said.matchers, said.seed)
    if wants("stage"):
        found["stage"] = stage(said.subscriptions, said.events, said.rounds, said.seed)
    if wants("broker"):
        runs = {
            "none": Matching(), "two replicated": Matching(workers=2),
            "two partitioned": Matching(workers=2, architecture="partitioned"),
        }  # fmt: skip
        found["broker"] = {
            name: through_a_broker("w1", said.subscriptions, said.events, matching, said.seed)
            for name, matching in runs.items()
        }
    if wants("larger"):
        found["larger"] = larger(said.seed, said.quick)
    if wants("load"):
        found["load_over_time"] = load(said.seconds, said.seed)
    found["load_after"] = os.getloadavg()[0]
    if said.plots is not None:
        plots(found, said.plots)
    print(json.dumps(found, indent=None if said.json else 2))
    sys.exit(0 if all(found.get("stage", {}).get(k, {}).get("matches_agree", True) for k in MAKE) else 1)


if __name__ == "__main__":
    main()

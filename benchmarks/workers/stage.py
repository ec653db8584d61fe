"""The matching stage by workers: from the log's bytes to packed recipient sets, by CPU time of the slowest worker."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.broker_path import held, w1, w2
from likewise.broker.pool.migration import partition
from likewise.broker.pool.pool import WorkerPool
from likewise.broker.pool.process import PendingRequest
from likewise.broker.pool.protocol import (
    EventSent,
    InterpretationSettings,
    MatchEvents,
    MatchStateful,
    NewSubscription,
)
from likewise.broker.pool.shard import Shard, ShardSnapshot
from likewise.broker.tenants.numbered_matcher import NumberedMatcher
from likewise.language import parse
from likewise.matching.matcher import Matcher
from likewise.model import Subscription

STRETCH = 250
AHEAD = 3
OWNERS = 100
LONG = 36_000.0  # seconds: a machine may be busy
MAKE = {"w1": w1, "w2": w2}
Work = Callable[[], Any]
TOLD = InterpretationSettings(None, None, None, "full", None, 64 * 2**20, 0, 0)


class Stage:
    """Workers that hold subscriptions, and are sent stretches of events; `crew` may be one that is there already."""

    def __init__(
        self,
        subscriptions: list[Subscription],
        workers: int,
        architecture: str,
        crew: WorkerPool | None = None,
        mapped: bool = False,
    ) -> None:
        self.crew = crew or WorkerPool(TOLD)
        self.replicated = architecture == "replicated"
        new = [NewSubscription(n, n % OWNERS, 0, each) for n, each in enumerate(subscriptions, 1)]
        while len(self.crew.workers) < workers:
            self.crew.start()
        staff = list(self.crew.workers.values())[:workers]
        self.shares: list[Shard] = []
        tickets: list[PendingRequest] = []
        for place, part in enumerate([new] if self.replicated else partition(new, workers)):
            share = Shard(1)
            share.subscriptions = {each.number: each for each in part}
            share.saved = self._save(part) if mapped else None
            tickets += self.crew.place(share, staff if self.replicated else [staff[place]])
            self.shares.append(share)
        for ticket in tickets:
            self.crew.wait(ticket, LONG)

    def _save(self, new: list[NewSubscription]) -> ShardSnapshot:
        """The index saved once, as the broker does for replicated workers, which map it."""
        matcher = NumberedMatcher(Matcher())
        matcher.add_many([(each.number, each.subscription, 0) for each in new])
        folder = self.crew.folders.new("mapped")
        matcher.save(folder)
        return ShardSnapshot(folder, frozenset(each.number for each in new))

    def warm(self, bodies: list[bytes]) -> None:
        """Let every worker match some events: what it loads at first is not what an event costs."""
        asked = []
        for first in range(0, len(bodies), STRETCH):
            wanted = MatchEvents(
                [EventSent(n, 0, body) for n, body in enumerate(bodies[first : first + STRETCH], 1 + first)]
            )
            for share in self.shares:
                for host in share.hosts:
                    asked.append(PendingRequest(share.tenant, share.number, wanted))
                    host.submit(asked[-1])
        for ticket in asked:
            self.crew.wait(ticket, LONG)

    def run(self, bodies: list[bytes]) -> dict[str, float]:
        """Match events; µs of CPU an event of the slowest worker, wall time, and how many matches there were."""
        before = {n: worker.busy for n, worker in self.crew.workers.items()}
        begun, flying, matches = time.perf_counter(), list[list[PendingRequest]](), 0
        for first in range(0, len(bodies), STRETCH):
            wanted = MatchEvents(
                [EventSent(n, 0, body) for n, body in enumerate(bodies[first : first + STRETCH], 1 + first)]
            )
            flying.append([self.crew.ask(share, wanted) for share in self.shares])
            if len(flying) > AHEAD * (len(self.crew.workers) if self.replicated else 1):
                matches += self._gather(flying.pop(0))
        matches += sum(self._gather(each) for each in flying)
        wall = time.perf_counter() - begun
        spent = [worker.busy - before[n] for n, worker in self.crew.workers.items()]
        each = 1e6 / len(bodies)
        return {
            "slowest_us": max(spent) * each,
            "all_us": sum(spent) * each,
            "overall_us": wall * each,
            "matches": matches,
        }

    def _gather(self, tickets: list[PendingRequest]) -> int:
        return sum(len(getattr(self.crew.wait(ticket, LONG), "numbers", b"")) // 8 for ticket in tickets)

    def memory(self) -> dict[str, float]:
        """MB of the largest worker: resident, its proportional part of what is shared, and what is its own alone."""
        found = [mapped_memory(worker.pid) for worker in self.crew.workers.values()]
        return max(found, key=lambda each: each["resident_mb"])

    def forget(self) -> None:
        """Let the workers hold nothing any more, and stay."""
        for share in self.shares:
            self.crew.forget(share)

    def close(self) -> None:
        self.crew.close()


def mapped_memory(pid: int) -> dict[str, float]:
    """MB of a process by `smaps_rollup`: what is shared with others counts in `pss_mb` by its part."""
    fields = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = line.split()[:2]
        fields[name.rstrip(":")] = int(value) / 1024
    own = fields["Private_Clean"] + fields["Private_Dirty"]
    shared = fields["Shared_Clean"] + fields["Shared_Dirty"]
    found = {"resident_mb": fields["Rss"], "pss_mb": fields["Pss"], "own_mb": own, "shared_mb": shared}
    return {name: round(value, 1) for name, value in found.items()}


def bodies_of(events: list[dict[str, Any]]) -> list[bytes]:
    return [b'{"v":1,"payload":%s,"id":"e%d"}' % (msgspec.json.encode(each), n) for n, each in enumerate(events)]


def rounded(found: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in found.items()}


def figures(sizes: list[int], publications: list[int], matchers: int, seed: int) -> Iterator[tuple[str, Work]]:
    """Figures 25, 26 and 27: one matcher, N matchers, and N with the coordinator; a row for each size."""
    crew = WorkerPool(TOLD)
    try:
        for size in sizes:
            yield f"{size}", partial(_of_size, crew, size, sorted(publications), matchers, seed)
    finally:
        crew.close()


def _of_size(crew: WorkerPool, size: int, publications: list[int], matchers: int, seed: int) -> dict[str, Any]:
    """Publications go through once: what the first 10,000 took is read on the way to 150,000."""
    asked, events = w1(random.Random(seed), size, publications[-1])
    subscriptions, bodies = held(asked), bodies_of(events)
    row: dict[str, Any] = {"subscriptions": size, "matchers": matchers, "load": os.getloadavg()[0]}
    for name, count in (("one", 1), ("several", matchers)):
        stage = Stage(subscriptions, count, "partitioned", crew)
        stage.warm(bodies[: 2 * STRETCH])
        sums, done = dict.fromkeys(("slowest_us", "overall_us", "matches"), 0.0), 0
        for number in publications:
            part = stage.run(bodies[done:number])
            for key in sums:
                sums[key] += part[key] * (1 if key == "matches" else number - done)
            done = number
            row[f"{name}_{number}"] = rounded({k: v / (1 if k == "matches" else done) for k, v in sums.items()})
        stage.forget()
    return row


def gains(kind: str, size: int, events: int, rounds: int, seed: int) -> dict[str, Any]:
    """The slowest of two workers against one, replicated and partitioned."""
    asked, made = MAKE[kind](random.Random(seed), size, events)
    subscriptions, bodies = held(asked), bodies_of(made)
    stages = {
        "one": Stage(subscriptions, 1, "replicated"),
        "replicated": Stage(subscriptions, 2, "replicated", mapped=True),
        "partitioned": Stage(subscriptions, 2, "partitioned"),
    }
    try:
        for each in stages.values():
            each.warm(bodies[: 2 * STRETCH])
        runs: dict[str, list[float]] = {name: [] for name in stages}
        totals = set()
        for _ in range(rounds):  # in turns, so that what disturbs one disturbs all
            for name, each in stages.items():
                said = each.run(bodies)
                runs[name].append(said["slowest_us"])
                totals.add(said["matches"])
        times = {name: statistics.median(each) for name, each in runs.items()}
        return {
            "subscriptions": size,
            "events": events,
            "rounds": rounds,
            "us": rounded(times),
            "replicated_gain": round(times["one"] / times["replicated"], 3),
            "partitioned_gain": round(times["one"] / times["partitioned"], 3),
            "matches_agree": len(totals) == 1,
            "memory": {name: each.memory() for name, each in stages.items()},
            "load": os.getloadavg()[0],
        }
    finally:
        for each in stages.values():
            each.close()


def in_turn(
    subscriptions: list[Subscription], bodies: list[bytes], parts: int, most: int | None = None
) -> dict[str, Any]:
    """The parts of a partition, one after the other in one worker: the slowest counts, and no core stands idle for it.

    Of many equal parts, `most` may be looked at.
    """
    crew, found = WorkerPool(TOLD), list[dict[str, float]]()
    try:
        for part in partition(subscriptions, parts)[:most]:
            begun = time.perf_counter()
            stage = Stage(part, 1, "partitioned", crew)
            building = time.perf_counter() - begun
            stage.warm(bodies[: 2 * STRETCH])
            found.append(stage.run(bodies) | {"building_s": building, **stage.memory()})
            stage.forget()
    finally:
        crew.close()
    slowest = max(found, key=lambda each: each["slowest_us"])
    return {
        "subscriptions": len(subscriptions),
        "parts": parts,
        "looked_at": len(found),
        "events": len(bodies),
        **rounded({**slowest, "matches": sum(each["matches"] for each in found)}),
        "load": os.getloadavg()[0],
    }


def relaxed(size: int, events: int, parts: int, seed: int) -> dict[str, Any]:
    """Conditions with relaxed names, partitioned."""
    asked = [parse(f"{{value~ > {n % 50}, station = ST{n % 30:02d}}}", id=f"r{n}") for n in range(size)]
    return in_turn(asked, bodies_of(w1(random.Random(seed), 1, events)[1]), parts)


def _window(chance: random.Random, number: int) -> Subscription:
    lat, long = chance.uniform(47.32, 47.43), chance.uniform(8.45, 8.63)
    asked = f"{{station = ST{chance.randrange(30):02d}}} top {chance.randint(1, 5)} within {chance.randint(10, 60)} s"
    return parse(f"{asked} by distance(lat {lat:.4f}, long {long:.4f})", id=f"t{number}")


def windows(size: int, events: int, parts: int, seed: int) -> dict[str, Any]:
    """Top-k windows, partitioned: each event moves them one after the other; the slowest part counts."""
    chance, crew, spent = random.Random(seed), WorkerPool(TOLD), list[float]()
    asked = [_window(chance, n) for n in range(size)]
    bodies, found = bodies_of(w1(chance, 1, events)[1]), 0
    new = [NewSubscription(n, n % OWNERS, 0, each) for n, each in enumerate(asked, 1)]
    warming = new[:1]  # what is loaded at first is not the windows' cost
    try:
        worker = crew.start()
        for part in (warming, *partition(new, parts)):
            share = Shard(1, stateful=True)
            crew.place(share, [worker])
            for first in range(0, len(part), 2_000):
                for ticket in crew.add_subscriptions(share, part[first : first + 2_000]):
                    crew.wait(ticket, LONG)
            before = worker.busy
            for first in range(0, len(bodies), STRETCH):
                sent = [
                    EventSent(1 + n, 20_000 * n, bodies[n]) for n in range(first, min(first + STRETCH, len(bodies)))
                ]
                moved = crew.wait(crew.ask(share, MatchStateful(sent)), LONG)
                found += sum(len(each) for each in getattr(moved, "found", [])) if part is not warming else 0
            spent.append((worker.busy - before) * 1e6 / len(bodies))
            crew.forget(share)
    finally:
        crew.close()
    return {
        "subscriptions": size,
        "parts": parts,
        "events": events,
        "slowest_us": round(max(spent[1:]), 2),
        "all_us": round(sum(spent[1:]), 2),
        "found": found,
        "load": os.getloadavg()[0],
    }


def larger(seed: int, quick: bool) -> Iterator[tuple[str, Work]]:
    """Beyond the source, a row at a time: exact to 1,000,000, relaxed to 50,000, top-k to 100,000."""
    part = 100 if quick else 1
    size = 100_000 // part
    for kind in MAKE:
        yield f"{kind} {size:,} in 15 parts", partial(_exact, kind, size, 2_000 // part, seed)
    yield f"w2 {size:,} at 2 alike", partial(gains, "w2", size, 20_000 // part, 3, seed)
    for each in (1_000 // part, 10_000 // part, 50_000 // part):
        yield f"relaxed {each:,} in 2 parts", partial(relaxed, each, 1_000 // part, 2, seed)
    for each in (1_000 // part, 10_000 // part, 100_000 // part):
        yield f"top-k {each:,} in 2 parts", partial(windows, each, 1_000 // part, 2, seed)
    size = 1_000_000 // part
    yield f"w2 {size:,} in 15 parts, 3 of them", partial(_exact, "w2", size, 1_000 // part, seed, most=3)


def _exact(kind: str, size: int, events: int, seed: int, most: int | None = None) -> dict[str, Any]:
    asked, made = MAKE[kind](random.Random(seed), size, events)
    return in_turn(held(asked), bodies_of(made), 15, most)

"""Whole brokers with workers: throughput, pauses at splits and merges, killed workers, a load that rises and falls."""

from __future__ import annotations

import math
import os
import random
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks.broker_path import held
from benchmarks.workers.stage import LONG, MAKE, OWNERS, STRETCH, rounded
from likewise.broker.broker import Broker
from likewise.broker.config import Config, MatchingSettings, WorkerSettings
from likewise.broker.dispatch.coordinator import PoolCoordinator
from likewise.formats.json.batches import decode_each

Made = list[dict[str, Any]]
RUNS = {
    "none": MatchingSettings(),
    "two replicated": MatchingSettings(workers=2),
    "two partitioned": MatchingSettings(workers=2, architecture="partitioned"),
}


@contextmanager
def filled(kind: str, size: int, events: int, config: Config, seed: int) -> Iterator[tuple[Broker, Made]]:
    """A broker in memory that holds subscriptions of a hundred owners and has matched a few events."""
    asked, made = MAKE[kind](random.Random(seed), size, events)
    with Broker(None, config) as broker:
        tenant, subscriptions = broker.tenant("default"), held(asked)
        for n in range(OWNERS):
            broker.register(tenant, f"s{n}")
            own = subscriptions[n::OWNERS]
            for first in range(0, len(own), 1_000):
                broker.subscribe(tenant, f"s{n}", own[first : first + 1_000])
        publish(broker, made[:STRETCH])
        broker.wait_until_matched(LONG)
        yield broker, made


def publish(broker: Broker, events: Made) -> None:
    broker.publish(
        broker.tenant("default"), decode_each([msgspec.json.encode({"v": 1, "payload": each}) for each in events])
    )


def throughput(kind: str, size: int, events: int, seed: int) -> dict[str, Any]:
    """Events a second of wall time from publish to stored: without workers, and with two."""
    found: dict[str, Any] = {"subscriptions": size, "events": events}
    for name, matching in RUNS.items():
        with filled(kind, size, events, Config(matching=matching), seed) as (broker, made):
            begun = time.perf_counter()
            for first in range(0, len(made), 1_000):
                publish(broker, made[first : first + 1_000])
            broker.wait_until_matched(LONG)
            found[name] = round(events / (time.perf_counter() - begun), 1)
    for name in list(RUNS)[1:]:
        found[f"gain of {name}"] = round(found[name] / found["none"], 3)
    return found | {"load": os.getloadavg()[0]}


def pauses(kind: str, size: int, architecture: str, seconds: float, seed: int) -> dict[str, Any]:
    """Workers that split and merge under load: the time from one gathered stretch to the next, then and otherwise.

    A change lasts from its beginning until a second after it was cut over; of each the longest time counts.
    """
    matching = MatchingSettings(workers=2, architecture=architecture)  # type: ignore[arg-type]
    with filled(kind, size, 5_000, Config(matching=matching), seed) as (broker, made):
        staff, elastic, coordinator = broker.topology, broker.autoscaler, broker.worker
        assert staff is not None
        assert elastic is not None
        assert isinstance(coordinator, PoolCoordinator)
        coordinator.gaps.clear()
        stop, begun = threading.Event(), time.monotonic()

        def load() -> None:
            while not stop.is_set():
                publish(broker, made[:1_000])
                while broker.store.position - broker.worker.position > 2_000 and not stop.is_set():
                    time.sleep(0.005)

        thread = threading.Thread(target=load)
        thread.start()
        count = 2
        while time.monotonic() - begun < seconds or staff.under_way:
            if not staff.under_way and len(staff.pool.workers) == count:
                count = 5 - count  # three, two, three ...
                elastic.settings = msgspec.structs.replace(elastic.settings, minimum=count, maximum=count)
            time.sleep(0.05)
        stop.set()
        thread.join()
        broker.wait_until_matched(LONG)
        gaps, cuts = list(coordinator.gaps), list(staff.cut_overs)
        begins = [at for at, _, _ in elastic.changes]  # one that had nothing to move has no cut
        changes = [(max(at for at in begins if at <= cut), cut + 1.0) for cut, _ in cuts]
        around = [max((g for at, g, _ in gaps if at - g <= end and begun <= at), default=0.0) for begun, end in changes]
        others = [g for at, g, _ in gaps if not any(at - g <= end and begun <= at for begun, end in changes)]
        median, took = statistics.median(g for _, g, _ in gaps), statistics.median(each.took for each in gaps)
        worst = max(around, default=0.0)
        return {
            "subscriptions": size,
            "architecture": architecture,
            "splits": staff.splits,
            "merges": staff.merges,
            "stretches": len(gaps),
            "median_stretch_ms": _ms(took),
            "median_gap_ms": _ms(median),
            "gap_at_a_change_ms": [_ms(each) for each in around],
            "seconds_of_a_change": [round(end - 1.0 - begun, 2) for begun, end in changes],
            "other_gaps_ms": {"p99": _ms(np.quantile(others or [0.0], 0.99)), "worst": _ms(max(others, default=0.0))},
            "cut_over_ms": [round(1e3 * each, 3) for _, each in cuts],
            "worst_to_median_stretch": round(worst / took, 2),
            "worst_to_median_gap": round(worst / median, 2),
            "load": os.getloadavg()[0],
        }


def _ms(seconds: float) -> float:
    return round(1e3 * float(seconds), 2)


def kills(kind: str, size: int, architecture: str, count: int, seed: int) -> dict[str, Any]:
    """Seconds from the death of a worker until an event published after it is delivered; nothing else is under way.

    Before every other kill a process is ready to take its place. Beside the time, of which a busy machine takes most,
    the seconds of the processor that whoever took the place used for it.
    """
    matching = MatchingSettings(workers=2, architecture=architecture)  # type: ignore[arg-type]
    waited: dict[str, list[tuple[float, float]]] = {"ready": [], "none_ready": []}
    with filled(kind, size, 1_000, Config(matching=matching), seed) as (broker, made):
        staff = broker.topology
        assert staff is not None
        crew = staff.pool

        def look() -> None:
            publish(broker, made[:1])
            broker.wait_until_matched(LONG)
            time.sleep(0.05)

        for n in range(count):
            while n % 2 == 0 and (crew.standby.process is None or crew.standby.process.waiting):
                look()
            ready, worker = crew.standby.process, crew.workers[1 + n % 2]
            spent = 0.0 if ready is None else _spent(ready.pid)
            os.kill(worker.pid, signal.SIGKILL)
            begun = time.perf_counter()
            publish(broker, made[n : n + 1])
            broker.wait_until_matched(LONG)
            seconds = round(time.perf_counter() - begun, 3)
            while crew.workers[worker.number] is worker:
                look()
            new = crew.workers[worker.number]
            spent = round(_spent(new.pid) - (spent if new is ready else 0.0), 2)
            waited["ready" if new is ready else "none_ready"].append((seconds, spent))
            while any(each.waiting for each in crew.workers.values()):
                look()
    return {
        "subscriptions": size,
        "architecture": architecture,
        "seconds_and_processor": waited,
        "load": os.getloadavg()[0],
    }


def _spent(pid: int) -> float:
    """The seconds of the processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rising(seconds: float, peak: float, seed: int) -> dict[str, Any]:
    """A rate that rises and falls twice; how many workers there are beside latency, four times a second."""
    limits = WorkerSettings(minimum=1, maximum=4, split_busy=0.15, merge_busy=0.06, span=2.0, pause=3.0)
    config = Config(matching=MatchingSettings(workers="auto", architecture="replicated"), workers=limits)
    rows = []
    with filled("w1", 10_000, 5_000, config, seed) as (broker, made):
        assert broker.topology is not None
        assert broker.autoscaler is not None
        broker.autoscaler._free = lambda: 1.0  # cores are shared here: the policy shows, not the machine
        begun, sent = time.perf_counter(), 0
        while (at := time.perf_counter() - begun) < seconds:
            rate = 20 + peak * math.sin(2 * math.pi * at / seconds) ** 2
            count = max(1, int(rate / 4))
            moment = time.perf_counter()
            publish(broker, [made[(sent + n) % len(made)] for n in range(count)])
            broker.wait_until_matched(LONG)
            latency = time.perf_counter() - moment
            sent += count
            rows.append(
                {
                    "second": round(at, 2),
                    "rate": round(rate),
                    "workers": len(broker.topology.pool.workers),
                    "latency_ms": round(1e3 * latency, 2),
                    "load": os.getloadavg()[0],
                }
            )
            time.sleep(max(0.0, 0.25 - latency))
        changes = [(round(at, 2), what) for at, what, _ in broker.autoscaler.changes]
    latencies = [row["latency_ms"] for row in rows]
    return {
        "rows": rows,
        "changes": changes,
        "events": sent,
        **rounded({"median_ms": statistics.median(latencies), "worst_ms": max(latencies)}),
    }

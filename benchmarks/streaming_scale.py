"""A cost model of streams on Spark: fitted to measured tasks, checked at two sizes it was not fitted to.

    python -m benchmarks.streaming_scale --json
    likewise bench streaming_scale -- --quick

What a worker's task costs (read JSON lines, parse, match, write Parquet; CPU, without Spark) is measured for numbers of
subscriptions and of matches an event: ranges over two of six attributes, narrow or wide. Fitted by least squares of the
relative error:

    µs an event = fixed + by_match * matches an event + by_subscription * subscriptions

`checked` has two other sizes, and how far off the model is there. `sized` says what given rates need.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.matcher import ATTRIBUTES, publications
from likewise.lake.change_log import ChangeLog
from likewise.model import Condition, Predicate, Subscription
from likewise.spark.streaming.dataframes import Served
from likewise.spark.streaming.lake_sink import LakeTask, write_records
from likewise.spark.streaming.matchers import MeaningChoice, open_matcher, save_matcher
from likewise.spark.streaming.sources.files import read_file
from likewise.spark.streaming.sources.ranges import FileRange

FITTED = ((1_000, 3.0), (1_000, 30.0), (10_000, 3.0), (10_000, 12.0), (40_000, 3.0), (40_000, 6.0))
CHECKED = ((4_000, 10.0), (25_000, 5.0))  # sizes the model has not seen
QUICK_FITTED = ((100, 3.0), (100, 30.0), (1_000, 3.0))
QUICK_CHECKED = ((300, 10.0), (500, 5.0))
WANTED = (
    (1_000, 10_000),
    (10_000, 10_000),
    (100_000, 100_000),
    (1_000_000, 1_000_000),
)  # events a second, subscriptions
MET = 5.0  # matches an event that are reckoned with where sizes are asked for
BUSY = 0.6  # of a core, so that what was missed can be caught up with
TASK_RATE = 20_000  # events a second that one partition carries at most, read and matched by one core


def conditions(count: int, width: float, seed: int) -> list[Subscription]:
    """Ranges of a width over two attributes each."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        predicates: list[Predicate] = []
        for name in chance.sample(ATTRIBUTES, 2):
            low = chance.uniform(0, 100 - width)
            predicates += [Predicate(name, ">=", low), Predicate(name, "<", low + width)]
        made.append(Subscription(Condition(tuple(predicates)), id=f"s{number}"))
    return made


def measured(subscriptions: int, width: float, events: int, rounds: int) -> dict[str, float]:
    """What an event costs a task, with the bytes a subscription takes on disk, memory-mapped by workers."""
    payloads = [
        json.dumps({item.attribute: item.value for item in event.tuples}).encode() for event in publications(events, 3)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        (folder / "in" / "events.jsonl").write_bytes(b"\n".join(payloads) + b"\n")
        log = ChangeLog(folder / "log")
        log.add(conditions(subscriptions, width, 2), at=0)
        before = time.process_time()
        saved = str(save_matcher(log.snapshot(), 0, MeaningChoice(), folder / "matchers"))
        building = time.process_time() - before
        (path,) = (folder / "in").iterdir()
        whole = FileRange(str(path), path.stat().st_size, 0, path.stat().st_size)
        task = LakeTask("q", 0, str(folder / "lake"), "bench")
        spent, pairs = [], 0
        for _ in range(rounds + 1):  # the first is not counted
            before = time.process_time()
            served = Served(open_matcher(saved), 0, frozenset())
            done = write_records(read_file(whole, str(folder / "in")), task, served, "part")
            spent.append((time.process_time() - before) / events * 1e6)
            pairs = done.counts.matches
        size = sum(path.stat().st_size for path in Path(saved).rglob("*") if path.is_file())
    return {
        "subscriptions": subscriptions,
        "matches_an_event": round(pairs / events, 2),
        "cpu_us": round(statistics.median(spent[1:]), 2),
        "saved_bytes_a_subscription": round(size / subscriptions, 1),
        "saving_cpu_us_a_subscription": round(building / subscriptions * 1e6, 1),
    }


def fitted(points: list[dict[str, float]]) -> dict[str, float]:
    """The three costs, none below nothing, by least squares of the relative error."""
    names = ["fixed", "by_match", "by_subscription"]
    rows = np.array([[1.0, p["matches_an_event"], p["subscriptions"]] for p in points])
    cost = np.array([p["cpu_us"] for p in points])
    kept = list(range(3))
    while True:
        found = np.linalg.lstsq(rows[:, kept] / cost[:, None], np.ones(len(cost)), rcond=None)[0]
        if (found >= 0).all() or len(kept) == 1:
            break
        kept.remove(kept[int(np.argmin(found))])
    return {name: float(found[kept.index(n)]) if n in kept else 0.0 for n, name in enumerate(names)}


def cost(model: dict[str, float], subscriptions: float, matches: float) -> float:
    """µs of CPU an event."""
    return model["fixed"] + model["by_match"] * matches + model["by_subscription"] * subscriptions


def sized(model: dict[str, float], rate: int, subscriptions: int, bytes_each: float) -> dict[str, float]:
    """What a rate of events needs with so many subscriptions."""
    each = cost(model, subscriptions, MET)
    cores = math.ceil(rate * each / 1e6 / BUSY)
    return {
        "events_a_second": rate,
        "subscriptions": subscriptions,
        "cpu_us_an_event": round(each, 1),
        "cores": cores,
        "partitions": max(2 * cores, math.ceil(rate / TASK_RATE)),
        "matcher_gb_a_machine": round(subscriptions * bytes_each / 1e9, 2),
    }


def run(quick: bool, events: int, rounds: int) -> dict[str, Any]:
    """Measure, fit, check."""
    began = os.getloadavg()[0]
    points = [measured(count, width, events, rounds) for count, width in (QUICK_FITTED if quick else FITTED)]
    model = fitted(points)
    checked = []
    for count, width in QUICK_CHECKED if quick else CHECKED:
        point = measured(count, width, events, rounds)
        said = cost(model, point["subscriptions"], point["matches_an_event"])
        checked.append(point | {"model_us": round(said, 2), "off": round(said / point["cpu_us"] - 1, 3)})
    bytes_each = points[-1]["saved_bytes_a_subscription"]
    return {
        "model_us": {name: round(value, 6) for name, value in model.items()},
        "points": points,
        "checked": checked,
        "sized": [sized(model, rate, count, bytes_each) for rate, count in WANTED],
        "events": events,
        "rounds": rounds,
        "load": [round(began, 1), round(os.getloadavg()[0], 1)],
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def main() -> int:
    """Print the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    said = parser.parse_args()
    found = run(said.quick, 1_000 if said.quick else said.events, said.rounds)
    if said.json:
        print(json.dumps(found))
        return 0
    print("µs an event = " + " + ".join(f"{value:g} {name}" for name, value in found["model_us"].items()))
    for each in found["checked"]:
        print(f"  {each['subscriptions']:,} subscriptions: {each['cpu_us']} µs, off by {each['off']:+.1%}")
    for each in found["sized"]:
        print(f"  {each}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""What an event of a stream costs a worker in Python, beside the kernel with columns read: µs of CPU an event.

    python -m benchmarks.streaming --json
    likewise bench streaming -- --subscriptions 100000
    likewise bench streaming -- --relaxed --subscriptions 94 --events 5000

Conditions and events like those of W2 (`benchmarks.matcher`), or with `--relaxed` the thematic paper's from WordNet,
events as JSON lines. `parse` is the columnar reader, `kernel` matches columns that are there; `task` is all a worker
does: reads a file, parses, matches, writes Parquet (`matches`, and with `wanted` the events, too) and syncs it. The
ratios are of the task to parse and kernel together, and to the kernel alone. Without Spark: what the JVM does besides
is one short job a batch.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.matcher import conditions, publications
from likewise.lake.change_log import ChangeLog
from likewise.model import Subscription
from likewise.spark.streaming.dataframes import Served
from likewise.spark.streaming.lake_sink import YOUNG, LakeTask, write_records
from likewise.spark.streaming.matched_events import match_events
from likewise.spark.streaming.matchers import MeaningChoice, open_matcher, save_matcher
from likewise.spark.streaming.payloads import decode_payloads
from likewise.spark.streaming.sources.files import CHUNK, read_file
from likewise.spark.streaming.sources.ranges import FileRange

ROUNDS = 5


def cpu(call: Callable[[], object], count: int) -> float:
    """µs of CPU for each of `count`: the median of several rounds, after one that is not counted."""
    call()
    spent = []
    for _ in range(ROUNDS):
        before = time.process_time()
        call()
        spent.append((time.process_time() - before) / count * 1e6)
    return round(statistics.median(spent), 2)


def relaxed_load(subscriptions: int, events: int) -> tuple[list[Subscription], list[bytes]]:
    """Relaxed subscriptions, and events with their themes as JSON."""
    from likewise_experiments.thematic.load import thematic_load
    from likewise_experiments.thematic.thesauri import open_thesaurus

    load = thematic_load(open_thesaurus("wordnet"), events=events, subscriptions=subscriptions)
    bodies = [
        {"v": 1, "payload": {item.attribute: item.value for item in event.tuples}, "themes": list(event.themes)}
        for event in load.events
    ]
    return list(load.subscriptions), [json.dumps(body).encode() for body in bodies]


def exact_load(subscriptions: int, events: int) -> tuple[list[Subscription], list[bytes]]:
    """Ranges, and events of six numbers as JSON."""
    bodies = [{item.attribute: item.value for item in event.tuples} for event in publications(events, 3)]
    return conditions(subscriptions, 2), [json.dumps(body).encode() for body in bodies]


def run(subscriptions: int, events: int, *, relaxed: bool = False) -> dict[str, Any]:
    """The figures."""
    wanted, payloads = (relaxed_load if relaxed else exact_load)(subscriptions, events)
    subscriptions, events = len(wanted), len(payloads)
    chunks = [payloads[start : start + CHUNK] for start in range(0, events, CHUNK)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        (folder / "in" / "events.jsonl").write_bytes(b"\n".join(payloads) + b"\n")
        log = ChangeLog(folder / "log")
        log.add(wanted, at=0)
        saved = str(save_matcher(log.snapshot(), 0, MeaningChoice(), folder / "matchers"))
        path = folder / "in" / "events.jsonl"
        whole = FileRange(str(path), path.stat().st_size, 0, path.stat().st_size)
        matcher = open_matcher(saved)
        read = [decode_payloads(chunk).events for chunk in chunks]
        pairs = sum(len(match_events(matcher, each, 0).numbers) for each in read)

        def task(keep: str) -> None:
            served = Served(open_matcher(saved), 0, frozenset())
            settings = LakeTask("q", 0, str(folder / "lake"), "bench", keep=keep)
            write_records(read_file(whole, str(folder / "in")), settings, served, "part")

        gc.set_threshold(YOUNG, 50, 50)  # as a task does, so that what it is compared with has it no worse
        found = {
            "parse": cpu(lambda: [decode_payloads(chunk).events.columns() for chunk in chunks], events),
            "kernel": cpu(lambda: [match_events(matcher, each, 0) for each in read], events),
            "task": cpu(lambda: task("matches"), events),
            "task_wanted": cpu(lambda: task("wanted"), events),
        }
    beside = found["parse"] + found["kernel"]
    return {
        "load": "relaxed" if relaxed else "exact",
        "subscriptions": subscriptions,
        "events": events,
        "matches_an_event": round(pairs / events, 2),
        "cpu_us": found,
        "task_to_parse_and_kernel": round(found["task"] / beside, 2),
        "task_to_kernel": round(found["task"] / found["kernel"], 2),
        "load_average": round(os.getloadavg()[0], 1),
    }


def main() -> int:
    """Print what an event costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--relaxed", action="store_true")
    parser.add_argument("--json", action="store_true")
    said = parser.parse_args()
    found = run(said.subscriptions, said.events, relaxed=said.relaxed)
    if said.json:
        print(json.dumps(found))
        return 0
    many, events, each = found["subscriptions"], found["events"], found["matches_an_event"]
    print(f"{many:,} subscriptions, {events:,} events, {each} matches each")
    for name, value in found["cpu_us"].items():
        print(f"  {name:12} {value:8.2f} µs of CPU an event")
    both, alone = found["task_to_parse_and_kernel"], found["task_to_kernel"]
    print(f"  the task takes {both} times parse and kernel, {alone} times the kernel")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

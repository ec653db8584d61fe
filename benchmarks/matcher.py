"""What a user of `Matcher` pays beside matching: making matches, adding, loading, changes, windows.

    python -m benchmarks.matcher --json
    likewise bench matcher --record

Conditions like those of W2 (ranges over a few of six attributes) and of W1 (one wide range, so that many match), from a
seed. Each figure is the median of five, CPU beside wall time, and each ratio is of one run:

- `match`: an event to ids in an array (`find`), to a sequence of matches nobody looks at, to a list of matches
- `add`: a subscription one by one, many at once, and loaded from a saved folder; loading must take less than a second
  of CPU for 100,000
- `tail`: an event before 100 changes, just after them, and when the tail has been folded
- `windows`: an event with 100 distinct conditions of top-k subscriptions, half of which it meets, beside the oracle
- `windows_one_met`: the same where it meets one of them
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from likewise.language import parse
from likewise.matching.bitmap.engine import BitmapEngine
from likewise.matching.matcher import Matcher
from likewise.matching.oracle.engine import OracleEngine
from likewise.matching.topk.engine import TopKEngine
from likewise.model import Condition, Event, Predicate, Subscription, event

ROUNDS = 5
FILLING = 300  # events that fill the windows before any is timed
LOADED = 10e-6  # seconds of CPU a subscription may take to load
ATTRIBUTES = ("no2", "pm10", "o3", "so2", "lat", "long")


def timed(call: Callable[[], object], count: int, rounds: int = ROUNDS) -> dict[str, float]:
    """µs of CPU and of wall time for each of `count`, medians of several rounds."""
    cpu, wall = [], []
    for _ in range(rounds):
        before = time.perf_counter(), time.process_time()
        call()
        cpu.append((time.process_time() - before[1]) / count * 1e6)
        wall.append((time.perf_counter() - before[0]) / count * 1e6)
    return {"cpu_us": statistics.median(cpu), "wall_us": statistics.median(wall)}


def conditions(count: int, seed: int, *, wide: bool = False) -> list[Subscription]:
    """Ranges over some attributes; wide ones are met by every eighth event."""
    chosen = random.Random(seed)
    made = []
    for number in range(count):
        predicates: list[Predicate] = []
        for name in ("no2",) if wide else chosen.sample(ATTRIBUTES, 2):
            low = chosen.uniform(0, 87.5 if wide else 90)
            predicates += [Predicate(name, ">=", low), Predicate(name, "<", low + (12.5 if wide else 10))]
        made.append(Subscription(Condition(tuple(predicates)), id=f"s{number}"))
    return made


def publications(count: int, seed: int) -> list[Event]:
    """Events with a number for each attribute."""
    chosen = random.Random(seed)
    return [event({name: chosen.uniform(0, 100) for name in ATTRIBUTES}, id=str(n)) for n in range(count)]


def matches(count: int, events: list[Event]) -> dict[str, Any]:
    """An event to ids, to a sequence, to a list."""
    matcher = Matcher(clock=lambda: 0)
    matcher.add_many(conditions(count, 1, wide=True))
    engine = BitmapEngine()
    for ordinal, subscription in enumerate(matcher.subscriptions()):
        engine.add(ordinal, subscription)
    few = events[:100]
    for each in few:
        if [m.subscription_id for m in matcher.match(each)] != [f"s{o}" for o in engine.find(each).ordinals.tolist()]:
            raise SystemExit("the sequence of matches is not what was found")
    found = {
        "find": timed(lambda: [engine.find(e) for e in events], len(events)),
        "sequence": timed(lambda: [matcher.match(e) for e in events], len(events)),
        "list": timed(lambda: [list(matcher.match(e)) for e in few], len(few)),
        "matches_an_event": sum(len(matcher.match(e)) for e in few) / len(few),
    }
    return found | {
        "sequence_to_find": found["sequence"]["cpu_us"] / found["find"]["cpu_us"],
        "list_to_sequence": found["list"]["cpu_us"] / found["sequence"]["cpu_us"],
    }


def adding(count: int, events: list[Event], folder: Path) -> dict[str, Any]:
    """One by one, at once, saved and loaded."""
    subscriptions = conditions(count, 2)

    def one_by_one() -> Matcher:
        matcher = Matcher()
        for subscription in subscriptions:
            matcher.add(subscription)
        return matcher

    def at_once() -> Matcher:
        matcher = Matcher()
        matcher.add_many(subscriptions)
        return matcher

    matcher = at_once()
    matcher.save(folder / "saved")
    loaded = Matcher.load(folder / "saved")
    few = events[:100]
    if [[m.subscription_id for m in loaded.match(e)] for e in few] != [
        [m.subscription_id for m in matcher.match(e)] for e in few
    ]:
        raise SystemExit("the loaded matcher answers otherwise")
    found = {
        "one_by_one": timed(one_by_one, count, 1 if count > 20_000 else ROUNDS),
        "at_once": timed(at_once, count, 1 if count > 20_000 else ROUNDS),
        "save": timed(lambda: matcher.save(folder / "saved"), count),
        "load": timed(lambda: Matcher.load(folder / "saved"), count),
    }
    return found | {"one_by_one_to_load": found["one_by_one"]["cpu_us"] / found["load"]["cpu_us"]}


def tail(events: list[Event]) -> dict[str, Any]:
    """An event before 100 changes, just after them, and later."""
    subscriptions = conditions(10_100, 3)
    engine = BitmapEngine()
    for ordinal, subscription in enumerate(subscriptions[:10_000]):
        engine.add(ordinal, subscription)
    for each in events * 5:
        engine.find(each)
    found: dict[str, Any] = {"before": timed(lambda: [engine.find(e) for e in events], len(events))}
    for ordinal, subscription in enumerate(subscriptions[10_000:], 10_000):
        engine.add(ordinal, subscription)
    found["just_after"] = timed(lambda: [engine.find(e) for e in events[:60]], 60)
    for each in events * 2:
        engine.find(each)
    found["later"] = timed(lambda: [engine.find(e) for e in events], len(events))
    return found | {"later_to_before": found["later"]["cpu_us"] / found["before"]["cpu_us"]}


def windows(count: int, publications: int, *, one: bool = False) -> dict[str, Any]:
    """An event with so many distinct conditions, of which it meets half, or one."""
    chosen = random.Random(4)
    events = [event({"x": chosen.uniform(0, 100)}, id=str(n)) for n in range(FILLING + publications)]
    step = 100 / count
    conditions = [f"{n * step} <= x, x < {(n + 1) * step}" if one else f"x > {n * step}" for n in range(count)]
    subscriptions = [
        parse(f"{{{condition}}} top 5 within 200 events by value(x)", id=f"s{n}")
        for n, condition in enumerate(conditions)
    ]
    spent: dict[str, list[float]] = {"cpu_us": [], "wall_us": []}
    engine, plain = TopKEngine(), OracleEngine()
    for ordinal, subscription in enumerate(subscriptions):
        engine.add(ordinal, subscription, 0)
        plain.add(ordinal, subscription, 0)
    deliveries = 0
    part = publications // ROUNDS
    for round_ in range(ROUNDS + 1):  # the first fills the windows
        begin = FILLING + (round_ - 1) * part
        some = events[begin : begin + part] if round_ else events[:FILLING]
        before = time.perf_counter(), time.process_time()
        found = [engine.match(each, int(each.id or 0)) for each in some]
        after = time.perf_counter(), time.process_time()
        if round_:
            spent["wall_us"].append((after[0] - before[0]) / part * 1e6)
            spent["cpu_us"].append((after[1] - before[1]) / part * 1e6)
            deliveries += sum(map(len, found))
        else:
            clock = time.process_time()
            expected = [plain.match(each, int(each.id or 0)) for each in some]
            oracle = (time.process_time() - clock) / FILLING * 1e6
            if [[(o, m.event_id) for o, m in one] for one in expected] != [
                [(o, m.event_id) for o, m in one] for one in found
            ]:
                raise SystemExit("the windows' deliveries are not the oracle's")
    medians = {name: statistics.median(values) for name, values in spent.items()}
    return {
        "conditions": count,
        **medians,
        "deliveries_an_event": deliveries / (part * ROUNDS),
        "oracle_cpu_us": oracle,
        "times_oracle": oracle / medians["cpu_us"],
    }


def run(subscriptions: int, events: int) -> dict[str, Any]:
    """Everything."""
    sent = publications(events, 5)
    with tempfile.TemporaryDirectory() as folder:
        report: dict[str, Any] = {
            "subscriptions": subscriptions,
            "match": matches(min(subscriptions, 10_000), sent),
            "add": adding(subscriptions, sent, Path(folder)),
            "tail": tail(sent),
            "windows": windows(100, min(events, 900)),
            "windows_one_met": windows(100, min(events, 900), one=True),
        }
    load = report["add"]["load"]["cpu_us"] * 1e-6
    report["missed"] = [f"loading takes {load * 1e6:.1f} µs of CPU a subscription"] if load > LOADED else []
    return report


def main() -> int:
    """Print the figures; 1 if loading takes longer than promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few subscriptions: that it runs, not how fast")
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=1_000)
    options = parser.parse_args()
    report = run(500, 120) if options.quick else run(options.subscriptions, options.events)
    if options.quick:
        report["missed"] = []
    print(json.dumps(report, indent=1))
    return 1 if report["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())

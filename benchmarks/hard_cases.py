"""Where workloads defeat the bitmap engine: it must not be worse than a plain scan.

    python -m benchmarks.hard_cases --json
    likewise bench hard_cases --subscriptions 10000

Each case makes subscriptions of one form, and events whose values never repeat: very many attributes, each asked by
few; nothing but `contains`; `or`s of 64 conjunctions; negated comparisons; attributes stated twenty times; `in` with
many numbers; conjunctions of twenty predicates. The bitmap engine and the yardstick (`yardsticks/plain_scan.py`)
match the same events, one at a time; what they find is compared. µs of CPU an event, medians of several rounds, each
over events not seen before. The exit code is 1 if the engine finds something else, or takes longer than the scan.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import string
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.yardsticks.plain_scan import Conjunction, PlainScan, Seen
from likewise.matching.bitmap.engine import BitmapEngine
from likewise.model import All, Condition, Predicate, Subscription, event
from likewise.model import Any as Or
from likewise.model import Not as Negated

ROUNDS = 5


class Asked(NamedTuple):
    """One subscription: as the engine takes it, and as the scan does."""

    items: Sequence[Any]
    conjunctions: Sequence[Conjunction]


def above(bound: float) -> Callable[[Any], bool]:
    return lambda value: bool(value > bound)


def holds(pattern: str) -> Callable[[Any], bool]:
    return lambda text: pattern in text.casefold()


def one_of(values: Sequence[float]) -> Callable[[Any], bool]:
    chosen = frozenset(values)
    return lambda value: value in chosen


def word(chance: random.Random, letters: int) -> str:
    return "".join(chance.choices(string.ascii_lowercase, k=letters))


def many_attributes(chance: random.Random, count: int) -> tuple[list[Asked], Callable[[], dict[str, Any]]]:
    names = [f"attribute {n}" for n in range(10 * count)]

    def asked() -> Asked:
        one, two = chance.sample(names, 2)
        a, b = chance.random(), chance.random()
        return Asked(
            (Predicate(one, ">", a), Predicate(two, ">", b)), [[(one, above(a), False), (two, above(b), False)]]
        )

    return [asked() for _ in range(count)], lambda: {name: chance.random() for name in chance.sample(names, 20)}


def all_contains(chance: random.Random, count: int) -> tuple[list[Asked], Callable[[], dict[str, Any]]]:
    def asked() -> Asked:
        pattern = word(chance, chance.randint(2, 6))
        return Asked((Predicate("name", "contains", pattern),), [[("name", holds(pattern), False)]])

    return [asked() for _ in range(count)], lambda: {"name": word(chance, 40)}


def huge_ors(chance: random.Random, count: int) -> tuple[list[Asked], Callable[[], dict[str, Any]]]:
    names = [f"x{n}" for n in range(100)]

    def asked() -> Asked:
        parts = [tuple((n, chance.uniform(0.9, 1)) for n in chance.sample(names, 2)) for _ in range(64)]
        either = Or(tuple(All(tuple(Predicate(n, ">", b) for n, b in part)) for part in parts))
        return Asked((either,), [[(n, above(b), False) for n, b in part] for part in parts])

    return [asked() for _ in range(max(1, count // 64))], lambda: {n: chance.random() for n in names[:40]}


def negations(chance: random.Random, count: int) -> tuple[list[Asked], Callable[[], dict[str, Any]]]:
    def asked() -> Asked:
        one, two = chance.sample("abcdef", 2)
        a, b = chance.random(), chance.random()
        items = (Negated(Predicate(one, ">", a)), Negated(Predicate(two, ">", b)))
        return Asked(items, [[(one, above(a), True), (two, above(b), True)]])

    return [asked() for _ in range(count)], lambda: {name: chance.random() for name in "abcdef"}


def repeated(chance: random.Random, count: int) -> tuple[list[Asked], Callable[[], dict[str, Any]]]:
    def asked() -> Asked:
        low = chance.random()
        return Asked((Predicate("x[]", ">", low),), [[("x[]", above(low), False)]])

    return [asked() for _ in range(count)], lambda: {"x": [chance.random() for _ in range(20)]}


def many_values(chance: random.Random, count: int) -> tuple[list[Asked], Callable[[], dict[str, Any]]]:
    def asked() -> Asked:
        values = tuple(float(v) for v in chance.sample(range(100_000), 100))
        return Asked((Predicate("code", "in", values),), [[("code", one_of(values), False)]])

    return [asked() for _ in range(max(1, count // 10))], lambda: {"code": chance.randrange(100_000)}


def long_conjunctions(chance: random.Random, count: int) -> tuple[list[Asked], Callable[[], dict[str, Any]]]:
    names = [f"x{n}" for n in range(40)]

    def asked() -> Asked:
        bounds = [(n, chance.uniform(0, 0.2)) for n in chance.sample(names, 20)]
        return Asked([Predicate(n, ">", b) for n, b in bounds], [[(n, above(b), False) for n, b in bounds]])

    return [asked() for _ in range(count)], lambda: {n: chance.random() for n in names}


CASES = {
    "very many attributes": many_attributes,
    "all contains": all_contains,
    "ors of 64": huge_ors,
    "negated comparisons": negations,
    "attributes stated 20 times": repeated,
    "in with 100 numbers": many_values,
    "conjunctions of 20": long_conjunctions,
}


def seen_of(reading: dict[str, Any]) -> Seen:
    """An event as the scan takes it: names as the event's tuples have them."""
    seen: Seen = {}
    for item in event(reading).tuples:
        seen.setdefault(item.attribute, []).append(item.value)
    return seen


def measure(case: str, count: int, events: int, seed: int) -> dict[str, Any]:
    """One case: µs of CPU an event for both, and whether they found the same."""
    chance = random.Random(seed)
    asked, reading = CASES[case](chance, count)
    subscriptions = [Subscription(Condition(tuple(a.items)), id=str(ordinal)) for ordinal, a in enumerate(asked)]
    warm, engine = BitmapEngine(), BitmapEngine()  # compilation is no part of adding
    scan = PlainScan([a.conjunctions for a in asked])
    for ordinal, subscription in enumerate(subscriptions[:600]):
        warm.add(ordinal, subscription)
    warm.find(event(reading()))
    begun = time.process_time()
    for ordinal, subscription in enumerate(subscriptions):
        engine.add(ordinal, subscription)
    added = (time.process_time() - begun) / len(asked) * 1e6
    ours, plain, same, matches = [], [], True, 0
    for _ in range(ROUNDS):
        readings = [reading() for _ in range(events)]
        given, taken = [event(r) for r in readings], [seen_of(r) for r in readings]
        start = time.process_time()
        found = [engine.find(e).ordinals for e in given]
        middle = time.process_time()
        expected = [scan.find(s) for s in taken]
        end = time.process_time()
        ours.append((middle - start) / events * 1e6)
        plain.append((end - middle) / events * 1e6)
        same &= all(f.tolist() == e for f, e in zip(found, expected, strict=True))
        matches += sum(map(len, expected))
    bitmap, scanned = statistics.median(ours), statistics.median(plain)
    return {
        "subscriptions": len(asked),
        "bitmap": bitmap,
        "plain_scan": scanned,
        "times": scanned / bitmap,
        "add": added,
        "matches_an_event": matches / events / ROUNDS,
        "same": same,
        "bytes": engine.nbytes / len(asked),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=40, help="of each round")
    parser.add_argument("--case", action="append", choices=list(CASES), help="may be repeated; all by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = {
        case: measure(case, options.subscriptions, options.events, options.seed) for case in options.case or CASES
    }
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print(f"{'µs of CPU an event':28}{'subscriptions':>14}{'bitmap':>10}{'scan':>10}", end="")
        print(f"{'times':>8}{'add':>7}{'bytes':>8}")
        for case, row in report.items():
            print(
                f"{case:28}{row['subscriptions']:14,}{row['bitmap']:10.1f}{row['plain_scan']:10.0f}{row['times']:8.1f}"
                f"{row['add']:7.0f}{row['bytes']:8.0f}{'' if row['same'] else '  DIFFERENT RESULTS'}"
            )
    return 0 if all(row["same"] and row["times"] >= 1 for row in report.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

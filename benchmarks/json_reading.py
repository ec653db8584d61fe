"""How many subscriptions a second are read from JSON, on one core, every check included.

    python benchmarks/json_reading.py [--subscriptions 20000] [--rounds 5] [--json]

Reads structured subscriptions with ids and three predicates each (text, numbers, quantities, ranges,
lists; exact and relaxed), each as its own JSON document, as a file of lines or a socket delivers them.
The figures are of CPU time, the best of some rounds. Beside it: the bare JSON decoder that makes
dictionaries and checks nothing, and events of five attributes in both shapes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence

import msgspec

from likewise.formats.json import event_from_json, event_to_json, subscription_from_json, subscription_to_json
from likewise.model import Condition, Interval, Predicate, Quantity, Subscription, event


def subscriptions(count: int) -> list[bytes]:
    """Documents of four kinds of condition in turn, no two alike."""
    return [
        subscription_to_json(Subscription(Condition(_condition(i)), id=f"s{i}", themes=_THEMES[i % 3]))
        for i in range(count)
    ]


_THEMES = ((), ("energy", "appliances"), ("power", "computers", "buildings"))


def _condition(i: int) -> tuple[Predicate, ...]:
    match i % 4:
        case 0:
            return (
                Predicate("type", "=", "increased energy usage event", value_relaxed=True),
                Predicate("device", "=", "laptop", attribute_relaxed=True, value_relaxed=True),
                Predicate("office", "=", f"room {i}"),
            )
        case 1:
            return (
                Predicate("temperature", ">", Quantity(20.0 + i % 20, "degC"), attribute_relaxed=True),
                Predicate("city", "=", f"city {i % 997}"),
                Predicate("status", "!=", "off"),
            )
        case 2:
            return (
                Predicate("lat", "between", Interval(45.0 + i / 1e6, 46.0 + i / 1e6)),
                Predicate("long", "between", Interval(15.0 + i / 1e6, 16.0 + i / 1e6)),
                Predicate("no2", ">=", 40.0 + i % 7),
            )
        case _:
            return (
                Predicate("station", "in", (f"ST{i % 100}", f"ST{i % 100 + 1}")),
                Predicate("name", "contains", "cat"),
                Predicate("humidity", "<", 60.0),
            )


def events(count: int) -> tuple[list[bytes], list[bytes]]:
    """Plain payloads, and the same events in the written envelope."""
    payloads = [
        {
            "type": "reading",
            "temp": {"value": 20 + i % 9, "unit": "C"},
            "room": f"room {i}",
            "ok": True,
            "lat": 45 + i / 1e6,
        }
        for i in range(count)
    ]
    return [msgspec.json.encode(p) for p in payloads], [
        event_to_json(event(p, id=f"e{i}")) for i, p in enumerate(payloads)
    ]


def rate(read: Callable[[bytes], object], documents: Sequence[bytes], rounds: int) -> float:
    """Documents a second of CPU time, the best round; what was read is kept until the round ends."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        kept = [read(document) for document in documents]
        best = min(best, time.process_time() - start)
        del kept
    return len(documents) / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subscriptions", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    documents = subscriptions(options.subscriptions)
    bare, enveloped = events(options.subscriptions)
    figures = {
        "subscriptions": rate(subscription_from_json, documents, options.rounds),
        "bare decoder": rate(msgspec.json.Decoder().decode, documents, options.rounds),
        "events, payload": rate(event_from_json, bare, options.rounds),
        "events, envelope": rate(event_from_json, enveloped, options.rounds),
    }
    size = sum(map(len, documents)) / len(documents)
    if options.json:
        print(json.dumps({**figures, "bytes a subscription": size, "wanted": 100_000}))
        return
    print(f"{len(documents):,} subscriptions of {size:.0f} bytes on average")
    for name, value in figures.items():
        print(f"  {name:<18}{value:>12,.0f} a second")
    print(f"  at least 100,000 subscriptions a second: {'yes' if figures['subscriptions'] >= 100_000 else 'NO'}")


if __name__ == "__main__":
    main()

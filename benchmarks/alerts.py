"""What alerts cost: an event with many alert subscriptions and many keys, memory, and how both grow.

    python -m benchmarks.alerts --json
    likewise bench alerts --record

Alerts like `{a3 > 97.31} for 5 min once until false` over twenty attributes with thresholds of their own, so that an
event is about one in twenty of them, and a key holds one on average. Every source is a key of its own. Each figure is
CPU time:

- `alerts`: an event as alerts grow, with ten thousand keys
- `keys`: an event as keys grow, with all alerts; `bytes_a_key` is resident memory over what the engine took before
- `nobody`: an event that is about no alert
- `tick`: a second of time passing for each key that becomes due, with the collector as a broker sets it
- `save`: the states of the largest of them, written and loaded
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from likewise import __version__
from likewise.cli.terminal.broker_process import tune_gc
from likewise.language import parse
from likewise.matching.alerts.engine import AlertEngine
from likewise.model import Event, event

ATTRIBUTES = 20
TIMED = 2_000  # events of each figure
SECOND = 1_000_000
COSTS = 250.0  # µs of CPU an event may take with 10,000 alerts and 1,000,000 keys


def engine_of(alerts: int, seed: int) -> AlertEngine:
    """An engine with so many alerts."""
    chosen, engine = random.Random(seed), AlertEngine()
    for ordinal in range(alerts):
        level = 100 - 0.6 * chosen.random() ** 2
        text = f"{{a{ordinal % ATTRIBUTES} > {level:.4f}}} for {1 + ordinal % 9} min once until false"
        engine.add(ordinal, parse(text, id=f"s{ordinal}"), at=0)
    return engine


def sent(number: int, keys: int, chosen: random.Random) -> Event:
    """A reading of one attribute from one of the sources."""
    source = number % keys if number < keys else chosen.randrange(keys)
    value = 100 * chosen.random()
    return event({f"a{source % ATTRIBUTES}": value, "battery": 80}, source=f"source-{source}", id=str(number))


def resident() -> int:
    """Bytes of memory that the process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def timed(engine: AlertEngine, events: list[Event], at: int) -> float:
    """µs of CPU an event."""
    begun = time.process_time()
    for place, each in enumerate(events):
        engine.match(each, at + place)
    return (time.process_time() - begun) / len(events) * 1e6


def grown(alerts: int, keys: list[int], seed: int) -> tuple[list[dict[str, float]], AlertEngine]:
    """What an event costs as the keys of so many alerts grow."""
    engine, chosen = engine_of(alerts, seed), random.Random(seed + 1)
    timed(engine, [sent(n, 100, chosen) for n in range(200)], 0)  # whatever is made at the first event
    before, found, number = resident(), [], 0
    for size in keys:
        while number < size:
            engine.match(sent(number, size, chosen), number)
            number += 1
        events = [sent(size + n, size, chosen) for n in range(TIMED)]
        cost = timed(engine, events, number)
        found.append(
            {
                "alerts": alerts,
                "keys": size,
                "cpu_us": round(cost, 2),
                "states": engine.keys(),
                "bytes_a_key": round((resident() - before) / size, 1),
            }
        )
        number += TIMED
        print(f"{alerts:,} alerts, {size:,} keys: {cost:.1f} µs an event", file=sys.stderr, flush=True)
    return found, engine


def run(alerts: int, keys: int, seed: int) -> dict[str, Any]:
    """Everything."""
    steps = [size for size in (1_000, 10_000, 100_000) if size < keys] + [keys]
    few = min(10_000, keys)
    by_alerts = [grown(size, [few], seed)[0][0] for size in (alerts // 100, alerts // 10) if size]
    by_keys, engine = grown(alerts, steps, seed)
    chosen = random.Random(seed + 2)
    nobody = [event({"other": chosen.random()}, source=f"s{n}", id=f"n{n}") for n in range(TIMED)]
    report: dict[str, Any] = {
        "seed": seed,
        "version": __version__,
        "load": os.getloadavg()[0],
        "alerts": by_alerts,
        "keys": by_keys,
        "nobody": {"cpu_us": round(timed(engine, nobody, 2 * keys), 2)},
    }
    begun, said, due = time.process_time(), 0, engine.keys()
    with tune_gc():
        for minute in range(1, 11):
            said += len(engine.advance(3 * keys + minute * 60 * SECOND))
    report["tick"] = {
        "said": said,
        "states": due,
        "cpu_us": round((time.process_time() - begun) / max(1, said) * 1e6, 2),
    }
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        engine.save(Path(folder))
        saved = time.process_time() - begun
        fresh = engine_of(alerts, seed)
        begun = time.process_time()
        fresh.load(Path(folder))
        loaded = time.process_time() - begun
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    report["save"] = {"cpu_s": round(saved, 3), "load_cpu_s": round(loaded, 3), "bytes": size, "states": fresh.keys()}
    cost = by_keys[-1]["cpu_us"]
    report["missed"] = [f"an event takes {cost} µs of CPU"] if cost > COSTS else []
    return report


def main() -> int:
    """Print the figures; 1 if an event takes longer than promised."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few alerts and keys: that it runs, not how fast")
    parser.add_argument("--alerts", type=int, default=10_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report = run(600, 1_000, options.seed) if options.quick else run(options.alerts, options.keys, options.seed)
    if options.quick:
        report["missed"] = []
    print(json.dumps(report, indent=1))
    return 1 if report["missed"] else 0


if __name__ == "__main__":
    sys.exit(main())

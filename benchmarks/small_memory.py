"""Resident memory and speed of an exact matcher in profile `small`, the one an edge runs.

    python -m benchmarks.small_memory
    likewise bench small_memory -- --json

Each size runs in a process of its own, in which numba, scipy, pyarrow and the like must not be loaded: 1,000 and
10,000 filters of one to three predicates (a number against a bound, a room, a device class), then 2,000 events.
Memory is the process's resident set (`VmRSS`): before the package is imported, after it, and with the filters; times
are CPU. The exit code is 1 if something heavy was loaded or 1,000 filters take more than is promised.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path

SIZES = (1_000, 10_000)
EVENTS = 2_000
PROMISED = 100.0  # MB with 1,000 filters
HEAVY = ("numba", "scipy", "pyarrow", "pandas", "fastapi")


def resident() -> float:
    """The resident set of this process, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1_000
    raise RuntimeError("there is no VmRSS in /proc/self/status; this benchmark needs Linux")


def filters(count: int, seed: int = 7) -> list[str]:
    """Filters as people write them."""
    chance = random.Random(seed)
    names = [f"{what}_{number}" for what in ("temp", "no2", "level", "power", "humidity") for number in range(8)]
    found = []
    for _ in range(count):
        low = round(chance.uniform(0, 90), 1)
        parts = [f"{chance.choice(names)} {chance.choice(('>', '<', '>='))} {low}"]
        if chance.random() < 0.6:
            parts.append(f"room = r{chance.randrange(200)}")
        if chance.random() < 0.3:
            parts.append(f"device_class = c{chance.randrange(20)}")
        found.append("{" + ", ".join(parts) + "}")
    return found


def events(count: int, seed: int = 8) -> list[dict[str, object]]:
    chance = random.Random(seed)
    names = [f"{what}_{number}" for what in ("temp", "no2", "level", "power", "humidity") for number in range(8)]
    return [
        {
            **{name: round(chance.uniform(0, 100), 1) for name in chance.sample(names, 4)},
            "room": f"r{chance.randrange(200)}",
            "device_class": f"c{chance.randrange(20)}",
        }
        for _ in range(count)
    ]


def measure(count: int) -> dict[str, object]:
    """One size, in this process."""
    texts, payloads = filters(count), events(EVENTS)
    before = resident()
    import likewise as lw

    matcher = lw.Matcher(profile="small")
    lw.parse("{x = 1}")
    imported = resident()
    start = time.process_time()
    for number, text in enumerate(texts):
        matcher.add(lw.parse(text, id=f"s{number}"), at=0)
    added = time.process_time() - start
    held = resident()
    made = [lw.event(payload) for payload in payloads]
    start = time.process_time()
    matches = sum(len(matcher.match(event, at=0)) for event in made)
    matched = time.process_time() - start
    return {
        "filters": count,
        "python_mb": round(before, 1),
        "imported_mb": round(imported, 1),
        "resident_mb": round(held, 1),
        "add_us": round(added / count * 1e6, 1),
        "match_us": round(matched / EVENTS * 1e6, 1),
        "matches": matches,
        "heavy": [name for name in HEAVY if name in sys.modules],
    }


def main() -> int:
    """Run every size and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.one is not None:
        print(json.dumps(measure(said.one)))
        return 0
    rows = []
    for size in SIZES:
        command = [sys.executable, "-m", "benchmarks.small_memory", "--one", str(size)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parent.parent
        )
        rows.append(json.loads(done.stdout))
    if said.json:
        print(json.dumps(rows, indent=1))
    else:
        print(f"{'filters':>8}  {'python':>8}  {'imported':>8}  {'resident':>8}  {'add':>10}  {'event':>10}  matches")
        for row in rows:
            sizes = "  ".join(f"{row[name]:>5} MB" for name in ("python_mb", "imported_mb", "resident_mb"))
            times = "  ".join(f"{row[name]:>7} µs" for name in ("add_us", "match_us"))
            print(f"{row['filters']:>8,}  {sizes}  {times}  {row['matches']:,}")
    return int(any(row["heavy"] for row in rows) or rows[0]["resident_mb"] > PROMISED)


if __name__ == "__main__":
    sys.exit(main())

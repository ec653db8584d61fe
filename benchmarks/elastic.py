"""Matching by workers: the source's experiment (CUPUS, Figures 25 to 27), larger sizes, and a load that comes and goes.

    python -m benchmarks.elastic --json
    likewise bench elastic -- --part figures --sizes 1000 10000 --publications 10000 --matchers 15
    likewise bench elastic -- --part stage --subscriptions 100000 --events 20000
    likewise bench elastic -- --part larger --into build/elastic.json
    likewise bench elastic -- --part load --seconds 60 --plots build

`figures`: W1, so many subscriptions and publications; µs of the processor a publication with one matcher, with N
partitioned ones (the slowest counts), and overall wall time with the coordinator. `stage`: the matching stage, from the
log's bytes to packed recipient sets: processor time of the slowest of two workers against one, replicated and
partitioned, on W1 and W2; and memory, with what is shared. `broker`: events a second of wall time through a whole
broker in memory. `pauses`: the time between two stretches when workers split and merge, and otherwise. `kills`: the
seconds until deliveries go on after a worker was killed. `larger`: exact to 1,000,000 subscriptions, relaxed to 50,000,
top-k to 100,000; parts of a partition are looked at one after the other, so it needs no 15 cores. `load`: a rate that
rises and falls, with workers that come and go beside latency.

With `--into` every row is kept as soon as it is found, and not measured again: what is stopped goes on there.
`--minutes` begins no further row after so long. `--plots DIR` draws what there is. Worker time is CPU time and bears a
busy machine; wall time does not, so the load is said beside everything.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.workers.brokers import kills, pauses, rising, throughput
from benchmarks.workers.plots import plots
from benchmarks.workers.stage import MAKE, Work, figures, gains, larger

PARTS = ("figures", "stage", "broker", "pauses", "kills", "larger", "load")


def rows(part: str, said: argparse.Namespace, known: dict[str, Any]) -> Iterator[tuple[str, Work]]:
    """The rows of a part, each with what finds it."""
    size, events, seed = said.subscriptions, said.events, said.seed
    match part:
        case "figures":
            left = [each for each in said.sizes if str(each) not in known]
            if left:
                yield from figures(left, said.publications, said.matchers, seed)
        case "stage":
            for kind in MAKE:
                yield f"{kind} {size:,}", partial(gains, kind, size, events, said.rounds, seed)
        case "broker":
            yield f"w1 {size:,}", partial(throughput, "w1", size, events, seed)
        case "pauses":
            for how in ("replicated", "partitioned", "hierarchical"):
                yield how, partial(pauses, "w1", min(size, 10_000), how, said.seconds / 2, seed)
        case "kills":
            for how in ("replicated", "partitioned"):
                yield how, partial(kills, "w2", min(size, 10_000), how, 2 if said.quick else 6, seed)
        case "larger":
            yield from larger(seed, said.quick)
        case "load":
            yield "rising", partial(rising, said.seconds, said.peak, seed)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--part", choices=[*PARTS, "all"], default="all")
    asked.add_argument("--sizes", type=int, nargs="+", default=[1_000, 2_000, 3_000, 4_000, 5_000, 10_000])
    asked.add_argument("--publications", type=int, nargs="+", default=[10_000, 50_000, 100_000, 150_000])
    asked.add_argument("--matchers", type=int, default=15)
    asked.add_argument("--subscriptions", type=int, default=100_000)
    asked.add_argument("--events", type=int, default=20_000)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--seconds", type=float, default=60.0)
    asked.add_argument("--peak", type=float, default=4_000.0, help="events a second at the top of the load")
    asked.add_argument("--minutes", type=float, default=600.0, help="after which no further row begins")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--into", type=Path, help="a file in which rows are kept, and found again")
    asked.add_argument("--plots", type=Path)
    asked.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    asked.add_argument("--json", action="store_true")
    said = asked.parse_args()
    if said.quick:
        said.sizes, said.publications, said.matchers, said.subscriptions = [200], [500], 2, 500
        said.events, said.rounds, said.seconds = 500, 1, 3.0
    found: dict[str, Any] = {"seed": said.seed, "cores": os.cpu_count()}
    if said.into is not None and said.into.exists():
        found |= json.loads(said.into.read_text())
    end, left = time.monotonic() + 60 * said.minutes, 0
    for part in PARTS if said.part == "all" else (said.part,):
        known = found.setdefault(part, {})
        for name, work in rows(part, said, known):
            if name in known:
                continue
            if time.monotonic() > end:
                left += 1
                continue
            known[name] = work()
            if said.into is not None:
                said.into.parent.mkdir(parents=True, exist_ok=True)
                said.into.write_text(json.dumps(found))
            if not said.json:
                print(f"{part}: {name}", json.dumps(known[name]), file=sys.stderr, flush=True)
    if said.plots is not None:
        plots(found, said.plots)
    found["rows_left"] = left
    print(json.dumps(found, indent=None if said.json else 2))
    sys.exit(0 if all(each.get("matches_agree", True) for each in found.get("stage", {}).values()) else 1)


if __name__ == "__main__":
    main()

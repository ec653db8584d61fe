"""Top-k over sliding windows: µs a publication against the number of subscriptions, k and the window.

    python -m benchmarks.topk --json
    python -m benchmarks.topk --subscriptions 10000 --k 10 --window 10000

Points fall uniformly into a unit square; each subscription wants the k points of the last n nearest to a point
of its own. The window is filled first; then publications are timed in CPU time. In the same run, on the same
points, the two yardsticks (`yardsticks/topk_visit.py`) start from the same full window; their deliveries on the
timed publications must be the same. They are timed on fewer publications where they are slow, and left out where
filling their windows would take longer than everything else (above 100 million pairs of subscription and event).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.yardsticks.topk_visit import NumpyVisit, PythonVisit
from likewise.matching.topk.engine import TopKEngine
from likewise.model import Condition, Distance, Event, EventTuple, Predicate, Subscription, Top

PUBLICATIONS = 2_000  # timed for our engine
YARDSTICK_SECONDS = 4.0  # how long a yardstick is timed at the most
YARDSTICK_PAIRS = 100_000_000


def case(subscriptions: int, k: int, window: int, *, seed: int = 1, yardsticks: bool = True) -> dict[str, Any]:
    """One point of the table."""
    chosen = np.random.default_rng(seed)
    centres = chosen.random((subscriptions, 2))
    points = chosen.random((window + PUBLICATIONS, 2))
    engine = TopKEngine()
    condition = Condition((Predicate("x", "exists"), Predicate("y", "exists")))
    before = time.process_time()
    for ordinal, (x, y) in enumerate(centres.tolist()):
        top = Top(k, Distance((("x", x), ("y", y))), events=window)
        engine.add(ordinal, Subscription(condition, f"s{ordinal}", top=top), 0)
    building = time.process_time() - before
    events = [Event((EventTuple("x", x), EventTuple("y", y)), id=str(n)) for n, (x, y) in enumerate(points.tolist())]
    for event in events[:window]:
        engine.match(event, 0)
    (family,) = engine._families.values()
    refills = family.refills
    deliveries, times = [], []
    for event in events[window:]:
        before = time.process_time_ns()
        deliveries.append(len(engine.match(event, 0)))
        times.append(time.process_time_ns() - before)
    found: dict[str, Any] = {
        "subscriptions": subscriptions,
        "k": k,
        "window": window,
        "build_us_a_subscription": building / subscriptions * 1e6,
        "us_a_publication": sum(times) / len(times) / 1e3,
        "us_median": statistics.median(times) / 1e3,
        "deliveries_a_publication": sum(deliveries) / len(deliveries),
        "refills_a_publication": (family.refills - refills) / len(times),
        "candidates_a_subscription": family.candidates() / subscriptions,
        "bytes_of_the_window": family.window_bytes(),
        "bytes_a_subscription": family.member_bytes() / subscriptions,
    }
    if yardsticks and subscriptions * window <= YARDSTICK_PAIRS:
        found |= _yardstick("numpy", NumpyVisit(centres, k, window), points, window, deliveries)
        found |= _yardstick(
            "python", PythonVisit([(x, y) for x, y in centres.tolist()], k, window), points, window, deliveries
        )
        for name in ("numpy", "python"):
            if f"{name}_us" in found:
                found[f"times_{name}"] = found[f"{name}_us"] / found["us_a_publication"]
    return found


def _yardstick(
    name: str, visit: NumpyVisit | PythonVisit, points: np.ndarray, window: int, deliveries: list[int]
) -> dict[str, Any]:
    """Time a yardstick from a full window on; its deliveries must be ours."""
    _fill(visit, points[:window])
    spent, done = 0, 0
    for point, expected in zip(points[window:].tolist(), deliveries, strict=True):
        before = time.process_time_ns()
        count = visit.publish(tuple(point))
        spent += time.process_time_ns() - before
        done += 1
        if count != expected:
            raise SystemExit(f"{name} delivered {count} of publication {done}, the engine {expected}")
        if spent > YARDSTICK_SECONDS * 1e9 and done >= 20:
            break
    return {f"{name}_us": spent / done / 1e3, f"{name}_publications": done}


def _fill(visit: NumpyVisit | PythonVisit, points: np.ndarray) -> None:
    """A full window with each subscription's k nearest in it, as if all points had been published and delivered."""
    size, k = len(points), visit.k
    centres = np.column_stack([visit.x, visit.y]) if isinstance(visit, NumpyVisit) else np.array(visit.centres)
    visit.number = size
    if isinstance(visit, NumpyVisit):
        visit.points[:], visit.numbers[:] = points, np.arange(size)
    else:
        visit.window.extend((n, (x, y)) for n, (x, y) in enumerate(points.tolist()))
    for index, (x, y) in enumerate(centres.tolist()):
        dx, dy = points[:, 0] - x, points[:, 1] - y
        distance = np.sqrt(dx * dx + dy * dy)
        near = np.argpartition(distance, min(k, size - 1))[: k + 1]
        near = near[np.lexsort((-near, distance[near]))][:k]
        # Every point that once was among the k nearest counts as delivered: it is nearer than k later ones at most.
        visit.delivered[index] = _delivered(distance, k)
        if isinstance(visit, NumpyVisit):
            visit.best_distance[index], visit.best_number[index] = distance[near], near
            visit.kth[index] = distance[near[-1]]
        else:
            visit.best[index] = [(float(distance[n]), -int(n)) for n in near]


def _delivered(distance: np.ndarray, k: int) -> set[int]:
    """The points that were among the k nearest when they arrived, with nothing leaving meanwhile."""
    best: list[float] = []
    import heapq

    found = set()
    for number, value in enumerate(distance.tolist()):
        if len(best) < k:
            heapq.heappush(best, -value)
        elif value <= -best[0]:
            heapq.heapreplace(best, -value)
        else:
            continue
        found.add(number)
    return found


def run(
    subscriptions: list[int], ks: list[int], windows: list[int], *, yardsticks: bool = True
) -> Iterator[dict[str, Any]]:
    """Every combination asked for, as it is done."""
    for n in subscriptions:
        for k in ks:
            for window in windows:
                if k <= window:
                    yield case(n, k, window, yardsticks=yardsticks)


def main() -> int:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--subscriptions", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--k", type=int, nargs="+", default=[10])
    parser.add_argument("--window", type=int, nargs="+", default=[10_000])
    parser.add_argument("--no-yardsticks", action="store_true")
    options = parser.parse_args()
    rows = run(options.subscriptions, options.k, options.window, yardsticks=not options.no_yardsticks)
    if options.json:
        print(json.dumps(list(rows), indent=1))
        return 0
    for row in rows:
        line = "  ".join(
            f"{name} {value:,.4g}" if isinstance(value, float) else f"{name} {value:,}" for name, value in row.items()
        )
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

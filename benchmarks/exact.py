"""Exact matching on the workloads W1 and W2, every engine beside three yardsticks.

    python ../shared/bench/workloads.py /tmp/w --subscriptions 100000
    python -m benchmarks.exact --workload /tmp/w --subscriptions 10000 --json
    likewise bench exact -- --workload /tmp/w --subscriptions 10000 --engine bitmap

For each engine: µs of CPU to build (a subscription), to add and remove one when all are there (with the longest
single call, in wall time), and a publication: one event to an array of ids, a dict to a Python list (what a user
does from JSON), and events in batches. Slow engines and yardsticks run on the first publications only, as many as
fit into `--seconds`; their matches are compared with the tuned NumPy scan's on those. With all publications
of the default seed, totals and checksums are compared with the known ones. The exit code is 1 if a result is
wrong or the bitmap engine falls behind what is promised of it.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.yardsticks.duckdb_scan import DuckdbScan
from benchmarks.yardsticks.numpy_scan import NumpyScan, TunedNumpyScan
from benchmarks.yardsticks.python_scan import PythonScan
from likewise.matching.engine import BaseEngine
from likewise.model import Condition, Predicate, Subscription, event

Publication = dict[str, Any]
Found = NDArray[np.int64]

KNOWN = {
    ("w1", 1_000): (1_336_305, 6688938137313458),
    ("w1", 10_000): (13_232_717, 66677775557782224),
    ("w1", 100_000): (134_535_912, 725861646139878710),
    ("w2", 1_000): (10_175, 50442590542628),
    ("w2", 10_000): (101_450, 509829562146714),
    ("w2", 100_000): (1_009_215, 5435885822912582),
}  # of 10,000 publications
ALL_PUBLICATIONS = 10_000
YARDSTICKS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "python scan": PythonScan,
    "numpy scan": NumpyScan,
    "numpy scan, tuned": TunedNumpyScan,
    "duckdb": DuckdbScan,
}
# What is promised: (size, yardstick, how many times faster the bitmap engine is, one event to ids).
PROMISED = [(10_000, "numpy scan", 6), (100_000, "numpy scan", 10), (10_000, "python scan", 200)]
ROUNDS = 5
BATCH = 100
CHANGES = 2_000


def bitmap() -> BaseEngine:
    from likewise.matching.bitmap.engine import BitmapEngine

    return BitmapEngine()


def forest() -> BaseEngine:
    from likewise.matching.forest.engine import ForestEngine

    return ForestEngine()


def sgim() -> BaseEngine:
    from likewise.matching.classical.sgim import SgimEngine

    return SgimEngine()


def naive() -> BaseEngine:
    from likewise.matching.oracle.engine import OracleEngine

    return OracleEngine()


ENGINES: dict[str, Callable[[], Any]] = {"bitmap": bitmap, "forest": forest, "sgim": sgim, "naive": naive}


def read(folder: Path, workload: str, subscriptions: int) -> tuple[list[list[Any]], list[Publication]]:
    with (folder / f"{workload}_subs.jsonl").open() as lines:
        asked = [json.loads(line)["preds"] for line in islice(lines, subscriptions)]
    with (folder / f"{workload}_pubs.jsonl").open() as lines:
        return asked, [json.loads(line) for line in lines]


def checksum(found: Sequence[Found]) -> int:
    """As the generator of the workloads defines it, modulo 2**64."""
    total = 0
    for number, ids in enumerate(found):
        s = ids.astype(np.uint64)
        total += number * 1_000_003 * len(s) + int((s * np.uint64(7919)).sum()) + int((s ^ np.uint64(number)).sum())
    return total % 2**64


def clock(run: Callable[[], object], count: int) -> tuple[float, float]:
    """µs of CPU and of wall time for each of `count`."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return (time.process_time() - cpu) / count * 1e6, (time.perf_counter() - wall) / count * 1e6


def measure(find: Callable[[Any], object], items: Sequence[Any], seconds: float) -> dict[str, float]:
    """The median CPU and wall time of an item, over rounds of as many items as fit."""
    started = time.perf_counter()
    for item in items[:3]:  # compile, open, fill caches
        find(item)
    fits = int(3 * seconds / ROUNDS / max(time.perf_counter() - started, 1e-9)) + 3
    chosen = items[: max(3, min(len(items), fits))]

    def one_round() -> None:
        for item in chosen:
            find(item)

    one_round()
    cpu, wall = zip(*(clock(one_round, len(chosen)) for _ in range(ROUNDS)), strict=True)
    return {"cpu": statistics.median(cpu), "wall": statistics.median(wall), "publications": len(chosen)}


def measure_engine(
    make: Callable[[], Any], asked: list[list[Any]], publications: list[Publication], seconds: float
) -> dict[str, Any]:
    conditions = [
        Subscription(Condition(tuple(Predicate(a, "=" if op == "==" else op, v) for a, op, v in predicates)), id=str(i))  # type: ignore[arg-type]
        for i, predicates in enumerate(asked)
    ]
    events = [event(p) for p in publications]
    warm = make()  # compilation is no part of building
    for ordinal, subscription in enumerate(conditions[:300]):
        warm.add(ordinal, subscription, 0)
    warm.find(events[0], 0)
    warm.match_batch(events[:2], [0, 0])
    engine = make()
    pauses: list[float] = []

    def build() -> None:
        for ordinal, subscription in enumerate(conditions):
            started = time.perf_counter()
            engine.add(ordinal, subscription, 0)
            pauses.append(time.perf_counter() - started)

    gc.collect()
    gc.freeze()  # the subscriptions are the benchmark's, not the engine's: the collector need not visit them again
    before = resident()
    result: dict[str, Any] = {"build": clock(build, len(conditions))[0], "longest_add_ms": max(pauses) * 1e3}
    grown = resident() - before
    arrays = getattr(engine, "nbytes", None)
    result["bytes"] = None if arrays is None else arrays / len(conditions)
    result["resident_bytes"] = grown / len(conditions)
    result["single"] = measure(lambda e: engine.find(e, 0), events, seconds)
    result["dict_to_list"] = measure(lambda p: engine.find(event(p), 0).ordinals.tolist(), publications, seconds)
    batches = [events[i : i + BATCH] for i in range(0, len(events), BATCH)]
    moments = [0] * BATCH
    per_batch = measure(lambda b: engine.match_batch(b, moments[: len(b)]), batches, seconds)
    result["batch"] = {k: v / BATCH if k != "publications" else v * BATCH for k, v in per_batch.items()}
    found = [engine.find(e, 0).ordinals for e in events[: result["single"]["publications"]]]
    result |= {"publications": len(found), "matches": sum(map(len, found)), "checksum": checksum(found)}
    result |= measure_changes(engine, conditions)
    gc.unfreeze()
    return result


def measure_changes(engine: Any, conditions: list[Subscription]) -> dict[str, Any]:
    """Remove some subscriptions spread over all, and add them again."""
    chosen = list(range(0, len(conditions), max(1, len(conditions) // CHANGES)))[:CHANGES]
    pauses: list[float] = []

    def remove() -> None:
        for ordinal in chosen:
            started = time.perf_counter()
            engine.remove(ordinal)
            pauses.append(time.perf_counter() - started)

    def add() -> None:
        for ordinal in chosen:
            engine.add(len(conditions) + ordinal, conditions[ordinal], 0)

    removed, _ = clock(remove, len(chosen))
    added, _ = clock(add, len(chosen))
    return {"add": added, "remove": removed, "longest_remove_ms": max(pauses) * 1e3}


def resident() -> int:
    """Bytes of memory the process holds; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


def measure_yardstick(
    make: Callable[[Sequence[Any]], Any], asked: list[list[Any]], publications: list[Publication], seconds: float
) -> dict[str, Any]:
    holder: list[Any] = []
    result: dict[str, Any] = {"build": clock(lambda: holder.append(make(asked)), len(asked))[0]}
    scan = holder[0]
    result["single"] = measure(scan.find, publications, seconds)
    result["dict_to_list"] = measure(lambda p: list(scan.find(p)), publications, seconds)
    if hasattr(scan, "find_batch"):
        batches = [publications[i : i + BATCH] for i in range(0, len(publications), BATCH)]
        per_batch = measure(scan.find_batch, batches, seconds)
        result["batch"] = {k: v / BATCH if k != "publications" else v * BATCH for k, v in per_batch.items()}
    found = [np.asarray(scan.find(p), np.int64) for p in publications[: result["single"]["publications"]]]
    return result | {"publications": len(found), "matches": sum(map(len, found)), "checksum": checksum(found)}


def run(
    workload_dir: Path,
    subscriptions: int,
    engines: Sequence[str] = ("bitmap",),
    *,
    workloads: Sequence[str] = ("w1", "w2"),
    yardsticks: Sequence[str] = tuple(YARDSTICKS),
    seconds: float = 2.0,
) -> dict[str, Any]:
    """All figures as one object: workload -> engine or yardstick -> figures; and what went wrong, in `problems`."""
    report: dict[str, Any] = {"subscriptions": subscriptions, "workloads": {}, "problems": []}
    for workload in workloads:
        asked, publications = read(workload_dir, workload, subscriptions)
        rows: dict[str, Any] = {}
        for name in engines:
            rows[name] = measure_engine(ENGINES[name], asked, publications, seconds)
        for name in yardsticks:
            rows[name] = measure_yardstick(YARDSTICKS[name], asked, publications, seconds)
        report["workloads"][workload] = rows
        report["problems"] += check(workload, subscriptions, asked, publications, rows)
    return report


def check(
    workload: str, size: int, asked: list[list[Any]], publications: list[Publication], rows: dict[str, Any]
) -> list[str]:
    """Wrong results, and promises not kept."""
    problems = []
    plain = TunedNumpyScan(asked)
    right: list[Found] = []
    known = KNOWN.get((workload, size)) if len(publications) == ALL_PUBLICATIONS else None
    for name, row in sorted(rows.items(), key=lambda item: item[1]["publications"]):
        right += [plain.find(p) for p in publications[len(right) : row["publications"]]]
        expected = (sum(map(len, right)), checksum(right))
        if row["publications"] == len(publications) and known is not None and known != expected:
            problems.append(f"{workload}: the plain scan finds {expected}, known is {known}")
        if (row["matches"], row["checksum"]) != expected:
            problems.append(f"{workload}, {name}: found {row['matches']}, {row['checksum']}; expected {expected}")
    if "bitmap" in rows:
        mine = rows["bitmap"]["single"]["cpu"]
        for at, name, times in PROMISED:
            if at == size and name in rows and rows[name]["single"]["cpu"] < times * mine:
                problems.append(f"{workload}: {rows[name]['single']['cpu'] / mine:.1f} times {name}, promised {times}")
        if max(rows["bitmap"]["add"], rows["bitmap"]["remove"]) > 50:
            problems.append(f"{workload}: an addition or a removal takes more than 50 µs")
    return problems


def show(report: dict[str, Any]) -> None:
    for workload, rows in report["workloads"].items():
        print(f"{workload}, {report['subscriptions']:,} subscriptions; µs of CPU (wall)")
        print(
            f"{'':20}{'build':>8}{'add':>8}{'remove':>8}{'one event':>20}{'dict to list':>20}{'batch':>20}{'bytes':>7}"
        )
        for name, row in rows.items():
            cells = [f"{row[k]:8.1f}" if k in row else " " * 8 for k in ("build", "add", "remove")]
            for k in ("single", "dict_to_list", "batch"):
                cells.append(f"{row[k]['cpu']:11.1f} ({row[k]['wall']:.1f})".rjust(20) if k in row else " " * 20)
            size = row.get("bytes")
            print(f"{name:20}{''.join(cells)}{'' if size is None else f'{size:7.0f}'}")
            print(
                f"{'':20}{row['matches']:,} matches of {row['publications']:,} publications, checksum {row['checksum']}"
            )
    for problem in report["problems"]:
        print("PROBLEM", problem)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", type=Path, required=True, help="folder the workloads were generated into")
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--engine", action="append", choices=list(ENGINES), help="may be repeated; bitmap by default")
    parser.add_argument("--only", choices=("w1", "w2"), help="one of the workloads")
    parser.add_argument("--no-yardsticks", action="store_true")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure, about")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report = run(
        options.workload,
        options.subscriptions,
        options.engine or ["bitmap"],
        workloads=[options.only] if options.only else ["w1", "w2"],
        yardsticks=() if options.no_yardsticks else tuple(YARDSTICKS),
        seconds=options.seconds,
    )
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)
    return 1 if report["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())

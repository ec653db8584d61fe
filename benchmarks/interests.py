"""Interest vectors: naive, tree, RAPIDMatch, modified RAPIDMatch, SGIM and bit planes against their number.

    python -m benchmarks.interests --json --plot interests.png

The experiment of Mohapatra et al. (2013), section IV: 50 properties, 250 to 1,000 subscriptions, and on to
1,000,000. Two kinds of subscriptions:

- `paper`: every property 0, 1 or * alike, as the paper says. Hardly any event meets one.
- `few`: three properties wanted, two unwanted, the rest *: what a reader of a newspaper would say.

Three kinds of events: `sparse` (a tenth of the properties are 1: about 5 of 50), `uniform` and `dense` (a tenth are
0). RAPIDMatch never leaves its full tree with the last two, its modification does so with the last. One event goes in
as an `Event`, an array of ordinals comes out; times are the median over rounds of CPU µs an event. In each round the
engines take turns. All engines' answers on all events are compared before anything is timed. `naive` is the paper's
scan, compiled like the trees; `naive_python` is the same scan in Python, up to 10,000 subscriptions. SGIM's sets are
Python's long integers, its loop is Python.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from likewise.errors import LimitExceeded
from likewise.matching.classical.sgim import SgimEngine
from likewise.matching.engine import BaseEngine, EngineResult
from likewise.matching.interests.bitmap import InterestBitmapEngine
from likewise.matching.interests.rapid import RapidEngine, default_c
from likewise.matching.interests.rapid_modified import ModifiedRapidEngine
from likewise.matching.interests.tree import TreeEngine
from likewise.matching.interests.vectors import InterestEngine, VectorTable
from likewise.model import Event, Interest, Subscription

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZES = (250, 500, 750, 1_000, 10_000, 100_000, 1_000_000)
ONES = {"sparse": 0.1, "uniform": 0.5, "dense": 0.9}  # the share of properties of an event that are 1
PYTHON_SCAN = 10_000  # above this the scan in Python is left out: it takes longer than all the rest together


@njit
def scan(predicates, starts, row_count, event, out):
    """Each row's predicates (property * 2 + value) one by one, up to the first false one."""
    found = 0
    for row in range(row_count):
        for i in range(starts[row], starts[row + 1]):
            if event[predicates[i] >> 1] != predicates[i] & 1:
                break
        else:
            out[found] = row
            found += 1
    return found


class NaiveIndex:
    """The paper's naive algorithm, compiled. Made for filling once: the benchmark removes nothing from it."""

    def __init__(self, table: VectorTable) -> None:
        self._table = table
        self._listed: list[tuple[int, ...]] = []
        self._made: tuple[Any, ...] | None = None

    def insert(self, row: int) -> None:
        care, value = self._table.unpack(row)
        self._listed.append(tuple(2 * p + (value >> p & 1) for p in range(self._table.width) if care >> p & 1))
        self._made = None

    def search(self, event: int) -> NDArray[np.int64]:
        if self._made is None:
            counts = [len(row) for row in self._listed]
            predicates = np.fromiter((p for row in self._listed for p in row), np.int16, sum(counts))
            starts = np.concatenate([[0], np.cumsum(counts)])
            self._made = predicates, starts, np.zeros(len(counts), np.int64)
        predicates, starts, out = self._made
        words = self._table.pack(event).view(np.uint8)
        bits = np.unpackbits(words, count=self._table.width, bitorder="little")
        return out[: scan(predicates, starts, len(out), bits, out)].copy()

    @property
    def nbytes(self) -> int:
        return 0 if self._made is None else sum(array.nbytes for array in self._made)


class NaiveScan(InterestEngine):
    def index(self, table: VectorTable) -> Any:
        return NaiveIndex(table)


class PythonScan(BaseEngine):
    """The same in Python."""

    def __init__(self) -> None:
        super().__init__()
        self._listed: list[tuple[int, list[tuple[int, str]]]] = []
        self.nbytes = 0

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        vector = subscription.body.vector  # type: ignore[union-attr]
        self._listed.append((ordinal, [(i, v) for i, v in enumerate(vector) if v != "*"]))

    def find(self, event: Event, at: int) -> EngineResult:
        seen = event.interest()
        found = []
        for ordinal, predicates in self._listed:
            for place, value in predicates:
                if seen[place] != value:
                    break
            else:
                found.append(ordinal)
        return EngineResult(np.array(found, np.int64))


ENGINES: dict[str, Callable[[], Any]] = {
    "naive": NaiveScan,
    "naive_python": PythonScan,
    "tree": TreeEngine,
    "rapid": RapidEngine,
    "rapid_modified": ModifiedRapidEngine,
    "sgim": SgimEngine,
    "bitmap": InterestBitmapEngine,
}


def vectors(kind: str, number: int, properties: int, seed: int) -> list[str]:
    """Subscriptions of one kind; the first n of a longer list are the shorter list."""
    rng = np.random.default_rng(seed)
    letters = np.array(["0", "1", "*"])
    if kind == "paper":
        drawn = rng.integers(0, 3, (number, properties))
    else:
        drawn = np.full((number, properties), 2)
        chosen = rng.random((number, properties)).argpartition(5, axis=1)[:, :5]
        rows = np.arange(number)[:, None]
        drawn[rows, chosen[:, :3]] = 1
        drawn[rows, chosen[:, 3:]] = 0
    return ["".join(row) for row in letters[drawn]]


def events(kind: str, number: int, properties: int, seed: int) -> list[Event]:
    rng = Random(seed)
    ones = ONES[kind]
    drawn = ("".join("1" if rng.random() < ones else "0" for _ in range(properties)) for _ in range(number))
    return [Event(vector=vector) for vector in drawn]


def build(engine: Any, subscriptions: Sequence[Subscription]) -> float:
    """CPU µs a subscription."""
    began = time.process_time_ns()
    for ordinal, subscription in enumerate(subscriptions):
        engine.add(ordinal, subscription, 0)
    return (time.process_time_ns() - began) / 1_000 / len(subscriptions)


def spend(engine: Any, published: Sequence[Event]) -> float:
    """CPU µs an event."""
    began = time.process_time_ns()
    for event in published:
        engine.find(event, 0)
    return (time.process_time_ns() - began) / 1_000 / len(published)


def removal(engine: Any, number: int) -> float | None:
    """CPU µs to remove one of a thousand spread over the engine, which is not used again."""
    if isinstance(engine, NaiveScan | PythonScan):  # these two remove nothing
        return None
    gone = range(0, number, max(1, number // 1_000))
    began = time.process_time_ns()
    for ordinal in gone:
        engine.remove(ordinal)
    return (time.process_time_ns() - began) / 1_000 / len(gone)


def measure(
    names: Sequence[str], kind: str, size: int, properties: int, event_count: int, rounds: int, seed: int
) -> list[dict[str, object]]:
    """One number of subscriptions of one kind: every engine, both kinds of events."""
    subscriptions = [Subscription(Interest(v)) for v in vectors(kind, size, properties, seed)]
    published = {e: events(e, event_count, properties, seed + 1) for e in ONES}
    engines: dict[str, Any] = {}
    facts: dict[str, dict[str, object]] = {}
    for name in names:
        if name == "naive_python" and size > PYTHON_SCAN:
            continue
        engine = ENGINES[name]()
        try:
            built = build(engine, subscriptions)
        except LimitExceeded as refused:
            facts[name] = {"refused": str(refused)}
            continue
        engines[name] = engine
        facts[name] = {"build_us": round(built, 2)}
    times: dict[tuple[str, str], float] = {}
    matches: dict[str, int] = {}
    for event_kind, chosen in published.items():
        matches[event_kind] = compare(engines, chosen)
        spent: dict[str, list[float]] = {name: [] for name in engines}
        for _ in range(rounds):
            for name, engine in engines.items():
                spent[name].append(spend(engine, chosen))
        times.update({(name, event_kind): statistics.median(taken) for name, taken in spent.items()})
    for name, engine in engines.items():
        facts[name]["bytes_per_subscription"] = round(engine.nbytes / size, 1)
        facts[name]["copies_per_subscription"] = round(getattr(engine, "copies", size) / size, 2)
        taken = removal(engine, size)
        facts[name]["remove_us"] = None if taken is None else round(taken, 2)
    shared = {"subscriptions": size, "subscription_kind": kind, "properties": properties, "c": default_c(properties)}
    return [
        {
            **shared,
            "engine": name,
            "event_kind": event_kind,
            "matches_per_event": matches[event_kind] / event_count,
            "us_per_event": round(times[name, event_kind], 2) if name in engines else None,
            **facts[name],
        }
        for name in facts
        for event_kind in published
    ]


def compare(engines: dict[str, Any], published: Sequence[Event]) -> int:
    """All engines must find the same; how much that is. Compiles what is not yet compiled, too."""
    total = 0
    for event in published:
        found = {name: engine.find(event, 0).ordinals for name, engine in engines.items()}
        first = next(iter(found.values()))
        for name, ordinals in found.items():
            if not np.array_equal(first, ordinals):
                raise SystemExit(f"{name} differs from {next(iter(found))} on {event.vector}")
        total += len(first)
    return total


def run(
    sizes: Sequence[int] = SIZES,
    properties: int = 50,
    event_count: int = 100,
    rounds: int = 5,
    seed: int = 1,
    names: Sequence[str] = tuple(ENGINES),
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, object]:
    """The whole experiment."""
    warm = measure(names, "few", 250, properties, 5, 1, seed)  # compile everything once
    rows: list[dict[str, object]] = []
    for kind in ("paper", "few"):
        for size in sizes:
            measured = measure(names, kind, size, properties, event_count, rounds, seed)
            rows += measured
            for row in measured:
                say(line(row))
    assert warm
    return {
        "benchmark": "interests",
        "properties": properties,
        "c": default_c(properties),
        "events": event_count,
        "rounds": rounds,
        "rows": rows,
        "findings": findings(rows),
    }


def line(row: dict[str, object]) -> str:
    names = f"{row['subscription_kind']:>6} {row['event_kind']:>8} {row['subscriptions']:>9,} {row['engine']:>15}"
    if row["us_per_event"] is None:
        return f"{names} refused: {row['refused']}"
    removed = "" if row["remove_us"] is None else f"remove {row['remove_us']:.1f} µs"
    return (
        f"{names} {row['us_per_event']:>10,.1f} µs  build {row['build_us']:>5.1f} µs  {removed:<15}  "
        f"{row['bytes_per_subscription']:>5,.0f} B  {row['copies_per_subscription']:>4.1f} copies  "
        f"{row['matches_per_event']:>9,.1f} matches"
    )


def findings(rows: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Where SGIM stands at the smallest and the largest number: the paper says it loses when few and wins when many."""
    found: list[dict[str, object]] = []
    for kind in ("paper", "few"):
        for event_kind in ONES:
            here = [r for r in rows if r["subscription_kind"] == kind and r["event_kind"] == event_kind]
            for size in sorted({int(r["subscriptions"]) for r in here}):  # type: ignore[call-overload]
                at = {str(r["engine"]): r["us_per_event"] for r in here if r["subscriptions"] == size}
                timed = {name: float(taken) for name, taken in at.items() if taken is not None}  # type: ignore[arg-type]
                if "sgim" in timed:
                    found.append(
                        {
                            "subscription_kind": kind,
                            "event_kind": event_kind,
                            "subscriptions": size,
                            "fastest": min(timed, key=timed.__getitem__),
                            "sgim_beats": sorted(n for n, taken in timed.items() if timed["sgim"] < taken),
                        }
                    )
    return found


STYLES = {
    "naive_python": ("naive, in Python", "#b0b0b0", "s"),
    "naive": ("naive, compiled", "#606060", "s"),
    "tree": ("tree", "#2ca02c", "^"),
    "rapid": ("RAPIDMatch", "#ff7f0e", "v"),
    "rapid_modified": ("modified RAPIDMatch", "#d62728", "D"),
    "sgim": ("SGIM", "#9467bd", "o"),
    "bitmap": ("bit planes", "#1f77b4", "*"),
}
TITLES = {
    ("paper", "sparse"): "each property 0, 1 or * alike; sparse events",
    ("paper", "uniform"): "each property 0, 1 or * alike; uniform events",
    ("paper", "dense"): "each property 0, 1 or * alike; dense events",
    ("few", "sparse"): "five properties asked for; sparse events",
    ("few", "uniform"): "five properties asked for; uniform events",
    ("few", "dense"): "five properties asked for; dense events",
}


def plot(result: dict[str, Any], path: Path) -> None:
    """CPU µs an event against the number of subscriptions, both on logarithmic axes."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(17, 9), sharex=True, sharey=True, layout="constrained")
    for axis, (panel, title) in zip(axes.flat, TITLES.items(), strict=True):
        for name, (label, colour, marker) in STYLES.items():
            points = [
                (r["subscriptions"], r["us_per_event"])
                for r in result["rows"]
                if (r["subscription_kind"], r["event_kind"], r["engine"]) == (*panel, name) and r["us_per_event"]
            ]
            if points:
                across, up = zip(*points, strict=True)
                dashes = (0, (4, 3)) if name == "rapid_modified" else "-"  # it often lies on RAPIDMatch
                axis.plot(across, up, label=label, color=colour, marker=marker, linestyle=dashes, linewidth=1.6)
        axis.set(xscale="log", yscale="log", title=title)
        axis.grid(True, which="major", alpha=0.35)
        axis.axvspan(250, 1_000, color="#f2e8c9", alpha=0.6, zorder=0)
        refused = [r for r in result["rows"] if r["subscription_kind"] == panel[0] and r["us_per_event"] is None]
        for row in refused:
            if row["event_kind"] == panel[1]:
                said = f"{STYLES[row['engine']][0]} refuses {row['subscriptions']:,}:\nlimit on copies"
                colour = STYLES[row["engine"]][1]
                axis.text(0.97, 0.05, said, transform=axis.transAxes, ha="right", color=colour, fontsize=9)
    axes[0, 0].text(500, axes[0, 0].get_ylim()[1] / 2, "the paper's\nrange", ha="center", va="top", fontsize=9)
    for axis in axes[1]:
        axis.set_xlabel("subscriptions")
    for axis in axes[:, 0]:
        axis.set_ylabel("CPU µs an event")
    handles, labels = axes[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), frameon=False)
    figure.suptitle(f"Interest vectors of {result['properties']} properties, RAPIDMatch with c = {result['c']}")
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plot", type=Path, help="draw the figure into this file")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="numbers of subscriptions")
    parser.add_argument("--properties", type=int, default=50)
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    chosen = parser.parse_args()
    say: Callable[[str], None] = (lambda text: print(text, file=sys.stderr)) if chosen.json else print
    result = run(chosen.sizes, chosen.properties, chosen.events, chosen.rounds, names=chosen.engines, say=say)
    if chosen.plot:
        plot(result, chosen.plot)
    if chosen.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()

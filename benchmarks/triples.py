"""Triple patterns over a stream of triples: automaton, R-tree, MVR-tree, pyoxigraph and a plain dictionary.

    python -m benchmarks.triples --workload DIR --patterns 1000 10000 100000 --plot triples.png --json

The experiment of Qin et al. (CIKM 2014), section 3: construction time and triples a second against the number of
patterns of the seven kinds (Figures 3 and 4). `DIR` holds `triples.tsv` and `patterns.tsv`, three columns each, an
empty one for a variable; without it a smaller workload of the same kind is drawn.

- `automaton`: batches of 10,000 triples; `automaton, one by one`: a call for each triple.
- `dictionary`: a dictionary for each of the seven kinds, one loop.
- `pyoxigraph, patterns`: the patterns in a store, seven lookups a triple (a sample of the triples);
  `pyoxigraph, triples`: all triples loaded into a store, then every pattern asked.
- `R-tree`, `MVR-tree`: spelling, within the radius; a sample of the triples, in batches. At radius 0 they must find
  what the automaton finds. Both find the words of terms they have seen in one cache.

Times are CPU time of the process, the best of the rounds; in each round all take turns. All results are counted and
compared. With `--rdf DIR` graph patterns with joins are measured over the real events in that folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.graph_joins import joins, spent
from benchmarks.yardsticks.pyoxigraph_triples import PatternStore, TripleStore
from benchmarks.yardsticks.triple_dictionary import TripleDictionary
from likewise.matching.graphs.triple_automaton import TripleAutomaton
from likewise.matching.graphs_nearby.mvr_tree import MvrTree
from likewise.matching.graphs_nearby.rtree_index import RTreeIndex
from likewise.matching.reference.locality import LexicalLocality
from likewise.model import TriplePattern

Parts = tuple[str, str, str]
Row = dict[str, Any]
BATCH = 10_000
KINDS = ("s", "p", "o", "sp", "so", "po", "spo")
# Known totals of the workload of 400,100 triples, by the number of patterns.
TOTALS = {(400_100, 1_000): 378_986, (400_100, 10_000): 643_379, (400_100, 100_000): 1_093_163}


def read(folder: Path) -> tuple[list[Parts], list[Parts]]:
    def rows(name: str) -> list[Parts]:
        with (folder / name).open(encoding="utf-8") as lines:
            cut = (line.rstrip("\n").split("\t") for line in lines)
            return [tuple(f"<{part}>" if part else "" for part in parts) for parts in cut]  # type: ignore[misc]

    return rows("triples.tsv"), rows("patterns.tsv")


def draw(triple_count: int, pattern_count: int, seed: int) -> tuple[list[Parts], list[Parts]]:
    """Triples with few frequent and many rare terms, and patterns of the seven kinds taken from them."""
    rng, chance = np.random.default_rng(seed), Random(seed)
    columns = []
    for letter, number, steep in (("S", 20_000, 0.8), ("p", 1_000, 1.1), ("O", 40_000, 0.9)):
        weights = np.cumsum(1 / np.arange(1, number + 1) ** steep)
        drawn = np.searchsorted(weights / weights[-1], rng.random(2 * triple_count))
        columns.append([f"<http://example.org/{letter}{i}>" for i in drawn.tolist()])
    triples = list(dict.fromkeys(zip(*columns, strict=True)))[:triple_count]
    patterns: dict[Parts, None] = {}
    while len(patterns) < pattern_count:
        kind = chance.choice(KINDS)
        parts = zip("spo", chance.choice(triples), strict=True)
        patterns[tuple(part if letter in kind else "" for letter, part in parts)] = None  # type: ignore[index]
    return triples, list(patterns)


def asked(patterns: Sequence[Parts]) -> list[TriplePattern]:
    return [TriplePattern(s or "?s", p or "?p", o or "?o") for s, p, o in patterns]


def in_batches(matching: Callable[[Sequence[Parts]], Any], triples: Sequence[Parts]) -> int:
    return sum(len(matching(triples[i : i + BATCH]).numbers) for i in range(0, len(triples), BATCH))


class Contender:
    """Something that holds the patterns: how it is built and changed, and what it finds in which triples."""

    def __init__(self, name: str, patterns: Sequence[Parts], triples: Sequence[Parts]) -> None:
        self.name, self.patterns, self.triples = name, patterns, triples
        self.times: list[float] = []
        self.matches = -1

    def build(self) -> None: ...

    def find(self) -> int:
        raise NotImplementedError

    def change(self) -> tuple[float | None, float | None]:
        """CPU µs to remove one pattern and to insert one again, over a thousand of them; None where it is no use."""
        number = min(1_000, len(self.patterns))
        chosen = range(0, len(self.patterns), len(self.patterns) // number)
        removed, _ = spent(lambda: [self.remove(i) for i in chosen])
        inserted, _ = spent(lambda: [self.insert(i) for i in chosen])
        return removed * 1e6 / len(chosen), inserted * 1e6 / len(chosen)

    def insert(self, number: int) -> None:
        raise NotImplementedError

    def remove(self, number: int) -> None:
        raise NotImplementedError


class Automaton(Contender):
    def build(self) -> None:
        self.machine = TripleAutomaton()
        self.machine.extend(asked(self.patterns))
        self.machine.match_batch(self.triples[:1])  # lays out the table

    def find(self) -> int:
        return in_batches(self.machine.match_batch, self.triples)

    def insert(self, number: int) -> None:
        self.machine.insert(asked(self.patterns[number : number + 1])[0], number)

    def remove(self, number: int) -> None:
        self.machine.remove(number)


class OneByOne(Automaton):
    def find(self) -> int:
        match = self.machine.match
        return sum([len(match(s, p, o)) for s, p, o in self.triples])


class Dictionary(Contender):
    def build(self) -> None:
        self.held = TripleDictionary()
        for number, pattern in enumerate(self.patterns):
            self.held.insert(*pattern, number)

    def find(self) -> int:
        return self.held.match_all(self.triples)

    def insert(self, number: int) -> None:
        self.held.insert(*self.patterns[number], number)

    def remove(self, number: int) -> None:
        self.held.remove(*self.patterns[number], number)


class Oxigraph(Dictionary):
    def build(self) -> None:
        self.held = PatternStore()  # type: ignore[assignment]
        self.held.extend(self.patterns)  # type: ignore[attr-defined]


class OxigraphTriples(Contender):
    def find(self) -> int:
        return TripleStore().match_all(self.triples, self.patterns)

    def change(self) -> tuple[float | None, float | None]:
        return None, None  # patterns are not held


class Tree(Contender):
    def __init__(
        self, name: str, kind: Any, radius: float, patterns: Sequence[Parts], triples: Sequence[Parts]
    ) -> None:
        super().__init__(name, patterns, triples)
        self.kind, self.radius = kind, radius

    def build(self) -> None:
        listed = asked(self.patterns)
        self.index = self.kind(LexicalLocality(), self.radius, listed)
        self.index.extend(listed)
        self.index.match_batch(self.triples[:1])

    def find(self) -> int:
        return in_batches(self.index.match_batch, self.triples)

    def insert(self, number: int) -> None:
        self.index.insert(asked(self.patterns[number : number + 1])[0], number)

    def remove(self, number: int) -> None:
        self.index.remove(number)


def contenders(
    patterns: Sequence[Parts], triples: Sequence[Parts], sample: int, radii: Sequence[float]
) -> list[Contender]:
    few = triples[:: max(1, len(triples) // sample)][:sample]
    listed: list[Contender] = [
        Automaton("automaton", patterns, triples),
        OneByOne("automaton, one by one", patterns, triples),
        Dictionary("dictionary", patterns, triples),
        OxigraphTriples("pyoxigraph, triples", patterns, triples),
        Oxigraph("pyoxigraph, patterns", patterns, few),
    ]
    for radius in radii:
        listed += [Tree(f"R-tree, r={radius:g}", RTreeIndex, radius, patterns, few)]
        listed += [Tree(f"MVR-tree, r={radius:g}", MvrTree, radius, patterns, few)]
    return listed


def measure(
    patterns: Sequence[Parts], triples: Sequence[Parts], sample: int, radii: Sequence[float], rounds: int
) -> list[Row]:
    listed = contenders(patterns, triples, sample, radii)
    built = {each.name: spent(each.build)[0] for each in listed}
    for turn in range(rounds):
        for each in listed:
            if turn and each.name.startswith("pyoxigraph"):
                continue  # seconds each time, and far from the others
            taken, each.matches = spent(each.find)
            each.times.append(taken)
    rows = []
    for each in listed:
        removed, inserted = each.change()
        rows.append(
            {
                "contender": each.name,
                "patterns": len(patterns),
                "triples": len(each.triples),
                "matches": each.matches,
                "construction_ms": round(built[each.name] * 1e3, 2),
                "insert_us": None if inserted is None else round(inserted, 2),
                "remove_us": None if removed is None else round(removed, 2),
                "triples_per_second": round(len(each.triples) / min(each.times)),
            }
        )
    check(rows, patterns, triples, sample)
    return rows


def check(rows: Sequence[Row], patterns: Sequence[Parts], triples: Sequence[Parts], sample: int) -> None:
    """All must have found the same in the same triples; a radius above 0 finds at least that."""
    machine = TripleAutomaton()
    machine.extend(asked(patterns))
    few = triples[:: max(1, len(triples) // sample)][:sample]
    expected = {len(few): in_batches(machine.match_batch, few)}
    expected[len(triples)] = next(r["matches"] for r in rows if r["contender"] == "dictionary")
    for row in rows:
        wanted = expected[row["triples"]]
        exact = "r=" not in row["contender"] or row["contender"].endswith("r=0")
        if row["matches"] != wanted if exact else row["matches"] < wanted:
            raise SystemExit(f"{row['contender']} found {row['matches']:,} matches, expected {wanted:,}")


def findings(rows: Sequence[Row]) -> list[Row]:
    """The ratios that are promised, and what the paper says of them."""
    found: list[Row] = []
    for size in sorted({r["patterns"] for r in rows}):
        speed = {r["contender"]: r["triples_per_second"] for r in rows if r["patterns"] == size}
        oxigraph = max(speed["pyoxigraph, triples"], speed["pyoxigraph, patterns"])
        found.append(promise(size, "automaton / dictionary", speed["automaton"] / speed["dictionary"], 1))
        alone = speed["automaton, one by one"] / speed["dictionary"]
        found.append(promise(size, "automaton, one by one / dictionary", alone, 1))
        found.append(
            promise(size, "automaton / pyoxigraph", speed["automaton"] / oxigraph, 3 if size >= 100_000 else 5)
        )
        for name in speed:
            if name.startswith("MVR-tree"):
                ratio = speed[name] / speed[name.replace("MVR", "R")]
                due = 3 if size == 10_000 and name.endswith("r=0") else None  # the paper: three times, or twofold
                found.append(promise(size, f"{name} / R-tree", ratio, due))
                # The paper: two to three orders of magnitude.
                found.append(promise(size, f"automaton / {name}", speed["automaton"] / speed[name], None))
        total = next(r for r in rows if r["patterns"] == size and r["contender"] == "automaton")
        known = TOTALS.get((total["triples"], size))
        if known is not None:
            found.append(
                {
                    "patterns": size,
                    "what": "matches",
                    "value": total["matches"],
                    "promised": known,
                    "kept": total["matches"] == known,
                }
            )
    return found


def promise(size: int, what: str, ratio: float, least: float | None) -> Row:
    return {
        "patterns": size,
        "what": what,
        "value": round(ratio, 2),
        "promised": least,
        "kept": None if least is None else ratio >= least,
    }


def run(
    workload: Path | None = None,
    sizes: Sequence[int] = (1_000, 10_000),
    sample: int = 2_000,
    radii: Sequence[float] = (0.0, 0.1),
    rounds: int = 3,
    rdf: Path | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Row:
    """The whole experiment."""
    triples, patterns = read(workload) if workload else draw(100_000, max(sizes), 7)
    warm = draw(200, 50, 1)
    measure(warm[1], warm[0], 20, radii, 1)  # compiles everything once
    rows: list[Row] = []
    for size in sizes:
        measured = measure(patterns[:size], triples, sample, radii, rounds)
        rows += measured
        for row in measured:
            say(line(row))
    found = findings(rows)
    for finding in found:
        kept = {None: "", True: "  kept", False: "  MISSED"}[finding["kept"]]
        due = "" if finding["promised"] is None else f" (promised {finding['promised']:,})"
        say(f"{finding['patterns']:>9,} {finding['what']}: {finding['value']:,}{due}{kept}")
    result = {
        "benchmark": "triples",
        "triples": len(triples),
        "sample": sample,
        "rounds": rounds,
        "rows": rows,
        "findings": found,
    }
    if rdf is not None:
        result["joins"] = joins(rdf, 10_000, rounds)
        say("joins: " + ", ".join(f"{key} {value:,}" for key, value in result["joins"].items()))
    return result


def line(row: Row) -> str:
    changes = (
        "" if row["insert_us"] is None else f"insert {row['insert_us']:>8,.1f} µs  remove {row['remove_us']:>8,.1f} µs"
    )
    return (
        f"{row['patterns']:>9,} {row['contender']:>22} {row['triples_per_second']:>10,} triples/s  "
        f"built in {row['construction_ms']:>9,.1f} ms  {changes}  {row['matches']:>9,} matches"
    )


def plot(result: Row, path: Path) -> None:
    """Construction time and throughput: the trees (the paper's Figure 3), the automaton and the MVR-tree (Figure 4)."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(11, 8), layout="constrained")
    styles = {
        "R-tree, r=0": ("#d62728", "s"),
        "MVR-tree, r=0": ("#1f77b4", "o"),
        "automaton": ("#2ca02c", "^"),
        "dictionary": ("#7f7f7f", "x"),
        "pyoxigraph, triples": ("#ff7f0e", "v"),
    }
    shown = (("R-tree, r=0", "MVR-tree, r=0"), ("MVR-tree, r=0", "automaton", "dictionary", "pyoxigraph, triples"))
    titles = ("Semantic matching (as Figure 3)", "Pattern matching (as Figure 4)")
    for row, (names, title) in enumerate(zip(shown, titles, strict=True)):
        for column, (key, label) in enumerate(
            (("construction_ms", "construction, CPU ms"), ("triples_per_second", "triples a CPU second"))
        ):
            axis = axes[row, column]
            for name in names:
                if key == "construction_ms" and name.startswith("pyoxigraph"):
                    continue
                points = [(r["patterns"], r[key]) for r in result["rows"] if r["contender"] == name]
                colour, marker = styles[name]
                axis.plot(*zip(*points, strict=True), color=colour, marker=marker, label=name)
            axis.set(xscale="log", yscale="log", title=title, xlabel="patterns", ylabel=label)
            axis.grid(True, which="major", alpha=0.35)
            axis.legend(frameon=False)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plot", type=Path, help="draw the figures into this file")
    parser.add_argument("--workload", type=Path, help="a folder with triples.tsv and patterns.tsv")
    parser.add_argument("--patterns", type=int, nargs="+", default=[1_000, 10_000], help="numbers of patterns")
    parser.add_argument("--sample", type=int, default=2_000, help="triples the slow contenders get")
    parser.add_argument("--radii", type=float, nargs="+", default=[0.0, 0.1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rdf", type=Path, help="a folder of real events for graph patterns with joins")
    chosen = parser.parse_args()
    say: Callable[[str], None] = (lambda text: print(text, file=sys.stderr)) if chosen.json else print
    result = run(chosen.workload, chosen.patterns, chosen.sample, chosen.radii, chosen.rounds, chosen.rdf, say)
    if chosen.plot:
        plot(result, chosen.plot)
    if chosen.json:
        print(json.dumps(result))
    if any(finding["kept"] is False for finding in result["findings"]):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

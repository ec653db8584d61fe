"""What each part of the default measure is worth on the vendor benchmark's development vendors.

`python benchmarks/ablation.py FOLDER` with the folder of `lorawan-dev-events.jsonl.gz`, `lorawan-dev.tsv` and
`subscriptions.tsv`: mean maximal F1, mean average precision and the F1 of decisions at the default threshold, with
everything, and with one part left out at a time. The vendors set aside are not scored. At the end, names of keys alone
(no values) from another source, `rtl433-attribute-gold.tsv`, if the folder has it.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from likewise import defaults
from likewise.semantics.library import load_space
from likewise.semantics.measure import Measure, Term
from likewise_experiments.ranking import average_precision, maximal_f1
from likewise_experiments.vendor.ablation import AblationRow, ablation_row, variants
from likewise_experiments.vendor.benchmark import Benchmark, is_held_out, read_benchmark


def row(found: AblationRow) -> None:
    """Print one line of the table."""
    print(
        f"| {found.name} | {found.maximal_f1:.3f} | {found.average_precision:.3f} | {found.decision_f1:.3f} |",
        flush=True,
    )


def keys(path: Path, benchmark: Benchmark, measure: Measure) -> None:
    """Print the figures for keys of another source, ranked by name alone."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    labels = np.array([r["label"] for r in rows])
    scores = measure.matrix([Term(p.text) for p in benchmark.phrases], [Term(r["key"]) for r in rows]).astype(float)
    pairs = [(s, labels == p.phenomenon) for p, s in zip(benchmark.phrases, scores, strict=True)]
    pairs = [(s, relevant) for s, relevant in pairs if relevant.any()]
    f1, precision = (np.mean([of(s, r) for s, r in pairs]) for of in (maximal_f1, average_precision))
    said, true = (np.concatenate(x) for x in zip(*((s >= defaults.THRESHOLD, r) for s, r in pairs), strict=True))
    decided = 2 * (said & true).sum() / (said.sum() + true.sum())
    print(f"| other keys, {measure.name} | {f1:.3f} | {precision:.3f} | {decided:.3f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    whole = read_benchmark(
        folder / "lorawan-dev-events.jsonl.gz", folder / "lorawan-dev.tsv", folder / "subscriptions.tsv"
    )
    benchmark = whole.part(v for v in whole.vendors() if not is_held_out(v))
    space = load_space()
    for name, measure in variants(space):
        row(ablation_row(name, benchmark, measure))
    others = folder / "rtl433-attribute-gold.tsv"
    if others.is_file():
        for name in ("esa", "names", "combine", "sameness"):
            keys(others, benchmark, space.measure(name))


if __name__ == "__main__":
    main()

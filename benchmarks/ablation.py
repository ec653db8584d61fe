"""What each part of the default measure is worth on the vendor benchmark's development vendors.

`python benchmarks/ablation.py FOLDER` with the folder of `lorawan-dev-events.jsonl.gz`, `lorawan-dev.tsv` and
`subscriptions.tsv`: mean maximal F1, mean average precision and the F1 of decisions at the default threshold, with
everything, and with one part left out at a time. The vendors set aside are not scored. At the end, names of keys alone
(no values) from another source, `rtl433-attribute-gold.tsv`, if the folder has it.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from likewise import defaults
from likewise.evaluation.ranking import average_precision, maximal_f1
from likewise.evaluation.vendor import Benchmark, decide, is_held_out, rank, read_benchmark
from likewise.semantics import readings
from likewise.semantics.combine import CombinedMeasure
from likewise.semantics.library import load_space
from likewise.semantics.measure import Measure, Term

NEUTRAL: dict[str, dict[str, float]] = {
    "everything": {},
    "without heads and words that say little": {"modifier": 1.0, "light": 1.0, "transparent": 1.0},
    "without the order of a path's parts": {"container": 1.0},
    "without different quantities and units": {"conflict": 1.0, "sisters": 1.0},
    "without weaker association of quantities with other words": {"association": 1.0},
    "without kinds of values": {"not_a_number": 1.0, "not_a_state": 1.0},
    "with the alignment's former exponents": {"asked_share": 0.7, "leniency": 0.5},
}


@contextmanager
def no_short_forms() -> Iterator[None]:
    """Short forms, formulas and names of units stay as written."""
    expanded = readings.expanded
    readings.expanded = lambda word: (word,)  # type: ignore[assignment]
    try:
        yield
    finally:
        readings.expanded = expanded


class WithoutContext:
    """The measure, not told what stands beside a value."""

    def __init__(self, measure: Measure) -> None:
        self.name, self._measure = measure.name, measure

    def matrix(self, asked: Any, seen: Any) -> Any:
        """Every pair's score."""
        return self._measure.matrix(asked, [msgspec.structs.replace(t, context=(), unit="") for t in seen])

    def configuration(self) -> dict[str, object]:
        """That of the measure."""
        return self._measure.configuration()


def row(name: str, benchmark: Benchmark, measure: Measure) -> None:
    """Print one line of the table."""
    found = rank(benchmark, measure)
    decided = decide(benchmark, measure, defaults.THRESHOLD, numeric=False)
    print(f"| {name} | {found.maximal_f1:.3f} | {found.average_precision:.3f} | {decided.f1:.3f} |", flush=True)


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
    calibration = space.calibration
    for name, weights in NEUTRAL.items():
        names = msgspec.structs.replace(calibration.names, **weights)
        space.__dict__["calibration"] = msgspec.structs.replace(calibration, names=names)
        row(name, benchmark, CombinedMeasure(space))
    space.__dict__["calibration"] = calibration
    with no_short_forms():
        row("without short forms, formulas and names of units", benchmark, CombinedMeasure(space))
    row("without the unit and the text beside a value", benchmark, WithoutContext(CombinedMeasure(space)))
    row("spelling alone (`names`)", benchmark, space.measure("names"))
    others = folder / "rtl433-attribute-gold.tsv"
    if others.is_file():
        for name in ("esa", "names", "combine"):
            keys(others, benchmark, space.measure(name))


if __name__ == "__main__":
    main()

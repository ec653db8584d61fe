"""Speed and memory of every measure over the embedded space.

`python benchmarks/measures.py --json`: for each measure the CPU time to compare one new term with 1,000 asked ones
under a theme (cold: the new term was never seen; the asked ones are known, as in a matcher), the same for new terms
that come 32 at a time, the time to make 1,000 asked terms ready, and the memory the process gained.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

import numpy as np

from likewise.semantics.library import load_space
from likewise.semantics.measure import Measure, Term

THEME = ("energy", "weather")
BATCH = 32


def words(count: int, seed: int) -> list[str]:
    """Words of the space at random, in proportion to nothing but being of middling frequency."""
    space = load_space()
    df = space.files.document_frequencies
    random = np.random.default_rng(seed)
    chosen = random.permutation(np.flatnonzero((df >= 20) & (df <= 3_000)))
    found = (space.files.term(int(i)) for i in chosen)
    return [w for w in found if space.taxonomy.has_word(w)][:count]


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(measure: Measure, asked: tuple[Term, ...], new: list[Term]) -> tuple[float, float]:
    """Milliseconds of CPU a new term takes against all asked ones: the median, and the 90th percentile."""
    measure.matrix(asked, [Term("warm up", theme=THEME)])
    taken = []
    for term in new:
        start = time.process_time()
        measure.matrix(asked, [term])
        taken.append((time.process_time() - start) * 1e3)
    return float(np.median(taken)), float(np.quantile(taken, 0.9))


def batched(measure: Measure, asked: tuple[Term, ...], new: list[Term]) -> float:
    """Milliseconds of CPU for each new term if `BATCH` come at a time: the median."""
    taken = []
    for first in range(0, len(new), BATCH):
        start = time.process_time()
        measure.matrix(asked, new[first : first + BATCH])
        taken.append((time.process_time() - start) * 1e3 / BATCH)
    return float(np.median(taken))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model", help="an embedding model to measure, too")
    arguments = parser.parse_args()
    space = load_space()
    chosen = words(1_200 + 10 * BATCH, 1)
    asked = tuple(Term(w, theme=THEME) for w in chosen[:1_000])
    new = [Term(w, theme=THEME) for w in chosen[1_000:1_200]]
    later = [Term(w, theme=THEME) for w in chosen[1_200:]]
    rows: list[dict[str, Any]] = []
    names: list[tuple[str, dict[str, Any]]] = [
        (n, {}) for n in ("esa", "thematic", "latent", "jcn", "names", "combine", "sameness")
    ]
    if arguments.model:
        names.append(("embeddings", {"model": arguments.model}))
    for name, options in names:
        before = peak()
        measure = space.measure(name, **options)
        start = time.process_time()
        measure.matrix(asked[:10], asked[:10])  # compiles, or loads what was compiled
        ready = time.process_time() - start
        start = time.process_time()
        measure.matrix(asked, new[:1])
        first = time.process_time() - start
        median, p90 = timed(measure, asked, new)
        rows.append(
            {
                "measure": name,
                "ready_s": round(ready, 2),
                "asked_1000_cold_ms": round(first * 1e3, 1),
                "one_new_against_1000_ms": round(median, 2),
                "p90_ms": round(p90, 2),
                "in_batches_ms": round(batched(measure, asked, later), 2),
                "memory_gained_mb": round(peak() - before),
            }
        )
    if arguments.json:
        print(json.dumps(rows))
    else:
        for row in rows:
            print("  ".join(f"{k} {v}" for k, v in row.items()))


if __name__ == "__main__":
    main()

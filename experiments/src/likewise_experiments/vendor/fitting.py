"""The weights of facets, fitted on development vendors and phrases, and what fitting is worth on others.

`python -m likewise_experiments.vendor.fitting EVENTS GOLD SUBSCRIPTIONS` goes through the weights one by one and moves
each within a coarse grid while the mean of maximal F1 and of decisions by vendor and on distinct events rises. Folds
leave a third of the vendors and a third of the phenomena out at once. What is set aside for testing is never read.
With `open` behind the files the weights of words that no inventory lists are tried alone, without its list of
qualifiers: with the list nearly all of the benchmark's qualifiers are on it, and nothing is left to compare. `all`
takes every vendor: for data of which nothing is set aside.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import msgspec
import numpy as np

from likewise import defaults
from likewise.matching.reference.terms import event_attribute_terms
from likewise.semantics.concepts.weights import FacetWeights
from likewise.semantics.measure import Term
from likewise.semantics.measures.sameness import SamenessMeasure
from likewise_experiments.ranking import maximal_f1
from likewise_experiments.vendor.ablation import inventory_without_qualifiers
from likewise_experiments.vendor.benchmark import Benchmark, attributes, read_benchmark
from likewise_experiments.vendor.experiment import chosen_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDS: Final = 3
GRID: Final = tuple(n / 20 for n in range(2, 21))
STEP: Final = 0.21  # how far a weight moves at once
LEAST_GAIN: Final = 0.001  # less is noise of a few attributes
ROUNDS: Final = 3
OPEN: Final = {"named": (0.4, 0.65, 0.8, 0.9, 1.0), "sibling": (0.35, 0.6, 0.8, 1.0), "same_word": (0.65, 0.85, 1.0)}


class Figures(NamedTuple):
    """Maximal F1, the mean F1 of decisions over vendors, and that on distinct events."""

    maximal_f1: float
    by_vendor: float
    distinct: float


class FittingSet:
    """A benchmark whose terms are compared once; only what weights change is computed again."""

    def __init__(self, benchmark: Benchmark, measure: SamenessMeasure) -> None:
        self._measure, self.phrases = measure, benchmark.phrases
        place: dict[Term, int] = {}
        self._events = [
            [place.setdefault(t, len(place)) for t in event_attribute_terms(e.event)] for e in benchmark.events
        ]
        self._vendors = np.array([e.vendor for e in benchmark.events])
        told = zip(self._vendors.tolist(), self._events, strict=True)
        firsts = {(vendor, frozenset(ids)): n for n, (vendor, ids) in enumerate(told)}
        self._distinct = np.isin(np.arange(len(self._events)), list(firsts.values()))
        self._listed = attributes(benchmark)
        self._listed_at = np.array([place[a.term] for a in self._listed])
        self._asked, self._seen = tuple(Term(p.text) for p in benchmark.phrases), tuple(place)
        self._compared = measure.relatedness(self._asked, self._seen)
        gold = [
            {found.label for t in e.event.tuples if (found := benchmark.gold.get((e.vendor, t.attribute))) is not None}
            for e in benchmark.events
        ]
        self._true = np.array([[p.phenomenon in labels for labels in gold] for p in benchmark.phrases])

    def figures(self, weights: FacetWeights, vendors: Sequence[str], phrases: Sequence[int]) -> Figures:
        """What weights reach on some vendors and phrases."""
        scores = self._measure.with_weights(weights).facet_scores(*self._compared, self._asked, self._seen)
        chosen = np.array([a.vendor in vendors for a in self._listed])
        labels = np.array([a.gold.label for a in self._listed])[chosen]
        ranked = []
        for n in phrases:
            relevant = labels == self.phrases[n].phenomenon
            if relevant.any():
                ranked.append(maximal_f1(scores[n][self._listed_at[chosen]].astype(np.float64), relevant))
        best = np.stack([scores[:, ids].max(axis=1) for ids in self._events], axis=1)
        said, true = (best >= defaults.THRESHOLD)[list(phrases)], self._true[list(phrases)]
        own = [self._vendors == vendor for vendor in vendors]
        by_vendor = [_f1(said[:, mine], true[:, mine]) for mine in own if true[:, mine].any()]
        inside = self._distinct & np.isin(self._vendors, list(vendors))
        return Figures(
            float(np.mean(ranked)) if ranked else 0.0,
            float(np.mean(by_vendor)) if by_vendor else 0.0,
            _f1(said[:, inside], true[:, inside]),
        )

    def fit(self, vendors: Sequence[str], phrases: Sequence[int]) -> FacetWeights:
        """The weights that do best on some vendors and phrases, found from today's."""
        weights = FacetWeights()
        best = float(np.mean(self.figures(weights, vendors, phrases)))
        for _ in range(ROUNDS):
            before = best
            for name in FacetWeights.__struct_fields__:
                for value in GRID:
                    if 0 < abs(value - getattr(weights, name)) <= STEP:
                        moved = msgspec.structs.replace(weights, **{name: value})
                        reached = float(np.mean(self.figures(moved, vendors, phrases)))
                        if reached > best + LEAST_GAIN:
                            best, weights = reached, moved
            if best == before:
                break
        return weights


def _f1(said: NDArray[np.bool_], true: NDArray[np.bool_]) -> float:
    return float(2 * (said & true).sum() / max(1, said.sum() + true.sum()))


def fold_of(name: str) -> int:
    """The fold that a vendor or a phenomenon is left out in."""
    return hashlib.sha256(f"fold {name}".encode()).digest()[0] % FOLDS


def cross_validated(found: FittingSet, vendors: Sequence[str]) -> list[tuple[Figures, Figures]]:
    """For each fold, on vendors and phenomena that fitting did not see: today's weights, and the fitted ones."""
    out = []
    for fold in range(FOLDS):
        seen = [n for n, p in enumerate(found.phrases) if fold_of(p.phenomenon) != fold]
        unseen = [n for n, p in enumerate(found.phrases) if fold_of(p.phenomenon) == fold]
        weights = found.fit([v for v in vendors if fold_of(v) != fold], seen)
        left_out = [v for v in vendors if fold_of(v) == fold]
        out.append((found.figures(FacetWeights(), left_out, unseen), found.figures(weights, left_out, unseen)))
    return out


def open_words(benchmark: Benchmark) -> list[tuple[FacetWeights, Figures]]:
    """What the weights of words reach where every qualifier is a word that no inventory lists."""
    from likewise.semantics.library import load_space

    bare = cast(SamenessMeasure, load_space().measure("sameness", inventory=inventory_without_qualifiers()))
    found = FittingSet(benchmark, bare)
    tried = [
        msgspec.structs.replace(FacetWeights(), **{name: value})
        for name, values in OPEN.items()
        for value in dict.fromkeys((getattr(FacetWeights(), name), *values))
    ]
    everything = range(len(found.phrases))
    return [(weights, found.figures(weights, benchmark.vendors(), everything)) for weights in dict.fromkeys(tried)]


def main(events: str, gold: str, subscriptions: str, *options: str) -> None:
    """Fits on the development part and prints what cross-validation and the fit reach."""
    from likewise.semantics.library import load_space

    part = "all" if "all" in options else "dev"
    benchmark = chosen_part(read_benchmark(Path(events), Path(gold), Path(subscriptions)), part)
    if "open" in options:
        for weights, figures in open_words(benchmark):
            print({name: getattr(weights, name) for name in OPEN}, figures, flush=True)
        return
    found = FittingSet(benchmark, cast(SamenessMeasure, load_space().measure("sameness")))
    for fold, (today, fitted) in enumerate(cross_validated(found, benchmark.vendors())):
        print(f"fold {fold}: today {today}, fitted on the others {fitted}", flush=True)
    everything = range(len(found.phrases))
    weights = found.fit(benchmark.vendors(), everything)
    print(f"all: {found.figures(weights, benchmark.vendors(), everything)}\n{weights}")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Fitting sees what ranking and deciding see, and never gets worse by it."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

import likewise as lw
from likewise import defaults
from likewise.semantics.concepts.weights import FacetWeights
from likewise.semantics.library import load_space
from likewise.semantics.measures.sameness import SamenessMeasure
from likewise_experiments.vendor.benchmark import Benchmark, Gold, Phrase, VendorEvent, decide, rank
from likewise_experiments.vendor.fitting import FittingSet, fold_of

NAMES = {"temp": "air temperature", "waterTemp": "water temperature", "rh": "relative humidity", "x_1": "other"}
BENCHMARK = Benchmark(
    tuple(VendorEvent(v, lw.event(dict.fromkeys(NAMES, 20.0 + n), id=f"{v}{n}")) for v in ("a", "b") for n in range(2)),
    {(v, name): Gold(label, "none") for v in ("a", "b") for name, label in NAMES.items()},
    (Phrase("air temperature", "outdoor temperature"), Phrase("relative humidity", "dampness of the air")),
)


def test_figures_are_those_of_ranking_and_deciding() -> None:
    measure = cast(SamenessMeasure, load_space().measure("sameness"))
    found = FittingSet(BENCHMARK, measure).figures(FacetWeights(), ["a", "b"], [0, 1])
    decided = decide(BENCHMARK, measure, defaults.THRESHOLD, numeric=False)
    assert found.maximal_f1 == pytest.approx(rank(BENCHMARK, measure).maximal_f1)
    assert found.by_vendor == pytest.approx(decided.by_vendor)
    assert found.distinct == pytest.approx(decided.distinct)


def test_fitted_weights_are_not_worse_where_they_were_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise_experiments.vendor.fitting.GRID", (0.2, 0.6))
    found = FittingSet(BENCHMARK, cast(SamenessMeasure, load_space().measure("sameness")))
    fitted = found.fit(["a"], [0])
    assert np.mean(found.figures(fitted, ["a"], [0])) >= np.mean(found.figures(FacetWeights(), ["a"], [0]))


def test_a_fold_follows_from_the_name_alone() -> None:
    assert {fold_of(f"vendor {n}") for n in range(30)} == {0, 1, 2}

"""The hybrid engine equals the plain evaluation of sources.md H; its variants are the paper's baselines."""

from __future__ import annotations

import pytest

from likewise.language import parse
from likewise.matching.hybrid.statements import HybridEngine, StatementsEngine
from likewise.model import event
from likewise.testing import OracleSettings, TableMeasure, check_engine, compare_bulk

SETTING = OracleSettings()


def make() -> StatementsEngine:
    """An engine with the oracle's measures."""
    return StatementsEngine(SETTING.named, m=SETTING.m, threshold=SETTING.threshold)


def test_the_contract_of_engines_holds() -> None:
    """Any interleaving of calls is answered like the oracle's."""
    check_engine(make, kinds=["statements"], setting=SETTING)


def test_many_generated_pairs_give_no_difference() -> None:
    """Seeded statements and RDF events agree with the oracle."""
    done = compare_bulk(make, ["statements"], 60_000, setting=SETTING)
    assert done.matches > 100


JCN = TableMeasure({("team", "squad"): 0.9, ("team", "year"): 0.1, ("spain", "iberia"): 0.7})
ESA = TableMeasure({("team", "squad"): 0.2, ("team", "year"): 0.4, ("spain", "iberia"): 0.5})
MATCH = event({"squad": "Iberia", "year": "Iberia"})


@pytest.mark.parametrize(
    ("variant", "m", "expected"),
    [
        ("hybrid", 2, min(1.0, 2 * 0.2) * 0.5),  # both rank: squad first, weighted 2; year second, 1 * 0.4
        ("hybrid", 1, 0.2 * 0.5),  # only squad is among the first by JCn
        ("jcn", 2, 0.9 * 0.7),
        ("esa", 2, 0.4 * 0.5),
        ("esa", 1, 0.4 * 0.5),  # by ESA, year ranks first
    ],
)
def test_each_variant_ranks_and_relates_by_its_own_measures(variant: str, m: int, expected: float) -> None:
    """Hybrid: Top_m by JCn, weights by rank and ESA; the baselines use one measure for all."""
    engine = HybridEngine(JCN, ESA, m=m, threshold=0.0, variant=variant)  # type: ignore[arg-type]
    engine.add(0, parse('event team "Spain"', id="s"), 0)
    ((_, score),) = engine.ranking(MATCH)
    assert score == pytest.approx(expected, abs=1e-6)


def test_subscriptions_without_a_threshold_are_ranked() -> None:
    """`ranking` lists every subscription, the most relevant first."""
    engine = HybridEngine(JCN, ESA)
    engine.add(0, parse('event year "2010"', id="weak"), 0)
    engine.add(1, parse('event squad "Iberia"', id="strong"), 0)
    assert [id for id, _ in engine.ranking(MATCH)] == ["strong", "weak"]


def test_removing_most_subscriptions_packs_the_rest() -> None:
    """Answers stay the same when what is gone is let go."""
    engine = HybridEngine(JCN, ESA, threshold=0.1)
    for ordinal in range(1_600):
        engine.add(ordinal, parse('event team "Spain"', id=f"s{ordinal}"), 0)
    for ordinal in range(1_590):
        engine.remove(ordinal)
    assert engine.find(MATCH, 0).ordinals.tolist() == list(range(1_590, 1_600))
    assert len(engine._owners) < 1_600

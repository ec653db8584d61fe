"""Every classical engine keeps the contract of engines: it answers as the oracle does, whatever comes and goes."""

from __future__ import annotations

import pytest

from likewise.matching.classical.sgim import SgimEngine
from likewise.matching.forest.engine import ForestEngine
from likewise.matching.interests.bitmap import InterestBitmapEngine
from likewise.matching.interests.rapid import RapidEngine
from likewise.matching.interests.rapid_modified import ModifiedRapidEngine
from likewise.matching.interests.tree import TreeEngine
from likewise.testing import check_engine, check_regressions, compare_bulk

ENGINES = [ForestEngine, SgimEngine, TreeEngine, RapidEngine, ModifiedRapidEngine, InterestBitmapEngine]
every_engine = pytest.mark.parametrize("make", ENGINES)


@every_engine
def test_keeps_the_contract(make: type[ForestEngine]) -> None:
    """Add, remove, find, match, batch, explain, save and load in any order."""
    check_engine(make)


@every_engine
def test_has_none_of_the_originals_defects(make: type[ForestEngine]) -> None:
    """The named regressions of sources.md C that concern the engine's kinds."""
    check_regressions(make)


@every_engine
def test_answers_as_the_oracle_on_many_pairs(make: type[ForestEngine]) -> None:
    """A million (subscription, event) pairs without a difference."""
    compared = compare_bulk(make, pairs=1_000_000, seed=5)
    assert compared.pairs >= 1_000_000
    assert compared.matches > 100

"""The contract suite itself: the oracle keeps it, and engines with known faults do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from likewise.matching.engine import BaseEngine, EngineBatchResult, EngineResult
from likewise.matching.oracle.engine import OracleEngine
from likewise.model import Event, Explanation, Kind, Match, Subscription
from likewise.testing import (
    REGRESSIONS,
    ManualClock,
    Mismatch,
    OracleSettings,
    TableMeasure,
    check_engine,
    check_regressions,
    compare_bulk,
    compare_interleavings,
)
from likewise.testing.generators import SeededChoice, event, subscription
from likewise.testing.oracle import BACKGROUND, ESA, JCN, MEASURE, vectors

PARTS: dict[str, Any] = {"jcn": JCN, "esa": ESA, "background": BACKGROUND}  # measures of statements
KINDS: tuple[Kind, ...] = ("exact", "approximate", "top", "statements", "pattern", "interest", "near")


def plain() -> OracleEngine:
    return OracleEngine(MEASURE, **PARTS, meaning=vectors)


@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_keeps_its_own_contract(kind: Kind) -> None:
    """Alone with each kind, through save and load, under any interleaving."""
    check_engine(plain, kinds=[kind], examples=max(5, settings().max_examples // 4))


def test_the_oracle_keeps_its_contract_with_all_kinds_together() -> None:
    """All kinds in one engine, with lateness."""
    setting = OracleSettings(lateness=3)
    check_engine(
        lambda: OracleEngine(MEASURE, **PARTS, lateness=3, meaning=vectors),
        setting=setting,
        examples=20,
    )
    compare_interleavings(
        lambda: OracleEngine(MEASURE, **PARTS, lateness=3, meaning=vectors),
        calls=1_000,
        setting=setting,
    )


@pytest.mark.parametrize("name", REGRESSIONS)
def test_named_regressions(name: str) -> None:
    """The defects of the original engine are none of the oracle's."""
    REGRESSIONS[name](plain, frozenset(KINDS), OracleSettings())


@pytest.mark.parametrize("kind", KINDS)
def test_bulk_comparison_counts_and_finds_matches(kind: Kind) -> None:
    """At least the pairs asked for, some of which match and some of which do not."""
    done = compare_bulk(plain, [kind], 4_000, subscriptions=60)
    assert done.pairs >= 4_000
    assert 0 < done.matches < done.pairs


# -- engines with a fault ------------------------------------------------------------------------


class RemembersRemoved(OracleEngine):
    """Removes from the list but not from the index: defect 1 of the original."""

    def remove(self, ordinal: int) -> None:
        kept = {name: dict(getattr(self, name)) for name in ("_conditions", "_windowed", "_others")}
        removed = self.subscriptions.get(ordinal)
        super().remove(ordinal)
        for name, before in kept.items():
            getattr(self, name).update(before)
        if removed is not None:
            self._ghosts = {**getattr(self, "_ghosts", {}), ordinal: removed}

    def _threshold(self, ordinal: int) -> float:
        return super()._threshold(ordinal) if ordinal in self.subscriptions else self.threshold

    def _arrive(self, event: Event, at: int, **options: Any) -> Any:
        held = self.subscriptions
        self.subscriptions = {**held, **getattr(self, "_ghosts", {})}
        try:
            return super()._arrive(event, at, **options)
        finally:
            self.subscriptions = held


class IgnoresNot(OracleEngine):
    """Never looks at negated predicates."""

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        super().add(ordinal, subscription, at)
        for held in (self._conditions, self._windowed):
            if ordinal in held:
                whole = held[ordinal]
                held[ordinal] = whole._replace(conjunctions=tuple(c._replace(negative=()) for c in whole.conjunctions))


class ForgetsWindows(OracleEngine):
    """Saves nothing."""

    def save(self, folder: Path) -> None:
        pass

    def load(self, folder: Path) -> None:
        pass


class NeverPromotes(OracleEngine):
    """Lets time pass without telling what it brought."""

    def advance(self, now: int) -> list[tuple[int, Match]]:
        super().advance(now)
        return []


class DropsTheLastOfABatch(OracleEngine):
    """Loses one match of each batch."""

    def match_batch(self, events: Any, at: Any) -> EngineBatchResult:
        found = super().match_batch(events, at)
        assert found.scores is not None
        counts = found.counts.copy()
        if len(found.ordinals):
            counts[found.event_index[-1]] -= 1
        return found._replace(counts=counts, ordinals=found.ordinals[:-1], scores=found.scores[:-1])


class ForgetsThemes(OracleEngine):
    """Asks the measure without the subscription's themes."""

    def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
        import msgspec

        super().add(ordinal, msgspec.structs.replace(subscription, themes=()), at)


class SharesTuples(OracleEngine):
    """Lets relaxed predicates share a tuple, by scoring each alone."""

    def find(self, event: Event, at: int) -> EngineResult:
        from unittest.mock import patch

        from likewise.matching.reference import conditions

        def alone(rows: Any) -> Any:
            import math

            product = math.prod(max(row) for row in rows)
            return (product, ()) if product else None

        with patch.object(conditions, "best_mapping", alone):
            return super().find(event, at)


class ExplainsEverythingAsAMatch(OracleEngine):
    """Says `match` to whoever asks."""

    def explain(self, event: Event, ordinal: int, at: int) -> Explanation:
        return Explanation(self.subscriptions[ordinal].id, event.id, "match", ())


class CountsWrong(OracleEngine):
    """Accepts an ordinal twice."""

    def register(self, ordinal: int, subscription: Subscription) -> None:
        self.subscriptions[ordinal] = subscription


FAULTS = pytest.mark.parametrize(
    ("faulty", "kinds"),
    [
        (RemembersRemoved, ["exact"]),
        (RemembersRemoved, ["interest"]),
        (IgnoresNot, ["exact"]),
        (IgnoresNot, ["approximate"]),
        (ForgetsWindows, ["top"]),
        (NeverPromotes, ["top"]),
        (DropsTheLastOfABatch, ["pattern"]),
        (DropsTheLastOfABatch, ["statements"]),
        (ForgetsThemes, ["approximate"]),
        (SharesTuples, ["approximate"]),
        (ExplainsEverythingAsAMatch, ["exact"]),
        (CountsWrong, ["exact"]),
    ],
)


@FAULTS
def test_interleavings_find_every_fault(faulty: type[OracleEngine], kinds: list[Kind]) -> None:
    """Seeded interleavings find each of these faults and say which call differed."""
    with pytest.raises(Mismatch):
        compare_interleavings(lambda: faulty(MEASURE, **PARTS), kinds, 5_000)


@pytest.mark.parametrize(
    ("faulty", "kinds"), [(RemembersRemoved, ["exact"]), (IgnoresNot, ["exact"]), (NeverPromotes, ["top"])]
)
def test_searched_interleavings_find_faults(faulty: type[OracleEngine], kinds: list[Kind]) -> None:
    """So does the search that can shrink them."""
    with pytest.raises(Mismatch):
        check_engine(lambda: faulty(MEASURE, **PARTS), kinds=kinds, examples=500, shrink=False)


@pytest.mark.parametrize(
    ("faulty", "kind"), [(IgnoresNot, "exact"), (IgnoresNot, "approximate"), (ForgetsThemes, "approximate")]
)
def test_bulk_comparison_finds_faults(faulty: type[OracleEngine], kind: Kind) -> None:
    """So does the bulk comparison."""
    with pytest.raises(Mismatch):
        compare_bulk(lambda: faulty(MEASURE, **PARTS), [kind], 50_000, subscriptions=100)


def test_regressions_find_a_removed_subscription() -> None:
    """The named checks fail for an engine with the original's first defect."""
    with pytest.raises(Mismatch):
        check_regressions(RemembersRemoved, kinds=["exact"])


def test_borderline_scores_may_go_either_way() -> None:
    """A score that lies on the threshold is tolerated, one a little further off is not."""

    class Rounds(OracleEngine):
        """Compares with a threshold that is off by a little."""

        off = 5e-7

        def _threshold(self, ordinal: int) -> float:
            return min(1.0, super()._threshold(ordinal) + self.off)

    class RoundsMore(Rounds):
        off = 0.02

    compare_bulk(lambda: Rounds(MEASURE), ["approximate"], 20_000, subscriptions=100)
    with pytest.raises(Mismatch):
        compare_bulk(lambda: RoundsMore(MEASURE), ["approximate"], 50_000, subscriptions=100)


def test_engines_need_only_find() -> None:
    """An engine built on `BaseEngine` with `add`, `remove` and `find` alone keeps the contract."""

    class Plainest(BaseEngine):
        kinds = frozenset({"exact", "interest"})

        def __init__(self) -> None:
            super().__init__()
            self.inner = OracleEngine()

        def add(self, ordinal: int, subscription: Subscription, at: int) -> None:
            self.register(ordinal, subscription)
            self.inner.add(ordinal, subscription, at)

        def remove(self, ordinal: int) -> None:
            self.unregister(ordinal)
            self.inner.remove(ordinal)

        def find(self, event: Event, at: int) -> EngineResult:
            return EngineResult(self.inner.find(event, at).ordinals)

    check_engine(Plainest, examples=20)


def test_generators_repeat_themselves() -> None:
    """The same seed gives the same subscriptions and events."""
    for kind in KINDS:
        drawn = [
            (subscription(choice, kind, "s"), event(choice, frozenset({kind}), "e", 5))
            for choice in (SeededChoice(4), SeededChoice(4))
        ]
        assert drawn[0] == drawn[1]
        assert drawn[0][0].kind == kind


def test_a_manual_clock_moves_when_told() -> None:
    """It stands still otherwise."""
    clock = ManualClock("1970-01-01T00:00:01Z")
    assert (clock(), clock()) == (1_000_000, 1_000_000)
    clock.advance(5)
    assert clock() == 1_000_005
    clock.set(3)
    assert clock() == 3


def test_a_table_measure_keeps_the_promises_of_measures() -> None:
    """Equal terms are 1, all numbers lie in [0, 1], and a pair's answer never depends on other pairs."""
    from likewise.semantics.measure import Term

    measure = TableMeasure(seed=3)
    terms = [Term(f"t{i}", theme=("x",) if i % 2 else ()) for i in range(30)]
    whole = measure.matrix(terms, terms)
    assert whole.dtype.name == "float32"
    assert whole.min() >= 0
    assert whole.max() <= 1
    assert [whole[i, i] for i in range(30)] == [1.0] * 30
    assert (whole == 0).mean() > 0.3
    assert measure.matrix(terms[3:4], terms[7:8])[0, 0] == whole[3, 7]
    assert measure.matrix([], terms).shape == (0, 30)
    with pytest.raises(ValueError, match="between 0 and 1"):
        TableMeasure({("a", "b"): 2.0})

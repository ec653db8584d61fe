"""The letter, ours and what lies between; degrees of approximation; the rewriting baseline; cold start."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from likewise.cli.main import app
from likewise.errors import InputError
from likewise.model import fold
from likewise.semantics.library import load_space
from likewise.testing import TableMeasure
from likewise_experiments.thematic.cold_start import FILE as COLD
from likewise_experiments.thematic.cold_start import cold_start
from likewise_experiments.thematic.departures import FILE, departures
from likewise_experiments.thematic.letter import LETTER, OURS, variants
from likewise_experiments.thematic.load import ThematicLoad, predicates_of, thematic_load
from likewise_experiments.thematic.load_arrays import load_arrays
from likewise_experiments.thematic.mapping_kernels import all_products
from likewise_experiments.thematic.rewriting import Rewriting
from likewise_experiments.thematic.sub_experiment import Truth, averaged_f1, curves, quality, scores, ten_sets
from tests.experiments.small_thesaurus import small_thesaurus


def load(degree: int = 100) -> ThematicLoad:
    return thematic_load(small_thesaurus(), seeds=12, events=60, subscriptions=15, degree=degree)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_every_mapping_is_the_best_of_all(seed: int, shared: bool) -> None:
    """Against every way to give tuples to predicates, with ties, zeros, and more predicates than tuples."""
    chosen = np.random.default_rng(seed)
    similarity = chosen.integers(0, 4, (9, 6)).astype(np.float32) / 4  # tuples, predicates
    subscriptions = np.array([[0, 1, 2, 3], [4, 5, -1, -1], [0, 3, 5, -1]], np.int64)
    events = np.array([[0, 1, 2, 3, 4], [5, 6, 7, 8, -1], [8, 0, -1, -1, -1]], np.int64)
    found = all_products(similarity, subscriptions, events, shared)
    for s, wanted in enumerate(subscriptions):
        for e, had in enumerate(events):
            slots, tuples = [p for p in wanted if p >= 0], [t for t in had if t >= 0]
            ways = (
                itertools.product(tuples, repeat=len(slots)) if shared else itertools.permutations(tuples, len(slots))
            )
            best = max(
                (np.prod([similarity[t, p] for t, p in zip(way, slots, strict=True)]) for way in ways), default=0
            )
            assert found[s, e] == pytest.approx(float(best))


def test_variants_differ_in_one_departure_each() -> None:
    """From the letter on, and from ours back."""
    defaults = {"metric": "unit", "projection": "whole", "idf": "token", "equal": "one"}

    def facts(options: dict[str, str], shared: bool) -> set[tuple[str, object]]:
        return set({**defaults, **options, "shared": shared}.items())

    letter, ours = facts(LETTER.options, LETTER.shared), facts(OURS.options, OURS.shared)
    assert len(letter - ours) == 5
    every = list(variants())
    assert every[0] == LETTER
    assert every[-1] == OURS
    for variant in every[1:-1]:
        from_one = letter if variant.name.startswith(LETTER.name) else ours
        assert len(facts(variant.options, variant.shared) - from_one) == 1, variant.name
    assert len({v.name for v in every}) == len(every)


def test_departures_are_told_apart_and_taken_up_again(tmp_path: Path) -> None:
    """Each variant against its own baseline; a second run computes nothing anew."""
    chosen = (LETTER, OURS)
    choices = {"sizes": (1, 3), "events": 60, "subscriptions": 10, "chosen": chosen}
    found = departures("wordnet", tmp_path, **choices)  # type: ignore[arg-type]
    assert [row.variant for row in found.rows] == ["the letter", "ours"]
    assert found.rows[0].baseline != found.rows[1].baseline
    parts = {path: path.stat().st_mtime_ns for path in tmp_path.glob("parts-*/part-*.jsonl")}
    assert len(parts) == len(chosen)
    assert departures("wordnet", tmp_path, **choices) == found  # type: ignore[arg-type]
    assert {path: path.stat().st_mtime_ns for path in parts} == parts
    assert (tmp_path / FILE).is_file()


def test_less_approximation_asks_for_the_words_themselves() -> None:
    """Half of the parts are relaxed at 50; who changed one of the others is not relevant; at 0 only equals are."""
    whole, half, none = load(100), load(50), load(0)
    for at, share in ((whole, 1.0), (half, 0.5), (none, 0.0)):
        for subscription in at.subscriptions:
            asked = predicates_of(subscription)
            relaxed = sum(p.attribute_relaxed + p.value_relaxed for p in asked)
            assert relaxed == round(2 * len(asked) * share)
    assert whole.events == half.events == none.events
    assert not (none.relevant & ~half.relevant).any() or half.relevant.sum() < whole.relevant.sum()
    assert not (half.relevant & ~whole.relevant).any()
    assert not (none.relevant & ~whole.relevant).any()
    for row, subscription in enumerate(none.subscriptions):
        wanted = {(fold(p.attribute), fold(str(p.value))) for p in predicates_of(subscription)}
        for column, event in enumerate(none.events):
            held = {(fold(t.attribute), fold(str(t.value))) for t in event.tuples}
            assert not none.relevant[row, column] or wanted <= held
            assert none.wider[row, column] == (wanted <= held)


@pytest.mark.parametrize("degree", [0, 50])
def test_scores_at_less_approximation_are_those_of_the_matcher(degree: int) -> None:
    """Parts that are not relaxed are equal or not."""
    import likewise as lw

    at, measure = load(degree), TableMeasure(seed=3)
    matcher = lw.Matcher(measure=measure, threshold=0.0)
    for subscription in at.subscriptions:
        matcher.add(subscription)
    found = scores(load_arrays(at.subscriptions, at.events), measure)
    for column, event in enumerate(at.events):
        wanted = {m.subscription_id: m.score for m in matcher.match(event)}
        ours = {s.id: found[row, column] for row, s in enumerate(at.subscriptions) if found[row, column] > 0}
        assert ours == pytest.approx(wanted, abs=1e-6)


def test_exact_subscriptions_find_exactly_what_is_relevant_to_them() -> None:
    """At degree 0 any measure is perfect, and misses what was meant in other words."""
    at = load(0)
    arrays = load_arrays(at.subscriptions, at.events)
    assert quality(arrays, Truth(at.relevant, at.wider), TableMeasure(seed=3)).f1 == 1
    assert averaged_f1(scores(arrays, TableMeasure(seed=3)), load(100).relevant)[0] < 1


def test_ten_sets_end_with_all_subscriptions() -> None:
    at = load()
    arrays, measure = load_arrays(at.subscriptions, at.events), TableMeasure(seed=3)
    found = ten_sets(curves(scores(arrays, measure), at.relevant))
    assert len(found) == 10
    assert found[-1] == pytest.approx(quality(arrays, Truth(at.relevant, at.wider), measure).f1)


def test_rewriting_finds_every_version_and_counts_them() -> None:
    """With the thesaurus that made the events, whatever is relevant in the wider reading is met, and scored 1."""
    at, rewriting = load(), Rewriting(small_thesaurus())
    found = scores(load_arrays(at.subscriptions, at.events), rewriting)
    assert set(np.unique(found).tolist()) <= {0.0, 1.0}
    assert not (at.wider & (found == 0)).any()
    for subscription in at.subscriptions:
        terms = [t for p in predicates_of(subscription) for t in (p.attribute, str(p.value))]
        assert rewriting.rewritten(subscription) == np.prod([len(rewriting.versions(t)) for t in terms])
    assert all(rewriting.rewritten(subscription) == 1 for subscription in load(0).subscriptions)


def test_a_cold_start_ranks_as_a_warm_matcher_does() -> None:
    """F1 of the first events is that of the whole ranking restricted to them: what was seen changes no answer."""
    at, space = load(), load_space()
    found = cold_start(space, ("thematic", {}), at, first=40)
    assert (found.first.events, found.following.events) == (40, 20)
    assert 0 < found.first.median_ms <= found.first.p99_ms <= found.first.slowest_ms
    alone = cold_start(space, ("thematic", {}), at, first=60)
    everything = scores(load_arrays(at.subscriptions, at.events), space.measure("thematic"))
    assert alone.first.f1 == pytest.approx(averaged_f1(everything, at.relevant)[0], abs=1e-6)


def test_the_command_runs_each_of_them_in_its_quick_form(tmp_path: Path) -> None:
    small = ["--events", "60", "--subscriptions", "8", "--json", "--out"]
    run = CliRunner().invoke

    def said(*options: str) -> object:
        result = run(app, ["eval", "thematic", *options, *small, str(tmp_path)])
        assert result.exit_code == 0, result.output
        return msgspec.json.decode(result.stdout.strip().splitlines()[-1])

    letter = said("--letter", "--cells", "2x2x1", "--throughput", "0", "--degree", "50")
    assert letter["measure"].endswith("tuples shared")  # type: ignore[index]
    assert letter["degree"] == 50  # type: ignore[index]
    assert letter["rewritten"] > 8  # type: ignore[index]
    assert len(said("--departures", "--cells", "2x2x1")["rows"]) == 13  # type: ignore[index]
    assert len(said("--cold-start", "--letter")) == 2  # type: ignore[arg-type]
    assert (tmp_path / COLD).is_file()
    for wrong in (["--degree", "70"], ["--letter", "--measure", "esa"], ["--departures", "--letter"]):
        assert isinstance(run(app, ["eval", "thematic", *wrong, *small, str(tmp_path)]).exception, InputError)

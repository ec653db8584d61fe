"""Promises of likewise.semantics.measures.combine, calibration and calibrate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import defaults
from likewise.errors import ArtefactDamaged, InputError
from likewise.semantics.calibration import HIGHEST, read_calibration
from likewise.semantics.library import load_space
from likewise.semantics.measure import Term
from likewise.semantics.measures.kernels import _level
from likewise.semantics.space import Space, combined_measure
from likewise.semantics.wordnet.compact import unpack
from likewise.semantics.wordnet.embedded import WORDNET, packed
from likewise_experiments.fitting.calibrate import fit_backgrounds, pair_surprise, related_pairs


def test_a_space_relates_by_the_combined_measure_and_a_matcher_asks_for_sameness(embedded: Space) -> None:
    assert embedded.measure().name == defaults.RELATEDNESS == "combine"
    assert defaults.MEASURE == "sameness"


def test_half_is_where_related_begins(embedded: Space) -> None:
    """At the default threshold most synonyms pass, hardly any random pair does, and sisters are in between."""
    pairs = related_pairs(unpack(packed(WORDNET)), seed=7)
    measure = combined_measure(embedded)
    passing = {
        name: float((embedded.calibration.score(pair_surprise(measure, found[:400])) >= defaults.THRESHOLD).mean())
        for name, found in pairs.items()
    }
    assert passing["synonym"] > 0.75
    assert passing["random"] < 0.02
    assert passing["random"] < passing["sister"] < passing["synonym"]


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ("temperature", "TempC_SHT"),
        ("temperature", "air_temp_f"),
        ("temperature", "temperatureMeasure"),
        ("laptop", "computer"),
        ("increased energy usage event", "increased energy consumption event"),
        ("carbon dioxide", "co2"),
    ],
)
def test_words_phrases_and_identifiers_pass_by_one_rule(embedded: Space, asked: str, seen: str) -> None:
    assert embedded.relatedness(asked, seen) >= defaults.THRESHOLD


@pytest.mark.parametrize(
    ("asked", "seen"), [("battery level", "CO2Level"), ("temperature", "status"), ("laptop", "lat")]
)
def test_sharing_one_of_two_words_is_not_enough(embedded: Space, asked: str, seen: str) -> None:
    assert embedded.relatedness(asked, seen) < defaults.THRESHOLD


def test_themes_without_a_common_document_do_not_erase_meaning(embedded: Space) -> None:
    """The default measure looks through both themes together; `thematic` keeps to the paper."""
    found = embedded.relatedness("laptop", "computer", themes=["computers"], other_themes=["energy"])
    assert found >= defaults.THRESHOLD
    assert (
        embedded.relatedness("laptop", "computer", themes=["computers"], other_themes=["energy"], measure="thematic")
        < 0.05
    )


def test_themes_still_tell_senses_apart(embedded: Space) -> None:
    by = {t: embedded.relatedness("bank", "deposit", themes=[t], other_themes=[t]) for t in ("money", "river")}
    assert by["money"] > by["river"]


@given(st.lists(st.floats(0, 1, width=32), min_size=2, max_size=20), st.integers(0, 4), st.integers(0, 4))
def test_surprise_never_falls_as_scores_rise(scores: list[float], asked: int, seen: int) -> None:
    """For every measure and every two classes of frequency; 0 stays 0, and nothing exceeds the highest."""
    calibration = load_space().calibration
    ordered = np.sort(np.array([0.0, *scores, 1.0], dtype=np.float32))
    for name in calibration.backgrounds:
        knots, levels = calibration.background(name)
        found = np.array([_level(score, knots[asked, seen], levels) for score in ordered])
        assert found[0] == 0
        assert 2 <= found[-1] <= HIGHEST
        assert (np.diff(found) >= -1e-5).all()


def test_the_curve_runs_from_nought_to_one_through_a_half(embedded: Space) -> None:
    calibration = embedded.calibration
    found = calibration.score(np.array([0.0, calibration.midpoint, HIGHEST]))
    assert found[0] == 0
    assert found[1] == pytest.approx(0.5, abs=0.05)
    assert found[2] == 1


def test_backgrounds_make_common_and_rare_words_alike(embedded: Space) -> None:
    """Fitting again gives what is stored: one random pair in a hundred reaches the level 2, rare or common."""
    again = fit_backgrounds(embedded, seed=353)
    for name, background in again.items():
        stored = embedded.calibration.backgrounds[name]
        assert np.allclose(background.scores[2][0], stored.scores[2][0], atol=1e-3)


def test_a_damaged_calibration_is_refused() -> None:
    with pytest.raises(ArtefactDamaged, match="cannot be read"):
        read_calibration(b'{"frequencies": "none"}')


def test_a_space_without_latent_vectors_has_the_default_measure_too(space_of) -> None:  # type: ignore[no-untyped-def]
    """It takes the calibration and the taxonomy of the embedded space."""
    space = space_of([{"sun": 2, "heat": 1}, {"sun": 1, "light": 3}, {"rain": 1, "water": 2}, {"heat": 1, "warm": 1}])
    found = space.measure().matrix([Term("sun")], [Term("sun"), Term("heat"), Term("qzxw")])[0]
    assert found[0] == 1
    assert found[1] > found[2] == 0


def test_many_themes_do_not_pile_up(embedded: Space) -> None:
    """What is kept of the asked words under each theme stays bounded, and answers stay equal."""
    measure = combined_measure(embedded)
    asked = (Term("wind"), Term("bank"))
    first = measure.matrix(asked, [Term("storm", theme=("weather",))])
    for number in range(100):
        measure.matrix(asked, [Term("storm", theme=(f"theme {number}",))])
    assert len(measure._names.side(asked)._terms) <= 64
    assert np.array_equal(measure.matrix(asked, [Term("storm", theme=("weather",))]), first)


def test_a_sentence_model_has_its_share(embedded: Space, tmp_path: Path) -> None:
    """A model of the user's, here word vectors, moves scores both ways; equal terms stay 1."""
    (tmp_path / "vectors.txt").write_text("glorp 1 0\nwibble 1 0.1\nzonk 0 1\n")
    model = str(tmp_path / "vectors.txt")
    for name in ("combine", "sameness"):
        measure = embedded.measure(name, model=model)
        assert measure.configuration() == {"name": name, "model": model}
        plain = embedded.measure(name)
        near, far = [Term("glorp")], [Term("wibble"), Term("zonk"), Term("glorp")]
        found, without = measure.matrix(near, far)[0], plain.matrix(near, far)[0]
        assert found[0] > without[0]
        assert found[1] == without[1] == 0
        assert found[2] == 1
    with pytest.raises(InputError, match="cannot take these options"):
        embedded.measure("combine", metric="raw")

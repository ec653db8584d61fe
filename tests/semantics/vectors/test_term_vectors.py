"""Promises of likewise.semantics.vectors.term_vectors, esa, thematic: every score equals the plain formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from likewise.errors import InputError
from likewise.semantics.measure import Term
from likewise.semantics.space import Space
from tests.semantics.plain_measures import plain_projection, plain_relatedness

WORDS = ["sun", "rain", "wind", "room", "heat", "co2"]
bags = st.lists(st.dictionaries(st.sampled_from(WORDS), st.integers(1, 9), min_size=1), min_size=1, max_size=12)
phrases = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=3).map(" ".join)
themes = st.lists(st.lists(st.sampled_from([*WORDS, "nothing"]), min_size=1, max_size=2).map(" ".join), max_size=2)
Build = Callable[[list[dict[str, int]]], Space]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    bags,
    st.lists(st.tuples(phrases, themes), min_size=1, max_size=4),
    st.sampled_from(["cosine", "unit", "raw", "letter"]),
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
)
def test_thematic_relatedness_is_the_papers(
    space_of: Build,
    corpus: list[dict[str, int]],
    sides: list[tuple[str, list[str]]],
    metric: str,
    choices: tuple[bool, bool, bool, bool],
) -> None:
    """Algorithm 1 and Eq. 5-6, as settled and to the letter, for any corpus, terms, themes and metric."""
    every, letter, whole_term, one = choices
    space = space_of(corpus)
    measure = space.measure(
        "thematic",
        metric=metric,
        basis="all" if every else "any",
        projection="letter" if letter else "whole",
        idf="term" if whole_term else "token",
        equal="one" if one else "letter",
    )
    terms = [Term(text, theme=tuple(theme)) for text, theme in sides]
    found = measure.matrix(terms, terms)
    for i, (a, theme_a) in enumerate(sides):
        for j, (b, theme_b) in enumerate(sides):
            left, right = (
                plain_projection(
                    corpus, text.split(), [tag.split() for tag in theme], every, letter=letter, whole_term=whole_term
                )
                for text, theme in ((a, theme_a), (b, theme_b))
            )
            expected = 1.0 if one and a == b else plain_relatedness(left, right, metric)
            assert found[i, j] == pytest.approx(expected, abs=2e-3)


def test_the_letter_gives_what_we_do_not(embedded: Space) -> None:
    """Two unknown terms are one, unrelated ones are not 0, and a term is not wholly itself under another theme."""
    letter = {"metric": "letter", "projection": "letter", "idf": "term", "equal": "letter"}

    def both(a: str, b: str, themes: tuple[str, ...] = (), others: tuple[str, ...] = ()) -> tuple[float, float]:
        ours = embedded.relatedness(a, b, themes=themes, other_themes=others, measure="thematic")
        return ours, embedded.relatedness(a, b, themes=themes, other_themes=others, measure="thematic", **letter)

    assert both("qzxw", "wxzq") == (0.0, 1.0)
    ours, letters = both("trombone", "ozone")
    assert ours == 0 < letters
    ours, letters = both("bank", "bank", ("money",), ("river",))
    assert ours == 1 > letters
    assert both("bank", "bank", ("money",), ("money",)) == pytest.approx((1, 1), abs=1e-4)
    ours, letters = both("trombone", "ozone", ("qzxw",), ("qzxw",))
    assert (ours, letters) == (0.0, 1.0)  # an unknown theme leaves nothing of either


def test_a_theme_moves_a_word_to_its_domain(embedded: Space) -> None:
    """Algorithm 1 at work: a bank is nearer to deposits under money than under rivers."""
    by = {
        tag: embedded.relatedness("bank", "deposit", themes=[tag], other_themes=[tag], measure="thematic")
        for tag in ("money", "river")
    }
    assert by["money"] > embedded.relatedness("bank", "deposit", measure="esa") > by["river"]


def test_an_unknown_theme_changes_nothing(embedded: Space) -> None:
    plain = embedded.relatedness("wind", "storm", measure="thematic")
    assert embedded.relatedness("wind", "storm", themes=["qzxw"], measure="thematic") == plain


def test_esa_leaves_themes_out(embedded: Space) -> None:
    plain = embedded.relatedness("bank", "deposit", measure="esa")
    assert embedded.relatedness("bank", "deposit", themes=["river"], measure="esa") == plain


def test_an_identifier_has_the_vector_of_its_words(embedded: Space) -> None:
    """Words written as one are cut where the space does not know the whole."""
    vectors = embedded.vectors
    assert vectors.tokens("batteryLevel") == vectors.tokens("battery level")
    assert np.array_equal(vectors.vector("wind_speed").weights, vectors.vector("wind speed").weights)


def test_vectors_are_kept_within_a_bound(embedded: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many terms are asked about, what is kept stays within the bound, and forgotten ones come back equal."""
    from likewise import defaults
    from likewise.semantics.vectors.term_vectors import TermVectors

    monkeypatch.setattr(defaults, "TERM_CACHE_BYTES", 20_000)
    vectors = TermVectors(embedded.files)
    first = vectors.vector("water").weights.copy()
    for word in ("fire", "earth", "air", "stone", "wood", "metal"):
        vectors.vector(word)
    assert len(vectors._vectors) < 7
    assert np.array_equal(vectors.vector("water").weights, first)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("esa", {"metric": "angle"}),
        ("thematic", {"basis": "some"}),
        ("thematic", {"projection": "some"}),
        ("thematic", {"idf": "word"}),
        ("thematic", {"equal": "two"}),
        ("esa", {"nonsense": 1}),
        ("nothing", {}),
    ],
)
def test_wrong_options_are_refused(embedded: Space, name: str, options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        embedded.measure(name, **options)

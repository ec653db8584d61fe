"""The promise of coordinates: never further apart than the terms themselves, so that a range misses nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.matching.reference.locality import (
    FARTHEST,
    MARGIN,
    LexicalLocality,
    Locality,
    SemanticLocality,
    coordinates,
    distances,
    plain_text,
    principal_axis,
)
from likewise.semantics.library import load_space

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
WORDS = ["home team", "away team", "team", "stadium", "match", "football", "laptop", "computer", "qqxyzzy", "", "zzqqx"]


def localities() -> list[Locality]:
    return [LexicalLocality(), LexicalLocality(7), SemanticLocality(load_space())]


@given(st.lists(TEXTS, min_size=2, max_size=12))
def test_coordinates_are_never_further_apart_than_terms(texts: list[str]) -> None:
    """Along the axis these texts choose, and along one chosen by others."""
    near = LexicalLocality()
    vectors = near.vectors(texts)
    pairs = [(a, b) for a in range(len(texts)) for b in range(a)]
    apart = distances(near, [texts[a] for a, _ in pairs], [texts[b] for _, b in pairs])
    for axis in (principal_axis(vectors), principal_axis(near.vectors(["some", "other", "words"]))):
        along = coordinates(vectors, axis[None, :])[:, 0]
        moved = np.abs([along[a] - along[b] for a, b in pairs])
        assert (moved <= apart + MARGIN).all()


@pytest.mark.parametrize("near", localities(), ids=["spelling", "few dimensions", "meaning"])
def test_distances_are_a_metric(near: Locality) -> None:
    """Symmetric, 0 for the same text, the triangle holds, and nothing is further than √2."""
    n = len(WORDS)
    grid = distances(near, [a for a in WORDS for _ in WORDS], WORDS * n).reshape(n, n)
    assert np.allclose(grid, grid.T, atol=1e-6)
    assert not grid.diagonal().any()
    assert (grid[:, None, :] <= grid[:, :, None] + grid[None, :, :] + 1e-5).all()
    # Latent vectors may point away from each other; counts and hashed documents cannot do so by much.
    assert grid.max() <= (2.0 if isinstance(near, SemanticLocality) else FARTHEST) + 1e-5


def test_meaning_brings_near_what_spelling_does_not() -> None:
    """The space knows that a laptop is a computer."""
    meaning, spelling = SemanticLocality(load_space()), LexicalLocality()
    for near, expected in ((meaning, True), (spelling, False)):
        to_computer, to_lapdog = distances(near, ["laptop", "laptop"], ["computer", "lapdog"])
        assert (to_computer < to_lapdog) == expected


def test_a_term_without_a_vector_is_near_itself_alone() -> None:
    """Two unknown terms are as far apart as can be."""
    near = SemanticLocality(load_space())
    found = distances(near, ["zzqqx", "zzqqx", "zzqqx"], ["zzqqx", "qqxyzzy", "laptop"])
    assert found[0] == 0
    assert found[1:] == pytest.approx([FARTHEST, FARTHEST])


def test_a_space_without_latent_vectors_serves_too() -> None:
    """Its vectors over documents are folded; the same word stays at 0, a related one nearer than another."""
    space = load_space()

    class Bare:
        vectors = space.vectors
        latent = None

    near = SemanticLocality(Bare(), 512)  # type: ignore[arg-type]
    same, related, other = distances(near, ["laptop"] * 3, ["laptop", "portable computer", "banana"])
    assert same == 0
    assert related < other


def test_terms_are_compared_by_their_plain_words() -> None:
    """A URI's last part, a literal's text; what has no such text is itself."""
    assert plain_text("<http://e.org/ns#homeTeams>") == plain_text('"Home team"@en') == "home team"
    assert plain_text('"Heimmannschaft"@de') == '"Heimmannschaft"@de'
    assert plain_text("_:b0") == "_:b0"

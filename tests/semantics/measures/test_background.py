"""Background knowledge: what WordNet knows to be part or instance of what is asked for."""

from __future__ import annotations

import pytest

from likewise.semantics.library import load_space
from likewise.semantics.measure import Term


@pytest.mark.parametrize(
    ("asked", "seen"),
    [("South Africa", "Johannesburg"), ("Europe", "Galway"), ("river", "Danube"), ("Ireland", "Dublin")],
)
def test_parts_and_instances_answer_the_whole_and_the_kind(asked: str, seen: str) -> None:
    """And not the other way round: who asks for Dublin does not mean all of Ireland."""
    space = load_space()
    background, esa = space.measure("background"), space.measure("esa", metric="cosine")
    there, back = ([Term(asked)], [Term(seen)]), ([Term(seen)], [Term(asked)])
    assert background.matrix(*there)[0, 0] == 1
    assert background.matrix(*back)[0, 0] == esa.matrix(*back)[0, 0] < 1


def test_what_is_not_known_is_as_related_as_before() -> None:
    """Other pairs have the score of explicit semantic analysis; unknown words have none."""
    space = load_space()
    background, esa = space.measure("background"), space.measure("esa", metric="cosine")
    texts = ("South Africa", "soccer match", "football match", "Spain", "qzxw", "United Kingdom")
    terms = [Term(text) for text in texts]
    assert (background.matrix(terms, terms) == esa.matrix(terms, terms)).all()
    assert background.configuration() == {"name": "background"}

"""Shortest paths and gloss vectors: the other measures of WordNet that H 5.3.2 compares."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import product

import numpy as np
import pytest

from likewise.semantics.library import load_space
from likewise.semantics.measure import Measure, Term
from likewise.semantics.wordnet.relations import WordRelations


def scores(measure: Measure, *pairs: tuple[str, str]) -> list[float]:
    return [float(measure.matrix([Term(a)], [Term(b)])[0, 0]) for a, b in pairs]


@pytest.mark.parametrize(("name", "senses"), [("path", "first"), ("path", "all"), ("gloss", "first"), ("gloss", "all")])
def test_scores_are_symmetric_within_0_and_1_and_1_for_equal_terms(name: str, senses: str) -> None:
    measure = load_space().measure(name, senses=senses)
    terms = [Term(text) for text in ("car", "soccer match", "motor vehicle", "increase", "qzxw", "team", "location")]
    matrix = measure.matrix(terms, terms)
    assert np.allclose(matrix, matrix.T)
    assert (matrix >= 0).all()
    assert (matrix <= 1).all()
    assert (matrix.diagonal() == 1).all()
    assert matrix[4, :4].max() == 0  # an unknown word
    assert measure.configuration() == {"name": name, "senses": senses}


def test_a_path_counts_edges_through_the_nearest_common_hypernym() -> None:
    """By hand from WordNet 3.0: car < motor vehicle; car and truck share motor vehicle; nouns and verbs share none."""
    path = load_space().measure("path")
    found = scores(path, ("car", "automobile"), ("car", "motor vehicle"), ("car", "truck"), ("car", "exceed"))
    assert found == pytest.approx([1, 1 / 2, 1 / 3, 0])


def test_a_path_is_the_shortest_that_a_search_finds() -> None:
    """Up from either word, one edge at a time."""
    space = load_space()
    path = space.measure("path")
    words = ("dog", "cat", "team", "place", "room", "sensor", "city", "match")
    climbed = {word: climb(space.relations, space.relations.senses(word, "n")[0]) for word in words}
    for a, b in product(words, words):
        shortest = min(climbed[a][s] + climbed[b][s] for s in climbed[a].keys() & climbed[b].keys())
        assert scores(path, (a, b)) == pytest.approx([1 / (1 + shortest)])


def climb(relations: WordRelations, start: int) -> dict[int, int]:
    """The edges up to every hypernym, the fewest of all ways."""
    edges: dict[int, int] = {}
    waiting = [(0, start)]
    while waiting:
        steps, synset = heappop(waiting)
        if synset not in edges:
            edges[synset] = steps
            for name in ("kind_of", "instance_of"):
                for target in relations.targets(name, synset):
                    heappush(waiting, (steps + 1, target))
    return edges


def test_glosses_that_speak_of_one_thing_are_near() -> None:
    """Where no hypernym is shared early, too: a teacher and a school."""
    gloss = load_space().measure("gloss")
    near = scores(gloss, ("teacher", "school"), ("stadium", "football"), ("thermometer", "temperature"))
    far = scores(gloss, ("teacher", "banana"), ("stadium", "gene"), ("thermometer", "senate"))
    assert min(near) > max(far)


@pytest.mark.parametrize("name", ["path", "gloss"])
def test_a_term_without_a_word_is_related_to_nothing(name: str) -> None:
    """Such as a dash as a value: explanations compare it, too."""
    assert scores(load_space().measure(name), ("car", "-"), ("-", "car"), ("?", "-")) == [0, 0, 0]

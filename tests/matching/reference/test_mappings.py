"""Mappings: enumeration, ranking and the probability spaces."""

from __future__ import annotations

import math
from itertools import islice, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.matching.reference.event_view import SimilarityRow
from likewise.matching.reference.mappings import (
    MAX_RANKED_PREDICATES,
    best_mapping,
    describe,
    enumerate_mappings,
    ranked_mappings,
    score_of,
    top_mappings,
)

SIMILARITIES = st.sampled_from((0.0, 0.0, 0.125, 0.25, 0.5, 0.75, 0.875, 1.0))


@st.composite
def matrices(draw: st.DrawFn) -> list[tuple[float, ...]]:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    return [tuple(draw(st.lists(SIMILARITIES, min_size=columns, max_size=columns))) for _ in range(rows)]


def by_permutations(rows: list[tuple[float, ...]]) -> list[tuple[float, tuple[int, ...]]]:
    """The definition: every way to give each predicate its own tuple."""
    found = []
    for choice in permutations(range(len(rows[0])), len(rows)):
        product = math.prod(row[index] for row, index in zip(rows, choice, strict=True))
        if product > 0:
            found.append((product, choice))
    return sorted(found, key=lambda ranked: (-ranked[0], ranked[1]))


@given(matrices())
def test_every_mapping_is_listed_in_order(rows: list[tuple[float, ...]]) -> None:
    """Enumeration gives what the definition gives, the best first, ties by the tuples used."""
    assert enumerate_mappings(rows) == by_permutations(rows)


@given(matrices())
def test_the_best_mapping_is_the_first_of_all(rows: list[tuple[float, ...]]) -> None:
    """The short way to the best mapping finds the highest product."""
    listed = by_permutations(rows)
    found = best_mapping(rows)
    assert (found is None) == (not listed)
    if found is not None:
        assert found[0] == listed[0][0]
        assert math.prod(row[i] for row, i in zip(rows, found[1], strict=True)) == found[0]
        assert len(set(found[1])) == len(rows)


@given(matrices())
def test_murtys_ranking_lists_the_same_mappings(rows: list[tuple[float, ...]]) -> None:
    """Ranking by assignment problems gives every mapping once, products descending."""
    ranked = list(ranked_mappings(rows))
    assert sorted(choice for _, choice in ranked) == sorted(choice for _, choice in by_permutations(rows))
    products = [product for product, _ in ranked]
    assert products == pytest.approx(sorted(products, reverse=True))


def test_too_many_mappings_are_ranked_instead_of_listed() -> None:
    """Twenty predicates on twenty tuples have 20! mappings; the best few still come at once."""
    rows = [tuple(1.0 if i == j else 0.5 + 0.01 * ((i * j) % 7) for j in range(20)) for i in range(20)]
    assert enumerate_mappings(rows) is None
    best = top_mappings(rows, 3)
    assert best[0] == (1.0, tuple(range(20)))
    assert len({choice for _, choice in best}) == 3
    assert best[0][0] >= best[1][0] >= best[2][0]


def test_a_search_without_an_end_is_given_up() -> None:
    """Twenty predicates that want the same nineteen tuples have no mapping, and that is found quickly."""
    rows = [tuple(0.5 + 0.01 * ((i + j) % 7) if j < 19 else 0.0 for j in range(20)) for i in range(20)]
    assert best_mapping(rows) is None


def test_very_long_conditions_have_a_best_mapping() -> None:
    """Beyond the longest conditions that are ranked, the best mapping is found by one assignment problem."""
    size = MAX_RANKED_PREDICATES + 10
    rows = [tuple(0.9 if j == 0 else 0.8 if i == j else 0.0 for j in range(size)) for i in range(size)]
    found = best_mapping(rows)
    assert found is not None
    assert found[1] == tuple(range(size))


def test_no_mapping_when_predicates_outnumber_tuples() -> None:
    """Each predicate needs a tuple of its own."""
    assert best_mapping([(1.0,), (1.0,)]) is None
    assert list(ranked_mappings([(1.0,), (1.0,)])) == []


@given(matrices(), st.integers(1, 4))
def test_probabilities_are_shares(rows: list[tuple[float, ...]], k: int) -> None:
    """P over all mappings sums to 1; P_σ gives each correspondence its share of the predicate's row."""
    filled = [SimilarityRow(row, (1.0,) * len(row), row) for row in rows]
    everything = describe(filled, len(rows), 10**6)
    assert len(everything) == len(by_permutations(rows))
    if everything:
        assert math.fsum(m.probability for m in everything) == pytest.approx(1.0)
    for mapping in everything[:k]:
        for c in mapping.correspondences:
            assert c.probability == pytest.approx(c.similarity / math.fsum(rows[c.predicate]))
        assert mapping.score == pytest.approx(mapping.product ** (1 / len(rows)))
    assert describe(filled, len(rows), k) == everything[:k]


def test_probabilities_span_the_best_hundred_when_there_are_more() -> None:
    """With too many mappings to list, P is taken over the best hundred."""
    rows = [tuple(0.5 + 0.001 * ((3 * i + 5 * j) % 11) for j in range(9)) for i in range(9)]
    filled = [SimilarityRow(row, (1.0,) * 9, row) for row in rows]
    total = math.fsum(product for product, _ in islice(ranked_mappings(rows), 100))
    first = describe(filled, 9, 2)[0]
    assert first.probability == pytest.approx(first.product / total)


def test_the_score_is_the_geometric_mean_over_relaxed_parts() -> None:
    """Exact parts do not dilute the score."""
    assert score_of(0.25, 2) == 0.5
    assert score_of(0.3, 1) == 0.3
    assert score_of(1.0, 0) == 1.0

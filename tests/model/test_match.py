"""Matches, mappings and explanations as values."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.model import Correspondence, Explanation, Mapping, Match, MatchBatch, PredicateReport


def test_the_mapping_is_computed_once_and_when_asked_for() -> None:
    """Asking twice gives the same."""
    asked: list[int] = []
    mapping = Mapping((Correspondence(0, 1, 0.5, 0.5, 1.0),), 0.5, 0.25, 1.0)

    def trace() -> Mapping:
        asked.append(1)
        return mapping

    match = Match("e", "s", "approximate", 0.5, 0.25, trace)
    assert asked == []
    assert match.mapping is match.mapping is mapping
    assert asked == [1]
    assert Match("e", "s", "exact").mapping is None


def test_matches_are_equal_by_what_they_say() -> None:
    """The mapping is a view of the same fact and does not count."""
    assert Match("e", "s", "exact") == Match("e", "s", "exact", trace=lambda: None)
    assert len({Match("e", "s", "exact"), Match("e", "s", "exact"), Match("e", "t", "exact")}) == 2
    assert Match("e", "s", "exact") != Match("e", "s", "exact", cause="promoted")
    assert Match("e", "s", "top", rank_value=1.5) != Match("e", "s", "top", rank_value=2.5)
    assert Match("e", "s", "exact") != "e"
    assert repr(Match("e", "s", "top", rank_value=1.5)).count("rank_value=1.5") == 1


def test_a_batch_lists_its_pairs() -> None:
    """Event, subscription id, score."""
    batch = MatchBatch(np.array([0, 2]), np.array([1, 0]), np.array([1.0, 0.5], np.float32), ("a", "b"))
    assert list(batch.pairs()) == [(0, "b", 1.0), (2, "a", 0.5)]


def test_similarity_is_the_product_of_both_parts() -> None:
    """In a correspondence and in a report."""
    assert Correspondence(0, 0, 0.5, 0.25, 1.0).similarity == 0.125
    assert PredicateReport("t", "match", attribute_relatedness=0.5, value_relatedness=0.5).similarity == 0.25


def test_explanations_are_values() -> None:
    """Hashable, equal by content, and nothing can change them."""
    one = Explanation("s", "e", "match", (PredicateReport("t > 5", "match", notes=("x",), evidence=(("esa", 0.5),)),))
    assert one == Explanation(
        "s", "e", "match", (PredicateReport("t > 5", "match", notes=("x",), evidence=(("esa", 0.5),)),)
    )
    assert hash(one) == hash(one)
    with pytest.raises(AttributeError):
        one.verdict = "expired"  # type: ignore[misc]

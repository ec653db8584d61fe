"""`Matcher.mappings`: the k best mappings with their probabilities; and the degree of approximation."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import LimitExceeded, StateError, UnknownId
from likewise.model import EventTuple
from likewise.testing import TableMeasure

MEASURE = TableMeasure(seed=5)
WORDS = ("laptop", "computer", "room", "office", "energy", "power")


@given(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1, max_size=3, unique=True),
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), min_size=1, max_size=4),
    st.integers(1, 30),
)
def test_the_k_best_of_all_mappings_with_both_probabilities(
    asked: list[tuple[str, str]], seen: list[tuple[str, str]], k: int
) -> None:
    """Against every way to give each predicate a tuple: products, P over all of them, P_σ over each row."""
    text = ", ".join(f"{a}~ = {v}~" for a, v in asked)
    matcher = lw.Matcher(measure=MEASURE)
    matcher.add(lw.parse(f"{{{text}}}", id="s"))
    event = lw.Event(tuple(EventTuple(a, v) for a, v in seen))
    terms = [[lw.Term(x, kind="text") for x, _ in side] for side in (asked, seen)]
    values = [[lw.Term(x, "value", kind="text") for _, x in side] for side in (asked, seen)]
    similarity = MEASURE.matrix(*terms) * MEASURE.matrix(*values)
    ways = [
        (math.prod(float(similarity[p, t]) for p, t in enumerate(way)), way)
        for way in permutations(range(len(seen)), len(asked))
    ]
    ways = sorted((w for w in ways if w[0] > 0), key=lambda w: (-w[0], w[1]))
    found = matcher.mappings(event, "s", k)
    assert len(found) == min(k, len(ways))
    total = sum(product for product, _ in ways)
    for mapping, (product, _) in zip(found, ways, strict=False):
        assert mapping.product == pytest.approx(product, rel=1e-5)
        assert mapping.probability == pytest.approx(product / total, rel=1e-5)
        for c in mapping.correspondences:
            row = float(similarity[c.predicate].sum())
            assert c.probability == pytest.approx(float(similarity[c.predicate, c.tuple]) / row, rel=1e-5)
    if len(found) == len(ways):
        assert sum(m.probability for m in found) == pytest.approx(1.0 if ways else 0.0)


def test_the_best_mapping_is_the_matchs_own() -> None:
    """Also where `or` gives several conjunctions, and above a threshold or below it."""
    matcher = lw.Matcher(measure=TableMeasure({("laptop", "computer"): 0.8, ("phone", "computer"): 0.3}))
    matcher.add(lw.parse("{(device = phone~ or device = laptop~)}", id="either"))
    matcher.add(lw.parse("{device = phone~}", id="low"))
    event = lw.event({"device": "computer"})
    (match,) = matcher.match(event)
    assert matcher.mappings(event, "either", 1) == [match.mapping]
    (below,) = matcher.mappings(event, "low")
    assert below.score == pytest.approx(0.3)


def test_many_mappings_are_ranked_without_listing_them() -> None:
    """Ten predicates on twelve tuples have 239 million mappings; the best 500 come in order."""
    measure = TableMeasure(
        {(f"a{i}", f"b{j}"): 0.3 + ((i * 7 + j * 3) % 11) / 20 for i in range(10) for j in range(12)}
    )
    matcher = lw.Matcher(measure=measure)
    matcher.add(lw.parse("{" + ", ".join(f"a{i}~ exists" for i in range(10)) + "}", id="s"))
    found = matcher.mappings(lw.event({f"b{j}": 1 for j in range(12)}), "s", 500)
    assert len({tuple(c.tuple for c in m.correspondences) for m in found}) == 500
    products = [m.product for m in found]
    assert products == pytest.approx(sorted(products, reverse=True))
    assert sum(m.probability for m in found) == pytest.approx(1.0)


def test_what_has_no_mappings_is_said() -> None:
    matcher = lw.Matcher()
    matcher.add(lw.parse("[1, 0]", id="vector"))
    matcher.add(lw.parse("{a = 1}", id="exact"))
    event = lw.event({"a": 1})
    with pytest.raises(StateError):
        matcher.mappings(event, "vector")
    with pytest.raises(UnknownId):
        matcher.mappings(event, "nobody")
    for k in (0, 10_001):
        with pytest.raises(LimitExceeded):
            matcher.mappings(event, "exact", k)
    assert [m.score for m in matcher.mappings(event, "exact")] == [1.0]


@pytest.mark.parametrize(
    ("text", "degree"),
    [
        ("{power, computers} {type = increased energy usage event~, device~ = laptop~, office = room 112}", 3 / 6),
        ("{a = 1}", 0.0),
        ("{a~ exists}", 1.0),
        ("{a~ > 5, not b = c~}", 2 / 4),
        ("{(a~ = b~ or c = d)}", 2 / 4),
        ('event type "Football Match"', 1.0),
        ("?e rdf:type dbo:Event", 0.0),
        ("[1, 0, *]", 0.0),
        ("near (?e, dbp:team, ?t) radius 0.5 by spelling", 1.0),
    ],
)
def test_the_degree_of_approximation_is_a_figure(text: str, degree: float) -> None:
    """On the subscription as it is written, whatever its kind."""
    assert lw.parse(text).degree == pytest.approx(degree)


def test_an_explanation_says_the_degree() -> None:
    matcher = lw.Matcher(measure=MEASURE)
    matcher.add(lw.parse("{device~ = laptop}", id="s"))
    assert matcher.explain(lw.event({"device": "laptop"}), "s").degree == 0.5

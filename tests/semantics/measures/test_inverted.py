"""Promises of likewise.semantics.measures.inverted: the asked side turned round changes no result."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likewise.semantics.measures.esa import related
from likewise.semantics.measures.inverted import turned
from likewise.semantics.vectors.term_vectors import Vector, stacked

DOCUMENTS = 40
vectors = st.dictionaries(st.integers(0, DOCUMENTS - 1), st.floats(0.125, 9, width=32), max_size=12)


def vector(entries: dict[int, float]) -> Vector:
    weights = np.array([entries[d] for d in sorted(entries)], dtype=np.float32)
    return Vector(np.array(sorted(entries), dtype=np.uint32), weights, float(np.sqrt(weights @ weights)))


@given(st.lists(vectors, min_size=1, max_size=8), st.lists(vectors, min_size=1, max_size=4))
def test_cosines_are_those_of_the_plain_comparison(asked: list[dict[int, float]], seen: list[dict[int, float]]) -> None:
    """Empty vectors included."""
    a, b = stacked([vector(v) for v in asked]), stacked([vector(v) for v in seen])
    assert np.allclose(turned(a).cosines(b), related(a, b, DOCUMENTS, "cosine"), atol=1e-6)

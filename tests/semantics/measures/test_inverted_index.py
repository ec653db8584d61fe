"""Promises of likewise.semantics.measures.inverted_index: the asked side invert round changes no result."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from likewise.semantics.measures.inverted_index import invert
from likewise.semantics.vectors.term_vectors import Vector, stack_vectors

DOCUMENTS = 40
vectors = st.dictionaries(st.integers(0, DOCUMENTS - 1), st.floats(0.125, 9, width=32), max_size=12)


def vector(entries: dict[int, float]) -> Vector:
    weights = np.array([entries[d] for d in sorted(entries)], dtype=np.float32)
    return Vector(
        np.array(sorted(entries), dtype=np.uint32), weights, float(np.linalg.norm(weights.astype(np.float64)))
    )


def dense(all_entries: list[dict[int, float]]) -> NDArray[np.float64]:
    return np.array([[entries.get(d, 0.0) for d in range(DOCUMENTS)] for entries in all_entries])


@given(st.lists(vectors, min_size=1, max_size=8), st.lists(vectors, min_size=1, max_size=4))
def test_cosines_and_distances_are_those_of_dense_vectors(
    asked: list[dict[int, float]], seen: list[dict[int, float]]
) -> None:
    """Empty vectors included."""
    a, b = invert(stack_vectors([vector(v) for v in asked])), stack_vectors([vector(v) for v in seen])
    x, y = dense(asked), dense(seen)
    lengths = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)[None, :]
    cosines = np.divide(x @ y.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    assert np.allclose(a.cosines(b), cosines, atol=1e-6)
    assert np.allclose(a.distances(b), np.linalg.norm(x[:, None] - y[None, :], axis=2), atol=1e-5)

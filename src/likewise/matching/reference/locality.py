"""Coordinates for terms, by which patterns lie in space near the triples they resemble (sources.md L).

A term is a unit vector, and two terms are as far apart as their vectors (Euclid): 0 if they say the same,
√2 if they have nothing in common. A term's coordinate is the part of its vector along one fixed direction.
A projection is never longer than what it projects (it is 1-Lipschitz), so terms within r of each other
have coordinates within r: searching that range and then measuring misses nothing.

The paper (Qin et al., CIKM 2014, section 2.1) hashes terms with locality-sensitive functions, where near
terms may fall apart (departure). Of the directions that suit, the one is taken along which a sample of
terms lies furthest apart: its first principal axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from likewise.matching.reference.statement_terms import plain_words, term_text
from likewise.model.text import fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.space import Space

FARTHEST: Final = 2.0**0.5  # between terms that have nothing in common
MARGIN: Final = 1e-6  # how far rounding may move a coordinate; they are computed in double precision
_LONGEST_GRAM: Final = 3
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplier: spreads codes over the dimensions
_ITERATIONS: Final = 30


class Locality(Protocol):
    """Terms as unit vectors; a term without a vector has a row of zeros and is far from all but itself."""

    dimensions: int

    def text(self, term: str) -> str:
        """Return what of an N-Triples term is compared; terms with the same text are at distance 0."""
        ...

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, one a row."""
        ...


class LexicalLocality:
    """Spelling: the characters, pairs and triples of characters of a term's text, counted in hashed dimensions.

    The text is the last part of an IRI or a literal's text, in plain words, folded.

    >>> near = LexicalLocality()
    >>> a, b, c = (near.text(f"<http://e.org/{name}>") for name in ("homeTeam", "home_teams", "location"))
    >>> a, bool(distances(near, [a], [b])[0] < distances(near, [a], [c])[0])
    ('home team', True)
    """

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions

    def text(self, term: str) -> str:
        """The term in plain words."""
        return plain_text(term)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Counts of character n-grams, each row of length 1."""
        framed = [f"\x02{text}\x03" for text in texts]
        codes = np.frombuffer("".join(framed).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
        lengths = np.fromiter(map(len, framed), np.int64, len(framed))
        rows = np.repeat(np.arange(len(framed)), lengths)
        grams = []
        gram = np.zeros(len(codes), np.uint64)
        for size in range(1, _LONGEST_GRAM + 1):
            # The gram that starts at each place, one character longer than before; at a text's end there is none.
            gram = (gram[: len(codes) - size + 1] * _MIX) ^ codes[size - 1 :]
            inside = rows[: len(gram)] == rows[size - 1 :]
            hashed = ((gram + np.uint64(size)) * _MIX) >> np.uint64(32)
            places = rows[: len(gram)] * self.dimensions + (hashed % np.uint64(self.dimensions)).astype(np.int64)
            grams.append(places[inside])
        counts = np.bincount(np.concatenate(grams), minlength=len(framed) * self.dimensions)
        return _unit(counts.reshape(len(framed), self.dimensions).astype(np.float32))


class SemanticLocality:
    """Meaning: the unit vectors of a space.

    Latent vectors if the space carries them; else the vectors over its documents, folded into hashed
    dimensions, which keeps distances nearly (Weinberger et al., "Feature hashing for large scale multitask
    learning", ICML 2009). Distances are measured between the vectors as they are here.
    """

    def __init__(self, space: Space, dimensions: int = 256) -> None:
        self._space = space
        self._latent = space.latent() if callable(space.latent) else space.latent
        self.dimensions = dimensions
        if self._latent is not None:
            from likewise.semantics.measure import Term

            self.dimensions = len(self._latent.row(Term("term")))

    def text(self, term: str) -> str:
        """The term in plain words."""
        return plain_text(term)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The space's vectors of texts; zeros for what it does not know."""
        if self._latent is not None:
            from likewise.semantics.measure import Term

            rows = [self._latent.row(Term(text)) for text in texts]
            return np.array(rows, np.float32).reshape(len(texts), self.dimensions)
        out = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(out, texts, strict=True):
            sparse = self._space.vectors.vector(text)
            mixed = sparse.documents.astype(np.uint64) * _MIX
            sign = 1 - 2 * ((mixed >> np.uint64(31)) & np.uint64(1)).astype(np.float32)
            places = ((mixed >> np.uint64(32)) % np.uint64(self.dimensions)).astype(np.int64)
            row += np.bincount(places, sparse.weights * sign, self.dimensions).astype(np.float32)
        return _unit(out)


@lru_cache(maxsize=65_536)
def plain_text(term: str) -> str:
    """A term's text in plain words, folded; of a blank node or a foreign literal, the term itself.

    >>> plain_text("<http://dbpedia.org/property/homeTeams>"), plain_text('"Real Madrid"@en'), plain_text("_:b0")
    ('home team', 'real madrid', '_:b0')
    """
    text = term_text(term)
    return fold(plain_words(text)) if text else term


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    out: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return out


def row_distances(a: NDArray[np.float32], b: NDArray[np.float32], same: NDArray[np.bool_]) -> NDArray[np.float32]:
    """The distances between rows of two matrices, 0 where the texts are the same.

    A row of zeros is a term with a dimension of its own, which the matrix does not show.
    """
    difference = a - b
    squares = np.einsum("ij,ij->i", difference, difference)
    squares += (~a.any(axis=1)).astype(np.float32) + (~b.any(axis=1)).astype(np.float32)
    norms: NDArray[np.float32] = np.sqrt(squares)
    norms[same] = 0
    return norms


def distances(locality: Locality, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float32]:
    """Return how far texts are apart, pair by pair: the metric by which answers are verified."""
    same = np.fromiter((a == b for a, b in zip(left, right, strict=True)), bool, len(left))
    return row_distances(locality.vectors(left), locality.vectors(right), same)


def principal_axis(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """The direction of length 1 along which rows lie furthest apart, by power iteration.

    >>> np.abs(principal_axis(np.array([[1, 0], [-1, 0], [0, 0.1]], np.float32))).round(2).tolist()
    [1.0, 0.0]
    """
    dimensions = rows.shape[1]
    axis = np.full(dimensions, dimensions**-0.5)
    axis[1::2] *= -1
    centred = rows.astype(np.float64) - rows.mean(axis=0) if len(rows) else rows
    for _ in range(_ITERATIONS):
        turned = centred.T @ (centred @ axis)
        length = float(np.sqrt(turned @ turned))
        if length < 1e-12:  # rows that are all alike: any direction does
            break
        axis = turned / length
    axis *= 1 - 1e-6  # rounding must not make it longer than 1
    turned = axis if axis[np.abs(axis).argmax()] > 0 else -axis
    return turned


def coordinates(rows: NDArray[np.float32], axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The coordinates of vectors along each axis, one row a vector.

    >>> coordinates(np.eye(2, dtype=np.float32), np.array([[1.0, 0.0]])).tolist()
    [[1.0], [0.0]]
    """
    # Not the @ of matrices: many threads for so little work cost more than they bring.
    projected: NDArray[np.float64] = np.einsum("ij,kj->ik", rows, axes, dtype=np.float64)
    return projected

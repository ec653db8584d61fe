"""The words of a space most related to a term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from likewise.errors import InputError
from likewise.model.text import fold
from likewise.semantics.measure import Term
from likewise.semantics.measures.esa import fold_spaces
from likewise.semantics.vectors.term_vectors import TermVectors, Theme

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure
    from likewise.semantics.spaces.files import SpaceFiles

CANDIDATES: Final = 5  # for each word wanted; the cosine finds them, the default measure orders them
FEWEST: Final = 100
TITLES: Final = 30  # of a token's documents, searched for a word that has it


def nearest(
    files: SpaceFiles, vectors: TermVectors, measure: Measure, text: str, k: int, theme: Theme
) -> list[tuple[str, float]]:
    """Words and scores by a measure, the best first; none for a term the space does not know.

    A space stores stems, so each is shown as a word of a title that has it, where there is one.
    """
    from likewise.semantics.vectors.sparse_kernels import cosines_with_all

    if k < 1:
        raise InputError(f"the number of words wanted must be at least 1, found {k}")
    vector = vectors.vector(fold_spaces(text), theme)
    if not vector.norm:
        return []
    spread = np.zeros(vectors.size, dtype=np.float32)
    spread[vector.documents] = vector.weights
    basis = vectors.basis(theme) if vector.projected else np.ones(vectors.size, dtype=bool)
    cosines = cosines_with_all(
        files.posting_ends, files.documents, files.frequencies, files.document_maxima, basis, spread
    )
    own = [token for token in vectors.tokens(fold_spaces(text)) if token >= 0]
    if len(own) == 1:
        cosines[own] = 0
    count = min(max(FEWEST, CANDIDATES * k), np.count_nonzero(cosines))
    best = np.argsort(-cosines, kind="stable")[:count].tolist()
    words = list(dict.fromkeys(_shown(files, vectors, token) for token in best))
    words = [word for word in words if fold(word) != fold(text)]
    if not words:
        return []
    scores = measure.matrix([Term(text, theme=theme)], [Term(word, theme=theme) for word in words])[0]
    order = np.argsort(-scores, kind="stable")[:k].tolist()
    return [(words[i], float(scores[i])) for i in order if scores[i] > 0]


def _shown(files: SpaceFiles, vectors: TermVectors, token: int) -> str:
    """A word for a token: the shortest word of its strongest documents' titles that is cut to it, else the token."""
    stem = files.term(token)
    documents, frequencies = files.postings(token)
    strongest = documents[np.argsort(-frequencies.astype(np.int64), kind="stable")[:TITLES]]
    found: set[str] = set()
    for document in strongest.tolist():
        for word in files.title(document).replace(",", " ").split():
            if vectors.tokenizer.tokens(word) == [stem]:
                found.add(fold(word))
    return min(found, key=lambda word: (len(word), word)) if found else stem

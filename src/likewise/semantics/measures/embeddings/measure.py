"""Relatedness by dense vectors of a model that the user supplies.

Reimers, N. and Gurevych, I.: Sentence-BERT, EMNLP 2019, for sentence models; Mikolov, T. et al.: Efficient
estimation of word representations in vector space, 2013, for static vectors. The thematic variant
carries Algorithm 1 of Hasan and Curry 2014 over to dense vectors: a theme keeps the dimensions in which
its own vector is strongest (the stronger half) and the others are set to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise import defaults
from likewise.errors import InputError
from likewise.model.text import fold
from likewise.semantics.measure import Term
from likewise.semantics.measures.embeddings.encoders import Encoder, open_encoder
from likewise.semantics.measures.esa import set_equal_to_one
from likewise.semantics.text.identifiers import split_identifier
from likewise.semantics.vectors.lru_cache import LruCache
from likewise.semantics.vectors.prepared_terms import PreparedTerms
from likewise.semantics.vectors.term_vectors import Theme, theme_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class EmbeddingsMeasure:
    """Cosine of two terms' vectors, clipped at 0.

    `model` is a folder or file (`encoders`); with `thematic` each side is first projected by its theme.
    Identifiers are cut into words before they are encoded. Vectors are kept within a bound.
    """

    name = "embeddings"

    def __init__(self, model: str | None = None, *, thematic: bool | str = False) -> None:
        if model is None:
            raise InputError(
                "the measure 'embeddings' needs a model: give model=FOLDER, a sentence-transformers or ONNX folder "
                "or a file of word vectors"
            )
        self.model, self.thematic = str(model), str(thematic).lower() in ("true", "1", "yes")
        self._encoder: Encoder = open_encoder(model)
        self._kept: LruCache[str, NDArray[np.float32]] = LruCache(
            defaults.TERM_CACHE_BYTES, lambda row: row.nbytes + 200
        )
        self._side: PreparedTerms[NDArray[np.float32]] = PreparedTerms(self._rows)

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure, given the same model."""
        return {"name": self.name, "model": self.model, "thematic": self.thematic}

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        return set_equal_to_one(self.cosines(queries, candidates), queries, candidates)

    def cosines(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """Return the cosines, clipped at 0, without the rule for equal terms."""
        out: NDArray[np.float32] = np.clip(self._side(queries) @ self._side(candidates).T, 0, 1)
        return out

    def _rows(self, terms: Sequence[Term]) -> NDArray[np.float32]:
        themes = [theme_of(t.theme) if self.thematic else () for t in terms]
        texts = [_readable(t.text) for t in terms]
        vectors = self._encoded([*texts, *(tag for theme in set(themes) for tag in theme)])
        rows = np.array([vectors[text] for text in texts], dtype=np.float32).reshape(len(terms), -1)
        masks = {theme: _mask(theme, vectors) for theme in set(themes) if theme}
        for i, theme in enumerate(themes):
            if theme:
                row = rows[i] * masks[theme]
                length = np.linalg.norm(row)
                rows[i] = row / length if length > 0 else row
        return rows

    def _encoded(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return a unit vector for each distinct text; the missing ones are encoded together."""
        out = {}
        for text in set(texts):
            cached = self._kept.get(text)
            if cached is not None:
                out[text] = cached
        missing = sorted(set(texts) - set(out))
        if missing:
            for text, row in zip(missing, self._encoder.encode(missing), strict=True):
                out[text] = row if text else np.zeros_like(row)
                self._kept.put(text, out[text])
        return out


def _readable(text: str) -> str:
    """Return an identifier as words; ordinary text is unchanged.

    >>> _readable("wind_avg_km_h"), _readable("batteryLevel"), _readable("hot water")
    ('wind avg km h', 'battery level', 'hot water')
    """
    return fold(" ".join(part for word in text.split() for part in split_identifier(word)))


def _mask(theme: Theme, vectors: dict[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the dimensions of a theme: the stronger half of its tags' mean; all, for a theme without a vector."""
    strength = np.abs(np.mean([vectors[tag] for tag in theme], axis=0))
    if not strength.any():
        return np.ones_like(strength)
    mask: NDArray[np.float32] = (strength >= np.median(strength)).astype(np.float32)
    return mask

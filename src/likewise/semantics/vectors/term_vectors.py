"""Terms as vectors over a space's documents: TF-IDF weights (sources.md T) and thematic projections.

Hasan, S. and Curry, E.: Thematic event processing, Middleware 2014, section 4.1 (Eq. 2-4, the
weights) and section 4.2 (Algorithm 1, the projection).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import numpy as np

from likewise import defaults
from likewise.kernels.sizes import check_ids
from likewise.model.text import fold
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.text.identifiers import segment_word, split_identifier
from likewise.semantics.text.tokenizer import Tokenizer
from likewise.semantics.vectors.lru_cache import LruCache

if TYPE_CHECKING:
    from numpy.typing import NDArray

Basis = Literal["any", "all"]
EmptyProjection = Literal["whole", "letter"]
Inverse = Literal["token", "term"]
Theme = tuple[str, ...]
WeightedDocuments = tuple["NDArray[np.uint32]", "NDArray[np.float32]"]
_NO_DOCUMENTS: Final = np.empty(0, dtype=np.uint32)
_NO_WEIGHTS: Final = np.empty(0, dtype=np.float32)


class Vector(msgspec.Struct, frozen=True, eq=False):
    """Sparse vector over ascending documents, with its length.

    `projected` says whether it lives in a theme's subspace; a term with a theme that is not was left
    whole because the theme is unknown or would leave nothing of it.
    """

    documents: NDArray[np.uint32]
    weights: NDArray[np.float32]
    norm: float
    projected: bool = False

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return self.documents.nbytes + self.weights.nbytes


class ProjectionOptions(msgspec.Struct, frozen=True):
    """Variants of Algorithm 1.

    `basis="any"` spans a theme's subspace by the documents holding a token of any tag (the paper), `"all"` by those
    holding every token of some tag. `emptied="whole"` gives the unprojected vector where a theme is unknown or leaves
    nothing of a term; `"letter"` the empty one. `idf="token"` weighs each token of a term by its own documents;
    `"term"` all by the documents that hold any of them (line 9 of the algorithm speaks of the whole term).
    """

    basis: Basis = "any"
    emptied: EmptyProjection = "whole"
    idf: Inverse = "token"


DEFAULT_PROJECTION: Final = ProjectionOptions()


class VectorStack(msgspec.Struct, frozen=True, eq=False):
    """Several vectors as one block of arrays."""

    ends: NDArray[np.int64]
    documents: NDArray[np.uint32]
    weights: NDArray[np.float32]
    norms: NDArray[np.float64]


def stack_vectors(vectors: Sequence[Vector]) -> VectorStack:
    """Concatenate vectors into one block of arrays."""
    ends = np.cumsum([len(v.documents) for v in vectors], dtype=np.int64)
    return VectorStack(
        ends,
        np.concatenate([_NO_DOCUMENTS, *(v.documents for v in vectors)]),
        np.concatenate([_NO_WEIGHTS, *(v.weights for v in vectors)]),
        np.array([v.norm for v in vectors], dtype=np.float64),
    )


class TermVectors:
    """Vectors of the terms of one space, computed on demand and cached within a bound."""

    def __init__(self, files: SpaceFiles) -> None:
        self.files = files
        self.tokenizer = Tokenizer(files.manifest.tokenizer)
        self.size = files.manifest.counts.documents
        self._tokens: LruCache[str, tuple[int, ...]] = LruCache(
            defaults.TERM_CACHE_BYTES // 8, lambda ids: 40 * len(ids) + 100
        )
        self._vectors: LruCache[tuple[tuple[int, ...], Theme, ProjectionOptions], Vector] = LruCache(
            defaults.TERM_CACHE_BYTES, lambda v: v.nbytes + 400
        )
        self._frequency_cache: LruCache[int, WeightedDocuments] = LruCache(
            defaults.TERM_CACHE_BYTES // 4, lambda kept: kept[0].nbytes + kept[1].nbytes + 200
        )
        self._bases: LruCache[tuple[Theme, Basis], tuple[NDArray[np.bool_], int]] = LruCache(
            defaults.THEME_CACHE_BYTES, lambda kept: kept[0].nbytes
        )

    def tokens(self, text: str) -> tuple[int, ...]:
        """Return the numbers of a text's tokens, -1 for unknown ones.

        A word the space does not know is cut as an identifier (`batteryLevel`), because devices
        write several words as one.
        """
        token_ids = self._tokens.get(text)
        if token_ids is None:
            words = self.words(text)
            token_ids = tuple(self.files.term_id(token) for word in words for token in self.tokenizer.tokens(word))
            self._tokens.put(text, token_ids)
        return token_ids

    def words(self, text: str) -> list[str]:
        """Return a text's words as written; unknown words are split as identifiers or segmented (`airtemp`)."""
        out: list[str] = []
        for word in text.split():
            for part in (word,) if self._is_single_token(word) else split_identifier(word):
                pieces = (
                    ()
                    if not part.isalpha() or self._is_single_token(part)
                    else segment_word(part.casefold(), self._segment_cost)
                )
                out += pieces or (part,)
        return out

    def _is_single_token(self, word: str) -> bool:
        """Return whether the space has the word as one token (or as none)."""
        tokens = self.tokenizer.tokens(word)
        return len(tokens) < 2 and all(self.files.term_id(token) >= 0 for token in tokens)

    def _segment_cost(self, piece: str) -> float | None:
        """Return the cost of a segment of a joined word: the rarer the dearer; None for an unknown one."""
        tokens = self.tokenizer.tokens(piece)
        number = self.files.term_id(tokens[0]) if len(tokens) == 1 else -1
        return math.log(self.size / self.files.document_frequencies.item(number)) + 1 if number >= 0 else None

    def has_token(self, text: str) -> bool:
        """Return whether the space has any token of the text."""
        return any(i >= 0 for i in self.tokens(text))

    def has_word(self, word: str) -> bool:
        """Return whether the space has a single word as it is, not only its segments."""
        tokens = self.tokenizer.tokens(word)
        return len(tokens) == 1 and self.files.term_id(tokens[0]) >= 0

    def vector(self, text: str, theme: Theme = (), how: ProjectionOptions = DEFAULT_PROJECTION) -> Vector:
        """Return a term's vector, projected into the theme's subspace if there is a theme (Algorithm 1).

        A theme unknown to the space, and a projection that would leave nothing of a known term, give
        the unprojected vector (departure), unless the letter is asked for.
        """
        tokens = tuple(i for i in self.tokens(text) if i >= 0)
        key = (tokens, theme, how)
        vector = self._vectors.get(key)
        if vector is None:
            vector = self._projection(tokens, theme, how) if theme else None
            vector = vector or _sum([self._weighted(token) for token in tokens], projected=False)
            self._vectors.put(key, vector)
        return vector

    def basis(self, theme: Theme, basis: Basis = "any") -> NDArray[np.bool_]:
        """Return which documents span a theme's subspace: those with a token of any tag, or all of one tag."""
        return self._basis_and_size(theme, basis)[0]

    def _basis_and_size(self, theme: Theme, basis: Basis) -> tuple[NDArray[np.bool_], int]:
        """Return a theme's basis and its number of documents."""
        spanned = self._bases.get((theme, basis))
        if spanned is None:
            mask = np.zeros(self.size, dtype=bool)
            for tag in theme:
                tokens = self.tokens(tag)
                if basis == "any":
                    for token in tokens:
                        if token >= 0:
                            mask[self.files.postings(token)[0]] = True
                elif tokens and -1 not in tokens:
                    tag_counts = np.zeros(self.size, dtype=np.uint16)
                    for token in set(tokens):
                        tag_counts[self.files.postings(token)[0]] += 1
                    mask |= tag_counts == len(set(tokens))
            spanned = mask, int(np.count_nonzero(mask))
            self._bases.put((theme, basis), spanned)
        return spanned

    def _weighted(self, token: int) -> WeightedDocuments:
        """Return one token's documents and weights in the whole space (Eq. 2-4)."""
        documents, frequencies = self._frequencies(token)
        idf = math.log(self.size / self.files.document_frequencies.item(token))
        return documents, frequencies * np.float32(idf)

    def _frequencies(self, token: int) -> WeightedDocuments:
        """Return augmented term frequencies (Eq. 2): 0.5 + 0.5 * frequency / the document's highest."""
        weighted = self._frequency_cache.get(token)
        if weighted is None:
            documents, frequencies = self.files.postings(token)
            highest = self.files.document_maxima[documents].astype(np.float32)
            weighted = documents, np.float32(0.5) + np.float32(0.5) * frequencies.astype(np.float32) / highest
            self._frequency_cache.put(token, weighted)
        return weighted

    def _projection(self, tokens: tuple[int, ...], theme: Theme, how: ProjectionOptions) -> Vector | None:
        """Project by Algorithm 1; None if the theme is unknown or nothing is left, unless `emptied="letter"`."""
        from likewise.semantics.vectors.sparse_kernels import within

        mask, size = self._basis_and_size(theme, how.basis)
        parts_of = [self._frequencies(token) for token in tokens] if size else []
        for documents, _ in parts_of:
            check_ids("documents of a basis", documents[-1:], len(mask))  # they ascend
        projected = [part for each in parts_of if len((part := within(*each, mask))[0])]
        if how.idf == "token":
            parts = [
                (documents, weights * np.float32(math.log(size / len(documents)))) for documents, weights in projected
            ]
            vector = _sum(parts, projected=True)
        else:
            whole = _sum(projected, projected=True)
            idf = math.log(size / max(1, len(whole.documents))) if projected else 0.0
            vector = _sum([(whole.documents, whole.weights * np.float32(idf))], projected=True)
        return vector if vector.norm > 0 or how.emptied == "letter" else None


def _sum(parts: Sequence[WeightedDocuments], *, projected: bool) -> Vector:
    """The sum of sparse vectors."""
    if not parts:
        return Vector(_NO_DOCUMENTS, _NO_WEIGHTS, 0.0, projected)
    from likewise.kernels.compile import read_only
    from likewise.semantics.vectors.sparse_kernels import merged, norm

    documents, weights = parts[0]
    for part in parts[1:]:
        documents, weights = merged(read_only(documents), weights, read_only(part[0]), part[1])
    return Vector(documents, weights, norm(weights), projected)


def theme_of(tags: Sequence[str]) -> Theme:
    """Return theme tags as terms have them: folded, sorted, distinct, none empty.

    >>> theme_of(["Energy ", "appliances", "energy", ""])
    ('appliances', 'energy')
    """
    return tuple(sorted({fold(tag) for tag in tags} - {""}))

"""The default measure: several measures combined into one calibrated score.

Each measure of meaning is read against its background (`calibration`), which makes their evidence
addable and common words comparable with rare ones; the weighted mean goes through one curve, so that 0.5
is where related begins. Terms are then aligned word by word as in `names`, each pair of words having
the better of its meaning's and its spelling's score. So a phrase, an identifier and a single word are
all scored by one rule, and two phrases do not pass because they share one of two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from likewise.kernels.sizes import check_ids
from likewise.semantics.measure import Term
from likewise.semantics.measures.esa import fold_spaces, set_equal_to_one
from likewise.semantics.measures.inverted_index import InvertedVectors, invert
from likewise.semantics.measures.jcn import JcnMeasure
from likewise.semantics.measures.names.measure import NameBatch, NamesMeasure
from likewise.semantics.vectors.prepared_terms import PreparedTerms
from likewise.semantics.vectors.term_vectors import TermVectors, Vector, stack_vectors, theme_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.semantics.calibration import Calibration
    from likewise.semantics.measures.embeddings.measure import EmbeddingsMeasure
    from likewise.semantics.measures.latent import LatentMeasure
    from likewise.semantics.wordnet.taxonomy import Taxonomy

# A sentence model that the user has: its share of a score, and the cosines of unrelated and of equal phrases, in round
# numbers for models of the family all-MiniLM (docs/measures.md).
SENTENCE_SHARE: Final = 0.4
UNRELATED_SENTENCES: Final = 0.15
SAME_SENTENCES: Final = 0.8
_NOTHING: Final = np.empty((0, 0), dtype=np.float32)


class _PreparedWords:
    """Words prepared for comparison: vectors, frequency classes, and which measures know them."""

    def __init__(self, vectors: list[Vector], classes: NDArray[np.int64], in_taxonomy: list[bool]) -> None:
        self.stack = stack_vectors(vectors)
        self.classes = classes
        self.known_classes = np.where(self.stack.norms > 0, classes, -1)
        self.in_taxonomy = np.array(in_taxonomy, dtype=bool)

    @cached_property
    def inverted(self) -> InvertedVectors:
        """The inverted index of the vectors, for the query side."""
        return invert(self.stack)


class CombinedMeasure:
    """Semantic (thematic, latent, taxonomy) and spelling evidence, calibrated to one score.

    A measure that knows nothing about one of two words says nothing about the pair: the others are
    averaged without it. If none knows them and their spellings share nothing, the score is 0. A model of sentences, if
    there is one, has its share of the score of whole terms.
    """

    name = "combine"

    def __init__(
        self,
        vectors: TermVectors,
        calibration: Calibration,
        taxonomy: Taxonomy,
        latent: LatentMeasure | None,
        sentences: EmbeddingsMeasure | None = None,
    ) -> None:
        self._sentences = sentences
        self._vectors = vectors
        self._calibration = calibration
        self._names = NamesMeasure(vectors, calibration.names)
        self._latent = latent
        self._jcn = JcnMeasure(taxonomy, senses="all")
        self._side: PreparedTerms[_PreparedWords] = PreparedTerms(self._prepare)
        weights = self._calibration.weights
        self._shares = (weights["thematic"], 0.0 if latent is None else weights["latent"])
        self._backgrounds = {name: self._calibration.background(name) for name in self._calibration.backgrounds}

    def configuration(self) -> dict[str, object]:
        """Return the configuration that rebuilds this measure over the same space."""
        return {"name": self.name} if self._sentences is None else {"name": self.name, "model": self._sentences.model}

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked term with every seen one."""
        return set_equal_to_one(self.scores_and_words(queries, candidates)[0], queries, candidates)

    def scores_and_words(
        self, queries: Sequence[Term], candidates: Sequence[Term]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the scores of terms, and of their words (`word_indices`), by meaning or spelling."""
        a, b = self._names.side(queries), self._names.side(candidates)
        meaning = self._calibration.score(self._surprise(a, b))
        spelled = self._names.spelling_scores(a, b)
        scores = self._names.alignment_scores(a, b, meaning, spelled)
        if self._sentences is not None:
            sentence_scores = (self._sentences.cosines(queries, candidates) - UNRELATED_SENTENCES) / (
                SAME_SENTENCES - UNRELATED_SENTENCES
            )
            scores = (1 - SENTENCE_SHARE) * scores + np.float32(SENTENCE_SHARE) * np.clip(sentence_scores, 0, 1)
        return scores, np.maximum(meaning, spelled)

    def word_indices(self, terms: Sequence[Term]) -> list[list[tuple[str, int]]]:
        """Return for each term its folded words and their indices in the scores of words."""
        side = self._names.side(terms)
        return [[(side.folded[place], place) for place in side.words_of(i)] for i in range(len(terms))]

    def word_surprise(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """Return the evidence for pairs of single words without themes, in powers of ten against random pairs."""
        return self._mean(self._documents(queries, candidates), queries, candidates)

    def _surprise(self, a: NameBatch, b: NameBatch) -> NDArray[np.float32]:
        """The evidence for every pair of distinct words.

        What documents say is taken partly without themes and partly within both sides' themes
        together. (Departure: `thematic` projects each side into its own theme, and two themes without a
        common document then make everything unrelated; the paper asks for one to contain the other.)
        """
        query_words, candidate_words = a.themed_words(()), b.themed_words(())
        total = self._documents(query_words, candidate_words)
        share = np.float32(self._calibration.theme_share)
        for x, y in sorted((x, y) for x in a.groups for y in b.groups if x or y):
            both = theme_of((*x, *y))
            within = self._documents(a.themed_words(both, x), b.themed_words(both, y))
            if within.shape == total.shape:
                total = (1 - share) * total + share * within
            else:
                place = np.ix_(a.groups[x], b.groups[y])
                total[place] = (1 - share) * total[place] + share * within
        return self._mean(total, query_words, candidate_words)

    def _documents(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The weighted evidence of shared documents and latent vectors."""
        from likewise.semantics.measures.kernels import documents_evidence

        a, b = self._side(queries), self._side(candidates)
        latent = _NOTHING if self._latent is None else self._latent.cosines(queries, candidates)
        knots, levels = self._backgrounds["thematic"]
        latent_knots = self._backgrounds["latent"][0] if self._latent is not None else knots
        for axis, side in enumerate((a, b)):
            check_ids("classes of terms", side.known_classes, min(knots.shape[axis], latent_knots.shape[axis]), -1)
            check_ids("classes of words", side.classes, self._backgrounds["jcn"][0].shape[axis])
        evidence: NDArray[np.float32] = documents_evidence(
            a.inverted.cosines(b.stack),
            latent,
            a.known_classes,
            b.known_classes,
            knots,
            latent_knots,
            levels,
            *self._shares,
        )
        return evidence

    def _mean(
        self, documents: NDArray[np.float32], queries: Sequence[Term], candidates: Sequence[Term]
    ) -> NDArray[np.float32]:
        """Return the mean evidence of documents and taxonomy. Themes do not affect the taxonomy."""
        from likewise.semantics.measures.kernels import averaged

        a, b = self._side(queries), self._side(candidates)
        evidence: NDArray[np.float32] = averaged(
            documents,
            self._jcn.similarities(queries, candidates),
            a.classes,
            b.classes,
            a.known_classes,
            b.known_classes,
            a.in_taxonomy,
            b.in_taxonomy,
            *self._backgrounds["jcn"],
            sum(self._shares),
            self._calibration.weights["jcn"],
        )
        return evidence

    def _prepare(self, terms: tuple[Term, ...]) -> _PreparedWords:
        vectors = [self._vectors.vector(fold_spaces(t.text), theme_of(t.theme)) for t in terms]
        classes = self._calibration.classes(np.array([len(v.documents) for v in vectors], dtype=np.int64))
        return _PreparedWords(vectors, classes, [self._jcn.has_word(t.text) for t in terms])

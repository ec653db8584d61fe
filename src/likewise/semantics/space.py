"""A space: the corpus that gives terms their meaning, and the measures over it.

The words of a space most related to a term.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from likewise import defaults
from likewise.api.semantics import RelatednessEvidence, SharedDocument
from likewise.errors import InputError
from likewise.model.text import fold
from likewise.semantics.calibration import Calibration, read_calibration
from likewise.semantics.measure import Measure, Term
from likewise.semantics.measures.esa import EsaMeasure, fold_spaces
from likewise.semantics.measures.thematic import ThematicMeasure
from likewise.semantics.spaces.files import SpaceFiles
from likewise.semantics.vectors.term_vectors import TermVectors, Theme, Vector, theme_of
from likewise.semantics.wordnet.embedded import CALIBRATION, packed
from likewise.semantics.wordnet.relations import WordRelations, has_relations, relations_in
from likewise.semantics.wordnet.taxonomy import Taxonomy, has_taxonomy, taxonomy_in
from likewise.semantics.wordnet.unpacked import embedded_files, embedded_relations, embedded_taxonomy

if TYPE_CHECKING:
    from likewise.semantics.measure import Measure
    from likewise.semantics.measures.background import BackgroundMeasure
    from likewise.semantics.measures.combine import CombinedMeasure
    from likewise.semantics.measures.embeddings.measure import EmbeddingsMeasure
    from likewise.semantics.measures.jcn import JcnMeasure
    from likewise.semantics.measures.latent import LatentMeasure
    from likewise.semantics.measures.names.measure import NamesMeasure
    from likewise.semantics.measures.sameness import SamenessMeasure
    from likewise.semantics.measures.senses import GlossMeasure, PathMeasure
    from likewise.semantics.spaces.files import SpaceFiles


CANDIDATES: Final = 5  # for each word wanted; the cosine finds them, the default measure orders them
FEWEST: Final = 100
TITLES: Final = 30  # of a token's documents, searched for a word that has it


def nearest(
    files: SpaceFiles, vectors: TermVectors, measure: Measure, text: str, k: int, theme: Theme
) -> list[tuple[str, float]]:
    """Return the words most related to a term with their scores, best first; none for an unknown term.

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
    tokens_of_text = [token for token in vectors.tokens(fold_spaces(text)) if token >= 0]
    if len(tokens_of_text) == 1:
        cosines[tokens_of_text] = 0
    count = min(max(FEWEST, CANDIDATES * k), np.count_nonzero(cosines))
    best = np.argsort(-cosines, kind="stable")[:count].tolist()
    words = list(dict.fromkeys(_display_word(files, vectors, token) for token in best))
    words = [word for word in words if fold(word) != fold(text)]
    if not words:
        return []
    scores = measure.matrix([Term(text, theme=theme)], [Term(word, theme=theme) for word in words])[0]
    order = np.argsort(-scores, kind="stable")[:k].tolist()
    return [(words[i], float(scores[i])) for i in order if scores[i] > 0]


def _display_word(files: SpaceFiles, vectors: TermVectors, token: int) -> str:
    """Return a word for a token: the shortest title word of its strongest documents with that stem, else the token."""
    stem = files.term(token)
    documents, frequencies = files.postings(token)
    strongest = documents[np.argsort(-frequencies.astype(np.int64), kind="stable")[:TITLES]]
    title_words: set[str] = set()
    for document in strongest.tolist():
        for word in files.title(document).replace(",", " ").split():
            if vectors.tokenizer.tokens(word) == [stem]:
                title_words.add(fold(word))
    return min(title_words, key=lambda word: (len(word), word)) if title_words else stem


SHOWN_DOCUMENTS: Final = 8  # of those that made a score


class Space:
    """Relatedness of terms over one corpus. Read-only and thread-safe.

    Args:
        files: Opened files of the space; `likewise.load_space` opens them.

    >>> from likewise.semantics.library import load_space
    >>> space = load_space()
    >>> space.relatedness("laptop", "computer") > space.relatedness("laptop", "banana")
    True
    """

    def __init__(self, files: SpaceFiles) -> None:
        self.files = files
        self.name = files.manifest.name
        self.checksum = files.manifest.checksum
        self.vectors = TermVectors(files)
        self._measures: dict[tuple[str, tuple[tuple[str, object], ...]], Measure] = {}
        self._latent: LatentMeasure | None = None
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        counts = self.files.manifest.counts
        return f"<Space {self.name}: {counts.documents:,} documents, {counts.terms:,} terms>"

    def measure(self, name: str | None = None, **options: Any) -> Measure:
        """Return a measure over this space; the same object for the same name and options.

        Args:
            name: One of `MEASURES`. Default: `combine`.
            options: Options of the measure, such as `metric` of `esa`.

        Raises:
            InputError: No measure has this name, or it does not accept the options.

        >>> from likewise.semantics.library import load_space
        >>> load_space().measure("esa", metric="cosine").configuration()
        {'name': 'esa', 'metric': 'cosine'}
        """
        name = name or defaults.RELATEDNESS
        if name not in _MEASURES:
            raise InputError(f"no measure is named {name!r}; there are {', '.join(_MEASURES)}")
        key = (name, tuple(sorted(options.items())))
        with self._lock:
            if key not in self._measures:
                try:
                    self._measures[key] = _MEASURES[name](self, options)
                except TypeError as error:
                    raise InputError(f"the measure {name!r} cannot take these options: {error}") from None
            return self._measures[key]

    def owns_measure(self, measure: Measure) -> bool:
        """Return whether this space created a measure, so that its configuration rebuilds it.

        Args:
            measure: Any measure.
        """
        with self._lock:
            return any(each is measure for each in self._measures.values())

    def latent(self) -> LatentMeasure | None:
        """Return the latent measure, if the space has latent vectors."""
        with self._lock:
            if self._latent is None and self.has_latent:
                self._latent = _latent(self, {})
            return self._latent

    @property
    def has_latent(self) -> bool:
        """Return whether the space has latent vectors."""
        return "latent_documents.npy" in self.files.extras

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """WordNet's taxonomy: this space's own, else the embedded space's."""
        return taxonomy_in(self.files) if has_taxonomy(self.files) else embedded_taxonomy()

    @cached_property
    def relations(self) -> WordRelations:
        """WordNet's relations between words: this space's own, else the embedded space's."""
        return relations_in(self.files) if has_relations(self.files) else embedded_relations()

    @cached_property
    def calibration(self) -> Calibration:
        """Calibration of this space's scores, else the embedded space's."""
        is_stored = CALIBRATION in self.files.extras
        return read_calibration(self.files.extra_bytes(CALIBRATION) if is_stored else packed(CALIBRATION))

    def relatedness(
        self,
        a: str,
        b: str,
        *,
        themes: Sequence[str] = (),
        other_themes: Sequence[str] | None = None,
        measure: str | None = None,
        **options: Any,
    ) -> float:
        """Return the relatedness of two terms in [0, 1].

        Args:
            a: One term.
            b: The other term.
            themes: Theme tags of `a`.
            other_themes: Theme tags of `b`.
            measure: Name of the measure. Default: `combine`.
            options: Options of the measure.

        >>> from likewise.semantics.library import load_space
        >>> load_space().relatedness("Battery", "battery")
        1.0
        """
        query, candidate = Term(a, theme=theme_of(themes)), Term(b, theme=theme_of(other_themes or ()))
        return float(self.measure(measure, **options).matrix([query], [candidate])[0, 0])

    def nearest(self, term: str, k: int = 10, themes: Sequence[str] = ()) -> list[tuple[str, float]]:
        """Return the `k` words of the space most related to a term, best first.

        Candidates are the words that share most with the term (thematic cosine); both sides are
        under `themes`.

        Args:
            term: The term.
            k: Largest number of words.
            themes: Theme tags under which the term and the words are compared.

        Returns:
            Words with their scores, best first; empty for a term that the space lacks.
        """
        pass

        return nearest(self.files, self.vectors, self.measure(), term, k, theme_of(themes))

    def describe(self, query: Term, candidate: Term, measure: Measure | None = None) -> RelatednessEvidence:
        """Return the evidence behind a score: each measure's score, theme sizes, fallbacks and shared documents.

        Args:
            query: Term of a subscription.
            candidate: Term of an event.
            measure: Measure of the score. Default: `combine`.
        """
        chosen = measure or self.measure()
        plain = [Term(t.text, t.role, (), t.unit, t.kind, t.context) for t in (query, candidate)]
        themed = bool(query.theme or candidate.theme)
        bases = [
            int(np.count_nonzero(self.vectors.basis(theme_of(t.theme)))) if t.theme else 0 for t in (query, candidate)
        ]
        thematic = ThematicMeasure(self.vectors)
        vectors = thematic.vector(query), thematic.vector(candidate)
        names = ["esa", "thematic", *(["latent"] if self.has_latent else []), "jcn", "path", "gloss", "names"]
        scores = [(name, self.measure(name)) for name in [*names, "combine"]]
        if all(chosen is not each for _, each in scores):  # another measure, or one with options
            scores = [pair for pair in scores if pair[0] != chosen.name] + [(chosen.name, chosen)]
        return RelatednessEvidence(
            asked=query.text,
            seen=candidate.text,
            measure=chosen.name,
            score=_one(chosen, query, candidate),
            scores=tuple((name, _one(each, query, candidate)) for name, each in scores),
            without_themes=_one(chosen, *plain) if themed else None,
            asked_basis=bases[0],
            seen_basis=bases[1],
            notes=tuple(
                note
                for side, term, basis, vector in zip(("asked", "seen"), (query, candidate), bases, vectors, strict=True)
                for note in self._notes(side, term, basis, vector)
            ),
            documents=self._shared(*vectors),
        )

    def _notes(self, side: str, term: Term, basis: int, vector: Vector) -> list[str]:
        notes = []
        if not fold(term.text):
            notes.append(f"the {side} term is empty")
        elif not self.vectors.has_token(fold_spaces(term.text)):
            notes.append(f"the space knows no word of {term.text[:60]!r}")
        if term.theme and not basis:
            notes.append(f"the theme of the {side} term is unknown to the space; the term was left whole")
        elif term.theme and vector.norm and not vector.projected:
            notes.append(f"nothing of the {side} term lies within its theme; the term was left whole")
        return notes

    def _shared(self, a: Vector, b: Vector) -> tuple[SharedDocument, ...]:
        """Return the documents that contribute most to two vectors' inner product."""
        common, in_a, in_b = np.intersect1d(a.documents, b.documents, assume_unique=True, return_indices=True)
        products = a.weights[in_a] * b.weights[in_b]
        total = float(products.sum())
        best = np.argsort(-products, kind="stable")[:SHOWN_DOCUMENTS]
        contributions = [
            (self.files.title(int(common[i])), float(products[i]) / total) for i in best if products[i] > 0
        ]
        return tuple(SharedDocument(title, share) for title, share in contributions)


def _one(measure: Measure, query: Term, candidate: Term) -> float:
    return float(measure.matrix([query], [candidate])[0, 0])


def _latent(space: Space, options: dict[str, Any]) -> LatentMeasure:
    from likewise.semantics.measures.latent import LatentMeasure

    if not space.has_latent:
        raise InputError(f"the space {space.name!r} carries no latent vectors; use the embedded one or another measure")
    files = space.files
    documents, scales = files.extra_array("latent_documents.npy"), files.extra_array("latent_scales.npy")
    return LatentMeasure(space.vectors, documents, scales, **options)


def _jcn(space: Space, options: dict[str, Any]) -> JcnMeasure:
    from likewise.semantics.measures.jcn import JcnMeasure

    return JcnMeasure(space.taxonomy, **options)


def _path(space: Space, options: dict[str, Any]) -> PathMeasure:
    from likewise.semantics.measures.senses import PathMeasure

    return PathMeasure(space.taxonomy, space.relations, **options)


def _gloss(space: Space, options: dict[str, Any]) -> GlossMeasure:
    from likewise.semantics.measures.senses import GlossMeasure

    own = has_taxonomy(space.files) and space.has_latent
    files = space.files if own else embedded_files()  # of another corpus the documents are no synsets
    return GlossMeasure(space.taxonomy, files.extra_array("latent_documents.npy"), **options)


def _background(space: Space, options: dict[str, Any]) -> BackgroundMeasure:
    from likewise.semantics.measures.background import BackgroundMeasure

    return BackgroundMeasure(EsaMeasure(space.vectors, metric="cosine"), space.relations, **options)


def _names(space: Space, options: dict[str, Any]) -> NamesMeasure:
    from likewise.semantics.measures.names.measure import NamesMeasure

    return NamesMeasure(space.vectors, space.calibration.names, **options)


def _embeddings(space: Space, options: dict[str, Any]) -> EmbeddingsMeasure:
    from likewise.semantics.measures.embeddings.measure import EmbeddingsMeasure

    return EmbeddingsMeasure(**options)


def combined_measure(space: Space, calibration: Calibration | None = None) -> CombinedMeasure:
    """Return the default measure over a space, with the space's calibration or another."""
    from likewise.semantics.measures.combine import CombinedMeasure

    return CombinedMeasure(space.vectors, calibration or space.calibration, space.taxonomy, space.latent())


def _combine(space: Space, options: dict[str, Any]) -> CombinedMeasure:
    """Return the combined measure; `model` names a sentence model that contributes to the score."""
    from likewise.semantics.measures.combine import CombinedMeasure

    if set(options) - {"model"}:
        raise TypeError(f"it takes model alone, found {', '.join(options)}")
    sentences = _embeddings(space, options) if options else None
    return CombinedMeasure(space.vectors, space.calibration, space.taxonomy, space.latent(), sentences)


def _sameness(space: Space, options: dict[str, Any]) -> SamenessMeasure:
    from likewise.semantics.concepts.encyclopaedia.lexicon import Lexicon
    from likewise.semantics.concepts.library import load_inventory, load_lexicon
    from likewise.semantics.concepts.normalisation.normaliser import Normaliser
    from likewise.semantics.concepts.open_vocabulary import OpenVocabulary
    from likewise.semantics.concepts.values.judge import ValueComparer
    from likewise.semantics.measures.sameness import SamenessMeasure

    values = ValueComparer(space.relations)
    inventory = options.get("inventory") or load_inventory()
    spoken = OpenVocabulary(space.relations, inventory)
    weights = {name: said for name, said in options.items() if name == "weights"}
    related = _combine(space, {name: said for name, said in options.items() if name not in ("weights", "inventory")})
    # An inventory of the caller's own stands alone: what the encyclopaedia reads would lead back to the one that ships.
    lexicon = Lexicon(()) if "inventory" in options else load_lexicon()
    normaliser = Normaliser(lexicon, inventory, space.relations.has_word)
    return SamenessMeasure(related, space.vectors.has_word, inventory, values, spoken, normaliser, **weights)


_MEASURES: Final[dict[str, Callable[[Space, dict[str, Any]], Measure]]] = {
    "esa": lambda space, options: EsaMeasure(space.vectors, **options),
    "thematic": lambda space, options: ThematicMeasure(space.vectors, **options),
    "latent": _latent,
    "jcn": _jcn,
    "path": _path,
    "gloss": _gloss,
    "background": _background,
    "names": _names,
    "embeddings": _embeddings,
    "combine": _combine,
    "sameness": _sameness,
}
MEASURES: Final = tuple(_MEASURES)

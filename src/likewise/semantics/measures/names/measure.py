"""Measure of attribute names: identifiers compared word by word, with abbreviations, initials and units.

`TempC_SHT` and `air_temp_f` say "temperature" without writing it. The words of both terms are aligned:
equal stems, a word's beginning (`temp`, `hum`), letters picked from it (`lvl`, `cnt`), the first letters
of several words (`rh`), and the quantity a unit measures (`_kmh` is a speed). No list of makers'
spellings is involved; how strong each kind of evidence is comes with the calibration. The alignment
follows Monge, A. and Elkan, C.: The field matching problem, KDD 1996, with both directions weighed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise import defaults
from likewise.kernels.sizes import check_ids, check_lengths
from likewise.semantics.calibration import NameWeights
from likewise.semantics.measure import Term
from likewise.semantics.measures.esa import fold_spaces, set_equal_to_one
from likewise.semantics.measures.names.arrays import NameArrays
from likewise.semantics.measures.names.parser import MOST_WORDS, NameReading, parse_name, parse_text
from likewise.semantics.measures.names.quantities import quantity
from likewise.semantics.vectors.lru_cache import LruCache
from likewise.semantics.vectors.prepared_terms import PreparedTerms
from likewise.semantics.vectors.term_vectors import TermVectors, Theme, theme_of
from likewise.units import any_unit, find_unit, units_in_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_ACRONYM: Final = 6
CACHED_THEMES: Final = 64  # for which a side keeps its words as terms


class _PreparedName(msgspec.Struct, frozen=True):
    """A prepared term: folded words, stems, weights, initials, and the quantities of its unit."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    written: tuple[str, ...]
    weights: tuple[float, ...]
    plain: bool
    initials: tuple[tuple[str, int, int], ...]
    quantities: tuple[tuple[str, int], ...]
    reading: NameReading


class NamesMeasure:
    """Score of whether two names denote the same reading, by their words alone. Themes are ignored."""

    name = "names"

    def __init__(self, vectors: TermVectors, weights: NameWeights) -> None:
        self._vectors, self.weights = vectors, weights
        self._known = lru_cache(maxsize=defaults.NAME_CACHE_ENTRIES)(self._is_known)
        self._stem = lru_cache(maxsize=defaults.NAME_CACHE_ENTRIES)(self._find_stem)
        self._cache: LruCache[tuple[str, str, tuple[str, ...], bool], _PreparedName] = LruCache(
            defaults.TERM_CACHE_BYTES // 8, lambda n: 200 * (len(n.words) + 1) + 100 * len(n.initials)
        )
        self.side: PreparedTerms[NameBatch] = PreparedTerms(
            lambda terms: NameBatch([(self._name(t), theme_of(t.theme), t.kind) for t in terms])
        )

    def configuration(self) -> dict[str, object]:
        """Return the settings that rebuild this measure over the same space."""
        return {"name": self.name}

    def matrix(self, queries: Sequence[Term], candidates: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked name with every seen one."""
        return set_equal_to_one(self.alignment_scores(self.side(queries), self.side(candidates)), queries, candidates)

    def spelling_scores(self, queries: NameBatch, candidates: NameBatch) -> NDArray[np.float32]:
        """Return how surely each query word and candidate word are the same by their spelling."""
        from likewise.semantics.measures.names import kernels as names_kernels

        kernels: Any = names_kernels  # their arguments come as tuples, one for each side
        prefix = np.array(self.weights.prefix, dtype=np.float32)
        scores: NDArray[np.float32] = kernels.word_scores(
            *queries.spelling(), *candidates.spelling(), prefix, self.weights.skeleton
        )
        return scores

    def alignment_scores(
        self,
        queries: NameBatch,
        candidates: NameBatch,
        meaning: NDArray[np.float32] | None = None,
        spelled: NDArray[np.float32] | None = None,
    ) -> NDArray[np.float32]:
        """Return the scores of prepared names; `meaning` is the other known relatedness of their words."""
        from likewise.semantics.measures.names import kernels as names_kernels

        kernels: Any = names_kernels
        w = self.weights
        scores = self.spelling_scores(queries, candidates) if spelled is None else spelled
        meaning_scores = (
            np.zeros_like(scores)
            if meaning is None
            else meaning * _quantity_factor(queries.word_bits, candidates.word_bits, w)
        )
        units = np.array([w.unit_unsure, w.unit_sure], dtype=np.float32)
        check_lengths("words of names", len(scores), meaning_scores)
        for axis, side in enumerate((queries.arrays(), candidates.arrays())):
            check_ids("words of names", side.words, scores.shape[axis])
        # Powers of 32 bits take half the time.
        coverage: NDArray[np.float32] = kernels.coverage(
            scores,
            meaning_scores,
            queries.arrays(),
            candidates.arrays(),
            units,
            w.acronym,
            w.plain,
            np.float32(w.leniency),
            np.float32(w.asked_share),
        )
        return coverage * self._conflict_factors(queries, candidates)

    def _conflict_factors(self, queries: NameBatch, candidates: NameBatch) -> NDArray[np.float32]:
        """Return the factors of readings that conflict: other quantities, units or kinds of values."""
        w = self.weights
        wrong = _disjoint_bits(queries.bits, candidates.bits) | _disjoint_bits(
            queries.dimensions, candidates.unit_dimensions
        )
        if queries.unit_dimensions.any():
            wrong |= _disjoint_bits(queries.unit_dimensions, candidates.dimensions)
        out = np.where(wrong, np.float32(w.conflict), np.float32(1))
        if candidates.other.any():
            out[np.ix_(queries.physical, candidates.other)] *= np.float32(w.not_a_number)
        if candidates.number.any():
            out[np.ix_(queries.state, candidates.number)] *= np.float32(w.not_a_state)
        return out

    def _name(self, term: Term) -> _PreparedName:
        key = (fold_spaces(term.text), term.unit, term.context, term.role == "attribute")
        prepared = self._cache.get(key)
        if prepared is None:
            prepared = self._prepare(*key)
            self._cache.put(key, prepared)
        return prepared

    def _prepare(self, text: str, unit: str, context: tuple[str, ...], named: bool) -> _PreparedName:
        parse = parse_name if named else parse_text
        parsed = parse(text, context, self._vectors.words, self._known, self.weights)
        name_units = units_in_name(text)
        context_texts = context if parsed.in_context else ()
        units = [u for u in (any_unit(unit) if unit else None, *map(find_unit, context_texts)) if u is not None]
        written = parsed.cut[:MOST_WORDS]
        stated = [(u, True) for u in units[:1]]
        words = tuple(w.text for w in parsed.words)
        return _PreparedName(
            words=words,
            stems=tuple(self._stem(w) for w in words),
            written=tuple(w.written for w in parsed.words),
            weights=tuple(w.weight for w in parsed.words),
            plain=len(written) == len(text.split()) and all(self._known(w) for w in words),
            initials=_initials(tuple(w.casefold() for w in written), words) if len(words) <= len(written) else (),
            quantities=tuple(
                (self._stem(word), int(sure)) for u, sure in (*stated, *name_units) for word in u.dimension.split()
            ),
            reading=parsed.reading([u for u, sure in (*stated, *name_units) if sure]),
        )

    def _find_stem(self, word: str) -> str:
        stems = self._vectors.tokenizer.tokens(word)
        return stems[0] if len(stems) == 1 else word

    def _is_known(self, word: str) -> bool:
        ids = self._vectors.tokens(word)
        return len(ids) == 1 and ids[0] >= 0


def _initials(written: tuple[str, ...], words: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    """Return the initials of every run of words, with and without stop words, as (letters, start, end).

    >>> _initials(("state", "of", "charge"), ("state", "charge"))
    (('sc', 0, 2), ('soc', 0, 2))
    """
    out = []
    for start in range(len(words)):
        for end in range(start + 2, min(start + LONGEST_ACRONYM, len(words)) + 1):
            out.append(("".join(w[0] for w in words[start:end]), start, end))
    if 2 <= len(written) <= LONGEST_ACRONYM and written != words and len(words) > 1:
        out.append(("".join(w[0] for w in written), 0, len(words)))
    return tuple(out)


class NameBatch:
    """Several names as arrays, and their distinct words with their themes."""

    def __init__(self, names: list[tuple[_PreparedName, Theme, str]]) -> None:
        place: dict[tuple[str, str, str, Theme], int] = {}
        keys = [(*key, theme) for n, theme, _ in names for key in zip(n.words, n.stems, n.written, strict=True)]
        self._words = np.array([place.setdefault(key, len(place)) for key in keys], dtype=np.int64)
        self.written = tuple(key[2] for key in place)
        self.folded = tuple(key[0] for key in place)
        themes = [key[3] for key in place]
        self.groups = {theme: np.flatnonzero([each == theme for each in themes]) for theme in set(themes)}
        self._terms: dict[tuple[Theme, Theme | None], tuple[Term, ...]] = {}
        self._ends = np.cumsum([len(n.words) for n, _, _ in names], dtype=np.int64)
        self._weights = np.array([w for n, _, _ in names for w in n.weights], dtype=np.float32)
        self._plain = np.array([n.plain for n, _, _ in names], dtype=np.uint8)
        # A unit is nobody's initials: `mV` is no mains voltage.
        self._texts = _hashes([key[0] if find_unit(key[0]) is None else f"{key[0]} " for key in place])
        self._stems = _hashes([f" {key[1]}" for key in place])
        self._letters = np.array([ord(c) for key in place for c in key[0]], dtype=np.int32)
        self._letter_ends = np.cumsum([len(key[0]) for key in place], dtype=np.int64)
        self._window_ends = np.cumsum([len(n.initials) for n, _, _ in names], dtype=np.int64)
        windows = [(hash(initials), start, end) for n, _, _ in names for initials, start, end in n.initials]
        self._windows = np.array(windows, dtype=np.int64).reshape(-1, 3)
        self._unit_ends = np.cumsum([len(n.quantities) for n, _, _ in names], dtype=np.int64)
        units = [(hash(f" {word}"), sure) for n, _, _ in names for word, sure in n.quantities]
        self._units = np.array(units, dtype=np.int64).reshape(-1, 2)
        self.word_bits = np.array([quantity(key[0]) for key in place], dtype=np.int64)
        self.bits = np.array([n.reading.quantities for n, _, _ in names], dtype=np.int64)
        self.dimensions = np.array([n.reading.dimensions for n, _, _ in names], dtype=np.int64)
        self.unit_dimensions = np.array([n.reading.unit_dimensions for n, _, _ in names], dtype=np.int64)
        self.physical = np.array([n.reading.physical for n, _, _ in names], dtype=bool)
        self.state = np.array([n.reading.state for n, _, _ in names], dtype=bool)
        self.number = np.array([kind == "number" for _, _, kind in names], dtype=bool)
        self.other = np.array([kind in ("text", "boolean") for _, _, kind in names], dtype=bool)

    def words_of(self, term: int) -> list[int]:
        """Return the indices of a term's words, in order."""
        indices: list[int] = self._words[self._ends[term - 1] if term else 0 : self._ends[term]].tolist()
        return indices

    def themed_words(self, theme: Theme, group: Theme | None = None) -> tuple[Term, ...]:
        """Return the distinct words (or those of one theme) as terms under a theme; cached, so identity is stable."""
        terms = self._terms.get((theme, group))
        if terms is None:
            if len(self._terms) >= CACHED_THEMES:
                del self._terms[next(iter(self._terms))]
            places = range(len(self.written)) if group is None else self.groups[group].tolist()
            terms = self._terms[theme, group] = tuple(Term(self.written[i], theme=theme) for i in places)
        return terms

    def spelling(self) -> tuple[Any, ...]:
        """Return the arrays of the word kernel for one side."""
        return self._letter_ends, self._letters, self._stems

    def arrays(self) -> NameArrays:
        """Return the arrays of the coverage kernel for one side."""
        return NameArrays(
            texts=self._texts,
            stems=self._stems,
            ends=self._ends,
            words=self._words,
            weights=self._weights,
            plain=self._plain,
            window_ends=self._window_ends,
            windows=self._windows,
            unit_ends=self._unit_ends,
            units=self._units,
        )


def _quantity_factor(a: NDArray[np.int64], b: NDArray[np.int64], weights: NameWeights) -> NDArray[np.float32]:
    """Return the factor of two words that are different quantities, or of which only one is a quantity."""
    out = np.where((a != 0)[:, None] != (b != 0), np.float32(weights.association), np.float32(1))
    out[_disjoint_bits(a, b)] = weights.sisters
    return out


def _disjoint_bits(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return where both sides have bits but none in common."""
    disjoint: NDArray[np.bool_] = ((a[:, None] & b) == 0) & (a != 0)[:, None] & (b != 0)
    return disjoint


def _hashes(words: list[str]) -> NDArray[np.int64]:
    """Return hashes of words. A stem's hash has a blank in front, so that it equals stems only."""
    return np.array([hash(word) for word in words], dtype=np.int64)

"""Names of readings: identifiers compared word by word, with abbreviations, initials and units.

`TempC_SHT` and `air_temp_f` say "temperature" without writing it. The words of both terms are aligned:
equal stems, a word's beginning (`temp`, `hum`), letters picked from it (`lvl`, `cnt`), the first letters
of several words (`rh`), and the quantity a unit measures (`_kmh` is a speed). No list of makers'
spellings is involved; how strong each kind of evidence is comes with the calibration. The alignment
follows Monge, A. and Elkan, C.: The field matching problem, KDD 1996, with both directions weighed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np

from likewise import defaults
from likewise.model.units import find_unit, units_in_name
from likewise.semantics.calibration import NameWeights
from likewise.semantics.esa import equal_are_one, fold_spaces
from likewise.semantics.identifiers import words_of
from likewise.semantics.least_recent import LeastRecent
from likewise.semantics.measure import Term
from likewise.semantics.prepared import Prepared
from likewise.semantics.stop_words import STOP_WORDS
from likewise.semantics.vectors import TermVectors, Theme, theme_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_ACRONYM: Final = 6
THEMES_KEPT: Final = 64  # for which a side keeps its words as terms
MOST_WORDS: Final = 64  # of one term; longer ones are texts, not names


class _Name(msgspec.Struct, frozen=True):
    """A term made ready: folded words with their stems and weights, what initials it has, what its unit measures."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    written: tuple[str, ...]
    weights: tuple[float, ...]
    plain: bool
    initials: tuple[tuple[str, int, int], ...]
    quantities: tuple[tuple[str, int], ...]


class NamesMeasure:
    """How surely two names mean the same reading, by their words alone; themes play no part."""

    name = "names"

    def __init__(self, vectors: TermVectors, weights: NameWeights) -> None:
        self._vectors, self.weights = vectors, weights
        self._kept: LeastRecent[tuple[str, str], _Name] = LeastRecent(
            defaults.TERM_CACHE_BYTES // 8, lambda n: 200 * (len(n.words) + 1) + 100 * len(n.initials)
        )
        self.side: Prepared[Names] = Prepared(lambda terms: Names([(self._name(t), theme_of(t.theme)) for t in terms]))

    def configuration(self) -> dict[str, object]:
        """What rebuilds this measure over the same space."""
        return {"name": self.name}

    def matrix(self, asked: Sequence[Term], seen: Sequence[Term]) -> NDArray[np.float32]:
        """The relatedness of every asked name with every seen one."""
        return equal_are_one(self.aligned(self.side(asked), self.side(seen)), asked, seen)

    def aligned(self, asked: Names, seen: Names, meaning: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Scores of names made ready; `meaning` is what else is known about their words' relatedness."""
        from likewise.semantics import names_kernels

        kernels: Any = names_kernels  # their arguments come as tuples, one for each side
        w = self.weights
        prefix = np.array(w.prefix, dtype=np.float32)
        scores = kernels.word_scores(*asked.spelling(), *seen.spelling(), prefix, w.skeleton)
        if meaning is None:
            meaning = np.zeros_like(scores)
        units = np.array([w.unit_unsure, w.unit_sure], dtype=np.float32)
        out = kernels.coverage(scores, meaning, *asked.arrays(), *seen.arrays(), units, w.acronym, w.plain, w.leniency)
        found: NDArray[np.float32] = out[0] ** w.asked_share * out[1] ** (1 - w.asked_share)
        return found

    def _name(self, term: Term) -> _Name:
        key = (fold_spaces(term.text), term.unit)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._ready(*key)
            self._kept.put(key, kept)
        return kept

    def _ready(self, text: str, unit: str) -> _Name:
        written = tuple(self._vectors.words(text)[:MOST_WORDS])
        stop = STOP_WORDS["english"]
        words = tuple(w.casefold() for w in written if w.casefold() not in stop)
        found = units_in_name(text)
        stated = find_unit(unit) if unit else None
        spelled = {w.casefold() for u, _ in found for w in words_of(u.symbol)} | {u.symbol.casefold() for u, _ in found}
        known = [self._known(w) for w in words]
        return _Name(
            words=words,
            stems=tuple(self._stem(w) for w in words),
            written=tuple(w for w in written if w.casefold() not in stop),
            weights=tuple(
                self._weight(w, k, w in spelled and i > 0) for i, (w, k) in enumerate(zip(words, known, strict=True))
            ),
            plain=len(written) == len(text.split()) and all(known),
            initials=_initials(tuple(w.casefold() for w in written), words),
            quantities=tuple(
                (self._stem(word), int(sure))
                for u, sure in (*(((stated, True),) if stated else ()), *found)
                for word in u.dimension.split()
            ),
        )

    def _stem(self, word: str) -> str:
        stems = self._vectors.tokenizer.tokens(word)
        return stems[0] if len(stems) == 1 else word

    def _known(self, word: str) -> bool:
        ids = self._vectors.tokens(word)
        return len(ids) == 1 and ids[0] >= 0

    def _weight(self, word: str, known: bool, is_unit: bool) -> float:
        if is_unit:
            return self.weights.unit
        if word.isdigit():
            return self.weights.digits
        return 1.0 if known else self.weights.unknown


def _initials(written: tuple[str, ...], words: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    """The first letters of every run of words, with and without words of grammar, and the run (start, end).

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


class Names:
    """Several names as arrays, and their distinct words, each with its theme."""

    def __init__(self, names: list[tuple[_Name, Theme]]) -> None:
        place: dict[tuple[str, str, str, Theme], int] = {}
        keys = [(*key, theme) for n, theme in names for key in zip(n.words, n.stems, n.written, strict=True)]
        self._words = np.array([place.setdefault(key, len(place)) for key in keys], dtype=np.int64)
        self.written = tuple(key[2] for key in place)
        themes = [key[3] for key in place]
        self.groups = {theme: np.flatnonzero([each == theme for each in themes]) for theme in set(themes)}
        self._terms: dict[tuple[Theme, Theme | None], tuple[Term, ...]] = {}
        self._ends = np.cumsum([len(n.words) for n, _ in names], dtype=np.int64)
        self._weights = np.array([w for n, _ in names for w in n.weights], dtype=np.float32)
        self._plain = np.array([n.plain for n, _ in names], dtype=np.uint8)
        self._texts = _hashes([key[0] for key in place])
        self._stems = _hashes([f" {key[1]}" for key in place])
        self._letters = np.array([ord(c) for key in place for c in key[0]], dtype=np.int32)
        self._letter_ends = np.cumsum([len(key[0]) for key in place], dtype=np.int64)
        self._window_ends = np.cumsum([len(n.initials) for n, _ in names], dtype=np.int64)
        windows = [(hash(letters), start, end) for n, _ in names for letters, start, end in n.initials]
        self._windows = np.array(windows, dtype=np.int64).reshape(-1, 3)
        self._unit_ends = np.cumsum([len(n.quantities) for n, _ in names], dtype=np.int64)
        units = [(hash(f" {word}"), sure) for n, _ in names for word, sure in n.quantities]
        self._units = np.array(units, dtype=np.int64).reshape(-1, 2)

    def under(self, theme: Theme, group: Theme | None = None) -> tuple[Term, ...]:
        """The distinct words, or those with one theme, as terms under a theme; the same objects while they are kept."""
        kept = self._terms.get((theme, group))
        if kept is None:
            if len(self._terms) >= THEMES_KEPT:
                del self._terms[next(iter(self._terms))]
            places = range(len(self.written)) if group is None else self.groups[group].tolist()
            kept = self._terms[theme, group] = tuple(Term(self.written[i], theme=theme) for i in places)
        return kept

    def spelling(self) -> tuple[Any, ...]:
        """What the kernel of words takes for one side, in its order."""
        return self._letter_ends, self._letters, self._stems

    def arrays(self) -> tuple[Any, ...]:
        """What the coverage kernel takes for one side, in its order."""
        return (self._texts, self._stems, self._ends, self._words, self._weights, self._plain,
                self._window_ends, self._windows, self._unit_ends, self._units)  # fmt: skip


def _hashes(words: list[str]) -> NDArray[np.int64]:
    """Words as numbers that both sides agree on; a stem's has a blank before it, so that it meets stems alone."""
    return np.array([hash(word) for word in words], dtype=np.int64)

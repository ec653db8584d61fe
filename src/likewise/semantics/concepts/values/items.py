"""Lexical items of a value: the synsets that a word or phrase may mean, and those that it excludes.

An item is a word, or several that WordNet holds as one (`motor vehicle`). What it is related to is a few lists of
synset numbers, so that a kernel can tell how two items stand to each other by looking for common numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.semantics.concepts.values.knowledge import NOT_NEGATED, OPPOSITES, PREFIXES, STATES
from likewise.semantics.concepts.values.parser import ValueWord

if TYPE_CHECKING:
    from likewise.semantics.wordnet.relations import WordRelations


SENSES: Final = 8  # of a word and a part of speech that count; rarer ones bring more errors than finds
COMMON: Final = 4  # senses whose place in the taxonomy counts
NARROW: Final = 100  # kinds below a synset up to which its grandchildren exclude each other
LONGEST: Final = 4  # words of a phrase
GENERAL: Final = 80  # kinds below a word from which on it says little about what a compound names: `system`, `unit`
# Two words for things of such a kind, by their first sense, name two things, unless one is a kind of the other.
DISJOINT: Final = ("animal", "plant", "vehicle", "beverage")
_UP: Final = ("kind_of", "instance_of")


class LexicalItem(NamedTuple):
    """One word or phrase with its synsets.

    Attributes:
        text: Folded text.
        senses: Synsets that it may mean.
        near: Synsets that it derives from or is similar to.
        ancestors: Synsets of which it is a kind or an instance, transitively.
        parents: The same, directly.
        wholes: Synsets of which it is a part.
        opposites: Synsets and sides that it excludes.
        far_opposites: What it excludes through a synset that it is near to.
        sides: Its sides in the hand-written pairs of opposites.
        name: Whether it names one individual.
        capital: Whether it is capitalised like a name.
        formula: Whether it is a chemical formula.
        thing: 2 for a tangible thing of no general kind, 1 if it may be one, else 0.
    """

    text: str
    senses: tuple[int, ...] = ()
    near: tuple[int, ...] = ()
    ancestors: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    wholes: tuple[int, ...] = ()
    opposites: tuple[int, ...] = ()
    far_opposites: tuple[int, ...] = ()
    sides: tuple[int, ...] = ()
    name: bool = False
    capital: bool = False
    formula: bool = False
    thing: int = 0


class ValueLexicon:
    """Look up lexical items in WordNet, each once.

    >>> from likewise.semantics.library import load_space
    >>> items = ValueLexicon(load_space().relations)
    >>> words = [ValueWord(word, word) for word in ("motor", "vehicle", "left")]
    >>> [item.text for item in items.of(words)]
    ['motor vehicle', 'left']
    """

    def __init__(self, relations: WordRelations) -> None:
        self._relations = relations
        self._sides = _sides(relations.synsets)
        self._disjoint = {relations.senses(word, "n")[0] for word in DISJOINT if relations.senses(word, "n")}
        self._touched = next(iter(relations.senses("physical entity", "n")), -1)
        self._cached = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._make)
        self._has_word = lru_cache(maxsize=NAME_CACHE_ENTRIES)(relations.has_word)

    def of(self, words: Sequence[ValueWord]) -> list[LexicalItem]:
        """Return the items of a value's words, the longest phrases first."""
        out = []
        start = 0
        while start < len(words):
            size = self._longest(words, start)
            text = " ".join(word.text for word in words[start : start + size])
            written = words[start].written[:1].isupper() and not words[start].written.isupper()
            out.append(self._cached(text, written, words[start].formula))
            start += size
        return out

    def singly(self, words: Sequence[ValueWord]) -> list[LexicalItem]:
        """Return one item per word."""
        return [self._cached(w.text, w.written[:1].isupper() and not w.written.isupper(), w.formula) for w in words]

    def one(self, text: str) -> LexicalItem:
        """Return the item of one word or phrase in lower case."""
        return self._cached(text, False, False)

    def _longest(self, words: Sequence[ValueWord], start: int) -> int:
        for size in range(min(LONGEST, len(words) - start), 1, -1):
            text = " ".join(word.text for word in words[start : start + size])
            if text in self._sides or self._has_word(text):
                return size
        return 1

    def _make(self, text: str, capital: bool, formula: bool) -> LexicalItem:
        known = self._relations
        senses = {part: self._senses(text, part) for part in "nvar"}
        verbs = senses["v"][:SENSES]
        # A noun that is a verb too means the noun: `pedal` is no `bicycle`, though both are ways to ride one.
        meanings = [s for part in "nar" for s in senses[part][:SENSES]] + ([] if senses["n"] else verbs)
        common = [s for part in "nv" for s in senses[part][:COMMON]]
        near = {
            t
            for s in meanings
            for name in ("derived", "similar", "pertains", "participle", "grouped")
            for t in known.targets(name, s)
        }
        near = (near | set(verbs)) - set(meanings)
        direct = {t for s in (*meanings, *verbs) for t in known.targets("opposite", s)}
        far = {t for s in (*meanings, *near) for t in known.targets("opposite", s)} - direct
        far |= {t for s in (*direct, *far) for t in known.targets("similar", s)}
        for rest in negated_stems(text):
            direct |= {s for part in "nvar" for s in self._senses(rest, part)[:SENSES]} - set(meanings)
        sides, excluded = self._sides.get(text, ((), ()))
        nouns = senses["n"]
        named = bool(nouns) and bool(known.targets("instance_of", nouns[0]))
        if capital:
            named = named or not meanings or any(known.targets("instance_of", s) for s in nouns)
        return LexicalItem(
            text=text,
            senses=tuple(meanings),
            near=tuple(sorted(near)),
            ancestors=tuple(sorted(known.closure(_UP, common))),
            parents=tuple(sorted(self._parents(common) | (self._disjoint & known.closure(_UP, nouns[:1])))),
            wholes=tuple(sorted(self._wholes(meanings if named else common))),
            opposites=(*sorted(direct), *excluded),
            far_opposites=tuple(sorted(far - set(meanings))),
            sides=sides,
            name=named,
            capital=capital,
            formula=formula,
            thing=self._thing(text, senses),
        )

    def completes(self, text: str) -> bool:
        """Return whether a word says that an action is finished: a participle that is no noun (`approved`, `paid`)."""
        known = self._relations
        if known.senses(text, "n") or not known.senses(text, "v"):
            return False
        return text.endswith("ed") or text in known.irregular("v")

    def _thing(self, text: str, senses: dict[str, list[int]]) -> int:
        """Return 2 if the word names a tangible thing by its first sense, 1 by a common sense, else 0."""
        nouns = senses["n"]
        if not nouns or senses["a"] or senses["r"] or text.endswith(("ing", "ed")):
            return 0
        known = self._relations
        if known.kinds[nouns[0]] < GENERAL and self._touched in known.closure(_UP, nouns[:1]):
            return 2
        return int(self._touched in known.closure(_UP, nouns[:COMMON]))

    def _senses(self, text: str, part: str) -> list[int]:
        """Return the senses of a text, else of its ASCII form, else of it without or with hyphens."""
        for form in _forms(text):
            synsets = self._relations.senses(form, part)
            if synsets:
                return synsets
        return []

    def _parents(self, synsets: Sequence[int]) -> set[int]:
        """Return the direct hypernyms of synsets, and one step more where these are narrow."""
        known = self._relations
        parents = {t for s in synsets for name in _UP for t in known.targets(name, s)}
        further = {t for s in parents for name in _UP for t in known.targets(name, s)}
        return parents | {t for t in further if known.kinds[t] < NARROW}

    def _wholes(self, synsets: Sequence[int]) -> set[int]:
        """Return the synsets of which some synsets are parts, transitively."""
        return self._relations.closure(("part_of",), synsets)


def directly_opposed(a: LexicalItem, b: LexicalItem) -> bool:
    """Return whether a sense or a side of one item is an opposite of the other."""
    return bool({*b.senses, *b.sides} & set(a.opposites) or {*a.senses, *a.sides} & set(b.opposites))


def _forms(text: str) -> Iterator[str]:
    yield text
    if not text.isascii():
        yield "".join(_PLAIN.get(c, c) for c in text)
        yield "".join(_PLAIN.get(c, c)[:1] for c in text)
    if "-" in text:
        yield text.replace("-", " ")
        yield text.replace("-", "")


_PLAIN: Final = {
    "ä": "ae",
    "ö": "oe",
    "ü": "ue",
    "ß": "ss",
    "é": "e",
    "è": "e",
    "ê": "e",
    "á": "a",
    "à": "a",
    "ó": "o",
    "ô": "o",
    "í": "i",
    "ú": "u",
    "ñ": "n",
    "ç": "c",
    "ø": "o",
    "å": "a",
}


def negated_stems(text: str) -> Iterator[str]:
    """Yield the stems that a negated word negates: `unlocked`, `harmless`.

    >>> list(negated_stems("disarmed")), list(negated_stems("harmless")), list(negated_stems("inflammable"))
    (['armed'], ['harm', 'harmful'], [])
    """
    if " " in text or text in NOT_NEGATED:
        return
    for prefix in PREFIXES:
        rest = text.removeprefix(prefix)
        if rest != text and len(rest) > 3:
            yield rest.removeprefix("-")
    if text.endswith("less") and len(text) > 6:
        yield text[:-4]
        yield text[:-4] + "ful"


def _sides(first: int) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return for each word of the hand-written pairs the tags of its own sides and of those it excludes, from `first`
    on.
    """
    out: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for groups in (*OPPOSITES, *STATES):
        for side, words in enumerate(groups):
            others = tuple(first + other for other in range(len(groups)) if other != side)
            for word in words:
                sides, excluded = out.get(word, ((), ()))
                out[word] = ((*sides, first + side), (*excluded, *others))
        first += len(groups)
    return out


TAGS: Final = sum(len(groups) for groups in (*OPPOSITES, *STATES))  # numbers after the synsets'

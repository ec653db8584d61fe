"""What is known about one word or phrase of a value: the synsets it may mean, and those it excludes.

An item is a word, or several that WordNet holds as one (`motor vehicle`). What it is related to is a few lists of
synset numbers, so that a kernel can tell how two items stand to each other by looking for common numbers.

Are two words opposites? WordNet's antonyms, what derives from them, and a few pairs by hand.
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

from typing import TYPE_CHECKING

from likewise.model.text import fold

SENSES: Final = 8  # of a word and a part of speech that count; rarer ones bring more errors than finds
COMMON: Final = 4  # senses whose place in the taxonomy counts
NARROW: Final = 100  # kinds below a synset up to which its grandchildren exclude each other
LONGEST: Final = 4  # words of a phrase
GENERAL: Final = 80  # kinds below a word from which on it says little about what a compound names: `system`, `unit`
# Two words for things of such a kind, by their first sense, name two things, unless one is a kind of the other.
DISJOINT: Final = ("animal", "plant", "vehicle", "beverage")
_UP: Final = ("kind_of", "instance_of")


class LexicalItem(NamedTuple):
    """One word or phrase, and the synsets that say what it is.

    `own`: what it may mean; `near`: what it derives from or is similar to; `above`: what it is a kind or an instance
    of; `parents`: directly; `wholes`: what it is a part of; `opposites`, `far_opposites`: what it excludes, by itself
    or through what it is near to; `tags`: its side in the pairs of opposites by hand. `name`: it names one thing;
    `capital`: it is written as if it did. `thing`: 2 if it is a thing that one can touch, of no
    general kind; 1 if it may be one.
    """

    text: str
    own: tuple[int, ...] = ()
    near: tuple[int, ...] = ()
    above: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    wholes: tuple[int, ...] = ()
    opposites: tuple[int, ...] = ()
    far_opposites: tuple[int, ...] = ()
    tags: tuple[int, ...] = ()
    name: bool = False
    capital: bool = False
    formula: bool = False
    thing: int = 0


class Lexicon:
    """Makes items, each once.

    >>> from likewise.semantics.library import load_space
    >>> items = Items(load_space().relations)
    >>> [item.text for item in items.of([Word("motor", "motor"), Word("vehicle", "vehicle"), Word("left", "left")])]
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
        """The items of a value's words, the longest phrases first."""
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
        """An item for each word."""
        return [self._cached(w.text, w.written[:1].isupper() and not w.written.isupper(), w.formula) for w in words]

    def one(self, text: str) -> LexicalItem:
        """The item of a single word or phrase, as if it were written small."""
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
        own = [s for part in "nar" for s in senses[part][:SENSES]] + ([] if senses["n"] else verbs)
        common = [s for part in "nv" for s in senses[part][:COMMON]]
        near = {
            t
            for s in own
            for name in ("derived", "similar", "pertains", "participle", "grouped")
            for t in known.targets(name, s)
        }
        near = (near | set(verbs)) - set(own)
        direct = {t for s in (*own, *verbs) for t in known.targets("opposite", s)}
        far = {t for s in (*own, *near) for t in known.targets("opposite", s)} - direct
        far |= {t for s in (*direct, *far) for t in known.targets("similar", s)}
        for rest in negated_stems(text):
            direct |= {s for part in "nvar" for s in self._senses(rest, part)[:SENSES]} - set(own)
        tags, excluded = self._sides.get(text, ((), ()))
        nouns = senses["n"]
        named = bool(nouns) and bool(known.targets("instance_of", nouns[0]))
        if capital:
            named = named or not own or any(known.targets("instance_of", s) for s in nouns)
        return LexicalItem(
            text=text,
            own=tuple(own),
            near=tuple(sorted(near)),
            above=tuple(sorted(known.closure(_UP, common))),
            parents=tuple(sorted(self._parents(common) | (self._disjoint & known.closure(_UP, nouns[:1])))),
            wholes=tuple(sorted(self._wholes(own if named else common))),
            opposites=(*sorted(direct), *excluded),
            far_opposites=tuple(sorted(far - set(own))),
            tags=tags,
            name=named,
            capital=capital,
            formula=formula,
            thing=self._thing(text, senses),
        )

    def completes(self, text: str) -> bool:
        """Whether a word says that something has been done: a participle that is no noun (`approved`, `paid`)."""
        known = self._relations
        if known.senses(text, "n") or not known.senses(text, "v"):
            return False
        return text.endswith("ed") or text in known.irregular("v")

    def _thing(self, text: str, senses: dict[str, list[int]]) -> int:
        """By its first sense, or one of the first; an adjective or a form of a verb may say how something is."""
        nouns = senses["n"]
        if not nouns or senses["a"] or senses["r"] or text.endswith(("ing", "ed")):
            return 0
        known = self._relations
        if known.kinds[nouns[0]] < GENERAL and self._touched in known.closure(_UP, nouns[:1]):
            return 2
        return int(self._touched in known.closure(_UP, nouns[:COMMON]))

    def _senses(self, text: str, part: str) -> list[int]:
        """Senses of a text, of its plain letters, and of it without or with hyphens."""
        for form in _forms(text):
            found = self._relations.senses(form, part)
            if found:
                return found
        return []

    def _parents(self, synsets: Sequence[int]) -> set[int]:
        """What some synsets are kinds of, directly, and where that is narrow, one step further."""
        known = self._relations
        found = {t for s in synsets for name in _UP for t in known.targets(name, s)}
        further = {t for s in found for name in _UP for t in known.targets(name, s)}
        return found | {t for t in further if known.kinds[t] < NARROW}

    def _wholes(self, synsets: Sequence[int]) -> set[int]:
        """What some synsets are parts of, at any remove."""
        return self._relations.closure(("part_of",), synsets)


class Opposites:
    """Tells opposites.

    >>> from likewise.semantics.library import load_space
    >>> opposites = Opposites(load_space().relations)
    >>> opposites.opposed("inlet", "outlet"), opposites.opposed("increased", "decreased")
    (True, True)
    >>> opposites.opposed("inflammable", "flammable"), opposites.opposed("room", "hall")
    (False, False)
    """

    def __init__(self, relations: WordRelations) -> None:
        self._items = Lexicon(relations)

    def opposed(self, one: str, other: str) -> bool:
        """Whether one word, or phrase of WordNet, says what the other excludes; the same whichever comes first."""
        a, b = self._items.one(fold(one)), self._items.one(fold(other))
        if directly_opposed(a, b):
            return True
        if a.text == b.text or set(a.own) & set(b.own):
            return False
        reached = {*a.own, *a.near}, {*b.own, *b.near}
        far = {*a.opposites, *a.far_opposites}, {*b.opposites, *b.far_opposites}
        return bool(far[0] & reached[1] or far[1] & reached[0])


def directly_opposed(a: LexicalItem, b: LexicalItem) -> bool:
    """Whether a meaning or a side of one item is an opposite of the other."""
    return bool({*b.own, *b.tags} & set(a.opposites) or {*a.own, *a.tags} & set(b.opposites))


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
    """What a word that looks negated negates: `nogil_kernel`, `harmless`.

    >>> list(rests("disarmed")), list(rests("harmless")), list(rests("inflammable"))
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
    """For each word of the pairs by hand the numbers of its own sides and of those it excludes, from `first` on."""
    out: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    for groups in (*OPPOSITES, *STATES):
        for side, words in enumerate(groups):
            others = tuple(first + other for other in range(len(groups)) if other != side)
            for word in words:
                own, excluded = out.get(word, ((), ()))
                out[word] = ((*own, first + side), (*excluded, *others))
        first += len(groups)
    return out


TAGS: Final = sum(len(groups) for groups in (*OPPOSITES, *STATES))  # numbers after the synsets'

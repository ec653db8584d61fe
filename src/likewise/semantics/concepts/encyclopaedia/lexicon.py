"""What names are looked up by: every label, maker's name, short form and foreign word of the encyclopaedia.

A phrase (folded words) leads to senses: the plain English words that stand for it, how it is written there, and what
speaks for that sense (language, domain, dimensions of its units). `normalisation` decides which sense holds.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import msgspec

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.semantics.concepts.encyclopaedia.entries import DomainEntry, is_code
from likewise.semantics.concepts.inventory import singular
from likewise.semantics.text.identifiers import split_identifier
from likewise.units import any_unit

How = Literal["label", "name", "short", "language", "function", "code"]
Phrase = tuple[str, ...]
SHORT_LETTERS: Final = 3  # a foreign label so short is a short form too: `AT`, `TVL`
GLUED_LETTERS: Final = 5  # shortest name that is also known written without signs: `flowtemp`
JOINING: Final = frozenset({"de", "nl", "sv"})  # languages that write compounds as one word
_LINKS: Final = ("", "s", "n", "en", "es", "e", "ings")  # letters that join the parts of such a compound
SHORTEST_PART: Final = 3  # letters of a part
SMALL: Final = frozenset({"of", "the"})  # `a` may be a phase
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae"})


class Sense(NamedTuple):
    """One meaning of a phrase: `target` are the words that replace it."""

    target: str
    how: How
    language: str
    domain: str
    dimensions: tuple[str, ...]
    category: str


@lru_cache(maxsize=NAME_CACHE_ENTRIES)
def folded(word: str) -> str:
    """A word without capitals, accents and a plural's ending.

    >>> folded("Außen"), folded("Débit"), folded("Łazienka"), folded("volts")
    ('aussen', 'debit', 'lazienka', 'volt')
    """
    if word.isascii():
        return singular(word.casefold())
    plain = unicodedata.normalize("NFKD", word.casefold().replace("ł", "l").replace("ø", "o"))
    return singular("".join(c for c in plain if not unicodedata.combining(c)))


def phrase_of(text: str) -> Phrase:
    """The folded words of a label or a name."""
    plain = (
        text.islower() and text.replace(" ", "").isalpha()
    )  # most labels: cut at blanks alone, as `split_identifier` would
    return tuple(folded(word) for word in (text.split() if plain else split_identifier(text)))


def plain_phrase(phrase: Phrase) -> Phrase:
    """A phrase without the words inside it that say nothing; unchanged if fewer than two are left.

    >>> plain_phrase(("number", "of", "the", "start")), plain_phrase(("of", "x"))
    (('number', 'start'), ('of', 'x'))
    """
    content = tuple(word for word in phrase if word not in SMALL)
    return content if len(content) > 1 else phrase


def spellings(text: str) -> Iterator[Phrase]:
    """A label's phrase, and that of its umlauts written as two letters."""
    yield phrase_of(text)
    plain = text.casefold().translate(_UMLAUTS)
    if plain != text.casefold():
        yield phrase_of(plain)


def canonical(entry: DomainEntry) -> str:
    """The plain words that stand for an entry: its qualifiers, its kind and its role, else its id.

    >>> canonical(DomainEntry("room setpoint", "quantity", "temperature", ("room",), "setpoint"))
    'room temperature setpoint'
    """
    if not entry.compound:
        return entry.id
    return " ".join(part for part in (*entry.qualifiers, entry.kind, entry.role) if part)


StateSense = tuple[str, tuple[str, ...]]  # a state, and the groups of states that exclude each other


class _EncodedLexicon(msgspec.Struct, array_like=True):
    """What `Lexicon.encode` writes: phrases are words between blanks, with the places of their senses."""

    senses: list[Sense]
    phrases: dict[str, list[int]]
    codes: dict[str, Sense]
    values: dict[str, tuple[StateSense, ...]]


class Lexicon:
    """Senses by phrase, by code, and the words of values.

    The plain words of a compound stand for themselves, so that no shorter phrase in them is replaced.
    """

    def __init__(self, entries: Iterable[DomainEntry], short_forms: Mapping[Phrase, Phrase] | None = None) -> None:
        """Index the names of entries.

        Args:
            entries: the entries; what stands first wins.
            short_forms: words by the usual short forms of names (`temp`), which labels are also found by.
        """
        self._short_forms = short_forms or {}
        self.phrases: dict[Phrase, tuple[Sense, ...]] = {}
        self.codes: dict[str, Sense] = {}
        self.values: dict[Phrase, tuple[StateSense, ...]] = {}
        entries = tuple(entries)
        dimensions = {e.id: e.dimensions for e in entries if e.category != "value" and e.dimensions}
        self._small = {
            (language, folded(word))
            for entry in entries
            if entry.category == "function"
            for language, words in entry.languages.items()
            for word in words
        }
        states = [entry for entry in entries if entry.category == "value"]
        for entry in states:
            self._add_values(entry, (entry.id, *entry.labels))
        english = frozenset(self.values)  # `active` is English, whatever `activé` says without its accent
        for entry in states:
            self._add_values(entry, (x for labels in entry.languages.values() for x in labels), english)
        for entry in entries:
            if entry.category != "value":
                self._add(entry, entry.dimensions or dimensions.get(entry.kind, ()))
        self._index()

    def _index(self) -> None:
        """Derive from the phrases how long they are, and the parts of joined words."""
        self.longest = max((len(p) for p in self.phrases), default=1)
        self._parts = {
            (sense.language, phrase[0]): sense.target
            for phrase, senses in self.phrases.items()
            for sense in senses
            if len(phrase) == 1
            and len(phrase[0]) >= SHORTEST_PART
            and sense.language in JOINING
            and sense.how == "language"
        }

    def encode(self) -> bytes:
        """Return the lexicon as bytes, so that a start need not read and index the domains.

        >>> source = DomainEntry("torque", "quantity", languages={"de": ("Drehmoment",)})
        >>> Lexicon.decode(Lexicon([source]).encode()).phrases[("drehmoment",)][0].target
        'torque'
        """
        places: dict[Sense, int] = {}
        phrases = {
            " ".join(phrase): [places.setdefault(sense, len(places)) for sense in senses]
            for phrase, senses in self.phrases.items()
        }
        values = {" ".join(phrase): state for phrase, state in self.values.items()}
        return msgspec.msgpack.encode(_EncodedLexicon(list(places), phrases, self.codes, values))

    @classmethod
    def decode(cls, data: bytes) -> Lexicon:
        """Return the lexicon that `encode` wrote."""
        found = msgspec.msgpack.decode(data, type=_EncodedLexicon)
        lexicon = cls(())
        senses = found.senses
        lexicon.phrases = {tuple(key.split()): tuple([senses[i] for i in at]) for key, at in found.phrases.items()}
        lexicon.codes = found.codes
        lexicon.values = {tuple(key.split()): state for key, state in found.values.items()}
        lexicon._index()
        return lexicon

    def _add(self, entry: DomainEntry, dimensions: tuple[str, ...]) -> None:
        target = canonical(entry)
        if entry.compound:  # of kinds and qualifiers the inventory has the English labels
            for label in (target, *((entry.id,) if entry.labels else ()), *entry.labels):
                self._put_english(
                    phrase_of(label), Sense(target, "label", "", entry.domain, dimensions, entry.category)
                )
        for name in entry.names:
            sense = Sense(target, "name", "", entry.domain, dimensions, entry.category)
            if is_code(name):
                self.codes.setdefault(name.casefold(), sense._replace(how="code"))
            elif entry.compound:
                phrase = phrase_of(name)
                self._put_english(phrase, sense)
                glued = "".join(phrase)
                if len(phrase) > 1 and len(glued) >= GLUED_LETTERS:
                    self._put((glued,), sense)
        for short in entry.short:
            self._put((folded(short),), Sense(target, "short", "", entry.domain, dimensions, entry.category))
        how: How = "function" if entry.category == "function" else "language"
        for language, labels in entry.languages.items():
            for label in labels:
                brief = len(label) <= SHORT_LETTERS and label.isupper()
                sense = Sense(target, "short" if brief else how, language, entry.domain, dimensions, entry.category)
                for phrase in spellings(label):
                    self._put(phrase, sense)
                    content = tuple(word for word in phrase if (language, word) not in self._small)
                    if len(content) > 1:  # `temperatura_impulsion` leaves out what `temperatura de impulsión` says
                        self._put(content, sense)

    def _add_values(self, entry: DomainEntry, labels: Iterable[str], known: frozenset[Phrase] = frozenset()) -> None:
        """Index words for a state; one word may stand for several (`en marche`: on, running), but not a known one."""
        sense = (entry.id, entry.group)
        for label in labels:
            for phrase in spellings(label):
                senses = self.values.get(phrase, ())
                if phrase not in known and sense not in senses:
                    self.values[phrase] = (*senses, sense)

    def _put_english(self, phrase: Phrase, sense: Sense) -> None:
        """Index a label as it is written, without its articles, and with its short forms as words."""
        self._put(phrase, sense)
        self._put(plain_phrase(phrase), sense)
        words = tuple(" ".join(self._short_forms.get((short,), (short,))) for short in phrase)
        if len(phrase) > 1 and words != phrase and not any(" " in word for word in words):
            self._put(words, sense)

    def _put(self, phrase: Phrase, sense: Sense) -> None:
        if not phrase:
            return
        senses = self.phrases.get(phrase, ())
        if not any(s.target == sense.target and s.language == sense.language and s.how == sense.how for s in senses):
            self.phrases[phrase] = (*senses, sense)

    def parts(self, word: str, languages: Sequence[str]) -> tuple[str, str]:
        """A compound of a language that joins its words, taken apart: the plain words and the language; empty if none.

        The fewest parts win.
        """
        for language in (x for x in ("de", "nl", "sv") if not languages or x in languages):
            split = self._split(word, language)
            if len(split) > 1:
                return " ".join(split), language
        return "", ""

    def _split(self, word: str, language: str) -> tuple[str, ...]:
        n = len(word)
        if n < 2 * SHORTEST_PART or n > 60:
            return ()
        best: list[tuple[str, ...] | None] = [None] * (n + 1)
        best[0] = ()
        for end in range(SHORTEST_PART, n + 1):
            for start in range(end - SHORTEST_PART + 1):
                before = best[start]
                if before is None or ((current := best[end]) is not None and len(current) <= len(before) + 1):
                    continue
                piece = word[start:end]
                for link in _LINKS if end < n else ("",):
                    if link and not (piece.endswith(link) and len(piece) - len(link) >= SHORTEST_PART):
                        continue
                    target = self._parts.get((language, piece.removesuffix(link) if link else piece))
                    if target is not None:
                        best[end] = (*before, target)
                        break
        return best[n] or ()


# Kinds that have no one unit by themselves: a distance is in metres or millimetres, a pressure in bar or pascals.
UNSETTLED: Final = frozenset(
    {"pressure", "flow", "speed", "length", "distance", "height", "depth", "volume", "mass", "energy", "area"}
    | {"duration", "vibration", "acceleration", "gas concentration", "fill level", "level", "water level"}
)
# The words of a name, its customary unit, the lowest and highest reading, other units.
CustomaryRow = tuple[str, str, float, float, tuple[str, ...]]


def customary_rows(entries: Iterable[DomainEntry]) -> list[CustomaryRow]:
    """Return the unit and the range of every name of a measured thing; what stands first wins."""
    entries = tuple(entries)
    rows: dict[str, CustomaryRow] = {}
    for entry in entries:
        symbol = any_unit(entry.unit) if entry.unit else None
        if symbol is None or entry.role or entry.id in UNSETTLED:
            continue
        written = ("K", *entry.other_units) if symbol.symbol == "degC" else entry.other_units
        others = tuple(u.symbol for u in map(any_unit, written) if u and u.dimension == symbol.dimension)
        for label in (entry.id, canonical(entry), *entry.labels):
            words = " ".join(phrase_of(label))
            rows.setdefault(words, (words, symbol.symbol, entry.low, entry.high, others))
    return list(rows.values())

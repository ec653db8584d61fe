"""Initials and cut words, read against what is asked for: `ECT` is the engine coolant temperature if that is asked.

Nobody lists every acronym and every cut word. But a word that nobody knows, and that is the initials of asked words or
one of them cut (`clnt` of `coolant`), most likely stands for them. So the asked phrases are indexed by their words and
their initials, and a name with such a word has one more reading for these phrases alone. The score of a pair depends on
that pair alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from likewise.semantics.concepts.encyclopaedia.lexicon import folded
from likewise.semantics.concepts.normalisation.normaliser import UnknownWord
from likewise.semantics.text.identifiers import split_identifier
from likewise.semantics.text.stop_words import STOP_WORDS

LEAST_LETTERS: Final = 3  # of initials and of a cut word; two letters are initials only of the whole rest
LONGEST_INITIALS: Final = 6
MOST_FORMS: Final = 12  # readings of one name by its short forms
_STOP: Final = STOP_WORDS["english"]
_VOWELS: Final = frozenset("aeiouy")


class ShortForm(NamedTuple):
    """A word of a name (from `start` to `end`) read as `plain`, for the asked phrases `asked`."""

    start: int
    end: int
    plain: str
    asked: tuple[int, ...]


class ShortForms:
    """Asked phrases by initials and by words.

    >>> forms = ShortForms(["engine coolant temperature", "battery voltage"])
    >>> [(f.plain, f.asked) for f in forms.of([UnknownWord(0, 3, "ect")], ())]
    [('engine coolant temperature', (0,))]
    >>> [(f.plain, f.asked) for f in forms.of([UnknownWord(0, 6, "coolnt")], ())]
    [('coolant', (0,))]
    """

    def __init__(self, phrases: Sequence[str]) -> None:
        self._initials: dict[str, dict[str, list[int]]] = {}
        self._words: dict[str, dict[str, list[int]]] = {}
        self._content: list[frozenset[str]] = []
        for place, phrase in enumerate(phrases):
            words = [folded(word) for word in split_identifier(phrase)]
            content = [word for word in words if word not in _STOP]
            self._content.append(frozenset(content))
            for run in _runs(words, content):
                letters = "".join(word[0] for word in run)
                _add(self._initials.setdefault(letters, {}), " ".join(run), place)
            for word in content:
                if len(word) > LEAST_LETTERS and word.isalpha():
                    _add(self._words.setdefault(word[0], {}), word, place)

    def of(self, unknown: Iterable[UnknownWord], others: Iterable[str]) -> list[ShortForm]:
        """What unknown words may stand for; `others` are the other words of the name, folded.

        Two letters, or letters that are a word too, are initials only if they leave no asked word unsaid.
        """
        said = frozenset(others)
        out: list[ShortForm] = []
        for start, end, word, sure, meant in unknown:
            for plain, places in self._initials.get(word, {}).items():
                if len(word) < LEAST_LETTERS or not sure:
                    read = said | frozenset(plain.split())
                    places = [place for place in places if self._content[place] <= read]
                if places and not meant.issuperset(plain.split()):
                    out.append(ShortForm(start, end, plain, tuple(places)))
            if sure and len(word) >= LEAST_LETTERS:
                out += [
                    ShortForm(start, end, plain, tuple(places))
                    for plain, places in self._words.get(word[0], {}).items()
                    if plain not in meant and is_cut(word, plain)
                ]
        return out[:MOST_FORMS]


def is_cut(short: str, word: str) -> bool:
    """Whether a short form is a word's beginning, whole or without vowels and doubled letters.

    >>> is_cut("outdr", "outdoor"), is_cut("prsr", "pressure"), is_cut("cond", "coolant"), is_cut("spn", "setpoint")
    (True, True, False, False)
    """
    if len(short) >= len(word) or short[0] != word[0]:
        return False
    if word.startswith(short):
        return True
    at = 0
    for letter in short:
        found = word.find(letter, at)
        if found < 0 or any(c not in _VOWELS and c != word[i - 1] for i, c in enumerate(word[at:found], at)):
            return False
        at = found + 1
    return True


def _add(table: dict[str, list[int]], key: str, place: int) -> None:
    places = table.setdefault(key, [])
    if not places or places[-1] != place:
        places.append(place)


def _runs(words: Sequence[str], content: Sequence[str]) -> set[tuple[str, ...]]:
    """Runs of words that initials may stand for, with their small words and without."""
    return {
        tuple(some[i:j])
        for some in (words, content)
        for i in range(len(some))
        for j in range(i + 2, min(len(some), i + LONGEST_INITIALS) + 1)
        if all(word[:1].isalpha() for word in some[i:j])
    }

"""Text to tokens, alike one text at a time and for whole Arrow arrays.

sources.md T: a space is built from documents that are tokenised, freed of stop words and stemmed, and a
term of several words is the sum of its tokens, so the corpus and the terms asked about must be cut in
exactly the same way. The settings travel in the space's manifest; whoever opens the space tokenises
with them.

A token is a run of letters, digits and the marks that belong to them, in any alphabet (`no2`, `112`,
`žena`, `हिन्दी`); an ideograph or a hiragana sign is a token by itself, because those scripts write no
spaces. Everything else separates, but invisible joiners and soft hyphens vanish.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from likewise.errors import InputError
from likewise.semantics.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_ASCII_WORDS: Final = re.compile(r"[A-Za-z0-9]+")
_ZERO_WIDTH_SPACE: Final = 0x200B  # a format character, but one that separates


class TokenizerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings that define how text is split; stored in the space's manifest.

    `fold="nfkc"` brings compatibility forms and case together (`CO₂` and `co2`, `STRASSE` and
    `straße`); `"none"` leaves text as it is. `stop_words` names a list (`"english"`, `"none"`),
    `stemmer` a Snowball algorithm (`"english"`, `"german"`, ...) or `"none"`. Tokens shorter than
    `shortest` or longer than `longest` characters are dropped before stemming.

    >>> TokenizerSettings().stemmer
    'english'
    """

    pattern: Literal["unicode-words"] = "unicode-words"
    fold: Literal["nfkc", "none"] = "nfkc"
    stop_words: str = "english"
    stemmer: str = "english"
    shortest: int = 1
    longest: int = 64


class EncodedTexts(msgspec.Struct, frozen=True, eq=False):
    """Tokens of many texts: text i has `terms[codes[ends[i - 1]:ends[i]]]`, in reading order.

    `terms` has each distinct token once.
    """

    terms: pa.Array[Any]
    codes: NDArray[np.int32]
    ends: NDArray[np.int64]

    def tokens(self, index: int) -> list[str]:
        """Return the tokens of one text."""
        start = int(self.ends[index - 1]) if index else 0
        return [str(self.terms[code]) for code in self.codes[start : int(self.ends[index])].tolist()]


class Tokenizer:
    """Split text into tokens.

    It may be used from several threads at once.

    >>> Tokenizer().tokens("Increased energy usage of the CO₂ sensors in room 112")
    ['increas', 'energi', 'usag', 'co2', 'sensor', 'room', '112']
    >>> Tokenizer(TokenizerSettings(stemmer="none", stop_words="none")).tokens("Die Straße, 東京!")
    ['die', 'strasse', '東', '京']
    """

    def __init__(self, settings: TokenizerSettings | None = None) -> None:
        self.settings = settings = settings or TokenizerSettings()
        if settings.stop_words not in STOP_WORDS:
            raise InputError(f"no stop words are named {settings.stop_words!r}; there are {', '.join(STOP_WORDS)}")
        self._stop_words = STOP_WORDS[settings.stop_words]
        self._stemmers = _Stemmers(settings.stemmer)

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of one text, in reading order, repeats included."""
        stop_words, shortest, longest = self._stop_words, self.settings.shortest, self.settings.longest
        words = [w for w in self._words(text) if shortest <= len(w) <= longest and w not in stop_words]
        return self._stemmers.stem(words)

    def encode(self, texts: pa.Array[Any]) -> EncodedTexts:
        """Return the tokens of every text of an Arrow string array, equal to `tokens` of each.

        A null counts as empty text. ASCII is cut by array operations on the bytes; a text with any
        other character is first cut as `tokens` does it.

        >>> import pyarrow as pa
        >>> encoded = Tokenizer().encode(pa.array(["red laptops", None, "a laptop, à la carte"]))
        >>> encoded.terms.to_pylist(), [encoded.tokens(i) for i in range(3)]
        (['red', 'laptop', 'à', 'la', 'cart'], [['red', 'laptop'], [], ['laptop', 'à', 'la', 'cart']])
        """
        from likewise.semantics.text.token_arrays import accepted_words, filter_words, split_words

        settings = self.settings
        words, codes, ends = split_words(texts, lower=settings.fold == "nfkc", spaced=self._spaced)
        accepted = accepted_words(words, settings.shortest, settings.longest, sorted(self._stop_words))
        stems = None if settings.stemmer == "none" else self._stemmers.stem
        return EncodedTexts(*filter_words(words, accepted, stems, codes, ends))

    def _words(self, text: str) -> list[str]:
        """Return the text folded and split, with all words."""
        if text.isascii():
            return _ASCII_WORDS.findall(text.lower() if self.settings.fold == "nfkc" else text)
        if self.settings.fold == "nfkc":
            text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        words = (w if w[:1].isalnum() else w.lstrip(_marks(w)) for w in text.translate(_CHARACTERS).split(" "))
        return [w for w in words if w]

    def _spaced(self, text: str) -> str:
        return " ".join(self._words(text))


class _Stemmers:
    """One Snowball stemmer per thread, since a stemmer must not be shared."""

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm
        self._local = threading.local()
        if algorithm != "none":
            import Stemmer

            if algorithm not in Stemmer.algorithms():
                raise InputError(
                    f"no stemmer is named {algorithm!r}; there are none, {', '.join(sorted(Stemmer.algorithms()))}"
                )

    def stem(self, words: Sequence[str]) -> list[str]:
        if self.algorithm == "none" or not words:
            return list(words)
        stem: Callable[[Sequence[str]], list[str]] | None = getattr(self._local, "stem", None)
        if stem is None:
            import Stemmer

            stem = self._local.stem = Stemmer.Stemmer(self.algorithm).stemWords
        return stem(words)


def _marks(word: str) -> str:
    """Return the word's characters that are neither letter nor digit."""
    return "".join(c for c in word if not c.isalnum())


class _Characters(dict[int, str]):
    """Translation of each character when text is split, filled on demand."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if _stands_alone(code):
            out = f" {character} "
        elif character.isalnum() or category in ("Mn", "Mc", "Me"):
            out = character
        elif category == "Cf" and code != _ZERO_WIDTH_SPACE:
            out = ""
        else:
            out = " "
        self[code] = out
        return out


def _stands_alone(code: int) -> bool:
    """Return whether a script has no spaces and is split sign by sign: ideographs and hiragana (UAX 29)."""
    return (
        0x3041 <= code <= 0x3096
        or 0x3400 <= code <= 0x4DBF
        or 0x4E00 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x323AF
    )


_CHARACTERS: Final = _Characters()

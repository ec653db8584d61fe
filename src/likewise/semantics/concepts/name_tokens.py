"""Tokenizer of attribute names: split, folded, singular, with short forms expanded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from likewise.semantics.concepts.inventory import Inventory, singular
from likewise.semantics.text.identifiers import segment_word, split_identifier
from likewise.semantics.text.stop_words import STOP_WORDS
from likewise.units import find_unit

_STOP: Final = STOP_WORDS["english"]
_PIECES: Final = re.compile(r"[\W_]+")
_NUMBERED: Final = re.compile(r"([a-z]+)(\d+)")
_POINT: Final = re.compile(r"(?<=\d)p(?=\d)")  # a decimal point where none is allowed: `pm2p5`
NUMBERED: Final = frozenset(
    {"phase", "channel", "port", "gate", "wing", "block", "group", "zone", "line"}
)  # by letters too
LISTED_PRICE: Final = 1.0  # of a piece of a joined word that the inventory lists
KNOWN_PRICE: Final = 6.0  # of one that only the space knows
MOST_WORDS: Final = 64  # of one part of a name; more is a text


class NameTokenizer:
    """Tokenize names.

    >>> from likewise.semantics.concepts.inventory import Concept
    >>> short = [Concept("means", "relative humidity", ("rh",)), Concept("means", "temperature", ("temp",))]
    >>> cut = NameTokenizer(Inventory([*short, Concept("kind", "pm")]), known={"air"}.__contains__)
    >>> cut("RH_avg"), cut("airtemp2"), cut("pm2_5 raw"), cut("load %")
    (['relative', 'humidity', 'avg'], ['air', 'temperature', '2'], ['pm', '2.5', 'raw'], ['load', 'percent'])
    """

    def __init__(self, inventory: Inventory, known: Callable[[str], bool]) -> None:
        self._inventory, self._known = inventory, known

    def __call__(self, text: str, dropped: frozenset[str] = frozenset()) -> list[str]:
        """Return the words of a text, without words of `dropped` (a unit's symbol) that have no other meaning."""
        text = _POINT.sub(".", text.replace("%", " percent "))
        raw = [word for piece in _PIECES.split(text) if piece for word in self._cut(piece, dropped)]
        raw = _sizes(raw[:MOST_WORDS])
        last = len(raw) - 1
        tokens = []
        for at, word in enumerate(raw):
            alone = len(word) == 1 and word.isalpha() and at < last  # a letter is a short form at the end only
            numbered = at and raw[at - 1] in NUMBERED  # `phase a` is no current
            if not (at and word in dropped and not self._inventory.has_label(word) and not numbered):
                tokens.append(f"{word} " if alone else word)
        return [word.rstrip() for word in self._inventory.expand(tokens)]

    def _cut(self, piece: str, dropped: frozenset[str]) -> list[str]:
        """Split one run of letters and digits into words, unless it is a unit or the inventory lists it whole."""
        whole = singular(piece.casefold())
        if self._inventory.has_label(whole):
            return [whole]
        unit = find_unit(piece) if dropped and len(split_identifier(piece)) > 1 else None
        if unit is not None and unit.symbol.casefold() in dropped:
            return [unit.symbol.casefold()]  # `kPa` and `dBm` would be cut before the capital
        out: list[str] = []
        for part in split_identifier(piece):
            word = singular(part.casefold())
            if self._inventory.has_label(word) or word.isdigit():
                out.append(word)
                continue
            numbered = _NUMBERED.fullmatch(word)
            if numbered and (self._inventory.has_label(numbered.group(1)) or len(numbered.group(1)) > 2):
                out += numbered.groups()
            elif word.isalpha() and word not in _STOP and not self._known(word):
                out += self._joined(word)
            else:
                out.append(word)
        return out

    def _joined(self, word: str) -> list[str]:
        """Split a word without word boundaries. A short form of two letters may be its end."""
        stem, end = word[:-2], word[-2:]
        for rest, last in ((word, []), (stem, [end]) if (end,) in self._inventory.means else ("", [])):
            whole = last and (self._inventory.has_label(rest) or (len(rest) > 2 and self._known(rest)))
            pieces = [rest] if whole else [singular(piece) for piece in segment_word(rest, self._segment_cost)]
            if pieces:
                return [*pieces, *last]
        return [word]

    def _segment_cost(self, piece: str) -> float | None:
        if self._inventory.has_label(singular(piece)):
            return LISTED_PRICE
        return KNOWN_PRICE if self._known(piece) else None


def _sizes(words: list[str]) -> list[str]:
    """Join sizes of particles into one number, whatever their spelling: `pm25`, `pm2_5`, `pm2p5`."""
    out: list[str] = []
    for word in words:
        if word == "25" and out[-1:] == ["pm"]:
            out.append("2.5")
        elif word in ("0", "5") and out[-2:-1] == ["pm"] and out[-1] in ("0", "1", "2", "4", "10"):
            out[-1] += "" if word == "0" else ".5"
        else:
            out.append(word)
    return out

"""Parser of values: content words, numbers and codes, negations.

Numbers and codes are identity: `platform 3` is not `platform 4`, `bay 07` is `bay 7`, `P-101` is `p101`, `second floor`
is `2nd floor`, PM2.5 is not PM10. A number with a unit is the quantity, whatever the unit.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from likewise.semantics.concepts.values.knowledge import (
    AWAITING,
    COMPLETED,
    ENDS,
    FAILING,
    FORMULAS,
    LACKING,
    LEAKING,
    LIGHT,
    NEGATED_BEFORE,
    NEGATORS,
    NUMBER_WORDS,
    ORDINALS,
    ROMAN,
    SPELLINGS,
    SUPPLIES,
)
from likewise.units import find_unit

# A formula or a size with its digits, a number with its decimals and a letter, a word with its apostrophes.
_TOKEN: Final = re.compile(
    r"(?P<size>pm[ _]?\d+(?:[._,]\d+)?)(?![^\W_])"
    r"|(?:(?<![^\W_])(?P<mark>[a-z])-?|(?<!\S)(?P<minus>[-−]))?(?P<number>\d+(?:[._,]\d+)*)"
    r"(?:(?P<ordinal>st|nd|rd|th)(?![^\W_])|(?P<suffix>[a-z])(?![^\W_])|[ ](?P<apart>(?-i:[A-Z]))(?![^\W_]))?"
    r"|(?P<sign>[#%])"
    r"|(?P<word>[^\W\d_]+(?:['’.][^\W\d_]+)*(?:-[^\W\d_]+(?![^\W_]))*)",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(r"(?<=[a-z][a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z][a-z])|_(?!\d)|(?<!\d)_")
_SIZES: Final = {"pm25": "pm2.5"}
_SHORT_UNITS: Final = frozenset("%mglhs")
_NEGATING: Final = re.compile(r"(non|un|de)-(?=[^\W\d_]{3})", re.IGNORECASE)


class Code(NamedTuple):
    """A number or code, and the word before it (`room` 201)."""

    text: str
    qualifier: str


class ValueWord(NamedTuple):
    """A content word: folded, as written, and whether it is a chemical formula."""

    text: str
    written: str
    formula: bool = False


class ParsedValue(NamedTuple):
    """A parsed value: words in order, codes, negations, and whether it reports an end.

    `negated` has the place of the word each negation is about. `awaited`: what it names is still to come.
    """

    words: tuple[ValueWord, ...]
    codes: tuple[Code, ...] = ()
    negated: tuple[int, ...] = ()
    completed: bool = False
    awaited: bool = False


def parse_value(text: str) -> ParsedValue:
    """Parse the text of a value.

    >>> [c.text for c in parse_value("Rack 07, row B12").codes], [w.text for w in parse_value("second floor").words]
    (['7', 'b12'], ['floor'])
    >>> parse_value("no leak detected").negated, parse_value("leak has been repaired").completed
    ((0,), True)
    >>> parse_value("approval pending").awaited, [w.text for w in parse_value("cut of the mains").words]
    (True, ['power', 'outage'])
    """
    spaced = _JOINED.sub(" ", unicodedata.normalize("NFC", text))
    spaced = _NEGATING.sub("not ", spaced)
    reader = _ValueParser()
    tokens = list(_TOKEN.finditer(spaced))
    end = 0
    for place, token in enumerate(tokens):
        if token.start() >= end:
            after = tokens[place + 1] if place + 1 < len(tokens) else None
            end = reader.take(spaced, token, after, alone=len(tokens) == 1)
    return reader.result()


class _ValueParser:
    """Parser state of one value; it takes token by token."""

    def __init__(self) -> None:
        self.words: list[ValueWord] = []
        self.codes: list[Code] = []
        self.negated: list[int] = []
        self.light: list[str] = []
        self.completed = False
        self.awaited = False

    def take(self, text: str, token: re.Match[str], after: re.Match[str] | None, *, alone: bool) -> int:
        """Consume a token and return the position where the next one may begin."""
        previous = self.words[-1].text if self.words else ""
        formula = _formula(text, token)
        if formula is not None:
            self.words.append(ValueWord(*formula, formula=True))
            return token.start() + len(formula[1])
        if token["size"]:
            size = token["size"].casefold().replace(" ", "").replace(",", ".").replace("_", ".").replace("pm.", "pm")
            self.words.append(ValueWord(_SIZES.get(size, size), token["size"], formula=True))
        elif token["number"]:
            unit = _unit_after(after, text, token)
            if unit is not None and after is not None:
                self.codes.append(Code(_quantity(token["number"], unit), ""))
                return after.end()
            suffix = token["suffix"] or token["apart"] or ""
            mark = token["mark"] or ""
            if not mark and self.codes and len(self.codes[-1].text) == 1 and self.codes[-1].text.isalpha():
                mark = self.codes.pop().text
            minus = "-" if token["minus"] else ""
            self.codes.append(Code(f"{minus}{mark}{_number(token['number'])}{suffix}".casefold(), previous))
        elif token["word"]:
            self._word(token["word"].rstrip("."), after, previous, alone=alone)
        return token.end()

    def _word(self, raw: str, after: re.Match[str] | None, previous: str, *, alone: bool) -> None:
        word = raw.casefold()
        word = SPELLINGS.get(word, word)
        number = _number_word(word, raw, after, bool(previous))
        letter = len(word) == 1 and word.isascii() and (raw.isupper() or after is None)
        if number or (letter and not alone):
            self.codes.append(Code(number or word, previous))
        elif word in NEGATORS and not alone:
            if word != "no" or after is None or not after["number"]:
                self.negated.append(len(self.words))
        elif word in NEGATED_BEFORE and after is None and len(self.words) == 1:
            self.negated.append(0)
        elif _negates_next(word, after):
            self.negated.append(len(self.words))
        elif word.endswith(("-free", "-less")) and len(word) > 6:
            self.negated.append(len(self.words))
            self.words.append(ValueWord(word[:-5], raw))
        elif (
            word == "in" and after is None and previous
        ):  # `logged in`: what it says of the verb is half of what is said
            self.words.append(ValueWord(word, raw))
        elif word in COMPLETED and not alone:
            self.completed = True
        elif word in LIGHT and not (word == "due" and _following(after) != "to"):
            self.light.append(word)
        else:
            self.awaited = self.awaited or word in AWAITING
            self.words.append(ValueWord(word, raw))

    def result(self) -> ParsedValue:
        """Return the parsed value. A value of light words alone keeps them."""
        words = self.words or [ValueWord(word, word) for word in self.light]
        codes, negated = tuple(self.codes), tuple(self.negated)
        return ParsedValue(tuple(_normalize_outage(words)), codes, negated, self.completed, self.awaited)


def _normalize_outage(words: list[ValueWord]) -> list[ValueWord]:
    """Normalise the end of a supply: a power cut, an electricity outage, the loss of the mains."""
    for at in range(len(words) - 1):
        pair = words[at], words[at + 1]
        for supply, end in (pair, pair[::-1]):
            named = SUPPLIES.get(supply.text)
            if named and end.text in ENDS and not (end.text == "loss" and named in LEAKING):
                return [
                    *words[:at],
                    ValueWord(named, supply.written),
                    ValueWord("outage", end.written),
                    *words[at + 2 :],
                ]
    return words


def _negates_next(word: str, after: re.Match[str] | None) -> bool:
    """Return whether a word and the next one negate what follows: `failed to close`, `free of ice`, `out of stock`."""
    following = _following(after)
    return (word in FAILING and following == "to") or (word in LACKING and following in ("of", "from"))


def _following(after: re.Match[str] | None) -> str:
    return (after["word"] or "").casefold() if after is not None else ""


def _number(text: str) -> str:
    """Return a number as a code: without leading zeros, decimals as written."""
    whole, dot, decimals = text.replace(",", ".").replace("_", ".").partition(".")
    return (whole.lstrip("0") or "0") + dot + decimals


def _unit_after(after: re.Match[str] | None, text: str, token: re.Match[str]) -> str | None:
    """Return the unit after a number, with or without a blank. Most single letters belong to a code instead."""
    if after is None or (not after["word"] and after["sign"] != "%"):
        return None
    if text[token.end() : after.start()] not in ("", " ") or token["suffix"] or token["ordinal"] or token["mark"]:
        return None
    symbol = after["word"] or "%"
    return symbol if (len(symbol) > 1 or symbol in _SHORT_UNITS) and find_unit(symbol) is not None else None


def _quantity(number: str, symbol: str) -> str:
    """Return a number with a unit as its value in the base unit of its dimension."""
    parsed_unit = find_unit(symbol)
    assert parsed_unit is not None
    try:
        return f"{parsed_unit.to_base(float(number.replace(',', '.'))):.9g} {parsed_unit.dimension}"
    except ValueError:  # 1.2.3 is a version, whatever follows
        return f"{number} {symbol.casefold()}"


def _formula(text: str, token: re.Match[str]) -> tuple[str, str] | None:
    """Return the name and the spelling of a chemical formula that begins with this word."""
    run = re.match(r"[A-Za-z0-9]+", text[token.start() :])
    written = run[0] if run else ""
    known = FORMULAS.get(written.casefold())
    if known is None or (written.isalpha() and not written.isupper()):
        return None
    return known, written


def _number_word(word: str, raw: str, after: re.Match[str] | None, behind: bool) -> str:
    """Return the number of a word: `two`, `second` before another word, `II` after one."""
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS[word])
    if word in ORDINALS and after is not None and after["word"]:
        return str(ORDINALS[word])
    if behind and raw.isupper() and word in ROMAN:
        return str(ROMAN[word])
    return ""

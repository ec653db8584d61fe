"""Parser of attribute names: which word names the quantity, and which words only say where, how or in which unit.

In an English compound the last noun is the head: a `battery voltage` is a voltage, a `temperature
alarm` an alarm. What follows a preposition, participles at the end, indices, units and words like `value` say
less, and so do the outer parts of a path. Where the last part of a path says nothing (`temperature.value`),
the part before it does, or the text beside the value in its list item.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from likewise.semantics.calibration import NameWeights
from likewise.semantics.measures.names.quantities import (
    LIGHT,
    PREPOSITIONS,
    STATES,
    SYMBOLS,
    TRANSPARENT,
    dimension_bits,
    dimensions,
    expanded,
    follows_noun,
    is_short,
    quantity,
)
from likewise.semantics.text.identifiers import split_identifier
from likewise.semantics.text.stop_words import STOP_WORDS
from likewise.units import Unit, find_unit, units_in_name

_PARTS: Final = re.compile(r"\[\]\.?|\.(?=\D)|/")
_STOP: Final = STOP_WORDS["english"]
_NOT_PHYSICAL: Final = quantity("count") | quantity("number") | quantity("version") | quantity("time")
MOST_WORDS: Final = 64  # of one term; longer ones are texts, not names
LONGEST_CONTEXT: Final = 3  # words; longer texts beside a value are messages, not names


class NameWord(msgspec.Struct, frozen=True):
    """A word of a name: folded, as written, and its weight."""

    text: str
    written: str
    weight: float


class NameReading(msgspec.Struct, frozen=True):
    """The reading that a name measures, as bit sets (`quantities`)."""

    quantities: int
    dimensions: int
    unit_dimensions: int
    physical: bool
    state: bool


class ParsedName(msgspec.Struct, frozen=True):
    """The words of a name and the quantities of its head."""

    words: tuple[NameWord, ...]
    cut: tuple[str, ...]
    bits: int
    state: bool
    in_context: bool

    def reading(self, units: Sequence[Unit]) -> NameReading:
        """Return the reading with the units that are certain."""
        return NameReading(
            self.bits,
            dimensions(self.bits),
            dimension_bits(u.dimension for u in units[:1]),
            bool(self.bits & ~_NOT_PHYSICAL),
            self.state,
        )


def parse_name(
    text: str,
    context: Sequence[str],
    cut: Callable[[str], list[str]],
    known: Callable[[str], bool],
    weights: NameWeights,
) -> ParsedName:
    """Parse a name."""
    parts = [part for part in _PARTS.split(text) if part] if " " not in text else [text]
    units = frozenset(w.casefold() for u, _ in units_in_name(text) for w in (*split_identifier(u.symbol), u.symbol))
    written = [cut(part) for part in parts]
    path_parts = [_part(part, units, known, weights) for part in written]
    if not path_parts:
        return ParsedName((), (), 0, False, True)
    main = len(path_parts) - 1
    while main > 0 and not path_parts[main].has_content:
        main -= 1
    context_parts: list[_Part] = []
    in_context = not path_parts[main].has_content or main < len(path_parts) - 1
    if in_context:
        for near in context:
            if find_unit(near) is None and near.isascii() and len(split_identifier(near)) <= LONGEST_CONTEXT:
                part = _part(cut(near), frozenset(), known, weights)
                if part.has_content:
                    context_parts.append(part)
    words: list[NameWord] = []
    for i, part in enumerate(path_parts):
        share = weights.container if i < main else 1.0
        words += [NameWord(w.text, w.written, w.weight * share) for w in part.words]
    head = path_parts[main]
    if context_parts:
        head = context_parts[0]
        words += head.words
    return ParsedName(
        tuple(words[:MOST_WORDS]), tuple(word for part in written for word in part), head.bits, head.state, in_context
    )


def parse_text(
    text: str,
    context: Sequence[str],
    cut: Callable[[str], list[str]],
    known: Callable[[str], bool],
    weights: NameWeights,
) -> ParsedName:
    """Parse the text of a value: its words have equal weight and measure nothing."""
    written = cut(text)
    content_words = [(word, word.casefold()) for word in written if word.casefold() not in _STOP][:MOST_WORDS]
    words = (NameWord(folded, word, _plain_weight(folded, known, weights)) for word, folded in content_words)
    return ParsedName(tuple(words), tuple(written), 0, False, False)


class _Part(msgspec.Struct, frozen=True):
    """One part of a path. `has_content` is false if all its words say little."""

    words: tuple[NameWord, ...]
    bits: int
    state: bool
    has_content: bool


def _part(written: list[str], units: frozenset[str], known: Callable[[str], bool], weights: NameWeights) -> _Part:
    folded: list[tuple[str, str]] = []
    symbol = ""  # of a quantity, written before what it is the quantity of: `V_bat`
    after = -1  # where a preposition ends the words that can be the head
    for at, word in enumerate(written):
        text = word.casefold()
        if text in PREPOSITIONS and folded and after < 0:
            after = len(folded)
        if text in _STOP:
            continue
        if at and text in units:
            folded.append((text, word))
            continue
        if len(written) > 1 and at == 0 and text in SYMBOLS:
            symbol = SYMBOLS[text]
            continue
        more = expanded(text) if weights.short_forms else (text,)
        if (
            weights.short_forms
            and more == (text,)
            and text[0] in SYMBOLS
            and len(text) > 3
            and not known(text)
            and is_short(text[1:])
        ):
            more = (*expanded(text[1:]), SYMBOLS[text[0]])
        folded += [(text, word)] if more == (text,) else [(m, m) for m in more]
    if symbol:
        folded.append((symbol, symbol))
    end = after if after > 0 else len(folded)
    worth = [_word_weight(text, at > 0 and text in units, known, weights) for at, (text, _) in enumerate(folded)]
    head = -1
    for at in range(end - 1, -1, -1):
        if worth[at] >= 1.0 and not follows_noun(folded[at][0]):
            head = at
            break
    if head < 0:  # `state of charge`: what follows says more
        for at in range(len(folded) - 1, -1, -1):
            if worth[at] >= 1.0:
                head = at
                break
    out = []
    bits = 0
    for at, (text, word) in enumerate(folded):
        weight = worth[at] if at == head or worth[at] < 1.0 else weights.modifier
        if at and at != head and follows_noun(text):
            weight = min(weight, weights.light)
        out.append(NameWord(text, word, weight))
    if head >= 0:
        bits = quantity(folded[head][0])
        if any(t in LIGHT for t, _ in folded[head + 1 : end]):
            for text, _ in folded[:end]:
                bits |= quantity(text)
    elif not bits:
        for text, _ in folded:
            bits |= quantity(text)
    state = any(text in STATES for text, _ in folded[max(head, 0) :])
    return _Part(tuple(out), bits, state, head >= 0)


def _word_weight(text: str, is_unit: bool, known: Callable[[str], bool], weights: NameWeights) -> float:
    if is_unit:
        return weights.unit
    if text in TRANSPARENT:
        return weights.transparent
    return weights.light if text in LIGHT else _plain_weight(text, known, weights)


def _plain_weight(text: str, known: Callable[[str], bool], weights: NameWeights) -> float:
    if text.isdigit():
        return weights.digits
    return 1.0 if known(text) else weights.unknown

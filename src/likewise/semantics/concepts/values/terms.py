"""Values with their attribute, prepared for comparison: items, codes, negation, state.

A Boolean, a 0 or a 1 says what its attribute says: `door_open: 1` is "open", `water_leak: false` is "no water leak",
and `contact: true` is "closed", because the contact is made.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from likewise.defaults import NAME_CACHE_ENTRIES
from likewise.model.text import fold
from likewise.semantics.concepts.values.items import LexicalItem, ValueLexicon
from likewise.semantics.concepts.values.knowledge import TRUE_MEANS
from likewise.semantics.concepts.values.parser import Code, ParsedValue, parse_value
from likewise.semantics.concepts.values.states import GENERIC, attribute_states, generic_sign, state_bits
from likewise.semantics.measure import Term
from likewise.semantics.text.identifiers import split_identifier

if TYPE_CHECKING:
    from likewise.semantics.wordnet.relations import WordRelations

ALL: Final = -1  # the place of a negation that is about the whole value


class ValueTerm(NamedTuple):
    """A value prepared for comparison: its items, and each word by itself, since phrases hide opposites (`visible
    light`).

    `yes` and `no` are bits of the pairs of states it is on either side of.
    `awaited`: it is still to come; `done`: the word that says that something has been done.
    `placed`: a generic state whose attribute is known, so that it says no more than the attribute does.
    """

    items: tuple[LexicalItem, ...]
    words: tuple[LexicalItem, ...]
    codes: tuple[Code, ...] = ()
    negated: tuple[int, ...] = ()
    completed: bool = False
    awaited: bool = False
    done: str = ""
    yes: int = 0
    no: int = 0
    is_generic: bool = False
    alphanumerics: str = ""
    initials: str = ""
    acronym: str = ""


class ValueReader:
    """Prepare values, each once."""

    def __init__(self, relations: WordRelations) -> None:
        self._items = ValueLexicon(relations)
        self._completes = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._items.completes)
        self.of = lru_cache(maxsize=NAME_CACHE_ENTRIES)(self._of)

    def _of(self, term: Term) -> ValueTerm:
        text = fold(term.text)
        sign = generic_sign(text)
        if sign and term.context:
            return self._placed(term.context[0], sign)
        yes, no = state_bits(text) if not sign else (GENERIC, 0) if sign > 0 else (0, GENERIC)
        reading = parse_value(term.text)
        return self._value(reading, yes, no, term.text)

    def _value(self, reading: ParsedValue, yes: int, no: int, text: str) -> ValueTerm:
        words = split_identifier(text)
        initials = "".join(word[0] for word in words if word[0].isalpha()) if len(words) > 1 else ""
        upper = text.isalpha() and text.isupper() and 1 < len(text) < 7
        return ValueTerm(
            items=tuple(self._items.of(reading.words)),
            words=tuple(self._items.singly(reading.words)),
            codes=reading.codes,
            negated=reading.negated,
            completed=reading.completed,
            awaited=reading.awaited,
            done=next((w.text for w in reading.words if not reading.awaited and self._completes(w.text)), ""),
            yes=yes,
            no=no,
            alphanumerics="".join(c for c in text.casefold() if c.isalnum()),
            initials=initials.casefold(),
            acronym=text.casefold() if upper else "",
        )

    def _placed(self, attribute: str, sign: int) -> ValueTerm:
        """Return a generic state under an attribute as what the attribute says, or its opposite."""
        words = " ".join(word.casefold() for word in split_identifier(attribute))
        meaning = TRUE_MEANS.get(words, words)
        reading = parse_value(meaning)
        yes, no = attribute_states(meaning)
        if sign < 0:
            yes, no = no, yes
            reading = reading._replace(negated=(*reading.negated, ALL))
        value = self._value(reading, yes, no, meaning)
        return value._replace(is_generic=True, alphanumerics="", acronym="", initials="")

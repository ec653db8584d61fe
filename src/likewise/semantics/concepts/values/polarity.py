"""Names of Booleans that say the opposite: being true of `doorClosed` is being false of `door open`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from likewise.defaults import NAMES_KEPT
from likewise.semantics.concepts.values.items import rests
from likewise.semantics.concepts.values.knowledge import NEGATORS
from likewise.semantics.text.identifiers import words_of

if TYPE_CHECKING:
    from likewise.semantics.wordnet.relations import WordRelations

# The usual name of what is so when the first is not; what a prefix negates (`unlocked`) need not stand here.
POSITIVE: Final = {
    "closed": "open",
    "shut": "open",
    "offline": "online",
    "disabled": "enabled",
    "off": "on",
    "vacant": "occupied",
    "absent": "present",
    "stopped": "running",
    "halted": "running",
    "disconnected": "connected",
}


class Polarity:
    """Turns names of Booleans to the side that is usually asked for.

    >>> from likewise.semantics.library import load_space
    >>> positive = Polarity(load_space().relations).positive
    >>> positive("doorClosed"), positive("no_leak"), positive("unlocked"), positive("motion")
    ('door open', 'leak', 'locked', 'motion')
    """

    def __init__(self, relations: WordRelations) -> None:
        self._knows = relations.knows
        self.positive = lru_cache(maxsize=NAMES_KEPT)(self._positive)

    def _positive(self, name: str) -> str:
        words = [word.casefold() for word in words_of(name)]
        turned = [self._turned(word) for word in words if word not in NEGATORS] or words
        return name if turned == words else " ".join(turned)

    def _turned(self, word: str) -> str:
        known = POSITIVE.get(word)
        return known or next((rest for rest in rests(word) if self._knows(rest)), word)

"""Lists of attribute names (FIWARE's smart data models, what devices expose): kinds that no word list has.

A name that the core takes apart already adds nothing. The others are kinds of their own: that `child lock` is
something known, and not a temperature, is worth knowing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from likewise.semantics.concepts.facets import FacetParser
from likewise.semantics.concepts.inventory import Concept, label_words
from likewise.semantics.concepts.vocabularies.entries import plain_label
from likewise.semantics.measure import Term

_FEWEST: Final = 2  # words of a name that is specific enough
_MOST: Final = 4
_VALUES: Final = {"number": ("number",), "boolean": ("state",), "string": ("text",)}


class UsedName(NamedTuple):
    """An attribute's name, its JSON type, and the models that use it."""

    name: str
    type: str
    models: tuple[str, ...]


def name_concepts(names: Iterable[UsedName], parser: FacetParser, source: str, models: int = 2) -> list[Concept]:
    """Return kinds for names that several models use and that the core does not understand."""
    out: dict[str, Concept] = {}
    for used in names:
        label = plain_label(used.name)
        parts = label_words(label)
        if len(used.models) < models or not _FEWEST <= len(parts) <= _MOST or not label.replace(" ", "").isalpha():
            continue
        facets = parser.facets(Term(label))
        if not facets.kinds and not facets.role and all(parser.has_word(part) for part in parts):
            out.setdefault(label, Concept("kind", label, values=_VALUES.get(used.type, ()), source=source))
    return list(out.values())

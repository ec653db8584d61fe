"""Brick, a vocabulary of buildings (https://brickschema.org, BSD-3-Clause): substances, places and equipment.

Brick's siblings exclude each other: return air is not outside air, a chiller not a boiler. A substance's own words
are what its label has beside that of what is broader, so `Chilled Water` gives `chilled` among waters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from likewise.semantics.concepts.inventory import Concept, Inventory, label_words
from likewise.semantics.concepts.vocabularies.entries import VocabularyEntry

SOURCE: Final = "Brick 1.5, BSD-3-Clause"
NAMESPACE: Final = "https://brickschema.org/schema/Brick#"
_SUBSTANCE: Final = f"{NAMESPACE}Substance"
_ROOTS: Final = (f"{NAMESPACE}Location", f"{NAMESPACE}Equipment")
_LONGEST: Final = 3


def brick_concepts(read: Sequence[VocabularyEntry], core: Inventory) -> list[Concept]:
    """Return Brick's qualifiers, each excluding its siblings. A label of the core is only added to its group."""
    by_iri = {entry.iri: entry for entry in read if not entry.deprecated}
    out = []
    for entry in by_iri.values():
        above = next((by_iri[iri] for iri in entry.broader if iri in by_iri and iri != entry.iri), None)
        if above is None:
            continue
        if _SUBSTANCE in entry.types:
            distinct = " ".join(w for w in entry.name.split() if w not in above.name.split())
            out += _qualifier(distinct, f"brick {above.name}", core)
        elif _below(entry, by_iri):
            equal = [entry.name, *(by_iri[iri].name for iri in entry.same if iri in by_iri)]
            if entry.name != max(equal, key=len):
                continue  # the longest of several names has the others as labels
            if any(not all(core.has_label(w) for w in label_words(name)) for name in equal):
                out += _qualifier(entry.name, f"brick {above.name}", core, [n for n in equal if n != entry.name])
    return out


def _qualifier(label: str, group: str, core: Inventory, others: Sequence[str] = ()) -> list[Concept]:
    if not label or (len(label.split()) > _LONGEST and not others) or not label.replace(" ", "").isalpha():
        return []
    known = core.qualifier_names(label)
    if known:
        return [Concept("qualifier", name, apart=(group,), source=SOURCE) for name in known[:1]]
    parts = label_words(label)
    if others:
        fresh = tuple(o for o in others if label_words(o) not in core.labels and label_words(o) not in core.means)
        return [Concept("qualifier", label, fresh, apart=(group,), source=SOURCE)] if fresh else []
    kinds = any(c.sort in ("kind", "role") for part in parts for c in core.labels.get((part,), ()))
    is_known = kinds or parts in core.labels or parts in core.means
    return [] if is_known else [Concept("qualifier", label, apart=(group,), source=SOURCE)]


def _below(entry: VocabularyEntry, by_iri: dict[str, VocabularyEntry]) -> bool:
    """Return whether an entry is a location or a piece of equipment."""
    visited: set[str] = set()
    waiting = list(entry.broader)
    while waiting:
        iri = waiting.pop()
        if iri in _ROOTS:
            return True
        if iri not in visited and iri in by_iri:
            visited.add(iri)
            waiting += by_iri[iri].broader
    return False

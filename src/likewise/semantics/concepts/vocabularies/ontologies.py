"""SKOS concepts, and classes and properties of OWL or RDFS, as concepts of an inventory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from likewise.semantics.concepts.inventory import LONGEST_LABEL, Concept, Sort
from likewise.semantics.concepts.vocabularies.entries import VocabularyEntry, plain_label


def ontology_concepts(read: Sequence[VocabularyEntry], source: str, sort: Sort = "kind") -> list[Concept]:
    """Return every entry as a concept. Alternative labels, and those of equal entries, are its labels.

    >>> frost = VocabularyEntry("x:f", ("Frost Alarm",), ("ice warning",), broader=("x:a",))
    >>> ontology_concepts([VocabularyEntry("x:a", ("Alarm",)), frost], "mine")[1].broader
    ('alarm',)
    """
    by_iri = {entry.iri: entry for entry in read}
    out = []
    for entry in read:
        if not (entry.labels or entry.other_labels or entry.broader or entry.types) or not is_short_label(entry.name):
            continue
        equal = [by_iri[iri] for iri in entry.same if iri in by_iri]
        labels = _labels((*entry.labels, *entry.other_labels, *(label for e in equal for label in (*e.labels, e.name))))
        above = [by_iri[iri].name for iri in entry.broader if iri in by_iri]
        out.append(
            Concept(
                sort,
                entry.name,
                tuple(label for label in labels if label != entry.name),
                broader=tuple(dict.fromkeys(name for name in above if name != entry.name and is_short_label(name))),
                source=source,
            )
        )
    return out


def properties(read: Sequence[VocabularyEntry]) -> list[VocabularyEntry]:
    """Return the entries below the ontology's class of properties (SAREF, SOSA), or all if it has no such class.

    >>> wind = VocabularyEntry("x/Wind", broader=("x/Property",))
    >>> read = [VocabularyEntry("x/Property"), wind, VocabularyEntry("x/Device", ("Device",))]
    >>> [entry.name for entry in properties(read)]
    ['wind']
    """
    by_iri = {entry.iri: entry for entry in read}
    roots = {iri for iri in by_iri if re.split(r"[/#]", iri)[-1] in ("Property", "ObservableProperty")}

    def below(entry: VocabularyEntry, passed: frozenset[str]) -> bool:
        above = [iri for iri in entry.broader if iri not in passed]
        return any(i in roots or (i in by_iri and below(by_iri[i], passed | {i})) for i in above)

    return [entry for entry in read if below(entry, frozenset({entry.iri}))] if roots else list(read)


def is_short_label(label: str) -> bool:
    """Return whether a label is a name of a few words."""
    return 0 < len(label.split()) <= LONGEST_LABEL and "|" not in label


def _labels(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for label in map(plain_label, texts) if is_short_label(label)))

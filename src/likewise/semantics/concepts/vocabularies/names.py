"""Names in vocabularies as rows of the sort `name`: synonyms, and names of different things side by side.

In an ontology equal entries are one thing, and those with a common broader one are named side by side. In a list of
attributes those of one model are: no model has one thing under two names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from likewise.semantics.concepts.inventory import Concept, label_words
from likewise.semantics.concepts.vocabularies.entries import VocabularyEntry, plain_label
from likewise.semantics.concepts.vocabularies.plain_names import UsedName

_MOST: Final = 6  # words of a name


def ontology_names(read: Sequence[VocabularyEntry], source: str) -> list[Concept]:
    """Return the names of an ontology's entries; equal entries are one row.

    >>> supply = VocabularyEntry("x:s", ("Supply Air",), broader=("x:a",), same=("x:d",))
    >>> entries = [supply, VocabularyEntry("x:d", ("Discharge Air",)), VocabularyEntry("x:a", ("Air",))]
    >>> [(c.name, c.labels, c.apart) for c in ontology_names(entries, "mine")]
    [('supply air', ('discharge air',), ('air',)), ('air', (), ())]
    """
    by_iri = {entry.iri: entry for entry in read if not entry.deprecated and (entry.labels or entry.types)}
    out: list[Concept] = []
    done: set[str] = set()
    for entry in by_iri.values():
        if entry.iri in done:
            continue
        equal = [entry, *(by_iri[iri] for iri in entry.same if iri in by_iri)]
        done.update(each.iri for each in equal)
        labels = [
            label for each in equal for label in (each.name, *map(plain_label, each.other_labels)) if _fits(label)
        ]
        above = dict.fromkeys(by_iri[iri].name for each in equal for iri in each.broader if iri in by_iri)
        if labels:
            first, *others = dict.fromkeys(labels)
            out.append(Concept("name", first, tuple(others), apart=tuple(above), source=source))
    return out


def model_names(names: Iterable[UsedName], source: str) -> list[Concept]:
    """Return the attribute names that differ from another one of the same model in one word.

    >>> used = [UsedName(name, "number", ("Road",)) for name in ("laneCount", "busCount", "busSpeedLimit")]
    >>> [(c.name, c.apart) for c in model_names(used, "mine")]
    [('bus count', ('Road',)), ('lane count', ('Road',))]
    """
    models: dict[str, set[str]] = {}
    for used in names:
        label = plain_label(used.name)
        if _fits(label) and " " in label:
            models.setdefault(label, set()).update(used.models)
    by_context: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for label, of in models.items():
        for before, after in _contexts(label_words(label)):
            for model in of:
                by_context.setdefault((model, before, after), []).append(label)
    models_of_label: dict[str, set[str]] = {}
    for (model, _, _), labels in by_context.items():
        for label in labels if len(labels) > 1 else ():
            models_of_label.setdefault(label, set()).add(model)
    return [
        Concept("name", label, apart=tuple(sorted(of)), source=source) for label, of in sorted(models_of_label.items())
    ]


def _contexts(parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for at in range(len(parts)):
        yield parts[:at], parts[at + 1 :]


def _fits(label: str) -> bool:
    return 0 < len(label.split()) <= _MOST and label.replace(" ", "").replace("-", "").isalpha()

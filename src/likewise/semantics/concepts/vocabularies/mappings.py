"""SSSOM: simple standard for sharing ontological mappings, a table of what means the same in two vocabularies.

https://mapping-commons.github.io/sssom/ says what its columns mean; lines that begin with `#` are about the set.
"""

from __future__ import annotations

import csv
from typing import Final

from likewise.errors import FormatError
from likewise.semantics.concepts.inventory import Concept
from likewise.semantics.concepts.vocabularies.entries import plain_label
from likewise.semantics.concepts.vocabularies.ontologies import is_short_label

_SAME: Final = frozenset({"exactMatch", "closeMatch", "equivalentClass", "equivalentProperty", "sameAs"})
_BROADER: Final = frozenset({"broadMatch", "subClassOf", "subPropertyOf"})
_NARROWER: Final = frozenset({"narrowMatch"})
_IGNORED: Final = frozenset({"relatedMatch", "crossSpeciesExactMatch"})


def mapped_concepts(text: str, source: str) -> list[Concept]:
    """Return the mappings of a table as kinds. The object is the concept, the subject a label or a kind of it.

    >>> table = "subject_label\\tpredicate_id\\tobject_label\\nsupply temp\\tskos:exactMatch\\tSupply Temperature"
    >>> mapped_concepts(table, "mine")
    [Concept(sort='kind', name='supply temperature', labels=('supply temp',), ... source='mine')]
    """
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    rows = csv.DictReader((line for _, line in numbered), delimiter="\t")
    needed = {"subject_label", "predicate_id", "object_label"}
    if not needed <= set(rows.fieldnames or ()):
        raise FormatError(f"{source}: expected the columns {', '.join(sorted(needed))}, found {rows.fieldnames}")
    out = []
    for (number, _), row in zip(numbered[1:], rows, strict=True):
        where = f"{source}, line {number}"
        subject, object = plain_label(row["subject_label"] or ""), plain_label(row["object_label"] or "")
        predicate = (row["predicate_id"] or "").rpartition(":")[2].rpartition("#")[2].rpartition("/")[2]
        for side, label in (("subject_label", subject), ("object_label", object)):
            if not is_short_label(label):
                raise FormatError(f"{where}: expected a name of one to eight words as {side}, found {label!r}")
        if predicate in _SAME:
            out.append(Concept("kind", object, (subject,) if subject != object else (), source=source))
        elif predicate in _BROADER:
            out += [Concept("kind", object, source=source), Concept("kind", subject, broader=(object,), source=source)]
        elif predicate in _NARROWER:
            out += [Concept("kind", subject, source=source), Concept("kind", object, broader=(subject,), source=source)]
        elif predicate not in _IGNORED:
            known = ", ".join(sorted(_SAME | _BROADER | _NARROWER))
            raise FormatError(f"{where}: expected a predicate such as {known}, found {row['predicate_id']!r}")
    return out

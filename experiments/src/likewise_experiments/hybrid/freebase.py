"""Freebase's dumps as events: names in place of its machine ids.

Freebase names things by ids (`m.0abc`, `g.11b`) and says what they are called in `type.object.name`. Its property
ids have dots (`time.event.locations`), of which the matcher reads the last part (`matching.rdf_terms`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from likewise.formats.rdf.reader import event_from_triples
from likewise.matching.reference.statement_terms import FREEBASE, is_freebase_id
from likewise.model import Event, Triple

NAME = f"<{FREEBASE}type.object.name>"


def is_freebase(triples: Sequence[Triple]) -> bool:
    """Whether some properties are Freebase's.

    >>> is_freebase([Triple("<x:a>", NAME, '"Galway"@en')])
    True
    """
    return any(t.predicate.startswith(f"<{FREEBASE}") for t in triples)


def named(triples: Sequence[Triple]) -> Iterator[Triple]:
    """The triples with English names for ids, where the text has them; ids without a name stay.

    >>> a, b = f"<{FREEBASE}m.01>", f"<{FREEBASE}m.02>"
    >>> found = list(named([Triple(a, f"<{FREEBASE}time.event.locations>", b), Triple(b, NAME, '"Galway"@en')]))
    >>> found[0].object
    '"Galway"@en'
    """
    names = {t.subject: t.object for t in triples if t.predicate == NAME and t.object.endswith("@en")}
    for t in triples:
        known = names.get(t.object) if is_freebase_id(t.object) else None
        yield t if known is None else Triple(t.subject, t.predicate, known)


def freebase_events(triples: Sequence[Triple]) -> list[Event]:
    """One event for each subject that says more than what it is called."""
    subjects: dict[str, list[Triple]] = {}
    for triple in named(triples):
        subjects.setdefault(triple.subject, []).append(triple)
    return [
        event_from_triples(tuple(own), id=subject[1:-1])
        for subject, own in subjects.items()
        if any(t.predicate != NAME for t in own)
    ]

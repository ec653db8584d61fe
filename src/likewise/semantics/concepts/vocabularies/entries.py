"""Entries of an RDF vocabulary, collected from its statements."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from likewise.semantics.text.identifiers import split_identifier

_RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
_SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
_OWL: Final = "http://www.w3.org/2002/07/owl#"
TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
# Which statements count, and as what.
MEANING: Final = {
    f"{_SKOS}prefLabel": "labels",
    f"{_RDFS}label": "labels",
    f"{_SKOS}altLabel": "other_labels",
    f"{_SKOS}broader": "broader",
    f"{_RDFS}subClassOf": "broader",
    f"{_RDFS}subPropertyOf": "broader",
    f"{_OWL}equivalentClass": "same",
    f"{_OWL}equivalentProperty": "same",
    f"{_OWL}sameAs": "same",
    f"{_SKOS}exactMatch": "same",
    "http://qudt.org/schema/qudt/exactMatch": "same",
    "https://brickschema.org/schema/Brick#aliasOf": "same",
    "http://qudt.org/schema/qudt/applicableUnit": "units",
    f"{_OWL}deprecated": "deprecated",
    TYPE: "types",
}
_LITERAL: Final = re.compile(r'"(.*)"(?:@([A-Za-z-]+)|\^\^<[^>]*>)?', re.DOTALL)


class VocabularyEntry(msgspec.Struct, frozen=True):
    """One IRI with its English labels, types, broader and equal entries, and the IRIs of its units."""

    iri: str
    labels: tuple[str, ...] = ()
    other_labels: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    deprecated: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the first label in plain words, else the last part of the IRI.

        >>> VocabularyEntry("https://brickschema.org/schema/Brick#Outside_Air").name
        'outside air'
        """
        return plain_label(self.labels[0] if self.labels else re.split(r"[/#]", self.iri)[-1])


def plain_label(text: str) -> str:
    """Return a label or an identifier as folded words separated by blanks.

    >>> plain_label("relativeHumidity"), plain_label("Supply Air"), plain_label("PM2.5 level")
    ('relative humidity', 'supply air', 'pm2.5 level')
    """
    pieces = [piece for piece in re.split(r"[\s_]+", text) if piece]
    cut = [" ".join(split_identifier(piece)) if piece.isalpha() else piece for piece in pieces]
    return " ".join(cut).casefold()


def entries(statements: Iterable[tuple[str, str, str]]) -> list[VocabularyEntry]:
    """Collect the entries of N-Triples statements, sorted by IRI. Labels in other languages are left out."""
    fields_by_iri: dict[str, dict[str, list[str]]] = {}
    for subject, predicate, object in statements:
        field = MEANING.get(predicate[1:-1])
        if field is None or not subject.startswith("<"):
            continue
        value = _english_text(object)
        if value is not None:
            values = fields_by_iri.setdefault(subject[1:-1], {}).setdefault(field, [])
            if value not in values:
                values.append(value)
    return [
        VocabularyEntry(iri, **{f: tuple(sorted(v)) for f, v in fields.items()})
        for iri, fields in sorted(fields_by_iri.items())
    ]


def _english_text(term: str) -> str | None:
    """Return an IRI, or a literal in English or without a language; else None."""
    if term.startswith("<"):
        return term[1:-1]
    literal = _LITERAL.fullmatch(term)
    if literal is None or (literal.group(2) or "en").split("-")[0].lower() != "en":
        return None
    return literal.group(1).replace('\\"', '"')

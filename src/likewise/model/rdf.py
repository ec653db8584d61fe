"""RDF triples and patterns. A term is its canonical N-Triples text, a variable starts with `?`.

Terms are compared as terms (SPARQL's simple entailment): `"5"^^<...integer>` is not `"5.0"^^<...decimal>`.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

_ENCODED: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


class Triple(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A statement; each part is an N-Triples term such as `<http://e.org/a>`, `_:b0` or `"text"@en`."""

    subject: str
    predicate: str
    object: str


class TriplePattern(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, array_like=True):
    """A statement in which any part may be a variable.

    >>> TriplePattern("?e", RDF_TYPE, "<http://e.org/Event>").variables()
    ('?e',)
    """

    subject: str
    predicate: str
    object: str

    def variables(self) -> tuple[str, ...]:
        """Return the distinct variables, in order."""
        parts = (self.subject, self.predicate, self.object)
        return tuple(dict.fromkeys(part for part in parts if is_variable(part)))


def is_variable(term: str) -> bool:
    """Return whether a part of a pattern is a variable."""
    return term.startswith("?")


def last_part(term: str) -> str:
    """Return what follows the last `/`, `#` or `:` of an IRI, percent-decoded, or a blank node's name.

    >>> last_part("<http://dbpedia.org/property/home%20team>"), last_part("<urn:x:speed>"), last_part("<http://e.org/a/>")
    ('home team', 'speed', 'a')
    """
    iri = term[1:-1] if term.startswith("<") else term[2:]
    parts = re.split(r"[/#:]", iri.rstrip("/#:"))
    return _ENCODED.sub(_decoded, parts[-1]).strip()


def _decoded(escape: re.Match[str]) -> str:
    return bytes.fromhex(escape[0].replace("%", "")).decode(errors="replace")

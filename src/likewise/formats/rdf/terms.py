"""RDF terms as canonical N-Triples text, the form in which the model compares them.

Most terms are canonical already, and a pattern tells; the others go through pyoxigraph, which decodes
escapes, lowers language tags and drops the implied type of plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from likewise.errors import FormatError
from likewise.model.rdf import Triple, TriplePattern, is_variable

_IRI: Final = r"<[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]*>"
_BLANK: Final = r"_:[A-Za-z0-9_][A-Za-z0-9_-]*"
_XSD_STRING: Final = "<http://www.w3.org/2001/XMLSchema#string>"
_NODE: Final = re.compile(f"{_IRI}|{_BLANK}")
# Only what no canonical form would write otherwise: no escapes, no control characters, lower-case tags.
_TYPED: Final = rf"\^\^(?!{re.escape(_XSD_STRING)}){_IRI}"
_LITERAL: Final = re.compile(rf'"[^"\\\x00-\x1f\x7f]*"(?:@[a-z]{{1,8}}(?:-[a-z0-9]{{1,8}})*|{_TYPED})?')
_VARIABLE: Final = re.compile(r"\?\w+")


def canonical_term(term: str) -> str:
    """Return the canonical text of an IRI, blank node or literal. Raises `FormatError` for anything else.

    >>> canonical_term('<http://e.org/a>'), canonical_term('"caf\\\\u00e9"@EN')
    ('<http://e.org/a>', '"café"@en')
    """
    if _NODE.fullmatch(term) or _LITERAL.fullmatch(term):
        return term
    from likewise.formats.rdf.reader import parse_triples

    try:
        triples = list(parse_triples(f"<x:s> <x:p> {term} .", "nt")) if "\n" not in term and "<<" not in term else []
    except FormatError:
        triples = []
    if len(triples) != 1 or triples[0].subject != "<x:s>":
        raise FormatError(f'{term[:60]!r} is no RDF term; write it as N-Triples: <iri>, _:name, "text" or "text"@en')
    return triples[0].object


def canonical_triples(triples: Iterable[Triple]) -> tuple[Triple, ...]:
    """Return the triples with canonical terms; each term must be where RDF allows it.

    >>> canonical_triples([Triple("_:a", "<http://e.org/p>", '"5"')])[0].object
    '"5"'
    """
    return tuple(Triple(*_checked(t.subject, t.predicate, t.object)) for t in triples)


def canonical_patterns(patterns: Iterable[TriplePattern]) -> tuple[TriplePattern, ...]:
    """Return patterns with canonical terms; any part may be a variable `?name`."""
    return tuple(TriplePattern(*_checked(p.subject, p.predicate, p.object, variables=True)) for p in patterns)


def _checked(subject: str, predicate: str, object: str, *, variables: bool = False) -> tuple[str, str, str]:
    parts = []
    for part in (subject, predicate, object):
        if variables and is_variable(part):
            if _VARIABLE.fullmatch(part) is None:
                raise FormatError(f"{part[:60]!r} is no variable; write it like ?name")
            parts.append(part)
        else:
            parts.append(canonical_term(part))
    if parts[0].startswith('"'):
        raise FormatError(f"the subject {parts[0][:60]} is a literal; a subject is an IRI or a blank node")
    if not parts[1].startswith("<") and not (variables and is_variable(parts[1])):
        raise FormatError(f"the predicate {parts[1][:60]} is no IRI; write it like <http://example.org/p>")
    return parts[0], parts[1], parts[2]

"""Decoder of RDF: one event per subject (sources.md H and L).

Text in N-Triples, N-Quads, Turtle, TriG, RDF/XML or JSON-LD becomes triples of canonical terms. The
triples of one subject become one event: the graph keeps them as they are, and tuples derived from them
let conditions be asked of it: the attribute is the last part of the predicate's IRI, the value a
literal's text, number or Boolean, or the last part of an IRI. Named graphs are joined into one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from typing import Final

from likewise.defaults import MAX_DOCUMENT_BYTES, MAX_TERM_LENGTH
from likewise.errors import FormatError, LikewiseError
from likewise.extras import require
from likewise.formats.rdf.safety import check_depth
from likewise.formats.strict_json import as_bytes
from likewise.model.event import Event, EventTuple
from likewise.model.rdf import RDF_TYPE, Triple, last_part

FORMATS: Final = {
    "nt": "N_TRIPLES",
    "nq": "N_QUADS",
    "ttl": "TURTLE",
    "trig": "TRIG",
    "rdf": "RDF_XML",
    "jsonld": "JSON_LD",
}
_TITLES: Final = {
    "nt": "N-Triples",
    "nq": "N-Quads",
    "ttl": "Turtle",
    "trig": "TriG",
    "rdf": "RDF/XML",
    "jsonld": "JSON-LD",
}
_PLACE: Final = re.compile(r"^Parser error [^:]*: | \(line \d+\)$")  # pyoxigraph's, in many forms
_ALIASES: Final = {
    "n-triples": "nt",
    "ntriples": "nt",
    "application/n-triples": "nt",
    "n-quads": "nq",
    "nquads": "nq",
    "application/n-quads": "nq",
    "turtle": "ttl",
    "n3": "ttl",
    "text/turtle": "ttl",
    "application/trig": "trig",
    "rdf/xml": "rdf",
    "rdfxml": "rdf",
    "xml": "rdf",
    "owl": "rdf",
    "application/rdf+xml": "rdf",
    "json-ld": "jsonld",
    "application/ld+json": "jsonld",
}

_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_NUMERIC: Final = frozenset(
    {
        _XSD + name
        for name in (
            "integer",
            "decimal",
            "double",
            "float",
            "long",
            "int",
            "short",
            "byte",
            "nonNegativeInteger",
            "positiveInteger",
            "nonPositiveInteger",
            "negativeInteger",
            "unsignedLong",
            "unsignedInt",
            "unsignedShort",
            "unsignedByte",
        )
    }
)
_LITERAL: Final = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([\w-]+)|\^\^<([^>]*)>)?', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def parse_triples(data: bytes | str, format: str, *, base: str | None = None) -> Iterator[Triple]:
    """Parse the triples of an RDF text, in text order, with canonical N-Triples terms.

    `format` is one of nt, nq, ttl, trig, rdf, jsonld, or a usual name or media type of these.

    >>> list(parse_triples('<http://e.org/a> <http://e.org/p> 5 .', "ttl"))[0].object
    '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    name = _ALIASES.get(format.lower(), format.lower())
    if name not in FORMATS:
        raise FormatError(f"{format!r} is no RDF format that is read here; use one of {', '.join(FORMATS)}")
    encoded = as_bytes(data, "RDF document", MAX_DOCUMENT_BYTES)
    try:
        text = encoded.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = encoded.count(b"\n", 0, error.start) + 1
        raise FormatError(f"line {line} of the RDF document is not UTF-8 ({error.reason}); convert it first") from None
    check_depth(text, name)
    require("rdf", "reading RDF")
    import pyoxigraph

    try:
        for quad in pyoxigraph.parse(text, format=getattr(pyoxigraph.RdfFormat, FORMATS[name]), base_iri=base):
            if isinstance(quad.object, pyoxigraph.Triple):
                raise FormatError("the RDF document states something about a triple; only plain triples are read here")
            yield Triple(str(quad.subject), str(quad.predicate), str(quad.object))
    except (SyntaxError, ValueError) as error:
        if "LoadDocumentCallback" in str(error):
            raise FormatError(
                "the JSON-LD document names a context elsewhere, and none is ever fetched; write it into the document"
            ) from None
        raise FormatError(f"the document is not {_TITLES[name]}: {_parser_message(error)}") from None


def _parser_message(error: SyntaxError | ValueError) -> str:
    """Return the parser's message, after its position."""
    message = _PLACE.sub("", " ".join(str(error).split()))
    if not isinstance(error, SyntaxError) or error.lineno is None:
        return message
    return f"line {error.lineno}, column {error.offset}: {message}"


def events_from_rdf(
    data: bytes | str,
    format: str,
    *,
    classes: Collection[str] | None = None,
    by_subject: bool = True,
    base: str | None = None,
    on_error: Callable[[LikewiseError], None] | None = None,
) -> Iterator[Event]:
    """Decode the events of an RDF text, in the order of their subjects' first occurrence.

    One event for each subject; `classes` (IRIs, or their last parts) keeps the subjects of these types
    only. With `by_subject=False` the whole text is one event. An event's id is its subject, without
    the angle brackets; a blank node has no name outside its text, so such an event has no id. A subject
    that is no event (it passes a limit) is handed to `on_error` if that is given, else raised.

    Args:
        data: The RDF text.
        format: Name of the serialisation.
        classes: IRIs of classes whose instances become events. Default: every subject.
        by_subject: Whether each subject is an event; otherwise the whole text is one.
        base: Base of relative IRIs.
        on_error: Called with the error of an invalid event, which is skipped. Default: the error is raised.

    >>> text = '<http://e.org/m1> a <http://e.org/Match> ; <http://e.org/homeTeam> <http://e.org/FC_Galway> .'
    >>> event = next(events_from_rdf(text, "ttl"))
    >>> event.id, [(t.attribute, t.value) for t in event.tuples]
    ('http://e.org/m1', [('type', 'Match'), ('homeTeam', 'FC_Galway')])
    """
    triples = dict.fromkeys(parse_triples(data, format, base=base))  # a graph is a set: each triple once
    if not by_subject:
        if triples:
            yield event_from_triples(tuple(triples))
        return
    subjects: dict[str, list[Triple]] = {}
    for triple in triples:
        subjects.setdefault(triple.subject, []).append(triple)
    for subject, statements in subjects.items():
        if classes is not None and not any(
            t.predicate == RDF_TYPE and _is_one_of(t.object, classes) for t in statements
        ):
            continue
        try:
            decoded = event_from_triples(tuple(statements), id=subject[1:-1] if subject.startswith("<") else None)
        except LikewiseError as error:
            error.args = (f"{subject[:200]}: {error}",)
            if on_error is None:
                raise
            on_error(error)
        else:
            yield decoded


def _is_one_of(term: str, classes: Collection[str]) -> bool:
    return term in classes or term[1:-1] in classes or last_part(term) in classes


def event_from_triples(graph: tuple[Triple, ...], *, id: str | None = None) -> Event:
    """Create one event from triples, with the tuples that follow from them.

    A value longer than a term may be has no tuple; it stays in the graph.

    >>> event_from_triples((Triple("<http://e.org/a>", "<http://e.org/p#temp>", '"21.5"'),)).tuples[0].value
    '21.5'
    """
    tuples = []
    for triple in graph:
        attribute, value = last_part(triple.predicate), _value(triple.object)
        longest = max(len(attribute), len(value) if isinstance(value, str) else 0)
        if attribute and longest <= MAX_TERM_LENGTH:
            tuples.append(EventTuple(attribute, value))
    return Event(tuple(tuples), id=id, graph=graph)


def _value(term: str) -> str | float | bool | int:
    hit = _LITERAL.fullmatch(term)
    if hit is None:
        return last_part(term)
    text, kind = _unescape(hit[1]), hit[3]
    if kind == _XSD + "boolean" and text in ("true", "false", "1", "0"):
        return text in ("true", "1")
    if kind in _NUMERIC:
        try:
            number = int(text) if re.fullmatch(r"[+-]?\d{1,300}", text) else float(text)
            if math.isfinite(number):
                return number
        except ValueError:
            return text  # ill-typed, as RDF allows
    return text


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else _ESCAPED.get(m[3], m[3]), text)

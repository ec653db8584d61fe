"""Type hierarchies from RDF: rdfs:subClassOf and skos:broader between names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from likewise.errors import ArtefactMissing, FormatError
from likewise.formats.rdf.reader import parse_triples

WIDER: Final = frozenset(
    {
        "<http://www.w3.org/2000/01/rdf-schema#subClassOf>",
        "<http://www.w3.org/2004/02/skos/core#broader>",
        "<http://www.w3.org/2004/02/skos/core#broaderTransitive>",
    }
)


def types_from_rdf(data: bytes | str, format: str) -> list[tuple[str, str]]:
    """Return pairs of a type and a wider one, in text order; nameless types (restrictions) are left out.

    >>> types_from_rdf("@prefix e: <http://e.org/> . @prefix s: <http://www.w3.org/2000/01/rdf-schema#> ."
    ...     "e:Thermometer s:subClassOf e:Sensor, [ a e:Restriction ] .", "ttl")
    [('http://e.org/Thermometer', 'http://e.org/Sensor')]
    """
    return [
        (triple.subject[1:-1], triple.object[1:-1])
        for triple in parse_triples(data, format)
        if triple.predicate in WIDER and triple.subject.startswith("<") and triple.object.startswith("<")
    ]


def types_from_file(path: Path) -> list[tuple[str, str]]:
    """Read pairs from a file; its extension tells the format."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ArtefactMissing(f"the types {path} cannot be read ({error.strerror}); name another file") from None
    pairs = types_from_rdf(data, path.suffix.removeprefix("."))
    if not pairs:
        raise FormatError(f"{path} declares no types: it holds neither rdfs:subClassOf nor skos:broader")
    return pairs

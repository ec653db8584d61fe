"""RDF terms of graph patterns, to and from canonical N-Triples text (`model/rdf.py`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from likewise.language.errors import GrammarError
from likewise.language.literals import resolve_escapes, unquote
from likewise.language.prefixes import PREFIXES
from likewise.model.rdf import RDF_TYPE

XSD: Final = PREFIXES["xsd"]

_ABSOLUTE = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*')
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_TO_ESCAPE = re.compile(r'[\x00-\x1f"\\\x7f]')
_NAMED_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b", "\f": r"\f", '"': r"\"", "\\": r"\\"}
_STRING = re.compile(r"""(["'])(?:(?!\1)[^\\]|\\.)*\1""")
_LITERAL = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(?:@(.+)|\^\^<(.+)>)?', re.DOTALL)
_SIMPLE_LOCAL = re.compile(r"[^\W\d_](?:[\w-]*\w)?")


def quote(text: str) -> str:
    """Return text in double quotes, escaped as canonical N-Triples (and our language) requires.

    >>> print(quote('say "hi"'), quote("a" + chr(10) + chr(0)))
    "say \\"hi\\"" "a\\n\\u0000"
    """
    return f'"{_TO_ESCAPE.sub(_escape, text)}"'


def _escape(hit: re.Match[str]) -> str:
    return _NAMED_ESCAPES.get(hit.group()) or f"\\u{ord(hit.group()):04X}"


def read_term(kind: str, token: str, prefixes: Mapping[str, str]) -> str:
    """Return the canonical text of a term; `kind` is its terminal in the grammar.

    >>> read_term("PREFIXED", "dbo:Event", PREFIXES), read_term("NUMERAL", "5", PREFIXES)
    ('<http://dbpedia.org/ontology/Event>', '"5"^^<http://www.w3.org/2001/XMLSchema#integer>')
    """
    match kind:
        case "VARIABLE":
            return "?" + token[1:]
        case "IRI":
            return read_iri(token)
        case "PREFIXED":
            return _expand(token, prefixes)
        case "A":
            return RDF_TYPE
        case "NUMERAL":
            datatype = "double" if "e" in token.lower() else "decimal" if "." in token else "integer"
            return f'"{token}"^^<{XSD}{datatype}>'
        case "TRUTH":
            return f'"{token}"^^<{XSD}boolean>'
        case _:
            return _literal(token, prefixes)


def read_iri(token: str) -> str:
    """Return an IRI in angle brackets with its escapes resolved; a relative one is refused."""
    iri = resolve_escapes(token[1:-1]) if "\\" in token else token[1:-1]
    if _ABSOLUTE.fullmatch(iri) is None:
        raise GrammarError(f"<{iri[:80]}> is no absolute IRI", expected="it in full, as in <http://example.org/a>")
    return f"<{iri}>"


def _expand(token: str, prefixes: Mapping[str, str]) -> str:
    prefix, _, local = token.partition(":")
    namespace = prefixes.get(prefix)
    if namespace is None:
        short = prefix[:40]
        raise GrammarError(
            f"the prefix {short!r} is not declared",
            expected=f"`PREFIX {short}: <...>` in front, the IRI in full, or one of {', '.join(PREFIXES)}",
        )
    return f"<{namespace}{_LOCAL_ESCAPE.sub(lambda hit: hit.group(1), local)}>"


def _literal(token: str, prefixes: Mapping[str, str]) -> str:
    quoted = _STRING.match(token)
    assert quoted is not None  # the grammar lets nothing else through
    text, rest = quote(unquote(token[: quoted.end()])), token[quoted.end() :]
    if rest.startswith("@"):
        return text + rest.lower()  # language tags are compared without case (RDF 1.1 Concepts, 3.3)
    if not rest:
        return text
    datatype = rest[2:]
    iri = read_iri(datatype) if datatype[0] == "<" else _expand(datatype, prefixes)
    return text if iri == f"<{XSD}string>" else f"{text}^^{iri}"


def term_text(term: str) -> str:
    """Print a term, abbreviated where a shipped prefix fits.

    >>> term_text("<http://dbpedia.org/ontology/Event>"), term_text("?e"), term_text("<http://e.org/a>")
    ('dbo:Event', '?e', '<http://e.org/a>')
    >>> print(term_text('"5"^^<http://www.w3.org/2001/XMLSchema#integer>'))
    "5"^^xsd:integer
    """
    if term.startswith("<"):
        return _shorten(term)
    hit = _LITERAL.fullmatch(term)
    if hit is not None and hit.group(3):
        return f"{hit.group(1)}^^{_shorten(f'<{hit.group(3)}>')}"
    return term


def _shorten(iri: str) -> str:
    inner = iri[1:-1]
    cut = max(inner.rfind("/"), inner.rfind("#")) + 1
    prefix = _BY_NAMESPACE.get(inner[:cut])
    return f"{prefix}:{inner[cut:]}" if prefix and _SIMPLE_LOCAL.fullmatch(inner[cut:]) else iri


_BY_NAMESPACE: Final = {namespace: prefix for prefix, namespace in reversed(PREFIXES.items())}

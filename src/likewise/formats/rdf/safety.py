"""Checks against RDF texts that would exhaust their parser: endless nesting, entity expansion.

pyoxigraph's JSON-LD and triple-term parsers descend by recursion and exhaust the C stack on deep
nesting; RDF/XML may declare entities that expand to gigabytes. Both are refused here, before parsing.
"""

from __future__ import annotations

import re
from typing import Final
from xml.parsers import expat

import msgspec

from likewise.defaults import MAX_DEPTH, MAX_TERM_LENGTH
from likewise.errors import FormatError, LimitExceeded
from likewise.formats.strict_json import check_keys, decode

# Texts, IRIs and comments of Turtle and its relatives, so that what is left are brackets and words.
_TOKEN: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)*'"
    r"|<[^<>\s]*>|#[^\n]*|<<|>>",
    re.DOTALL,
)
_ANYTHING: Final = msgspec.json.Decoder()


def check_depth(text: str, format: str) -> None:
    """Refuse a text that nests deeper than events may, or that repeats a key.

    >>> check_depth('{"@id": "http://e.org/a"}', "jsonld")
    """
    if format == "jsonld":
        _check_json(text)
    elif format == "rdf":
        _check_xml(text)
    elif text.count("<<") > MAX_DEPTH:
        _check_triple_terms(text)


def _check_json(text: str) -> None:
    body = text.encode()
    document = decode(body, _ANYTHING, "JSON-LD document")
    level: list[object] = [document]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for item in level
            if isinstance(item, (dict, list))
            for inner in (item.values() if isinstance(item, dict) else item)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            check_keys(body, document, "JSON-LD document")
            return
    raise LimitExceeded("nesting of a JSON-LD document", allowed=MAX_DEPTH)


def _check_triple_terms(text: str) -> None:
    depth = 0
    for hit in _TOKEN.finditer(text):
        token = hit.group()
        depth += (token == "<<") - (token == ">>")
        if depth > MAX_DEPTH:
            raise LimitExceeded("nesting of triple terms", allowed=MAX_DEPTH)


def _check_xml(text: str) -> None:
    depth = 0

    def start(name: str, attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > 2 * MAX_DEPTH:  # a node and its property take one element each
            raise LimitExceeded("nesting of RDF/XML elements", allowed=2 * MAX_DEPTH)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def entity(name: str, is_parameter: object, value: str | None, *rest: object) -> None:
        if value is None or "&" in value or len(value) > MAX_TERM_LENGTH:
            raise FormatError(f"the RDF/XML entity {name[:40]!r} is no short plain text; write it out where it is used")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise FormatError(f"the RDF document is not XML: {error}") from None

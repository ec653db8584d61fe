"""RDF events as plain English statements: the pre-processing of sources.md H.

The last part of a URI after `/` or `#`, underscores to blanks, camel case split, nouns made singular,
literals in another language than English dropped (Hasan, O'Riain and Curry, "Approximate Semantic
Matching of Heterogeneous Events", DEBS 2012, section 6.1). Subscriptions' terms go through the same
splitting and singular forms, so that equal words stay equal (departure: the paper prepares events only).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from likewise.model.event import Event


class EventStatement(NamedTuple):
    """A property and a value in plain words; `place` is that of its triple (or tuple) in the event."""

    property: str
    value: str
    place: int


def event_statements(event: Event) -> tuple[EventStatement, ...]:
    """Return what an event says: its triples, or its tuples if it has no graph.

    >>> from likewise.model import Triple
    >>> g = (Triple("<http://e.org/x>", "<http://e.org/homeTeams>", "<http://e.org/Real_Madrid>"),
    ...      Triple("<http://e.org/x>", "<http://e.org/label>", '"Spiel"@de'))
    >>> event_statements(Event(graph=g))
    (EventStatement(property='home Team', value='Real Madrid', place=0),)
    """
    if not event.graph:
        pairs = [(item.attribute, _scalar_text(item.value)) for item in event.tuples]
    else:
        pairs = [(term_text(triple.predicate) or "", term_text(triple.object) or "") for triple in event.graph]
    ready = ((plain_words(prop), plain_words(value), index) for index, (prop, value) in enumerate(pairs))
    return tuple(EventStatement(*parts) for parts in ready if parts[0] and parts[1])


def _scalar_text(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z]+)[A-Za-z0-9-]*|\^\^<[^>]*>)?', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


FREEBASE: Final = "http://rdf.freebase.com/ns/"
_FREEBASE_ID: Final = re.compile(rf"<{re.escape(FREEBASE)}[mg]\.[0-9a-z_]+>")


def is_freebase_id(term: str) -> bool:
    """Return whether a term is one of Freebase's ids of things, which have no words.

    >>> is_freebase_id("<http://rdf.freebase.com/ns/m.0abc>"), is_freebase_id("<http://e.org/m.0abc>")
    (True, False)
    """
    return _FREEBASE_ID.fullmatch(term) is not None


def term_text(term: str) -> str | None:
    """The text of an N-Triples term: a URI's last part, an English or untagged literal; None for anything else.

    >>> term_text("<http://e.org/a#Football_Match>"), term_text('"10 %"'), term_text('"Ort"@de'), term_text("_:b0")
    ('Football_Match', '10 %', None, None)

    Of Freebase's dotted ids the last part counts, and ids of things (`m.0abc`) say nothing.

    >>> term_text("<http://rdf.freebase.com/ns/time.event.locations>"), term_text("<http://rdf.freebase.com/ns/m.0abc>")
    ('locations', None)
    """
    if term.startswith("<"):
        path = term[1:].removesuffix(">").rstrip("/#")
        if path.startswith(FREEBASE):
            return None if is_freebase_id(term) else path.rpartition(".")[2]
        return _PERCENT.sub(_decode, re.split(r"[/#]", path)[-1])
    literal = _LITERAL.fullmatch(term)
    if literal is None or (literal.group(2) or "en").lower() != "en":
        return None
    return _ESCAPE.sub(_unescape, literal.group(1))


def _decode(escaped: re.Match[str]) -> str:
    return bytes.fromhex(escaped.group().replace("%", "")).decode("utf-8", "replace")


def _unescape(escape: re.Match[str]) -> str:
    digits = escape.group(1) or escape.group(2)
    if digits:
        code = int(digits, 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    return _CONTROL.get(escape.group(3), escape.group(3))


# A word starts after a lower-case letter or digit, or before the last capital of an acronym.
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=65_536)
def plain_words(text: str) -> str:
    """Underscores to blanks, camel case split, every word singular.

    >>> plain_words("Aviation_accidentsIn2001"), plain_words("numberOfGoals"), plain_words("DVDCover")
    ('Aviation accident In2001', 'number Of Goal', 'DVD Cover')
    """
    words = _CAMEL.sub(" ", text.replace("_", " ")).split()
    return " ".join(singular(word) for word in words)


_IRREGULAR = {
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "geese": "goose",
    "lives": "life",
    "wives": "wife",
    "knives": "knife",
    "leaves": "leaf",
    "wolves": "wolf",
    "halves": "half",
    "shelves": "shelf",
    "thieves": "thief",
    "buses": "bus",
    "gases": "gas",
    "viruses": "virus",
    "campuses": "campus",
    "crises": "crisis",
    "bases": "base",
    "movies": "movie",
    "heroes": "hero",
    "potatoes": "potato",
    "tomatoes": "tomato",
    "echoes": "echo",
    "series": "series",
    "species": "species",
    "news": "news",
    "has": "has",
    "does": "does",
    "its": "its",
    "his": "his",
    "yes": "yes",
}


def singular(word: str) -> str:
    """The singular of an English noun by its ending; other words, and endings like -ss, -us, -is, stay.

    >>> [singular(w) for w in ("Matches", "cities", "houses", "glass", "Paris", "people", "gas", "Women", "analyses")]
    ['Match', 'city', 'house', 'glass', 'Paris', 'person', 'gas', 'Woman', 'analysis']
    """
    lower = word.lower()
    if lower in _IRREGULAR:
        irregular = _IRREGULAR[lower]
        return (
            irregular.capitalize()
            if word[:1].isupper() and irregular != lower
            else irregular
            if irregular != lower
            else word
        )
    if not lower.endswith("s") or len(word) < 4 or word.isupper() or lower.endswith(("ss", "us", "is", "'s")):
        return word
    if lower.endswith("as") and word[0].isupper():  # Texas, Dallas: names rather than plurals
        return word
    if lower.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if lower.endswith("yses"):
        return word[:-2] + "is"
    if lower.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]

"""RDF: every syntax to the same canonical triples, subjects to events, and texts that would harm the parser."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import FormatError, LikewiseError, LimitExceeded
from likewise.formats.rdf.reader import event_from_triples, events_from_rdf, parse_triples
from likewise.formats.rdf.terms import canonical_patterns, canonical_term, canonical_triples
from likewise.model import Event, EventTuple, Triple, TriplePattern
from likewise.model.rdf import last_part

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SYNTAXES = {
    "nt": f"""<http://e.org/m1> <{RDF}type> <http://e.org/Match> .
<http://e.org/m1> <http://e.org/p#team> "Real"@ES .
<http://e.org/m1> <http://e.org/p#goals> "3"^^<{XSD}integer> .""",
    "nq": f"""<http://e.org/m1> <{RDF}type> <http://e.org/Match> <http://e.org/g> .
<http://e.org/m1> <http://e.org/p#team> "Real"@es <http://e.org/g> .
<http://e.org/m1> <http://e.org/p#goals> "3"^^<{XSD}integer> .""",
    "ttl": """@prefix p: <http://e.org/p#> .
<http://e.org/m1> a <http://e.org/Match> ; p:team "Real"@es ; p:goals 3 .""",
    "trig": """@prefix p: <http://e.org/p#> .
<http://e.org/g> { <http://e.org/m1> a <http://e.org/Match> ; p:team "Real"@es ; p:goals 3 . }""",
    "rdf": f"""<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY e "http://e.org/">]>
<rdf:RDF xmlns:rdf="{RDF}" xmlns:p="http://e.org/p#" xmlns:e="http://e.org/">
<e:Match rdf:about="&e;m1"><p:team xml:lang="es">Real</p:team>
<p:goals rdf:datatype="{XSD}integer">3</p:goals></e:Match></rdf:RDF>""",
    "jsonld": """{"@context": {"p": "http://e.org/p#"}, "@id": "http://e.org/m1", "@type": "http://e.org/Match",
"p:team": {"@value": "Real", "@language": "es"}, "p:goals": 3}""",
}
TRIPLES = (
    Triple("<http://e.org/m1>", f"<{RDF}type>", "<http://e.org/Match>"),
    Triple("<http://e.org/m1>", "<http://e.org/p#team>", '"Real"@es'),
    Triple("<http://e.org/m1>", "<http://e.org/p#goals>", f'"3"^^<{XSD}integer>'),
)


@pytest.mark.parametrize("format", SYNTAXES)
def test_every_syntax_gives_the_same_triples(format: str) -> None:
    """As canonical N-Triples terms, from text and from bytes, with or without a byte order mark."""
    assert set(parse_triples(SYNTAXES[format], format)) == set(TRIPLES)
    assert set(parse_triples(b"\xef\xbb\xbf" + SYNTAXES[format].encode(), format)) == set(TRIPLES)


def test_formats_have_their_usual_names() -> None:
    """Media types and extensions alike; an unknown one is refused."""
    assert list(parse_triples(SYNTAXES["ttl"], "text/turtle")) == list(parse_triples(SYNTAXES["ttl"], "Turtle"))
    with pytest.raises(FormatError, match="use one of nt, nq"):
        list(parse_triples("", "csv"))


@pytest.mark.parametrize("format", SYNTAXES)
def test_one_event_a_subject_with_tuples_and_graph(format: str) -> None:
    """So that conditions, statements and patterns can all be asked of it."""
    (event,) = events_from_rdf(SYNTAXES[format], format)
    assert event.id == "http://e.org/m1"
    assert set(event.graph) == set(TRIPLES)
    assert set(event.tuples) == {EventTuple("type", "Match"), EventTuple("team", "Real"), EventTuple("goals", 3)}


TWO = """@prefix e: <http://e.org/> .
e:b e:v 1 . e:a a e:Match ; e:at _:x . _:x e:v 2 . e:b a e:Storm , e:Event ; e:v 1 ."""


def test_subjects_come_in_the_order_of_the_text() -> None:
    """Their triples are gathered, each once; a blank node's event has no id."""
    events = list(events_from_rdf(TWO, "ttl"))
    assert [e.id for e in events] == ["http://e.org/b", "http://e.org/a", None]
    assert [len(e.graph) for e in events] == [3, 2, 1]


@pytest.mark.parametrize("wanted", ["Storm", "http://e.org/Storm", "<http://e.org/Storm>"])
def test_classes_choose_the_subjects(wanted: str) -> None:
    """By IRI or by its last part; any of the types counts."""
    assert [e.id for e in events_from_rdf(TWO, "ttl", classes=[wanted, "Flood"])] == ["http://e.org/b"]
    assert list(events_from_rdf(TWO, "ttl", classes=["Flood"])) == []


def test_the_whole_text_can_be_one_event() -> None:
    """For patterns that join subjects; no triples are no event."""
    (event,) = events_from_rdf(TWO, "ttl", by_subject=False)
    assert len(event.graph) == 6
    assert list(events_from_rdf("", "ttl", by_subject=False)) == []


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (f'"3"^^<{XSD}integer>', 3),
        (f'"-2.50"^^<{XSD}decimal>', -2.5),
        (f'"1e3"^^<{XSD}double>', 1000.0),
        (f'"true"^^<{XSD}boolean>', True),
        (f'"0"^^<{XSD}boolean>', False),
        (f'"maybe"^^<{XSD}boolean>', "maybe"),
        (f'"many"^^<{XSD}integer>', "many"),
        (f'"INF"^^<{XSD}double>', "INF"),
        (f'"{"9" * 400}"^^<{XSD}integer>', "9" * 400),
        ('"a\\nb \\"c\\" \\\\"', 'a\nb "c" \\'),
        ('"\\u00E9\\U0001F600"', "é😀"),
        ('"27.5"', "27.5"),
        ("<http://dbpedia.org/resource/New_York>", "New_York"),
        ("<http://e.org/a%20b/>", "a b"),
        ("_:b7", "b7"),
        (f'"2024-05-01"^^<{XSD}date>', "2024-05-01"),
    ],
)
def test_a_tuple_says_what_the_object_says(term: str, value: object) -> None:
    """Numbers and Booleans by their type, ill-typed ones as text."""
    (item,) = event_from_triples((Triple("<x:s>", "<http://e.org/p>", term),)).tuples
    assert item.value == value
    assert type(item.value) is type(value)


def test_a_long_literal_stays_in_the_graph_alone() -> None:
    """An abstract is no term; the event is still an event."""
    event = event_from_triples((Triple("<x:s>", "<x:abstract>", f'"{"word " * 500}"'), Triple("<x:s>", "<x:p>", '"v"')))
    assert [t.attribute for t in event.tuples] == ["p"]
    assert len(event.graph) == 2


def test_a_subject_that_passes_a_limit_can_be_put_aside() -> None:
    """The others are read; without a place for it, it is raised and named."""
    text = "".join(f'<x:big> <x:p{i}> "v" .\n' for i in range(1_001)) + '<x:small> <x:p> "v" .'
    aside: list[LikewiseError] = []
    assert [e.id for e in events_from_rdf(text, "nt", on_error=aside.append)] == ["x:small"]
    assert len(aside) == 1
    with pytest.raises(LimitExceeded, match=r"^<x:big>: tuples"):
        list(events_from_rdf(text, "nt"))


DEEP = 20_000
LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
HARM: dict[str, tuple[bytes | str, str]] = {
    "JSON-LD nested deeply": ('{"http://a":' * DEEP + "1" + "}" * DEEP, "jsonld"),
    "JSON-LD lists nested deeply": ('{"http://a":' + "[" * DEEP + "]" * DEEP + "}", "jsonld"),
    "JSON-LD nested just too deeply": ('{"http://a":' * 70 + "1" + "}" * 70, "jsonld"),
    "triple terms in Turtle": ("<x:a> <x:b> " + "<<( <x:a> <x:b> " * DEEP + "1" + ")>>" * DEEP + " .", "ttl"),
    "triple terms in N-Triples": ("<x:a> <x:b> " + "<<( <x:a> <x:b> " * DEEP + '"1"' + ")>>" * DEEP + " .", "nt"),
    "one triple term": ("<x:a> <x:b> <<( <x:a> <x:b> 1 )>> .", "ttl"),
    "XML elements": (
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="x:">' + "<e:A><e:p>" * DEEP + "</e:p></e:A>" * DEEP + "</rdf:RDF>",
        "rdf",
    ),
    "entities that multiply": (
        f'<!DOCTYPE r [<!ENTITY a0 "ha">{LAUGHS}]><rdf:RDF xmlns:rdf="{RDF}">&a9;</rdf:RDF>',
        "rdf",
    ),
    "an entity from a file": (
        f'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rdf:RDF xmlns:rdf="{RDF}">&a;</rdf:RDF>',
        "rdf",
    ),
    "a key that stands twice": ('{"@context": {"@vocab": "x:"}, "@id": "x:a", "p": 1, "p": 2}', "jsonld"),
    "a context from elsewhere": ('{"@context": "https://example.org/c", "@id": "x:a", "p": 1}', "jsonld"),
    "invalid UTF-8": (b'<x:a> <x:b> "\xff" .', "nt"),
    "UTF-16": ("<x:a> <x:b> <x:c> .".encode("utf-16"), "nt"),
    "half a surrogate pair": ('<x:a> <x:b> "\ud800" .', "nt"),
    "an open literal": ('<x:a> <x:b> "c .', "ttl"),
    "a relative IRI": ("<a> <b> <c> .", "ttl"),
    "no XML": ("<rdf", "rdf"),
    "no JSON": ("{", "jsonld"),
}


@pytest.mark.parametrize("name", HARM)
def test_harmful_text_is_an_error_of_the_tree(name: str) -> None:
    """Not a crash of the process, not a gigabyte, not a look at other files."""
    data, format = HARM[name]
    with pytest.raises(LikewiseError) as caught:
        list(events_from_rdf(data, format))
    assert caught.value.code in {"format", "limit"}
    assert len(str(caught.value)) < 1_000


def test_what_only_looks_nested_is_read() -> None:
    """Guillemets in literals, long flat XML."""
    text = "\n".join(f'<x:a> <x:b{i}> "<< a << b <<" .' for i in range(100))
    assert len(list(parse_triples(text, "nt"))) == 100
    assert len(list(parse_triples(text + '\n<x:a> <x:c> """<<\n"<<""" . # <<', "ttl"))) == 101


@pytest.mark.parametrize(
    ("term", "canonical"),
    [
        ("<http://e.org/a>", "<http://e.org/a>"),
        ("_:b0", "_:b0"),
        ('"a"', '"a"'),
        ('"a"@en-us', '"a"@en-us'),
        ('"a"@EN', '"a"@en'),
        (f'"a"^^<{XSD}string>', '"a"'),
        ('"caf\\u00e9"', '"café"'),
        ('"a\\nb"', '"a\\nb"'),
        (f'"5"^^<{XSD}integer>', f'"5"^^<{XSD}integer>'),
        (f'"05"^^<{XSD}integer>', f'"05"^^<{XSD}integer>'),
    ],
)
def test_a_term_has_one_text(term: str, canonical: str) -> None:
    """Values are not interpreted: 05 stays 05."""
    assert canonical_term(term) == canonical
    assert canonical_term(canonical) == canonical


@pytest.mark.parametrize(
    "term",
    ["", "a", "<a>", '"a', "?x", "<http://e.org/a b>", '"a" . <x:s> <x:p> "b"', "_:", '"a"@', "5", '"a\nb"', "<<( ]"],
)
def test_what_is_no_term_is_refused(term: str) -> None:
    """Also what would be two statements."""
    with pytest.raises(FormatError, match="is no RDF term"):
        canonical_term(term)


def test_terms_stand_where_rdf_allows_them() -> None:
    """No literal is a subject, only an IRI is a predicate; patterns may have variables anywhere."""
    for wrong in (Triple('"a"', "<x:b>", "<x:c>"), Triple("<x:a>", "_:b", "<x:c>"), Triple("<x:a>", "<x:b>", "?c")):
        with pytest.raises(FormatError):
            canonical_triples([wrong])
    anywhere = TriplePattern("?a", "?b", "?c")
    assert canonical_patterns([anywhere]) == (anywhere,)


@given(st.text(st.characters(codec="utf-8"), max_size=20), st.sampled_from(["", "@en", f"^^<{XSD}string>"]))
def test_any_text_survives_as_a_literal(text: str, suffix: str) -> None:
    """Escaped as N-Triples asks, canonical after one reading, and back in the tuple's value."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    (triple,) = parse_triples(f'<x:s> <x:p> "{escaped}"{suffix} .', "nt")
    assert canonical_term(triple.object) == triple.object
    assert event_from_triples((triple,)).tuples[0].value == text


@given(
    st.text(max_size=40)
    | st.sampled_from(list(SYNTAXES.values())).flatmap(lambda s: st.integers(0, len(s)).map(lambda i: s[:i])),
    st.sampled_from(list(SYNTAXES)),
)
def test_any_text_is_triples_or_an_error_of_the_tree(text: str, format: str) -> None:
    """Cut anywhere, read as any format."""
    try:
        found: list[Any] = list(events_from_rdf(text, format))
    except LikewiseError:
        return
    assert all(isinstance(e, Event) for e in found)


@pytest.mark.parametrize(
    ("iri", "part"),
    [
        ("<http://e.org/a#b>", "b"),
        ("<http://e.org/a/>", "a"),
        ("<urn:x:speed>", "speed"),
        ("<http://e.org/%C3%A9>", "é"),
        ("_:n", "n"),
    ],
)
def test_the_last_part_names_a_thing(iri: str, part: str) -> None:
    """After `/`, `#` or `:`."""
    assert last_part(iri) == part


def test_real_event_triples_are_read(shared: Path) -> None:
    """Every subject of a file of events is an event, every distinct triple kept."""
    data = gzip.decompress((shared / "data" / "rdf" / "event-infobox-triples.nt.gz").read_bytes())
    events = list(events_from_rdf(data, "nt"))
    lines = {line.strip() for line in data.decode().splitlines() if line.strip()}
    assert len(events) == len({line.split(" ", 1)[0] for line in lines})
    assert sum(len(e.graph) for e in events) == len(lines)
    ontology = gzip.decompress((shared / "data" / "iot" / "vocabularies" / "ssn-2011.owl.gz").read_bytes())
    assert len(list(events_from_rdf(ontology, "rdf"))) > 100

"""Terms of graph patterns become canonical N-Triples text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.language import parse
from likewise.language.prefixes import PREFIXES
from likewise.language.rdf_terms import quote, term_text
from likewise.model import GraphPattern

XSD = "http://www.w3.org/2001/XMLSchema#"


def the_object(text: str) -> str:
    """The object of the only pattern."""
    body = parse(f"?s ?p {text}").body
    assert isinstance(body, GraphPattern)
    return body.patterns[0].object


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<http://e.org/a>", "<http://e.org/a>"),
        ("<http://e.org/\\u00e9>", "<http://e.org/é>"),
        ("dbo:Event", "<http://dbpedia.org/ontology/Event>"),
        ("dbr:Galway_\\(city\\)", "<http://dbpedia.org/resource/Galway_(city)>"),
        ("dbr:a%20b", "<http://dbpedia.org/resource/a%20b>"),
        ("dbr:", "<http://dbpedia.org/resource/>"),
        ('"x"', '"x"'),
        ("'x'", '"x"'),
        ("'say \"hi\"'", '"say \\"hi\\""'),
        ('"x"@EN-gb', '"x"@en-gb'),
        ('"x"^^xsd:string', '"x"'),
        ('"5"^^xsd:integer', f'"5"^^<{XSD}integer>'),
        ('"x"^^<http://e.org/t>', '"x"^^<http://e.org/t>'),
        ('"a\\tb\\u00e9\\n"', '"a\\tbé\\n"'),
        ('"@en"', '"@en"'),
        ('"a\\"@en"@de', '"a\\"@en"@de'),
        ("5", f'"5"^^<{XSD}integer>'),
        ("-5.0", f'"-5.0"^^<{XSD}decimal>'),
        ("5e3", f'"5e3"^^<{XSD}double>'),
        ("true", f'"true"^^<{XSD}boolean>'),
        ("$x", "?x"),
        ("?größe", "?größe"),
    ],
)
def test_each_kind_of_term_has_one_text(text: str, expected: str) -> None:
    """Prefixes expanded, escapes canonical, languages in lower case, strings without a type."""
    assert the_object(text) == expected
    assert the_object(term_text(expected)) == expected


@given(st.text(st.characters(codec="utf-8"), max_size=20), st.sampled_from(["", "@en", f"^^<{XSD}date>"]))
def test_literals_have_the_text_an_rdf_library_gives_them(text: str, suffix: str) -> None:
    """What events carry is written by the library; patterns must agree with it to the letter."""
    oxigraph = pytest.importorskip("pyoxigraph")
    literal = {
        "": lambda: oxigraph.Literal(text),
        "@en": lambda: oxigraph.Literal(text, language="en"),
    }.get(suffix, lambda: oxigraph.Literal(text, datatype=oxigraph.NamedNode(f"{XSD}date")))()
    assert the_object(quote(text) + suffix) == str(literal)


def test_every_shipped_prefix_names_a_namespace() -> None:
    """Namespaces end where a local name begins, and the first prefix of each is printed."""
    for prefix, namespace in PREFIXES.items():
        assert namespace.startswith("http")
        assert namespace[-1] in "/#"
        assert the_object(f"{prefix}:Thing") == f"<{namespace}Thing>"
        assert the_object(term_text(f"<{namespace}Thing>")) == f"<{namespace}Thing>"
    assert term_text("<http://purl.org/dc/terms/title>") == "dct:title"
    assert {
        "rdf",
        "rdfs",
        "xsd",
        "owl",
        "dbo",
        "dbp",
        "dbr",
        "foaf",
        "sosa",
        "ssn",
        "saref",
        "brick",
        "qudt",
        "schema",
        "geo",
    } <= set(PREFIXES)

"""One reading and the place it was taken at, in every RDF format that is read."""

from __future__ import annotations

TURTLE = """@prefix e: <http://e.org/> .
e:reading a e:Reading ; e:air_temp 27.1 ; e:city "Galway" ; e:at e:roof .
e:roof e:floor 3 .
"""
_NUMBER = "http://www.w3.org/2001/XMLSchema#"
TRIPLES = f"""<http://e.org/reading> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.org/Reading> .
<http://e.org/reading> <http://e.org/air_temp> "27.1"^^<{_NUMBER}decimal> .
<http://e.org/reading> <http://e.org/city> "Galway" .
<http://e.org/reading> <http://e.org/at> <http://e.org/roof> .
<http://e.org/roof> <http://e.org/floor> "3"^^<{_NUMBER}integer> .
"""
DOCUMENTS = {
    "ttl": TURTLE,
    "nt": TRIPLES,
    "nq": TRIPLES.replace(" .\n", " <http://e.org/graph> .\n"),
    "trig": TURTLE.replace("e:reading a", "e:graph { e:reading a") + "}\n",
    "jsonld": '{"@context": {"e": "http://e.org/", "at": {"@id": "e:at", "@type": "@id"}}, "@graph": [{'
    '"@id": "e:reading", "@type": "e:Reading", "e:air_temp": {"@value": "27.1", "@type": "http://www.w3.org/2001/XMLSchema#decimal"},'
    ' "e:city": "Galway", "at": "e:roof"}, {"@id": "e:roof", "e:floor": 3}]}',
}
# Documents that are broken, and what is said about the place.
BROKEN = {
    "ttl": ("@prefix e: <http://e.org/> .\ne:a e:b xx .\n", "line 2, column 9"),
    "nt": ('<http://e.org/a> <http://e.org/b> "c" .\n<http://e.org/a> <b> .\n', "line 2, column 18"),
    "nq": ('<http://e.org/a> "b" "c" .\n', "line 1, column 18"),
    "trig": ("{ <http://e.org/a> a }\n", "line 1, column 22"),
    "jsonld": ('{"@id": "http://e.org/a",\n "http://e.org/b": [1 2]}', "byte 48"),
}

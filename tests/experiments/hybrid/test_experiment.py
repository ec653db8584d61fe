"""The hybrid experiment: relevance by SPARQL, curves for every variant."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from likewise.errors import ArtefactMissing, FormatError
from likewise.formats.json.events import event_to_json
from likewise.formats.rdf.reader import parse_triples
from likewise.language import parse
from likewise.matching.reference.statement_terms import event_statements
from likewise.testing import TableMeasure
from likewise_experiments.hybrid.experiment import (
    SETS,
    Asked,
    experiment,
    read_events,
    read_subscriptions,
    relevant_events,
)
from likewise_experiments.hybrid.plot import plot

TURTLE = b"""@prefix e: <http://e.org/> .
e:m1 a e:SoccerMatch ; e:squad e:Spain ; e:stadium e:FNB .
e:m2 a e:SoccerMatch ; e:squad e:Italy .
e:c1 a e:Concert ; e:place e:Wembley .
"""
ASKED = (
    Asked("1", 'event team "Spain"', "?event <http://e.org/squad> <http://e.org/Spain>"),
    Asked("2", 'event kind "Opera"', "?event a <http://e.org/Opera>"),
)
RELATED = TableMeasure({("team", "squad"): 0.9, ("team", "type"): 0.1})


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Three RDF events in a compressed file."""
    path = tmp_path / "events.ttl.bz2"
    path.write_bytes(bz2.compress(TURTLE))
    return path


def test_relevance_comes_from_the_patterns_and_empty_needs_are_left_out(events: Path) -> None:
    """One match has Spain; nobody sings an opera."""
    found, raw, format = read_events(events)
    report = experiment(found, relevant_events(raw, format, ASKED), ASKED, lambda name: RELATED)
    assert report.events == 3
    assert report.relevant == {"1": 1}
    assert report.left_out == ("2",)
    assert report.best("hybrid", 5).maximal_f1 == 1.0
    assert {curve.variant for curve in report.curves} == {"hybrid", "jcn", "esa", "sameness"}


def test_the_picture_is_written(events: Path, tmp_path: Path) -> None:
    """A PNG with the curves."""
    found, raw, format = read_events(events)
    plot(experiment(found, relevant_events(raw, format, ASKED), ASKED, lambda name: RELATED), tmp_path / "h.png")
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", SETS)
def test_the_shipped_subscriptions_parse_and_their_patterns_are_sparql(name: str) -> None:
    """Seven, as in the paper's Table 3, for each event set."""
    shipped = read_subscriptions(name)
    assert len(shipped) == 7
    assert all(parse(one.text).kind == "statements" for one in shipped)
    assert relevant_events(TURTLE, "ttl", shipped) == {one.id: set() for one in shipped}


DATED = (
    "Armed Gang (Iraq)\tAbduct, hijack, or take hostage\tCitizen (Iraq)\t2014-02-12\n"
    'Iraq\tMake a "visit"\tCitizen (France)\t2014-02-13\n'
)


def test_dated_events_become_rdf_with_their_countries(tmp_path: Path) -> None:
    """`Citizen (Iraq)` is a name and a country; a country by itself is its own."""
    path = tmp_path / "icews.txt.gz"
    path.write_bytes(gzip.compress(DATED.encode()))
    found, raw, format = read_events(path)
    assert [(t.attribute, t.value) for t in found[1].tuples] == [
        ("sourceName", "Iraq"),
        ("sourceCountry", "Iraq"),
        ("eventText", 'Make a "visit"'),
        ("targetName", "Citizen"),
        ("targetCountry", "France"),
        ("eventDate", "2014-02-13"),
    ]
    relevant = relevant_events(raw, format, read_subscriptions("icews"))
    assert {id for id, events in relevant.items() if events} == {"6"}
    path.write_bytes(gzip.compress(b"one\ttwo\n"))
    with pytest.raises(FormatError, match="line 1"):
        read_events(path)


FREEBASE_TURTLE = b"""@prefix ns: <http://rdf.freebase.com/ns/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
ns:m.0final rdf:type ns:time.event ;
\tns:type.object.name "World Cup Final"@en, "Finale"@fr ;
\tns:time.event.locations ns:m.0fnb, ns:m.0nameless ;
\tns:sports.sports_team_event.teams ns:m.0spain .
ns:m.0fnb\tns:type.object.name\t"FNB Stadium"@en .
ns:m.0spain\tns:type.object.name\t"Spain"@en.
"""


@pytest.mark.parametrize("ending", ["ttl", "nt"])
def test_freebase_events_have_names_for_ids(tmp_path: Path, ending: str) -> None:
    """Properties are the last part of dotted ids; ids become English names; what has only a name is no event."""
    text = FREEBASE_TURTLE
    if ending == "nt":
        text = b"".join(f"{t.subject} {t.predicate} {t.object} .\n".encode() for t in parse_triples(text, "ttl"))
    path = tmp_path / f"freebase.{ending}"
    path.write_bytes(text)
    events, raw, format = read_events(path)
    assert len(events) == 1
    said = [(s.property, s.value) for s in event_statements(events[0])]
    assert said == [
        ("type", "event"),
        ("name", "World Cup Final"),
        ("location", "FNB Stadium"),
        ("team", "Spain"),
    ]
    ns = "http://rdf.freebase.com/ns/"
    asked = [Asked("1", 'event place "FNB Stadium"', f"?event <{ns}time.event.locations> <{ns}m.0fnb>")]
    assert relevant_events(raw, format, asked) == {"1": {"<http://rdf.freebase.com/ns/m.0final>"}}


def test_a_folder_of_ingested_events_is_read_as_its_triples_were(tmp_path: Path) -> None:
    """The events keep their graphs, so patterns find the same subjects; an empty folder says what to do."""
    with pytest.raises(ArtefactMissing, match="likewise ingest"):
        read_events(tmp_path)
    plain = tmp_path / "plain.ttl"
    plain.write_bytes(TURTLE)
    wanted, raw, format = read_events(plain)
    lines = [event_to_json(event) + b"\n" for event in wanted]
    (tmp_path / "events-00000.jsonl").write_bytes(b"".join(lines[:2]))
    (tmp_path / "events-00001.jsonl").write_bytes(lines[2])
    found, again, nt = read_events(tmp_path)
    assert [event_statements(e) for e in found] == [event_statements(e) for e in wanted]
    assert relevant_events(again, nt, ASKED) == relevant_events(raw, format, ASKED)


def test_bad_files_are_named(tmp_path: Path) -> None:
    """A missing file, a line that is not JSON, a pattern that is not SPARQL."""
    with pytest.raises(ArtefactMissing):
        read_events(tmp_path / "absent.nt")
    (tmp_path / "s.jsonl").write_text('{"id": "1"}\n')
    with pytest.raises(FormatError, match="line 1"):
        read_subscriptions(tmp_path / "s.jsonl")
    with pytest.raises(FormatError, match="not SPARQL"):
        relevant_events(TURTLE, "ttl", [Asked("1", "x", "?event ? ?")])

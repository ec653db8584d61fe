"""The promise of `likewise ingest`: one event for each subject, whatever the format, and bad lines stop nothing."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from likewise.cli import ingest as command
from likewise.errors import InputError
from likewise.formats.arrow.event_batch import EventBatch
from likewise.formats.json.events import read_events
from likewise.formats.rdf.reader import events_from_rdf
from likewise.model import Event
from likewise.spark.ingest.files import MalformedStatements, rdf_splits, read_split
from likewise.spark.ingest.ingest import ingest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TURTLE = """@prefix e: <http://e.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
e:m1 a e:FootballMatch ; e:homeTeams e:FC_Galway, e:Real_Madrid ; e:goals 3 ; e:label "Spiel"@de, "game"@en .
e:m2 a e:Race ; e:place [ e:name "Galway" ] .
"""
MATCH = (
    "http://e.org/m1",
    [
        ("type", "Football Match"),
        ("home Team", "FC Galway"),
        ("home Team", "Real Madrid"),
        ("goal", 3),
        ("label", "game"),
    ],
)


def quads() -> list[str]:
    import pyoxigraph

    return [f"{q.subject} {q.predicate} {q.object} .\n" for q in pyoxigraph.parse(TURTLE, pyoxigraph.RdfFormat.TURTLE)]


def as_format(name: str) -> bytes:
    import pyoxigraph

    kinds = {"rdf": "RDF_XML", "jsonld": "JSON_LD", "nq": "N_QUADS", "trig": "TRIG", "ttl": "TURTLE"}
    parsed = list(pyoxigraph.parse(TURTLE, pyoxigraph.RdfFormat.TURTLE))
    kind = getattr(pyoxigraph.RdfFormat, kinds[name])
    found = pyoxigraph.serialize([q.triple for q in parsed] if name in ("rdf", "ttl") else parsed, format=kind)
    assert isinstance(found, bytes)
    return found


def events_in(folder: Path) -> list[Event]:
    return [e for path in sorted(folder.glob("*.jsonl")) for e in read_events(path.read_bytes().splitlines())]


def shown(event: Event) -> tuple[str | None, list[tuple[str, object]]]:
    return event.id, [(t.attribute, t.value) for t in event.tuples]


def test_every_format_gives_the_same_events(spark: SparkSession, tmp_path: Path) -> None:
    """Eight files of the same statements in eight formats, two of them compressed."""
    source = tmp_path / "rdf"
    source.mkdir()
    (source / "a.nt").write_text("".join(quads()))
    (source / "b.nq").write_bytes(as_format("nq"))
    (source / "c.ttl.gz").write_bytes(gzip.compress(TURTLE.encode()))
    (source / "d.rdf").write_bytes(as_format("rdf"))
    (source / "e.jsonld").write_bytes(as_format("jsonld"))
    (source / "f.n3.bz2").write_bytes(bz2.compress(TURTLE.encode()))
    (source / "g.trig").write_bytes(as_format("trig"))
    (source / "h.nt.gz").write_bytes(gzip.compress("".join(quads()).encode()))
    (source / "notes.txt").write_text("no RDF")
    for path in sorted(source.glob("[a-h].*")):
        ingest(spark, path, tmp_path / path.name, written=["jsonl"])
        by_id = {e.id: e for e in events_in(tmp_path / path.name)}
        assert set(by_id) == {"http://e.org/m1", "http://e.org/m2", None}
        assert sorted(map(str, shown(by_id["http://e.org/m1"])[1])) == sorted(map(str, MATCH[1]))
        assert len(by_id["http://e.org/m1"].graph) == 6
    summary = ingest(spark, source, tmp_path / "all", partitions=2)
    assert (summary.files, summary.statements, summary.bad) == (8, 72, 0)
    # The named subjects are the same everywhere; each file's blank node is another one.
    assert (summary.subjects, summary.events) == (10, 10)


def test_a_file_in_pieces_gives_what_it_gives_whole(spark: SparkSession, tmp_path: Path) -> None:
    """Ranges of a few bytes, any number of parts: the events of the plain reader."""
    lines = [f'<http://e.org/s{i % 7}> <http://e.org/p{i % 3}> "v{i} é" .\n' for i in range(60)]
    source = tmp_path / "a.nt"
    source.write_text("".join(lines))
    expected = sorted(events_from_rdf("".join(lines), "nt"), key=lambda e: str(e.id))
    whole = ingest(spark, source, tmp_path / "whole", as_written=True, partitions=1)
    pieces = ingest(spark, source, tmp_path / "pieces", as_written=True, partitions=3, split_bytes=100)
    assert len(rdf_splits(source, split_bytes=100)) > 10
    assert whole.statements == pieces.statements == 60
    assert events_in(tmp_path / "whole") == expected
    assert sorted(events_in(tmp_path / "pieces"), key=lambda e: str(e.id)) == expected


def test_parquet_and_json_lines_hold_the_same_events(spark: SparkSession, tmp_path: Path) -> None:
    """Parquet follows the schema of EventBatch, and Spark reads it."""
    import pyarrow.parquet as pq

    (tmp_path / "a.ttl").write_text(TURTLE)
    summary = ingest(spark, tmp_path / "a.ttl", tmp_path / "out", classes=["FootballMatch"])
    assert (summary.events, summary.left_out) == (1, {"of another class": 2})
    (path,) = (tmp_path / "out").glob("*.parquet")
    batch = EventBatch.from_arrow(pq.read_table(path))
    assert list(batch) == events_in(tmp_path / "out")
    assert shown(batch[0]) == MATCH
    assert spark.read.parquet(str(path)).select("id").collect()[0]["id"] == "http://e.org/m1"
    assert json.loads((tmp_path / "out" / "summary.json").read_bytes())["events"] == 1


def test_bad_lines_are_counted_and_shown_and_stop_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """In lines and in Turtle, the good statements around a bad one are kept; a broken file is counted."""
    source = tmp_path / "rdf"
    source.mkdir()
    good = '<http://e.org/a> <http://e.org/p> "{0}" .\n'
    lines = [good.format(1).encode(), b"no statement at all\n", good.format(2).encode()]
    lines += [b'<http://e.org/a> <http://e.org/p> "\xff" .\n', good.format(3).encode()]
    lines += [b"<http://e.org/a> <http://e.org/p> " + b"<<( " * 5_000 + b"\n", good.format(4).encode()]
    (source / "a.nt").write_bytes(b"".join(lines))
    (source / "b.ttl").write_text("@prefix e: <http://e.org/> . e:b e:p 1 . e:b x:p 2 . e:b e:p 3 .")
    (source / "c.jsonld").write_text('{"@id": "http://e.org/c", "http://e.org/p": ')
    (source / "d.nt.gz").write_bytes(gzip.compress("".join(good.format(i) for i in range(1, 1_000)).encode())[:-20])
    summary = ingest(spark, source, tmp_path / "out", as_written=True)
    assert summary.bad == 6
    assert len(summary.examples) == 6
    text = "\n".join(summary.examples)
    assert all(name in text for name in ("a.nt", "b.ttl", "c.jsonld", "d.nt.gz", "no statement at all"))
    events = {e.id: [t.value for t in e.tuples] for e in events_in(tmp_path / "out")}
    assert events["http://e.org/b"] == [1, 3]
    assert "http://e.org/c" not in events
    assert len(events["http://e.org/a"]) > 900  # what came before the break of d.nt.gz is kept


def test_a_subject_that_is_no_event_is_counted(spark: SparkSession, tmp_path: Path) -> None:
    """More statements than an event may have."""
    lines = [f'<http://e.org/big> <http://e.org/p> "{i}" .\n' for i in range(1_001)]
    (tmp_path / "a.nt").write_text("".join(lines) + '<http://e.org/small> <http://e.org/p> "x" .\n' * 2)
    summary = ingest(spark, tmp_path / "a.nt", tmp_path / "out", written=["jsonl"])
    assert (summary.subjects, summary.events, summary.left_out) == (2, 1, {"no event (limit)": 1})
    assert [len(e.graph) for e in events_in(tmp_path / "out")] == [1]
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_the_command_says_what_it_did(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON and for people; a folder that is there is not overwritten unasked."""
    (tmp_path / "a.ttl").write_text(TURTLE + "nonsense .")
    command.ingest(str(tmp_path / "a.ttl"), str(tmp_path / "out"), classes=["http://e.org/Race"], as_json=True)
    assert json.loads(capsys.readouterr().out)["events"] == 1
    with pytest.raises(InputError, match="exists already"):
        command.ingest(str(tmp_path / "a.ttl"), str(tmp_path / "out"))
    command.ingest(str(tmp_path / "a.ttl"), str(tmp_path / "out"), to="parquet", overwrite=True)
    said = capsys.readouterr().out
    assert "3 in" in said
    assert "a.ttl" in said
    with pytest.raises(InputError, match="--to"):
        command.ingest(str(tmp_path / "a.ttl"), str(tmp_path / "other"), to="csv")


def test_blank_nodes_of_a_document_are_named_in_order(tmp_path: Path) -> None:
    """Names made up while parsing would differ from run to run."""
    (tmp_path / "a.ttl").write_text("[] <x:p> [ <x:q> 1 ] .")
    (split,) = rdf_splits(tmp_path / "a.ttl")
    first, second = (list(read_split(split, MalformedStatements())) for _ in range(2))
    assert first == second
    assert {part for s in first for part in s if part.startswith("_:")} == {"_:f0n0", "_:f0n1"}


def test_what_is_no_rdf_is_said_before_anything_starts(tmp_path: Path) -> None:
    """A folder without RDF, a place that is not there, a format that is none."""
    with pytest.raises(InputError, match="holds no RDF"):
        rdf_splits(tmp_path)
    with pytest.raises(InputError, match="nothing at"):
        rdf_splits(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no RDF format"):
        rdf_splits(tmp_path, "csv")


def test_real_events_become_events(spark: SparkSession, shared: Path, tmp_path: Path) -> None:
    """Real statements in N-Triples: each of the 118 subjects is one event."""
    summary = ingest(spark, shared / "data" / "rdf" / "event-infobox-triples.nt.gz", tmp_path / "out")
    assert (summary.statements, summary.bad, summary.events) == (1_627, 0, 118)
